package study

import (
	"context"
	"fmt"
	"math"

	"headroom/internal/capacity"
	"headroom/internal/perf"
	"headroom/internal/sim"
)

const interferencePaper = "Minimizing Interference and Maximizing Progress for Hadoop Virtual Machines, 2014"

var mimp = Experiment{
	Name:   "mimp",
	About:  "deadlines and task time under max-progress, where VMs share their processors",
	Source: interferencePaper + ", table 3",
	Claim:  "Max-progress misses fewer deadlines than earliest deadline first and far fewer than first in, first out, and takes 6.4 % less task time.",
	Method: "20 VMs with 2 slots each, of which other work leaves 1 (6 VMs), 0.83 to 0.9 (6), 0.53 to 0.58 (6) and 0.15 to 0.35 (2). Six kinds of jobs come at random for 2.5 hours, a trace for each seed; the deadline is the mean time between jobs of the kind, and k-means has none. " +
		"The paper prints neither its curves nor its traces: those here are EXAMPLES of our own with the names of usual jobs, at two loads. Tasks take what their curve says of the VM, and some noise. " +
		"Every policy gets the same jobs, whose tasks draw the same numbers.",
	run: runMimp,
}

// curved is a kind of job: how much longer its tasks take with less of a processor is said by two exponentials.
type curved struct {
	name    string
	tasks   int64
	seconds float64 // of a task on a dedicated VM
	slow    float64 // the exponent of what all tasks suffer
	steep   float64 // the part that suffers much
	period  float64 // seconds between jobs, and to the deadline
	free    bool    // without a deadline
}

var curvedJobs = []curved{
	{"pi", 30, 60, 1, 0.05, 250, false},
	{"word count", 40, 45, 0.9, 0.04, 350, false},
	{"grep", 25, 38, 0.7, 0.02, 200, false},
	{"sort", 45, 60, 0.6, 0.012, 450, false},
	{"terasort", 60, 75, 0.6, 0.01, 750, false},
	{"k-means", 50, 68, 0.9, 0.035, 600, true},
}

// steepest is the exponent of the part that suffers much.
const steepest = 5

// taskTime is a kind's curve, with tasks so many times as long.
func (c curved) taskTime(scale float64) *perf.TaskTime {
	t := c.seconds * scale
	return &perf.TaskTime{A: t * (1 - c.steep) * math.Exp(c.slow), B: -c.slow, C: t * c.steep * math.Exp(steepest), D: -steepest}
}

// class is a kind's jobs, submitted at random until the end of a trace.
func (c curved) class(s *stream, scale, period, until float64) sim.Class {
	t := c.taskTime(scale)
	class := sim.Class{Name: c.name, TaskTime: t, Load: sim.Load{Kind: sim.Trace}, Tasks: sim.Tasks{Noise: &sim.Noise{Dedicated: 0.03, Loaded: 0.25}},
		Profile: capacity.Profile{MapTasks: c.tasks, MapAvgSeconds: t.Seconds(1), MapMaxSeconds: t.Seconds(1)}}
	if !c.free {
		class.DeadlineSeconds = c.period
	}
	for at := 0.0; ; {
		at += float64(-period * math.Log1p(-s.unit()))
		if at > until {
			return class
		}
		class.Load.AtSeconds = append(class.Load.AtSeconds, at)
	}
}

// interfered is the cluster of table 3 and the jobs of a trace.
func interfered(seed uint64, scale float64) sim.Input {
	const slots, trace = 2, 9000
	in := sim.Input{Seed: seed, Known: sim.KnownGiven}
	for _, n := range []struct {
		name      string
		count     int64
		low, high float64 // processors that other work keeps busy, of two
	}{{"dedicated", 6, 0, 0}, {"light", 6, .2, .35}, {"half", 6, .85, .95}, {"heavy", 2, 1.3, 1.7}} {
		in.Nodes = append(in.Nodes, sim.NodeType{Type: n.name, Count: n.count, Slots: sim.Slots{Shared: slots},
			Background: &sim.Background{Kind: sim.UniformBackground, Low: 1 - n.high/2, High: 1 - n.low/2}})
	}
	s := stream{seed}
	for _, c := range curvedJobs {
		in.Classes = append(in.Classes, c.class(&s, scale, c.period, trace))
	}
	return in
}

// progressPolicies are the policies that are compared, and what they are called.
func progressPolicies() (names []string, all []capacity.Policy) {
	cautious := 2.0
	return []string{"fifo", "edf", "max-progress, as published", "max-progress, twice the time", "max-progress"},
		[]capacity.Policy{{Kind: capacity.PolicyFIFO}, {Kind: capacity.PolicyEDF},
			{Kind: capacity.PolicyMaxProgress, Mode: capacity.ProgressPaper},
			{Kind: capacity.PolicyMaxProgress, Mode: capacity.ProgressPaper, TimeFactor: &cautious},
			{Kind: capacity.PolicyMaxProgress}}
}

func runMimp(ctx context.Context, b *bench) error {
	traces := b.instances(8, 8)
	names, policies := progressPolicies()
	scales := []float64{0.6, 0.7}
	b.total = len(scales) * traces * len(policies)
	b.Columns = []string{"task_scale", "policy", "traces", "jobs", "with_deadline", "missed", "task_hours_mean", "less_than_edf_percent", "last_end_s_mean"}
	for _, scale := range scales {
		missed, hours := make([]float64, len(policies)), make([]float64, len(policies))
		for p := range policies {
			b.drawn = 0 // the same traces
			var jobs, judged int64
			end := 0.0
			for range traces {
				in := interfered(b.nextSeed(), scale)
				in.Policy.Policy = policies[p]
				r, err := sim.Run(ctx, in, 1)
				if err != nil {
					return err
				}
				for _, c := range r.Classes {
					jobs += c.Ended
					hours[p] += c.OnNodes.TaskSeconds.Mean / 3600 / float64(traces)
					end = max(end, c.OnNodes.LastEnd.Mean)
					if c.Deadline != nil {
						judged += c.Ended
						missed[p] += float64(c.Deadline.Missed)
					}
				}
				b.step()
			}
			b.row(scale, names[p], traces, int(jobs), int(judged), missed[p], hours[p], percent(1-hours[p]/hours[min(p, 1)]), end)
		}
		at := fmt.Sprintf(", tasks times %g", scale)
		b.within("misses of fifo for each of edf"+at, "fifo far more", missed[0]/missed[1], "", 2, math.Inf(1))
		b.within("misses of max-progress beyond those of edf"+at, "fewer", missed[4]-missed[1], "", math.Inf(-1), 2)
		b.within("task time saved by max-progress against edf"+at, "6.4 %", percent(1-hours[4]/hours[1]), "%", 1, 100)
		b.within("misses of max-progress as published beyond those of edf"+at, "fewer", missed[2]-missed[1], "", 0, math.Inf(1)).
			limited("the published rule has no slack: the last tasks of jobs on track straggle on slow slots")
	}
	b.note("The published rule calls a job on track when its running tasks, taken to go on for ever at the same speed, come to enough by its deadline. That is no room for noise or for the last tasks, so it misses more deadlines than earliest deadline first. With times taken as 1.35 times as long, slots only where a task still ends in time, and other slots to whom they suit compared with elsewhere, the order of table 3 comes out. The 6.4 % of the paper need its curves.")
	return nil
}
