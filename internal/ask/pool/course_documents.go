package pool

import (
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/strict"
)

// PoolCourseProblem asks which machines to rent and to return round after round, beside the running ones, while jobs
// are submitted and data comes in. As JSON:
//
//	{"currency": "USD", "hours": 4, "types": […], "storage": {"data_gb": 4250, "replication": 1},
//	 "running": [{"type": "m1.large", "count": 5}],
//	 "jobs": [{"name": "nightly", "work": 30, "deadline_hours": 2, "submissions": [3, 1.5, 4]}],
//	 "incoming_gb": [850, 0, 400]}
type PoolCourseProblem struct {
	Currency string      `json:"currency"`
	Hours    int64       `json:"hours"` // of a round
	Types    []PoolType  `json:"types"`
	Storage  PoolStorage `json:"storage"` // DataGB is the amount before the first round
	// StartupHours applies to newly started instances; running ones need none.
	StartupHours float64            `json:"startup_hours,omitempty"`
	Running      []PoolRunning      `json:"running"` // core instances before the first round
	Jobs         []PoolSubmittedJob `json:"jobs"`
	IncomingGB   []float64          `json:"incoming_gb"` // data by round, which stays; rounds that are not named bring none
	Options      PoolOptions        `json:"options"`     // of each round
}

// PoolRunning counts running core instances of a type.
type PoolRunning struct {
	Type  string `json:"type"`
	Count int64  `json:"count"`
}

// PoolSubmittedJob is a repeatedly submitted job. Its work is that of one submission, and its deadline counts from
// the start of the round.
type PoolSubmittedJob struct {
	PoolJob
	Submissions []float64 `json:"submissions"` // by round; they need not be whole, as forecasts are not
}

// Rounds returns the number of rounds in question.
func (p *PoolCourseProblem) Rounds() (n int) {
	n = len(p.IncomingGB)
	for _, j := range p.Jobs {
		n = max(n, len(j.Submissions))
	}
	return n
}

// PoolCourse lists the actions round after round.
type PoolCourse struct {
	Status PoolStatus   `json:"status"` // the worst of the rounds'
	Cost   money.Amount `json:"cost"`   // of the rounds that have a pool
	// Proved: no course costs less. Rounds depend on each other only by start-up times.
	Proved   bool               `json:"proved"`
	Rounds   []PoolRound        `json:"rounds"`
	Warnings []capacity.Warning `json:"warnings"`
}

// PoolRound is one round.
type PoolRound struct {
	FromHour  int64        `json:"from_hour"` // from the first round's start
	UntilHour int64        `json:"until_hour"`
	DataGB    float64      `json:"data_gb"` // at its end, before copies
	Changes   []PoolChange `json:"changes"`
	Plan      PoolPlan     `json:"plan"`
}

// PoolChange is a number of machines to rent or to return at an hour.
type PoolChange struct {
	Hour  int64  `json:"hour"` // from the first round's start
	Type  string `json:"type"`
	As    string `json:"as"`    // core or accelerator
	Count int64  `json:"count"` // above 0 it is rented, below 0 given back
}

// The ways to rent an instance.
const (
	AsCore        = "core"
	AsAccelerator = "accelerator"
)

// maxPoolRounds is the maximum number of rounds planned at once.
const maxPoolRounds = 168

var (
	poolCourseShape   = strict.NewShape("a course's problem", []string{"currency", "hours", "types"}, "storage", "startup_hours", "running", "jobs", "incoming_gb", "options")
	poolRunningShape  = strict.NewShape("running instances", []string{"type", "count"})
	submittedJobShape = strict.NewShape("a job", []string{"name", "work", "submissions"}, "deadline_hours", "memory_gib_per_task", "rates", "rates_from")
)

