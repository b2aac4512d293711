package recheck

import (
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/test/plantest"
)

// planted is a fault of the code that answers: it answers as if the question were another.
type planted[Q any] struct {
	name  string
	fault func(q *Q)
}

// eachFound answers drawn questions with each fault. Whatever then differs from the true answer must be found.
func eachFound[Q any](t *testing.T, draw func() Q, answer func(Q) []byte, faults []planted[Q]) {
	t.Helper()
	differ := make([]int, len(faults))
	for range plantest.Trials(60, 2000) {
		q := draw()
		question, right := marshalled(q), answer(q)
		for i, f := range faults {
			wrong := new(Q)
			decoded(t, question, wrong)
			f.fault(wrong)
			a := answer(*wrong)
			if a == nil || alikeTrees(tree(a), tree(right)) {
				continue
			}
			differ[i]++
			if r, err := Answer(question, a, Options{Limits: capacity.DefaultLimits()}); err == nil && r.Accepted() {
				t.Fatalf("with the fault %q this passes:\n%s\n%s\n%s\nright is\n%s", f.name, r, question, a, right)
			}
		}
	}
	for i, f := range faults {
		if differ[i] == 0 {
			t.Errorf("the fault %q changes no answer", f.name)
		}
	}
	t.Log(differ)
}

// alikeTrees compares two answers but for rounding errors.
func alikeTrees(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, alikeTrees)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, alikeTrees)
	case json.Number:
		b, ok := b.(json.Number)
		return ok && math.Abs(float(parsed(a))-float(parsed(b))) < 1e-12 || ok && nearly(float(parsed(a)), float(parsed(b)))
	}
	return a == b
}

func eachJob(change func(j *dispatch.SnapshotJob)) func(s *dispatch.Snapshot) {
	return func(s *dispatch.Snapshot) {
		for i := range s.Jobs {
			change(&s.Jobs[i])
		}
	}
}

func eachNode(change func(n *dispatch.SnapshotNode)) func(s *dispatch.Snapshot) {
	return func(s *dispatch.Snapshot) {
		for i := range s.Nodes {
			change(&s.Nodes[i])
		}
	}
}

// snapshotFaults are those of any question about a snapshot.
var snapshotFaults = []planted[dispatch.Snapshot]{
	{"a slot more on each node", eachNode(func(n *dispatch.SnapshotNode) { n.Slots.Map++ })},
	{"every node is dedicated", eachNode(func(n *dispatch.SnapshotNode) { n.Residual = 1 })},
	{"what is busy counts as left", eachNode(func(n *dispatch.SnapshotNode) { n.Residual = 1 - n.Residual })},
	{"maps and reduces share their slots", func(s *dispatch.Snapshot) { s.Separate = !s.Separate }},
	{"the times of another class", func(s *dispatch.Snapshot) {
		s.Classes[0].TaskTime, s.Classes[1].TaskTime = s.Classes[1].TaskTime, s.Classes[0].TaskTime
	}},
	{"a time with the wrong sign of its exponent", func(s *dispatch.Snapshot) {
		for _, k := range s.Classes {
			if k.TaskTime != nil {
				k.TaskTime.B = -k.TaskTime.B
			}
		}
	}},
	{"a task more is left", eachJob(func(j *dispatch.SnapshotJob) { j.Maps.Total++ })},
	{"done tasks count as left", eachJob(func(j *dispatch.SnapshotJob) { j.Maps.Total += j.Maps.Done })},
	{"deadlines are ignored", eachJob(func(j *dispatch.SnapshotJob) { j.DeadlineSeconds = 0 })},
	{"deadlines a second later", eachJob(func(j *dispatch.SnapshotJob) {
		if j.DeadlineSeconds > 0 {
			j.DeadlineSeconds++
		}
	})},
	{"the latest deadline for the earliest", eachJob(func(j *dispatch.SnapshotJob) {
		if j.DeadlineSeconds > 0 {
			j.DeadlineSeconds = 3000 - j.DeadlineSeconds
		}
	})},
}

