package timetables

import (
	"fmt"
	"math"
	"math/big"
	"time"

	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/proof"
)

// FollowedCheck says that a plan has the executions which the schedule that it follows runs in its hour.
const FollowedCheck = "schedule"

// Followed checks a schedule, and that the problem of an hour has what it runs then of each class that waits. That is as many
// executions at once, of which no more are promised. With its deadline they take the VMs of their own runs, on their type of VMs.
func Followed(f timetable.Followed, p capacity.Problem, at time.Time) proof.Check {
	failed := func(format string, values ...any) proof.Check {
		return proof.Check{Name: FollowedCheck, Outcome: proof.Failed, Detail: fmt.Sprintf(format, values...)}
	}
	if wrong := Check(f.Question, f.Answer); len(wrong) > 0 {
		return failed("The schedule that the plan follows is wrong: %s: %s", wrong[0].Pointer, wrong[0].Detail)
	}
	waiting := 0
	for k, c := range f.Answer.Classes {
		if !c.Waits {
			continue
		}
		waiting++
		jobs, rate := new(big.Rat), new(big.Rat) // rate: the sum of one over what is left of each run
		all := runningAt(&f, c.Name, at)
		class := f.Question.Problem.Classes[k]
		if len(all) > 0 {
			class = class.OnType(all[0].Type)
		}
		demand := perf.PlannedDemand(class, f.Question.Problem.Options)
		fixed := ratio(demand.FixedSeconds)
		for _, s := range all {
			n := new(big.Rat).Quo(new(big.Rat).SetInt64(s.Jobs), turns(s.RunSeconds))
			jobs.Add(jobs, n)
			rest := new(big.Rat).Sub(ratio(s.RunSeconds), fixed)
			if late, vms := tooLate(&class, demand, s); !late && rest.Sign() > 0 {
				rate.Add(rate, n.Quo(n, rest))
			} else {
				rate.Add(rate, n.Mul(n, ratio(vms)))
			}
		}
		for i := range p.Classes {
			got := &p.Classes[i]
			if got.Name != c.Name {
				continue
			}
			if n := proof.Ceil(jobs).Int64(); got.Jobs.Max != float64(n) || got.Jobs.Min > got.Jobs.Max {
				return failed("The schedule runs %d executions of %q at once in the hour, and the plan has %g.", n, fault.Clip(c.Name), got.Jobs.Max)
			}
			for _, t := range p.Supply.VMTypes {
				if jobs.Sign() > 0 && got.RunsOn(t.Name) != (t.Name == all[0].Type) {
					return failed("The executions of %q run on %q, and the plan may have them on %q.", fault.Clip(c.Name), fault.Clip(all[0].Type), fault.Clip(t.Name))
				}
			}
			if jobs.Sign() == 0 || got.VMsPerJob != nil {
				continue
			}
			as := new(big.Rat).Mul(new(big.Rat).Sub(ratio(got.DeadlineSeconds), fixed), rate)
			if off := as.Sub(as, jobs); off.Abs(off).Cmp(new(big.Rat).Mul(jobs, big.NewRat(1, 1e9))) > 0 {
				return failed("The executions of %q do not take the VMs of their runs with the deadline of %g s.", fault.Clip(c.Name), got.DeadlineSeconds)
			}
		}
	}
	return proof.Check{Name: FollowedCheck, Outcome: proof.OK, Detail: fmt.Sprintf("The plan has what its schedule runs in the hour of %s, and the schedule is right.", classesOf(waiting))}
}

// runningAt lists the executions of a class that run at a moment.
func runningAt(f *timetable.Followed, class string, at time.Time) (all []*timetable.Start) {
	add := func(rows []timetable.Start) {
		for i := range rows {
			s := &rows[i]
			hours := new(big.Rat).Quo(ratio(s.RunSeconds), big.NewRat(3600, 1))
			since := big.NewRat(int64(at.Sub(s.Start)/time.Second), 3600)
			if s.Class == class && since.Sign() >= 0 && since.Cmp(new(big.Rat).SetInt64(proof.Ceil(hours).Int64())) < 0 {
				all = append(all, s)
			}
		}
	}
	if f.Question.Before != nil {
		add(f.Question.Before.Running)
	}
	add(f.Answer.Schedule)
	return all
}

func classesOf(n int) string {
	if n == 1 {
		return "1 class"
	}
	return fmt.Sprintf("%d classes", n)
}

// tooLate reports whether executions end after their run, because their class has changed since they started. It also returns
// their VMs as a part of those with which an execution of the class would do its work in a second.
func tooLate(c *capacity.Class, d capacity.Demand, s *timetable.Start) (late bool, part float64) {
	if c.VMsPerJob != nil {
		return false, 1
	}
	onMap, onReduce := math.Max(1, float64(c.SlotsPerVM.Map)), math.Max(1, float64(c.SlotsPerVM.Reduce))
	work, held := math.Sqrt(d.MapWorkSeconds/onMap)+math.Sqrt(d.ReduceWorkSeconds/onReduce), float64(s.MapSlots)/onMap+float64(s.ReduceSlots)/onReduce
	took := 0.0
	if d.MapWorkSeconds > 0 {
		took = d.MapWorkSeconds / float64(s.MapSlots)
	}
	if d.ReduceWorkSeconds > 0 {
		took += d.ReduceWorkSeconds / float64(s.ReduceSlots)
	}
	if part = 1; work > 0 {
		part = held / (work * work)
	}
	return took > (s.RunSeconds-d.FixedSeconds)*(1+1e-6), part
}
