package pool

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/slots/dispatch"
)

func sharePlan() SharePlanProblem {
	return SharePlanProblem{
		Types:   []SharedType{{Name: "N1"}, {Name: "N2"}},
		Jobs:    []SharingJob{{Name: "A", Weight: 1, Rates: map[string]float64{"N1": 3, "N2": 1}}, {Name: "B", Weight: 1, Rates: map[string]float64{"N1": 1, "N2": 1}}},
		Options: DefaultPool().Options,
	}
}

// The paper's example: A is three times as fast on the two nodes N1. The paper gives away whole nodes; with slots the
// smallest share can be larger.
func TestSharesOfThePapersExample(t *testing.T) {
	for _, c := range []struct {
		slots int64
		want  string
	}{{1, "optimal 0.600 1.267 map[N1:2] map[N2:4]"}, {3, "optimal 0.611 1.244 map[N1:6 N2:1] map[N2:11]"}} {
		p := sharePlan()
		p.Types[0].Slots, p.Types[1].Slots = 2*c.slots, 4*c.slots
		a, err := Share(t.Context(), p, cbc)
		if err != nil {
			t.Fatal(err)
		}
		if wrong := RecheckShare(p, a); len(wrong) > 0 {
			t.Fatal(wrong)
		}
		if got := fmt.Sprintf("%s %.3f %.3f %v %v", a.Status, a.MinShare, a.Total, a.Jobs[0].Slots, a.Jobs[1].Slots); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestSharesAreThoseOfEnumeration(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	proved, cases := 0, 30
	if wholeSamples {
		cases = 60
	}
	for n := range cases {
		p := SharePlanProblem{Options: DefaultPool().Options}
		for i := range 1 + r.IntN(2) {
			p.Types = append(p.Types, SharedType{Name: fmt.Sprint("t", i), Slots: int64(1 + r.IntN(5))})
		}
		for j := range 1 + r.IntN(3) {
			job := SharingJob{Name: fmt.Sprint("j", j), Weight: float64(1 + r.IntN(2)), Rates: map[string]float64{}}
			for i, t := range p.Types {
				if i == 0 || r.IntN(4) > 0 {
					job.Rates[t.Name] = float64(1+r.IntN(30)) / 10
				}
			}
			p.Jobs = append(p.Jobs, job)
		}
		a, err := Share(t.Context(), p, cbc)
		if err != nil {
			t.Fatal(err)
		}
		if wrong := RecheckShare(p, a); len(wrong) > 0 {
			t.Fatalf("case %d: %v\n%+v\n%+v", n, wrong, p, a)
		}
		lowest, total := bestShares(p)
		if math.Abs(a.MinShare-lowest) > 1e-9 || math.Abs(a.Total-total) > 1e-9 {
			t.Errorf("case %d: got %g and %g (%s), want %g and %g: %+v", n, a.MinShare, a.Total, a.Status, lowest, total, p)
		}
		if a.Status == PoolOptimal {
			proved++
		}
	}
	t.Logf("%d of %d proved", proved, cases)
	if proved < cases*9/10 {
		t.Errorf("only %d of %d are proved", proved, cases)
	}
}

// bestShares tries every way to give all slots away.
func bestShares(p SharePlanProblem) (lowest, total float64) {
	has := make([]float64, len(p.Jobs))
	lowest = -1
	everything := make([]float64, len(p.Jobs))
	for j, job := range p.Jobs {
		for _, t := range p.Types {
			everything[j] += float64(t.Slots) * job.Rates[t.Name]
		}
	}
	var give func(i, j int, left int64)
	give = func(i, j int, left int64) {
		switch {
		case i == len(p.Types):
			l, s := math.Inf(1), 0.0
			for j, h := range has {
				l, s = min(l, h/p.Jobs[j].Weight), s+h
			}
			if l > lowest+1e-12 || l > lowest-1e-12 && s > total {
				lowest, total = l, s
			}
		case j == len(p.Jobs):
			next := int64(0)
			if i+1 < len(p.Types) {
				next = p.Types[i+1].Slots
			}
			give(i+1, 0, next)
		default:
			before := has[j]
			for n := range left + 1 {
				has[j] = before + float64(n)*p.Jobs[j].Rates[p.Types[i].Name]/everything[j]
				give(i, j+1, left-n)
			}
			has[j] = before
		}
	}
	give(0, 0, p.Types[0].Slots)
	return lowest, total
}

// With more jobs than slots the smallest share is 0, and the total still as large as possible.
func TestMoreJobsThanSlots(t *testing.T) {
	p := SharePlanProblem{Types: []SharedType{{Name: "a", Slots: 1}, {Name: "b", Slots: 1}}, Options: DefaultPool().Options}
	for j := range 3 {
		p.Jobs = append(p.Jobs, SharingJob{Name: fmt.Sprint(j), Weight: 1, Rates: map[string]float64{"a": 1, "b": float64(1 + 8*j)}})
	}
	a, err := Share(t.Context(), p, cbc)
	if err != nil {
		t.Fatal(err)
	}
	if a.Status != PoolOptimal || a.MinShare != 0 || math.Abs(a.Total-(0.5+17.0/18)) > 1e-9 {
		t.Errorf("got %+v", a)
	}
}

// What jobs hold comes to the shares of the paper's example, which are those that the policy progress-share weighs.
func TestHeldSharesAreThoseOfThePolicy(t *testing.T) {
	for fast, want := range [][3]float64{{.3, .5, .8}, {.5, .5, 1}, {.7, .5, 1.2}} { // of the paper, A with so many of N1
		p := sharePlan()
		p.Types[0].Slots, p.Types[1].Slots = 2, 4
		p.Jobs[0].Holds = map[string]int64{"N1": int64(fast), "N2": int64(3 - fast)}
		p.Jobs[1].Holds = map[string]int64{"N1": int64(2 - fast), "N2": int64(1 + fast)}
		a, err := Share(t.Context(), p, cbc)
		if err != nil {
			t.Fatal(err)
		}
		if wrong := RecheckShare(p, a); len(wrong) > 0 {
			t.Fatal(wrong)
		}
		if h := a.Held; math.Abs(h.Jobs[0].ProgressShare-want[0]) > 1e-12 || math.Abs(h.Jobs[1].ProgressShare-want[1]) > 1e-12 || math.Abs(h.Total-want[2]) > 1e-12 || h.MinShare != min(h.Jobs[0].ProgressShare, h.Jobs[1].ProgressShare) {
			t.Errorf("%d: %+v, want %v", fast, h, want)
		}
		for j, job := range p.Jobs { // alone with a task that waits, a job is weighed with its share
			q := dispatch.DecideQuestion{Policies: []dispatch.PolicyConfig{{Kind: dispatch.PolicyProgressShare}}, Slot: dispatch.FreeSlot{Node: "N2"}}
			q.Jobs = []dispatch.SnapshotJob{{Name: job.Name, Weight: 1, Maps: dispatch.SnapshotTasks{Total: 9}}}
			class := dispatch.SnapshotClass{Name: job.Name}
			for _, kind := range p.Types {
				q.Nodes = append(q.Nodes, dispatch.SnapshotNode{Name: kind.Name, Type: kind.Name, Cores: 1, Residual: 1, Slots: dispatch.SnapshotSlots{Map: kind.Slots}})
				class.Rates = append(class.Rates, dispatch.TypeTasks{Type: kind.Name, Tasks: 1, MeanSeconds: 30 / job.Rates[kind.Name]})
				q.Running = append(q.Running, dispatch.RunningTasks{Job: job.Name, Kind: dispatch.MapTask, Node: kind.Name, Tasks: job.Holds[kind.Name]})
			}
			q.Classes = []dispatch.SnapshotClass{class}
			d, err := dispatch.Decide(q)
			if err != nil {
				t.Fatal(err)
			}
			if f := d.Decisions[0].Figures[0]; f.Name != "progress_share" || math.Abs(f.Value-want[j]) > 1e-9 {
				t.Errorf("%d: the policy weighs %s with %+v, want %g", fast, job.Name, f, want[j])
			}
		}
	}
	p := sharePlan()
	p.Types[0].Slots, p.Types[1].Slots = 2, 4
	for _, c := range []struct {
		holds   map[string]int64
		pointer string
	}{{map[string]int64{"N3": 1}, "/jobs/0/holds/N3"}, {map[string]int64{"N1": -1}, "/jobs/0/holds/N1"}, {map[string]int64{"N1": 3}, "/types/0/slots"}} {
		p.Jobs[0].Holds = c.holds
		if f := fault.Findings(p.Validate()); len(f) != 1 || f[0].Pointer != c.pointer {
			t.Errorf("%v: %v", c.holds, f)
		}
	}
}