// The faults change a decision's job, its rule, a figure or none of them; whatever they change is found.
func TestPlantedFaultsOfDecisions(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 72))
	var faults []planted[dispatch.DecideQuestion]
	add := func(name string, fault func(q *dispatch.DecideQuestion)) {
		faults = append(faults, planted[dispatch.DecideQuestion]{name, fault})
	}
	for _, f := range snapshotFaults {
		add(f.name, func(q *dispatch.DecideQuestion) { f.fault(&q.Snapshot) })
	}
	policies := func(change func(p *dispatch.PolicyConfig)) func(q *dispatch.DecideQuestion) {
		return func(q *dispatch.DecideQuestion) {
			for i := range q.Policies {
				change(&q.Policies[i])
			}
		}
	}
	shares := func(change func(s *dispatch.SnapshotShare)) func(q *dispatch.DecideQuestion) {
		return func(q *dispatch.DecideQuestion) {
			for i := range q.Shares {
				change(&q.Shares[i])
			}
		}
	}
	add("submissions are ignored", func(q *dispatch.DecideQuestion) {
		eachJob(func(j *dispatch.SnapshotJob) { j.SubmittedSeconds = 0 })(&q.Snapshot)
	})
	add("the last job for the first", func(q *dispatch.DecideQuestion) {
		eachJob(func(j *dispatch.SnapshotJob) { j.SubmittedSeconds = 900 - j.SubmittedSeconds })(&q.Snapshot)
	})
	add("running tasks are not counted", func(q *dispatch.DecideQuestion) { q.Running = nil })
	add("weights of jobs are ignored", func(q *dispatch.DecideQuestion) { eachJob(func(j *dispatch.SnapshotJob) { j.Weight = 1 })(&q.Snapshot) })
	add("least shares are ignored", func(q *dispatch.DecideQuestion) {
		eachJob(func(j *dispatch.SnapshotJob) { j.MinShare = 0 })(&q.Snapshot)
	})
	add("one use for another", func(q *dispatch.DecideQuestion) {
		eachJob(func(j *dispatch.SnapshotJob) { u := &j.Usage.Map; u.CPU, u.Disk = u.Disk, u.CPU })(&q.Snapshot)
	})
	add("weights of classes are ignored", shares(func(s *dispatch.SnapshotShare) { s.Weight = 0 }))
	add("minimums are ignored", shares(func(s *dispatch.SnapshotShare) { s.Min = 0 }))
	add("a minimum one slot off", shares(func(s *dispatch.SnapshotShare) { s.Min++ }))
	add("a limit one slot off", shares(func(s *dispatch.SnapshotShare) {
		if s.Most > 0 {
			s.Most++
		}
	}))
	add("turns are forgotten", func(q *dispatch.DecideQuestion) { q.History.Skips = nil })
	add("turns one off", func(q *dispatch.DecideQuestion) {
		for i := range q.History.Skips {
			q.History.Skips[i].Times++
		}
	})
	add("rates upside down", func(q *dispatch.DecideQuestion) {
		for _, k := range q.Classes {
			for i := range k.Rates {
				k.Rates[i].MeanSeconds = 100 / k.Rates[i].MeanSeconds
			}
		}
	})
	add("another threshold of affinity", policies(func(p *dispatch.PolicyConfig) {
		if p.Kind == dispatch.PolicyProgressShare {
			p.AffinityThreshold = new(2.0)
		}
	}))
	add("no factor of times", policies(func(p *dispatch.PolicyConfig) {
		if p.Kind == dispatch.PolicyMaxProgress {
			p.TimeFactor = new(1.0)
		}
	}))
	add("parts of tasks for whole ones", policies(func(p *dispatch.PolicyConfig) { p.WholeTasks = nil }))
	add("no limit of reads", policies(func(p *dispatch.PolicyConfig) { p.IOCap = nil }))
	add("as published for the default", policies(func(p *dispatch.PolicyConfig) {
		if p.Kind == dispatch.PolicyMaxProgress && p.Mode == "" {
			p.Mode = dispatch.ProgressPaper
		}
	}))
	add("late jobs are kept", policies(func(p *dispatch.PolicyConfig) { p.Late = "" }))
	add("nothing was learned", func(q *dispatch.DecideQuestion) { q.History.Knowledge = nil })
	add("good outcomes for bad ones", func(q *dispatch.DecideQuestion) {
		if k := q.History.Knowledge; k != nil && k.Kind == dispatch.NaiveBayes {
			k.Counts.Outcomes[0], k.Counts.Outcomes[1] = k.Counts.Outcomes[1], k.Counts.Outcomes[0]
			for _, feature := range k.Counts.Ranges {
				for i, of := range feature {
					feature[i] = [2]int64{of[1], of[0]}
				}
			}
		}
	})
	add("no utilities but the age", policies(func(p *dispatch.PolicyConfig) { p.Utilities = nil }))
	eachFound(t, func() dispatch.DecideQuestion { return drawnDecision(t, r) }, func(q dispatch.DecideQuestion) []byte {
		_, a := answeredDecision(t, q)
		return a
	}, faults)
}

// Every figure and word of decisions is looked at.
func TestMutatedDecisions(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range plantest.Trials(5, 50) {
		q, a := answeredDecision(t, drawnDecision(t, r))
		allMutationsFail(t, q, a, 1)
	}
}

