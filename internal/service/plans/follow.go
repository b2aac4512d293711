package plans

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/recheck/timetables"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/service/plans/solving"
)

// Schedule is the schedule that the plans of a cluster follow, made for an hour and inputs of a version. The newest one is kept.
type Schedule struct {
	Hour          time.Time
	InputsVersion int64
	Followed      []byte // a timetable.Followed as JSON; nil where there is none
	Without       string // why none is followed. What the last one left is then kept
}

// Settings of schedules that plans follow.
const (
	scheduleAhead = 24 * time.Hour // beyond the longest window
	longestWait   = 72 * time.Hour // windows that are longer count as this, or as the deadline and a day
	scheduleTime  = 500 * time.Millisecond
)

// problem returns a cluster's problem at a moment, as the schedule on record has it.
func (d *Desk) problem(ctx context.Context, cluster string, at time.Time) (capacity.Problem, error) {
	if at.IsZero() {
		at = d.now()
	}
	f, err := d.onRecord(ctx, cluster, at)
	return f.problem, err
}

// onRecord returns a cluster's problem at a moment with the schedule on record.
func (d *Desk) onRecord(ctx context.Context, cluster string, at time.Time) (f followed, err error) {
	if f.snapshot, f.plain, err = d.plainProblem(ctx, cluster, at); err != nil {
		return f, err
	}
	if f.problem = f.plain; !mayWait(f.snapshot) {
		return f, nil
	}
	kept, err := d.store.Schedule(ctx, cluster)
	if err != nil {
		return f, err
	}
	f.schedule = &kept
	return f, d.lay(&f.problem, kept, at, allStarted)
}

func (d *Desk) plainProblem(ctx context.Context, cluster string, at time.Time) (snapshot inputs.Snapshot, p capacity.Problem, err error) {
	if snapshot, err = d.inputs.Snapshot(ctx, cluster, at); err != nil {
		return snapshot, p, err
	}
	if p, err = snapshot.Problem(at); err != nil {
		return snapshot, p, err
	}
	return snapshot, p, p.Validate()
}

// mayWait reports whether executions of some class may wait.
func mayWait(s inputs.Snapshot) bool {
	return slices.ContainsFunc(s.Classes, func(c inputs.PlannedClass) bool { return c.MayWait() })
}

// lay makes a problem one of what a schedule runs at a moment, if it covers that.
func (d *Desk) lay(p *capacity.Problem, kept Schedule, at time.Time, promised func(class string, started float64) float64) error {
	if kept.Followed == nil {
		return nil
	}
	f, err := readFollowed(kept.Followed)
	if err != nil {
		return fmt.Errorf("read the schedule of the hour %s: %v", kept.Hour, err) // not the caller's input
	}
	if hour := at.UTC().Truncate(time.Hour); f.Covers(hour) {
		p.Classes = slices.Clone(p.Classes)
		if kept.Without == "" {
			f.Lay(p, hour, promised)
		} else {
			f.LayBeside(p, hour, promised)
		}
	}
	return p.Validate()
}

func readFollowed(text []byte) (*timetable.Followed, error) {
	var parts struct {
		Question json.RawMessage
		Answer   timetable.Answer
		Until    time.Time
		Types    timetable.Types
	}
	if err := json.Unmarshal(text, &parts); err != nil {
		return nil, err
	}
	q, err := timetable.Read(parts.Question, capacity.Limits{})
	return &timetable.Followed{Question: q, Answer: parts.Answer, Until: parts.Until, Types: parts.Types}, err
}

// followed is a problem of a moment with the schedule that it follows, which may be new.
type followed struct {
	snapshot inputs.Snapshot
	problem  capacity.Problem
	plain    capacity.Problem // without the schedule
	schedule *Schedule        // nil where no class waits
	made     bool
}

