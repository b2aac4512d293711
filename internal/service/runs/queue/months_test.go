package queue_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/question"
	"example.org/headroom/internal/service/runs"
	"example.org/headroom/internal/service/runs/queue"
	"example.org/headroom/internal/test/pgtest"
)

const someMonths = `{"problem":{"currency":"USD","supply":{"on_demand":{"price":"0.20"}},"classes":[{"name":"a","vms_per_job":1,"jobs":{"min":0,"max":5},"penalty":2}],"options":{"engine":"exact"}},
	"periods":[{"start":"2026-03-01T00:00:00Z","hours":5,"jobs":[2]},{"start":"2026-03-01T05:00:00Z","hours":9}],`

// If a server dies with a purchase or a horizon in hand, another computes it anew, with the same result.
func TestMonthsOutliveTheirServer(t *testing.T) {
	t.Parallel()
	q, err := horizon.ReadPurchase([]byte(someMonths+`"offers":[{"name":"half a day","price":"0.05","billing":"always","term_hours":12,"max":9}]}`), capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	h, err := horizon.ReadHorizon([]byte(someMonths+`"detail":"classes"}`), capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	months, purchase := question.Months, question.Purchase
	asked := question.AskedPurchase{PurchaseQuestion: q, Warnings: []capacity.Warning{{Code: "kept", Detail: "Said before."}}}
	url := pgtest.Database(t)
	s := start(t, url, queue.Config{Kinds: kinds(does{"other": quick})})
	var ids []string
	for kind, input := range map[string]any{purchase.Run: asked, months.Run: question.AskedMonths{HorizonQuestion: h}} {
		made, err := s.Stores.Runs.StartRun(somebody(t), runs.NewRun{Kind: kind, Role: auth.Planner, Input: input})
		if err != nil {
			t.Fatal(err)
		}
		// Somebody takes it and is never heard of again.
		if c, err := s.Stores.Runs.ClaimRun(t.Context(), made.ID, map[string]int{kind: 5}, 100*time.Millisecond); err != nil || c == nil {
			t.Fatalf("got %v, %v", c, err)
		}
		ids = append(ids, made.ID)
	}
	b := start(t, url, queue.Config{Kinds: queue.Kinds})
	for _, id := range ids {
		r := succeeded(t, b, id)
		if r.Attempt != 2 || r.Progress.Done != r.Progress.Total || r.Progress.Unit != "steps" || r.Progress.Total == 0 {
			t.Errorf("got %+v", r)
		}
		result, err := b.Runs.Result(somebody(t), id)
		if err != nil {
			t.Fatal(err)
		}
		bench := question.Alone(b.Solver, 2, func(int64, int64) {})
		if r.Kind == months.Run {
			of := question.AskedMonths{HorizonQuestion: h}
			at, err := months.Work(t.Context(), bench, of)
			if err != nil {
				t.Fatal(err)
			}
			sameJSON(t, result.Body, months.Document(&of, at))
			continue
		}
		at, err := purchase.Work(t.Context(), bench, asked)
		if err != nil {
			t.Fatal(err)
		}
		sameJSON(t, result.Body, purchase.Document(&asked, at))
	}
}

func sameJSON(t *testing.T, text []byte, value any) {
	t.Helper()
	wanted, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if json.Unmarshal(text, &got) != nil || json.Unmarshal(wanted, &want) != nil {
		t.Fatalf("no JSON: %s", text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the run found something else (-want +got):\n%s", diff)
	}
}
