package dispatch

import (
	"fmt"
	"slices"
	"strconv"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

// LearnQuestion asks what a classifier learns from lessons.
type LearnQuestion struct {
	Policy    PolicyConfig `json:"policy"`              // default: learned with its usual settings
	Knowledge *Knowledge   `json:"knowledge,omitempty"` // to go on from; default: none
	Lessons   []Lesson     `json:"lessons"`             // in their order
}

// Lesson is a choice with its outcome: either what is known of that, or the state of the node from which the policy's
// rules say it.
type Lesson struct {
	Features
	Good *bool       `json:"good,omitempty"`
	Then *LaterState `json:"then,omitempty"`
}

// LaterState is the state of a node when a choice is judged.
type LaterState struct {
	Load1           float64 `json:"load1"`
	CPUPercent      float64 `json:"cpu_pct"`
	MemoryPercent   float64 `json:"mem_pct"`
	NetMBPerSecond  float64 `json:"net_mb_s"`
	DiskMBPerSecond float64 `json:"disk_mb_s"`
	Cores           float64 `json:"cpus"` // default 1
}

// metrics returns the state as rules read it.
func (s *LaterState) metrics() *Metrics {
	return &Metrics{Report{Load1: s.Load1, CPUPercent: s.CPUPercent, MemoryPercent: s.MemoryPercent, NetMBPerSecond: s.NetMBPerSecond,
		DiskMBPerSecond: s.DiskMBPerSecond}, s.Cores}
}

// LearnAnswer holds the knowledge after the lessons.
type LearnAnswer struct {
	Knowledge Knowledge     `json:"knowledge"`
	Lessons   []LessonTaken `json:"lessons"` // in their order
	Good      int64         `json:"good"`
	Bad       int64         `json:"bad"`
	Mistaken  int64         `json:"mistaken"` // of which the classifier expected the other outcome
}

// LessonTaken is a lesson as it was learned.
type LessonTaken struct {
	PGood float64 `json:"p_good"` // before it was learned
	Good  bool    `json:"good"`
}

// ClassifyQuestion asks which choices a classifier takes for good ones, and what each is worth.
type ClassifyQuestion struct {
	Policy    PolicyConfig `json:"policy"`
	Knowledge *Knowledge   `json:"knowledge,omitempty"`     // default: none, so that all are good
	Running   int64        `json:"running_tasks,omitempty"` // of the cluster, for the utility dedicated_capacity
	Cases     []Case       `json:"cases"`
}

// Case is a task that may be given to a node.
type Case struct {
	Name string `json:"name"`
	Features
	Kind       TaskKind `json:"kind"`            // default map
	AgeSeconds float64  `json:"age_s,omitempty"` // since its job was submitted
	Maps       int64    `json:"maps,omitempty"`  // of its job
	MapsDone   int64    `json:"maps_done,omitempty"`
	Held       int64    `json:"held,omitempty"` // running tasks of its job
	JobWorth
}

// ClassifyAnswer holds the classifications in the order of the cases.
type ClassifyAnswer struct {
	Cases []Classified `json:"cases"`
}

// Classified is a case with its class.
type Classified struct {
	Name            string  `json:"name"`
	PGood           float64 `json:"p_good"`
	Good            bool    `json:"good"`
	Utility         float64 `json:"utility"`
	ExpectedUtility float64 `json:"expected_utility"` // the product of the two; bad ones get no slot however large it is
}

// Limits of questions to a classifier.
const (
	maxLessons = 50_000
	maxCases   = 10_000
)

// Learn returns what a classifier knows after the lessons, each learned as a live cluster learns from a judged choice.
func Learn(q LearnQuestion) (LearnAnswer, error) {
	d, err := q.learned()
	if err != nil {
		return LearnAnswer{}, err
	}
	a := LearnAnswer{Lessons: make([]LessonTaken, 0, len(q.Lessons))}
	for i := range q.Lessons {
		l := &q.Lessons[i]
		taken := LessonTaken{PGood: d.good(&l.Features)}
		if l.Good != nil {
			taken.Good = *l.Good
		} else {
			taken.Good = !overloaded(d.policy.Rules, l.Then.metrics())
		}
		if taken.Good {
			a.Good++
		} else {
			a.Bad++
		}
		if isGood(taken.PGood) != taken.Good {
			a.Mistaken++
		}
		d.lesson(d.classifier, &l.Features, taken.Good)
		a.Lessons = append(a.Lessons, taken)
	}
	d.decisions += int64(len(q.Lessons))
	d.judgements += int64(len(q.Lessons))
	a.Knowledge = d.Knowledge()
	return a, nil
}

func (q *LearnQuestion) learned() (*Learned, error) { return learnedWith(q.Policy, q.Knowledge) }

// learnedWith returns a policy with given knowledge.
func learnedWith(p PolicyConfig, k *Knowledge) (*Learned, error) {
	if err := p.Validate("/policy"); err != nil {
		return nil, err
	}
	d := NewLearned(Shared, p)
	if k == nil {
		return d, nil
	}
	return d, d.take(k)
}

// ClassifyCases classifies cases as the policy learned classifies candidates.
func ClassifyCases(q ClassifyQuestion) (ClassifyAnswer, error) {
	d, err := learnedWith(q.Policy, q.Knowledge)
	if err != nil {
		return ClassifyAnswer{}, err
	}
	d.running = int(q.Running)
	a := ClassifyAnswer{Cases: make([]Classified, 0, len(q.Cases))}
	for i := range q.Cases {
		c := &q.Cases[i]
		j := Job{SubmittedSeconds: 0, Maps: int(c.Maps), MapsDone: int(c.MapsDone), Running: [Kinds]int{int(c.Held), 0},
			Wants: Wants{Worth: c.Worth, Balance: c.Balance, Promised: c.Promised, Revenue: c.Revenue}}
		p, u := d.good(&c.Features), d.utility(&j, c.Kind.kind(), c.AgeSeconds)
		a.Cases = append(a.Cases, Classified{Name: c.Name, PGood: p, Good: isGood(p), Utility: u, ExpectedUtility: u * p})
	}
	return a, nil
}

var (
	learnShape    = strict.NewShape("a question of what is learned", []string{"lessons"}, "policy", "knowledge")
	classifyShape = strict.NewShape("a question of what is good", []string{"cases"}, "policy", "knowledge", "running_tasks")
	learnedShape  = strict.NewShape("what was learned", []string{"knowledge"}, "lessons", "good", "bad", "mistaken")
	featureNames  = []string{"usage", "load1", "cpus", "running", "cpu_pct", "numbers", "words"}
	lessonShape   = strict.NewShape("a lesson", nil, append(slices.Clone(featureNames), "good", "then")...)
	caseShape     = strict.NewShape("a case", []string{"name"}, append(slices.Clone(featureNames),
		"kind", "age_s", "maps", "maps_done", "held", "worth", "balance", "promised", "revenue")...)
	thenShape      = strict.NewShape("the state after a choice", nil, "load1", "cpu_pct", "mem_pct", "net_mb_s", "disk_mb_s", "cpus")
	knowledgeShape = strict.NewShape("the knowledge", []string{"kind", "counts"}, "rules", "classifier", "decisions", "judgements", "usage")
	countsShape    = strict.NewShape("the counts", []string{"outcomes"}, "ranges", "weights", "bias")
)

// ReadLearn reads a question of what a classifier learns. Each complete changes it before it is checked.
func ReadLearn(data []byte, complete ...func(*LearnQuestion)) (LearnQuestion, error) {
	q := LearnQuestion{Policy: PolicyConfig{Kind: PolicyLearned}}
	r := strict.NewReader(data)
	r.Object(learnShape, func(name string) {
		switch name {
		case "policy":
			readPolicy(r, &q.Policy)
		case "knowledge":
			q.Knowledge = new(Knowledge)
			readKnowledge(r, q.Knowledge)
		case "lessons":
			q.Lessons = strict.List(r, "of lessons", maxLessons, readLesson)
		}
	})
	r.End()
	for _, change := range complete {
		change(&q)
	}
	if err := r.Result(q.check); err != nil {
		return LearnQuestion{}, err
	}
	return q, nil
}

func readLesson(r *strict.Reader, l *Lesson) {
	l.Features = usualFeatures()
	r.Object(lessonShape, func(name string) {
		switch name {
		case "good":
			l.Good = new(bool)
			r.Flag(l.Good)
		case "then":
			l.Then = &LaterState{Cores: 1}
			r.Fields(thenShape, l.Then)
		default:
			readFeature(r, &l.Features, name)
		}
	})
}

// usualFeatures are those of a task of which nothing is said, on a node with one processor.
func usualFeatures() Features { return Features{Usage: Usage{5, 5, 5, 5}, Cores: 1} }

// readFeature reads a member of features.
func readFeature(r *strict.Reader, f *Features, name string) {
	switch name {
	case "usage":
		r.Fields(usageShape, &f.Usage)
	case "numbers", "words":
		values := Report{Numbers: f.Numbers, Words: f.Words}
		readReported(r, &values, name)
		f.Numbers, f.Words = values.Numbers, values.Words
	default:
		r.Field(f, name)
	}
}

// ReadClassify reads a question of which choices are good. Each complete changes it before it is checked.
func ReadClassify(data []byte, complete ...func(*ClassifyQuestion)) (ClassifyQuestion, error) {
	q := ClassifyQuestion{Policy: PolicyConfig{Kind: PolicyLearned}}
	r := strict.NewReader(data)
	r.Object(classifyShape, func(name string) {
		switch name {
		case "policy":
			readPolicy(r, &q.Policy)
		case "knowledge":
			q.Knowledge = new(Knowledge)
			readKnowledge(r, q.Knowledge)
		case "running_tasks":
			r.Whole(&q.Running)
		case "cases":
			q.Cases = strict.List(r, "of cases", maxCases, func(r *strict.Reader, c *Case) {
				c.Features, c.Kind = usualFeatures(), MapTask
				r.Object(caseShape, func(name string) {
					if name == "usage" || name == "numbers" || name == "words" {
						readFeature(r, &c.Features, name)
					} else {
						r.Field(c, name)
					}
				})
			})
		}
	})
	r.End()
	for _, change := range complete {
		change(&q)
	}
	if err := r.Result(q.check); err != nil {
		return ClassifyQuestion{}, err
	}
	return q, nil
}

// ReadLearned reads the knowledge in an answer of Learn.
func ReadLearned(data []byte) (*Knowledge, error) {
	k := new(Knowledge)
	r := strict.NewReader(data)
	r.Object(learnedShape, func(name string) {
		if name == "knowledge" {
			readKnowledge(r, k)
		} else {
			r.Skip()
		}
	})
	r.End()
	return k, r.Result(func(c *strict.Checker) {
		c.Enter("knowledge")
		k.check(c)
		c.Leave()
	})
}

func (q *LearnQuestion) check(c *strict.Checker) {
	checkLearned(c, q.Policy, q.Knowledge)
	if len(q.Lessons) == 0 {
		c.Refuse("lessons", "too_few", "There is no lesson; give at least one.")
	}
	strict.Each(c, "lessons", q.Lessons, func(l *Lesson) {
		l.Features.check(c)
		switch {
		case l.Good == nil && l.Then == nil:
			c.Refuse("good", "missing", "The lesson has no outcome; say whether it was good, or give the state of the node in then.")
		case l.Good != nil && l.Then != nil:
			c.Refuse("then", "conflict", "The outcome is given twice; keep good or then.")
		}
		if l.Then != nil {
			c.Enter("then")
			m := l.Then.metrics()
			m.check(c)
			strict.Above(c, "cpus", "The number of processors", &m.Cores, maxCores)
			c.Leave()
		}
	})
}

func (q *ClassifyQuestion) check(c *strict.Checker) {
	checkLearned(c, q.Policy, q.Knowledge)
	c.Whole("running_tasks", "The number of running tasks", "", q.Running, 0, maxSnapshotTasks)
	if len(q.Cases) == 0 {
		c.Refuse("cases", "too_few", "There is no case; give at least one.")
	}
	named := strict.Names{}
	strict.Each(c, "cases", q.Cases, func(x *Case) {
		c.Name(x.Name)
		named.Add(c, "case", x.Name, len(named))
		x.Features.check(c)
		strict.OneOf(c, "kind", x.Kind, taskKindWords)
		c.Number("age_s", "The age", "s", x.AgeSeconds, maxSnapshotSeconds)
		c.Whole("maps", "The number of maps", "", x.Maps, 0, maxSnapshotTasks)
		c.Whole("maps_done", "The number of maps that are done", "", x.MapsDone, 0, maxSnapshotTasks)
		if x.Maps >= 0 && x.MapsDone > x.Maps {
			c.Refuse("maps_done", "premise", "%d maps are done of %d; correct one of the two.", x.MapsDone, x.Maps)
		}
		c.Whole("held", "The number of running tasks of the job", "", x.Held, 0, maxSnapshotTasks)
		if x.Held > q.Running && q.Running >= 0 {
			c.Refuse("held", "premise", "%d tasks of the job run, and %d of the cluster; give running_tasks as many at least.", x.Held, q.Running)
		}
		x.JobWorth.check(c)
	})
}

// checkLearned checks a policy that learns, and knowledge of it.
func checkLearned(c *strict.Checker, p PolicyConfig, k *Knowledge) {
	if k != nil {
		c.Enter("knowledge")
		k.check(c)
		c.Leave()
	}
	c.Enter("policy")
	defer c.Leave()
	if p.Kind != PolicyLearned {
		c.Refuse("kind", "premise", "The policy %q does not learn; leave the policy out, or give one of the kind learned.",
			fault.Clip(string(p.Kind)))
		return
	}
	checkPolicyAsked(c, p, k)
}

func (f *Features) check(c *strict.Checker) {
	c.Enter("usage")
	f.Usage.check(c)
	c.Leave()
	c.Number("load1", "The load", "", f.Load1, maxCores)
	strict.Above(c, "cpus", "The number of processors", &f.Cores, maxCores)
	c.Number("running", "The number of running tasks", "", f.Running, maxCores)
	c.Number("cpu_pct", "The busy part of the processors", "%", f.CPUPercent, 100)
}

// readKnowledge reads knowledge as Learn answers it.
func readKnowledge(r *strict.Reader, k *Knowledge) {
	k.Versions = Versions{1, 1}
	r.Object(knowledgeShape, func(name string) {
		switch name {
		case "counts":
			r.Object(countsShape, func(name string) { readCounts(r, &k.Counts, name) })
		case "usage":
			sized(r, "of kinds of tasks", k.Usage[:], func(of *[usageFeatures][usageBins + 1]int64) {
				sized(r, "of resources", of[:], func(of *[usageBins + 1]int64) { sized(r, "of numbers", of[:], r.Whole) })
			})
		default:
			r.Field(k, name)
		}
	})
}

func readCounts(r *strict.Reader, c *Counts, name string) {
	switch name {
	case "outcomes":
		sized(r, "of numbers", c.Outcomes[:], r.Whole)
	case "ranges":
		c.Ranges = strict.List(r, "of features", ownFeatures+maxFeatures, func(r *strict.Reader, ranges *[][2]int64) {
			*ranges = strict.List(r, "of ranges", maxBins, func(r *strict.Reader, n *[2]int64) {
				sized(r, "of numbers", n[:], r.Whole)
			})
		})
	case "weights":
		c.Weights = strict.List(r, "of weights", ownFeatures+maxFeatures*maxBins, (*strict.Reader).Float)
	default:
		r.Field(c, name)
	}
}

// sized reads an array of a known length.
func sized[T any](r *strict.Reader, what string, into []T, read func(*T)) {
	count := 0
	array := r.Array(what, func(i int) {
		if count = i + 1; i < len(into) {
			read(&into[i])
		} else {
			r.Skip()
		}
	})
	if array && count != len(into) {
		r.Found("length", fmt.Sprintf("Here are %d elements; give %d.", count, len(into)), nil)
	}
}

// maxCount bounds the counts of what was learned, which are exact as numbers of JSON.
const maxCount = 1 << 53

// check refuses knowledge that no lessons lead to.
func (k *Knowledge) check(c *strict.Checker) {
	strict.OneOf(c, "kind", k.Kind, classifiers)
	for _, n := range []struct {
		member string
		value  int64
	}{{"rules", k.Rules}, {"classifier", k.Versions.Classifier}, {"decisions", k.Decisions}, {"judgements", k.Judgements}} {
		c.Whole(n.member, "The number", "", n.value, 0, maxCount)
	}
	c.Enter("counts")
	defer c.Leave()
	strict.Each(c, "outcomes", k.Counts.Outcomes[:], func(n *int64) { c.Whole("", "The number of outcomes", "", *n, 0, maxCount) })
	strict.Each(c, "ranges", k.Counts.Ranges, func(ranges *[][2]int64) {
		var sums [2]int64
		for i, n := range *ranges {
			c.Element(i)
			for o := range n {
				c.Whole(strconv.Itoa(o), "The number of outcomes", "", n[o], 0, maxCount)
				sums[o] += min(max(n[o], 0), maxCount)
			}
			c.Leave()
		}
		if sums != k.Counts.Outcomes {
			c.Refuse("", "premise", "The ranges of the feature count %d bad and %d good outcomes; give as many as outcomes says, %d and %d.",
				sums[0], sums[1], k.Counts.Outcomes[0], k.Counts.Outcomes[1])
		}
	})
	strict.Each(c, "weights", k.Counts.Weights, func(w *float64) { c.Between("", "The weight", *w, -maxMetric, maxMetric) })
	c.Between("bias", "The bias", k.Counts.Bias, -maxMetric, maxMetric)
}
