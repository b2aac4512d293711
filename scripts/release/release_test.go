package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// unpacked returns an archive's files by name; a repeated name is an error.
func unpacked(t *testing.T, text []byte) map[string]file {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]file{}
	for archive := tar.NewReader(zipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := files[header.Name]; twice {
			t.Errorf("%s is there twice", header.Name)
		}
		if header.Uid != 0 || header.Gid != 0 || header.Typeflag != tar.TypeReg {
			t.Errorf("%s: got owner %d:%d, type %c", header.Name, header.Uid, header.Gid, header.Typeflag)
		}
		files[header.Name] = file{header.Name, text, header.Mode}
	}
}

func TestArchivesDependOnTheirFilesAlone(t *testing.T) {
	t.Parallel()
	made := time.Unix(1_700_000_000, 0)
	files := []file{{"b", []byte("two"), 0o755}, {"a/c", []byte("one"), 0o644}}
	one, err := pack("x", made, files)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(files)
	two, err := pack("x", made, files)
	if err != nil || !bytes.Equal(one, two) {
		t.Errorf("the order of the files changes the archive (%v)", err)
	}
	got := unpacked(t, one)
	if len(got) != 2 || string(got["x/b"].text) != "two" || got["x/b"].mode != 0o755 || got["x/a/c"].mode != 0o644 {
		t.Errorf("got %v", got)
	}
}

func TestLicencesAreRecognized(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Apache License\n   Version 2.0, January 2004": "Apache-2.0",
		"Mozilla Public License Version 2.0":           "MPL-2.0",
		"Permission is hereby granted, free of charge, ... The above copyright notice and this permission notice shall": "MIT",
		"Redistribution and use in source and\n binary forms ... Neither the name of":                                   "BSD-3-Clause",
		"Redistribution and use in source and binary forms, with or without":                                            "BSD-2-Clause",
		"Permission to use, copy, modify, and/or distribute this software":                                              "ISC",
		"GNU General Public License":   "",
		"All rights reserved, by all.": "",
	} {
		if got := spdx([]byte(text)); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// A module whose licence may not allow passing on its code is found before it is shipped.
func TestEveryModuleMayBePassedOn(t *testing.T) {
	t.Parallel()
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "example.org/headroom/cmd/headroom", "example.org/headroom/cmd/headroom-solver")
	list.Env = append(os.Environ(), "CGO_ENABLED=1") // the solver program is built with C
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	paths := slices.Compact(slices.Sorted(strings.FieldsSeq(string(out))))
	if len(paths) < 10 {
		t.Fatalf("got %d modules", len(paths))
	}
	for _, path := range append(paths, "std") {
		texts, err := licenceTexts(module{path: path})
		if err != nil {
			t.Error(err)
			continue
		}
		if !slices.ContainsFunc(texts, func(l licenceText) bool { return spdx(l.text) != "" }) {
			t.Errorf("the licence of %s is not one that is known; look at it, and teach it to spdx if it will do", path)
		}
	}
	if _, err := licenceTexts(module{path: "example.com/nothing"}); err == nil {
		t.Error("a module that is nowhere has a licence")
	}
}

