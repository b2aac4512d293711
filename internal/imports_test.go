// Package internal holds the tests of the whole repository: its imports, commits, language and secrets.
package internal_test

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "example.org/headroom"

func TestPackagesImportOnlyWhatImportsTxtAllows(t *testing.T) {
	text, err := os.ReadFile("imports.txt")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := parseRules(string(text))
	if err != nil {
		t.Fatal(err)
	}
	files, used := 0, map[string]map[string]bool{}
	err = filepath.WalkDir("..", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			// tools is a module of its own; the others hold no packages of ours.
			switch base := entry.Name(); {
			case base == "testdata", base == "node_modules", base == "bin", base == "tools", strings.HasPrefix(base, ".") && base != "..":
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		files++
		slash := filepath.ToSlash(name)
		for _, complaint := range rules.check(strings.TrimPrefix(slash, "../"), string(source), used) {
			t.Error(complaint)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, complaint := range rules.unused(used) {
		t.Error(complaint)
	}
	if files < 5 {
		t.Errorf("looked at %d Go files only: the walk does not find the repository", files)
	}
}

// rules holds the content of imports.txt.
type rules struct {
	pure    map[string]bool
	wings   map[string]map[string]bool // by wing: the wings below it
	allowed map[string]map[string]bool // by package: the allowed imports of all its files
	tests   map[string]map[string]bool // further imports of its tests
}

func parseRules(text string) (rules, error) {
	r := rules{wings: map[string]map[string]bool{}, allowed: map[string]map[string]bool{}, tests: map[string]map[string]bool{}}
	groups := map[string][]string{}
	expand := func(words string) ([]string, error) {
		var out []string
		for _, w := range strings.Fields(words) {
			if !strings.HasPrefix(w, "@") {
				out = append(out, w)
				continue
			}
			members, ok := groups[w]
			if !ok {
				return nil, fmt.Errorf("group %s is not defined above its use", w)
			}
			out = append(out, members...)
		}
		return out, nil
	}
	number := 0
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		number++
		line, _, _ := strings.Cut(lines.Text(), "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		fail := func(err error) (rules, error) { return rules{}, fmt.Errorf("imports.txt:%d: %w", number, err) }
		if group, words, ok := strings.Cut(line, "="); ok {
			members, err := expand(words)
			if err != nil {
				return fail(err)
			}
			groups[strings.TrimSpace(group)] = members
			continue
		}
		name, words, ok := strings.Cut(line, ":")
		if !ok {
			return fail(fmt.Errorf("%q is neither \"package: imports\" nor \"@group = packages\"", line))
		}
		members, err := expand(words)
		if err != nil {
			return fail(err)
		}
		into := r.allowed
		if wing, isWing := strings.CutPrefix(name, "wing "); isWing {
			name, into = wing, r.wings
		}
		if pkg, isTest := strings.CutSuffix(name, " test"); isTest {
			name, into = pkg, r.tests
		}
		if into[name] != nil {
			return fail(fmt.Errorf("%s is listed twice", name))
		}
		into[name] = setOf(members)
	}
	r.pure = setOf(groups["@pure"])
	for _, lists := range []map[string]map[string]bool{r.allowed, r.tests} {
		for pkg, imports := range lists {
			for _, name := range append(slices.Collect(maps.Keys(imports)), pkg) {
				if r.allowed[name] == nil {
					return rules{}, fmt.Errorf("imports.txt: %s (at %s) is no listed package", name, pkg)
				}
			}
		}
	}
	for pkg, imports := range r.allowed {
		for name := range imports {
			from, to := wingOf(pkg), wingOf(name)
			if r.wings[from] != nil && r.wings[to] != nil && from != to && !r.wings[from][to] {
				return rules{}, fmt.Errorf("imports.txt: %s may not import %s: the wing %s does not stand on the wing %s", pkg, name, from, to)
			}
		}
	}
	return r, nil
}

// wingOf returns the wing of a package, which is its folder in internal.
func wingOf(pkg string) string {
	wing, _, _ := strings.Cut(pkg, "/")
	return wing
}

// unused lists the grants that no file needed.
func (r rules) unused(used map[string]map[string]bool) (complaints []string) {
	for what, lists := range map[string]map[string]map[string]bool{"": r.allowed, " test": r.tests} {
		for pkg, imports := range lists {
			for name := range imports {
				if !used[pkg+what][name] {
					complaints = append(complaints, fmt.Sprintf("imports.txt: nothing in %s%s imports %s; take the grant out", pkg, what, name))
				}
			}
		}
	}
	slices.Sort(complaints)
	return complaints
}

func setOf(names []string) map[string]bool {
	set := map[string]bool{}
	for _, n := range names {
		set[n] = true
	}
	return set
}

// forbiddenNames are too general to tell the purpose of a package.
var forbiddenNames = setOf(strings.Fields("config errors models types utils common helpers middleware repository service"))

// impureImports lists the packages that the pure zone may not import, and clock the functions of package time that it
// may not call.
var (
	impureImports = setOf([]string{"net/http", "database/sql", "log", "log/slog", "os/exec", "math/rand"})
	clock         = setOf(strings.Fields("Now Since Until Sleep After AfterFunc Tick NewTicker NewTimer"))
	// A random source made from a seed is welcome; everything else in math/rand/v2 draws from the global one.
	seeded = setOf(strings.Fields("New NewPCG NewChaCha8 NewZipf Rand PCG ChaCha8 Zipf Source"))
)

// room returns the name of a package in imports.txt, from its path in the repository.
func room(dir string) string { return strings.TrimPrefix(dir, "internal/") }

// check returns the complaints about one file, given its path in the repository, and adds its imports to used.
func (r rules) check(name, source string, used map[string]map[string]bool) []string {
	positions := token.NewFileSet()
	file, err := parser.ParseFile(positions, name, source, parser.SkipObjectResolution)
	if err != nil {
		return []string{fmt.Sprintf("%s: does not parse: %v", name, err)}
	}
	var complaints []string
	complain := func(at token.Pos, format string, args ...any) {
		p := positions.Position(at)
		complaints = append(complaints, fmt.Sprintf("%s:%d: %s", name, p.Line, fmt.Sprintf(format, args...)))
	}

	dir := path.Dir(name)
	if dir == "internal" {
		return nil // this test
	}
	pkg, isTest := room(dir), strings.HasSuffix(name, "_test.go")
	if forbiddenNames[path.Base(dir)] || forbiddenNames[strings.TrimSuffix(file.Name.Name, "_test")] {
		complain(file.Name.Pos(), "a package called %s says nothing about what it is for; put the code where its reason lives", path.Base(dir))
	}
	if r.allowed[pkg] == nil {
		complain(file.Name.Pos(), "package %s is not listed in internal/imports.txt", pkg)
		return complaints
	}
	pure := r.pure[pkg] && !isTest
	for _, spec := range file.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			complain(spec.Pos(), "cannot read the import %s: %v", spec.Path.Value, err)
			continue
		}
		own, isOurs := strings.CutPrefix(target, module+"/")
		own = room(own)
		if isOurs {
			by := pkg
			if isTest && !r.allowed[pkg][own] {
				by += " test"
			}
			if used[by] == nil {
				used[by] = map[string]bool{}
			}
			used[by][own] = true
		}
		switch {
		case target == "C" && pkg != "core/lp/coin":
			complain(spec.Pos(), "%s uses cgo; only core/lp/coin may", pkg)
		case own == "core/lp/coin" && isOurs && pkg != "cmd/headroom-solver" && pkg != "core/lp/coin":
			complain(spec.Pos(), "%s imports core/lp/coin; only cmd/headroom-solver may, so that a crash in C++ costs one process", pkg)
		case isOurs && own != pkg && !r.allowed[pkg][own] && !(isTest && r.tests[pkg][own]):
			complain(spec.Pos(), "%s may not import %s (see internal/imports.txt)", pkg, own)
		case pure && impureImports[target]:
			complain(spec.Pos(), "%s is in the pure zone and may not import %s", pkg, target)
		case pure && (target == "time" || target == "math/rand/v2") && spec.Name != nil && spec.Name.Name == ".":
			complain(spec.Pos(), "%s is in the pure zone and may not dot-import %s", pkg, target)
		}
	}
	if pure {
		uses(file, "time", func(s *ast.SelectorExpr) {
			if clock[s.Sel.Name] {
				complain(s.Pos(), "%s is in the pure zone and may not use time.%s; take the time as an argument", pkg, s.Sel.Name)
			}
		})
		uses(file, "math/rand/v2", func(s *ast.SelectorExpr) {
			if !seeded[s.Sel.Name] {
				complain(s.Pos(), "%s is in the pure zone and may not use the global random source (rand.%s); take a seeded one", pkg, s.Sel.Name)
			}
		})
	}
	return complaints
}

// uses calls found for every mention of a name of the imported package, under any alias.
func uses(file *ast.File, imported string, found func(*ast.SelectorExpr)) {
	local := ""
	for _, spec := range file.Imports {
		if spec.Path.Value != strconv.Quote(imported) {
			continue
		}
		local = path.Base(strings.TrimSuffix(imported, "/v2"))
		if spec.Name != nil {
			local = spec.Name.Name
		}
	}
	if local == "" {
		return
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == local {
				found(s)
			}
		}
		return true
	})
}

