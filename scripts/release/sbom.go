package main

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"debug/elf"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// inventory lists the parts of an archive's programs, and the libraries they load.
type inventory struct {
	modules   []module
	libraries []library
}

// module is a Go module (or Go's own library) that is linked into a program, or a package that is bundled into the
// page.
type module struct {
	path, version string
	purl          string
	hash          hashed // nothing for Go's own library
	licence       string // the licence's name in its metadata; "" if the texts must tell
	texts         []licenceText
}

// put adds a module once.
func (i *inventory) put(m module) {
	if !i.has(m.path) {
		i.modules = append(i.modules, m)
	}
	slices.SortFunc(i.modules, func(a, b module) int { return cmp.Compare(a.path, b.path) })
}

func (i *inventory) has(path string) bool {
	return slices.ContainsFunc(i.modules, func(have module) bool { return have.path == path })
}

// library is a library of the system. A program loads it from there, or has it linked in.
type library struct {
	name, deb, version string
	licence            string // of one that is linked in
	text               []byte // its licence in full
}

// licenceText is a file with a module's licence.
type licenceText struct {
	name string
	text []byte
}

// add adds the modules and libraries of a program.
func (i *inventory) add(program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	found := []module{{path: "std", version: strings.TrimPrefix(info.GoVersion, "go")}}
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		m := module{path: d.Path, version: d.Version}
		if sum, ok := strings.CutPrefix(d.Sum, "h1:"); ok { // of all files, as in go.sum
			raw, err := base64.StdEncoding.DecodeString(sum)
			if err != nil {
				return fmt.Errorf("the sum %s of %s: %w", d.Sum, d.Path, err)
			}
			m.hash = hashed{"SHA-256", hex.EncodeToString(raw)}
		}
		found = append(found, m)
	}
	for _, m := range found {
		if i.has(m.path) {
			continue
		}
		m.purl = "pkg:golang/" + m.path + "@" + escaped(m.version)
		if m.texts, err = licenceTexts(m); err != nil {
			return err
		}
		i.put(m)
	}
	binary, err := elf.Open(program)
	if err != nil {
		return err
	}
	defer binary.Close()
	names, err := binary.ImportedLibraries() // none without cgo
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.ContainsFunc(i.libraries, func(have library) bool { return have.name == name }) {
			i.libraries = append(i.libraries, packageOf(name))
		}
	}
	slices.SortFunc(i.libraries, func(a, b library) int { return cmp.Compare(a.name, b.name) })
	return nil
}

// packageOf asks Debian's package manager, if there is one, for the package of a library.
func packageOf(name string) library {
	found := library{name: name}
	out, err := exec.Command("dpkg-query", "--search", "*/"+name).Output()
	if err != nil {
		return found
	}
	deb, _, _ := strings.Cut(string(out), ":")
	if out, err = exec.Command("dpkg-query", "--show", "--showformat=${Version}\n", deb).Output(); err == nil {
		version, _, _ := strings.Cut(string(out), "\n") // one line for each architecture
		found.deb, found.version = deb, version
	}
	return found
}

var licenceName = regexp.MustCompile(`(?i)^(licen[sc]e|copying|(copyright)?notice|patents)([.-].*)?$`)

// moduleFolders maps the paths of all modules, and of Go's own library, to their folders.
var moduleFolders = sync.OnceValues(func() (map[string]string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("ask go for its folder: %w", err)
	}
	folders := map[string]string{"std": strings.TrimSpace(string(root))}
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Path}}\t{{.Dir}}", "all").Output()
	if err != nil {
		return nil, fmt.Errorf("ask go for the modules: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		path, folder, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		folders[path] = folder
	}
	return folders, nil
})

// licenceTexts reads the licences in a module's folder; a module without any is refused.
func licenceTexts(m module) ([]licenceText, error) {
	folders, err := moduleFolders()
	if err != nil {
		return nil, err
	}
	folder := folders[m.path]
	if folder == "" {
		return nil, fmt.Errorf("the module %s is not on this machine; fetch it with go mod download", m.path)
	}
	texts, err := textsIn(folder)
	if err != nil {
		return nil, fmt.Errorf("the module %s: %w", m.path, err)
	}
	return texts, nil
}

// textsIn returns a folder's licences.
func textsIn(folder string) ([]licenceText, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("read the licence: %w", err)
	}
	var texts []licenceText
	for _, e := range entries {
		if !e.Type().IsRegular() || !licenceName.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, licenceText{e.Name(), text})
	}
	if len(texts) == 0 {
		return nil, fmt.Errorf("there is no licence in %s, so it may not be passed on", folder)
	}
	return texts, nil
}

// spdx identifies a licence by words that only it has; "" if none matches.
func spdx(text []byte) string {
	words := strings.ToLower(strings.Join(strings.Fields(string(text)), " "))
	has := func(part string) bool { return strings.Contains(words, part) }
	switch {
	case has("apache license version 2.0"):
		return "Apache-2.0"
	case has("mozilla public license version 2.0"), has("mozilla public license, version 2.0"):
		return "MPL-2.0"
	case has("permission to use, copy, modify, and/or distribute this software"), has("permission to use, copy, modify, and distribute this software"):
		return "ISC"
	case has("permission is hereby granted, free of charge") && has("the above copyright notice and this permission notice"):
		return "MIT"
	case has("redistribution and use in source and binary forms") && (has("neither the name") || has("names of its contributors")):
		return "BSD-3-Clause"
	case has("redistribution and use in source and binary forms"):
		return "BSD-2-Clause"
	}
	return ""
}

