package question

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"

	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/service/plans/solving"
	"example.org/headroom/internal/service/report"
)

// Packing asks in which phases a batch runs on fixed machines.
var Packing = known(&Kind[pack.PackingQuestion, pack.PackingAnswer]{
	Run: "packing", Unit: "packings", Name: "packing", Formats: []string{"csv"},
	From: map[string]Source[pack.PackingQuestion]{"/v1/packings": packingSource, "/v1/clusters/{cluster}/class-packings": classPackingSource},
	Work: func(ctx context.Context, b *Bench, q pack.PackingQuestion) (*pack.PackingAnswer, error) {
		b.Tell(0, 0)
		answer, err := pack.Answer(ctx, q, func(ctx context.Context, p pack.PackingProblem) (pack.Packing, error) {
			in, leave, err := b.Turn(ctx)
			if err != nil {
				return pack.Packing{}, err
			}
			defer leave()
			return budgeted(in, b, p.Options.MaxSolveMs, p, solving.CheckedPacking)
		}, b.Tell)
		if err != nil {
			return nil, err
		}
		return &answer, nil
	},
	Forms: func(_ pack.PackingQuestion, a pack.PackingAnswer, _ View) Forms {
		return usual(a, report.PackingText, report.PackingAnswer, nil)
	},
})

// packingSource reads a batch.
func packingSource(_ context.Context, _ *Desk, r Request) (func() (pack.PackingQuestion, error), error) {
	q, err := askedOfPacking(r.Query)
	return func() (pack.PackingQuestion, error) {
		var err error
		q.Batch, err = pack.ReadPacking(r.Body, r.Limits)
		return q, wrongBody(err)
	}, err
}

// askedOfPacking reads the question from a request's parameters.
func askedOfPacking(values url.Values) (q pack.PackingQuestion, err error) {
	q.Compare, q.OneMore = values.Get("compare") == "true", values.Get("one_more") == "true"
	if hours := values.Get("by_hours"); hours != "" {
		by, err := strconv.ParseFloat(hours, 64)
		if err != nil || !(by > 0 && by*3600 <= capacity.MaxSeconds) {
			return q, &ParameterError{Name: "by_hours", Code: "range",
				Detail: "The parameter \"by_hours\" must be a number of hours, more than 0 and at most 2777."}
		}
		q.BySeconds = 3600 * by
	}
	asked := map[string]bool{"by": values.Get("by") != "", "by_hours": q.BySeconds > 0, "compare": q.Compare, "one_more": q.OneMore}
	for _, two := range [][2]string{{"by", "by_hours"}, {"compare", "by"}, {"one_more", "by"}, {"compare", "one_more"}, {"compare",
		"by_hours"}, {"one_more", "by_hours"}} {
		if asked[two[0]] && asked[two[1]] {
			return q, &ParameterError{Name: two[1], Code: "conflict",
				Detail: fmt.Sprintf("The parameters %q and %q ask two questions; ask one at a time.", two[0], two[1])}
		}
	}
	return q, nil
}

// KeptPacking asks for a packing that a cluster keeps.
var KeptPacking = known(&Kind[pack.PackingProblem, pack.KeptPacking]{
	Run: "kept_packing", Unit: "packings", Timeout: 15 * time.Minute, Name: "packing", Formats: []string{"csv"},
	From: map[string]Source[pack.PackingProblem]{
		"/v1/clusters/{cluster}/packings": func(ctx context.Context, d *Desk, r Request) (func() (pack.PackingProblem, error), error) {
			if _, err := d.Inputs.Cluster(ctx, r.Cluster); err != nil {
				return nil, err
			}
			return ofBody(func(r Request) (pack.PackingProblem, error) { return pack.ReadPacking(r.Body, r.Limits) })(ctx, d, r)
		},
	},
	Work: inOne(nil, func(ctx context.Context, b *Bench, p pack.PackingProblem) (kept pack.KeptPacking, err error) {
		packing, err := budgeted(ctx, b, p.Options.MaxSolveMs, p, solving.CheckedPacking)
		if err != nil {
			return kept, err
		}
		return pack.Keep("", p, packing)
	}),
	Save: func(ctx context.Context, d *Desk, cluster string, k *pack.KeptPacking) (id string, err error) {
		k.Cluster = cluster
		*k, err = d.Packings.SavePacking(ctx, *k)
		return k.ID, err
	},
	Forms: func(_ pack.PackingProblem, k pack.KeptPacking, v View) Forms {
		form := func(name string) func(io.Writer) error {
			return func(w io.Writer) error {
				var packing pack.Packing
				if err := json.Unmarshal(k.Packing, &packing); err != nil {
					return fmt.Errorf("read packing %s: %w", k.ID, err)
				}
				return Packing.Forms(pack.PackingQuestion{}, pack.PackingAnswer{Packing: &packing}, v)[name](w)
			}
		}
		return Forms{"table": form("table"), "csv": form("csv")}
	},
})