// A whole release. With HEADROOM_LONG=1 it is made for every platform, and twice, to check that the commit alone
// decides its content.
func TestRelease(t *testing.T) {
	t.Chdir("../..")
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	native := platform{runtime.GOOS, runtime.GOARCH}
	wanted, rounds := []platform{native}, 1
	if os.Getenv("HEADROOM_LONG") != "" {
		wanted, rounds = platforms, 2
	}
	const version = "v1.2.3-test"
	var before map[string][32]byte
	for range rounds {
		out := filepath.Join(t.TempDir(), "dist")
		if err := os.MkdirAll(out, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(out, "old.tar.gz"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := release(version, out, wanted); err != nil {
			t.Fatal(err)
		}
		sums := map[string][32]byte{}
		for _, p := range wanted {
			for _, name := range []string{"headroom_" + version + "_" + p.String() + ".tar.gz", "headroom_" + version + "_" + p.String() + ".cdx.json",
				"headroom_1.2.3+test_" + p.machine + ".deb"} {
				text, err := os.ReadFile(filepath.Join(out, name))
				if err != nil {
					t.Fatal(err)
				}
				sums[name] = sha256.Sum256(text)
				switch filepath.Ext(name) {
				case ".gz":
					checkArchive(t, p, version, unpacked(t, text))
				case ".deb":
					checkPackage(t, p, filepath.Join(out, name))
				}
			}
		}
		entries, err := os.ReadDir(out)
		if err != nil || len(entries) != len(sums)+1 {
			t.Errorf("got %v, %v; want the archives, packages, their lists and SHA256SUMS", entries, err)
		}
		text, err := os.ReadFile(filepath.Join(out, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		for name, sum := range sums {
			if !strings.Contains(string(text), fmt.Sprintf("%x  %s\n", sum, name)) {
				t.Errorf("SHA256SUMS does not have %s:\n%s", name, text)
			}
			if before != nil && before[name] != sum {
				t.Errorf("%s is another one when it is made again", name)
			}
		}
		before = sums
	}
}

func checkArchive(t *testing.T, p platform, version string, files map[string]file) {
	t.Helper()
	folder := "headroom_" + version + "_" + p.String() + "/"
	for _, name := range []string{"README.md", "docs/README.md", "docs/reference/problem.md", "LICENSE", "CHANGELOG.md", "THIRD-PARTY-LICENSES", "sbom.cdx.json", "headroom", "completions/headroom.bash", "completions/_headroom",
		"completions/headroom.fish", "headroom-solver", "man/headroom.1", "man/headroom-solve.1", "openapi/examples/nightly-etl.json", "openapi/openapi.yaml", "deploy/systemd/headroom.service", "deploy/helm/headroom/values.yaml", "deploy/helm/headroom/templates/deployment.yaml"} {
		if len(files[folder+name].text) == 0 {
			t.Errorf("%s: %s is not there, or empty", p, name)
		}
	}
	for name, f := range files {
		if strings.HasSuffix(name, ".go") {
			t.Errorf("%s has no place in it", name)
		}
		if want := int64(0o644); filepath.Dir(name)+"/" != folder || filepath.Ext(name) != "" || !strings.HasPrefix(filepath.Base(name), "headroom") {
			if f.mode != want {
				t.Errorf("%s has mode %o", name, f.mode)
			}
		} else if f.mode != 0o755 {
			t.Errorf("%s cannot be started: mode %o", name, f.mode)
		}
	}
	if chart := string(files[folder+"deploy/helm/headroom/Chart.yaml"].text); !strings.Contains(chart, `appVersion: "`+version+`"`) {
		t.Errorf("the chart is of another version:\n%s", chart)
	}
	for _, program := range []string{"headroom", "headroom-solver"} {
		binary, err := elf.NewFile(bytes.NewReader(files[folder+program].text))
		if want := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[p.machine]; err != nil || binary.Machine != want {
			t.Fatalf("%s: got a program for %v, %v", p, binary, err)
		}
	}
	var list bom
	if err := json.Unmarshal(files[folder+"sbom.cdx.json"].text, &list); err != nil {
		t.Fatal(err)
	}
	refs := map[string]bool{list.Metadata.Component.Ref: true}
	for _, c := range list.Components {
		if refs[c.Ref] || c.Name == "" {
			t.Errorf("%s: %q is listed twice, or has no name", p, c.Ref)
		}
		refs[c.Ref] = true
		isModule := strings.HasPrefix(c.PURL, "pkg:golang/")
		if isModule && (len(c.Licences) == 0 || c.Name != "std" && (len(c.Hashes) != 1 || len(c.Hashes[0].Content) != 64)) {
			t.Errorf("%s: %s lacks its licence or its sum", p, c.Name)
		}
	}
	for _, d := range list.Dependencies {
		for _, ref := range append(d.DependsOn, d.Ref) {
			if !refs[ref] {
				t.Errorf("%s: %s depends on %s, which is not listed", p, d.Ref, ref)
			}
		}
	}
	for name, licence := range map[string]string{"preact": "MIT", "@fontsource-variable/inter": "OFL-1.1", "@preact/signals": "MIT", "@preact/signals-core": "MIT"} {
		at := slices.IndexFunc(list.Components, func(c component) bool { return c.Name == name })
		if at < 0 {
			t.Errorf("%s: %s, which is in the page, is not listed", p, name)
			continue
		}
		c := list.Components[at]
		if len(c.Hashes) != 1 || len(c.Hashes[0].Content) != 128 || len(c.Licences) != 1 || c.Licences[0].License.ID != licence || !strings.HasPrefix(c.PURL, "pkg:npm/") {
			t.Errorf("%s: got %+v", p, c)
		}
		if !bytes.Contains(files[folder+"THIRD-PARTY-LICENSES"].text, []byte("\n"+name+" "+c.Version+"\n")) {
			t.Errorf("%s: the licence of %s is missing", p, name)
		}
	}
	for _, tool := range []string{"typescript", "axe-core"} {
		if slices.ContainsFunc(list.Components, func(c component) bool { return c.Name == tool }) {
			t.Errorf("%s: %s is a tool and is listed", p, tool)
		}
	}
	for _, want := range []string{"std", "github.com/jackc/pgx/v5", "github.com/go-chi/chi/v5"} {
		if !slices.ContainsFunc(list.Components, func(c component) bool { return c.Name == want }) {
			t.Errorf("%s: %s is not listed", p, want)
		}
	}
	if got := slices.ContainsFunc(list.Components, func(c component) bool {
		return c.Name == "libCbc" && c.Licences[0].Expression == "EPL-1.0" && strings.HasPrefix(c.PURL, "pkg:deb/debian/coinor-libcbc-dev@")
	}); !got {
		t.Errorf("%s: CBC, which is linked in, is not listed with its licence and its package", p)
	}
	if !bytes.Contains(files[folder+"THIRD-PARTY-LICENSES"].text, []byte("License: EPL-1")) {
		t.Errorf("%s: the licence of CBC is missing", p)
	}
	if list.Format != "CycloneDX" || list.Metadata.Component.Version != version || !strings.HasPrefix(list.Serial, "urn:uuid:") {
		t.Errorf("%s: got the head %+v", p, list)
	}
}

func TestReleaseRefusesWithoutAVersion(t *testing.T) {
	for _, version := range []string{"", "a b", "../x"} {
		if err := release(version, t.TempDir(), nil); err == nil {
			t.Errorf("%q was taken for a version", version)
		}
	}
}

// A checkout whose page was built elsewhere lacks the page's packages. That is said first, with the command to run.
func TestReleaseNamesTheCommandForMissingPackages(t *testing.T) {
	folder := t.TempDir()
	list := `{"packages":{"node_modules/preact":{"version":"1.0.0","integrity":"sha512-AAAA","license":"MIT"}}}`
	if err := os.WriteFile(filepath.Join(folder, "package-lock.json"), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (&inventory{}).addPage(folder); err == nil || !strings.Contains(err.Error(), "go run ./scripts/packages internal/edge/web/ui") {
		t.Errorf("got %v", err)
	}
}
