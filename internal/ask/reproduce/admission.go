package reproduce

import (
	"context"
	"fmt"
	"math"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/slots/sim"
)

var admission = Experiment{
	Name:   "admission",
	About:  "what it is worth to refuse jobs whose deadlines nobody can promise",
	Source: interferencePaper + ", figure 11",
	Claim:  "Above what the slots can do, earliest deadline first and max-progress miss ever more deadlines, while with admission control about as many are met as before.",
	Method: "Other work leaves 1, 0.9, 0.55 and 0.45 of 4 slots. For 30 minutes pi and terasort, with 6 and 8 tasks and deadlines of 400 to 550 s, come at random at 0.8 to 3 times the capacity of the slots. Each seed gives a trace. " +
		"The paper prints neither its curves nor its traces: those here are EXAMPLES that we have chosen ourselves, with deadlines in which about half of the jobs of an overload could be done. So what happens as the load grows is held against the paper, not how many jobs are met. " +
		"Admission kept the share of met deadlines up with every other choice that we tried. These were curves half and twice as steep, no noise and twice as much, and deadlines of 300 to 400 and 600 to 800 s; 20 sets of 24 traces each. Fewer than 60 % are met without it only if deadlines are not much longer. Strictly admitted jobs miss less than 3 % only if noise is no larger, and tasks are no larger a part of the time until their deadline. With twice the noise up to 4.6 % miss theirs, with the shorter deadlines up to 5.3 %. " +
		"Jobs run until all are done; a rejected one is neither met nor missed. " +
		"Admission is as the paper has it (the new job's own deadline, with max-progress as published) and strict (no accepted job may miss its deadline for a new one, with max-progress as we have it).",
	run: runAdmission,
}

var admittedJobs = []curved{
	{"pi", 6, 60, 1, 0.05, 0, false},
	{"terasort", 8, 70, 0.6, 0.01, 0, false},
}

// soughtAfter returns the cluster of figure 11, with jobs for load times its capacity.
func soughtAfter(seed uint64, load float64) sim.Input {
	in := sim.Input{Seed: seed, Known: sim.KnownGiven}
	residuals := []float64{1, 0.9, 0.55, 0.45}
	in.Nodes = []sim.NodeType{{Type: "vm", Count: 4, Slots: sim.Slots{Shared: 1}, Background: &sim.Background{Kind: sim.ConstantBackground, Residual: residuals}}}
	s := study.Stream{State: seed}
	for _, j := range admittedJobs {
		work := 0.0 // slot seconds of a job, on the average slot
		for _, r := range residuals {
			work += float64(j.tasks) * j.taskTime(1).Seconds(r) / 4
		}
		class := j.class(&s, 1, work/4/load*float64(len(admittedJobs)), 1800, 1)
		class.Deadlines = &sim.Deadlines{Low: 400, High: 550}
		in.Classes = append(in.Classes, class)
	}
	return in
}

func runAdmission(ctx context.Context, b *bench) error {
	traces := b.instances(24, 24)
	loads := points(b, []float64{0.8, 1, 1.5, 2, 3}, []float64{1, 3})
	b.ran("at 0.8 to 3 times", fmt.Sprintf("at %g to 3 times", loads[0]))
	type course struct {
		name   string
		policy sim.Policy
	}
	published := dispatch.PolicyConfig{Kind: dispatch.PolicyMaxProgress, Mode: dispatch.ProgressPaper}
	ours := dispatch.PolicyConfig{Kind: dispatch.PolicyMaxProgress}
	courses := []course{
		{"edf", sim.Policy{PolicyConfig: dispatch.PolicyConfig{Kind: dispatch.PolicyEDF}}},
		{"max-progress, as published", sim.Policy{PolicyConfig: published}},
		{"as published, admission of the paper", sim.Policy{PolicyConfig: published, Admission: dispatch.AdmissionPaper}},
		{"max-progress, strict admission", sim.Policy{PolicyConfig: ours, Admission: dispatch.AdmissionStrict}},
	}
	b.total = len(loads) * len(courses) * traces
	b.Columns = []string{"load", "policy", "traces", "jobs_mean", "met_mean", "missed_mean", "rejected_mean"}
	met := map[string]map[float64]float64{}
	missed, admitted := 0.0, 0.0 // with strict admission
	for _, load := range loads {
		for _, c := range courses {
			b.drawn = 0 // the same traces
			var jobs, late, rejected float64
			for range traces {
				in := soughtAfter(b.nextSeed(), load)
				in.Policy = c.policy
				r, err := b.Simulate(ctx, in, 1)
				if err != nil {
					return err
				}
				for _, class := range r.Classes {
					jobs += float64(class.Submitted) / float64(traces)
					late += float64(class.Deadline.Missed) / float64(traces)
					rejected += float64(class.OnNodes.Rejected) / float64(traces)
				}
				b.step()
			}
			if met[c.name] == nil {
				met[c.name] = map[float64]float64{}
			}
			met[c.name][load] = jobs - late - rejected
			if c.policy.Admission == dispatch.AdmissionStrict {
				missed, admitted = missed+late, admitted+jobs-rejected
			}
			b.row(load, c.name, traces, jobs, jobs-late-rejected, late, rejected)
		}
	}
	for i, c := range courses {
		ratio := met[c.name][3] / met[c.name][1]
		figure := fmt.Sprintf("met at load 3 as a part of those at load 1, %s", c.name)
		claim := printed{protocol: "Four slots that other work leaves in part, two kinds of jobs for 30 minutes. Curves and traces are not printed.",
			ours:    "The same in a simulator, with curves, traces and deadlines of our own.",
			departs: "The paper prints neither its curves nor its traces."}
		switch i {
		case 0:
			claim.name, claim.says = "edf", "Earliest deadline first meets fewer deadlines in an overload."
			claim.least, claim.most = -noLimit, 1
			b.judge(b.within(figure, "few", ratio, "", 0, 0.6), claim)
		case 1:
			claim.name, claim.says = "max-progress", "Max-progress meets fewer deadlines in an overload."
			claim.least, claim.most = -noLimit, 1
			b.judge(b.within(figure, "few", ratio, "", 0, 0.6), claim)
		case 2:
			claim.name, claim.says = "admission", "With admission control about as many deadlines are met as without an overload."
			claim.least, claim.most = 0.9, noLimit
			b.judge(b.within(figure, "about as many", ratio, "", 0.9, math.Inf(1)), claim)
		default:
			b.within(figure, "", ratio, "", 0.9, math.Inf(1))
		}
	}
	b.within("admitted jobs that miss their deadline, strict admission", "", percent(missed/admitted), "%", 0, 3)
	return nil
}
