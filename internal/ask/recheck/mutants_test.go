package recheck

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"headroom/internal/core/capacity"
	"headroom/internal/core/proof"
	"headroom/internal/test/mutation"
	"headroom/internal/test/plantest"
)

func planSources(t *testing.T, r *rand.Rand, n int) (all []mutated) {
	draw := func(kind string, n int, draw func() capacity.Problem, want func(capacity.Plan) bool) {
		for tries := 0; n > 0 && tries < 3000; tries++ {
			p := draw()
			if p.Validate() != nil {
				continue
			}
			pl, err := solve(t.Context(), p)
			if err != nil || !want(pl) {
				continue
			}
			if !proof.Verify(p, pl, proof.Options{}).Accepted() {
				t.Errorf("%s", proof.Verify(p, pl, proof.Options{}))
				continue
			}
			all = append(all, mutated{kind, capacity.AppendPlan(nil, pl), func(text []byte) bool {
				changed, err := capacity.ReadPlan(text)
				return err == nil && proof.Verify(p, changed, proof.Options{}).Accepted()
			}})
			n--
		}
	}
	planned := func(pl capacity.Plan) bool { return pl.Status != capacity.InfeasibleStatus }
	none := func(pl capacity.Plan) bool { return pl.Status == capacity.InfeasibleStatus }
	for _, i := range []capacity.Integrality{capacity.Executable, capacity.Integer, capacity.Relaxed} {
		one := func() capacity.Problem {
			p := plantest.DrawAny(r)
			p.Options.Integrality = i
			return p
		}
		draw("plan", n, one, planned)
		draw("no plan", n, one, none)
	}
	for _, kind := range []string{"budget", "spot", "types", "mixed"} {
		fleet := func() capacity.Problem { return plantest.DrawFleet(r, plantest.FleetKinds[kind], 3, 3) }
		draw("fleet", n, fleet, planned)
		draw("no fleet", n, fleet, none)
	}
	return all
}

func answerSources(t *testing.T, r *rand.Rand, n int) (all []mutated) {
	add := func(kind string, question, answer []byte) {
		known := map[string]proof.Least{}
		passes := func(text []byte) bool {
			report, err := check(question, text, Options{Limits: capacity.DefaultLimits(), Looks: 3000}, known)
			return err == nil && report.Accepted()
		}
		if !passes(answer) {
			report, err := check(question, answer, Options{Limits: capacity.DefaultLimits(), Looks: 3000}, known)
			t.Errorf("%s: %s %v\n%s\n%s", kind, report, err, question, answer)
		}
		all = append(all, mutated{kind, answer, passes})
	}
	for _, kind := range slices.Sorted(maps.Keys(drawnAnswers)) {
		for range n {
			drawnAnswers[kind](t, r, func(question, answer any) { add(kind, marshalled(question), marshalled(answer)) })
		}
	}
	for range n {
		q, a := answeredDecision(t, drawnDecision(t, r))
		add("decide", q, a)
		q, a = answeredPromise(t, drawnPromise(r))
		add("judge", q, a)
		q, a = answeredFits(t, drawnMeasurements(r))
		add("fit", q, a)
	}
	return all
}

type mutated struct {
	kind   string
	text   []byte
	passes func([]byte) bool
}

func TestMutants(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 9))
	n, most := 1, 300
	if x := os.Getenv("MUTANTS"); x != "" {
		fmt.Sscan(x, &n, &most)
	}
	tried, passed := map[string]int{}, map[string]int{}
	example := map[string]string{}
	var sources []mutated
	if k := os.Getenv("KIND"); k != "answers" {
		sources = planSources(t, r, n)
	}
	if k := os.Getenv("KIND"); k == "answers" {
		sources = answerSources(t, r, n)
	}
	for _, s := range sources {
		all := mutation.Of(t, s.text)
		if k := os.Getenv("KIND"); k != "" && k != "answers" && k != s.kind {
			continue
		}
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, m := range all[:min(len(all), most)] {
			tried[s.kind]++
			if s.passes(m.Text()) {
				at := s.kind + " " + m.Path() + " " + m.How
				passed[at]++
				example[at] = m.String()
			}
		}
	}
	t.Log(tried)
	for _, at := range slices.SortedFunc(maps.Keys(passed), func(a, b string) int { return passed[b] - passed[a] }) {
		t.Logf("%5d %s   %.300s", passed[at], at, example[at])
	}
}
