package pool

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

// runningNames names the types of running instances, by their type: these work from the round's start on. No other
// type has such a name.
func runningNames(types []PoolType) map[string]string {
	taken, names := map[string]bool{}, map[string]string{}
	for _, t := range types {
		taken[t.Name] = true
	}
	for i, t := range types {
		name := t.Name + " (running)"
		for n := i; taken[name] || utf8.RuneCountInString(name) > strict.MaxNameLength; n++ {
			name = fmt.Sprintf("running instances %d", n)
		}
		taken[name], names[t.Name] = true, name
	}
	return names
}

// Planner plans one round of a course.
type Planner func(ctx context.Context, p PoolProblem) (PoolPlan, error)

// Course plans round by round: for the jobs submitted in a round and the data at its end, beside the core instances
// left running by the round before. An impossible round gives its reasons and changes nothing. After each round it
// calls tell with the number done.
func Course(ctx context.Context, p PoolCourseProblem, plan Planner, tell func(done, total int64)) (PoolCourse, error) {
	if err := p.Validate(); err != nil {
		return PoolCourse{}, err
	}
	c := PoolCourse{Status: PoolOptimal, Proved: true, Rounds: []PoolRound{}, Warnings: []capacity.Warning{}}
	running := map[string]int64{}
	for _, x := range p.Running {
		running[x.Type] = x.Count
	}
	startups := slices.ContainsFunc(p.Types, func(t PoolType) bool {
		return *cmp.Or(t.StartupHours, &p.StartupHours) > 0
	})
	names, types := runningNames(p.Types), map[string]string{}
	for name, running := range names {
		types[running] = name
	}
	data, rounds := p.Storage.DataGB, p.Rounds()
	for n := range rounds {
		if n < len(p.IncomingGB) {
			data += p.IncomingGB[n]
		}
		from := int64(n) * p.Hours
		round := PoolRound{FromHour: from, UntilHour: from + p.Hours, DataGB: data, Changes: []PoolChange{}}
		problem := roundProblem(p, n, data, running, names, startups)
		if len(problem.Jobs) == 0 && data == 0 {
			round.Plan = PoolPlan{Status: PoolOptimal, PoolOutcome: (&model{}).empty()}
			round.Plan.Hours = new(float64)
		} else {
			answer, err := plan(ctx, problem)
			if err != nil {
				return PoolCourse{}, fmt.Errorf("plan the round from hour %d on: %w", from, err)
			}
			round.Plan = joined(answer, types)
		}
		switch {
		case round.Plan.Status == PoolInfeasible:
			c.Status = PoolInfeasible
		case round.Plan.Status == PoolFeasible && c.Status == PoolOptimal:
			c.Status = PoolFeasible
		}
		c.Proved = c.Proved && round.Plan.Status == PoolOptimal && !startups
		if round.Plan.Status != PoolInfeasible {
			c.Cost.Decimal = c.Cost.Add(round.Plan.Cost.Decimal)
			next := map[string]int64{}
			for _, x := range round.Plan.Mix.Core {
				next[x.Type] = x.Count
			}
			round.Changes = changes(from, running, next, round.Plan.Mix.Accelerators)
			running = next
		}
		c.Rounds = append(c.Rounds, round)
		tell(int64(n+1), int64(rounds))
	}
	return c, nil
}

// roundProblem returns the problem of a round. If instances take time to start, the running ones of a type are a type
// of their own, which starts at once.
func roundProblem(p PoolCourseProblem, n int, data float64, running map[string]int64, names map[string]string, startups bool) PoolProblem {
	q := PoolProblem{Currency: p.Currency, Hours: p.Hours, Storage: p.Storage, StartupHours: p.StartupHours, Options: p.Options}
	q.Storage.DataGB = data
	twice := map[string]bool{}
	for _, t := range p.Types {
		if count := running[t.Name]; startups && t.Core && count > 0 {
			highest := int64(maxPoolInstances)
			if t.Most != nil {
				highest = *t.Most
			}
			same, left, none := min(count, highest), max(0, highest-count), 0.0
			old := t
			old.Name, old.Accelerator, old.Most, old.StartupHours = names[t.Name], false, &same, &none
			q.Types = append(q.Types, old)
			t.Most, twice[t.Name] = &left, true
		}
		q.Types = append(q.Types, t)
	}
	for _, j := range p.Jobs {
		if n >= len(j.Submissions) || j.Submissions[n] == 0 {
			continue
		}
		job := j.PoolJob
		job.Work *= j.Submissions[n]
		job.Rates = maps.Clone(job.Rates)
		for name, rate := range j.Rates {
			if twice[name] {
				job.Rates[names[name]] = rate
			}
		}
		q.Jobs = append(q.Jobs, job)
	}
	return q
}

// joined returns an answer in which running instances have their own type again.
func joined(a PoolPlan, types map[string]string) PoolPlan {
	core := []PoolCore{}
	for _, x := range a.Mix.Core {
		x.Type = cmp.Or(types[x.Type], x.Type)
		if at := slices.IndexFunc(core, func(y PoolCore) bool { return y.Type == x.Type }); at >= 0 {
			core[at].Count += x.Count
			core[at].Cost.Decimal = core[at].Cost.Add(x.Cost.Decimal)
			continue
		}
		core = append(core, x)
	}
	a.Mix.Core = core
	for i := range a.Conflicts { // they point into the round's problem, which nobody has sent
		f := &a.Conflicts[i]
		f.Pointer = ""
		if f.Hint != nil {
			f.Hint = &fault.Hint{Detail: f.Hint.Detail}
		}
	}
	for i := range a.Jobs {
		on := []PoolWorkOn{}
		for _, x := range a.Jobs[i].On {
			x.Type = cmp.Or(types[x.Type], x.Type)
			if at := slices.IndexFunc(on, func(y PoolWorkOn) bool { return y.Type == x.Type }); at >= 0 {
				on[at].InstanceHours += x.InstanceHours
				continue
			}
			on = append(on, x)
		}
		a.Jobs[i].On = on
	}
	return a
}

// changes lists the actions of a round, in the order of hours: core instances at its start, accelerators when they
// come and go.
func changes(from int64, running, next map[string]int64, accelerators []PoolAccelerator) []PoolChange {
	all := []PoolChange{}
	types := slices.Compact(slices.Sorted(func(yield func(string) bool) {
		for name := range running {
			if !yield(name) {
				return
			}
		}
		for name := range next {
			if !yield(name) {
				return
			}
		}
	}))
	for _, name := range types {
		if n := next[name] - running[name]; n != 0 {
			all = append(all, PoolChange{Hour: from, Type: name, As: AsCore, Count: n})
		}
	}
	come := map[string]int64{}
	for _, x := range accelerators {
		if come[x.Type] == 0 {
			all = append(all, PoolChange{Hour: from, Type: x.Type, As: AsAccelerator})
		}
		come[x.Type] += x.Count
		all = append(all, PoolChange{Hour: from + x.Hours, Type: x.Type, As: AsAccelerator, Count: -x.Count})
	}
	for i := range all {
		if x := &all[i]; x.Count == 0 {
			x.Count = come[x.Type]
		}
	}
	slices.SortStableFunc(all, func(a, b PoolChange) int { return cmp.Compare(a.Hour, b.Hour) })
	return all
}
