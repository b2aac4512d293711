package history

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// chainOf makes up a chain from the seconds of its stages' tasks.
func chainOf(id string, overhead float64, stages ...[]float64) Chain {
	c := Chain{ID: id, Name: "report", OverheadSeconds: overhead, Seconds: new(overhead + 100)}
	for i, seconds := range stages {
		p := Phase{Stage: int64(i), Name: "stage", Tasks: int64(len(seconds)), Task: durations(slices.Clone(seconds)), After: []int{}}
		if i > 0 {
			p.After = []int{i - 1}
		}
		c.Phases = append(c.Phases, p)
	}
	return c
}

func TestMergeChains(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var chains []Chain
	var first, second []float64 // all tasks of the stages
	var firstMax []float64
	for i := range 40 {
		a, b := make([]float64, 10+i%3), make([]float64, 5)
		for k := range a {
			a[k] = 1 + float64(rng.IntN(1000))/100
		}
		for k := range b {
			b[k] = 20 + float64(rng.IntN(1000))/100
		}
		first, second, firstMax = append(first, a...), append(second, b...), append(firstMax, slices.Max(a))
		chains = append(chains, chainOf("app-"+string(rune('A'+i)), float64(i), a, b))
	}
	odd := chainOf("odd", 0, []float64{1, 2})
	m, err := mergeChains(append([]Chain{odd, chains[3]}, chains...))
	if err != nil {
		t.Fatal(err)
	}
	mean := func(xs []float64) (sum float64) {
		for _, x := range xs {
			sum += x / float64(len(xs))
		}
		return sum
	}
	slices.Sort(firstMax)
	if m.Executions != 40 || len(m.Profile.Stages) != 2 || m.Profile.Stages[0].Tasks != 11 || m.Profile.Stages[1].Tasks != 5 {
		t.Fatalf("merged %+v", m)
	}
	if s := m.Profile.Stages[0]; !near(s.AvgSeconds, mean(first)) || s.MaxSeconds != firstMax[37] { // 38 of 40 are 95 %
		t.Errorf("the first stage is %+v; the mean is %g, the 38th longest %g", s, mean(first), firstMax[37])
	}
	if s := m.Profile.Stages[1]; !near(s.AvgSeconds, mean(second)) {
		t.Errorf("the second stage is %+v; the mean is %g", s, mean(second))
	}
	if m.Profile.OverheadSeconds != 3 { // the fourth of 0 … 39
		t.Errorf("the overhead is %g", m.Profile.OverheadSeconds)
	}
	if len(m.Refused) != 1 || m.Refused[0].Where != "odd" || !strings.Contains(strings.Join(m.Warnings, " "), "Of 41 executions those with other stages than most are left out: 1.") {
		t.Errorf("refused %v, warned %v", m.Refused, m.Warnings)
	}
	if n := m.Spread["tasks"]; n.Min != 15 || n.Max != 17 || n.Count != 40 {
		t.Errorf("tasks spread %+v", n)
	}
}

func TestMergeRecordsTakesTheUsualForm(t *testing.T) {
	sample := Sample{ID: "old", Name: "report"}
	records := []Record{{Sample: &sample}}
	for _, id := range []string{"a", "b"} {
		c := chainOf(id, 1, []float64{2, 3})
		records = append(records, Record{Chain: &c})
	}
	m, err := MergeRecords(records)
	if err != nil || m.Executions != 2 || len(m.Refused) != 1 || m.Refused[0].Where != "old" {
		t.Errorf("merged %+v, %v", m, err)
	}
	other := chainOf("c", 1, []float64{2})
	other.Name = "another"
	if _, err := MergeRecords(append(records, Record{Chain: &other})); err == nil {
		t.Error("executions of two jobs were merged")
	}
	if _, err := MergeRecords(nil); err == nil {
		t.Error("nothing was merged")
	}
}
