package api

import (
	"context"
	"net/http"

	"example.org/headroom/internal/ask/pool"
	"example.org/headroom/internal/ask/whatif"
)

// poolVMTypes makes a scenario for capacity plans from a pool's types.
func (s *server) poolVMTypes(w http.ResponseWriter, r *http.Request) {
	var made whatif.Scenario
	p, err := pool.ReadPool(bodyOf(r), s.config.Limits)
	if err = readingProblem(err); err == nil {
		made, err = pool.Scenario(p, r.URL.Query().Get("reference"), r.URL.Query().Get("whole_vms") == "true")
	}
	if err == nil {
		err = reply[whatif.Scenario]{body: made}.write(w, r)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

func (s *server) GetInstanceTypes(context.Context, GetInstanceTypesRequest) (reply[InstanceCatalogues], error) {
	return reply[InstanceCatalogues]{body: pool.InstanceCatalogues{Items: []pool.InstanceCatalogue{pool.ExampleEC22011()}}, hashed: true}, nil
}
