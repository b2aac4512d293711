package capacity

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
)

// TestValidateRefusesWhatNoTextCanSay: problems made in Go may hold what JSON cannot.
func TestValidateRefusesWhatNoTextCanSay(t *testing.T) {
	gamma := decimal.New(-1, 0)
	for _, c := range []struct {
		name   string
		change func(*Problem)
		want   string
	}{
		{"nothing", func(p *Problem) {}, ""},
		{"NaN deadline", func(p *Problem) { p.Classes[0].DeadlineSeconds = math.NaN() }, "/classes/0/deadline_s not_finite"},
		{"infinite task", func(p *Problem) { p.Classes[0].Profile.MapMaxSeconds = math.Inf(1) }, "/classes/0/profile/map_max_s not_finite"},
		{"NaN jobs", func(p *Problem) { p.Classes[0].Jobs.Max = math.NaN() }, "/classes/0/jobs/max not_finite"},
		{"NaN gap", func(p *Problem) { p.Options.Gap = math.NaN() }, "/options/gap not_finite"},
		{"infinite fixed time", func(p *Problem) {
			p.Classes[0].Profile, p.Classes[0].Demand = nil, &Demand{1, 1, math.Inf(-1)}
		}, "/classes/0/demand/fixed_s not_finite"},
		{"NaN previous plan", func(p *Problem) { p.Options.Near = &Near{VMs: math.NaN()} }, "/options/near/vms not_finite"},
		{"negative gamma", func(p *Problem) { p.Classes[0].Profile, p.Classes[0].VMsPerJob = nil, &gamma }, "/classes/0/vms_per_job range"},
		{"no options", func(p *Problem) { p.Options = Options{} }, "/options/integrality choice\n/options/bound choice\n/options/engine choice\n/options/sharing choice\n/options/max_solve_ms range"},
		{"no period", func(p *Problem) { p.PeriodSeconds = 0 }, "/period_s range"},
		{"no billing", func(p *Problem) { p.Supply.Contracts[0].Billing = "" }, "/supply/contracts/0/billing choice"},
		{"name that is no text", func(p *Problem) { p.Classes[0].Name = "a\xff" }, "/classes/0/name text"},
		{"no classes", func(p *Problem) { p.Classes = nil }, "/classes missing"},
		{"more places than money has", func(p *Problem) { p.Classes[0].Penalty = money.Amount{Decimal: decimal.New(1, -10)} }, "/classes/0/penalty precision"},
	} {
		p, err := ReadProblem([]byte(nightly(t)), DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		c.change(&p)
		var got []string
		if err := p.Validate(); err != nil {
			for _, f := range findings(t, err) {
				got = append(got, f.Pointer+" "+f.Code)
			}
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestPremisesAreComparedWithSlack(t *testing.T) {
	p := Profile{MapTasks: 3, MapAvgSeconds: 1, MapMaxSeconds: 3 + 1e-12}
	if got := p.Findings("/profile"); len(got) != 0 {
		t.Errorf("a rounding off: got %+v, want none", got)
	}
	p.MapMaxSeconds = 3 + 1e-6
	if got := p.Findings("/profile"); len(got) != 1 || got[0].Pointer != "/profile/map_avg_s" {
		t.Errorf("a microsecond off: got %+v, want one at /profile/map_avg_s", got)
	}
}

func TestMapOnlyProfilesNeedNoReduceFigures(t *testing.T) {
	const class = `{"currency": "USD", "supply": {"on_demand": {"price": 1}}, "classes": [{"name": "a", "deadline_s": 9, "slots_per_vm": {"map": 1, "reduce": 1},
		"jobs": {"min": 0, "max": 1}, "penalty": 1, "profile": {"map_tasks": 2, "reduce_tasks": 0, "map_avg_s": 1, "map_max_s": 1 EXTRA}}]}`
	for extra, want := range map[string]string{
		"":                                       "",
		`, "reduce_avg_s": 9, "reduce_max_s": 3`: "", // left over from another job; nothing is computed from them
		`, "reduce_avg_s": -9, "first_shuffle_avg_s":1`: "/classes/0/profile/reduce_avg_s",
	} {
		_, err := ReadProblem([]byte(strings.Replace(class, "EXTRA", extra, 1)), DefaultLimits())
		got := ""
		if err != nil {
			got = findings(t, err)[0].Pointer
		}
		if got != want {
			t.Errorf("with %q: got %v, want a finding at %q", extra, err, want)
		}
	}
}

func TestFractionsOfJobsAreForRelaxedProblems(t *testing.T) {
	relaxed := strings.NewReplacer(`"executable"`, `"relaxed"`, `{"min": 9, "max": 10}`, `{"min": 8.5, "max": 9.25}`).Replace(nightly(t))
	p, err := ReadProblem([]byte(relaxed), DefaultLimits())
	if err != nil || p.Classes[0].Jobs != (JobRange{Min: 8.5, Max: 9.25}) {
		t.Errorf("got %+v, %v; want 8.5 to 9.25 jobs", p.Classes, err)
	}
}

func TestWholeNumbersMayBeWrittenAsOthersDo(t *testing.T) {
	for text, want := range map[string]int64{"30": 30, "30.0": 30, "3e1": 30, "0.3E+2": 30, "300e-1": 30, "-0": 0, "1e9": 1e9, "30.00000000000000000000": 30} {
		p, err := ReadProblem([]byte(strings.Replace(nightly(t), `"vms": 30`, `"vms": `+text, 1)), DefaultLimits())
		if err != nil || p.Supply.Contracts[0].VMs != want {
			t.Errorf("%s: got %+v, %v; want %d", text, p.Supply.Contracts, err, want)
		}
	}
}

func TestReadPlanReadsWhatIsWritten(t *testing.T) {
	half, penalty := 0.5, money.Amount{Decimal: decimal.New(81, -2)}
	want := Plan{
		Status: Optimal, Objective: money.Amount{Decimal: decimal.New(-448, -1)}, Cost: Cost{Currency: "USD", PeriodSeconds: 3600, Total: penalty},
		Classes:  []ClassPlan{{Name: "a", Time: &Times{Average: &half}, Slots: &Slots{52, 29}, Verdict: VerdictFull, BreakEvenPenalty: &penalty}},
		Warnings: []Warning{}, Conflicts: []fault.Finding{},
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadPlan(text)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
