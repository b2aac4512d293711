// Command planjson writes the functions that read and write a plan's JSON without reflection, from the tags of the
// structs in a package. It takes the structs that say so:
//
//	//planjson:shape a class's part
//
// names a struct in sentences about its members. A member may be left out where its tag says omitempty or omitzero,
// or where the struct has a line "//planjson:older NAME", for members that older documents lack. The method
// "//planjson:then METHOD" is called with what was read and the members that were given. The lists of a struct with
// "//planjson:stream" are written in pieces.
//
//	go run ./scripts/planjson internal/core/capacity > internal/core/capacity/planjson_gen.go
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: planjson folder")
		os.Exit(2)
	}
	text, err := generate(os.Args[1])
	if err == nil {
		_, err = os.Stdout.Write(text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "planjson:", err)
		os.Exit(1)
	}
}

// structure is a struct that is read and written.
type structure struct {
	name, what, then string
	stream           bool
	older            []string
	fields           []field
}

type field struct {
	name, member, kind string // the kind as Go writes it
	optional           bool   // not written where it is empty
}

// generate returns the file for a package's folder.
func generate(folder string) ([]byte, error) {
	g := generator{words: map[string]bool{}, known: map[string]*structure{}}
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	var name string
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_gen.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		name = file.Name.Name
		g.collect(file)
	}
	slices.SortFunc(g.all, func(a, b *structure) int { return strings.Compare(a.name, b.name) })
	fmt.Fprintf(&g.out, "// Code generated from the tags of structs by scripts/planjson. DO NOT EDIT.\n\npackage %s\n\n", name)
	g.out.WriteString("import (\n\"strconv\"\n\n\"example.org/headroom/internal/core/money\"\n\"example.org/headroom/internal/core/strict\"\n)\n\n")
	for _, s := range g.all {
		if err := g.write(s); err != nil {
			return nil, err
		}
	}
	slices.Sort(g.rooms)
	g.out.WriteString("type planRooms struct {\n")
	for _, of := range slices.Compact(g.rooms) {
		fmt.Fprintf(&g.out, "roomOf%s room[%s]\n", of, of)
	}
	g.out.WriteString("}\n")
	return format.Source(g.out.Bytes())
}

type generator struct {
	out   bytes.Buffer
	all   []*structure
	known map[string]*structure
	words map[string]bool // types of a few words
	rooms []string        // structs that are pointed at
}

func (g *generator) collect(file *ast.File) {
	for _, d := range file.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.TYPE {
			continue
		}
		for _, spec := range group.Specs {
			t := spec.(*ast.TypeSpec)
			body, ok := t.Type.(*ast.StructType)
			if id, named := t.Type.(*ast.Ident); named && id.Name == "string" {
				g.words[t.Name.Name] = true
			}
			if !ok || group.Doc == nil {
				continue
			}
			s := &structure{name: t.Name.Name}
			for _, line := range group.Doc.List {
				order, rest, _ := strings.Cut(line.Text, " ")
				switch order {
				case "//planjson:shape":
					s.what = rest
				case "//planjson:then":
					s.then = rest
				case "//planjson:older":
					s.older = append(s.older, rest)
				case "//planjson:stream":
					s.stream = true
				}
			}
			if s.what != "" {
				s.fields = fieldsOf(body)
				g.all, g.known[s.name] = append(g.all, s), s
			}
		}
	}
}

func fieldsOf(body *ast.StructType) (fields []field) {
	for _, f := range body.Fields.List {
		kind := kindOf(f.Type)
		if len(f.Names) == 0 {
			fields = append(fields, field{name: kind, kind: kind}) // its members are this struct's
			continue
		}
		tag, _ := strconv.Unquote(f.Tag.Value)
		member, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		fields = append(fields, field{f.Names[0].Name, member, kind, options != ""})
	}
	return fields
}

func kindOf(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.StarExpr:
		return "*" + kindOf(x.X)
	case *ast.ArrayType:
		return "[]" + kindOf(x.Elt)
	case *ast.SelectorExpr:
		return kindOf(x.X) + "." + x.Sel.Name
	}
	return "?"
}

