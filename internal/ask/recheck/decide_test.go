package recheck

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/test/plantest"
)

// drawnSnapshot draws a small cluster with many ties: few different times, weights and parts of nodes.
func drawnSnapshot(r *rand.Rand) (s dispatch.Snapshot) {
	s.NowSeconds, s.Separate = 1000, r.IntN(3) == 0
	for i := range r.IntN(5) {
		s.Nodes = append(s.Nodes, dispatch.SnapshotNode{Name: fmt.Sprint("n", i), Type: []string{"", "gpu", "plain", "gpu", "plain"}[r.IntN(5)], Cores: float64(1 + r.IntN(3)),
			Slots:        dispatch.SnapshotSlots{Map: 1 + r.Int64N(4), Reduce: r.Int64N(3)},
			ComputeUnits: float64(r.IntN(3)), Residual: []float64{0, 0.04, 0.3, 0.5, 1, 1}[r.IntN(6)],
			Report: dispatch.Report{Load1: float64(r.IntN(8)) / 4, CPUPercent: float64(r.IntN(101))}})
	}
	for i := range 3 {
		k := dispatch.SnapshotClass{Name: fmt.Sprint("c", i)}
		time := func() *perf.TaskTime {
			if r.IntN(4) == 0 {
				return nil
			}
			return &perf.TaskTime{A: float64(10 * (1 + r.IntN(5))), B: float64(-r.IntN(3))}
		}
		k.TaskTime, k.ReduceTaskTime = time(), time()
		for _, kind := range []string{"gpu", "plain"} {
			if r.IntN(8) > 0 {
				k.Rates = append(k.Rates, dispatch.TypeTasks{Type: kind, Tasks: 1, MeanSeconds: []float64{5, 20, 60}[r.IntN(3)]})
			}
		}
		s.Classes = append(s.Classes, k)
	}
	for i := range 1 + r.IntN(9) {
		j := drawnJob(r, fmt.Sprint("j", (i*7)%11))
		if len(s.Nodes) > 0 && r.IntN(2) == 0 {
			n := s.Nodes[r.IntN(len(s.Nodes))]
			running := dispatch.RunningTasks{Job: j.Name, Kind: dispatch.MapTask, Node: n.Name, Tasks: 1 + r.Int64N(2)}
			j.Maps.Total = max(j.Maps.Total, j.Maps.Done+running.Tasks)
			s.Running = append(s.Running, running)
		}
		s.Jobs = append(s.Jobs, j)
	}
	return s
}

func drawnJob(r *rand.Rand, name string) dispatch.SnapshotJob {
	j := dispatch.SnapshotJob{Name: name, Class: fmt.Sprint("c", r.IntN(7)/2), SubmittedSeconds: float64(100 * r.IntN(4)), Weight: float64(1 + r.IntN(2)),
		Maps: dispatch.SnapshotTasks{Total: 1 + r.Int64N(12)}, Reduces: dispatch.SnapshotTasks{Total: r.Int64N(4)}}
	j.Maps.Done = []int64{0, r.Int64N(j.Maps.Total), j.Maps.Total}[r.IntN(3)]
	if r.IntN(2) == 0 {
		j.DeadlineSeconds = float64(900 + 20*r.IntN(30))
	}
	if name == "j0" && r.IntN(3) == 0 {
		j.MinShare, j.ReadMBPerSecond = 0.25, float64(10*r.IntN(3))
	}
	if r.IntN(2) == 0 {
		j.Usage.Map = dispatch.Usage{CPU: float64(r.IntN(11)), Disk: float64(r.IntN(11))}
	}
	j.Worth, j.Balance, j.Promised, j.Revenue = float64(r.IntN(3)), float64(r.IntN(3)-1), float64(r.IntN(3))/2, float64(r.IntN(4))
	return j
}

