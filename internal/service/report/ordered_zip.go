package report

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"hash"
	"hash/crc32"
	"io"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"
)

// orderedZip writes the members of an archive in the order of their names. The spreadsheet library passes its sheets
// in the order of a map, but equal tables must give equal bytes. It compresses the members that it holds until the
// end.
type orderedZip struct {
	*zip.Writer
	members []*zipMember
}

type zipMember struct {
	zip.FileHeader
	content  bytes.Buffer
	compress *flate.Writer
	sum      hash.Hash32
}

func newOrderedZip(w io.Writer) excelize.ZipWriter { return &orderedZip{Writer: zip.NewWriter(w)} }

// Create begins a member; it is complete when the archive is closed.
func (z *orderedZip) Create(name string) (io.Writer, error) {
	m := &zipMember{FileHeader: zip.FileHeader{Name: name, Method: zip.Deflate}, sum: crc32.NewIEEE()}
	var err error
	m.compress, err = flate.NewWriter(&m.content, flate.DefaultCompression)
	z.members = append(z.members, m)
	return m, err
}

func (m *zipMember) Write(p []byte) (int, error) {
	m.UncompressedSize64 += uint64(len(p))
	m.sum.Write(p)
	return m.compress.Write(p)
}

// Close writes the members and ends the archive.
func (z *orderedZip) Close() error {
	slices.SortFunc(z.members, func(a, b *zipMember) int { return strings.Compare(a.Name, b.Name) })
	for _, m := range z.members {
		if err := m.compress.Close(); err != nil {
			return err
		}
		m.CRC32, m.CompressedSize64 = m.sum.Sum32(), uint64(m.content.Len())
		out, err := z.CreateRaw(&m.FileHeader)
		if err != nil {
			return err
		}
		if _, err := m.content.WriteTo(out); err != nil {
			return err
		}
	}
	return z.Writer.Close()
}
