package deploy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strconv"
	"testing"
)

// known holds the relevant facts about a setting.
type known struct{ secret bool }

// settingsOfTheServer returns the variables that the server reads, from the tags of its settings.
func settingsOfTheServer(t *testing.T) map[string]known {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../internal/edge/cli/server/config.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]known{}
	ast.Inspect(file, func(n ast.Node) bool {
		field, ok := n.(*ast.Field)
		if !ok || field.Tag == nil {
			return true
		}
		text, err := strconv.Unquote(field.Tag.Value)
		if err != nil {
			t.Fatal(err)
		}
		tag := reflect.StructTag(text)
		if name := tag.Get("env"); name != "" {
			settings[name] = known{secret: tag.Get("secret") != ""}
		}
		return true
	})
	if len(settings) < 10 || !settings["HEADROOM_ADMIN_KEY"].secret || settings["HEADROOM_LISTEN"].secret {
		t.Fatalf("config.go's settings are not found: %v", settings)
	}
	return settings
}
