package api

import (
	_ "embed"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-chi/chi/v5"

	"headroom/internal/service/auth"
)

//go:generate sh -c "go run headroom/scripts/requests > requests_gen.json"
//go:generate go tool -modfile=../../../tools/go.mod oapi-codegen -config ../../../openapi/server/config.yaml -o server_gen.go ../../../openapi/openapi.yaml

// operation is one of openapi.yaml's, prepared for look-ups.
type operation struct {
	id          string
	role        string // of auth.Roles, or roleOpen, or roleAny
	agent       bool   // agents may as well
	allClusters bool   // only for principals that are not limited to clusters
	parameters  []*openapi3.Parameter
	queries     []string // names of query parameters
	body        *openapi3.RequestBody
	schema      *openapi3.Schema // of the body; nil if a reader of capacity checks it
	streamed    bool             // its handler reads the body
	large       bool             // its body lists many things
	tables      bool             // its body may be CSV, which is read as a stream
	creates     bool             // takes an Idempotency-Key,
	keyAsync    bool             // but only for work in the background
	inCluster   bool             // its path names a cluster
}

// route is a method and the pattern of an address.
type route struct{ method, pattern string }

// The roles of operations that need no particular one.
const (
	roleOpen = "open" // no identity needed
	roleAny  = "any"  // any known caller
)

// readByHand lists the operations besides questions whose bodies are read by hand: as strictly, and many times faster
// than a check against a schema.
var readByHand = []string{"solve", "bounds", "putForecasts", "putWeeklyForecast", "poolVMTypes", "sendHeartbeat"}

//go:embed requests_gen.json
var requestsText []byte

// requests returns the contract's requests. It reads them once, because that takes a moment, and nobody changes them.
var requests = sync.OnceValues(func() (*openapi3.T, error) { return openapi3.NewLoader().LoadFromData(requestsText) })

// ReadRequests loads the contract ahead of New, which reports its faults.
func ReadRequests() { _, _ = requests() }

// readOperations reads the operations by method and pattern.
func readOperations(doc *openapi3.T) (map[route]*operation, error) {
	operations := map[route]*operation{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			o := &operation{id: op.OperationID}
			o.role, _ = op.Extensions["x-role"].(string)
			o.agent, _ = op.Extensions["x-agent"].(bool)
			o.keyAsync, _ = op.Extensions["x-key-async"].(bool)
			o.allClusters, _ = op.Extensions["x-all-clusters"].(bool)
			if o.role != roleOpen && o.role != roleAny && !slices.Contains(auth.Roles, auth.Role(o.role)) {
				return nil, fmt.Errorf("%s %s: x-role %q is no role", method, path, o.role)
			}
			for _, ref := range slices.Concat(item.Parameters, op.Parameters) {
				p := ref.Value
				o.parameters = append(o.parameters, p)
				switch {
				case p.In == openapi3.ParameterInQuery:
					o.queries = append(o.queries, p.Name)
				case p.In == openapi3.ParameterInPath && p.Name == "cluster":
					o.inCluster = true
				case p.Name == idempotencyKey:
					o.creates = true
				}
			}
			if op.RequestBody != nil {
				o.body = op.RequestBody.Value
				if o.streamed = o.id == "importPrices" || o.id == "importHistory"; o.streamed {
					operations[route{method, path}] = o
					continue
				}
				o.tables = o.body.Content["text/csv"] != nil
				question, _ := op.Extensions["x-question"].(bool)
				byHand := question || slices.Contains(readByHand, o.id)
				o.large = byHand || o.id == "applyDocument" || o.id == "importExecutions" || o.id == "addMeasurements"
				if !byHand {
					o.schema = o.body.Content["application/json"].Schema.Value
				}
			}
			operations[route{method, path}] = o
		}
	}
	return operations, nil
}

// needs returns the allowed roles, in words.
func (o *operation) needs() string {
	if o.agent {
		return o.role + " or agent"
	}
	return o.role
}

// lists reports whether it answers a list, which may be a table.
func (o *operation) lists() bool { return slices.Contains(o.queries, "format") }

// operationOf returns the operation that a request was routed to.
func (s *server) operationOf(r *http.Request) *operation {
	c := chi.RouteContext(r.Context())
	return s.operations[route{c.RouteMethod, c.RoutePattern()}]
}
