package dispatch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"example.org/headroom/internal/core/perf"
)

func rounds(few, many int) int {
	if os.Getenv("HEADROOM_LONG") == "1" {
		return many
	}
	return few
}

// maps returns the times of a job that has maps alone.
func mapsOf(t *perf.TaskTime) [Kinds]*perf.TaskTime { return [Kinds]*perf.TaskTime{t} }

// randomRoom returns a room that is neither empty nor far too full, and a job to judge.
func randomRoom(r *rand.Rand, mode AdmissionMode) (*Room, Commitment) {
	room := &Room{Mode: mode, Layout: Layout(r.IntN(2))}
	for p := range Kinds {
		if p == 1 && room.Layout == Shared {
			break
		}
		for range 1 + r.IntN(5) {
			residual := math.Round(100*r.Float64()) / 100
			if r.IntN(3) == 0 {
				residual = 1
			}
			room.Slots[p] = append(room.Slots[p], Free{residual, r.IntN(12)})
		}
	}
	classes := make([]*perf.TaskTime, 3)
	for i := range classes {
		classes[i] = &perf.TaskTime{A: 20 + 200*r.Float64(), B: -4 * r.Float64(), C: 50 * r.Float64(), D: -r.Float64(), MinResidual: 0.1}
	}
	job := func(name string) Commitment {
		c := Commitment{ID: name, Name: name, DueSeconds: math.Round(3000 * r.Float64()), Tasks: [Kinds]int{1 + r.IntN(60), 0}}
		if r.IntN(3) == 0 {
			c.Tasks[Reduce] = r.IntN(30)
		}
		for k := range c.Times {
			c.Times[k] = classes[r.IntN(3)]
		}
		switch r.IntN(20) {
		case 0:
			c.Times[Reduce] = Constant(1 + 100*r.Float64())
		case 1:
			c.Times[r.IntN(2)] = nil
		}
		return c
	}
	for i := range r.IntN(10) {
		c := job(fmt.Sprint(i))
		c.DueSeconds = math.Round(6000*r.Float64() - 300) // some are overdue
		room.Accepted = append(room.Accepted, c)
	}
	return room, job("new")
}

// naive decides in the words of the rule: eq. 6 over every single slot for every job. It hands each task to the slot
// that ends its next one first.
func naive(r *Room, c Commitment) bool {
	var slots [Kinds][]float64 // by kind of task
	for k := range Kind(Kinds) {
		pool := k
		if r.Layout == Shared {
			pool = 0
		}
		for _, s := range r.Slots[pool] {
			for range s.Count {
				if s.Residual >= 0.05 {
					slots[k] = append(slots[k], s.Residual)
				}
			}
		}
		if c.Tasks[k] > 0 && (len(slots[k]) == 0 || c.Times[k] == nil) {
			return false
		}
	}
	inTime := func(of Commitment) bool {
		demand := 0.0
		for _, a := range append([]Commitment{c}, r.Accepted...) {
			for k := range Kind(Kinds) {
				if a.Times[k] == nil || len(slots[k]) == 0 || a.DueSeconds > of.DueSeconds {
					continue
				}
				sum := 0.0
				for _, s := range slots[k] {
					sum += a.Times[k].Seconds(s)
				}
				demand += float64(a.Tasks[k]) * sum / float64(len(slots[k])*len(slots[k]))
			}
		}
		return demand <= of.DueSeconds
	}
	if !inTime(c) {
		return false
	}
	if r.Mode == AdmissionPaper {
		return true
	}
	for _, a := range r.Accepted {
		if a.DueSeconds > c.DueSeconds && !inTime(a) {
			return false
		}
	}
	for k := range Kind(Kinds) {
		ends := make([]float64, len(slots[k]))
		for range c.Tasks[k] {
			best := 0
			for i, s := range slots[k] {
				if ends[i]+c.Times[k].Seconds(s) < ends[best]+c.Times[k].Seconds(slots[k][best]) {
					best = i
				}
			}
			if ends[best] += c.Times[k].Seconds(slots[k][best]); ends[best] > c.DueSeconds {
				return false
			}
		}
	}
	return true
}

// with returns the room with more additional dedicated slots in each pool.
func with(r *Room, more int) *Room {
	wider := *r
	for p := range wider.Slots {
		wider.Slots[p] = append([]Free{{1, more}}, wider.Slots[p]...)
	}
	return &wider
}