func drawnPromise(r *rand.Rand) dispatch.JudgeQuestion {
	q := dispatch.JudgeQuestion{Snapshot: drawnSnapshot(r), Job: drawnJob(r, "asked"), Mode: []dispatch.AdmissionMode{dispatch.AdmissionPaper, dispatch.AdmissionStrict}[r.IntN(3)/2]}
	if len(q.Nodes) == 0 {
		return drawnPromise(r)
	}
	q.Job.DeadlineSeconds = float64(900 + 10*r.IntN(120))
	q.Job.Maps.Total += r.Int64N(30)
	for i := range q.Nodes {
		q.Nodes[i].Slots.Map += r.Int64N(4)
	}
	for i := range q.Classes {
		if k := &q.Classes[i]; k.TaskTime == nil && r.IntN(2) == 0 {
			k.TaskTime, k.ReduceTaskTime = &perf.TaskTime{A: 12.5, B: -0.7}, &perf.TaskTime{A: 7}
		}
	}
	return q
}

func answeredPromise(t *testing.T, q dispatch.JudgeQuestion) (question, answer []byte) {
	t.Helper()
	question = marshalled(q)
	read, err := dispatch.ReadJudge(question)
	if err != nil {
		t.Fatalf("%v\n%s", err, question)
	}
	return question, marshalled(dispatch.JudgeDeadline(read))
}

func TestDrawnPromisesAreJudgedRightly(t *testing.T) {
	r := rand.New(rand.NewPCG(18, 6))
	kinds := map[string]int{}
	for range plantest.Trials(2000, 60_000) {
		question, answer := answeredPromise(t, drawnPromise(r))
		if report := verified(t, question, answer); report.Outcome == proof.Failed {
			t.Fatalf("%s\n%s\n%s", report, question, answer)
		}
		var a dispatch.JudgeAnswer
		decoded(t, answer, &a)
		for _, f := range a.Facts {
			kinds[f.Kind]++
		}
	}
	for _, kind := range []string{dispatch.PromiseKept, dispatch.NoSlotsKnown, dispatch.TasksUnmeasured, dispatch.DeadlinePassed, dispatch.TooLongAlone,
		dispatch.LateBeside, dispatch.TooLongAloneToo, dispatch.LaterJobsLate, dispatch.LaterJobLate, dispatch.WouldBeAdmitted, dispatch.PromiseProved, dispatch.PromiseUnproved,
		dispatch.OthersUnproved} {
		if kinds[kind] < 5 {
			t.Errorf("%d facts of the kind %s", kinds[kind], kind)
		}
	}
	t.Log(kinds)
}

func TestPlantedFaultsOfPromises(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 73))
	var faults []planted[dispatch.JudgeQuestion]
	add := func(name string, fault func(q *dispatch.JudgeQuestion)) {
		faults = append(faults, planted[dispatch.JudgeQuestion]{name, fault})
	}
	for _, f := range snapshotFaults {
		add(f.name, func(q *dispatch.JudgeQuestion) { f.fault(&q.Snapshot) })
	}
	add("a task of the job more", func(q *dispatch.JudgeQuestion) { q.Job.Maps.Total++ })
	add("the job's reduces are left out", func(q *dispatch.JudgeQuestion) { q.Job.Reduces = dispatch.SnapshotTasks{} })
	add("a moment late", func(q *dispatch.JudgeQuestion) { q.NowSeconds += 7 })
	add("as published for strictly", func(q *dispatch.JudgeQuestion) { q.Mode = dispatch.AdmissionPaper })
	add("strictly for as published", func(q *dispatch.JudgeQuestion) { q.Mode = dispatch.AdmissionStrict })
	add("the last promise is forgotten", func(q *dispatch.JudgeQuestion) { q.Jobs[len(q.Jobs)-1].DeadlineSeconds = 0 })
	add("times of maps for reduces", func(q *dispatch.JudgeQuestion) {
		for i := range q.Classes {
			q.Classes[i].ReduceTaskTime = q.Classes[i].TaskTime
		}
	})
	add("slots of full nodes count", func(q *dispatch.JudgeQuestion) {
		eachNode(func(n *dispatch.SnapshotNode) { n.Residual = max(n.Residual, 0.05) })(&q.Snapshot)
	})
	answered := func(q dispatch.JudgeQuestion) []byte {
		_, a := answeredPromise(t, q)
		return a
	}
	eachFound(t, func() dispatch.JudgeQuestion { return drawnPromise(r) }, answered, faults)
}

func TestMutatedPromises(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 4))
	for range plantest.Trials(40, 400) {
		q, text := answeredPromise(t, drawnPromise(r))
		var a dispatch.JudgeAnswer
		if decoded(t, text, &a); a.Code == dispatch.DeadlineMissed {
			allMutationsFail(t, q, text, 1)
		}
	}
}
