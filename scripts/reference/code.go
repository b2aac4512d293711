package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// code holds what the Go files of the programs say of themselves. Tests and what only tests need are left out.
type code struct {
	metrics   []metric
	labels    map[string][]string // of metrics whose options stand in a literal, by name
	variables []string            // of the environment, by name
	codes     map[string]string   // of findings, with what one of them says
	recorded  map[string]bool     // kinds of things in the audit log
	exits     []exit
}

type metric struct {
	name, kind, help string
	labels           []string
}

// exit is an exit code with its comment.
type exit struct{ code, about string }

var (
	metricName   = regexp.MustCompile(`^(headroom|http)_[a-z_]+[a-z]$`)
	variableName = regexp.MustCompile(`^(HEADROOM_[A-Z_]*[A-Z])=?$`)
	codeName     = regexp.MustCompile(`^[a-z][a-z_]*$`)
)

// codeless holds folders that no program of ours contains.
var codeless = []string{"internal/test", "cmd/bench"}

func readCode(repository string) (*code, error) {
	c := &code{labels: map[string][]string{}, codes: map[string]string{}, recorded: map[string]bool{}}
	for _, top := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(filepath.Join(repository, top), func(name string, entry fs.DirEntry, err error) error {
			inside, relErr := filepath.Rel(repository, name)
			switch {
			case err != nil || relErr != nil:
				return err
			case entry.IsDir() && (slices.Contains(codeless, filepath.ToSlash(inside)) || entry.Name() == "node_modules"):
				return filepath.SkipDir
			case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_gen.go"):
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool { c.note(file.Name.Name, n); return true })
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for i, m := range c.metrics {
		c.metrics[i].labels = append(m.labels, c.labels[m.name]...)
	}
	slices.SortFunc(c.metrics, func(a, b metric) int { return strings.Compare(a.name, b.name) })
	slices.Sort(c.variables)
	c.variables = slices.Compact(c.variables)
	return c, nil
}

// note keeps what one node of a file of a package says.
func (c *code) note(pkg string, n ast.Node) {
	switch n := n.(type) {
	case *ast.BasicLit:
		if m := variableName.FindStringSubmatch(text(n)); m != nil {
			c.variables = append(c.variables, m[1])
		}
	case *ast.CallExpr:
		c.call(n)
	case *ast.CompositeLit:
		members := membersOf(n)
		if name := text(members["Name"]); metricName.MatchString(name) {
			m := metric{name: name, kind: kindOf(types(n.Type)), help: text(members["Help"])}
			if always, ok := members["ConstLabels"].(*ast.CompositeLit); ok {
				for _, e := range always.Elts {
					if pair, ok := e.(*ast.KeyValueExpr); ok {
						m.labels = append(m.labels, text(pair.Key))
					}
				}
			}
			c.metrics = append(c.metrics, m)
		}
		c.finding(text(members["Code"]), members["Detail"])
	case *ast.ValueSpec:
		for i, name := range n.Names {
			if i < len(n.Values) && n.Type == nil {
				c.constant(pkg, name.Name, n.Values[i], n.Comment)
			}
		}
	}
}

// membersOf returns the values of a struct's literal by name.
func membersOf(n *ast.CompositeLit) map[string]ast.Expr {
	members := map[string]ast.Expr{}
	for _, e := range n.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); ok {
				members[key.Name] = pair.Value
			}
		}
	}
	return members
}

// texts returns the elements of a list of texts that are written out.
func texts(e ast.Expr) (all []string) {
	if list, ok := e.(*ast.CompositeLit); ok {
		for _, element := range list.Elts {
			if said := text(element); said != "" {
				all = append(all, said)
			}
		}
	}
	return all
}

func (c *code) constant(pkg, name string, value ast.Expr, comment *ast.CommentGroup) {
	if kind := text(value); kind != "" && strings.HasSuffix(name, "Kind") {
		c.recorded[kind] = true
	}
	if number, ok := value.(*ast.BasicLit); ok && pkg == "shell" && strings.HasPrefix(name, "Exit") && number.Kind == token.INT {
		about := "done"
		if comment != nil {
			about = strings.TrimSpace(comment.Text())
		}
		c.exits = append(c.exits, exit{number.Value, about})
	}
}