// problemNow returns a cluster's problem at the present. Where executions may wait, it is the first hour of a schedule that is made
// anew with every hour and change.
func (d *Desk) problemNow(ctx context.Context, cluster string, at time.Time) (f followed, err error) {
	if f.snapshot, f.plain, err = d.plainProblem(ctx, cluster, at); err != nil {
		return f, err
	}
	f.problem = f.plain
	if !mayWait(f.snapshot) {
		return f, nil
	}
	kept, err := d.store.Schedule(ctx, cluster)
	if err != nil {
		return f, err
	}
	if _, err := readFollowed(kept.Followed); kept.Followed != nil && err != nil {
		kept = Schedule{} // of another version of this program, or beyond limits of now: without it there are plans again
	}
	if hour := at.UTC().Truncate(time.Hour); !kept.Hour.Equal(hour) || kept.InputsVersion != f.snapshot.Cluster.InputsVersion {
		if kept, err = d.schedule(ctx, &f, kept, hour); err != nil {
			return f, err
		}
		f.made = true
	}
	f.schedule = &kept
	return f, d.lay(&f.problem, kept, at, f.admitted)
}

// allStarted promises all that had started.
func allStarted(_ string, started float64) float64 { return started }

// admitted promises what had started, as far as the current plan admits any.
func (f *followed) admitted(class string, started float64) float64 {
	if previous := f.snapshot.Previous; previous != nil {
		return min(started, previous.Jobs[class])
	}
	return started
}

// unkept returns the schedule to store.
func (f *followed) unkept() *Schedule {
	if f.made {
		return f.schedule
	}
	return nil
}

// schedule makes the schedule from an hour on that follows on another one. What cannot be scheduled is said in it.
func (d *Desk) schedule(ctx context.Context, f *followed, last Schedule, hour time.Time) (Schedule, error) {
	made := Schedule{Hour: hour, InputsVersion: f.snapshot.Cluster.InputsVersion}
	text, err := d.makeSchedule(ctx, f.snapshot, len(f.plain.Supply.VMTypes) > 0, last, hour)
	var input *fault.InputError
	var infeasible *fault.InfeasibleError
	switch {
	case errors.As(err, &input):
		made.Without, _, _ = strings.Cut(input.Findings[0].Detail, " Ask ") // which is for whoever asks a question
	case errors.As(err, &infeasible):
		made.Without = infeasible.Conflicts[0].Detail
	case err != nil:
		return made, err
	}
	if made.Followed = text; made.Without != "" {
		made.Followed, err = paused(last, hour)
	}
	return made, err
}

// paused returns what is kept of a schedule from an hour on that is planned without one, so that a later schedule follows on it.
func paused(last Schedule, hour time.Time) ([]byte, error) {
	if last.Followed == nil {
		return nil, nil
	}
	f, err := readFollowed(last.Followed)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the schedule of the hour %s: %v", last.Hour, err)
	case !f.Covers(hour):
		return nil, nil
	case f.Until.IsZero():
		f.Until = hour
	}
	return json.Marshal(f)
}

// makeSchedule makes a schedule as JSON. Types of VMs are named where the problem of the present names them.
func (d *Desk) makeSchedule(ctx context.Context, snapshot inputs.Snapshot, named bool, last Schedule, hour time.Time) ([]byte, error) {
	var before *timetable.Followed
	if last.Followed != nil {
		var err error
		if before, err = readFollowed(last.Followed); err != nil {
			return nil, fmt.Errorf("read the schedule of the hour %s: %v", last.Hour, err)
		}
	}
	snapshot.Classes = withinReach(snapshot.Classes)
	classes := make([]capacity.Class, 0, len(snapshot.Classes))
	for _, c := range snapshot.Classes {
		class, err := snapshot.Class(c)
		if err != nil {
			return nil, err
		}
		class.Due, class.DueSeconds = c.Due, c.DueSeconds
		classes = append(classes, class)
	}
	window := horizon.Outlook{Snapshot: snapshot}
	longest := timetable.LongestWindow(&window)
	end := hour.Add(scheduleAhead + longest)
	o, err := d.inputs.Outlook(ctx, snapshot.Cluster.Name, hour, end.Add(longest))
	if err != nil {
		return nil, err
	}
	o.Classes = withinReach(o.Classes)
	told := o
	told.Until = end
	told.EndWithForecasts()
	o.Until = told.Until.Add(longest)
	var admitted map[string]float64
	if snapshot.Previous != nil {
		admitted = snapshot.Previous.Jobs
	}
	leases, err := d.store.HourLeases(ctx, snapshot.Cluster.Name, before.LeasesSince(hour), hour)
	if err != nil {
		return nil, err
	}
	types := timetable.Types{Named: named}
	for _, v := range snapshot.UsedTypes() {
		types.Names = append(types.Names, v.Name)
	}
	left := before.Leaves(hour, types, classes, admitted, leases)
	if left.VMs == nil && snapshot.Previous != nil && len(types.Names) == 1 { // those of the plan in force are there
		left.VMs = []int64{int64(snapshot.Previous.VMs)}
	}
	q, _, err := timetable.QuestionOf(o, told.Until, left)
	if err != nil {
		return nil, err
	}
	q.PlaceAll = true // plans decide what is worth its VMs
	in, leave, err := d.solver.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	in, cancel := context.WithTimeout(in, scheduleTime)
	defer cancel()
	a, err := solving.CheckedSchedule(in, q, d.solver.Engine)
	var infeasible *fault.InfeasibleError
	if errors.As(err, &infeasible) && q.Before.Unsettle(hour) { // beside what runs there is no room for all starts of the hour
		a, err = solving.CheckedSchedule(in, q, d.solver.Engine)
	}
	if errors.Is(err, timetables.ErrWrong) { // costs a saving, and no plan
		complain(ctx, d.telemetry, "a schedule failed its check; hours are planned alone", err, "cluster", snapshot.Cluster.Name)
		err = fault.At("", "wrong", "The schedule that was found failed its check, which is a fault of Headroom's. The server's log says more.")
	}
	if err != nil {
		return nil, err
	}
	if q.OneType && a.Saved.IsNegative() && len(q.Before.Waiting) == 0 { // what waits already goes on
		return nil, fault.At("", "not_taken", "In a schedule that plans follow a class runs on one VM type at a time, and here that costs more than waiting saves. Raise the quotas of the types, or use one type.")
	}
	return json.Marshal(timetable.Followed{Question: q, Answer: a, Types: types})
}

