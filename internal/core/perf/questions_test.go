package perf

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
)

func TestQuestionsThatMakeNoSense(t *testing.T) {
	type q = BoundsQuestion
	phase := func(change func(*PhaseQuestion)) q {
		p := PhaseQuestion{Tasks: 10, MeanSeconds: 2, MaxSeconds: 5, Slots: 3}
		change(&p)
		return q{Phase: &p}
	}
	shared := func(change func(*SharedPhaseQuestion)) q {
		p := SharedPhaseQuestion{Tasks: 10, MeanSeconds: 2, MaxSeconds: 5, Slots: 8, Share: .5, Jobs: 2}
		change(&p)
		return q{SharedPhase: &p}
	}
	two := func(change func(*TwoJobsQuestion)) q {
		p := TwoJobsQuestion{Slots: 4, Jobs: []PairedJob{
			{Tasks: 10, MeanSeconds: 2, MaxSeconds: 5, Share: 1}, {Tasks: 10, MeanSeconds: 2, MaxSeconds: 5, Share: 3}}}
		change(&p)
		return q{TwoJobs: &p}
	}
	job := func(change func(*JobQuestion)) q {
		p := JobQuestion{Profile: nightly, Jobs: 2,
			Slots: SlotPools{Map: 8, Reduce: 8}, Share: PhaseShare{Map: 1, Reduce: .5}}
		change(&p)
		return q{Job: &p}
	}
	tests := []struct {
		name string
		q    q
		want []string // pointer and code
	}{
		{"nothing asked", q{}, []string{"/kind kind"}},
		{"two things asked", q{Phase: phase(func(*PhaseQuestion) {}).Phase, Job: job(func(*JobQuestion) {}).Job}, []string{"/kind kind"}},
		{"phase without tasks", phase(func(p *PhaseQuestion) { p.Tasks = 0 }), []string{"/tasks range"}},
		{"phase with too many tasks", phase(func(p *PhaseQuestion) { p.Tasks = 1e7 + 1 }), []string{"/tasks range"}},
		{"mean is NaN", phase(func(p *PhaseQuestion) { p.MeanSeconds = math.NaN() }), []string{"/mean_s not_finite"}},
		{"max is infinite", phase(func(p *PhaseQuestion) { p.MaxSeconds = math.Inf(1) }), []string{"/max_s not_finite"}},
		{"negative mean", phase(func(p *PhaseQuestion) { p.MeanSeconds = -1 }), []string{"/mean_s range"}},
		{"max below mean", phase(func(p *PhaseQuestion) { p.MaxSeconds = 1.9999 }), []string{"/max_s premise"}},
		{"max above the sum", phase(func(p *PhaseQuestion) { p.MaxSeconds = 20.0001 }), []string{"/mean_s premise"}},
		{"one task, max above it", phase(func(p *PhaseQuestion) { p.Tasks = 1 }), []string{"/mean_s premise"}},
		{"all at once", phase(func(p *PhaseQuestion) {
			*p = PhaseQuestion{Tasks: -1, MeanSeconds: -1, MaxSeconds: 1e8, Slots: 0}
		}), []string{"/tasks range", "/mean_s range", "/max_s range", "/slots range"}},
		{"no share", shared(func(p *SharedPhaseQuestion) { p.Share = 0 }), []string{"/share range"}},
		{"share above one", shared(func(p *SharedPhaseQuestion) { p.Share = 1.001 }), []string{"/share range"}},
		{"share is NaN", shared(func(p *SharedPhaseQuestion) { p.Share = math.NaN() }), []string{"/share not_finite"}},
		{"no jobs", shared(func(p *SharedPhaseQuestion) { p.Jobs = 0 }), []string{"/jobs range"}},
		{"one job of two", two(func(p *TwoJobsQuestion) { p.Jobs = p.Jobs[:1] }), []string{"/jobs range"}},
		{"second job's max below its mean", two(func(p *TwoJobsQuestion) { p.Jobs[1].MaxSeconds = 1 }), []string{"/jobs/1/max_s premise"}},
		{"first job's share negative", two(func(p *TwoJobsQuestion) { p.Jobs[0].Share = -1 }), []string{"/jobs/0/share range"}},
		{"shares above the slots", two(func(p *TwoJobsQuestion) { p.Jobs[0].Share = 1.5 }), []string{"/jobs premise"}},
		{"job without slots", job(func(p *JobQuestion) { p.Slots = SlotPools{} }), []string{"/slots/map range", "/slots/reduce range"}},
		{"job with bad shares", job(func(p *JobQuestion) { p.Share = PhaseShare{Map: 2, Reduce: -1} }), []string{"/share/map range", "/share/reduce range"}},
		{"job with no jobs", job(func(p *JobQuestion) { p.Jobs = -3 }), []string{"/jobs range"}},
		{"map-only job with a bad reduce share", job(func(p *JobQuestion) { p.Profile.ReduceTasks, p.Share.Reduce = 0, math.NaN() }), []string{"/share/reduce not_finite"}},
		{"job with an impossible profile", job(func(p *JobQuestion) { p.Profile.MapMaxSeconds = 1 }), []string{"/profile/map_max_s premise"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := Bounds(tt.q)
			var input *fault.InputError
			if !errors.As(err, &input) || a != nil {
				t.Fatalf("got answer %v and error %v, want an input error alone", a, err)
			}
			if !errors.Is(err, fault.Invalid) {
				t.Errorf("the error %v is not of kind invalid", err)
			}
			var got []string
			for _, f := range input.Findings {
				got = append(got, f.Pointer+" "+f.Code)
				if !strings.HasSuffix(f.Detail, ".") {
					t.Errorf("%q is no sentence", f.Detail)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// Figures that are right but for rounding errors are answered.
func TestPremisesHaveSlack(t *testing.T) {
	for name, q := range map[string]BoundsQuestion{
		"max a rounding below the mean": {Phase: &PhaseQuestion{Tasks: 3, MeanSeconds: 1, MaxSeconds: 1 - 1e-10, Slots: 2}},
		"max a rounding above the sum":  {Phase: &PhaseQuestion{Tasks: 1, MeanSeconds: 1, MaxSeconds: 1 + 1e-10, Slots: 2}},
		"share a rounding above one":    {SharedPhase: &SharedPhaseQuestion{Tasks: 3, MeanSeconds: 1, MaxSeconds: 1, Slots: 2, Share: 1 + 1e-10, Jobs: 1}},
		"shares a rounding above the slots": {TwoJobs: &TwoJobsQuestion{Slots: 1, Jobs: []PairedJob{
			{Tasks: 1, MeanSeconds: 1, MaxSeconds: 1, Share: .7}, {Tasks: 1, MeanSeconds: 1, MaxSeconds: 1, Share: .3 + 1e-10}}}},
	} {
		if _, err := Bounds(q); err != nil {
			t.Errorf("%s: refused: %v", name, err)
		}
	}
	a := ask[SharedPhaseAnswer](t, BoundsQuestion{SharedPhase: &SharedPhaseQuestion{
		Tasks: 3, MeanSeconds: 1, MaxSeconds: 1, Slots: 30, Share: .1 - 1e-12, Jobs: 3}})
	if !a.PremiseOK || len(a.Warnings) != 0 {
		t.Errorf("one slot per job but for rounding: got premise %v and warnings %v", a.PremiseOK, a.Warnings)
	}
	b := ask[TwoJobsAnswer](t, BoundsQuestion{TwoJobs: &TwoJobsQuestion{Slots: 100, Jobs: []PairedJob{
		{Tasks: 59, MeanSeconds: 1, MaxSeconds: 1, Share: 28.999999999999996}, {Tasks: 1000, MeanSeconds: 1, MaxSeconds: 1, Share: 71}}}})
	if got := b.Jobs[0].UpperSeconds; got != 3 { // 100 * 0.29 in floating point
		t.Errorf("a share of 29 slots but for rounding: got %g s, want 58/29 + 1", got)
	}
}

func TestAnswersInJSON(t *testing.T) {
	tests := []struct {
		name string
		q    BoundsQuestion
		want string
	}{
		{"phase", BoundsQuestion{Phase: &PhaseQuestion{Tasks: 30, MeanSeconds: 4, MaxSeconds: 10, Slots: 8}},
			`{"lower_s":15,"upper_s":23.75}`},
		{"two jobs", BoundsQuestion{TwoJobs: &TwoJobsQuestion{Slots: 10, Jobs: []PairedJob{
			{Tasks: 45, MeanSeconds: 1, MaxSeconds: 1, Share: 5}, {Tasks: 1, MeanSeconds: 1000, MaxSeconds: 1000, Share: 5}}}},
			`{"jobs":[{"lower_s":4.5,"upper_s":9.8},{"lower_s":1000,"upper_s":1000}],"last_lower_s":1000}`},
		{"shared phase", BoundsQuestion{SharedPhase: &SharedPhaseQuestion{Tasks: 30, MeanSeconds: 4, MaxSeconds: 10, Slots: 40, Share: .5, Jobs: 4}},
			`{"lower_s":24,"upper_s":40,"upper_from_submission_s":42,"slots_per_job":5,"premise_ok":true,"warnings":[]}`},
		{"job", BoundsQuestion{Job: &JobQuestion{Profile: nightly, Jobs: 10,
			Slots: SlotPools{Map: 100, Reduce: 60}, Share: PhaseShare{Map: .5, Reduce: .5}}},
			`{"coefficients":{"lower":[9000,2400,-28],"average":[8940,2260,196],"upper":[8880,2120,420]},` +
				`"lower_s":2572,"average_s":2737.3333333333335,"upper_s":2902.6666666666665,"premise_ok":true,"warnings":[]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := json.Marshal(ask[Answer](t, tt.q))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTooFewSlotsPerJob(t *testing.T) {
	a := ask[JobAnswer](t, BoundsQuestion{Job: &JobQuestion{Profile: nightly, Jobs: 10,
		Slots: SlotPools{Map: 20, Reduce: 8}, Share: PhaseShare{Map: .25, Reduce: .5}}})
	want := []capacity.Warning{
		{Code: TooFewSlotsWarning, Pointer: "/slots/map", Detail: "Each of the 10 concurrent jobs gets 0.5 map slots. The upper bound " +
			"holds only from one slot per job on: raise the map slots to 40, or raise the share to 0.5, or run at most 5 jobs at once."},
		{Code: TooFewSlotsWarning, Pointer: "/slots/reduce", Detail: "Each of the 10 concurrent jobs gets 0.4 reduce slots. The upper bound " +
			"holds only from one slot per job on: raise the reduce slots to 20, or run at most 4 jobs at once."},
	}
	if diff := cmp.Diff(want, a.Warnings); diff != "" || a.PremiseOK {
		t.Errorf("premise %v, warnings (-want +got):\n%s", a.PremiseOK, diff)
	}
}

func TestMapOnlyJobNeedsNoReduceSlots(t *testing.T) {
	p := nightly
	p.ReduceTasks = 0
	a := ask[JobAnswer](t, BoundsQuestion{Job: &JobQuestion{Profile: p, Jobs: 10,
		Slots: SlotPools{Map: 100}, Share: PhaseShare{Map: 1}}})
	if !a.PremiseOK || len(a.Warnings) != 0 || a.UpperSeconds != 8880/10+120 {
		t.Errorf("got %g s, premise %v, warnings %v, want 1008 s and no warning", a.UpperSeconds, a.PremiseOK, a.Warnings)
	}
}

// Every cure in a warning works: once applied, the premise holds. And there always is one.
func TestCuresForTooFewSlots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := SharedPhaseQuestion{Tasks: 10, MeanSeconds: 1, MaxSeconds: 2,
			Slots: rapid.Int64Range(1, 1e9).Draw(t, "slots"),
			Share: rapid.OneOf(rapid.Float64Range(minShare, 1), rapid.SampledFrom([]float64{1e-9, .1, .3, .7})).Draw(t, "share"),
			Jobs:  rapid.Int64Range(1, capacity.MaxJobs).Draw(t, "jobs")}
		bad := sharedPhaseAnswer(q)
		if bad.PremiseOK {
			return
		}
		_, cures, _ := strings.Cut(bad.Warnings[0].Detail, ": ")
		for cure := range strings.SplitSeq(strings.TrimSuffix(cures, "."), ", or ") {
			mended := q
			if n, _ := fmt.Sscanf(cure, "raise the slots to %d", &mended.Slots); n == 1 {
			} else if n, _ := fmt.Sscanf(cure, "raise the share to %g", &mended.Share); n == 1 {
			} else if n, _ := fmt.Sscanf(cure, "run at most %d jobs", &mended.Jobs); n == 1 {
			} else if cure == "raise both the slots and the share" {
				mended.Slots, mended.Share = capacity.MaxJobs, 1
			} else {
				t.Fatalf("%q is no cure", cure)
			}
			if err := Validate(BoundsQuestion{SharedPhase: &mended}); err != nil || !sharedPhaseAnswer(mended).PremiseOK {
				t.Fatalf("%+v: %q is no cure (%v)", q, cure, err)
			}
		}
	})
}

func TestUnevenSlotsPerJob(t *testing.T) {
	a := ask[SharedPhaseAnswer](t, BoundsQuestion{SharedPhase: &SharedPhaseQuestion{
		Tasks: 30, MeanSeconds: 4, MaxSeconds: 10, Slots: 5, Share: 1, Jobs: 2}})
	if !near(a.UpperSeconds, 60) || !near(a.UpperFromSubmissionSeconds, 75) || !a.PremiseOK {
		t.Errorf("got %g s, %g s from submission, premise %v, want 100/2.5+20, 110/2+20, true", a.UpperSeconds, a.UpperFromSubmissionSeconds, a.PremiseOK)
	}
	if len(a.Warnings) != 1 || a.Warnings[0].Code != UnevenSlotsWarning || !strings.Contains(a.Warnings[0].Detail, "up to 70 s") {
		t.Errorf("warnings: got %+v, want one of %s that names 100/2+20 s", a.Warnings, UnevenSlotsWarning)
	}
}

func TestManySlotsDoNotMakeTheLowerBoundNegative(t *testing.T) {
	p := nightly
	p.OverheadSeconds = 3
	a := ask[JobAnswer](t, BoundsQuestion{Job: &JobQuestion{Profile: p, Jobs: 1,
		Slots: SlotPools{Map: 1e9, Reduce: 1e9}, Share: PhaseShare{Map: 1, Reduce: 1}}})
	if a.LowerSeconds != 3 || a.Coefficients.Lower[2] != -25 || !(a.LowerSeconds <= a.AverageSeconds) {
		t.Errorf("got lower bound %g s of coefficients %v, want the overhead of 3 s", a.LowerSeconds, a.Coefficients.Lower)
	}
}

// The answer to any question is a finding, or can be written as JSON, which has no NaN and no infinity.
func TestEveryAnswerIsFinite(t *testing.T) {
	extreme := rapid.OneOf(rapid.SampledFrom([]float64{0, 1e-320, 1e-9, 1, 1e7, math.NaN(), math.Inf(1), -1}), rapid.Float64Range(0, 1e7))
	count := rapid.OneOf(rapid.SampledFrom([]int64{0, 1, 2, 1e7, 1e9, -1, math.MaxInt64, math.MinInt64}), rapid.Int64Range(0, 100))
	share := rapid.OneOf(rapid.SampledFrom([]float64{1e-9, 1e-320, 0, 1, 1 + 1e-10, math.NaN(), math.Inf(1)}), rapid.Float64Range(0, 1))
	answered := 0
	rapid.Check(t, func(t *rapid.T) {
		tasks := count.Draw(t, "tasks")
		longest := extreme.Draw(t, "longest")
		mean := rapid.OneOf(extreme, rapid.Just(longest)).Draw(t, "mean")
		slots, jobs, part := count.Draw(t, "slots"), count.Draw(t, "jobs"), share.Draw(t, "share")
		p := profiles.Draw(t, "profile")
		p.MapTasks, p.MapAvgSeconds, p.MapMaxSeconds = tasks, mean, longest
		for _, q := range []BoundsQuestion{
			{Phase: &PhaseQuestion{Tasks: tasks, MeanSeconds: mean, MaxSeconds: longest, Slots: slots}},
			{SharedPhase: &SharedPhaseQuestion{Tasks: tasks, MeanSeconds: mean, MaxSeconds: longest, Slots: slots, Share: part, Jobs: jobs}},
			{TwoJobs: &TwoJobsQuestion{Slots: slots, Jobs: []PairedJob{
				{Tasks: tasks, MeanSeconds: mean, MaxSeconds: longest, Share: part}, {Tasks: 1, MeanSeconds: 1, MaxSeconds: 1, Share: part}}}},
			{Job: &JobQuestion{Profile: p, Slots: SlotPools{Map: slots, Reduce: slots},
				Share: PhaseShare{Map: part, Reduce: part}, Jobs: jobs}},
		} {
			a, err := Bounds(q)
			if err != nil {
				continue
			}
			answered++
			if _, err := json.Marshal(a); err != nil {
				t.Fatalf("%+v has no JSON: %v", a, err)
			}
		}
	})
	if answered < 20 {
		t.Errorf("only %d questions were answered", answered)
	}
}