// licences returns the texts that the licences require beside the programs.
func (i *inventory) licences() ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("Headroom's programs and the page in them contain the following modules, under the licences of their authors.\n")
	for _, m := range i.modules {
		fmt.Fprintf(&out, "\n%s\n%s %s\n", strings.Repeat("=", 80), m.path, m.version)
		for _, l := range m.texts {
			fmt.Fprintf(&out, "\n--- %s ---\n\n%s\n", l.name, bytes.TrimSpace(l.text))
		}
	}
	told := map[string]bool{}
	for _, l := range i.libraries {
		if l.licence == "" || told[l.deb] {
			continue
		}
		if len(told) == 0 {
			fmt.Fprintf(&out, "\n%s\n\nheadroom-solver contains these libraries as Debian builds them. Debian's source packages of the versions named hold their source.\n", strings.Repeat("=", 80))
		}
		told[l.deb] = true
		fmt.Fprintf(&out, "\n%s\n%s %s\n\n%s\n", strings.Repeat("=", 80), l.deb, l.version, bytes.TrimSpace(l.text))
	}
	return out.Bytes(), nil
}

// The parts of a CycloneDX 1.5 document in use.
type (
	bom struct {
		Format       string       `json:"bomFormat"`
		Spec         string       `json:"specVersion"`
		Serial       string       `json:"serialNumber"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	metadata struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	}
	component struct {
		Ref      string        `json:"bom-ref"`
		Type     string        `json:"type"`
		Name     string        `json:"name"`
		Version  string        `json:"version,omitempty"`
		Scope    string        `json:"scope,omitempty"`
		Hashes   []hashed      `json:"hashes,omitempty"`
		Licences []licenceWord `json:"licenses,omitempty"`
		PURL     string        `json:"purl,omitempty"`
		Comment  string        `json:"description,omitempty"`
	}
	hashed struct {
		Algorithm string `json:"alg"`
		Content   string `json:"content"`
	}
	licenceWord struct {
		License    *licenceID `json:"license,omitempty"`
		Expression string     `json:"expression,omitempty"`
	}
	licenceID struct {
		ID string `json:"id"`
	}
	dependency struct {
		Ref       string   `json:"ref"`
		DependsOn []string `json:"dependsOn,omitempty"`
	}
)

func licensed(id string) licenceWord { return licenceWord{License: &licenceID{id}} }

// cycloneDX returns the inventory for other programs.
func (i *inventory) cycloneDX(version string, p platform, made time.Time) ([]byte, error) {
	root := component{
		Ref: "headroom", Type: "application", Name: "headroom", Version: version,
		Licences: []licenceWord{licensed("Apache-2.0")}, PURL: "pkg:generic/headroom@" + escaped(version) + "?arch=" + p.machine + "&os=" + p.system,
	}
	all := dependency{Ref: root.Ref}
	document := bom{Format: "CycloneDX", Spec: "1.5", Version: 1, Metadata: metadata{made.Format(time.RFC3339), root}}
	for _, m := range i.modules {
		c := component{Ref: m.purl, Type: "library", Name: m.path, Version: m.version, Scope: "required", PURL: m.purl}
		if m.hash.Content != "" {
			c.Hashes = []hashed{m.hash}
		}
		texts := m.texts
		if m.licence != "" {
			c.Licences, texts = []licenceWord{licensed(m.licence)}, nil
		}
		for _, l := range texts {
			id := spdx(l.text)
			if id != "" && !slices.ContainsFunc(c.Licences, func(have licenceWord) bool { return have.License.ID == id }) {
				c.Licences = append(c.Licences, licensed(id))
			}
		}
		document.Components = append(document.Components, c)
		all.DependsOn = append(all.DependsOn, c.Ref)
	}
	for _, l := range i.libraries {
		c := component{Ref: "lib:" + l.name, Type: "library", Name: l.name, Version: l.version, Scope: "required", Comment: "A shared library of the system that headroom-solver loads; it is not in the archive."}
		if l.licence != "" {
			c.Comment, c.Licences = "It is linked into headroom-solver.", []licenceWord{{Expression: l.licence}}
		}
		if l.deb != "" {
			c.PURL = "pkg:deb/debian/" + l.deb + "@" + escaped(l.version) + "?arch=" + p.machine
		}
		document.Components = append(document.Components, c)
		all.DependsOn = append(all.DependsOn, c.Ref)
	}
	document.Dependencies = []dependency{all}
	text, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	document.Serial = "urn:uuid:" + uuid.NewSHA1(uuid.NameSpaceURL, text).String() // follows from the contents
	text, err = json.MarshalIndent(document, "", "  ")
	return append(text, '\n'), err
}

// escaped returns a version as it stands in the address of a package.
func escaped(version string) string { return strings.ReplaceAll(version, "+", "%2B") }