// Every verdict equals the naive one, and strict promises are fewer than the paper's. Every proposed cure cures by
// the naive way too, and a little less of it does not.
func TestDeadlinesAreJudged(t *testing.T) {
	r := seeded(7)
	var kept, refused, onlyStrict, cured [3]int
	for i := range rounds(6_000, 300_000) {
		room, c := randomRoom(r, AdmissionStrict)
		paper := *room
		paper.Mode = AdmissionPaper
		for m, room := range []*Room{&paper, room} {
			v := room.Judge(c)
			if want := naive(room, c); v.Kept != want || room.Admits(c) != want {
				t.Fatalf("round %d, %s: got %t and %t, want %t\n%+v\n%+v", i, room.Mode, v.Kept, room.Admits(c), want, room, c)
			}
			if v.Kept {
				kept[m]++
				continue
			}
			refused[m]++
			if reason := v.Reason("etl"); reason == "" || strings.Contains(reason, "NaN") || strings.Contains(reason, "%!") {
				t.Errorf("round %d: no reason: %q", i, reason)
			}
			if v.Code() != DeadlineMissed {
				continue
			}
			if v.LateSeconds <= 0 && len(v.Missed) == 0 {
				t.Errorf("round %d: refused, and nobody is late: %+v", i, v)
			}
			if v.Cures == nil || v.Cures.DeadlineSeconds == 0 {
				t.Fatalf("round %d: a late enough deadline helps wherever there are slots: %+v", i, v)
			}
			later := c
			later.DueSeconds = v.Cures.DeadlineSeconds
			sooner := c
			sooner.DueSeconds = max(v.Cures.DeadlineSeconds-1, c.DueSeconds)
			if later.DueSeconds <= c.DueSeconds || !naive(room, later) || naive(room, sooner) && sooner.DueSeconds == math.Trunc(sooner.DueSeconds) {
				t.Errorf("round %d, %s: the deadline %g does not cure, or %g would: %+v", i, room.Mode, later.DueSeconds, sooner.DueSeconds, v)
			}
			if n := v.Cures.DedicatedSlots; n > 0 && n < 200 {
				cured[m]++
				if !naive(with(room, int(n)), c) || naive(with(room, int(n)-1), c) {
					t.Errorf("round %d, %s: %d more slots do not cure, or one less does", i, room.Mode, n)
				}
			}
			few, more := c, c
			few.Tasks[Map], more.Tasks[Map] = int(v.Cures.Maps), int(v.Cures.Maps)+1
			if few.Tasks[Map] > 0 && !naive(room, few) || naive(room, more) {
				t.Errorf("round %d, %s: %d tasks do not cure, or one more does", i, room.Mode, v.Cures.Maps)
			}
		}
		strict, loose := room.Admits(c), paper.Admits(c)
		if strict && !loose {
			t.Fatalf("round %d: strict promises what the paper's rule does not", i)
		}
		if loose && !strict {
			onlyStrict[0]++
		}
	}
	t.Logf("kept %v, refused %v, refused by strict alone %d, cured by slots %v", kept[:2], refused[:2], onlyStrict[0], cured[:2])
	for _, n := range []int{kept[0], kept[1], refused[0], refused[1], cured[0], cured[1], onlyStrict[0]} {
		if n < 100 {
			t.Error("the cases decide too little")
			break
		}
	}
}

// A later deadline never turns a strict promise into a refusal, nor do fewer tasks or more slots any
// promise.
func TestPromisesAreMonotone(t *testing.T) {
	r := seeded(11)
	turned := 0
	for i := range rounds(6_000, 200_000) {
		mode := []AdmissionMode{AdmissionPaper, AdmissionStrict}[i%2]
		room, c := randomRoom(r, mode)
		if !room.Admits(c) {
			continue
		}
		later := c
		later.DueSeconds += math.Round(3000 * r.Float64())
		if !room.Admits(later) {
			if mode == AdmissionStrict {
				t.Fatalf("round %d: promised in %g s, refused in %g s: %+v", i, c.DueSeconds, later.DueSeconds, room)
			}
			turned++
		}
		few := c
		few.Tasks[Map] = 1 + r.IntN(c.Tasks[Map])
		more := 1 + r.IntN(20)
		less := *room
		less.Accepted = less.Accepted[min(1, len(less.Accepted)):]
		// Tasks that no slot runs are counted as soon as one does.
		if !room.Admits(few) || room.Judge(c).Uncounted == 0 && !with(room, more).Admits(c) || !less.Admits(c) {
			t.Fatalf("round %d, %s: %d tasks instead of %d, %d more slots or one accepted job fewer are refused", i, mode, few.Tasks, c.Tasks, more)
		}
	}
	if turned == 0 {
		t.Error("no promise of the paper's rule was turned by a later deadline; the case below says there are some")
	}
}

