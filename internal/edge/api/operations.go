package api

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/go-chi/chi/v5"

	"example.org/headroom/internal/edge/api/rules"
	"example.org/headroom/internal/service/auth"
)

//go:generate go tool -modfile=../../../tools/go.mod oapi-codegen -config ../../../openapi/server/config.yaml -o server_gen.go ../../../openapi/openapi.yaml

// operation is one of the contract's, prepared for look-ups.
type operation struct {
	*rules.Operation
	queries   []string // names of query parameters
	streamed  bool     // its handler reads the body
	large     bool     // its body lists many things
	creates   bool     // takes an Idempotency-Key
	inCluster bool     // its path names a cluster
	owned     bool     // the owner of a live cluster answers it
	adds      bool     // adds to what its cluster keeps, and no job waits for it
}

// route is a method and the pattern of an address.
type route struct{ method, pattern string }

// long lists operations whose bodies list many things, besides those that are read strictly.
var long = []string{"applyDocument", "importExecutions", "addMeasurements"}

// owned lists operations that lock a live cluster.
var owned = []string{"sendHeartbeat", "putLiveNode", "removeLiveNode", "replaceLiveSettings", "relearn", "createLiveJob", "getLiveJob", "killLiveJob", "createAdmission"}

// imports lists operations that add much to a cluster, besides those that take an Idempotency-Key.
var imports = []string{"importPrices", "importHistory", "importExecutions", "profileFromHistory", "forecastFromHistory", "classesFromHistory", "putForecasts", "putWeeklyForecast"}

// readOperations returns the operations by method and pattern.
func readOperations() (map[route]*operation, error) {
	operations := map[route]*operation{}
	for i := range rules.Operations {
		o := &operation{Operation: &rules.Operations[i]}
		if o.Role != rules.Open && o.Role != rules.Any && !slices.Contains(auth.Roles, auth.Role(o.Role)) {
			return nil, fmt.Errorf("%s %s: x-role %q is no role", o.Method, o.Path, o.Role)
		}
		for _, p := range o.Parameters {
			switch {
			case p.In == "query":
				o.queries = append(o.queries, p.Name)
			case p.In == "path" && p.Name == "cluster":
				o.inCluster = true
			case p.Name == idempotencyKey:
				o.creates = true
			}
		}
		o.streamed = o.ID == "importPrices" || o.ID == "importHistory"
		o.owned = slices.Contains(owned, o.ID)
		o.adds = o.inCluster && !o.owned && (o.creates || slices.Contains(imports, o.ID))
		o.large = o.Bulk || slices.Contains(long, o.ID)
		operations[route{o.Method, o.Path}] = o
	}
	return operations, nil
}

// needs returns the allowed roles, in words.
func (o *operation) needs() string {
	if o.Agent {
		return o.Role + " or agent"
	}
	return o.Role
}

// lists reports whether it answers a list, which may be a table.
func (o *operation) lists() bool { return slices.Contains(o.queries, "format") }

// operationOf returns the operation that a request was routed to.
func (s *server) operationOf(r *http.Request) *operation {
	c := chi.RouteContext(r.Context())
	return s.operations[route{c.RouteMethod, c.RoutePattern()}]
}
