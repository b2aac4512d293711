package openapi

import (
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// Every function of operations_gen.go asks for the operation of its name, with all parameters of its path, and its
// query holds what that operation takes and nothing else. Who has changed openapi.yaml alone sees it here.
func TestOperationsAreThoseOfTheContract(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(Document)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("operations_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	queries := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?s)type (\w+)Query struct \{(.*?)\n\}`).FindAllStringSubmatch(string(source), -1) {
		for _, tag := range regexp.MustCompile("`query:\"(\\w+)\"`").FindAllStringSubmatch(m[2], -1) {
			queries[m[1]] = append(queries[m[1]], tag[1])
		}
	}
	type function struct {
		method, path string
		list         bool
		parameters   int
	}
	functions := map[string]function{}
	made := regexp.MustCompile(`func (\w+)\(([^)]*)\) (\w+) +\{\s*return (?:List\{)?to\("(\w+)", "([^"]+)"((?:, \w+)*)\)`)
	for _, m := range made.FindAllStringSubmatch(string(source), -1) {
		functions[m[1]] = function{m[4], m[5], m[3] == "List", strings.Count(m[6], ",")}
	}
	if declared := strings.Count(string(source), "\nfunc "); declared != len(functions) {
		t.Errorf("%d of %d functions can be read", len(functions), declared)
	}
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			if slices.Contains(operation.Tags, "service") {
				continue
			}
			name := strings.ToUpper(operation.OperationID[:1]) + operation.OperationID[1:]
			f, there := functions[name]
			delete(functions, name)
			if !there || f.method != method || f.path != path || f.parameters != strings.Count(path, "{") {
				t.Errorf("%s %s: %s is %+v", method, path, name, f)
			}
			var takes []string
			for _, p := range slices.Concat(item.Parameters, operation.Parameters) {
				if p.Value.In == "query" {
					takes = append(takes, p.Value.Name)
				}
			}
			has := queries[name]
			if f.list {
				has = append(slices.Clone(has), "limit", "cursor", "format")
			}
			takes = slices.DeleteFunc(takes, func(name string) bool { return f.list && name == "numbers" })
			slices.Sort(takes)
			slices.Sort(has)
			if !slices.Equal(takes, has) {
				t.Errorf("%s takes the query %q, and its function gives %q", name, takes, has)
			}
		}
	}
	for name := range functions {
		t.Errorf("%s is no operation of the contract", name)
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	executions := ListExecutions("shop", &ListExecutionsQuery{Job: "a b", Until: "2026-01-01"})
	for name, c := range map[string]struct {
		got         Request
		method, uri string
	}{
		"without parameters":      {Solve(), http.MethodPost, "/v1/solve"},
		"names that need escapes": {GetClass("a/b", "100% ä?#"), http.MethodGet, "/v1/clusters/a%2Fb/classes/100%25%20%C3%A4%3F%23"},
		"names with braces":       {GetClass("{name}", "}{"), http.MethodGet, "/v1/clusters/%7Bname%7D/classes/%7D%7B"},
		"a number":                {GetProfileVersion("shop", "etl", 12), http.MethodGet, "/v1/clusters/shop/profiles/etl/versions/12"},
		"no query":                {GetPlan("shop", "3", nil), http.MethodGet, "/v1/clusters/shop/plans/3"},
		"a list":                  {executions.Request, http.MethodGet, "/v1/clusters/shop/executions?job=a+b&until=2026-01-01"},
		"a page": {executions.Page("10", "c=", ""), http.MethodGet,
			"/v1/clusters/shop/executions?cursor=c%3D&job=a+b&limit=10&until=2026-01-01"},
		"another page": {executions.Page("", "", "csv"), http.MethodGet,
			"/v1/clusters/shop/executions?format=csv&job=a+b&until=2026-01-01"},
		"several of one name": {CompareScenarios("shop", CompareScenariosQuery{Name: []string{"a", "b&c"}}), http.MethodGet,
			"/v1/clusters/shop/scenarios/compare?name=a&name=b%26c"},
		"a switch": {PutForecasts("shop", &PutForecastsQuery{DryRun: true}), http.MethodPut,
			"/v1/clusters/shop/forecasts?dry_run=true"},
		"a switch that is off": {PutForecasts("shop", &PutForecastsQuery{}), http.MethodPut, "/v1/clusters/shop/forecasts"},
	} {
		uri := c.got.Path
		if len(c.got.Query) > 0 {
			uri += "?" + c.got.Query.Encode()
		}
		if c.got.Method != c.method || uri != c.uri {
			t.Errorf("%s: got %s %s, want %s %s", name, c.got.Method, uri, c.method, c.uri)
		}
		if _, err := url.ParseRequestURI(uri); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
