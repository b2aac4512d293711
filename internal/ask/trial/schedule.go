package trial

import (
	"fmt"
	"slices"

	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/strict"
	"example.org/headroom/internal/core/words"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/slots/sim"
)

// ScheduleQuestion asks whether a schedule holds. Its executions run on the slots that it gives them.
type ScheduleQuestion struct {
	timetable.Question
	Options ScheduleOptions `json:"options"`
}

// ClusterScheduleQuestion asks it of a schedule of the coming time of a cluster.
type ClusterScheduleQuestion struct {
	timetable.ClusterQuestion
	Options ScheduleOptions `json:"options"`
}

// ScheduleOptions configures the trial of a schedule, as SimulationOptions do that of a plan.
type ScheduleOptions struct {
	Seed         int64                         `json:"seed"`
	Replications int64                         `json:"replications"`
	Durations    SimulatedDurations            `json:"durations"`
	Slow         float64                       `json:"slow,omitzero"`
	SlowBy       float64                       `json:"slow_by,omitzero"`
	Measured     map[string]perf.MeasuredTasks `json:"measured,omitempty"` // by class
}

// DefaultSchedule returns the default options.
func DefaultSchedule() ScheduleOptions {
	return ScheduleOptions{Seed: 1, Replications: 10, Durations: MeasuredDurations}
}

var (
	scheduleShape        = timetable.Shape("a simulation of a schedule", nil, "options", "budgets")
	clusterScheduleShape = strict.NewShape("a simulation of a schedule", nil, "from", "until", "scenario", "options", "budgets")
	scheduleOptionsShape = strict.NewShape("options of a simulation of a schedule", nil, "seed", "replications", "durations", "slow", "slow_by", "measured")
)

// ReadSchedule reads a question that includes its data.
func ReadSchedule(data []byte, limits capacity.Limits, overrides ...func(*capacity.Options)) (q ScheduleQuestion, err error) {
	q.Options = DefaultSchedule()
	q.Question, err = timetable.ReadWith(data, scheduleShape, limits, map[string]func(*strict.Reader){
		"options": func(r *strict.Reader) { readScheduleOptions(r, &q.Options) },
	}, overrides...)
	if err != nil {
		return ScheduleQuestion{}, err
	}
	return q, q.Options.CheckFor(&q.Problem)
}

// ReadClusterSchedule reads a question about a cluster.
func ReadClusterSchedule(data []byte) (q ClusterScheduleQuestion, err error) {
	q.Options = DefaultSchedule()
	r := strict.NewReader(data)
	r.Object(clusterScheduleShape, func(name string) {
		if name == "options" {
			readScheduleOptions(r, &q.Options)
		} else {
			q.Read(r, name)
		}
	})
	r.End()
	if err = r.Result(q.Check); err == nil {
		err = q.Options.Check()
	}
	return q, err
}

func readScheduleOptions(r *strict.Reader, o *ScheduleOptions) {
	all := o.simulation()
	readOptions(r, scheduleOptionsShape, &all)
	*o = ScheduleOptions{all.Seed, all.Replications, all.Durations, all.Slow, all.SlowBy, all.Measured}
}

// simulation returns the options of a simulation that draws tasks in the same way.
func (o *ScheduleOptions) simulation() SimulationOptions {
	all := DefaultSimulation()
	all.Seed, all.Replications, all.Durations, all.Slow, all.SlowBy, all.Measured = o.Seed, o.Replications, o.Durations, o.Slow, o.SlowBy, o.Measured
	all.Lending = LendNone
	return all
}

// Check checks options by themselves, and CheckFor also against a problem.
func (o *ScheduleOptions) Check() error {
	all := o.simulation()
	return all.Check()
}

// CheckFor checks options against a problem.
func (o *ScheduleOptions) CheckFor(p *capacity.Problem) error {
	if err := o.Check(); err != nil {
		return err
	}
	all := o.simulation()
	return all.CheckFor(p)
}

// ScheduleAnswer tells what became of a schedule's executions.
type ScheduleAnswer struct {
	Sentence     string          `json:"sentence"`
	Options      ScheduleOptions `json:"options"`
	Status       capacity.Status `json:"status"` // of the schedule
	Currency     string          `json:"currency"`
	Bill         money.Amount    `json:"bill"`
	Replications int64           `json:"replications"` // finished ones
	TriedFigures
	Classes  []TriedClass       `json:"classes"`
	Warnings []capacity.Warning `json:"warnings"`
}

