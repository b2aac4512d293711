// Command lint runs the rules of go vet and of staticcheck over packages and their tests, and fails if one finds something.
// Each package is read once, for all rules; of what it imports from elsewhere the types alone are read. The commands themselves
// read the standard library and every module as well, for minutes, to know what is deprecated there and what wraps printf.
package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/suite/vet"
	"golang.org/x/tools/go/packages"
	"honnef.co/go/tools/analysis/lint"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
	"honnef.co/go/tools/unused"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "lint:", err)
		os.Exit(1)
	}
}

func run(patterns []string) error {
	all, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax | packages.NeedModule, Tests: true}, patterns...)
	if err != nil {
		return err
	}
	if packages.PrintErrors(all) > 0 {
		return fmt.Errorf("packages do not compile")
	}
	graph, err := checker.Analyze(rules(), checked(all), nil)
	if err != nil {
		return err
	}
	found := map[string]token.Position{}
	for _, action := range graph.Roots {
		if action.Err != nil {
			return fmt.Errorf("%s: %w", action, action.Err)
		}
		note := func(at token.Position, rule, message string) {
			found[fmt.Sprintf("%s: %s (%s)", at, message, rule)] = at
		}
		name := action.Analyzer.Name
		for _, d := range action.Diagnostics {
			note(action.Package.Fset.Position(d.Pos), name, d.Message)
		}
		if result, is := action.Result.(unused.Result); is {
			for _, o := range result.Unused {
				if !made(action.Package, o.Position.Filename) {
					note(o.Position, name, fmt.Sprintf("%s %s is unused", o.Kind, o.Name))
				}
			}
		}
	}
	for _, line := range slices.SortedFunc(maps.Keys(found), cmp.Compare) {
		fmt.Println(line)
	}
	if len(found) > 0 || len(all) == 0 {
		return fmt.Errorf("%d findings in %d packages", len(found), len(all))
	}
	return nil
}

// rules are all of go vet, and those that staticcheck has on unless somebody asks for more. Streams that tests read are cut off,
// so that nobody asks their scanners for errors.
func rules() []*analysis.Analyzer {
	all := slices.DeleteFunc(slices.Clone(vet.Suite), func(a *analysis.Analyzer) bool { return a.Name == "scannererr" })
	for _, of := range [][]*lint.Analyzer{simple.Analyzers, staticcheck.Analyzers, stylecheck.Analyzers, {unused.Analyzer}} {
		for _, a := range of {
			if !a.Doc.NonDefault {
				all = append(all, a.Analyzer)
			}
		}
	}
	return all
}

// checked leaves out packages that stand there once more with their tests, and the programs that go test makes. Of the
// packages that one imports only those are left that were read as well: rules look into no others.
func checked(all []*packages.Package) (some []*packages.Package) {
	tested := map[string]bool{}
	for _, p := range all {
		if p.ID != p.PkgPath && !strings.HasSuffix(p.PkgPath, "_test") {
			tested[p.PkgPath] = true
		}
	}
	for _, p := range all {
		maps.DeleteFunc(p.Imports, func(_ string, of *packages.Package) bool { return !slices.Contains(all, of) })
		if len(p.Syntax) > 0 && !strings.HasSuffix(p.PkgPath, ".test") && (p.ID != p.PkgPath || !tested[p.PkgPath]) {
			some = append(some, p)
		}
	}
	return some
}

// made reports whether a program wrote a file.
func made(p *packages.Package, file string) bool {
	for _, f := range p.Syntax {
		if p.Fset.Position(f.FileStart).Filename == file {
			return ast.IsGenerated(f)
		}
	}
	return false
}
