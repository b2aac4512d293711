// Package drive carries plans out in an engine that runs the jobs. It keeps the engine's limit of jobs at once, for
// each class, at the places of the plan, and tells waiting jobs why they wait. It never cancels a job.
package drive

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// Plan holds what a plan means for an engine.
type Plan struct {
	Number int64
	Places map[string]int64   // by class: how many of its jobs may run at once
	Shares map[string]float64 // by class: the VMs that its jobs have
	Total  float64            // VMs of all classes
	VMs    map[string]int64   // by type, of those whose nodes follow the plan: how many run now, or must be asked for by now
	Unsure error              // why what comes is not known; then no node is given back

	Gone []string // classes that the plan before had, and this one has not

	Later map[string]time.Time // by class without places: when VMs are planned for it next, where that is known
}

// State holds what an engine was seen to do.
type State struct {
	Limits  map[string]Limit // by class; none where the engine does not know the class
	Running map[string]int64 // places that running jobs take, by class
	Jobs    []Job            // those that are told something, or wait for a place
	Nodes   map[string]Nodes // by VM type
}

// Nodes are the nodes of a VM type.
type Nodes struct {
	Run  int64    // that are there or about to be, and stay
	Idle []string // those of them without a job
	Off  []string // that could be there
}

// Limit is an engine's own limit of a class.
type Limit struct {
	Places int64
	Most   int64  // the highest that the engine's settings allow
	By     string // what keeps it, in the engine's words

	// What the class may take of the cluster, and what it may by the plan, in the engine's words. Both are empty where
	// the engine limits jobs alone.
	Room, PlanRoom string
}

// Unlimited is the number of places of a class that the engine does not limit.
const Unlimited = math.MaxInt32

// Job is a job of a class in an engine.
type Job struct {
	ID, Class string
	Waits     int64  // places of its class that it waits for; 0 where it waits for something else
	Told      string // the sentence that stands at it
}

// Engine is a scheduler that keeps limits by itself, so that they hold while nobody drives it.
type Engine interface {
	// Observe looks at the engine; the plan says of which classes.
	Observe(ctx context.Context, p Plan) (State, error)
	// Limit sets the limits of classes in this order, or all at once. It returns an error, or nil, for each.
	Limit(ctx context.Context, steps []Step) []error
	// Power asks for nodes, or gives back nodes once they have no job.
	Power(ctx context.Context, nodes []string, on bool) error
	// Tell puts a sentence at a job; "" takes it away.
	Tell(ctx context.Context, job, sentence string) error
	// Measure says what runs, and which jobs of the classes ended in a while.
	Measure(ctx context.Context, classes []string, from, until time.Time) (Measured, error)
}

// Step is one thing to do.
type Step struct {
	Class    string
	From, To int64  // places, or nodes of a type, where no job is told anything
	Before   string // what the class might take of the cluster, where the engine limits that
	Room     string // what it may take now
	Taken    int64  // places, where running jobs take more than To
	Job      string // the job that is told
	Sentence string
	Type     string // the VM type whose nodes change, instead of a class
	Nodes    []string
}

// most bounds the jobs told in one turn: telling one takes some 10 ms. The others have their turn later.
const most = 200

// mostNodes bounds the nodes of a type that are asked for, or given back, in one turn.
const mostNodes = 50

// Compare returns what brings an engine from a state to a plan, and sentences about what the engine lacks. Limits that
// fall come first, so that classes together are never given more than the plan has.
func Compare(p Plan, s State) (steps []Step, lacks []string) {
	var raised []Step
	places := map[string]int64{}
	for _, class := range slices.Sorted(maps.Keys(p.Places)) {
		want := p.Places[class]
		limit, known := s.Limits[class]
		if !known {
			lacks = append(lacks, fmt.Sprintf("The engine has no limit for the class %q, so its jobs are not held to the plan's %s.",
				class, counted(want, "place")))
			continue
		}
		if want > limit.Most {
			lacks = append(lacks, fmt.Sprintf("The plan has %s for the class %q, and the engine's settings allow %d.",
				counted(want, "place"), class, limit.Most))
			want = limit.Most
		}
		places[class] = want
		step := Step{Class: class, From: limit.Places, To: want, Before: limit.Room, Room: limit.PlanRoom}
		if taken := s.Running[class]; taken > want {
			step.Taken = taken
		}
		switch {
		case want < limit.Places:
			steps = append(steps, step)
		case want > limit.Places || limit.Room != limit.PlanRoom:
			raised = append(raised, step)
		}
	}
	steps = append(steps, raised...)
	powered, missing := power(p, s)
	steps, lacks = append(steps, powered...), append(lacks, missing...)
	told := 0
	for _, j := range s.Jobs {
		sentence := ""
		if n, planned := places[j.Class]; planned && j.Waits > 0 {
			sentence = waiting(j, s.Running[j.Class], n, p)
		}
		if sentence != j.Told && told < most {
			steps = append(steps, Step{Class: j.Class, Job: j.ID, Sentence: sentence})
			told++
		}
	}
	return steps, lacks
}

