// Asks a server with a client that is made from openapi.yaml: go run . ADDRESS KEY.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
)

func main() {
	if err := ask(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func ask(ctx context.Context, server, key string) error {
	c, err := NewClientWithResponses(server, WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+key)
		return nil
	}))
	if err != nil {
		return err
	}
	const cluster = "made-in-go"
	currency := "EUR"
	created, err := c.CreateClusterWithResponse(ctx, nil, Cluster{Name: cluster, Currency: &currency})
	if err != nil || created.JSON201 == nil || *created.JSON201.Currency != "EUR" {
		return fmt.Errorf("create a cluster: %w %s", err, created.Body)
	}
	one, two := 1.0, 2.0
	class := Class{Name: "etl/nightly ä", VmsPerJob: &Decimal{}, Jobs: JobRange{Min: &one, Max: 2}}
	if err := class.VmsPerJob.FromDecimal0("4.5"); err != nil {
		return err
	}
	if err := class.Penalty.FromMoney0("1.00"); err != nil {
		return err
	}
	made, err := c.CreateClassWithResponse(ctx, cluster, nil, class)
	if err != nil || made.JSON201 == nil {
		return fmt.Errorf("create a class: %w %s", err, made.Body)
	}
	if err := class.Penalty.FromMoney0("2.50"); err != nil {
		return err
	}
	etag := made.HTTPResponse.Header.Get("ETag")
	put, err := c.ReplaceClassWithResponse(ctx, cluster, "etl/nightly ä", &ReplaceClassParams{IfMatch: &etag}, class)
	if err != nil || put.JSON200 == nil || *put.JSON200.Version != 2 {
		return fmt.Errorf("put a class: %w %s", err, put.Body)
	}
	if penalty, err := put.JSON200.Penalty.AsMoney0(); err != nil || penalty != "2.50" {
		return fmt.Errorf("the penalty is %q, %w", penalty, err)
	}
	limit := int64(10)
	list, err := c.ListClassesWithResponse(ctx, cluster, &ListClassesParams{Limit: &limit})
	if err != nil || list.JSON200 == nil || len(list.JSON200.Items) != 1 || list.JSON200.Items[0].Name != "etl/nightly ä" {
		return fmt.Errorf("list the classes: %w %s", err, list.Body)
	}

	problem := Problem{Currency: "USD", Supply: Supply{OnDemand: &OnDemand{}},
		Classes: []ProblemClass{{Name: "a", VmsPerJob: &Decimal{}, Jobs: JobRange{Min: &two, Max: 2}}}}
	if err := problem.Supply.OnDemand.Price.FromMoney0("0.20"); err != nil {
		return err
	}
	if err := problem.Classes[0].VmsPerJob.FromDecimal0("4.5"); err != nil {
		return err
	}
	if err := problem.Classes[0].Penalty.FromMoney0("1"); err != nil {
		return err
	}
	solved, err := c.SolveWithResponse(ctx, problem)
	if err != nil || solved.JSON200 == nil {
		return fmt.Errorf("solve: %w %s", err, solved.Body)
	}
	if cost, err := solved.JSON200.Cost.OnDemand.AsAmount0(); err != nil || cost != "1.80" {
		return fmt.Errorf("the plan costs %q, %w", cost, err)
	}

	late := float64(-1)
	class.Name, class.DeadlineS = "late", &late
	refused, err := c.CreateClassWithResponse(ctx, cluster, nil, class)
	if err != nil || refused.JSON201 != nil {
		return fmt.Errorf("a bad class: %w %s", err, refused.Body)
	}
	p := refused.ApplicationproblemJSON400
	if p == nil || p.Errors == nil || *(*p.Errors)[0].Pointer != "/deadline_s" {
		return fmt.Errorf("a bad class is answered with %d %s", refused.StatusCode(), refused.Body)
	}
	fmt.Printf("Go: %d %s %s: %s\n", p.Status, p.Type, *(*p.Errors)[0].Pointer, (*p.Errors)[0].Detail)
	return nil
}
