package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// pageFolder is the source folder of the programs' page.
const pageFolder = "internal/edge/web/ui"

// addPage adds the packages that are bundled into the page: those of its list that are no build tools.
func (i *inventory) addPage(folder string) error {
	text, err := os.ReadFile(filepath.Join(folder, "package-lock.json"))
	if err != nil {
		return err
	}
	var list struct {
		Packages map[string]struct {
			Version, Integrity, License string
			Dev                         bool
		}
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("read the page's packages: %w", err)
	}
	for place, p := range list.Packages {
		name, found := strings.CutPrefix(place, "node_modules/")
		if !found || p.Dev {
			continue
		}
		digest, found := strings.CutPrefix(p.Integrity, "sha512-")
		raw, err := base64.StdEncoding.DecodeString(digest)
		if !found || err != nil || p.License == "" {
			return fmt.Errorf("package-lock.json has no SHA-512 or no licence of %s", name)
		}
		m := module{
			path: name, version: p.Version, licence: p.License, hash: hashed{"SHA-512", hex.EncodeToString(raw)},
			purl: "pkg:npm/" + strings.ReplaceAll(name, "@", "%40") + "@" + escaped(p.Version),
		}
		if m.texts, err = textsIn(filepath.Join(folder, filepath.FromSlash(path.Clean(place)))); err != nil {
			return fmt.Errorf("the page's package %s has no licence here (%w); fetch the page's packages: go run ./scripts/packages %s", name, err, pageFolder)
		}
		i.put(m)
	}
	return nil
}