func TestViolationsAreFound(t *testing.T) {
	r, err := parseRules(`
wing core:
wing edge: core
@pure = core/capacity core/plan
core/capacity:
core/lp/coin:
core/lp/worker:
edge/postgres: @pure
core/plan: core/capacity
core/plan test: core/lp/worker
cmd/headroom-solver: core/lp/coin
cmd/headroom: @pure core/lp/worker core/lp/coin
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ situation, file, source, want string }{
		{"an allowed import", "internal/core/plan/a.go", `import "example.org/headroom/internal/core/capacity"`, ""},
		{"an import that is not listed", "internal/core/plan/a.go", `import "example.org/headroom/internal/edge/postgres"`, "core/plan may not import edge/postgres"},
		{"under another name", "internal/core/capacity/a.go", `import p "example.org/headroom/internal/core/plan"`, "core/capacity may not import core/plan"},
		{"what only tests may", "internal/core/plan/a.go", `import "example.org/headroom/internal/core/lp/worker"`, "core/plan may not import core/lp/worker"},
		{"a test that may", "internal/core/plan/a_test.go", `import "example.org/headroom/internal/core/lp/worker"`, ""},
		{"a test of the package itself", "internal/core/plan/a_test.go", `import "example.org/headroom/internal/core/plan"`, ""},
		{"a test that may not", "internal/core/plan/a_test.go", `import "example.org/headroom/internal/edge/postgres"`, "core/plan may not import edge/postgres"},
		{"a package that is not listed", "internal/pricing/a.go", ``, "package pricing is not listed"},
		{"a program that is not listed", "cmd/tool/a.go", ``, "package cmd/tool is not listed"},
		{"a package that says nothing", "internal/utils/a.go", ``, "a package called utils"},
		{"the same deeper down", "internal/core/plan/errors/a.go", ``, "a package called errors"},
		{"cgo", "internal/core/plan/a.go", `import "C"`, "plan uses cgo"},
		{"cgo in a test", "internal/core/plan/a_test.go", `import "C"`, "plan uses cgo"},
		{"cgo where it belongs", "internal/core/lp/coin/a.go", `import "C"`, ""},
		{"the cgo package elsewhere, even if listed", "cmd/headroom/a.go", `import "example.org/headroom/internal/core/lp/coin"`, "only cmd/headroom-solver may"},
		{"the cgo package in the solver", "cmd/headroom-solver/a.go", `import "example.org/headroom/internal/core/lp/coin"`, ""},
		{"HTTP in the pure zone", "internal/core/plan/a.go", `import "net/http"`, "may not import net/http"},
		{"a logger in the pure zone", "internal/core/capacity/a.go", `import "log/slog"`, "may not import log/slog"},
		{"a process in the pure zone", "internal/core/plan/a.go", `import "os/exec"`, "may not import os/exec"},
		{"a database in the pure zone", "internal/core/plan/a.go", `import "database/sql"`, "may not import database/sql"},
		{"old random numbers", "internal/core/plan/a.go", `import "math/rand"`, "may not import math/rand"},
		{"HTTP elsewhere", "internal/edge/postgres/a.go", `import "net/http"`, ""},
		{"the clock", "internal/core/plan/a.go", "import \"time\"\nvar now = time.Now()", "may not use time.Now"},
		{"the clock under another name", "internal/core/plan/a.go", "import t \"time\"\nfunc f() { t.Sleep(1) }", "may not use time.Sleep"},
		{"the clock as a value", "internal/core/plan/a.go", "import \"time\"\nvar clock = time.Since", "may not use time.Since"},
		{"the clock without a name", "internal/core/plan/a.go", `import . "time"`, "may not dot-import time"},
		{"the clock in a test", "internal/core/plan/a_test.go", "import \"time\"\nvar now = time.Now()", ""},
		{"a time given", "internal/core/plan/a.go", "import \"time\"\nfunc f(t time.Time) bool { return t.IsZero() }", ""},
		{"the global random source", "internal/core/plan/a.go", "import \"math/rand/v2\"\nvar x = rand.IntN(6)", "global random source (rand.IntN)"},
		{"a seeded random source", "internal/core/plan/a.go", "import \"math/rand/v2\"\nvar x = rand.New(rand.NewPCG(1, 2)).IntN(6)", ""},
		{"a file that does not parse", "internal/core/plan/a.go", `import (`, "does not parse"},
	} {
		t.Run(c.situation, func(t *testing.T) {
			got := strings.Join(r.check(c.file, "package x\n"+c.source, map[string]map[string]bool{}), "\n")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestUnusedGrantsAreFound(t *testing.T) {
	r, err := parseRules("plan:\nproof: plan\nplan test: proof")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]map[string]bool{}
	if found := r.check("internal/plan/a_test.go", `package plan; import "example.org/headroom/internal/proof"`, used); found != nil {
		t.Fatal(found)
	}
	want := "imports.txt: nothing in proof imports plan; take the grant out"
	if got := strings.Join(r.unused(used), "\n"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBadRulesAreRefused(t *testing.T) {
	for _, c := range []struct{ situation, text, want string }{
		{"an unknown group", "plan: @pure", "imports.txt:1: group @pure is not defined"},
		{"no colon", "plan capacity", "imports.txt:1: "},
		{"a package twice", "plan:\nplan:", "imports.txt:2: plan is listed twice"},
		{"an import of nothing", "plan: capacity", "capacity (at plan) is no listed package"},
		{"an arrow upward", "wing core:\nwing edge: core\nedge/api:\ncore/plan: edge/api", "the wing core does not stand on the wing edge"},
		{"tests of nothing", "plan test:", "plan (at plan) is no listed package"},
	} {
		t.Run(c.situation, func(t *testing.T) {
			_, err := parseRules(c.text)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// Package recheck checks the answers of these packages, so it may read their documents and must not call their work.
func TestRecheckCallsNothingOfWhatItChecks(t *testing.T) {
	functions := map[string]bool{}
	for _, dir := range []string{"ask/pack", "ask/pool", "ask/horizon", "ask/whatif", "ask/goal", "core/plan", "slots/dispatch"} {
		for _, f := range parseDir(t, dir) {
			for _, d := range f.Decls {
				if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && !strings.HasPrefix(d.Name.Name, "Read") {
					functions[filepath.Base(dir)+"."+d.Name.Name] = true
				}
			}
		}
	}
	if len(functions) < 50 {
		t.Fatalf("found %d functions; there are more", len(functions))
	}
	delete(functions, "whatif.Tell") // it says checked figures in words, as core/words does for plans; so do the methods Retold
	for _, f := range parseDir(t, "ask/recheck") {
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && functions[x.Name+"."+s.Sel.Name] {
					t.Errorf("recheck uses %s.%s, a function of what it checks", x.Name, s.Sel.Name)
				}
			}
			return true
		})
	}
}

// parseDir parses the Go files of a folder below internal, tests aside.
func parseDir(t *testing.T, dir string) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(filepath.FromSlash(dir), "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %d files, %v", dir, len(names), err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}
