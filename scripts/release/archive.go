package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"slices"
	"time"
)

// pack makes a .tar.gz of files in a folder. It depends on its arguments alone: the files are sorted, have one time
// and belong to root.
func pack(folder string, made time.Time, files []file) ([]byte, error) {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	for _, f := range files {
		if err := archive.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: folder + "/" + f.name, Mode: f.mode, Size: int64(len(f.text)), ModTime: made,
			Uname: "root", Gname: "root", Format: tar.FormatPAX,
		}); err != nil {
			return nil, err
		}
		if _, err := archive.Write(f.text); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	if err := zipped.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
