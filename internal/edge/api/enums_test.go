package api

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// constantsOf returns the words that the code declares and exports for each of its types of words, such as
// dispatch.PolicyKind.
func constantsOf(t *testing.T) map[string][]string {
	t.Helper()
	declared := map[string][]string{}
	err := filepath.WalkDir("../..", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "node_modules") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if group, ok := d.(*ast.GenDecl); !ok || group.Tok != token.CONST {
				continue
			}
			for _, spec := range d.(*ast.GenDecl).Specs {
				constant := spec.(*ast.ValueSpec)
				if constant.Type == nil || !constant.Names[0].IsExported() {
					continue
				}
				of := types.ExprString(constant.Type)
				if !strings.Contains(of, ".") {
					of = file.Name.Name + "." + of
				}
				for _, value := range constant.Values {
					if text, ok := value.(*ast.BasicLit); ok && text.Kind == token.STRING {
						word, _ := strconv.Unquote(text.Value)
						declared[of] = append(declared[of], word)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return declared
}

// enums collects the words of openapi.yaml for each of the code's types of words.
type enums map[string]map[string]bool

func (e enums) add(at reflect.Type, s *openapi3.Schema) {
	for at.Kind() == reflect.Pointer {
		at = at.Elem()
	}
	switch {
	case at.Kind() == reflect.Slice && s.Items != nil:
		e.add(at.Elem(), s.Items.Value)
	case at.Kind() == reflect.String && strings.HasPrefix(at.PkgPath(), "example.org/headroom/") && len(s.Enum) > 0:
		if e[at.String()] == nil {
			e[at.String()] = map[string]bool{}
		}
		for _, word := range s.Enum {
			if word != nil && word != "" {
				e[at.String()][fmt.Sprint(word)] = true
			}
		}
	}
}

// members adds the words of a struct's members.
func (e enums) members(at reflect.Type, s *openapi3.Schema) {
	for i := range at.NumField() {
		f := at.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && f.Anonymous && f.Type.Kind() == reflect.Struct {
			e.members(f.Type, s)
		}
		for _, part := range append([]*openapi3.Schema{s}, schemasOf(s.AllOf)...) {
			if p := part.Properties[name]; p != nil {
				e.add(f.Type, p.Value)
				for _, more := range p.Value.AllOf {
					e.add(f.Type, more.Value)
				}
			}
		}
	}
}

func schemasOf(refs openapi3.SchemaRefs) (all []*openapi3.Schema) {
	for _, ref := range refs {
		all = append(all, ref.Value)
	}
	return all
}

// The words of a type are those that openapi.yaml allows where the type stands: none is missing there, and it has no
// others. Words that no place allows would be refused although the code knows them.
func TestEnumsAreTheContracts(t *testing.T) {
	t.Parallel()
	doc := contract(t)
	of := maps.Clone(goTypes)
	for schema, name := range overlay(t) {
		of[schema] = overlaid[name]
	}
	found := enums{}
	for name, at := range of {
		s := doc.Components.Schemas[name]
		if at == nil || s == nil {
			continue
		}
		found.add(at, s.Value)
		if at.Kind() == reflect.Struct {
			found.members(at, s.Value)
		}
	}
	declared := constantsOf(t)
	for name, words := range found {
		want := slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(declared[name]))), func(word string) bool { return word == "" })
		if got := slices.Sorted(maps.Keys(words)); !slices.Equal(got, want) {
			t.Errorf("%s is declared as %q, openapi.yaml allows %q", name, want, got)
		}
	}
	if len(found) < 20 {
		t.Errorf("only %d types of words were compared", len(found))
	}
}
