package pool

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// honest plans rounds that pass the independent check.
func honest(t *testing.T) Planner {
	return func(ctx context.Context, p PoolProblem) (PoolPlan, error) {
		a, err := Plan(ctx, p, cbc)
		if wrong := RecheckPool(p, a); err == nil && len(wrong) > 0 {
			t.Errorf("%v\n%+v", wrong, p)
		}
		return a, err
	}
}

// caseCourse returns the case study's machines over three rounds: data grows, work comes and goes.
func caseCourse() PoolCourseProblem {
	p := caseStudy(3)
	return PoolCourseProblem{
		Currency: p.Currency, Hours: p.Hours, Types: p.Types, Storage: p.Storage, Options: p.Options,
		Running:    []PoolRunning{{Type: "m1.large", Count: 5}},
		Jobs:       []PoolSubmittedJob{{PoolJob: PoolJob{Name: "nightly", Work: 30, DeadlineHours: 3}, Submissions: []float64{3, 0, 2}}},
		IncomingGB: []float64{0, 850, -0},
	}
}

func TestPoolsFollowWorkAndData(t *testing.T) {
	p := caseCourse()
	reported := int64(0)
	c, err := Course(t.Context(), p, honest(t), func(done, _ int64) { reported = done })
	if err != nil {
		t.Fatal(err)
	}
	if wrong := RecheckCourse(p, c); len(wrong) > 0 {
		t.Fatal(wrong)
	}
	list := []string{}
	for _, r := range c.Rounds {
		for _, x := range r.Changes {
			list = append(list, fmt.Sprintf("%d: %+d %s %s", x.Hour, x.Count, x.As, x.Type))
		}
	}
	// 90 h by hour 3: five machines do 60, six accelerators 30. Then data needs a sixth machine, which does all of 60
	// h.
	want := "0: +6 accelerator c1.medium|1: -6 accelerator c1.medium|4: +1 core m1.large"
	if got := strings.Join(list, "|"); got != want || c.Cost.String() != "24.14" || c.Status != PoolOptimal || !c.Proved || reported != 3 {
		t.Errorf("got %s, %s %s, want %s", got, c.Cost, c.Status, want)
	}
}

// If starting takes time, running instances are worth keeping, and an impossible round changes nothing.
func TestRunningInstancesNeedNoStart(t *testing.T) {
	p := caseCourse()
	p.StartupHours = 2.9
	p.Jobs[0].Submissions = []float64{2, 1000, 2} // of 30 h; five machines do 60 by hour 3
	highest := int64(20)
	p.Types[0].Most, p.Types[1].Most = &highest, &highest
	c, err := Course(t.Context(), p, honest(t), func(int64, int64) {})
	if err != nil {
		t.Fatal(err)
	}
	if wrong := RecheckCourse(p, c); len(wrong) > 0 {
		t.Fatal(wrong)
	}
	first, second, third := c.Rounds[0], c.Rounds[1], c.Rounds[2]
	if len(first.Changes) != 0 || first.Plan.Cost.String() != "6.80" || second.Plan.Status != PoolInfeasible || len(second.Changes) != 0 || len(second.Plan.Conflicts) == 0 ||
		third.Plan.Status != PoolOptimal || c.Status != PoolInfeasible || c.Proved {
		t.Errorf("got %+v", c)
	}
	for _, x := range append(first.Plan.Mix.Core, third.Plan.Mix.Core...) {
		if x.Type != "m1.large" {
			t.Errorf("got %q", x.Type)
		}
	}
	p.Types = append(p.Types, PoolType{Name: "m1.large (running)", PerHour: cash("9"), Slots: 1, ComputeUnits: 1, Core: true})
	if again, err := Course(t.Context(), p, honest(t), func(int64, int64) {}); err != nil || again.Rounds[0].Plan.Cost.String() != "6.80" || again.Rounds[0].Plan.Mix.Core[0].Type != "m1.large" {
		t.Errorf("with a type of that name: got %+v, %v", again, err)
	}
	p.Running = nil // then nothing is done by hour 3 without many more machines
	none, err := Course(t.Context(), p, honest(t), func(int64, int64) {})
	if err != nil {
		t.Fatal(err)
	}
	if none.Rounds[0].Plan.Status == PoolOptimal && !none.Rounds[0].Plan.Cost.GreaterThan(first.Plan.Cost.Decimal) {
		t.Errorf("got %+v", none.Rounds[0].Plan)
	}
}

func TestRandomCoursesAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	statuses := map[PoolStatus]int{}
	for n := range 40 {
		q := draw(r)
		p := PoolCourseProblem{Currency: q.Currency, Hours: q.Hours, Types: q.Types, Storage: q.Storage, StartupHours: q.StartupHours, Options: q.Options}
		for _, j := range q.Jobs {
			sub := PoolSubmittedJob{PoolJob: j}
			for range 1 + r.IntN(4) {
				sub.Submissions = append(sub.Submissions, float64(r.IntN(4))/2)
			}
			p.Jobs = append(p.Jobs, sub)
			p.IncomingGB = append(p.IncomingGB, float64(r.IntN(3)*20))
		}
		for _, x := range q.Types {
			if r.IntN(2) == 0 {
				p.Running = append(p.Running, PoolRunning{Type: x.Name, Count: int64(r.IntN(4))})
			}
		}
		c, err := Course(t.Context(), p, honest(t), func(int64, int64) {})
		if err != nil {
			t.Fatalf("case %d: %v", n, err)
		}
		if wrong := RecheckCourse(p, c); len(wrong) > 0 {
			t.Fatalf("case %d: %v\n%+v\n%+v", n, wrong, p, c)
		}
		statuses[c.Status]++
	}
	t.Log(statuses)
}
