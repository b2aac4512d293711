package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/md5" // #nosec G501 -- Debian's list of sums has no other
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// debVersion turns a version of git into one of Debian: v1.2.3-4-gabc is 1.2.3+4.gabc, and a bare hash comes before all.
func debVersion(version string) string {
	number := strings.TrimPrefix(version, "v")
	if !strings.Contains(number, ".") || number[0] < '0' || number[0] > '9' {
		return "0~" + number
	}
	first, rest, more := strings.Cut(number, "-")
	if !more {
		return first
	}
	return first + "+" + strings.ReplaceAll(rest, "-", ".")
}

// debScripts holds the scripts that Debian runs around an installation. None makes a secret, and none starts a server anew.
var debScripts = map[string]string{
	"postinst": `#!/bin/sh
set -e
if [ "$1" = configure ]; then
	if command -v systemd-sysusers >/dev/null; then systemd-sysusers headroom.conf; fi
	if [ -d /run/systemd/system ]; then
		systemctl daemon-reload
		if [ -n "$2" ]; then systemctl try-restart headroom.service; fi
	fi
fi
`,
	"prerm": `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
	systemctl disable --now headroom.service headroom-agent.service headroom-drive-slurm.service headroom-drive-yarn.service headroom-history-watch.service
fi
`,
	"postrm": `#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
if [ "$1" = purge ]; then
	for place in /var/lib/headroom /etc/headroom; do
		if [ -e "$place" ]; then echo "headroom: $place is kept, with what is in it; delete it when nobody needs it any more"; fi
	done
fi
`,
}

// debPlace returns where a file of an archive stands on a Debian system.
func debPlace(name string) string {
	switch dir, base := path.Split(name); {
	case name == "headroom", name == "headroom-solver":
		return "usr/bin/" + name
	case name == "LICENSE":
		return "usr/share/doc/headroom/copyright"
	case dir == "completions/":
		return map[string]string{
			"headroom.bash": "usr/share/bash-completion/completions/headroom",
			"_headroom":     "usr/share/zsh/vendor-completions/_headroom",
			"headroom.fish": "usr/share/fish/vendor_completions.d/headroom.fish",
		}[base]
	case dir == "man/":
		return "usr/share/man/man1/" + base + ".gz"
	case name == "deploy/systemd/headroom.sysusers":
		return "usr/lib/sysusers.d/headroom.conf"
	case dir == "deploy/systemd/":
		return "usr/lib/systemd/system/" + base
	}
	return "usr/share/doc/headroom/" + name
}

// debFiles lays an archive's files out for a Debian system. Units start what stands in /usr/bin there.
func debFiles(files []file) ([]file, error) {
	placed := make([]file, len(files))
	for i, f := range files {
		placed[i] = file{debPlace(f.name), f.text, f.mode}
		switch {
		case strings.HasPrefix(f.name, "deploy/systemd/"):
			placed[i].text = bytes.ReplaceAll(f.text, []byte("/usr/local/bin"), []byte("/usr/bin"))
		case strings.HasPrefix(f.name, "man/"):
			zipped, err := gzipped(f.text)
			if err != nil {
				return nil, err
			}
			placed[i].text = zipped
		}
	}
	return placed, nil
}

// gzipped packs a text without a name and a time.
func gzipped(text []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(text)
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}

// debian makes a Debian package of an archive's files. libc is the C library that the solver needs. The package depends
// on its arguments alone.
func debian(p platform, version, libc string, made time.Time, files []file) ([]byte, error) {
	placed, err := debFiles(files)
	if err != nil {
		return nil, err
	}
	size, sums := 0, strings.Builder{}
	slices.SortFunc(placed, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	for _, f := range placed {
		size += len(f.text)
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.text), f.name) // #nosec G401 -- as above
	}
	control := fmt.Sprintf(`Package: headroom
Version: %s
Architecture: %s
Maintainer: The maintainers of Headroom <headroom@example.org>
Installed-Size: %d
Depends: libc6 (>= %s)
Recommends: ca-certificates, postgresql
Section: admin
Priority: optional
Homepage: https://example.org/headroom
Description: capacity planning for batch and analytics clusters
 Headroom says how many machines to rent, which jobs to let in, how long they
 take and what it costs. It answers with plans that are explained and proved.
 .
 headroom.service keeps its data in a private Postgres where DATABASE_URL names
 none; the package postgresql has the programs for that.
`, debVersion(version), p.machine, (size+1023)/1024, libc)
	inner := []file{{"control", []byte(control), 0o644}, {"md5sums", []byte(sums.String()), 0o644}}
	for name, text := range debScripts {
		inner = append(inner, file{name, []byte(text), 0o755})
	}
	about, err := tarball(made, inner, nil)
	if err != nil {
		return nil, err
	}
	data, err := tarball(made, placed, []string{"etc/headroom"})
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString("!<arch>\n")
	for _, part := range []file{{"debian-binary", []byte("2.0\n"), 0o644}, {"control.tar.gz", about, 0o644}, {"data.tar.gz", data, 0o644}} {
		fmt.Fprintf(&out, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", part.name, made.Unix(), 0, 0, 0o100644, len(part.text))
		out.Write(part.text)
		if len(part.text)%2 == 1 {
			out.WriteByte('\n')
		}
	}
	return out.Bytes(), nil
}

// tarball packs files below ./ with every folder that holds them, and further folders.
func tarball(made time.Time, files []file, folders []string) ([]byte, error) {
	entries := []tar.Header{{Name: "./", Typeflag: tar.TypeDir, Mode: 0o755}}
	texts := map[string][]byte{}
	for _, f := range files {
		folders = append(folders, path.Dir(f.name))
		texts["./"+f.name] = f.text
		entries = append(entries, tar.Header{Name: "./" + f.name, Typeflag: tar.TypeReg, Mode: f.mode, Size: int64(len(f.text))})
	}
	seen := map[string]bool{".": true}
	for _, folder := range folders {
		for ; !seen[folder]; folder = path.Dir(folder) {
			seen[folder] = true
			entries = append(entries, tar.Header{Name: "./" + folder + "/", Typeflag: tar.TypeDir, Mode: 0o755})
		}
	}
	slices.SortFunc(entries, func(a, b tar.Header) int { return cmp.Compare(a.Name, b.Name) })
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	for _, e := range entries {
		e.ModTime, e.Uname, e.Gname, e.Format = made, "root", "root", tar.FormatGNU
		if err := archive.WriteHeader(&e); err != nil {
			return nil, err
		}
		if _, err := archive.Write(texts[e.Name]); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return gzipped(out.Bytes())
}
