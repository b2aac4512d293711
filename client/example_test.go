package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"example.org/headroom/client"
)

// Plan a problem of one's own, follow a cluster's plan, and run a job in its place.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := client.New(os.Getenv("HEADROOM_URL"), os.Getenv("HEADROOM_API_KEY"))

	plan, err := c.Solve(ctx, client.Question{
		Currency: "USD",
		Supply:   client.Supply{OnDemand: client.OnDemand{Price: "0.20"}},
		Classes:  []client.Class{{Name: "ad-hoc", VMsPerJob: "1.5", Jobs: client.Jobs{Max: 10}, Penalty: "0.40"}},
	})
	var refused *client.Problem
	switch {
	case errors.As(err, &refused):
		fmt.Println(refused.Kind(), refused.Conflicts)
		return
	case err != nil:
		fmt.Println(err)
		return
	}
	fmt.Printf("Rent %g VMs for %s %s an hour.\n", plan.VMs.Total, plan.Cost.Bill, plan.Cost.Currency)

	scaling, err := c.Scaling(ctx, "shop", 10*time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("The cluster should have %d VMs.\n", scaling.VMs.Total)

	place, err := c.Ask(ctx, "shop", client.Place{Class: "etl", Holder: "cron-7"})
	if err != nil || !place.Admitted {
		fmt.Println(place.Reason, err)
		return
	}
	defer c.End(ctx, "shop", place.ID)
	fmt.Printf("%d of %d jobs run.\n", place.Running, place.Limit)
	if _, err := c.Keep(ctx, "shop", place.ID, client.Heartbeat{}); err != nil {
		fmt.Println(err)
	}

	runs := "job,execution,task,kind,start,finish\netl,1,1,map,2026-03-01T09:00:00Z,2026-03-01T09:10:00Z\n"
	done, err := c.ImportHistory(ctx, "shop", strings.NewReader(runs), client.Import{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d run is new.\n", done.Created)
}
