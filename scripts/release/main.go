// Command release makes the published files: an archive and a Debian package for each platform, and SHA256SUMS of all.
// They have the programs, instructions for installing them, completions, pages for man, the licences of their parts and a
// list of those (SBOM, CycloneDX). With a key it also signs from which commit they were made. The same commit gives the same files, given the
// same Go and the same system libraries. Run it from the repository's folder: make release.
package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/headroom/scripts/manual"
)

// platform is a target of the build. Headroom stops its children by means that only Linux has.
type platform struct{ system, machine string }

func (p platform) String() string { return p.system + "_" + p.machine }

var platforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}}

func main() {
	version := flag.String("version", "", "the version that the programs say they are")
	out := flag.String("out", "dist", "the folder to write to; what is in it is removed")
	key := flag.String("key", "", "a file with the Ed25519 key that signs where the files come from; none: no provenance is written")
	flag.Parse()
	if err := releaseSigned(*version, *out, *key); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// releaseSigned makes the files, and signs for them where there is a key.
func releaseSigned(version, out, keyFile string) error {
	if keyFile == "" {
		return release(version, out, platforms)
	}
	key, err := signingKey(keyFile)
	if err != nil {
		return err
	}
	made, err := commit()
	if err != nil {
		return err
	}
	if err := release(version, out, platforms); err != nil {
		return err
	}
	return sign(out, version, made, key)
}

// sign writes the provenance of a folder's files.
func sign(out, version, commit string, key ed25519.PrivateKey) error {
	entries, err := os.ReadDir(out)
	if err != nil {
		return err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	text, err := provenance(out, names, version, commit, key)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "provenance.intoto.jsonl"), text, 0o644)
}

func release(version, out string, platforms []platform) error {
	if version == "" || strings.ContainsAny(version, "/ ") {
		return fmt.Errorf("%q is no version; give one with -version, such as v1.0.0", version)
	}
	made, err := commitTime()
	if err != nil {
		return err
	}
	if err := (&inventory{}).addPage(pageFolder); err != nil { // before minutes of building
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "headroom-release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	common, err := commonFiles(version, made)
	if err != nil {
		return err
	}
	var written []string
	for _, p := range platforms {
		names, err := releaseFor(p, version, made, common, work, out)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		written = append(written, names...)
	}
	return writeSums(out, written)
}

// commitTime returns the time for everything in an archive, so that the archive depends on the commit alone.
func commitTime() (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, err := exec.Command("git", "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("ask git for the time of the commit (or set SOURCE_DATE_EPOCH): %w", err)
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is no time in seconds", text)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// file is a file of an archive.
type file struct {
	name string // in the archive
	text []byte
	mode int64
}

// commonFiles returns the files that are the same for every platform.
func commonFiles(version string, made time.Time) ([]file, error) {
	var files []file
	for _, name := range []string{"README.md", "LICENSE", "CHANGELOG.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, text, 0o644})
	}
	add := func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || slices.Contains([]string{".go", ".sum", ".txt"}, filepath.Ext(name)) {
			return err
		}
		text, err := os.ReadFile(name)
		if name == "deploy/helm/headroom/Chart.yaml" {
			text = bytes.Replace(text, []byte("appVersion: development"), []byte("appVersion: "+strconv.Quote(version)), 1)
		}
		files = append(files, file{name, text, 0o644})
		return err
	}
	for _, dir := range []string{"deploy", "docs", "openapi"} {
		if err := filepath.WalkDir(dir, add); err != nil {
			return nil, err
		}
	}
	words, err := wordFiles(version, made)
	return append(files, words...), err
}

// wordFiles returns completions and pages for man, made from the commands.
func wordFiles(version string, made time.Time) (files []file, err error) {
	commands, err := manual.Commands()
	if err != nil {
		return nil, err
	}
	for name, text := range manual.Pages(commands, version, made) {
		files = append(files, file{"man/" + name, []byte(text), 0o644})
	}
	for name, write := range map[string]func(io.Writer) error{
		"headroom.bash": func(w io.Writer) error { return commands.GenBashCompletionV2(w, true) },
		"_headroom":     commands.GenZshCompletion,
		"headroom.fish": func(w io.Writer) error { return commands.GenFishCompletion(w, true) },
	} {
		var text bytes.Buffer
		if err := write(&text); err != nil {
			return nil, err
		}
		files = append(files, file{"completions/" + name, text.Bytes(), 0o644})
	}
	return files, nil
}

// build builds the program for a platform.
func build(p platform, version, to string) error {
	command := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.version="+version, "-o", to, "./cmd/headroom")
	command.Env = append(os.Environ(), "GOOS="+p.system, "GOARCH="+p.machine, "CGO_ENABLED=0")
	command.Stderr = os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("build headroom: %w", err)
	}
	return nil
}

// releaseFor makes the archive, the Debian package and the SBOM of one platform, and returns their names.
func releaseFor(p platform, version string, made time.Time, common []file, work, out string) ([]string, error) {
	folder := filepath.Join(work, p.String())
	program, solver := filepath.Join(folder, "headroom"), filepath.Join(folder, "headroom-solver")
	if err := build(p, version, program); err != nil {
		return nil, err
	}
	tools, err := toolchainFor(p)
	if err != nil {
		return nil, err
	}
	linked, err := tools.buildSolver(p, version, folder, solver)
	if err != nil {
		return nil, err
	}
	libc, err := newestC(solver)
	if err != nil {
		return nil, err
	}
	files, contents := slices.Clone(common), inventory{libraries: linked}
	for _, built := range []string{program, solver} {
		text, err := os.ReadFile(built)
		if err != nil {
			return nil, err
		}
		files = append(files, file{filepath.Base(built), text, 0o755})
		if err := contents.add(built); err != nil {
			return nil, err
		}
	}
	if err := contents.addPage(pageFolder); err != nil {
		return nil, err
	}
	licences, err := contents.licences()
	if err != nil {
		return nil, err
	}
	sbom, err := contents.cycloneDX(version, p, made)
	if err != nil {
		return nil, err
	}
	files = append(files, file{"THIRD-PARTY-LICENSES", licences, 0o644}, file{"sbom.cdx.json", sbom, 0o644})
	name := "headroom_" + version + "_" + p.String()
	archive, err := pack(name, made, files)
	if err != nil {
		return nil, err
	}
	deb, err := debian(p, version, libc, made, files)
	if err != nil {
		return nil, err
	}
	written := []string{name + ".tar.gz", name + ".cdx.json", "headroom_" + debVersion(version) + "_" + p.machine + ".deb"}
	for i, text := range [][]byte{archive, sbom, deb} {
		err = errors.Join(err, os.WriteFile(filepath.Join(out, written[i]), text, 0o644))
	}
	return written, err
}

// writeSums writes the file for sha256sum --check.
func writeSums(out string, names []string) error {
	slices.Sort(names)
	var sums strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(text), name)
		fmt.Printf("%s (%.1f MB)\n", filepath.Join(out, name), float64(len(text))/1e6)
	}
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(sums.String()), 0o644)
}
