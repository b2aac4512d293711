package web_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// built returns a test of ui/test as node runs it.
func built(t *testing.T, name string) string {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Fatal("node is missing: scripts/setup installs it")
	}
	script := filepath.Join(t.TempDir(), name+".mjs")
	programs, err := filepath.Glob("ui/node_modules/@esbuild/*/bin/esbuild")
	if err != nil || len(programs) != 1 {
		t.Fatalf("the bundler is there %d times (%v): make ui fetches it", len(programs), err)
	}
	build := exec.Command(programs[0], "ui/test/"+name+".ts", "--bundle", "--format=esm", "--target=es2022", "--outfile="+script, "--tsconfig=ui/tsconfig.json", "--log-level=warning")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("it is not built: %v\n%s", err, said)
	}
	return script
}

// TestScenarioAddresses runs ui/test/addresses.ts. Scenarios are read as written, and broken addresses of every kind
// are read as far as possible.
func TestScenarioAddresses(t *testing.T) {
	script, rounds := built(t, "addresses"), 1_000
	if long() {
		rounds = 300_000
	}
	for _, seed := range []int{1, os.Getpid()} {
		said, err := exec.Command("node", script, fmt.Sprint(seed), fmt.Sprint(rounds)).CombinedOutput()
		if err != nil {
			t.Fatalf("with the seed %d: %v\n%.2000s", seed, err, said)
		}
		t.Logf("seed %d: %s", seed, said)
	}
}