// members returns the fields that have members, those of embedded structs with their path.
func (g *generator) members(s *structure) (all []field) {
	for _, f := range s.fields {
		if f.member != "" {
			all = append(all, f)
		} else {
			all = append(all, g.members(g.known[f.kind])...)
		}
	}
	return all
}

func (g *generator) write(s *structure) error {
	var required, optional []string
	for _, f := range g.members(s) {
		if f.optional || slices.Contains(s.older, f.member) {
			optional = append(optional, f.member)
		} else {
			required = append(required, f.member)
		}
	}
	fmt.Fprintf(&g.out, "var plan%sShape = strict.NewShape(%q, []string{%s}", s.name, s.what, quoted(required))
	if len(optional) > 0 {
		g.out.WriteString(", " + quoted(optional))
	}
	g.out.WriteString(")\n\n")
	if err := g.reader(s); err != nil {
		return err
	}
	return g.writer(s)
}

func quoted(words []string) string {
	var all []string
	for _, w := range words {
		all = append(all, strconv.Quote(w))
	}
	return strings.Join(all, ", ")
}

func (g *generator) reader(s *structure) error {
	given := ""
	if s.then != "" {
		given = "given := "
	}
	fmt.Fprintf(&g.out, "func (r *planReader) read%s(x *%s) {\n%sr.Object(plan%sShape, func(name string) {\nswitch name {\n", s.name, s.name, given, s.name)
	for _, f := range g.members(s) {
		read, err := g.read(f)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", s.name, f.name, err)
		}
		fmt.Fprintf(&g.out, "case %q:\n%s\n", f.member, read)
	}
	g.out.WriteString("}\n})\n")
	if s.then != "" {
		fmt.Fprintf(&g.out, "r.%s(x, given)\n", s.then)
	}
	g.out.WriteString("}\n\n")
	return nil
}

// read returns the statements that read a member.
func (g *generator) read(f field) (string, error) {
	x := "x." + f.name
	if item, list := strings.CutPrefix(f.kind, "[]"); list {
		return x + " = listOrNull(r.Reader, " + g.into(item) + ")", nil
	}
	item, pointer := strings.CutPrefix(f.kind, "*")
	switch {
	case g.words[item]:
		return fmt.Sprintf("known(r.Reader, &%s, %q, all%s)", x, strings.ToLower(item), item), nil
	case pointer && f.optional && g.known[item] != nil:
		return fmt.Sprintf("%s = new(%s)\nr.read%s(%s)", x, item, item, x), nil
	case pointer && item == "float64":
		return x + " = r.optionalFloat()", nil
	case pointer && item == "money.Amount":
		return x + " = r.optionalMoney()", nil
	case pointer && item == "bool":
		return x + " = orNull(r, &room[bool]{}, r.Flag)", nil
	case pointer && g.known[item] != nil:
		g.rooms = append(g.rooms, item)
		return fmt.Sprintf("%s = orNull(r, &r.roomOf%s, r.read%s)", x, item, item), nil
	case !pointer && g.into(item) != "":
		return g.into(item) + "(&" + x + ")", nil
	}
	return "", fmt.Errorf("a member of the type %s is not read yet", f.kind)
}

// into returns the function that reads a value in its place.
func (g *generator) into(kind string) string {
	switch kind {
	case "float64":
		return "r.Float"
	case "bool":
		return "r.Flag"
	case "string":
		return "r.string"
	case "int64":
		return "r.plainWhole"
	case "money.Amount":
		return "r.money"
	case "fault.Finding":
		return "r.finding"
	}
	if g.known[kind] != nil {
		return "r.read" + kind
	}
	return ""
}

