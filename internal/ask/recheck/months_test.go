package recheck

import (
	"context"
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/test/mutation"
	"example.org/headroom/internal/test/plantest"
)

// monthsText has contracts of both billings that begin and end within a day, prices that change, a period without a
// plan, and periods over midnight and the end of a month.
const monthsText = `{"problem": {"currency": "USD", "period_s": 3600,
	"supply": {"contracts": [{"name": "own", "vms": 3, "price": "0.07", "billing": "used"}], "on_demand": {"price": "0.31", "quota": 14}},
	"classes": [
	  {"name": "a", "vms_per_job": "1.3", "jobs": {"min": 2, "max": 5}, "penalty": "0.9"},
	  {"name": "b", "demand": {"map_work_s": 9000, "reduce_work_s": 2500, "fixed_s": 30}, "deadline_s": 1800, "slots_per_vm": {"map": 2, "reduce": 2}, "jobs": {"min": 0, "max": 3}, "penalty": "0.55"}]},
	"contracts": [
	  {"name": "half", "vms": 2, "price": "0.113", "billing": "always", "upfront": "100", "from": "2026-01-30T12:00:00Z", "until": "2026-03-30T00:00:00Z"},
	  {"name": "late", "vms": 4, "price": "0.2", "billing": "used", "upfront": "7", "from": "2026-01-31T23:00:00Z", "until": "2026-02-01T01:30:00Z"}],
	"periods": [
	  {"start": "2026-01-30T00:00:00Z", "hours": 24},
	  {"start": "2026-01-31T00:00:00Z", "hours": 30, "jobs": [8, 1], "on_demand_price": "0.37"},
	  {"start": "2026-02-01T06:00:00Z", "seconds": 5000, "jobs": [1, 6]},
	  {"start": "2026-02-01T07:23:20Z", "hours": 2, "without_forecast": true},
	  {"start": "2026-02-01T09:23:20Z", "hours": 40, "jobs": [0, 4]}]}`

func answerMonths(t *testing.T, question string, detail horizon.Detail) (asked, answer []byte) {
	t.Helper()
	asked = []byte(strings.Replace(question, `{"problem"`, `{"detail": "`+string(detail)+`", "problem"`, 1))
	q, err := horizon.ReadHorizon(asked, capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	a, err := horizon.Plan(t.Context(), q.Horizon, nil, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Show(detail)
	if answer, err = json.Marshal(a); err != nil {
		t.Fatal(err)
	}
	return asked, answer
}

func verified(t *testing.T, question, answer []byte) proof.Report {
	t.Helper()
	r, err := Answer(question, answer, Options{Limits: capacity.DefaultLimits()})
	if err != nil {
		t.Fatalf("%v\n%s", err, answer)
	}
	return r
}

// mutations changes every figure, word and flag of a document by itself, and gives each such document to a test.
func mutations(t *testing.T, answer []byte, try func(at string, mutated []byte)) {
	t.Helper()
	for _, m := range mutation.Of(t, answer) {
		switch m.How {
		case "a hundredth", "another word", "another text", "another sentence", "opposite":
			try(m.String(), m.Text())
		}
	}
}

// allMutationsFail says that each mutation of an answer fails, or one of so many, but for those of some places.
func allMutationsFail(t *testing.T, question, answer []byte, every int, but ...string) {
	t.Helper()
	n, known := 0, map[string]proof.Least{}
	mutations(t, answer, func(at string, mutated []byte) {
		for _, b := range but {
			if strings.Contains(at, b) {
				return
			}
		}
		if n++; n%every != 0 {
			return
		}
		r, err := check(question, mutated, Options{Limits: capacity.DefaultLimits(), Looks: defaultLooks}, known)
		if err == nil && r.Accepted() {
			t.Errorf("%s passes:\n%s", at, r)
		}
	})
	if n < 10 {
		t.Fatalf("only %d mutations", n)
	}
	t.Logf("%d mutations", n)
}

// Plans that are not proved have gaps, which add up.
func TestMonthsWithGaps(t *testing.T) {
	q, err := horizon.ReadHorizon([]byte(monthsText), capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	unproved := func(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
		pl, err := solve(ctx, p)
		if pl.Proof != nil {
			below := big.NewRat(1, 20)
			pl.Status, pl.Proof.Bound.Decimal = capacity.Feasible, decimalOf(sub(pl.Objective.Rat(), below))
			pl.Proof.Gap = float(quo(below, least(abs(pl.Objective.Rat()), pl.Cost.Total.Rat())))
		}
		return pl, err
	}
	a, err := horizon.Plan(t.Context(), q.Horizon, unproved, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	question, answer := marshalled(q), marshalled(a)
	if r := verified(t, question, answer); r.Outcome != proof.OK {
		t.Fatalf("%s\n%s", r, answer)
	}
	mutations(t, answer, func(at string, mutated []byte) {
		if strings.HasPrefix(at, "/gap") || strings.HasPrefix(at, "/status") {
			if verified(t, question, mutated).Accepted() {
				t.Errorf("%s passes", at)
			}
		}
	})
}

func TestMonths(t *testing.T) {
	for _, detail := range []horizon.Detail{horizon.DetailClasses, horizon.DetailPeriods, horizon.DetailSummary} {
		t.Run(string(detail), func(t *testing.T) {
			q, a := answerMonths(t, monthsText, detail)
			r := verified(t, q, a)
			if r.Outcome != proof.OK {
				t.Errorf("%s\n%s", r, a)
			}
			allMutationsFail(t, q, a, plantest.Trials(19, 1), map[horizon.Detail][]string{
				horizon.DetailPeriods: {"/classes/0/asked_vm_hours", "/classes/1/asked_vm_hours"},
				horizon.DetailSummary: {"/classes/0/asked_vm_hours", "/classes/1/asked_vm_hours", "/gap"},
			}[detail]...)
		})
	}
}