// withinReach shortens windows to what a schedule looks ahead.
func withinReach(classes []inputs.PlannedClass) []inputs.PlannedClass {
	classes = slices.Clone(classes)
	for i := range classes {
		c := &classes[i]
		c.DueSeconds = min(c.DueSeconds, max(longestWait.Seconds(), c.DeadlineSeconds+24*3600))
	}
	return classes
}

// answerFollowed answers the problem of a schedule's hour. Where promised jobs leave no room for what runs, that is no longer
// promised.
func (d *Desk) answerFollowed(ctx context.Context, f *followed, at time.Time) (record PlanRecord, err error) {
	record, err = d.answer(ctx, f.snapshot, f.problem, at)
	again, wrong := d.unpromise(f, at, err)
	switch {
	case wrong != nil:
		return record, wrong
	case again:
		return d.answer(ctx, f.snapshot, f.problem, at)
	}
	return record, err
}

// unpromise makes the problem one in which what runs is not promised, if the error says that a plan cannot keep it.
func (d *Desk) unpromise(f *followed, at time.Time, failed error) (again bool, err error) {
	var infeasible *fault.InfeasibleError
	if f.schedule == nil || f.schedule.Followed == nil || !errors.As(failed, &infeasible) {
		return false, nil
	}
	f.problem = f.plain
	return true, d.lay(&f.problem, *f.schedule, at, nil)
}

// Following is the schedule that a cluster's plans follow, or why they follow none.
type Following struct {
	MayWait  bool                `json:"may_wait"` // jobs of some class
	Without  string              `json:"without,omitempty"`
	Question *timetable.Question `json:"question,omitempty"`
	Answer   *timetable.Answer   `json:"answer,omitempty"`
}

// Following returns what a cluster's plans follow.
func (d *Desk) Following(ctx context.Context, cluster string) (f Following, err error) {
	snapshot, err := d.inputs.Snapshot(ctx, cluster, d.now())
	if err != nil {
		return f, err
	}
	kept, err := d.store.Schedule(ctx, cluster)
	f.MayWait = mayWait(snapshot)
	switch {
	case err != nil:
		return f, err
	case !f.MayWait:
		f.Without = "No class has a due_s or a due, so that nothing waits."
	case kept.Without != "":
		f.Without = kept.Without
	case kept.Followed == nil:
		f.Without = "There is no schedule yet; the next plan makes one."
	default:
		of, err := readFollowed(kept.Followed)
		if err != nil {
			return f, fmt.Errorf("read the schedule of cluster %s: %v", cluster, err)
		}
		f.Question, f.Answer = &of.Question, &of.Answer
	}
	return f, nil
}
