// Join puts what the page needs at once into one file. The bundler cuts a chunk for every set of pages that share code.
// That makes 28 small files at once, of which a browser fetches six at a time. Where 400 ms pass there and back, this
// takes two seconds.
//
//	go run ./scripts/join internal/edge/web/dist path/to/esbuild
package main

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: join DIST ESBUILD")
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		log.Fatalf("join: %v", err)
	}
}

func run(dist, esbuild string) error {
	names, err := filepath.Glob(filepath.Join(dist, "*.js"))
	if err != nil {
		return err
	}
	files := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		files[filepath.Base(name)] = string(text)
	}
	entry, first, err := atOnce(files)
	if err != nil {
		return err
	}
	const scratch = "join.js"
	args := []string{filepath.Join(dist, scratch), "--bundle", "--format=esm", "--minify", "--target=es2022", "--log-level=warning"}
	for name := range files {
		if !first[name] {
			args = append(args, "--external:./"+name)
		}
	}
	if err := os.WriteFile(filepath.Join(dist, scratch), []byte(shared(files, entry, first)), 0o600); err != nil {
		return err
	}
	joined, err := exec.Command(esbuild, args...).Output()
	if err != nil {
		return fmt.Errorf("bundle what is needed at once: %w", err)
	}
	made, err := renamed(files, first, string(joined))
	if err != nil {
		return err
	}
	for name := range files {
		if err := os.Remove(filepath.Join(dist, name)); err != nil {
			return err
		}
	}
	for name, text := range made {
		if err := os.WriteFile(filepath.Join(dist, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return os.Remove(filepath.Join(dist, scratch))
}

// static matches an import of another file, as the bundler writes it: names are in the first group, the file in the second.
var static = regexp.MustCompile(`import(?:\{([^}]*)\}from)?"\./([^"]+)";`)

// atOnce returns the first file, and all that it imports, and so on.
func atOnce(files map[string]string) (entry string, first map[string]bool, err error) {
	first = map[string]bool{}
	var take func(name string)
	take = func(name string) {
		if first[name] {
			return
		}
		first[name] = true
		for _, m := range static.FindAllStringSubmatch(files[name], -1) {
			take(m[2])
		}
	}
	for name := range files {
		if strings.HasPrefix(name, "main-") {
			entry = name
			take(name)
		}
	}
	if entry == "" {
		return "", nil, fmt.Errorf("there is no main-*.js")
	}
	return entry, first, nil
}

// exported names what other files take from one that is joined.
func exported(file, name string) string {
	return strings.NewReplacer("-", "_", ".", "_").Replace(strings.TrimSuffix(file, ".js")) + "_" + name
}

// shared is a file that imports what is needed at once, and exports what later files take from it.
func shared(files map[string]string, entry string, first map[string]bool) string {
	taken := map[string]bool{}
	for name, text := range files {
		if first[name] {
			continue
		}
		for _, m := range static.FindAllStringSubmatch(text, -1) {
			if first[m[2]] && m[1] != "" {
				for one := range strings.SplitSeq(m[1], ",") {
					of, _, _ := strings.Cut(one, " as ")
					taken[fmt.Sprintf("export{%s as %s}from\"./%s\";\n", of, exported(m[2], of), m[2])] = true
				}
			}
		}
	}
	return fmt.Sprintf("import\"./%s\";\n", entry) + strings.Join(slices.Sorted(maps.Keys(taken)), "")
}

// renamed returns all files under names that tell the build, since each names others: main, and what comes later.
func renamed(files map[string]string, first map[string]bool, joined string) (map[string]string, error) {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(sum, "%s %s\n", name, files[name])
	}
	fmt.Fprint(sum, joined)
	build := base32.StdEncoding.EncodeToString(sum.Sum(nil))[:8]
	main := "main-" + build + ".js"
	var pairs []string
	for name := range files {
		if !first[name] {
			pairs = append(pairs, `"./`+name+`"`, `"./`+strings.TrimSuffix(name, ".js")+"-"+build+`.js"`)
		}
	}
	names := strings.NewReplacer(pairs...)
	made := map[string]string{main: names.Replace(joined)}
	for name, text := range files {
		if first[name] {
			continue
		}
		var taken []string
		text = static.ReplaceAllStringFunc(text, func(statement string) string {
			m := static.FindStringSubmatch(statement)
			if !first[m[2]] {
				return statement
			}
			for one := range strings.SplitSeq(m[1], ",") {
				if of, as, renames := strings.Cut(one, " as "); renames {
					taken = append(taken, exported(m[2], of)+" as "+as)
				} else if of != "" {
					taken = append(taken, exported(m[2], of)+" as "+of)
				}
			}
			return ""
		})
		for joined := range first {
			if strings.Contains(text, joined) {
				return nil, fmt.Errorf("%s takes %s in a way that is not known", name, joined)
			}
		}
		if len(taken) > 0 {
			text = fmt.Sprintf("import{%s}from\"./%s\";%s", strings.Join(taken, ","), main, text)
		}
		made[strings.TrimSuffix(name, ".js")+"-"+build+".js"] = names.Replace(text)
	}
	return made, nil
}