// TriedFigures counts executions of all replications. AtLeast is the part that the executions show with a confidence of 0.95.
type TriedFigures struct {
	Executions int64   `json:"executions"`
	InTime     int64   `json:"in_time"`         // ended by when they are due, and ran no longer than their deadline
	AsLong     int64   `json:"as_planned"`      // ended while the schedule has VMs for them
	Met        float64 `json:"met"`             // part in time
	AtLeast    float64 `json:"met_at_least"`    // of all executions like these
	PlannedVMs float64 `json:"vm_hours"`        // that the schedule has for them, in a replication on average
	LongerVMs  float64 `json:"vm_hours_longer"` // that they hold longer
}

// TriedClass holds the figures of a class.
type TriedClass struct {
	Name               string `json:"name"`
	MeasuredExecutions int64  `json:"measured_executions"` // behind its task times; 0: by the profile
	TriedFigures
}

// ScheduleTrial is a schedule being tried. Any number of workers take replications until none is left.
type ScheduleTrial struct {
	question ScheduleQuestion
	answer   timetable.Answer
	trial    Trial // draws tasks
	groups   []*timed
	turns    // of the groups' simulations
	warnings []capacity.Warning
}

// timed holds executions of a class on the same slots. Each runs on its own, so that the simulator has them all at once.
type timed struct {
	class  int
	rows   []timetable.Held
	counts []tally // by replication
}

// tally counts a replication.
type tally struct {
	executions, inTime, asLong int64
	planned, longer            float64 // VM-seconds
}

// confidence is that of what executions show.
const confidence = 0.95

