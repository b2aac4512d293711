package history

import (
	"cmp"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// oddAttempts draws attempts with all possible records, many of them twice.
func oddAttempts(rng *rand.Rand, n int) (all []Attempt) {
	moment := func() int64 {
		if rng.IntN(20) == 0 {
			return []int64{0, earliest, latest}[rng.IntN(3)]
		}
		return base + rng.Int64N(400)
	}
	for range n {
		a := Attempt{Kind: Kind(rng.IntN(4)), Outcome: Outcome(min(3, rng.IntN(8))), Spare: rng.IntN(9) == 0, Again: rng.IntN(9) == 0,
			Task: []int32{rng.Int32N(40), math.MaxInt32, unnumbered + rng.Int32N(3), 0}[rng.IntN(4)], Stage: rng.Int32N(3), Host: rng.Int32N(4) - 1, Start: moment(), Finish: moment()}
		if a.Outcome > Killed || rng.IntN(3) > 0 {
			a.Outcome = Succeeded
		}
		if a.Kind == Reduce {
			a.Shuffled = moment()
		}
		all = append(all, a)
		if rng.IntN(6) == 0 {
			all = append(all, a)
		}
	}
	return all
}

func TestAttemptsAreKeptAsTheyAre(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for n := range 60 {
		all := oddAttempts(rng, n*n*3)
		list := attemptsOf(all...)
		if got := slices.Collect(list.All()); !slices.Equal(got, all) || list.Len() != len(all) {
			t.Fatalf("%d attempts are not what %d were", len(got), len(all))
		}
		var joined Attempts
		joined.Join(&list)
		if !reflect.DeepEqual(joined, list) {
			t.Error("joined they are others")
		}
	}
}

// The choice of attempts, their concurrency and their times equal those of a direct computation.
func TestChoicesOfManyAttempts(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for range 400 {
		all := oddAttempts(rng, rng.IntN(120))
		for i := range all { // so that none is refused
			a := &all[i]
			if a.Start == 0 || a.Finish == 0 {
				a.Start, a.Finish = base, base+7
			}
			a.Start, a.Finish = min(a.Start, a.Finish), max(a.Start, a.Finish)
		}
		e := &Execution{Attempts: attemptsOf(all...), Submitted: base + 10, Finished: base + 390}
		var left LeftOut
		c, err := e.chosen(&left)
		if err != nil {
			t.Fatal(err)
		}
		compare := func(a, b Attempt) int {
			return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Task, b.Task), cmp.Compare(a.Finish, b.Finish), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Host, b.Host))
		}
		type task struct {
			group
			number int32
		}
		first, counted := map[task]Attempt{}, int64(0)
		for _, a := range all {
			if a.Kind == Other || a.Outcome != Succeeded || a.Again {
				continue
			}
			counted++
			k := task{a.group(), a.Task}
			if had, is := first[k]; !is || compare(a, had) < 0 {
				first[k] = a
			}
		}
		chosen := slices.Collect(c.All())
		tasks := map[group]int{}
		for _, a := range chosen {
			tasks[a.group()]++
			w := first[task{a.group(), a.Task}]
			if w.Spare = a.Spare; a.Kind != Reduce && w != a || compare(w, a) != 0 { // any of equal ones
				t.Fatalf("%+v is chosen, and should be %+v", a, w)
			}
		}
		if len(chosen) != len(first) || !reflect.DeepEqual(tasks, c.tasks) || left.Failed+left.Killed+left.Unfinished+left.Other+left.Retried+left.Speculative+left.Repeated+int64(len(chosen)) != int64(len(all)) {
			t.Fatalf("%d are chosen, want %d; %v, counted %v; left out %+v of %d", len(chosen), len(first), tasks, c.tasks, left, len(all))
		}

		// Moment for moment.
		any := 0
		for ms := e.Submitted; ms < e.Finished; ms++ {
			if slices.ContainsFunc(all, func(a Attempt) bool { return a.Kind != Other && a.Start <= ms && a.Finish > ms }) {
				any++
			}
		}
		if got := e.busy(); !near(got, float64(any)/1000) {
			t.Fatalf("busy %g s, want %d ms", got, any)
		}
		inSpan := slices.DeleteFunc(all, func(a Attempt) bool { return a.Finish == a.Start })
		highest := int64(0)
		for _, a := range inSpan { // the maximum is reached at a start
			now := int64(0)
			for _, b := range inSpan {
				if b.Start <= a.Start && b.Finish > a.Start {
					now++
				}
			}
			highest = max(highest, now)
		}
		if got := maxAtOnce(slices.Values(inSpan)); got != highest {
			t.Fatalf("%d at once, want %d", got, highest)
		}
	}
}

// The count is the same if not all moments are held.
func TestMostAtOnceOfMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 10))
	var all []Attempt
	for i := range 3*sweepAtOnce + 17 {
		start := base + int64(i)*10 + rng.Int64N(1000)
		all = append(all, Attempt{Start: start, Finish: start + rng.Int64N(2000)})
	}
	type change struct{ at, by int64 }
	var changes []change
	for _, a := range all {
		if a.Start < a.Finish {
			changes = append(changes, change{a.Start, 1}, change{a.Finish, -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	now, highest := int64(0), int64(0)
	for _, c := range changes {
		now += c.by
		highest = max(highest, now)
	}
	all = slices.DeleteFunc(all, func(a Attempt) bool { return a.Start == a.Finish })
	if got := maxAtOnce(slices.Values(all)); got != highest {
		t.Errorf("%d at once, want %d", got, highest)
	}
}
