package plans

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/service/auth"
)

// Causes lists the events since a cluster's newest good plan was last confirmed.
type Causes struct {
	First   bool          // it never had a plan
	Reason  string        // the trigger of the try: ByInputs, …
	Changes []InputChange // of inputs, the first first
	Turns   []Turn        // that time has brought
}

// InputChange is a change of one input.
type InputChange struct {
	By, Action, Kind, Name string
}

// Turn is a price, contract or forecast that begins or ends.
type Turn struct {
	Kind, Name string // a price is named by its VM type; a forecast has no name
	Ended      bool
}

// maxNamed is the number of things and of people that a sentence names.
const maxNamed = 2

// Why explains why a plan was made.
func (c Causes) Why() string {
	if c.First {
		return "The first plan."
	}
	var said []string
	if len(c.Changes) > 0 {
		said = append(said, changed(c.Changes))
	}
	if len(c.Turns) > 0 {
		said = append(said, turned(c.Turns))
	}
	switch {
	case len(said) > 0:
		return strings.Join(said, " ")
	case c.Reason == ByInputs:
		return "The inputs changed."
	case c.Reason == ByBoundary:
		return "A price, contract or forecast began or ended."
	}
	return "A look whether the plan before still held found that it did not."
}

// askedFor explains a plan that somebody asked for.
func askedFor(ctx context.Context, another bool) string {
	if another {
		return fmt.Sprintf("Key %q asked for a plan for another moment.", auth.From(ctx).Name)
	}
	return fmt.Sprintf("Key %q asked for it.", auth.From(ctx).Name)
}

var verbs = map[string]string{inputs.Create: "created", inputs.Update: "changed", inputs.Delete: "deleted"}

func changed(changes []InputChange) string {
	var people, things []string
	verb := verbs[changes[0].Action]
	for _, c := range changes {
		if verbs[c.Action] != verb || verb == "" {
			verb = "changed"
		}
		if by := fmt.Sprintf("%q", c.By); !slices.Contains(people, by) {
			people = append(people, by)
		}
		if thing := inputNamed(c.Kind, c.Name); !slices.Contains(things, thing) {
			things = append(things, thing)
		}
	}
	key := "Key"
	if len(people) > 1 {
		key = "Keys"
	}
	return fmt.Sprintf("%s %s %s %s.", key, few(people), verb, few(things))
}

func inputNamed(kind, name string) string {
	switch {
	case kind == inputs.ClusterKind:
		return "the cluster's settings"
	case kind == inputs.ForecastKind && name == "":
		return "forecasts"
	case kind == inputs.ForecastKind:
		return fmt.Sprintf("the forecast of %q", name)
	case kind == inputs.VMTypeKind:
		return fmt.Sprintf("the VM type %q", name)
	}
	return fmt.Sprintf("the %s %q", kind, name)
}

func turned(turns []Turn) string {
	var what []string
	for _, t := range turns {
		thing := fmt.Sprintf("the contract %q began", t.Name)
		switch {
		case t.Kind == inputs.ForecastKind:
			thing = "the forecast turned to another hour"
		case t.Kind == inputs.PriceKind:
			thing = fmt.Sprintf("another price of %q began", t.Name)
		case t.Ended:
			thing = fmt.Sprintf("the contract %q ended", t.Name)
		}
		what = append(what, thing)
	}
	text := few(what) + "."
	return strings.ToUpper(text[:1]) + text[1:]
}

// few lists some, and counts the others.
func few(all []string) string {
	switch n := len(all); {
	case n == 1:
		return all[0]
	case n <= maxNamed:
		return strings.Join(all[:n-1], ", ") + " and " + all[n-1]
	default:
		return fmt.Sprintf("%s and %d more", strings.Join(all[:maxNamed], ", "), n-maxNamed)
	}
}