// NewSchedule prepares the trial of a schedule. past holds the past task times by class.
func NewSchedule(q ScheduleQuestion, a timetable.Answer, past map[string]PastTasks) (*ScheduleTrial, error) {
	t := &ScheduleTrial{question: q, answer: a, trial: Trial{problem: q.Problem, options: q.Options.simulation(), past: past}}
	left, jobs := map[int]bool{}, int64(0)
	for _, h := range q.Held(a.Schedule) {
		if q.Problem.Classes[h.Class].Profile == nil {
			left[h.Class] = true
			continue
		}
		jobs += h.Jobs
		t.add(h)
	}
	for k := range q.Problem.Classes {
		if left[k] {
			t.warnings = append(t.warnings, capacity.Warning{Code: "left_out", Detail: fmt.Sprintf("Class %q has no profile, so that nothing is known of its tasks: its executions are left out.", fault.Clip(q.Problem.Classes[k].Name))})
		}
	}
	if jobs > MaxJobs {
		return nil, refuse("/periods", "too_many", "The schedule starts %d executions; %d can be simulated. Ask for a shorter time.", jobs, MaxJobs)
	}
	if jobs == 0 {
		return nil, refuse("/problem/classes", "premise", "The schedule starts no execution whose tasks are known, so that there is nothing to simulate. Give classes with a profile, and arrivals of them.")
	}
	for n, g := range t.groups {
		if err := t.ready(n, g); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// add puts executions that start together to others on the same slots.
func (t *ScheduleTrial) add(h timetable.Held) {
	at := slices.IndexFunc(t.groups, func(g *timed) bool {
		first := &g.rows[0]
		return g.class == h.Class && first.Type == h.Type && first.MapSlots == h.MapSlots && first.ReduceSlots == h.ReduceSlots
	})
	if at < 0 {
		at, t.groups = len(t.groups), append(t.groups, &timed{class: h.Class})
	}
	t.groups[at].rows = append(t.groups[at].rows, h)
}

// ready makes the simulation of executions on the same slots.
func (t *ScheduleTrial) ready(number int, g *timed) error {
	first, jobs := &g.rows[0], int64(0)
	ends := make([]int64, len(g.rows)) // executions of a row and those before it
	for i := range g.rows {
		jobs += g.rows[i].Jobs
		ends[i] = jobs
	}
	class := t.question.Problem.Classes[g.class].OnType(first.Type)
	slots := sim.Slots{Map: jobs * first.MapSlots, Reduce: jobs * first.ReduceSlots}
	in := sim.Input{
		Slots: slots, Policy: sim.Policy{PolicyConfig: dispatch.PolicyConfig{Kind: dispatch.PolicyKind(SimulateFair)}, Lending: sim.LendNone},
		Classes: []sim.Class{{Name: class.Name, Profile: *class.Profile, Slots: &slots, Jobs: jobs, Load: sim.Load{Kind: sim.Batch, Jobs: jobs}, Tasks: t.trial.tasks(&class, first.Type)}},
		Seed:    uint64(t.question.Options.Seed) + uint64(number), Replications: int(t.question.Options.Replications),
	}
	work, err := sim.New(in)
	if err != nil {
		return fault.Move(err, func(string) string { return fmt.Sprintf("/problem/classes/%d/profile", g.class) })
	}
	t.works, g.counts = append(t.works, work), make([]tally, t.question.Options.Replications)
	work.Finished = func(replication int, x sim.Execution) { // one worker makes each replication
		row, _ := slices.BinarySearch(ends, int64(x.Number))
		g.counts[replication].count(&g.rows[row], x.FinishedSeconds)
	}
	return nil
}

// count takes in an execution that ran for some seconds.
func (c *tally) count(h *timetable.Held, seconds float64) {
	c.executions++
	if seconds <= h.DueSeconds*(1+capacity.PremiseSlack) {
		c.inTime++
	}
	c.planned += h.VMs * h.ForSeconds
	if seconds <= h.ForSeconds*(1+capacity.PremiseSlack) {
		c.asLong++
	} else {
		c.longer += h.VMs * (seconds - h.ForSeconds)
	}
}

// Answer returns the outcome of the finished replications.
func (t *ScheduleTrial) Answer() ScheduleAnswer {
	whole := t.Whole()
	a := ScheduleAnswer{Options: t.question.Options, Status: t.answer.Status, Currency: t.answer.Currency, Bill: t.answer.Cost.Bill, Replications: int64(len(whole)),
		Classes: []TriedClass{}, Warnings: append([]capacity.Warning{}, t.warnings...)}
	if a.Replications < t.question.Options.Replications {
		a.Warnings = append(a.Warnings, capacity.Warning{Code: "ended", Detail: fmt.Sprintf("The simulation was ended when %d of its %d replications were finished; the figures are of those.", a.Replications, t.question.Options.Replications)})
	}
	a.TriedFigures = t.figures(whole, func(int) bool { return true })
	for k := range t.question.Problem.Classes {
		of := func(class int) bool { return class == k }
		if slices.ContainsFunc(t.groups, func(g *timed) bool { return of(g.class) }) {
			name := t.question.Problem.Classes[k].Name
			a.Classes = append(a.Classes, TriedClass{Name: name, MeasuredExecutions: t.trial.measured(name), TriedFigures: t.figures(whole, of)})
		}
	}
	a.Sentence = a.sentence()
	return a
}

// figures adds up replications of some classes.
func (t *ScheduleTrial) figures(whole []int, of func(class int) bool) (f TriedFigures) {
	judged := make([]sim.Figures, len(whole))
	for n, replication := range whole {
		for _, g := range t.groups {
			if !of(g.class) {
				continue
			}
			c := &g.counts[replication]
			f.Executions, f.InTime, f.AsLong = f.Executions+c.executions, f.InTime+c.inTime, f.AsLong+c.asLong
			f.PlannedVMs, f.LongerVMs = f.PlannedVMs+c.planned/3600/float64(len(whole)), f.LongerVMs+c.longer/3600/float64(len(whole))
			judged[n].Judged, judged[n].Missed = judged[n].Judged+c.executions, judged[n].Missed+c.executions-c.inTime
		}
	}
	x := show(judged, confidence)
	f.Met, f.AtLeast = x.share, x.low
	return f
}

func (a *ScheduleAnswer) sentence() string {
	if a.Executions == 0 {
		return "No replication was finished."
	}
	late := fmt.Sprintf("%s of %s executions end in time (%d of %d), and at least %s %% of such executions do.", Percent(a.Met)+" %", words.Number(float64(a.Executions)), a.InTime, a.Executions, Percent(a.AtLeast))
	if a.InTime == a.Executions {
		late = fmt.Sprintf("All %s executions end in time; at least %s %% of such executions do.", words.Number(float64(a.Executions)), Percent(a.AtLeast))
	}
	if a.AsLong == a.Executions {
		return late + " Each ends while the schedule has VMs for it."
	}
	longer := fmt.Sprintf("%.1f VM-hours", a.LongerVMs)
	if a.LongerVMs < 0.05 {
		longer = "less than 0.1 VM-hours"
	}
	return late + fmt.Sprintf(" %s %% end while the schedule has VMs for them; the others hold VMs for %s more on average, beside %.1f planned.",
		Percent(float64(a.AsLong)/float64(a.Executions)), longer, a.PlannedVMs)
}
