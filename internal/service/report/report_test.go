package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/words"
)

func amountIn(hundredths int64) money.Amount {
	return money.Amount{Decimal: decimal.New(hundredths, -2)}
}

func TestTextAlignsByWhatIsSeen(t *testing.T) {
	table := Table{Columns: []string{"Class", "VMs", "Verdict"}, Rows: [][]Cell{
		{text("夜間バッチ"), {"40.50", true}, text("full")},
		{text("émile"), {"7.00", true}, text("none")},
		{text("esc\x1b[2J\u202eape"), {"100.00", true}, text("")},
		{text(strings.Repeat("x", 60) + "east"), {"1.00", true}, text(strings.Repeat("y", 60))},
	}}
	var b strings.Builder
	if err := table.Text(&b); err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"Class" + strings.Repeat(" ", 43+2+3) + "VMs  Verdict",
		"夜間バッチ" + strings.Repeat(" ", 38+2+1) + "40.50  full",
		"émile" + strings.Repeat(" ", 43+2+2) + "7.00  none",
		"esc\uFFFD[2J\uFFFDape" + strings.Repeat(" ", 37+2) + "100.00",
		strings.Repeat("x", 32) + "…" + strings.Repeat("x", 11) + "east" + strings.Repeat(" ", 2+2) + "1.00  " + strings.Repeat("y", 60),
		"",
	}, "\n")
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

// nightlyPlan returns a plan with one VM contract and 2 of 3 jobs admitted.
func nightlyPlan() (capacity.Problem, capacity.Plan) {
	average, quota := 2694.54, int64(20)
	even := amountIn(81)
	p := capacity.Problem{
		Currency: "EUR", PeriodSeconds: 7200, Options: capacity.DefaultOptions(),
		Supply: capacity.Supply{
			Contracts: []capacity.Contract{{Name: "yearly", VMs: 5, Price: amountIn(10), Billing: capacity.BilledAlways}},
			OnDemand:  capacity.OnDemand{Price: amountIn(20), Quota: &quota},
		},
		Classes: []capacity.Class{
			{Name: "etl", DeadlineSeconds: 2700, Jobs: capacity.JobRange{Max: 3}, Penalty: amountIn(500)},
			{Name: "known", Jobs: capacity.JobRange{Max: 1}, Penalty: amountIn(1)},
		},
	}
	return p, capacity.Plan{
		Status: capacity.Feasible,
		Cost: capacity.Cost{Total: amountIn(720), OnDemand: amountIn(120), Reserved: amountIn(80), ReservedIdle: amountIn(20), Penalties: amountIn(500),
			Currency: "EUR", PeriodSeconds: 7200},
		VMs: capacity.VMs{Total: 7, Reserved: 4, OnDemand: 3, Contracts: []capacity.ContractUse{{Name: "yearly", VMs: 5, Used: 4}}},
		Classes: []capacity.ClassPlan{
			{Name: "etl", Admitted: 2, Refused: 1, VMs: 6.5, VMsPerJob: 3.21, Slots: &capacity.Slots{Map: 10, Reduce: 3}, Time: &capacity.Times{Average: &average},
				Verdict: capacity.VerdictPartial, Reason: "One more does not fit.", BreakEvenPenalty: &even},
			{Name: "known", Admitted: 1, VMs: 0.25, VMsPerJob: 0.25, Verdict: capacity.VerdictFull},
		},
		Proof:    &capacity.Proof{Bound: amountIn(-990), Gap: 0.0123, Method: "core", Engine: "cbc 2.10.8", Checked: true, SolveMs: 12.34},
		Warnings: []capacity.Warning{{Code: "x", Detail: "Mind the gap."}},
	}
}