func counted(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// power returns what brings the nodes of each type to the plan. Nodes without jobs are given back, the last first.
func power(p Plan, s State) (steps []Step, lacks []string) {
	for _, vmType := range slices.Sorted(maps.Keys(p.VMs)) {
		want, of := p.VMs[vmType], s.Nodes[vmType]
		step := Step{Type: vmType, From: of.Run, To: want}
		switch more := want - of.Run; {
		case more > 0:
			step.Nodes = of.Off[:min(more, mostNodes, int64(len(of.Off)))]
			if more > int64(len(of.Off)) {
				lacks = append(lacks, fmt.Sprintf("The plan has %s of the type %q, and the engine can have %s of it.",
					counted(want, "VM"), vmType, counted(of.Run+int64(len(of.Off)), "node")))
			}
		case more < 0 && p.Unsure == nil:
			step.Nodes = of.Idle[max(0, int64(len(of.Idle))-min(-more, mostNodes)):]
		}
		if len(step.Nodes) > 0 {
			steps = append(steps, step)
		}
	}
	if p.Unsure != nil {
		lacks = append(lacks, "It is not known how many VMs are needed next, so no node is given back: "+p.Unsure.Error())
	}
	return steps, lacks
}

// waiting says why a job waits for places of its class; "" is that it need not.
func waiting(j Job, taken, places int64, p Plan) string {
	plan := p.Number
	switch later, known := p.Later[j.Class]; {
	case slices.Contains(p.Gone, j.Class):
		return fmt.Sprintf("the class %s is no longer in the plan.", j.Class)
	case places == 0 && known:
		from := later.UTC().Format("2006-01-02 15:04 UTC")
		return fmt.Sprintf("plan %d has no place for the class %s; VMs for it are planned from %s on.", plan, j.Class, from)
	case places == 0:
		return fmt.Sprintf("plan %d has no place for the class %s.", plan, j.Class)
	case taken > places:
		return fmt.Sprintf("%d places of %s are taken, and plan %d has %d.", taken, j.Class, plan, places)
	case taken == places && places == 1:
		return fmt.Sprintf("the one place of %s is taken, and plan %d has no other.", j.Class, plan)
	case taken == places:
		return fmt.Sprintf("%d of %d places of %s are taken, as many as plan %d has.", taken, places, j.Class, plan)
	case taken+j.Waits > places:
		return fmt.Sprintf("plan %d has %s of %s with %d free, and this job asks for %d.",
			plan, counted(places, "place"), j.Class, places-taken, j.Waits)
	}
	return ""
}

// Driver drives an engine by the plans of a cluster.
type Driver struct {
	Plan   func(ctx context.Context) (Plan, error) // reads the current plan
	Engine Engine
	DryRun bool                             // says what would be done, and does nothing
	Did    func(s Step, dry bool)           // is told of each step
	Warn   func(sentence string, err error) // is told of what goes wrong, once while it lasts; the sentence may say the error
	Saw    func(p Plan, s State)            // is told what a dry run saw, if it is there
	Tell   func(sentence string)            // is told which driver acts, when that changes

	Ended    func(ctx context.Context, list string) error             // keeps past jobs
	Observed func(ctx context.Context, nodes, processors int64) error // keeps what runs now

	// Lead asks to act alone for so long; where another driver acts it says which.
	Lead func(ctx context.Context, lasts time.Duration) (other string, err error)

	said     map[string]bool
	planned  []string         // classes of the plan before
	left     map[string]Limit // the limits that the turn before left
	leads    string           // what was said last about who acts
	measured measuring
}

// Turn looks, compares and acts once. Where the plan or the engine cannot be had, what the engine keeps stays.
func (d *Driver) Turn(ctx context.Context) error {
	now := map[string]bool{}
	defer func() { d.said = now }()
	warn := func(sentence string, err error) {
		if !d.said[sentence] && !now[sentence] {
			d.Warn(sentence, err)
		}
		now[sentence] = true
	}
	p, err := d.Plan(ctx)
	if err != nil {
		warn("The plan cannot be read, and the engine keeps what it has", err)
		return err
	}
	classes := slices.Sorted(maps.Keys(p.Places))
	gone := slices.DeleteFunc(slices.Clone(d.planned), func(class string) bool { return slices.Contains(classes, class) })
	p.Places, p.Gone = maps.Clone(p.Places), gone
	for _, class := range gone {
		p.Places[class] = 0
	}
	s, err := d.Engine.Observe(ctx, p)
	if err != nil {
		warn("The engine does not answer", err)
		return err
	}
	for _, class := range gone { // once: whoever then takes its limit away meets nobody
		if _, known := s.Limits[class]; !known {
			delete(p.Places, class)
			continue
		}
		warn(fmt.Sprintf("The plan has no class %q any more, so no further job of it starts.", class), nil)
	}
	if d.DryRun && d.Saw != nil {
		d.Saw(p, s)
	}
	for _, sentence := range d.changed(s.Limits) {
		warn(sentence, nil)
	}
	steps, lacks := Compare(p, s)
	for _, sentence := range lacks {
		warn(sentence, nil)
	}
	if d.left = maps.Clone(s.Limits); d.DryRun {
		d.left = nil
	}
	failed := d.act(ctx, steps, warn)
	if len(failed) == 0 {
		d.planned = classes
	}
	if !d.DryRun {
		if err := d.measure(ctx, classes, time.Now()); err != nil {
			warn("What the engine measured is not kept yet", err)
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// changed tells of the limits that are not as the turn before left them. Engines whose settings changed count anew.
func (d *Driver) changed(now map[string]Limit) (sentences []string) {
	for _, class := range slices.Sorted(maps.Keys(now)) {
		was, known := d.left[class]
		if is := now[class]; known && is.Most == was.Most && is.Places != was.Places {
			sentences = append(sentences, fmt.Sprintf("Somebody else set the class %q from %d to %s in the engine (%s). Does another cluster drive it too?",
				class, was.Places, counted(is.Places, "place"), is.By))
		}
	}
	return sentences
}

// act takes the steps, of which those of limits come first. What the engine refuses does not keep it from the others.
func (d *Driver) act(ctx context.Context, steps []Step, warn func(string, error)) (failed []error) {
	done := func(step Step, err error) {
		if err != nil {
			warn("The engine refused a step: "+err.Error(), err)
			failed = append(failed, err)
			delete(d.left, step.Class)
			return
		}
		if left, limited := d.left[step.Class]; limited && step.Job == "" {
			left.Places = step.To
			d.left[step.Class] = left
		}
		d.Did(step, d.DryRun)
	}
	limits := 0
	for limits < len(steps) && steps[limits].Job == "" && steps[limits].Type == "" {
		limits++
	}
	errs := make([]error, limits)
	if limits > 0 && !d.DryRun {
		errs = d.Engine.Limit(ctx, steps[:limits])
	}
	for i, err := range errs {
		done(steps[i], err)
	}
	for _, step := range steps[limits:] {
		var err error
		switch {
		case d.DryRun:
		case step.Job != "":
			err = d.Engine.Tell(ctx, step.Job, step.Sentence)
		default:
			err = d.Engine.Power(ctx, step.Nodes, step.To > step.From)
		}
		done(step, err)
	}
	return failed
}

// Times of acting alone. A driver that is killed has its place for leadLasts, and the others look after leadEvery.
const (
	leadLasts = 10 * time.Second
	leadEvery = 3 * time.Second
	leadSpare = time.Second // for a command that is under way when the time is over
)

// Run takes a turn after each pause in which it is the driver that acts, until ctx ends. A turn ends with its time to act.
func (d *Driver) Run(ctx context.Context, pause time.Duration) {
	var next time.Time
	for ctx.Err() == nil {
		began := time.Now()
		alone, stop := context.WithDeadline(ctx, began.Add(leadLasts-leadSpare))
		if other, err := d.Lead(alone, leadLasts); d.acts(other, err) && !time.Now().Before(next) {
			next = time.Now().Add(pause)
			_ = d.Turn(alone) // it was said
		}
		stop()
		select {
		case <-ctx.Done():
		case <-time.After(min(pause, leadEvery)):
		}
	}
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), leadEvery)
	defer stop()
	_, _ = d.Lead(last, 0) // otherwise the others wait a little longer
}

// acts says who acts where that has changed, and reports whether this driver does.
func (d *Driver) acts(other string, err error) bool {
	now := "This driver acts"
	switch {
	case err != nil:
		now = "Headroom cannot be asked which driver acts, and this one waits"
	case other != "":
		now = fmt.Sprintf("Another driver acts, %s, and this one waits", other)
	}
	switch {
	case now == d.leads:
	case err != nil:
		d.Warn(now, err)
	case other != "" || d.leads != "":
		d.Tell(now)
	}
	d.leads = now
	if other != "" {
		d.left = nil // that one may change the limits
	}
	return err == nil && other == ""
}
