package app_test

import (
	"context"
	"testing"
	"time"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/plans"
)

// A plan gives its cause: the changes and their authors since the plan before, the events of time, or the person who
// asked.
func TestAPlanSaysWhyItWasMade(t *testing.T) {
	t.Parallel()
	clock := clockAt("2026-06-01T10:20:30Z")
	a := planning(t, 1, clock.now)
	d := document("c")
	d.Forecasts = nil
	apply(t, a, d)
	why := func(number int64, want string) {
		t.Helper()
		if got := current(t, a, "c", want, numbered(number)).Record.Why; got != want {
			t.Errorf("plan %d: got %q, want %q", number, got, want)
		}
	}
	why(1, "The first plan.")
	penalty(t, a, "c", "11")
	why(2, `Key "tester" changed the class "nightly".`)

	// Nothing can be planned without a price; the plan that follows is due to both changes.
	ops := auth.With(context.WithoutCancel(t.Context()), auth.Principal{ID: "ops", Name: "ops-2", Role: auth.Operator})
	price := document("c").Prices[0]
	list, err := a.Clusters.Prices().List(ops, "c", storage.Page{})
	if err != nil || len(list.Items) != 1 {
		t.Fatal(list, err)
	}
	old := list.Items[0]
	until := old.From.Add(time.Hour)
	cut := old
	cut.Until = &until
	if cut, err = a.Clusters.Prices().Replace(ops, "c", old.ID, old.Version, cut); err != nil {
		t.Fatal(err)
	}
	current(t, a, "c", "a failure", func(c plans.Current) bool { return c.LastAttempt != nil && c.LastAttempt.Failed })
	turn := moment("2026-06-01T11:00:00Z")
	cut.Until = &turn
	cut.Price = amountOf("0.25")
	if _, err = a.Clusters.Prices().Replace(ops, "c", cut.ID, cut.Version, cut); err != nil {
		t.Fatal(err)
	}
	why(3, `Key "ops-2" changed the price "`+cut.Label()+`".`)

	price.From, price.Price = turn, amountOf("0.5")
	if _, err = a.Clusters.Prices().Create(admin(t), "c", price); err != nil {
		t.Fatal(err)
	}
	current(t, a, "c", "the coming price is no reason to plan", func(c plans.Current) bool { return c.ConfirmedVersion == c.InputsVersion })
	clock.set(turn)
	why(4, `Another price of "`+price.VMType+`" began.`)

	if _, err = a.Plans.Create(ops, "c", time.Time{}); err != nil {
		t.Fatal(err)
	}
	why(5, `Key "ops-2" asked for it.`)
	kept, err := a.Plans.Create(ops, "c", turn)
	if err != nil || kept.Why != `Key "ops-2" asked for a plan for another moment.` {
		t.Errorf("got %q, %v", kept.Why, err)
	}
}

func TestWhyInWords(t *testing.T) {
	t.Parallel()
	class := func(by, action, name string) plans.InputChange {
		return plans.InputChange{By: by, Action: action, Kind: inputs.ClassKind, Name: name}
	}
	for want, c := range map[string]plans.Causes{
		"The first plan.": {First: true, Changes: []plans.InputChange{class("a", inputs.Create, "x")}},
		`Key "a" created the class "x" and the class "y".`:                  {Changes: []plans.InputChange{class("a", inputs.Create, "x"), class("a", inputs.Create, "y")}},
		`Keys "a" and "b" changed the class "x", the class "y" and 1 more.`: {Changes: []plans.InputChange{class("a", inputs.Create, "x"), class("b", inputs.Delete, "y"), class("b", inputs.Delete, "z"), class("a", inputs.Update, "x")}},
		`Key "a" deleted the forecast of "x". The contract "one" ended and the forecast turned to another hour.`: {
			Changes: []plans.InputChange{{By: "a", Action: inputs.Delete, Kind: inputs.ForecastKind, Name: "x"}},
			Turns:   []plans.Turn{{Kind: inputs.ContractKind, Name: "one", Ended: true}, {Kind: inputs.ForecastKind}}},
		`Key "a" changed the cluster's settings and forecasts.`: {Changes: []plans.InputChange{{By: "a", Action: inputs.Update, Kind: inputs.ClusterKind, Name: "c"}, {By: "a", Action: inputs.Update, Kind: inputs.ForecastKind}}},
		"The inputs changed.":                                              {Reason: plans.ByInputs},
		"A price, contract or forecast began or ended.":                    {Reason: plans.ByBoundary},
		"A look whether the plan before still held found that it did not.": {Reason: plans.ByConfirmation},
	} {
		if got := c.Why(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