func TestPlanForATerminal(t *testing.T) {
	p, pl := nightlyPlan()
	var b strings.Builder
	if err := Plan(&b, p, pl); err != nil {
		t.Fatal(err)
	}
	want := `Rent 7 VMs (4 reserved, 3 on demand) for 2.20 EUR a period of 7200 s; 3 of 4 jobs admitted, and 1 refused, valued at 5.00 EUR. At most 1.3 % from optimal.

Class  Admitted   VMs  Map slots  Reduce slots  Time (average)  Deadline  Verdict
etl      2 of 3  6.50         10             3        2694.5 s    2700 s  partial
known    1 of 1  0.25          –             –               –         –  full

Supply          Price per VM  VMs  Used  Amount a period of 7200 s
yearly            0.10 EUR/h    5     4
Reserved, used                        4                   0.80 EUR
Reserved, idle                                            0.20 EUR
On demand         0.20 EUR/h   20     3                   1.20 EUR
VM bill                               7                   2.20 EUR
Value refused                                             5.00 EUR
Bill and value                                            7.20 EUR

etl: One more does not fit.
Warning: Mind the gap.
Proved by the built-in solver: no plan's bill and value together are more than 9.90 EUR lower (gap 1.3 %). cbc 2.10.8 gave no answer to compare. Confirmed by the independent checker. Made in 12.3 ms.
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	pl.Proof.Limited = capacity.ClockCutoff
	if said := quality(pl); said != "At most 1.3 % from optimal when the time was over." {
		t.Errorf("of a plan whose search the clock ended it says %q", said)
	}
}

// Without its problem a plan has no times, deadlines, prices or quotas; its amounts still add up.
func TestPlanAlone(t *testing.T) {
	_, pl := nightlyPlan()
	var b strings.Builder
	if err := PlanAlone(&b, pl); err != nil {
		t.Fatal(err)
	}
	want := `Rent 7 VMs (4 reserved, 3 on demand) for 2.20 EUR a period of 7200 s; 3 of 4 jobs admitted, and 1 refused, valued at 5.00 EUR. At most 1.3 % from optimal.

Class  Admitted   VMs  Map slots  Reduce slots  Verdict
etl      2 of 3  6.50         10             3  partial
known    1 of 1  0.25          –             –  full

Supply          VMs  Used  Amount a period of 7200 s
yearly            5     4
Reserved, used          4                   0.80 EUR
Reserved, idle                              0.20 EUR
On demand               3                   1.20 EUR
VM bill                 7                   2.20 EUR
Value refused                               5.00 EUR
Bill and value                              7.20 EUR
`
	if got, _, _ := strings.Cut(b.String(), "\netl: "); got != want {
		t.Errorf("plan (-want +got):\n%s", cmp.Diff(want, got))
	}
	pl.VMs.Spot, pl.VMs.Types = 1, []capacity.TypeVMs{{Name: "large", OnDemand: 3}, {Name: "small", Spot: 1}}
	b.Reset()
	if err := PlanAlone(&b, pl); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"On demand of large          3\n", "Spot of small               1\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the plan does not say %q:\n%s", want, b.String())
		}
	}
}

func TestPlanForASpreadsheet(t *testing.T) {
	p, pl := nightlyPlan()
	var b strings.Builder
	if err := Classes(p, pl).CSV(&b); err != nil {
		t.Fatal(err)
	}
	want := `class,admitted,refused,vms,vms_per_job,slots_map,slots_reduce,time_lower_s,time_average_s,time_upper_s,deadline_s,verdict,reason,break_even_penalty,flip_penalty,flip_deadline_s,flip_on_demand_price,penalty,currency
etl,2,1,6.5,3.21,10,3,,2694.54,,2700,partial,One more does not fit.,0.81,,,,5.00,EUR
known,1,0,0.25,0.25,,,,,,,full,,,,,,0.01,EUR
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestHeadline(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*capacity.Plan)
		want   string
	}{
		{"proved", func(pl *capacity.Plan) { pl.Status, pl.Proof.Gap = capacity.Optimal, 0 }, "Proved optimal."},
		{"proved within a gap", func(pl *capacity.Plan) { pl.Status, pl.Proof.Gap = capacity.Optimal, 1e-7 }, "Proved optimal to 0.00001 %."},
		{"no proof", func(pl *capacity.Plan) { pl.Proof = nil }, "How good it is has not been proved."},
		{"nothing to rent", func(pl *capacity.Plan) { pl.VMs = capacity.VMs{} }, "Rent no VMs for 2.20 EUR"},
		{"one VM", func(pl *capacity.Plan) { pl.VMs = capacity.VMs{Total: 1, OnDemand: 1} }, "Rent 1 VM (0 reserved, 1 on demand)"},
		{"a day", func(pl *capacity.Plan) { pl.Cost.PeriodSeconds = 86400 }, "EUR a day"},
		{"nothing asked for", func(pl *capacity.Plan) { pl.Classes = nil }, "no jobs are asked for"},
		{"one job asked for", func(pl *capacity.Plan) { pl.Classes = pl.Classes[1:] }, "; its one job admitted. "},
		{"infeasible", func(pl *capacity.Plan) { pl.Status = capacity.InfeasibleStatus }, "No plan meets these demands:"},
	} {
		_, pl := nightlyPlan()
		c.change(&pl)
		if got := Headline(pl); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q in it", c.name, got, c.want)
		}
	}
}

func TestInfeasiblePlansAreTheirConflicts(t *testing.T) {
	p, _ := nightlyPlan()
	pl := capacity.Plan{Status: capacity.InfeasibleStatus, Conflicts: []fault.Finding{
		{Pointer: "/supply/on_demand/quota", Detail: "The promised jobs need 37 VMs.", Hint: &fault.Hint{Detail: "Raise the quota to 17."}}}}
	var b strings.Builder
	if err := Plan(&b, p, pl); err != nil {
		t.Fatal(err)
	}
	if want := "No plan meets these demands:\n- /supply/on_demand/quota: The promised jobs need 37 VMs. Raise the quota to 17.\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	short := fault.Finding{Pointer: "/classes/0/jobs/min", Code: words.CodeShortage, Hint: &fault.Hint{Detail: "Promise at most 7 jobs."}}
	uncured := fault.Finding{Pointer: "/classes/1/jobs/min", Code: words.CodeShortage}
	impossible := fault.Finding{Pointer: "/classes/0/deadline_s", Code: words.CodeImpossible, Hint: &fault.Hint{Detail: "Allow 197 s or more."}}
	for _, c := range []struct {
		conflicts []fault.Finding
		enough    bool
	}{{[]fault.Finding{short, short, uncured}, true}, {[]fault.Finding{short, uncured}, false}, {[]fault.Finding{impossible, short, short}, false}, {nil, false}} {
		pl.Conflicts = c.conflicts
		if got := Headline(pl); strings.Contains(got, "Any one of these changes is enough:") != c.enough {
			t.Errorf("%d conflicts: got %q", len(c.conflicts), got)
		}
	}
}