// As printed the rule is not monotone. Due in 10 s, the job passes an accepted one due in 11 s, which it makes late.
// Due in 11 s it no longer passes that one and is refused.
func TestThePapersRuleIsNotMonotone(t *testing.T) {
	room := Room{Mode: AdmissionPaper, Slots: [Kinds][]Free{{{1, 1}}}, Accepted: []Commitment{{ID: "a", Name: "a", DueSeconds: 11, Tasks: [Kinds]int{8}, Times: mapsOf(Constant(1))}}}
	c := Commitment{DueSeconds: 10, Tasks: [Kinds]int{5}, Times: mapsOf(Constant(1))}
	v := room.Judge(c)
	if !v.Kept || len(v.Missed) != 1 || v.Missed[0].LateSeconds != 2 || v.Missed[0].AnywaySeconds != 0 {
		t.Errorf("due in 10 s: %+v", v)
	}
	c.DueSeconds = 11
	if v := room.Judge(c); v.Kept || v.LateSeconds != 2 || *v.Cures != (DeadlineCures{DeadlineSeconds: 13, DedicatedSlots: 1, Maps: 3}) {
		t.Errorf("due in 11 s: %+v, %+v", v, v.Cures)
	}
}

func TestRefusalsForADeadlineSayWhatHelps(t *testing.T) {
	slots := [Kinds][]Free{{{1, 2}, {0.5, 2}, {0.04, 10}}}
	mixed := &perf.TaskTime{A: 40, B: -2 * math.Ln2} // 40·¼ = 10 s dedicated, 20 s at half
	accepted := []Commitment{
		{ID: "1", Name: "hourly 7", DueSeconds: 100, Tasks: [Kinds]int{20}, Times: mapsOf(mixed)},
		{ID: "2", Name: "nightly", DueSeconds: 300, Tasks: [Kinds]int{40}, Times: mapsOf(mixed)},
	}
	for name, c := range map[string]struct {
		room Room
		job  Commitment
		code RefusalReason
		want string
	}{
		"late itself": {Room{AdmissionStrict, Shared, slots, accepted, nil}, Commitment{DueSeconds: 120, Tasks: [Kinds]int{24}, Times: mapsOf(mixed)}, DeadlineMissed,
			"By the estimate it would be 45 s late: with the accepted jobs due no later it needs 165 s of all 4 usable slots, and it is due in 120 s. By the estimate 1 accepted job due later would be too late. \"nightly\" would be 15 s late. " +
				"It would be admitted with a deadline in 315 s, beside 2 more dedicated slots or with at most 12 maps."},
		"later ones": {Room{AdmissionStrict, Shared, slots, accepted, nil}, Commitment{DueSeconds: 200, Tasks: [Kinds]int{24}, Times: mapsOf(mixed)}, DeadlineMissed,
			"By the estimate 1 accepted job due later would be too late. \"nightly\" would be 15 s late. It would be admitted with a deadline in 315 s, beside 1 more dedicated slot or with at most 20 maps."},
		"too few seconds for a task": {Room{AdmissionStrict, Shared, slots, nil, nil}, Commitment{DueSeconds: 9, Tasks: [Kinds]int{1}, Times: mapsOf(mixed)}, DeadlineMissed,
			"Even with all 4 usable slots to itself it would need 10 s, and it is due in 9 s. It would be admitted with a deadline in 10 s."},
		"assumed times": {Room{AdmissionStrict, Shared, slots, nil, nil}, Commitment{DueSeconds: 9, Tasks: [Kinds]int{40}, Times: mapsOf(Constant(1)), Sources: [Kinds]TimesSource{{From: TimesOfProfile}}}, DeadlineMissed,
			"Even with all 4 usable slots to itself it would need 10 s, and it is due in 9 s. It would be admitted with a deadline in 10 s, beside 1 more dedicated slot or with at most 36 maps. " +
				"Its task times are the mean of the class's profile, the same on every slot, because they have not been measured by load."},
		// The lateness counts both jobs together, not the new one alone.
		"late alone, and more behind others": {Room{AdmissionStrict, Shared, slots, accepted[:1], nil}, Commitment{DueSeconds: 110, Tasks: [Kinds]int{27}, Times: mapsOf(Constant(20))}, DeadlineMissed,
			"By the estimate it would be 100 s late: with the accepted jobs due no later it needs 210 s of all 4 usable slots, and it is due in 110 s. Even with all of them to itself it would need 140 s. " +
				"It would be admitted with a deadline in 210 s, beside 4 more dedicated slots or with at most 7 maps."},
		// Times near each other are told apart, and the time left is not rounded up.
		"late by little": {Room{AdmissionStrict, Shared, [Kinds][]Free{{{1, 1}}}, []Commitment{{ID: "1", Name: "first", DueSeconds: 40, Tasks: [Kinds]int{1}, Times: mapsOf(Constant(20))}}, nil},
			Commitment{DueSeconds: 50.02, Tasks: [Kinds]int{1}, Times: mapsOf(Constant(30.1))}, DeadlineMissed,
			"By the estimate it would be 0.08 s late: with the accepted jobs due no later it needs 50.1 s of the 1 usable slot, and it is due in 50.02 s. It would be admitted with a deadline in 51 s or beside 1 more dedicated slot."},
		"separate slots": {Room{AdmissionStrict, Separate, [Kinds][]Free{{{1, 2}}, {{1, 1}}}, nil, nil}, Commitment{DueSeconds: 60, Tasks: [Kinds]int{4, 6}, Times: [Kinds]*perf.TaskTime{Constant(10), Constant(20)}}, DeadlineMissed,
			"By the estimate it would be 80 s late: with the accepted jobs due no later it needs 140 s of all 3 usable slots, and it is due in 60 s. Even with all of them to itself it would need 120 s. " +
				"It would be admitted with a deadline in 140 s or beside 2 more dedicated slots of each kind."},
		"no slots for its reduces": {Room{AdmissionStrict, Separate, [Kinds][]Free{{{1, 2}}}, nil, nil}, Commitment{DueSeconds: 60, Tasks: [Kinds]int{4, 6}, Times: [Kinds]*perf.TaskTime{Constant(10), Constant(20)}}, NoSlots,
			"No usable slot is known, so no deadline can be promised. Register the cluster's nodes, or find out why no known node is alive, has slots for such tasks and leaves them a twentieth of its processors. " +
				"Or ask without a deadline: then the plan alone decides."},
		"no slots":   {Room{Mode: AdmissionStrict}, Commitment{DueSeconds: 9, Tasks: [Kinds]int{1}, Times: mapsOf(mixed)}, NoSlots, ""},
		"unusable":   {Room{Mode: AdmissionStrict, Slots: [Kinds][]Free{slots[0][2:]}}, Commitment{DueSeconds: 9, Tasks: [Kinds]int{1}, Times: mapsOf(mixed)}, NoSlots, ""},
		"unmeasured": {Room{Mode: AdmissionPaper, Slots: slots}, Commitment{DueSeconds: 9, Tasks: [Kinds]int{1}}, Unmeasured, ""},
		"absurd":     {Room{Mode: AdmissionStrict, Slots: slots}, Commitment{DueSeconds: 9, Tasks: [Kinds]int{1}, Times: mapsOf(Constant(math.NaN()))}, Unmeasured, ""},
	} {
		v := c.room.Judge(c.job)
		if got := v.Reason("etl"); v.Code() != c.code || c.want != "" && got != c.want {
			t.Errorf("%s: got %q\n%s\nwant\n%s", name, v.Code(), got, c.want)
		}
	}
}

// BenchmarkPromise judges a job beside 200 accepted jobs on 1,000 different nodes.
func BenchmarkPromise(b *testing.B) {
	r := seeded(1)
	room := Room{Mode: AdmissionStrict}
	for range 1_000 {
		room.Slots[0] = append(room.Slots[0], Free{0.1 + 0.9*r.Float64(), 4})
	}
	for i := range 200 {
		room.Accepted = append(room.Accepted, Commitment{ID: fmt.Sprint(i), DueSeconds: 36_000 * r.Float64(), Tasks: [Kinds]int{1_000}, Times: mapsOf(&perf.TaskTime{A: 100 + float64(i%20), B: -2})})
	}
	job := Commitment{DueSeconds: 300, Tasks: [Kinds]int{100_000}, Times: mapsOf(&perf.TaskTime{A: 100, B: -2})}
	b.Run("admits", func(b *testing.B) {
		for b.Loop() {
			room.Admits(job)
		}
	})
	b.Run("with cures", func(b *testing.B) {
		for b.Loop() {
			if room.Judge(job).Kept {
				b.Fatal("kept")
			}
		}
	})
}
