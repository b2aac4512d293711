package pack

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// bestCourse tries every order.
func bestCourse(b *batch, phases []phase, from int) course {
	if from == len(phases) {
		return b.course(phases)
	}
	best := course{missed: math.MaxInt}
	for i := from; i < len(phases); i++ {
		phases[from], phases[i] = phases[i], phases[from]
		if c := bestCourse(b, phases, from+1); c.better(best) {
			best = c
		}
		phases[from], phases[i] = phases[i], phases[from]
	}
	return best
}

func TestOrdersMissFewest(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	missed, waited := 0, 0
	for range 600 {
		p := draw(r, sizes{5, 3, 6, 1})
		timed(r, &p)
		b, err := ready(p)
		if err != nil {
			continue
		}
		f := newFitter(b, newLadder(t.Context(), b))
		phases := f.phases(b.oneByOne())
		want := bestCourse(b, phases, 0)
		if proved := b.order(phases); !proved {
			t.Fatal("an order of few phases is not proved")
		}
		got := b.course(phases)
		if b.hasDeadlines() && got.missed != want.missed || got.end > want.end*(1+1e-9) && got.missed == want.missed {
			t.Fatalf("got %+v, want %+v: %+v", got, want, p)
		}
		missed += got.missed
		if got.end > total(phases) {
			waited++
		}
		if b.orderEarliest(phases) {
			if c := b.course(phases); c.missed != want.missed {
				t.Fatalf("the rule of deadlines misses %d, want %d: %+v", c.missed, want.missed, p)
			}
		}
	}
	if missed < 50 || waited < 20 {
		t.Errorf("only %d deadlines are missed and %d batches wait", missed, waited)
	}
}

// everySequence tries every sequence of phases by itself.
func everySequence(f *fitter, left map[int]int, done course) course {
	var kinds []int
	for i := range f.kinds {
		if left[i] > 0 {
			kinds = append(kinds, i)
		}
	}
	if len(kinds) == 0 {
		return done
	}
	best := course{missed: math.MaxInt}
	for set := 1; set < 1<<len(kinds); set++ {
		var c contents
		for i, kind := range kinds {
			if set>>i&1 == 1 {
				c = append(c, some{kind, 1})
				left[kind]--
			}
		}
		if members := f.allocate(c); members != nil {
			p := f.phase(members)
			start := p.start(done.end)
			if got := everySequence(f, left, course{done.missed + f.missed(&p, start), start + p.seconds, done.busy + p.seconds}); got.better(best) {
				best = got
			}
		}
		for _, s := range c {
			left[s.kind]++
		}
	}
	return best
}

// As many deadlines are met as possible, and of the packings that meet as many the one that ends first is found. That
// holds without deadlines too, where the shortest packing would wait for a job that is released later.
func TestDeadlinesAreMetWhereTheyCanBe(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 44))
	bettered, sooner := 0, 0
	for n := range 200 {
		p := draw(r, sizes{4, 3, 5, 1})
		timed(r, &p)
		for i := range p.Jobs {
			if n%4 == 3 {
				p.Jobs[i].DeadlineSeconds = 0
			}
		}
		b, err := ready(p)
		if err != nil {
			continue
		}
		a := packed(t, p, PackMulti)
		f := newFitter(b, newLadder(t.Context(), b))
		left := map[int]int{}
		for i := range b.kinds {
			left[i] = b.kinds[i].count
		}
		want := everySequence(f, left, course{})
		if a.Deadlines != nil && (a.Deadlines.Missed != int64(want.missed) || !a.Deadlines.Proved) {
			t.Fatalf("got %+v, want %d missed: %+v", a.Deadlines, want.missed, p)
		}
		if math.Abs(a.EndSeconds-want.end) > 1e-9*want.end {
			t.Fatalf("it ends after %g s, want %g s: %+v", a.EndSeconds, want.end, p)
		}
		switch longer := a.BusySeconds > a.LowerBoundSeconds*(1+1e-9); {
		case longer && a.Deadlines != nil:
			bettered++
		case longer:
			sooner++
		}
	}
	if bettered < 5 || sooner < 3 {
		t.Errorf("only %d batches take longer to meet more deadlines, %d to end sooner", bettered, sooner)
	}
}

func exactly(ctx context.Context, p PackingProblem) (Packing, error) {
	return Pack(ctx, p, nil)
}

func TestFewestMachinesAreFewest(t *testing.T) {
	r := rand.New(rand.NewPCG(45, 46))
	tested := 0
	for tested < 80 {
		p := draw(r, sizes{8, 3, 5, 2})
		released := tested%4 == 3
		if released {
			p = draw(r, sizes{8, 3, 4, 1})
			timed(r, &p)
			for i := range p.Jobs {
				p.Jobs[i].DeadlineSeconds = 0
			}
		}
		a, err := Pack(t.Context(), p, nil)
		if err != nil {
			continue
		}
		tested++
		by := a.EndSeconds * (0.7 + 0.6*r.Float64())
		got, err := fewestMachines(t.Context(), p, by, exactly)
		if err != nil {
			continue // jobs that gain nothing from more VMs
		}
		want := p
		before := math.Inf(1)
		for want.Machines.Count = 1; ; want.Machines.Count++ { // one by one, which also shows that more never take longer
			a, err := Pack(t.Context(), want, nil)
			if err != nil {
				continue // a job does not fit yet
			}
			if a.EndSeconds > before*(1+1e-9) {
				t.Fatalf("%d machines take %g s, one less %g s: %+v", want.Machines.Count, a.EndSeconds, before, p)
			}
			if before = a.EndSeconds; before <= by || want.Machines.Count > got.Machines {
				break
			}
		}
		if got.Machines != want.Machines.Count || !got.Proved && !released || got.Packing.EndSeconds > by*(1+1e-9) {
			t.Fatalf("got %d machines (proved: %t), want %d: %+v", got.Machines, got.Proved, want.Machines.Count, p)
		}
		p.Machines.Count = got.Machines
		if wrong := Recheck(p, got.Packing); len(wrong) > 0 {
			t.Fatal(wrong)
		}
	}
}

// Jobs of a large batch, whose divisions cannot all be tried, do not wait for others' releases either.
func TestLargeBatchesDoNotWait(t *testing.T) {
	p := sixteen(11, 24, 5)
	first, second := p, p
	first.Jobs, second.Jobs = p.Jobs[:12], p.Jobs[12:]
	begins := math.Ceil(packed(t, first, PackMulti).EndSeconds)
	want := begins + packed(t, second, PackMulti).EndSeconds
	for i := range p.Jobs[12:] {
		p.Jobs[12+i].ReleaseSeconds = begins
	}
	if a := packed(t, p, PackMulti); a.EndSeconds > want*(1+1e-9) {
		t.Errorf("it ends after %g s; the first half is done by %g s and the second, by itself, after %g s", a.EndSeconds, begins, want)
	}
}
