package api

import (
	"context"
	"net/http"
	"testing"

	"headroom/openapi/client"
)

// The generated client and the server understand each other.
func TestClient(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c, err := client.NewClientWithResponses(s.url, client.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+s.admin)
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	cluster, err := c.CreateClusterWithResponse(ctx, &client.CreateClusterParams{}, client.Cluster{Name: "night"})
	if err != nil || cluster.JSON201 == nil || *cluster.JSON201.Currency != "USD" {
		t.Fatalf("create a cluster: %v %+v", err, cluster)
	}
	if _, err := c.CreateVMTypeWithResponse(ctx, "night", &client.CreateVMTypeParams{}, client.VMType{Name: "odd/name"}); err != nil {
		t.Fatal(err)
	}
	from, err := c.GetVMTypeWithResponse(ctx, "night", "odd/name", &client.GetVMTypeParams{})
	if err != nil || from.JSON200 == nil || from.JSON200.Name != "odd/name" || !*from.JSON200.InUse {
		t.Fatalf("read a VM type: %v %s", err, from.Body)
	}
	solved, err := c.SolveWithResponse(ctx, client.Problem{Currency: "USD", Supply: client.Supply{OnDemand: &client.OnDemand{Price: "0.20"}},
		Classes: []client.ProblemClass{{Name: "a", VmsPerJob: new("4.5"), Jobs: client.JobRange{Min: 2, Max: 2}, Penalty: "1"}}})
	if err != nil || solved.JSON200 == nil || solved.JSON200.Cost.OnDemand != "1.80" {
		t.Fatalf("solve: %v %s", err, solved.Body)
	}
	refused, err := c.GetClusterWithResponse(ctx, "absent", &client.GetClusterParams{})
	if err != nil || refused.ApplicationproblemJSONDefault == nil || refused.ApplicationproblemJSONDefault.Type != "/problems/not-found" {
		t.Fatalf("an absent cluster: %v %s", err, refused.Body)
	}
}