// ReadPoolCourse reads and checks a course's problem.
func ReadPoolCourse(data []byte, limits capacity.Limits) (PoolCourseProblem, error) {
	start := DefaultPool()
	p := PoolCourseProblem{Storage: start.Storage, Options: start.Options, Running: []PoolRunning{}, IncomingGB: []float64{}}
	r, err := startReading(data, limits)
	if err != nil {
		return PoolCourseProblem{}, err
	}
	numbers := func(what string) []float64 {
		return append([]float64{}, strict.List(r, what, maxPoolRounds, (*strict.Reader).Float)...)
	}
	r.Object(poolCourseShape, func(name string) {
		switch name {
		case "types":
			p.Types = strict.List(r, "of instance types", maxPoolTypes, readPoolType)
		case "storage":
			r.Fields(poolStorageShape, &p.Storage)
		case "running":
			p.Running = append(p.Running, strict.List(r, "of running instances", maxPoolTypes, func(r *strict.Reader, x *PoolRunning) {
				r.Fields(poolRunningShape, x)
			})...)
		case "jobs":
			p.Jobs = strict.List(r, "of jobs", maxPoolJobs, func(r *strict.Reader, j *PoolSubmittedJob) {
				r.Object(submittedJobShape, func(name string) {
					if name == "submissions" {
						j.Submissions = numbers("of submissions")
						return
					}
					readPoolJobMember(r, name, &j.PoolJob)
				})
			})
		case "incoming_gb":
			p.IncomingGB = numbers("of gigabytes")
		case "options":
			r.Fields(poolOptionsShape, &p.Options)
		default:
			r.Field(&p, name)
		}
	})
	r.End()
	if err := r.Result(p.check); err != nil {
		return PoolCourseProblem{}, err
	}
	return p, nil
}

// Validate checks the problem and reports all faults, as an *InputError.
func (p PoolCourseProblem) Validate() error { return strict.Check(p.check) }

func (p PoolCourseProblem) check(c *strict.Checker) {
	round := PoolProblem{Currency: p.Currency, Hours: p.Hours, Types: p.Types, Storage: p.Storage, StartupHours: p.StartupHours, Options: p.Options}
	for _, j := range p.Jobs {
		round.Jobs = append(round.Jobs, j.PoolJob)
	}
	for _, gb := range p.IncomingGB {
		round.Storage.DataGB = max(round.Storage.DataGB, gb) // data that comes later is something to rent for
	}
	round.check(c)
	rounds := p.Rounds()
	if rounds == 0 || rounds > maxPoolRounds {
		c.Refuse("jobs", "range", "There are %d rounds; give submissions of 1 to %d rounds.", rounds, maxPoolRounds)
	}
	if work := rounds * len(p.Types) * len(p.Jobs); work > 10*maxPoolPairs {
		c.Refuse("jobs", "too_many", "%d rounds of %d jobs on %d types are too many; plan fewer rounds at a time.", rounds, len(p.Jobs), len(p.Types))
	}
	c.Enter("jobs")
	for i, j := range p.Jobs {
		c.Element(i)
		c.Enter("submissions")
		for k, n := range j.Submissions {
			c.Element(k)
			if c.Number("", "The number of submissions", "", n, maxPoolWork) && n > 0 && j.Work >= minPoolWork && !(n*j.Work >= minPoolWork && n*j.Work <= maxPoolWork) {
				c.Refuse("", "range", "%s submissions of %s hours of work are %s hours; the work of a round is from %s to %s, or 0.", fault.Plain(n), fault.Plain(j.Work), fault.Plain(n*j.Work), fault.Plain(minPoolWork), fault.Plain(maxPoolWork))
			}
			c.Leave()
		}
		c.Leave()
		c.Leave()
	}
	c.Leave()
	c.Enter("incoming_gb")
	data := p.Storage.DataGB
	for k, gb := range p.IncomingGB {
		c.Element(k)
		if checkData(c, "", "The incoming data", gb) {
			if data += gb; data > maxPoolGB {
				c.Refuse("", "range", "With it there are %s GB; at most %s GB are planned.", fault.Plain(data), fault.Plain(maxPoolGB))
			}
		}
		c.Leave()
	}
	c.Leave()
	c.Enter("running")
	types := make(strict.Names, len(p.Types))
	known := make([]string, len(p.Types))
	for i, t := range p.Types {
		types[t.Name], known[i] = i, t.Name
	}
	seen := map[string]bool{}
	for i, x := range p.Running {
		c.Element(i)
		if _, is := types[x.Type]; !is {
			strict.UnknownName(c, "type", "instance type", x.Type, known)
		} else if seen[x.Type] {
			c.Refuse("type", "duplicate_name", "Running instances of %q are given twice; add them up.", fault.Clip(x.Type))
		}
		seen[x.Type] = true
		c.Whole("count", "The number of instances", "", x.Count, 0, maxPoolInstances)
		c.Leave()
	}
	c.Leave()
}