// drawnDecision draws a snapshot with a free slot and policies with settings, and what they remember.
func drawnDecision(t *testing.T, r *rand.Rand) dispatch.DecideQuestion {
	t.Helper()
	q := dispatch.DecideQuestion{Snapshot: drawnSnapshot(r), Slot: dispatch.FreeSlot{Kind: []dispatch.TaskKind{dispatch.MapTask, dispatch.ReduceTask}[r.IntN(2)]}}
	if len(q.Nodes) > 0 {
		n := &q.Nodes[r.IntN(len(q.Nodes))]
		n.Slots.Map, n.Slots.Reduce = n.Slots.Map+20, n.Slots.Reduce+1
		q.Slot.Node = n.Name
	}
	for i := range 3 {
		if r.IntN(3) > 0 {
			q.Shares = append(q.Shares, dispatch.SnapshotShare{Class: fmt.Sprint("c", i), SlotsShare: dispatch.SlotsShare{Weight: float64(r.IntN(3)), Min: float64(r.IntN(3)),
				Most: r.Int64N(4), MaxPerJob: r.Int64N(3)}})
		}
	}
	for _, j := range q.Jobs {
		if r.IntN(2) == 0 {
			q.History.Skips = append(q.History.Skips, dispatch.SkippedTurns{Job: j.Name, Times: r.Int64N(6), Reduces: r.Int64N(6)})
		}
	}
	for _, kind := range dispatch.PolicyKinds {
		q.Policies = append(q.Policies, dispatch.PolicyConfig{Kind: kind})
	}
	share := dispatch.PolicyConfig{Kind: dispatch.PolicyProgressShare, AffinityThreshold: new(float64(1+r.IntN(3)) / 4), MaxSkips: new(1 + r.Int64N(3))}
	progress := dispatch.PolicyConfig{Kind: dispatch.PolicyMaxProgress, Mode: []dispatch.ProgressMode{"", dispatch.ProgressPaper}[r.IntN(2)], WholeTasks: new(r.IntN(2) == 0),
		IOCap: new(float64(5 + 10*r.IntN(5))), Late: []dispatch.LatePolicy{dispatch.LateKeep, dispatch.LateDemote}[r.IntN(2)], TimeFactor: new(float64(1 + r.IntN(2)))}
	learned := dispatch.PolicyConfig{Kind: dispatch.PolicyLearned, Classifier: []dispatch.ClassifierKind{dispatch.NaiveBayes, dispatch.Perceptron}[r.IntN(2)],
		ProbeWhenIdle: new(r.IntN(2) == 0), Features: []dispatch.NodeFeature{{Name: "rack", Words: []string{"a", "b"}}, {Name: "age", Edges: []float64{1, 5}}}}
	for _, u := range []dispatch.UtilityKind{dispatch.UtilityFIFO, dispatch.UtilityBudget, dispatch.UtilityDedicated, dispatch.UtilityRevenue, dispatch.UtilityMapsFirst} {
		if r.IntN(3) == 0 {
			learned.Utilities = append(learned.Utilities, dispatch.Utility{Kind: u})
		}
	}
	for i := range q.Nodes {
		q.Nodes[i].Report.Words = map[string]string{"rack": []string{"a", "b", "c"}[r.IntN(3)]}
		if r.IntN(2) == 0 {
			q.Nodes[i].Report.Numbers = map[string]float64{"age": float64(r.IntN(8))}
		}
	}
	if r.IntN(2) == 0 {
		q.Policies = []dispatch.PolicyConfig{share, progress, learned, share}
		q.Policies[3].AffinityThreshold = new(0.05)
		if r.IntN(3) > 0 {
			q.History.Knowledge = drawnKnowledge(t, r, learned)
		}
	}
	return q
}

func drawnKnowledge(t *testing.T, r *rand.Rand, p dispatch.PolicyConfig) *dispatch.Knowledge {
	q := dispatch.LearnQuestion{Policy: p}
	for range 1 + r.IntN(30) {
		l := dispatch.Lesson{Good: new(r.IntN(3) > 0)}
		l.Usage = dispatch.Usage{CPU: float64(1 + r.IntN(10)), Disk: float64(1 + r.IntN(10))}
		l.Cores, l.Load1, l.Running = 1, float64(r.IntN(8))/4, float64(r.IntN(4))
		l.Words = map[string]string{"rack": []string{"a", "b"}[r.IntN(2)]}
		q.Lessons = append(q.Lessons, l)
	}
	read, err := dispatch.ReadLearn(marshalled(q))
	if err != nil {
		t.Fatal(err)
	}
	a, err := dispatch.Learn(read)
	if err != nil {
		t.Fatal(err)
	}
	return &a.Knowledge
}

func answeredDecision(t *testing.T, q dispatch.DecideQuestion) (question, answer []byte) {
	t.Helper()
	question = marshalled(q)
	read, err := dispatch.ReadDecide(question)
	if err != nil {
		t.Fatalf("%v\n%s", err, question)
	}
	a, err := dispatch.Decide(read)
	if err != nil {
		t.Fatal(err)
	}
	return question, marshalled(a)
}

func TestDrawnDecisionsAreRight(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 5))
	rules := map[string]int{}
	for range plantest.Trials(650, 20_000) {
		question, answer := answeredDecision(t, drawnDecision(t, r))
		if report := verified(t, question, answer); report.Outcome != proof.OK {
			t.Fatalf("%s\n%s\n%s", report, question, answer)
		}
		var a dispatch.DecideAnswer
		decoded(t, answer, &a)
		for _, d := range a.Decisions {
			rules[string(d.Policy.Kind)+" "+d.Rule]++
		}
	}
	for _, rule := range []string{"fifo order", "edf deadline", "edf order", "fair minimum", "fair share", "fair lent", "fair idle", "capacity share",
		"progress-share calibration", "progress-share share", "progress-share min_share", "progress-share affinity", "progress-share skips",
		"max-progress residual", "max-progress io_cap", "max-progress deadline", "max-progress progress", "learned expected_utility", "learned probe", "learned overload"} {
		if rules[rule] < 4 {
			t.Errorf("%d decisions by the rule %s", rules[rule], rule)
		}
	}
	t.Log(rules)
}

func decoded(t *testing.T, document []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(document, into); err != nil {
		t.Fatal(err)
	}
}