// finders are the functions, by the last part of their name, that make a finding of a place, a code and a sentence.
var finders = []string{"refuse", "found", "foundin", "add", "at", "aboutparameter", "refusal", "warn", "hint"}

// call keeps the metrics and findings that a call makes: its first arguments are their name and help, or the place, the
// code and the sentence.
func (c *code) call(n *ast.CallExpr) {
	if len(n.Args) < 2 {
		return
	}
	if options, ok := n.Args[0].(*ast.CompositeLit); ok {
		if name := text(membersOf(options)["Name"]); metricName.MatchString(name) {
			c.labels[name] = texts(n.Args[1])
		}
	}
	if name := text(n.Args[0]); metricName.MatchString(name) && text(n.Args[1]) != "" {
		m := metric{name: name, kind: kindOf(types(n.Fun)), help: text(n.Args[1])}
		if strings.HasSuffix(types(n.Fun), "ClusterMetric") {
			m.labels = append(m.labels, "cluster")
		}
		for _, label := range n.Args[2:] {
			if text(label) != "" {
				m.labels = append(m.labels, text(label))
			}
			m.labels = append(m.labels, texts(label)...)
		}
		c.metrics = append(c.metrics, m)
	}
	name := types(n.Fun)
	if slices.Contains(finders, strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])) {
		for i, code := range n.Args[:min(2, len(n.Args)-1)] {
			if strings.HasSuffix(format(n.Args[i+1]), ".") { // what is no sentence is a place, or a code itself
				c.finding(text(code), n.Args[i+1])
			}
		}
	}
}

// finding keeps a code with the first sentence found for it.
func (c *code) finding(code string, detail ast.Expr) {
	said := format(detail)
	if !codeName.MatchString(code) || metricName.MatchString(code) {
		return
	}
	if before, known := c.codes[code]; !known || before == "" || said != "" && said < before {
		c.codes[code] = said
	}
}

// format returns a text, or the first argument of a call that fills it in.
func format(e ast.Expr) string {
	if call, ok := e.(*ast.CallExpr); ok && len(call.Args) > 0 {
		return text(call.Args[0])
	}
	return text(e)
}

// text returns the value of a text that is written out, or joined of such; "" for every other expression.
func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			if s, err := strconv.Unquote(e.Value); err == nil {
				return s
			}
		}
	case *ast.BinaryExpr:
		if a, b := text(e.X), text(e.Y); e.Op == token.ADD && a != "" && b != "" {
			return a + b
		}
	}
	return ""
}

// types writes the name of a type or a function, with its package.
func types(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return types(e.X) + "." + e.Sel.Name
	}
	return ""
}

func kindOf(maker string) string {
	maker = strings.ToLower(maker)
	for _, kind := range []string{"histogram", "counter"} {
		if strings.Contains(maker, kind) {
			return kind
		}
	}
	return "gauge"
}

// verb matches what a sentence is filled in with.
var verb = regexp.MustCompile(`%(\[\d\])?[.0-9]*[a-z]`)

// example returns a sentence with dots for what is filled in.
func example(format string) string {
	return strings.ReplaceAll(verb.ReplaceAllString(format, "…"), "%%", "%")
}

func errorsPage(c *code) string {
	var s strings.Builder
	s.WriteString("# Errors\n\n" + mark + `
## Exit codes of commands

| Code | Meaning |
|---|---|
`)
	for _, e := range c.exits {
		fmt.Fprintf(&s, "| %s | %s |\n", e.code, cell(e.about))
	}
	problemKinds(&s)
	s.WriteString(`
## Codes of findings

Each entry of ` + "`errors`, `conflicts` and `warnings`" + ` has a ` + "`code`" + ` for programs and a sentence for people.
The same code may come with several sentences; one of them stands here.

| Code | For example |
|---|---|
`)
	for _, name := range slices.Sorted(maps.Keys(c.codes)) {
		fmt.Fprintf(&s, "| `%s` | %s |\n", name, cell(example(c.codes[name])))
	}
	return s.String()
}
