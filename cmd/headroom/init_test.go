package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/test/historytest"
)

// recorded writes 60 runs of two jobs, three a day, from a Monday on, and returns how long those of each job took that
// succeeded.
func recorded(t *testing.T, dir string) (took map[string][]float64, monday time.Time) {
	t.Helper()
	monday = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	took = map[string][]float64{}
	for i, app := range historytest.Apps(3, 60, 12) {
		move := monday.Add(time.Duration(8*i)*time.Hour).UnixMilli() - app.Started
		app.Started, app.Finished = app.Started+move, app.Finished+move
		for _, stage := range app.Stages {
			for j := range stage {
				stage[j].Start, stage[j].Finish = stage[j].Start+move, stage[j].Finish+move
			}
		}
		if !app.Failed {
			took[app.Name] = append(took[app.Name], float64(app.Finished-app.Started)/1000)
		}
		if err := os.WriteFile(filepath.Join(dir, app.ID), []byte(app.EventLog()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return took, monday
}

// A cluster is made of past runs, whose deadlines and arrivals are theirs.
func TestInitOfPastRuns(t *testing.T) {
	t.Parallel()
	h := startHomed(t)
	logs := t.TempDir()
	took, monday := recorded(t, logs)
	for name, text := range map[string]string{"manifest.csv": "file,kind,outcome\na,b,c\n", "notes.txt": "of no use\n"} {
		if err := os.WriteFile(filepath.Join(logs, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	said := h.verb(t, "init", "shop", "--from-history", logs, "--instance", "m5.xlarge", "--price", "0.192")
	for _, want := range []string{"Made the cluster shop with 2 classes.", "m5.xlarge runs 4 tasks at once", "Proved optimal", "left out 12, such as ", "It failed", "times its", "2 files are no logs of past runs: manifest.csv and notes.txt"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	end := monday.Add(59*8*time.Hour + time.Hour)
	for job, all := range took {
		name := strings.ReplaceAll(job, " ", "-")
		var class struct {
			Deadline float64 `json:"deadline_s"`
			Slots    struct{ Map float64 }
			Jobs     struct {
				Min, Max float64
				All      bool
			}
		}
		if err := json.Unmarshal([]byte(h.server.get(t, "/v1/clusters/shop/classes/"+name)), &class); err != nil {
			t.Fatal(err)
		}
		late := 0
		for _, s := range all {
			if s > class.Deadline {
				late++
			}
		}
		if part := float64(late) / float64(len(all)); part > 0.05 {
			t.Errorf("%d of %d runs of %s took longer than %g s", late, len(all), job, class.Deadline)
		}
		sooner := 0
		for _, s := range all {
			if s <= class.Deadline-1 {
				sooner++
			}
		}
		if float64(sooner) >= 0.95*float64(len(all)) {
			t.Errorf("%d of %d runs of %s took less than %g s by a second", sooner, len(all), job, class.Deadline)
		}
		if !class.Jobs.All || class.Jobs.Min != class.Jobs.Max || class.Jobs.Min < 1 {
			t.Errorf("%s has %g to %g jobs", job, class.Jobs.Min, class.Jobs.Max)
		}
		// Apps takes the two names in turn: each comes every 16 hours, of which whole weeks count, the last ones.
		weeks := math.Floor(end.Sub(monday).Hours() / 24 / 7)
		count := 0.0
		for i := range 60 {
			at := monday.Add(time.Duration(8*i) * time.Hour)
			if fmt.Sprintf("etl %d", i%2) == job && !at.Before(end.Add(-time.Duration(weeks)*7*24*time.Hour)) {
				count++
			}
		}
		var pattern struct {
			Week   map[string][]float64
			Counts string
		}
		if err := json.Unmarshal([]byte(h.server.get(t, "/v1/clusters/shop/forecasts/pattern?class="+name)), &pattern); err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, day := range pattern.Week {
			for _, x := range day {
				sum += x
			}
		}
		if math.Abs(sum-count/weeks) > 1e-3 || pattern.Counts != "arrivals" {
			t.Errorf("%s arrives %g times a week (%s), want %g", job, sum, pattern.Counts, count/weeks)
		}
	}
	bill := regexp.MustCompile(`the VM bill is [0-9.]+ USD`)
	if months := h.verb(t, "months", "--cluster", "shop"); bill.FindString(said) == "" || bill.FindString(said) != bill.FindString(months) {
		t.Errorf("months say\n%s, and init\n%s", months, said)
	}

	// Runs on 20 processors are planned with about as many slots, though 20 tasks would not always meet that deadline by bounds.
	list := filepath.Join(t.TempDir(), "jobs.txt")
	text := "JobID|JobName|User|Partition|AllocCPUS|Submit|Start|End|State|NodeList|Cluster\n" +
		"1|big|u|p|20|1788739782|1788739811|1788740159|COMPLETED|n1|c\n" +
		"2|big|u|p|20|1788760971|1788761023|1788761263|COMPLETED|n1|c\n" +
		"3|big|u|p|20|1788782410|1788782428|1788782712|COMPLETED|n1|c\n"
	if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	h.verb(t, "init", "slurm", "--from-history", list, "--instance", "m5.xlarge", "--price", "0.192")
	var p plans.Scaling
	if err := json.Unmarshal([]byte(h.server.get(t, "/v1/clusters/slurm/plans/current/scaling")), &p); err != nil {
		t.Fatal(err)
	}
	if slots := p.Classes["big"].SlotsMap; slots < 18 || slots > 22 {
		t.Errorf("runs of 20 slots are planned with %d", slots)
	}

	// Runs of one task that take very different times: by bounds alone no slots keep the deadline of 95 of 100 of them.
	var varied strings.Builder
	varied.WriteString("JobID|JobName|User|Partition|AllocCPUS|Submit|Start|End|State|NodeList|Cluster\n")
	for i := range 40 {
		at := 1788739782 + 7200*i
		fmt.Fprintf(&varied, "%d|one|u|p|1|%d|%d|%d|COMPLETED|n1|c\n", i+1, at, at, at+60*(i+1))
	}
	if err := os.WriteFile(list, []byte(varied.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if said := h.verb(t, "init", "varied", "--from-history", list, "--instance", "m5.xlarge", "--price", "0.192"); !strings.Contains(said, "of 40 runs were") {
		t.Errorf("it says\n%s", said)
	}
}

// Classes that init makes are those that the server proposes of the same runs, and the page makes.
func TestInitMakesWhatIsProposed(t *testing.T) {
	t.Parallel()
	h := startHomed(t)
	logs := t.TempDir()
	recorded(t, logs)
	for i, from := range []string{logs, "../../../shared/data/spark"} {
		if _, err := os.Stat(from); err != nil {
			t.Logf("%v: not compared", err)
			continue
		}
		one, other := fmt.Sprintf("by-init-%d", i), fmt.Sprintf("by-hand-%d", i)
		h.verb(t, "init", one, "--from-history", from, "--instance", "m5.xlarge", "--price", "0.192")
		made := func(cluster string) (d inputs.Document) {
			t.Helper()
			if err := json.Unmarshal([]byte(h.server.get(t, "/v1/clusters/"+cluster+"/document")), &d); err != nil {
				t.Fatal(err)
			}
			return d
		}
		want := made(one)
		bare := want
		bare.Cluster.Name, bare.Profiles, bare.Classes, bare.Forecasts = other, nil, nil, nil
		text, err := json.Marshal(bare)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "bare.json")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		h.verb(t, "apply", "-f", file, "--yes")
		files, err := filepath.Glob(filepath.Join(from, "app*"))
		if err != nil {
			t.Fatal(err)
		}
		h.verb(t, append([]string{"history", "import", other, "--upload"}, files...)...) // as the page does
		if status, answer, err := h.server.ask(t.Context(), h.server.key(t), "/v1/clusters/"+other+"/classes/from-history", `{}`); err != nil || status != 200 {
			t.Fatalf("got %d, %v: %s", status, err, answer)
		}
		got := made(other)
		got.Cluster.Name = one
		if len(want.Classes) < 2 || len(want.Forecasts) == 0 || !cmp.Equal(got, want) {
			t.Errorf("%d classes of %s differ (- by init, + by hand):\n%s", len(want.Classes), from, cmp.Diff(want, got))
		}
	}
}

// All jobs become classes, also where these are more than one request makes.
func TestInitOfManyJobs(t *testing.T) {
	t.Parallel()
	if !wholeSamples {
		t.Skip("make test-long runs it: it takes ten seconds of a processor")
	}
	h := startHomed(t)
	var list strings.Builder
	list.WriteString("JobID|JobName|AllocCPUS|Submit|Start|End|State\n")
	for i := range 130 {
		state := "COMPLETED"
		if i%5 == 2 {
			state = "FAILED"
		}
		at := 1788739200 + 600*i
		fmt.Fprintf(&list, "%d|job %03d|8|%d|%d|%d|%s\n", i+1, i, at, at, at+500, state)
	}
	path := filepath.Join(t.TempDir(), "jobs.txt")
	if err := os.WriteFile(path, []byte(list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	said := h.verb(t, "init", "shop", "--from-history", path, "--instance", "m5.xlarge", "--price", "0.192")
	if !strings.Contains(said, "with 104 classes") || !strings.Contains(said, "left out 21, such as slurm 3: It failed") || !strings.Contains(said, "left out 5, such as job 102: None of its runs") || strings.Contains(said, "already") {
		t.Errorf("it says\n%s", said)
	}
}

// A table whose tasks have a start and a finish makes a cluster like other histories: its runs begin with their first task.
func TestInitOfATable(t *testing.T) {
	t.Parallel()
	h := startHomed(t)
	var table strings.Builder
	table.WriteString("job,execution,task,kind,start,finish\n")
	for day := range 7 {
		for task := range 6 {
			fmt.Fprintf(&table, "etl,%d,%d,map,2026-03-%02dT09:00:%02dZ,2026-03-%02dT09:01:%02dZ\n", day, task, day+1, task, day+1, 10+task)
		}
	}
	file := filepath.Join(t.TempDir(), "tasks.csv")
	if err := os.WriteFile(file, []byte(table.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	said := h.verb(t, "init", "shop", "--from-history", file, "--instance", "m5.xlarge", "--price", "0.2")
	for _, want := range []string{"7 runs, 1m15s in the median", "etl is done within 1m15s, as 7 of 7 runs were", "Rent "} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
}

// Where jobs ran too seldom to be expected again, it says that none is, and the command that changes that.
func TestInitOfSeldomRuns(t *testing.T) {
	t.Parallel()
	h := startHomed(t)
	list := "JobID|JobName|AllocCPUS|Submit|Start|End|State\n"
	for i, job := range []string{"etl", "report"} {
		at := 1788739200 + i*365*86400
		list += fmt.Sprintf("%d|%s|8|%d|%d|%d|COMPLETED\n", i+1, job, at, at, at+500)
	}
	path := filepath.Join(t.TempDir(), "jobs.txt")
	if err := os.WriteFile(path, []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	said := h.verb(t, "init", "shop", "--from-history", path, "--instance", "m5.xlarge", "--price", "0.192")
	for _, want := range []string{"- no run arrives until ", "the VM bill is 0.00 USD.\nNo run is expected in that time, so nothing is rented."} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	if strings.Contains(said, "runs arrive like that") {
		t.Errorf("runs of which none is expected arrive like that:\n%s", said)
	}
	cure := regexp.MustCompile(`\n  headroom (class forecast weekly shop "etl" --counts arrivals) --week '(.*)' (--from .* --until .*)\n`).FindStringSubmatch(said)
	if cure == nil {
		t.Fatalf("nothing changes that:\n%s", said)
	}
	h.verb(t, slices.Concat(strings.Fields(strings.ReplaceAll(cure[1], `"`, "")), []string{"--week", cure[2]}, strings.Fields(cure[3]))...)
	if said := h.verb(t, "whatif", "months", "--cluster", "shop"); strings.Contains(said, "the VM bill is 0.00") {
		t.Errorf("with that forecast:\n%s", said)
	}
}

// Of past runs none is refused in any hour, though a few took six times as long as the others, and set the deadline.
func TestInitRefusesNothing(t *testing.T) {
	t.Parallel()
	h := startHomed(t)
	var list strings.Builder
	list.WriteString("JobID|JobName|AllocCPUS|Submit|Start|End|State\n")
	for i := range 14 * 24 * 6 {
		at, took := 1788739200+600*i, 500
		if i%10 == 0 {
			took = 3000
		}
		fmt.Fprintf(&list, "%d|etl|8|%d|%d|%d|COMPLETED\n", i+1, at, at, at+took)
	}
	path := filepath.Join(t.TempDir(), "jobs.txt")
	if err := os.WriteFile(path, []byte(list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	said := h.verb(t, "init", "shop", "--from-history", path, "--instance", "m5.xlarge", "--price", "0.192")
	if !strings.Contains(said, "1008 a week") || strings.Contains(said, "job-hours are refused") {
		t.Errorf("it says\n%s", said)
	}
	// A later deadline lets more of them run at once, and still none is refused.
	h.verb(t, "class", "edit", "shop", "etl", "--deadline-s", "36000")
	if said := h.verb(t, "whatif", "months", "--cluster", "shop"); strings.Contains(said, "are refused") || strings.Contains(said, "no plan") || !strings.Contains(said, "the VM bill is") {
		t.Errorf("with a later deadline it says\n%s", said)
	}
}

// A guess makes a cluster whose plan has the machines that were guessed.
func TestInitOfAGuess(t *testing.T) {
	t.Parallel()
	h := startHomed(t)
	said := h.verb(t, "init", "shop", "--takes", "45m", "--on", "10", "--a-day", "20", "--instance", "Standard_D4s_v5", "--price", "0.2")
	for _, want := range []string{"45m on 10 machines each; 20 a day", "Rent 10 VMs", "for 2.00 USD an hour"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	if strings.Contains(said, "Warning:") {
		t.Errorf("a guess has no runs that calibrate it:\n%s", said)
	}
	// Short jobs count until their deadline, and none of them is refused, now or in a later hour.
	said = h.verb(t, "init", "short", "--takes", "10s", "--on", "1", "--a-day", "20000", "--instance", "m5.large", "--price", "0.096")
	if !strings.Contains(said, "all 5 jobs admitted") || strings.Contains(said, "job-hours are refused") {
		t.Errorf("jobs are refused:\n%s", said)
	}
	// Forecasts reach as far as one likes, and the first plan has jobs all the same.
	said = h.verb(t, "init", "long", "--takes", "45m", "--on", "10", "--a-day", "20", "--instance", "m5.xlarge", "--price", "0.2", "--until", time.Now().AddDate(2, 0, 0).Format(time.DateOnly))
	if !strings.Contains(said, "Rent 10 VMs") || !strings.Contains(said, "(8760 hours)") && !strings.Contains(said, "(8784 hours)") || !strings.Contains(said, "(--until, or headroom class forecast)") {
		t.Errorf("a forecast of two years:\n%s", said)
	}
	// What cannot be made leaves nothing.
	failed := t.TempDir()
	for _, app := range historytest.Apps(5, 1, 5) {
		app.Failed = true
		if err := os.WriteFile(filepath.Join(failed, app.ID), []byte(app.EventLog()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	undated := filepath.Join(t.TempDir(), "tasks.csv")
	if err := os.WriteFile(undated, []byte("job,execution,task,kind,duration_s\netl,1,1,map,30\netl,2,1,map,35\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	guess := []string{"--takes", "45m", "--on", "10", "--a-day", "20"}
	with := func(flags ...string) []string {
		return append([]string{"--instance", "m5.xlarge", "--price", "0.2"}, flags...)
	}
	half := t.TempDir()
	cut := historytest.Apps(5, 1, 5)[0].EventLog()
	if err := os.WriteFile(filepath.Join(half, "cut"), []byte(cut[:len(cut)/2]), 0o600); err != nil {
		t.Fatal(err)
	}
	bare := filepath.Join(t.TempDir(), "bare.csv")
	if err := os.WriteFile(bare, []byte("vm_type,price_per_hour\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for why, flags := range map[string][]string{
		"or the history was cut off. Import it again when it has ended.\nheadroom: ":                          with("--from-history", half),
		"\nheadroom:   headroom init other --takes 45m --on 10 --a-day 20 --instance m5.xlarge --price 0.2\n": with("--from-history", half),
		"It has no price at all; is it the whole sheet?":                                                      append(guess, "--instance", "m5.xlarge", "--prices", bare),
		"There is no history in it":        with("--from-history", t.TempDir()),
		"no past run there tells how long": with("--from-history", failed),
		"headroom init other --takes 45m --on 10 --a-day 20 --instance m5.xlarge --price 0.2": with("--from-history", failed, "--slots", "4"),
		"There is no such file":                       with("--from-history", "nowhere"),
		"say what runs":                               with(),
		"give one of both":                            with(append(guess, "--from-history", failed)...),
		"a guess has three parts":                     with("--takes", "45m"),
		"each more than 0":                            with("--takes", "45m", "--on", "1", "--a-day", "NaN"),
		"the columns start and finish":                with("--from-history", undated),
		"goes up to":                                  with("--takes", "45m", "--on", "1000000", "--a-day", "1"),
		`--price: "cheap" is not a decimal`:           append(guess, "--instance", "m5.xlarge", "--price", "cheap"),
		"say what m5.xlarge costs an hour":            append(guess, "--instance", "m5.xlarge"),
		"say which type of VM to rent":                append(guess, "--price", "1"),
		"which is past":                               with(append(guess, "--until", "2020-01-01")...),
		"--until is \"soon\"":                         with(append(guess, "--until", "soon")...),
		"--until: ":                                   with(append(guess, "--until", "2190-01-01")...),
		"the name big does not say how many":          append(guess, "--instance", "big", "--price", "1"),
		`--time-zone: "Mars/Olympus" is no time zone`: with(append(guess, "--time-zone", "Mars/Olympus")...),
	} {
		h.refusesInit(t, why, flags)
	}
	var out, trouble bytes.Buffer
	if code := run(t.Context(), append([]string{"init", "shop", "--data-dir", h.dir}, with(guess...)...), strings.NewReader(""), &out, &trouble); code == shell.ExitOK || !strings.Contains(trouble.String(), "choose another name") {
		t.Errorf("a second cluster of the name: %d: %s", code, &trouble)
	}
}

// refusesInit demands that init with these flags says why it makes nothing, and leaves nothing.
func (h *homed) refusesInit(t *testing.T, why string, flags []string) {
	t.Helper()
	var out, trouble bytes.Buffer
	code := run(t.Context(), append([]string{"init", "other", "--data-dir", h.dir}, flags...), strings.NewReader(""), &out, &trouble)
	if code == shell.ExitOK || !strings.Contains(trouble.String(), why) {
		t.Errorf("%v: exit code %d: %s, want %q", flags, code, &trouble, why)
	}
	if list := h.verb(t, "cluster", "list"); strings.Contains(list, "other") {
		t.Fatalf("%v left a cluster:\n%s", flags, list)
	}
}

// A price sheet gives the price and the offers; runs of two clusters are told.
func TestInitOfASheet(t *testing.T) {
	t.Parallel()
	h := startHomed(t)
	sheet, err := filepath.Abs("testdata/examples/sheet.csv")
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(t.TempDir(), "jobs.txt")
	text := "JobID|JobName|AllocCPUS|Submit|Start|End|State|Cluster\n" +
		"1|etl|8|1788739782|1788739811|1788740159|COMPLETED|north\n" +
		"1|etl|8|1788760971|1788761023|1788761263|COMPLETED|south\n"
	if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	said := h.verb(t, "init", "shop", "--from-history", list, "--instance", "m5.xlarge", "--prices", sheet, "--region", "us-east-1")
	for _, want := range []string{"m5.xlarge costs 0.18 USD an hour", "the runs are of one cluster, though their records name 2: north and south (--from-history)", "Proved optimal"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	guess := []string{"--takes", "45m", "--on", "10", "--a-day", "20", "--instance", "m5.xlarge"}
	said = h.verb(t, append([]string{"init", "bought", "--prices", sheet, "--region", "eu-central-1"}, guess...)...)
	if !strings.Contains(said, "The price sheet has 1 offer: headroom whatif purchase --cluster bought") {
		t.Errorf("it does not tell the offers:\n%s", said)
	}
	if said := h.verb(t, "whatif", "purchase", "--cluster", "bought", "--assume", "flat"); !strings.Contains(said, "1yr Partial Upfront") {
		t.Errorf("the offer is not weighed:\n%s", said)
	}
	// The sheet may say how many processors a type has whose name does not.
	named := filepath.Join(t.TempDir(), "named.csv")
	if err := os.WriteFile(named, []byte("vm_type,price_per_hour,vcpu\nbig,0.5,6\nother,0.5,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	own := []string{"--takes", "45m", "--on", "10", "--a-day", "20", "--prices", named}
	if said = h.verb(t, append([]string{"init", "named", "--instance", "big"}, own...)...); !strings.Contains(said, "big runs 6 tasks at once, one for each processor (--slots)") || !strings.Contains(said, "Rent 10 VMs") {
		t.Errorf("it says\n%s", said)
	}
	if said = h.verb(t, "init", "small", "--takes", "45m", "--on", "10", "--a-day", "20", "--instance", "t3.medium", "--price", "0.05"); !strings.Contains(said, "t3.medium runs 2 tasks at once, one for each processor, and never lacks CPU credits (--slots)") {
		t.Errorf("it says\n%s", said)
	}
	for why, flags := range map[string][]string{
		"neither the name other nor": append(own, "--instance", "other"),
		"There is no such file":      append(guess, "--prices", "nowhere.csv"),
		`Did you mean "eu-central-1`: append(guess, "--prices", sheet, "--region", "eu-cental-1"),
		"give one of both":           append(guess, "--prices", sheet, "--price", "1"),
		"--region belongs":           append(guess, "--price", "1", "--region", "eu-central-1"),
		"--region":                   append(guess, "--prices", sheet),
	} {
		h.refusesInit(t, why, flags)
	}
}

// terminal returns a terminal on which a person types lines.
func terminal(t *testing.T, typed string) *os.File {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	if _, err := person.WriteString(typed); err != nil {
		t.Fatal(err)
	}
	return program
}

// On a terminal init asks for what flags leave open, again where an answer will not do.
func TestInitAsks(t *testing.T) {
	t.Parallel()
	h := startHomed(t)
	ask := func(typed string, args ...string) (said string, code int) {
		var out bytes.Buffer
		code = run(t.Context(), append([]string{"init", "--data-dir", h.dir}, args...), terminal(t, typed), &out, &out)
		return out.String(), code
	}
	said, code := ask("big\nmany\n4\n0.192\nnowhere\n\nlong\n45m\n10\n20\n", "guess")
	for _, want := range []string{"Which type of VM", "How many tasks", "give a whole number", "What does one cost", "There is no such file", "give a time", "On how many", "a day?", "Rent 10 VMs"} {
		if code != shell.ExitOK || !strings.Contains(said, want) {
			t.Errorf("exit code %d; it does not say %q:\n%s", code, want, said)
		}
	}
	logs := t.TempDir()
	recorded(t, logs)
	if said, code = ask("m5.xlarge\n"+logs+"\n", "past", "--price", "0.2"); code != shell.ExitOK || !strings.Contains(said, "with 2 classes") || strings.Contains(said, "How long") {
		t.Errorf("exit code %d:\n%s", code, said)
	}
	if said, code = ask("\x04", "nothing"); code != shell.ExitError || !strings.Contains(said, "there was no answer") {
		t.Errorf("exit code %d:\n%s", code, said)
	}
	if list := h.verb(t, "cluster", "list"); strings.Contains(list, "nothing") {
		t.Errorf("without answers there is a cluster:\n%s", list)
	}
}

// Where no job is expected at this hour the first plan is that of the next hour with jobs, and the last line explains that one.
func TestInitPlansTheNextHourWithJobs(t *testing.T) {
	t.Parallel()
	h := startHomed(t)
	next := time.Now().UTC().Truncate(time.Hour).Add(6 * time.Hour)
	var list strings.Builder
	list.WriteString("JobID|JobName|AllocCPUS|Submit|Start|End|State\n")
	for day := range 8 {
		at := next.AddDate(0, 0, day-8).Unix()
		fmt.Fprintf(&list, "%d|etl|8|%d|%d|%d|COMPLETED\n", day+1, at, at, at+300)
	}
	path := filepath.Join(t.TempDir(), "jobs.txt")
	if err := os.WriteFile(path, []byte(list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	said := h.verb(t, "init", "shop", "--from-history", path, "--instance", "m5.xlarge", "--price", "0.192")
	for _, want := range []string{"No job is expected at this hour. This is the plan for the next, at " + next.Format("2006-01-02 15:04 UTC"), "its one job admitted"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	explain := regexp.MustCompile(`headroom plan explain shop --plan (\d+)`).FindStringSubmatch(said)
	if explain == nil {
		t.Fatalf("what it says to go on with explains nothing:\n%s", said)
	}
	// An hour with a job is dear, and no month is made of such hours alone: the forecast's bill comes first.
	why := h.verb(t, "plan", "explain", "shop", "--plan", explain[1])
	bills := regexp.MustCompile(`Its one job is admitted(?:.|\n)*By the forecast the VM bill is [0-9.]+ USD for (?:.|\n)*The VM bill of this plan is ([0-9.]+) USD an hour; 730 hours like its own would come to ([0-9.]+):`).FindStringSubmatch(why)
	if bills == nil {
		t.Fatalf("the plan is explained as\n%s", why)
	}
	hour, _ := strconv.ParseFloat(bills[1], 64)
	if month, _ := strconv.ParseFloat(bills[2], 64); math.Abs(month-730*hour) > 0.005 {
		t.Errorf("%s an hour would come to %s in 730 hours", bills[1], bills[2])
	}
}
