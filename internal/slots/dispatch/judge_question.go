package dispatch

import (
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/strict"
	"example.org/headroom/internal/core/words"
)

// JudgeQuestion asks whether a job may be promised its deadline on a cluster, whose jobs with deadlines are promised
// theirs already.
type JudgeQuestion struct {
	Snapshot
	Mode AdmissionMode `json:"mode"` // default strict
	Job  SnapshotJob   `json:"job"`
}

// JudgeAnswer tells whether the job may be promised.
type JudgeAnswer struct {
	Verdict DeadlineVerdict `json:"verdict"`
	Code    RefusalReason   `json:"code,omitempty"` // of a refusal
	Reason  string          `json:"reason"`
	Facts   words.Facts     `json:"facts"` // the sentences of the reason
}

// JudgeDeadline judges the job as a live cluster judges one that asks to be admitted.
func JudgeDeadline(q JudgeQuestion) JudgeAnswer {
	room := q.room()
	v := room.Judge(q.commitment(&q.Job))
	facts := v.Facts(q.Job.class())
	return JudgeAnswer{Verdict: v, Code: v.Code(), Reason: facts.Text(), Facts: facts}
}

// room returns the slots and the promised jobs of the snapshot.
func (q *JudgeQuestion) room() Room {
	room := Room{Mode: q.Mode, Layout: q.layout()}
	for i := range q.Nodes {
		for p, slots := range q.Nodes[i].node(room.Layout).Slots {
			room.Slots[p] = append(room.Slots[p], Free{Residual: q.Nodes[i].Residual, Count: slots})
		}
	}
	running := map[string][Kinds]int{}
	for _, r := range q.Running {
		of := running[r.Job]
		of[r.Kind.kind()] += int(r.Tasks)
		running[r.Job] = of
	}
	for i := range q.Jobs {
		c := q.commitment(&q.Jobs[i])
		c.Running = running[c.Name]
		if q.Jobs[i].DeadlineSeconds > 0 {
			room.Accepted = append(room.Accepted, c)
		} else {
			room.Others = append(room.Others, c)
		}
	}
	return room
}

// commitment returns a job with the times of its class's tasks.
func (s *Snapshot) commitment(j *SnapshotJob) Commitment {
	c := Commitment{ID: j.Name, Name: j.Name, DueSeconds: j.DeadlineSeconds - s.NowSeconds,
		Tasks: [Kinds]int{int(j.Maps.Total - j.Maps.Done), int(j.Reduces.Total - j.Reduces.Done)}}
	for i := range s.Classes {
		if k := &s.Classes[i]; k.Name == j.class() {
			c.Times = [Kinds]*perf.TaskTime{k.TaskTime, k.ReduceTaskTime}
		}
	}
	return c
}

var (
	judgeShape = strict.NewShape("a question of a promise", []string{"nodes", "job"}, "now_s", "separate", "classes", "jobs", "running",
		"mode")
	admissionModes = []AdmissionMode{AdmissionPaper, AdmissionStrict}
)

// ReadJudge reads a question of a promise, as strictly as ReadProblem reads a problem.
func ReadJudge(data []byte) (JudgeQuestion, error) {
	q := JudgeQuestion{Mode: AdmissionStrict}
	r := strict.NewReader(data)
	r.Object(judgeShape, func(name string) {
		switch name {
		case "job":
			readJob(r, &q.Job)
		case "mode":
			r.Field(&q, name)
		default:
			q.read(r, name)
		}
	})
	r.End()
	if err := r.Result(q.check); err != nil {
		return JudgeQuestion{}, err
	}
	return q, nil
}

func (q *JudgeQuestion) check(c *strict.Checker) {
	_, jobs := q.Snapshot.check(c)
	strict.OneOf(c, "mode", q.Mode, admissionModes)
	c.Enter("job")
	defer c.Leave()
	q.Job.check(c, q.NowSeconds)
	if q.Job.DeadlineSeconds == 0 {
		c.Refuse("deadline_s", "missing", "The job has no deadline, which alone needs a promise; give the moment by which it must be done.")
	}
	jobs.Add(c, "job", q.Job.Name, len(q.Jobs))
}