func (g *generator) writer(s *structure) error {
	dst, end := "dst", "return append(dst, '}')\n}\n\n"
	if s.stream {
		dst, end = "t.text", "t.text = append(t.text, '}')\n}\n\n"
		fmt.Fprintf(&g.out, "func (t *planText) write%s(x *%s) {\n", s.name, s.name)
	} else {
		fmt.Fprintf(&g.out, "func append%s(dst []byte, x *%s) []byte {\n", s.name, s.name)
	}
	open := "{"
	members := g.members(s)
	for i, f := range members {
		written, err := g.appended(f, dst, fmt.Sprintf("append(%s, `%s%q:`...)", dst, open, f.member), s.stream)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", s.name, f.name, err)
		}
		switch {
		case f.optional && open == "{" && !members[i+1].optional:
			fmt.Fprintf(&g.out, "%s = append(%s, '{')\n", dst, dst)
			written = strings.Replace(written, "`{", "`", 1)
			fmt.Fprintf(&g.out, "if %s {\n%s\n%s = append(%s, ',')\n}\n", g.there(f), written, dst, dst)
			open = ""
			continue
		case f.optional:
			fmt.Fprintf(&g.out, "if %s {\n%s\n}\n", g.there(f), written)
		default:
			g.out.WriteString(written + "\n")
		}
		open = ","
	}
	g.out.WriteString(end)
	return nil
}

// there returns the condition on which an optional member is written.
func (g *generator) there(f field) string {
	x := "x." + f.name
	switch {
	case strings.HasPrefix(f.kind, "[]"):
		return "len(" + x + ") > 0"
	case strings.HasPrefix(f.kind, "*"):
		return x + " != nil"
	case f.kind == "string" || g.words[f.kind]:
		return x + ` != ""`
	case f.kind == "money.Amount":
		return "!" + x + ".IsZero()"
	}
	return x + " != 0"
}

// appended returns the statements that write a member after its name.
func (g *generator) appended(f field, dst, after string, stream bool) (string, error) {
	x := "x." + f.name
	item, list := strings.CutPrefix(f.kind, "[]")
	if list && stream {
		return fmt.Sprintf("t.text = %s\nwriteList(t, %s, %s)", after, x, g.item(item)), nil
	}
	if list {
		return fmt.Sprintf("%s = appendList(%s, %s, %s)", dst, after, x, g.item(item)), nil
	}
	item, pointer := strings.CutPrefix(f.kind, "*")
	structure := g.known[item]
	if structure != nil && structure.stream {
		return fmt.Sprintf("t.text = %s\nt.write%s(%s)", after, item, x), nil
	}
	if structure == nil && g.words[item] {
		return fmt.Sprintf("%s = strict.AppendText(%s, string(%s))", dst, after, x), nil
	}
	write := map[string]string{"float64": "strict.AppendNumber(%s, %s)", "bool": "strconv.AppendBool(%s, %s)", "string": "strict.AppendText(%s, %s)",
		"int64": "strconv.AppendInt(%s, %s, 10)", "money.Amount": "money.AppendMoney(%s, %s)"}[item]
	switch {
	case structure != nil && (!pointer || f.optional):
		if !pointer {
			x = "&" + x
		}
		return fmt.Sprintf("%s = append%s(%s, %s)", dst, item, after, x), nil
	case structure != nil:
		return fmt.Sprintf("%s = appendOrNull(%s, %s, append%s)", dst, after, x, item), nil
	case write == "":
		return "", fmt.Errorf("a member of the type %s is not written yet", f.kind)
	case pointer && !f.optional:
		return fmt.Sprintf("%s = %s\nif %s == nil {\n%s = append(%s, \"null\"...)\n} else {\n%s = %s\n}", dst, after, x, dst, dst, dst,
			fmt.Sprintf(write, dst, "*"+x)), nil
	case pointer:
		x = "*" + x
	}
	return dst + " = " + fmt.Sprintf(write, after, x), nil
}

// item returns the function that writes an element of a list.
func (g *generator) item(kind string) string {
	switch kind {
	case "float64":
		return "appendFloat"
	case "fault.Finding":
		return "appendFinding"
	}
	return "append" + kind
}