// TestMonthsHaveALastHour runs ui/test/month.ts. In it nothing of the month comes after this hour, and its plan tells the rest.
func TestMonthsHaveALastHour(t *testing.T) {
	t.Parallel()
	const moments = `["2026-11-30T22:59:59Z", "2026-11-30T23:00:01Z", "2026-11-30T23:59:59Z", "2026-12-31T23:30:00Z", "2026-12-01T00:30:00Z"]`
	last := "0 hours: by the plan of this hour, the month's last."
	want := []string{"1 hours: with demand as it is where there is no forecast.", last, last, last, "743 hours: with demand as it is where there is no forecast."}
	text, err := exec.Command("node", built(t, "month"), moments).Output()
	var said []string
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	if diff := cmp.Diff(want, said); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestMomentsTellTheYear runs ui/test/moments.ts. A moment tells the date where that is not today's, and the year where that is
// not this one.
func TestMomentsTellTheYear(t *testing.T) {
	t.Parallel()
	const moments = `["2026-12-24T10:00:00Z", "2026-12-24T18:30:00Z", "2026-12-25T10:00:00Z", "2027-12-24T10:00:00Z", "2025-12-24T10:00:00Z", "2026-12-31T23:30:00Z"]`
	want := []string{"19:30 CET", "25 Dec, 11:00 CET", "24 Dec 2027, 11:00 CET", "24 Dec 2025, 11:00 CET", "1 Jan 2027, 00:30 CET"}
	text, err := exec.Command("node", built(t, "moments"), moments).Output()
	var said []string
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	if err != nil || !slices.Equal(said, want) {
		t.Errorf("got %q, want %q (%v)", said, want, err)
	}
}

// TestStandingOfWaitingClasses runs ui/test/standing.ts. What runs in a schedule's first hour counts, whoever started it, and what
// has ended does not; what arrived before waits; the next start is that of all that start then.
func TestStandingOfWaitingClasses(t *testing.T) {
	t.Parallel()
	const row = `{"class":%q,"arrived":"2026-12-24T0%d:00:00Z","start":"2026-12-24T0%d:00:00Z","run_s":%d,"jobs":%d}`
	rows := func(all ...[]any) string {
		var texts []string
		for _, of := range all {
			texts = append(texts, fmt.Sprintf(row, of...))
		}
		return "[" + strings.Join(texts, ",") + "]"
	}
	classes := `{"name":"reports","waits":true},{"name":"idle","waits":true},{"name":"coming","waits":true},{"name":"web","waits":false}`
	before := rows([]any{"reports", 1, 4, 9000, 2}, []any{"reports", 1, 4, 7200, 1}, []any{"reports", 2, 5, 3601, 8}) // until 7, 6 and 7
	starts := rows([]any{"reports", 5, 6, 3600, 16}, []any{"reports", 5, 8, 3600, 64}, []any{"reports", 4, 7, 1800, 3}, []any{"reports", 6, 7, 3600, 1},
		[]any{"coming", 6, 9, 3600, 1}, []any{"web", 6, 6, 3600, 5}, []any{"web", 7, 7, 3600, 5})
	followed := `{"question":{"periods":[{"start":"2026-12-24T06:00:00Z"}],"before":{"running":` + before + `}},"answer":{"classes":[` + classes + `],"schedule":` + starts + `}}`
	want := []string{"reports 26 67: 67 wait, up to 4 start at 08:00", "idle 0 0: none waits", "coming 0 0: none waits, up to 1 starts at 10:00"}
	text, err := exec.Command("node", built(t, "standing"), followed, "2026-12-24T06:30:00Z").Output()
	var said []string
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	if err != nil || !slices.Equal(said, want) {
		t.Errorf("got %q, want %q (%v)", said, want, err)
	}
	text, err = exec.Command("node", built(t, "standing"), strings.ReplaceAll(followed, "T07:", "T23:"), "2026-12-24T06:30:00Z").Output()
	if err != nil || !strings.Contains(string(text), "67 wait, up to 64 start at 09:00") {
		t.Errorf("got %q (%v)", text, err)
	}
	text, err = exec.Command("node", built(t, "standing"), `{"may_wait":false,"without":"Nothing waits."}`, "2026-12-24T06:30:00Z").Output()
	if err != nil || string(text) != "[]\n" {
		t.Errorf("got %q (%v)", text, err)
	}
}

// TestTablesStartNoFormula runs ui/test/tables.ts. A spreadsheet takes nothing that the page saves and copies for a
// formula.
func TestTablesStartNoFormula(t *testing.T) {
	hostile := []string{"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "＋1", "－1", "＠x", `=HYPERLINK("http://x","y")`, `-2+3+cmd|' /C calc'!A0`,
		" =1", "\u00a0+1", "\u3000＝1", "=1,2", "=\"a\"\n\"b\"", "\u2003-1", "@"}
	plain := []string{"nightly-etl", "a=b", `quo"te`, "com,ma", "two\nlines", "'=1", `"=1"`, " x", "5"}
	names, _ := json.Marshal(append(hostile[:len(hostile):len(hostile)], plain...))
	text, err := exec.Command("node", built(t, "tables"), string(names)).Output()
	var said struct {
		CSV, TSV string
		Again    []string
	}
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	want := []string{"number"}
	for _, name := range hostile {
		want = append(want, "'"+name)
	}
	want = append(want, plain...)
	saved, err := csv.NewReader(strings.NewReader(said.CSV)).ReadAll()
	if err != nil || len(saved) != len(want) {
		t.Fatalf("%d lines are saved, want %d (%v)", len(saved), len(want), err)
	}
	copied := strings.Split(strings.TrimSuffix(said.TSV, "\n"), "\n")
	for i := 1; i < len(want); i++ {
		if saved[0][i] != want[i] || saved[i][i] != want[i] || saved[i][0] != "-1.5" {
			t.Errorf("saved is the heading %q, the cell %q and the number %q; want %q", saved[0][i], saved[i][i], saved[i][0], want[i])
		}
		one := strings.NewReplacer("\t", " ", "\r", " ", "\n", " ").Replace(want[i])
		if cell := strings.Split(copied[i], "\t")[i]; cell != one {
			t.Errorf("copied is %q, want %q", cell, one)
		}
		if i <= len(hostile) && said.Again[i-1] != hostile[i-1] {
			t.Errorf("%q is read again as %q", hostile[i-1], said.Again[i-1])
		}
	}
	t.Attr("S3", fmt.Sprintf("the page: %d hostile names start no formula in what it saves and copies", len(hostile)))
}

// TestShortestPossibleTimes runs ui/test/planned.ts. The page's times of a class are those of plans: a calibration multiplies all of
// the time, overhead included, where plans use it; a speed leaves the overhead; a promise counts with its target alone.
func TestShortestPossibleTimes(t *testing.T) {
	const bounds = `"bounds":{"lower":[52,0,4],"average":[36,8,20],"upper":[20,16,36]},"overhead":4`
	const calibrated = `"calibration":{"bound":"average","factor":1.5}`
	cases, want := "", [][3]float64{}
	for _, c := range []struct {
		of   string
		want [3]float64
	}{
		{`"class":{},` + bounds + `,"bound":"average","speed":1`, [3]float64{36, 8, 20}},
		{`"class":{` + calibrated + `},` + bounds + `,"bound":"average","speed":1`, [3]float64{36, 8, 20}},
		{`"class":{` + calibrated + `},` + bounds + `,"bound":"calibrated","speed":1`, [3]float64{54, 12, 30}},
		{`"class":{},` + bounds + `,"bound":"calibrated","speed":1`, [3]float64{36, 8, 20}},
		{`"class":{` + calibrated + `},` + bounds + `,"bound":"calibrated","speed":2`, [3]float64{27, 6, 18}},
		{`"class":{"target":0.99,"promise":{"factor":2}},` + bounds + `,"bound":"upper","speed":1`, [3]float64{40, 32, 72}},
		{`"class":{"promise":{"factor":2}},` + bounds + `,"bound":"lower","speed":1`, [3]float64{52, 0, 4}},
		{`"class":{"demand":{"map_work_s":10,"reduce_work_s":4,"fixed_s":6}},"bounds":null,"overhead":0,"bound":"calibrated","speed":2`, [3]float64{5, 2, 3}},
	} {
		cases, want = cases+",{"+c.of+"}", append(want, c.want)
	}
	text, err := exec.Command("node", built(t, "planned"), "["+cases[1:]+"]").Output()
	var said [][3]float64
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	if diff := cmp.Diff(want, said); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestTheDearestMonthIsWhole runs ui/test/dearest.ts. A month with hours without a plan is not compared, since its bill lacks them.
func TestTheDearestMonthIsWhole(t *testing.T) {
	const month = `{"start":"2026-0%d-01T00:00:00Z","cost":{"bill":"%d.00"}%s}`
	const without = `,"infeasible_hours":44`
	horizons, want := "", []string{"", " The dearest month is March 2026, with a bill of $700.00.", " The dearest month of those with a plan for every hour is January 2026, with a bill of $500.00.", "",
		" The dearest months are January 2026 and March 2026, each with a bill of $700.00.", " 3 of 4 months share the highest bill, $700.00; January 2026 is the first of them."}
	for _, c := range [][2]string{{"", "[500,500,500]"}, {"", "[500,200,700]"}, {without, "[500,200,700]"}, {without, "[500,500,700]"}, {"", "[700,200,700]"}} {
		var bills [3]int
		if err := json.Unmarshal([]byte(c[1]), &bills); err != nil {
			t.Fatal(err)
		}
		horizons += fmt.Sprintf(`,{"currency":"USD","total":{"hours":2160},"months":[`+month+","+month+","+month+"]}", 1, bills[0], "", 2, bills[1], "", 3, bills[2], c[0])
	}
	horizons += fmt.Sprintf(`,{"currency":"USD","total":{"hours":2160},"months":[`+month+","+month+","+month+","+month+"]}", 1, 700, "", 2, 200, "", 3, 700, "", 4, 700, "")
	horizons += fmt.Sprintf(`,{"currency":"USD","total":{"hours":168},"months":[`+month+","+month+"]}", 1, 60, "", 2, 700, "") // a week, of which a day is the first month's
	want = append(want, "")
	text, err := exec.Command("node", built(t, "dearest"), "["+horizons[1:]+"]").Output()
	var said []string
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	if diff := cmp.Diff(want, said); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestMonthsUnderAScenarioLeadWithBothBills runs ui/test/beside.ts. The bill as it is stands beside that with the scenario, and the
// value of refused jobs apart. What was not planned has no figure.
func TestMonthsUnderAScenarioLeadWithBothBills(t *testing.T) {
	horizons, want := "", []string{}
	for _, c := range []struct{ scenario, difference, asItIs, none, want string }{
		{"", "", "", "", "From 1 Mar 2026 to 1 Apr 2026 the VM bill is $1,234; refused jobs, on no bill, are valued at $5.00."},
		{"", `,"in_whole_jobs":{"bill":"1234.00"}`, "", "", "From 1 Mar 2026 to 1 Apr 2026 the VM bill is $1,234; refused jobs, on no bill, are valued at $5.00."},
		{"", `,"in_whole_jobs":{"bill":"2000.00"}`, "", "", "From 1 Mar 2026 to 1 Apr 2026 the VM bill is $1,234; refused jobs, on no bill, are valued at $5.00. Plans of single hours hold whole jobs: rented as they are made, the bill is $2,000."},
		{"", `,"in_whole_jobs":{"bill":"900.00","infeasible_hours":3}`, "", "", "From 1 Mar 2026 to 1 Apr 2026 the VM bill is $1,234; refused jobs, on no bill, are valued at $5.00. Plans of single hours hold whole jobs, and 3 hours have none."},
		{`,"scenario":"peak"`, `,"difference":{"bill":"-56.00"}`, `{"bill":"1290.00","penalties":"5.00"}`, "", `With the scenario "peak" the VM bill from 1 Mar 2026 to 1 Apr 2026 is $1,234, $56.00 less than as it is ($1,290). Refused jobs, on no bill, are valued at $5.00, and as it is at $5.00.`},
		{`,"scenario":""`, `,"difference":{"bill":"34.50"}`, `{"bill":"1199.50","penalties":"0.00"}`, "", `With the changes the VM bill from 1 Mar 2026 to 1 Apr 2026 is $1,234, $34.50 more than as it is ($1,200). Refused jobs, on no bill, are valued at $5.00, and as it is at $0.00.`},
		{`,"scenario":"peak"`, `,"difference":{"bill":"0.00"}`, `{"bill":"1234.00","penalties":"0.00"}`, "", `With the scenario "peak" the VM bill from 1 Mar 2026 to 1 Apr 2026 is $1,234, the same as without it. Refused jobs, on no bill, are valued at $5.00, and as it is at $0.00.`},
		{`,"scenario":"peak"`, "", `{"bill":"990.00","penalties":"0.00"}`, `,"infeasible_hours":3`, `With the scenario "peak" the VM bill from 1 Mar 2026 to 1 Apr 2026 is $1,234. As it is, it is $990.00; the two are not compared, because hours without a plan are in neither. Refused jobs, on no bill, are valued at $5.00, and as it is at $0.00.`},
		{`,"scenario":"peak"`, "", `{"bill":"0.00","penalties":"0.00"}`, `,"infeasible_hours":744`, `With the scenario "peak" the VM bill from 1 Mar 2026 to 1 Apr 2026 is $1,234. As it is, no hour has a plan. Refused jobs, on no bill, are valued at $5.00.`},
		{`,"scenario":"peak"`, "", "", "", `With the scenario "peak" the VM bill from 1 Mar 2026 to 1 Apr 2026 is $1,234. What it is without the scenario was not planned before the work was ended. Refused jobs, on no bill, are valued at $5.00.`},
	} {
		if c.asItIs != "" {
			c.asItIs = `,"as_it_is":{"total":{"hours":744,"cost":` + c.asItIs + c.none + `}}`
		}
		horizons += fmt.Sprintf(`,{"currency":"USD","months":[],"total":{"start":"2026-03-01T00:00:00Z","hours":744,"cost":{"bill":"1234.00","penalties":"5.00"}%s}%s%s}`, c.difference, c.scenario, c.asItIs)
		want = append(want, c.want)
	}
	text, err := exec.Command("node", built(t, "beside"), "["+horizons[1:]+"]").Output()
	var said []string
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	if diff := cmp.Diff(want, said); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestPurchasesLeadWithTheBill runs ui/test/purchases.ts. The page gives the change of the VM bill first, and calls
// nothing a saving that is on no bill.
func TestPurchasesLeadWithTheBill(t *testing.T) {
	purchases, want := "", []string{}
	for _, c := range []struct{ today, bought, avoided, needed, found, want string }{
		{"130768.00", "117000.00", "59305.00", `"2027-08-01T00:00:00Z"`, "null", `Buy 3 VMs of "year". The VM bill falls by $13,768 a month (11 %), if demand lasts until the end of August 2027. It serves 20 job-hours more, which you value at $59,305 a month.`},
		{"20000.00", "19800.00", "0.00", "null", "null", `Buy 3 VMs of "year". The VM bill falls by $200.00 a month (1.0 %), but going on like this by less than the $900.00 owed.`},
		{"10000.00", "10300.00", "700.00", "null", "null", `Buy 3 VMs of "year". The VM bill rises by $300.00 a month (3.0 %). It serves 20 job-hours more, which you value at $700.00 a month.`},
		{"5000.00", "4900.00", "0.00", `"2027-08-01T00:00:00Z"`, `{"left_out":["spot"],"vms":[3],"others_tried":7}`,
			`Buy 3 VMs of "year". The VM bill falls by $100.00 a month (2.0 %), if demand lasts until the end of August 2027. Without spot VMs, it is the best as well; 7 others were tried.`},
		{"5000.00", "4900.00", "0.00", `"2027-08-01T00:00:00Z"`, `{"left_out":["spot"],"vms":[4],"others_tried":1}`,
			`Buy 3 VMs of "year". The VM bill falls by $100.00 a month (2.0 %), if demand lasts until the end of August 2027. Without spot VMs, 4 VMs of "year" would be best, but not with spot VMs; 1 other was tried.`},
		{"5000.00", "4900.00", "0.00", `"2027-08-01T00:00:00Z"`, `{"left_out":["started_jobs"],"vms":[0],"others_tried":2}`,
			`Buy 3 VMs of "year". The VM bill falls by $100.00 a month (2.0 %), if demand lasts until the end of August 2027. Hour by hour, none lowers bill and value refused together.`},
		{"5000.00", "4900.00", "0.00", `"2027-08-01T00:00:00Z"`, `{"left_out":["spot","started_jobs"],"vms":[4],"others_tried":2}`,
			`Buy 3 VMs of "year". The VM bill falls by $100.00 a month (2.0 %), if demand lasts until the end of August 2027. Hour by hour and without spot VMs, 4 VMs of "year" would be best, but not with spot VMs, as months plan it; 2 others were tried.`},
		{"5000.00", "4900.00", "0.00", `"2027-08-01T00:00:00Z"`, `{"left_out":["budget"],"vms":null,"others_tried":2,"today_without_plan":{"hours":24,"first":"2026-02-01T10:00:00Z","conflict":"The budget of 1.00 pays for 5.","cure":{"detail":"Raise the budget to 2.00."}}}`,
			`Buy 3 VMs of "year". The VM bill falls by $100.00 a month (2.0 %), if demand lasts until the end of August 2027. 24 hours have no plan with today's contracts alone, the first on 1 Feb 2026: The budget of 1.00 pays for 5. Raise the budget to 2.00, and every hour has a plan. Without the budget, no purchase keeps every promise.`},
		{"10000.00", "10000.00", "700.00", `"2026-01-01T00:00:00Z"`, "null", `Buy 3 VMs of "year". The VM bill stays the same. It serves 20 job-hours more, which you value at $700.00 a month.`},
	} {
		purchases += fmt.Sprintf(`,{"status":"optimal","currency":"USD","offers":[{"name":"year","vms":3}],"obligation":"900.00","today":{"bill":%q},"recommended":{"bill":%q},"bill_saving":{"amount":"1.00","share":0.1},"penalties_avoided":%q,"served_more_job_hours":20,"saving":{"amount":"73073.00","share":0.383},
			"months":[{"month":"2026-01-01T00:00:00Z"},{"month":"2026-02-01T00:00:00Z"}],"demand_needed_until":%s,"found":%s,"break_even_month":"2026-01-01T00:00:00Z","horizon":{"total":{"hours":730}}}`, c.today, c.bought, c.avoided, c.needed, c.found)
		want = append(want, c.want)
	}
	text, err := exec.Command("node", built(t, "purchases"), "["+purchases[1:]+"]").Output()
	var said []string
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	if diff := cmp.Diff(want, said); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
