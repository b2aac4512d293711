// Command packages fetches the npm packages that a package-lock.json names into node_modules beside it,
// each only if its content has the digest of the lock, and none that is for other machines. It runs no script of a
// package, so that building the page needs neither Node nor npm:
//
//	go run ./scripts/packages internal/edge/web/ui
//
// NPM_CONFIG_REGISTRY names another registry than registry.npmjs.org.
package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "packages: name the folder of package-lock.json.")
		os.Exit(2)
	}
	registry := cmp.Or(os.Getenv("NPM_CONFIG_REGISTRY"), os.Getenv("npm_config_registry"), "https://registry.npmjs.org/")
	if err := fetchAll(os.Args[1], strings.TrimSuffix(registry, "/")); err != nil {
		fmt.Fprintln(os.Stderr, "packages:", err)
		os.Exit(1)
	}
}

// lock holds the relevant part of package-lock.json: packages by their folder.
type lock struct {
	Packages map[string]struct {
		Version   string   `json:"version"`
		Integrity string   `json:"integrity"`
		OS        []string `json:"os"` // the machines it is for; of these three none means all
		CPU       []string `json:"cpu"`
		Libc      []string `json:"libc"`
	} `json:"packages"`
}

// serves tells whether a package is for machines such as this one.
func serves(allowed []string, this string) bool {
	return len(allowed) == 0 || slices.Contains(allowed, this)
}

// mark is a file in each package's folder that holds the digest it was made of.
const mark = ".fetched"

func fetchAll(folder, registry string) error {
	text, err := os.ReadFile(filepath.Join(folder, "package-lock.json"))
	if err != nil {
		return err
	}
	var l lock
	if err := json.Unmarshal(text, &l); err != nil {
		return fmt.Errorf("read package-lock.json: %w", err)
	}
	for _, place := range slices.Sorted(maps.Keys(l.Packages)) {
		p := l.Packages[place]
		cpu := map[string]string{"amd64": "x64"}[runtime.GOARCH]
		if place == "" || !serves(p.OS, runtime.GOOS) || !serves(p.CPU, cmp.Or(cpu, runtime.GOARCH)) || !serves(p.Libc, "glibc") {
			continue
		}
		name, ok := strings.CutPrefix(place, "node_modules/")
		if !ok || !fs.ValidPath(place) || strings.Contains(name, "node_modules") {
			return fmt.Errorf("package-lock.json: %q is not a package beside the others; packages within packages are not supported", place)
		}
		at := filepath.Join(folder, filepath.FromSlash(place))
		if was, err := os.ReadFile(filepath.Join(at, mark)); err == nil && string(was) == p.Integrity {
			continue
		}
		if err := fetch(registry, name, p.Version, p.Integrity, at); err != nil {
			return fmt.Errorf("fetch %s %s: %w", name, p.Version, err)
		}
	}
	return nil
}

// maxSize bounds an archive, and a whole package.
const maxSize = 200 << 20

// fetch replaces a package by another.
func fetch(registry, name, version, integrity, at string) error {
	digest, ok := strings.CutPrefix(integrity, "sha512-")
	if !ok {
		return errors.New("the lock has no sha512 digest of it")
	}
	archive, err := download(fmt.Sprintf("%s/%s/-/%s-%s.tgz", registry, name, path.Base(name), version))
	if err != nil {
		return err
	}
	if sum := sha512.Sum512(archive); base64.StdEncoding.EncodeToString(sum[:]) != digest {
		return errors.New("its content is not what the lock says; nothing of it is used")
	}
	if err := os.RemoveAll(at); err != nil {
		return err
	}
	if err := unpack(archive, at); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(at, mark), []byte(integrity), 0o644)
}

// download retries after a pause, because registries have bad moments.
func download(address string) ([]byte, error) {
	client := http.Client{Timeout: 2 * time.Minute}
	var err error
	for _, pause := range []time.Duration{0, 2 * time.Second, 10 * time.Second} {
		time.Sleep(pause)
		var body []byte
		if body, err = get(&client, address); err == nil {
			return body, nil
		}
	}
	return nil, err
}

func get(client *http.Client, address string) ([]byte, error) {
	answer, err := client.Get(address)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the registry answers %s", answer.Status)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxSize+1))
	if err == nil && len(body) > maxSize {
		err = errors.New("it is larger than 200 MB")
	}
	return body, err
}

// unpack writes the files of an archive without the folder that begins their names.
func unpack(archive []byte, at string) error {
	plain, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return err
	}
	root := filepath.Dir(at)
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	files := tar.NewReader(io.LimitReader(plain, maxSize))
	for {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		_, name, ok := strings.Cut(h.Name, "/")
		if h.Typeflag != tar.TypeReg || !ok {
			continue
		}
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return fmt.Errorf("a file of the archive is named %q", h.Name)
		}
		to := filepath.Join(at, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		body, err := io.ReadAll(files)
		if err != nil {
			return err
		}
		if err := os.WriteFile(to, body, 0o644|h.FileInfo().Mode()&0o111); err != nil {
			return err
		}
	}
}
