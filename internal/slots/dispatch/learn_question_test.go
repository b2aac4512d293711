package dispatch

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// learnt reads a question and answers it.
func learnt(t *testing.T, text string) LearnAnswer {
	t.Helper()
	q, err := ReadLearn([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	a, err := Learn(q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// classified asks for cases with given knowledge.
func classified(t *testing.T, policy string, k *Knowledge, cases string) []Classified {
	t.Helper()
	known, err := json.Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	q, err := ReadClassify(fmt.Appendf(nil, `{"policy":%s,"knowledge":%s,"running_tasks":10,"cases":%s}`, policy, known, cases))
	if err != nil {
		t.Fatal(err)
	}
	a, err := ClassifyCases(q)
	if err != nil {
		t.Fatal(err)
	}
	return a.Cases
}

// Of three good choices two had processors of 2, of two bad ones one. All else is alike: of every other feature, which
// have 10, 10, 10, 13, 25 and 10 ranges, one range holds all choices.
func TestNaiveBayesIsCountedByHand(t *testing.T) {
	a := learnt(t, `{"lessons":[{"usage":{"cpu":2},"good":true},{"usage":{"cpu":2},"good":true},{"usage":{"cpu":9},"good":true},
		{"usage":{"cpu":9},"good":false},{"usage":{"cpu":2},"then":{"load1":1.5}}]}`)
	if a.Good != 3 || a.Bad != 2 || a.Knowledge.Counts.Outcomes != [2]int64{2, 3} || a.Mistaken != 2 {
		t.Fatalf("%+v", a)
	}
	if c := a.Knowledge.Counts.Ranges[0]; c[1] != [2]int64{1, 2} || c[8] != [2]int64{1, 1} {
		t.Errorf("processors are counted as %v", c)
	}
	weigh := func(n, had float64) float64 { // (n+1) · Π (count+1)/(n+K)
		p := (n + 1) * (had + 1) / (n + 10)
		for _, ranges := range []float64{10, 10, 10, 13, 25, 10} {
			p *= (n + 1) / (n + ranges)
		}
		return p
	}
	for cpu, had := range map[int][2]float64{2: {1, 2}, 9: {1, 1}, 5: {0, 0}} {
		good, bad := weigh(3, had[1]), weigh(2, had[0])
		got := classified(t, `{"kind":"learned"}`, &a.Knowledge, fmt.Sprintf(`[{"name":"a","usage":{"cpu":%d},"age_s":99}]`, cpu))[0]
		if want := good / (good + bad); math.Abs(got.PGood-want) > 1e-12 || got.Good != (want >= 0.5) || got.Utility != 100 || math.Abs(got.ExpectedUtility-100*want) > 1e-9 {
			t.Errorf("processors of %d: %+v, want %g", cpu, got, want)
		}
	}
	if first := a.Lessons[0].PGood; first != 0.5 {
		t.Errorf("before the first lesson a choice is good with %g", first)
	}
}

// Each factor is the place of its range, from 0 to 1. The first choice is expected to be good, as 0 is no less than 0,
// and is bad: the weights lose its factors. The second is then expected to be bad and is good.
func TestPerceptronIsWeighedByHand(t *testing.T) {
	policy := `{"kind":"learned","classifier":"perceptron"}`
	a := learnt(t, `{"policy":`+policy+`,"lessons":[{"usage":{"cpu":10,"memory":1,"disk":1,"network":1},"good":false},
		{"usage":{"cpu":4,"memory":1,"disk":1,"network":1},"cpu_pct":90,"good":true},{"usage":{"cpu":1,"memory":1,"disk":1,"network":1},"good":true}]}`)
	want := []float64{-1 + 3./9, 0, 0, 0, 0, 0, 1}
	got := a.Knowledge.Counts
	same := slices.EqualFunc(got.Weights, want, func(x, y float64) bool { return math.Abs(x-y) < 1e-12 })
	if !same || got.Bias != 0 || a.Mistaken != 2 {
		t.Errorf("weights %v, bias %g, %d mistaken; want %v, 0, 2", got.Weights, got.Bias, a.Mistaken, want)
	}
	cases := classified(t, policy, &a.Knowledge, `[{"name":"heavy","usage":{"cpu":10,"memory":1,"disk":1,"network":1}},{"name":"busy","usage":{"cpu":10,"memory":1,"disk":1,"network":1},"cpu_pct":95}]`)
	if p := 1 / (1 + math.Exp(2./3)); math.Abs(cases[0].PGood-p) > 1e-12 || cases[0].Good || !cases[1].Good || math.Abs(cases[1].PGood-1/(1+math.Exp(-1./3))) > 1e-12 {
		t.Errorf("%+v", cases)
	}
}

// Utilities are those of the policy, as its documentation has them.
func TestCasesHaveTheirUtility(t *testing.T) {
	for policy, want := range map[string]float64{
		`{"kind":"learned"}`: 31,
		`{"kind":"learned","utilities":[{"kind":"constant","value":4}]}`:                           4,
		`{"kind":"learned","utilities":[{"kind":"map_before_reduce","slow_start":0.5}]}`:           0, // 1 of 4 maps is done
		`{"kind":"learned","utilities":[{"kind":"map_before_reduce","slow_start":0.25}]}`:          1,
		`{"kind":"learned","utilities":[{"kind":"budget"},{"kind":"constant","value":2}]}`:         14,
		`{"kind":"learned","utilities":[{"kind":"dedicated_capacity"},{"kind":"revenue"}]}`:        1.5, // (0.4 − 2/10) / 0.4 · 3
		`{"kind":"learned","utilities":[{"kind":"budget"}],"features":[{"name":"x","edges":[1]}]}`: 7,
	} {
		var p PolicyConfig
		if err := json.Unmarshal([]byte(policy), &p); err != nil {
			t.Fatal(err)
		}
		none := NewLearned(Shared, p).Knowledge()
		got := classified(t, policy, &none, `[{"name":"a","kind":"reduce","age_s":30,"maps":4,"maps_done":1,"held":2,"worth":7,"balance":1,"promised":0.4,"revenue":3}]`)[0]
		if math.Abs(got.Utility-want) > 1e-12 || math.Abs(got.ExpectedUtility-want/2) > 1e-12 {
			t.Errorf("%s: %+v, want %g", policy, got, want)
		}
	}
}

// A policy learns from heartbeats. At each of its choices "classify" expects what the policy expected, with the
// knowledge of that moment. In the end "learn" knows the same from the judged choices.
func TestTheDoorsLearnAsThePolicy(t *testing.T) {
	for _, kind := range classifiers {
		r := rand.New(rand.NewPCG(3, 4))
		delay := int64(2)
		config := PolicyConfig{Kind: PolicyLearned, Classifier: kind, EvaluationDelay: &delay, Features: []NodeFeature{{Name: "gpu", Edges: []float64{0.5}}, {Name: "rack", Words: []string{"a", "b"}}}}
		d := NewLearned(Shared, config)
		node := &Node{Name: "n", Cores: 2, Slots: [Kinds]int{50, 0}, Residual: 1}
		d.Note(Event{What: Joined, Node: node})
		for i := range 8 {
			j := &Job{Number: int64(i), Name: fmt.Sprint("job ", i), Pending: [Kinds]int{1000, 0}, Known: Known{Usage: [Kinds]Usage{{float64(1 + i), 5, float64(10 - i), 1}}}}
			d.Note(Event{What: Arrived, Job: j})
		}
		q := LearnQuestion{Policy: config}
		asked := 0
		for beat := range 600 {
			now := float64(5 * beat)
			node.Heartbeats++
			node.Report = Report{Load1: 4 * r.Float64(), CPUPercent: 100 * r.Float64(), Numbers: map[string]float64{"gpu": r.Float64()}, Words: map[string]string{"rack": []string{"a", "b", "c"}[r.IntN(3)]}}
			d.Note(Event{What: Reported, Now: now, Node: node})
			for _, judged := range d.Judged() {
				m := judged.Judgement.Metrics
				q.Lessons = append(q.Lessons, Lesson{Features: judged.Features, Then: &LaterState{Load1: m.Load1, CPUPercent: m.CPUPercent, Cores: m.Cores}})
			}
			known := d.Knowledge()
			slot := Slot{Number: beat, Node: node}
			choice := d.Choose(now, slot)
			if choice.Job == nil {
				continue
			}
			choice.Job.Pending[Map]--
			choice.Job.Running[Map]++
			node.Running[Map]++
			d.Note(Event{What: Started, Now: now, Job: choice.Job, Slot: slot})
			made, _ := d.Decided()
			a, err := ClassifyCases(ClassifyQuestion{Policy: config, Knowledge: &known, Cases: []Case{{Name: "it", Features: made.Features, Kind: MapTask, AgeSeconds: now}}})
			if err != nil {
				t.Fatal(err)
			}
			if got := a.Cases[0]; math.Abs(got.PGood-made.PGood) > 1e-9 || math.Abs(got.Utility-made.Utility) > 1e-9 || got.Good == made.Probe {
				t.Fatalf("%s, heartbeat %d: %+v, the policy expected %g and %g", kind, beat, got, made.PGood, made.Utility)
			}
			asked++
			choice.Job.Running[Map]--
			node.Running[Map]--
			d.Note(Event{What: Ended, Now: now, Job: choice.Job, Slot: slot})
		}
		text, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		a := learnt(t, string(text))
		if want := d.Knowledge().Counts; !reflect.DeepEqual(a.Knowledge.Counts, want) || asked < 300 || a.Good < 50 || a.Bad < 50 {
			t.Errorf("%s, %d choices: learned\n%+v\nthe policy\n%+v", kind, asked, a.Knowledge.Counts, want)
		}
		// Lessons in two parts lead to the same knowledge.
		first, second := q, q
		first.Lessons, second.Lessons = q.Lessons[:200], q.Lessons[200:]
		half, err := Learn(first)
		if err != nil {
			t.Fatal(err)
		}
		second.Knowledge = &half.Knowledge
		if whole, err := Learn(second); err != nil || !reflect.DeepEqual(whole.Knowledge, a.Knowledge) {
			t.Errorf("%s: in two parts %+v, %v", kind, whole.Knowledge, err)
		}
	}
}
