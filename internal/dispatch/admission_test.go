package dispatch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"headroom/internal/capacity"
	"headroom/internal/perf"
)

func rounds(few, many int) int {
	if os.Getenv("HEADROOM_LONG") == "1" {
		return many
	}
	return few
}

// randomRoom is a room that is neither empty nor far too full, and a job that asks.
func randomRoom(r *rand.Rand, mode capacity.AdmissionMode) (*Room, Commitment) {
	room := &Room{Mode: mode}
	for range 1 + r.IntN(5) {
		residual := math.Round(100*r.Float64()) / 100
		if r.IntN(3) == 0 {
			residual = 1
		}
		room.Slots = append(room.Slots, Free{residual, r.IntN(12)})
	}
	classes := make([]*perf.TaskTime, 3)
	for i := range classes {
		classes[i] = &perf.TaskTime{A: 20 + 200*r.Float64(), B: -4 * r.Float64(), C: 50 * r.Float64(), D: -r.Float64(), LeastResidual: 0.1}
	}
	job := func(name string) Commitment {
		c := Commitment{ID: name, Name: name, DueSeconds: math.Round(3000 * r.Float64()), Tasks: 1 + r.IntN(60), TaskTime: classes[r.IntN(3)]}
		switch r.IntN(12) {
		case 0:
			c.TaskTime, c.Assumed = Constant(1+100*r.Float64()), true
		case 1:
			c.TaskTime = nil
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

// naive decides by the rule's own words: eq. 6 over every single slot for every job, and tasks handed
// to the slot that ends its next one first.
func naive(r *Room, c Commitment) bool {
	var slots []float64
	for _, s := range r.Slots {
		for range s.Count {
			if s.Residual >= 0.05 {
				slots = append(slots, s.Residual)
			}
		}
	}
	if len(slots) == 0 || c.TaskTime == nil {
		return false
	}
	inTime := func(of Commitment) bool {
		demand := 0.0
		for _, a := range append([]Commitment{c}, r.Accepted...) {
			if a.TaskTime == nil || a.DueSeconds > of.DueSeconds {
				continue
			}
			sum := 0.0
			for _, s := range slots {
				sum += a.TaskTime.Seconds(s)
			}
			demand += float64(a.Tasks) * sum / float64(len(slots)*len(slots))
		}
		return demand <= of.DueSeconds
	}
	if !inTime(c) {
		return false
	}
	if r.Mode == capacity.AdmissionPaper {
		return true
	}
	for _, a := range r.Accepted {
		if a.TaskTime != nil && a.DueSeconds > c.DueSeconds && !inTime(a) {
			return false
		}
	}
	ends := make([]float64, len(slots))
	last := 0.0
	for range c.Tasks {
		best := 0
		for i := range slots {
			if ends[i]+c.TaskTime.Seconds(slots[i]) < ends[best]+c.TaskTime.Seconds(slots[best]) {
				best = i
			}
		}
		ends[best] += c.TaskTime.Seconds(slots[best])
		last = max(last, ends[best])
	}
	return last <= c.DueSeconds
}

// Every verdict is that of the naive way, strict promises are fewer than the paper's, and every cure
// that is offered cures, by the naive way too, while a little less of it does not.
func TestDeadlinesAreJudged(t *testing.T) {
	r := seeded(7)
	var kept, refused, onlyStrict, cured [3]int
	for i := range rounds(6_000, 300_000) {
		room, c := randomRoom(r, capacity.AdmissionStrict)
		paper := *room
		paper.Mode = capacity.AdmissionPaper
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
			if v.Code() != capacity.DeadlineMissed {
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
				more := *room
				more.Slots = append([]Free{{1, int(n)}}, room.Slots...)
				fewer := *room
				fewer.Slots = append([]Free{{1, int(n) - 1}}, room.Slots...)
				if !naive(&more, c) || naive(&fewer, c) {
					t.Errorf("round %d, %s: %d more slots do not cure, or one less does", i, room.Mode, n)
				}
			}
			few, more := c, c
			few.Tasks, more.Tasks = int(v.Cures.Tasks), int(v.Cures.Tasks)+1
			if few.Tasks > 0 && !naive(room, few) || naive(room, more) {
				t.Errorf("round %d, %s: %d tasks do not cure, or one more does", i, room.Mode, few.Tasks)
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
		mode := []capacity.AdmissionMode{capacity.AdmissionPaper, capacity.AdmissionStrict}[i%2]
		room, c := randomRoom(r, mode)
		if !room.Admits(c) {
			continue
		}
		later := c
		later.DueSeconds += math.Round(3000 * r.Float64())
		if !room.Admits(later) {
			if mode == capacity.AdmissionStrict {
				t.Fatalf("round %d: promised in %g s, refused in %g s: %+v", i, c.DueSeconds, later.DueSeconds, room)
			}
			turned++
		}
		few := c
		few.Tasks = 1 + r.IntN(c.Tasks)
		more := *room
		more.Slots = append(more.Slots[:len(more.Slots):len(more.Slots)], Free{1, 1 + r.IntN(20)})
		less := *room
		less.Accepted = less.Accepted[min(1, len(less.Accepted)):]
		if !room.Admits(few) || !more.Admits(c) || !less.Admits(c) {
			t.Fatalf("round %d, %s: %d tasks instead of %d, %v instead of %v, or one accepted job fewer are refused", i, mode, few.Tasks, c.Tasks, more.Slots, room.Slots)
		}
	}
	if turned == 0 {
		t.Error("no promise of the paper's rule was turned by a later deadline; the case below says there are some")
	}
}

// As printed the rule is not monotone: due in 10 s the job passes an accepted one due in 11 s, which it
// makes late; due in 11 s it does not pass it any more, and is refused.
func TestThePapersRuleIsNotMonotone(t *testing.T) {
	room := Room{Mode: capacity.AdmissionPaper, Slots: []Free{{1, 1}}, Accepted: []Commitment{{ID: "a", Name: "a", DueSeconds: 11, Tasks: 8, TaskTime: Constant(1)}}}
	c := Commitment{DueSeconds: 10, Tasks: 5, TaskTime: Constant(1)}
	v := room.Judge(c)
	if !v.Kept || len(v.Missed) != 1 || v.Missed[0].LateSeconds != 2 || v.Missed[0].AnywaySeconds != 0 {
		t.Errorf("due in 10 s: %+v", v)
	}
	c.DueSeconds = 11
	if v := room.Judge(c); v.Kept || v.LateSeconds != 2 || *v.Cures != (capacity.DeadlineCures{DeadlineSeconds: 13, DedicatedSlots: 1, Tasks: 3}) {
		t.Errorf("due in 11 s: %+v, %+v", v, v.Cures)
	}
}

func TestRefusalsForADeadlineSayWhatHelps(t *testing.T) {
	slots := []Free{{1, 2}, {0.5, 2}, {0.04, 10}}
	mixed := &perf.TaskTime{A: 40, B: -2 * math.Ln2} // 40·¼ = 10 s dedicated, 20 s at half
	accepted := []Commitment{
		{ID: "1", Name: "hourly 7", DueSeconds: 100, Tasks: 20, TaskTime: mixed},
		{ID: "2", Name: "nightly", DueSeconds: 300, Tasks: 40, TaskTime: mixed},
	}
	for name, c := range map[string]struct {
		room Room
		job  Commitment
		code capacity.RefusalReason
		want string
	}{
		"late itself": {Room{capacity.AdmissionStrict, slots, accepted}, Commitment{DueSeconds: 120, Tasks: 24, TaskTime: mixed}, capacity.DeadlineMissed,
			"It would be 45 s late: with the accepted jobs due no later it needs 165 s of all 4 usable slots, and it is due in 120 s. 1 accepted job due later would be too late: \"nightly\" by 15 s. " +
				"It would be admitted with a deadline in 315 s, beside 2 more dedicated slots or with at most 12 tasks."},
		"later ones": {Room{capacity.AdmissionStrict, slots, accepted}, Commitment{DueSeconds: 200, Tasks: 24, TaskTime: mixed}, capacity.DeadlineMissed,
			"1 accepted job due later would be too late: \"nightly\" by 15 s. It would be admitted with a deadline in 315 s, beside 1 more dedicated slot or with at most 20 tasks."},
		"too few seconds for a task": {Room{capacity.AdmissionStrict, slots, nil}, Commitment{DueSeconds: 9, Tasks: 1, TaskTime: mixed}, capacity.DeadlineMissed,
			"Even with all 4 usable slots to itself it would need 10 s, and it is due in 9 s. It would be admitted with a deadline in 10 s."},
		"assumed times": {Room{capacity.AdmissionStrict, slots, nil}, Commitment{DueSeconds: 9, Tasks: 40, TaskTime: Constant(1), Assumed: true}, capacity.DeadlineMissed,
			"Even with all 4 usable slots to itself it would need 10 s, and it is due in 9 s. It would be admitted with a deadline in 10 s, beside 1 more dedicated slot or with at most 36 tasks. " +
				"Its task times are the mean of the class's profile, the same on every slot, because they have not been measured by load."},
		"no slots":   {Room{Mode: capacity.AdmissionStrict}, Commitment{DueSeconds: 9, Tasks: 1, TaskTime: mixed}, capacity.NoSlots, ""},
		"unusable":   {Room{Mode: capacity.AdmissionStrict, Slots: slots[2:]}, Commitment{DueSeconds: 9, Tasks: 1, TaskTime: mixed}, capacity.NoSlots, ""},
		"unmeasured": {Room{Mode: capacity.AdmissionPaper, Slots: slots}, Commitment{DueSeconds: 9, Tasks: 1}, capacity.Unmeasured, ""},
		"absurd":     {Room{Mode: capacity.AdmissionStrict, Slots: slots}, Commitment{DueSeconds: 9, Tasks: 1, TaskTime: Constant(math.NaN())}, capacity.Unmeasured, ""},
	} {
		v := c.room.Judge(c.job)
		if got := v.Reason("etl"); v.Code() != c.code || c.want != "" && got != c.want {
			t.Errorf("%s: got %q\n%s\nwant\n%s", name, v.Code(), got, c.want)
		}
	}
}

// BenchmarkPromise is an admission among 200 accepted jobs on 1,000 nodes that are all different.
func BenchmarkPromise(b *testing.B) {
	r := seeded(1)
	room := Room{Mode: capacity.AdmissionStrict}
	for range 1_000 {
		room.Slots = append(room.Slots, Free{0.1 + 0.9*r.Float64(), 4})
	}
	for i := range 200 {
		room.Accepted = append(room.Accepted, Commitment{ID: fmt.Sprint(i), DueSeconds: 36_000 * r.Float64(), Tasks: 1_000, TaskTime: &perf.TaskTime{A: 100 + float64(i%20), B: -2}})
	}
	job := Commitment{DueSeconds: 300, Tasks: 100_000, TaskTime: &perf.TaskTime{A: 100, B: -2}}
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
