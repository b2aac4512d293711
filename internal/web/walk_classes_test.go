package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// hostile are names that people might give to harm a page, or by chance.
var hostile = []string{
	`<img src=x onerror=alert(1)>`, `=1+1`, "\u202egnp.exe שלום", strings.Repeat("W", 200), `night 🌙👩‍👩‍👧‍👦`, `Same`, `same`,
}

// classesCluster is a cluster with classes of these names.
func (s *server) classesCluster(t *testing.T, cluster string, names []string) {
	t.Helper()
	at := "/v1/clusters/" + cluster
	classes := make([]any, len(names))
	for i, name := range names {
		classes[i] = map[string]any{"name": name, "deadline_s": 1800, "jobs": map[string]int{"min": 0, "max": 2 + i%3}, "penalty": "0.45",
			"profile": map[string]any{"name": "etl", "version": 1}, "slots_per_vm": map[string]int{"map": 2, "reduce": 2}}
	}
	s.send(t, "POST", "/v1/clusters", map[string]any{"name": cluster}, nil)
	s.send(t, "POST", at+"/vm-types", map[string]any{"name": "m5.xlarge", "in_use": true}, nil)
	s.send(t, "POST", at+"/prices", map[string]any{"vm_type": "m5.xlarge", "price": "0.20", "from": "2026-01-01T00:00:00Z"}, nil)
	s.send(t, "POST", at+"/profiles", map[string]any{"name": "etl", "profile": map[string]any{"map_tasks": 120, "reduce_tasks": 0, "map_avg_s": 24.5, "map_max_s": 61, "overhead_s": 11}}, nil)
	for _, c := range classes {
		s.send(t, "POST", at+"/classes", c, nil)
	}
}

// write types into a field as people do: what stood in it is replaced.
func write(t *testing.T, ctx context.Context, selector, text string) {
	t.Helper()
	until(t, ctx, fmt.Sprintf(`document.querySelector(%q)`, selector))
	for range 3 { // a page that is drawn anew meanwhile may take the focus away
		value[bool](t, ctx, fmt.Sprintf(`document.querySelector(%q).focus(), document.querySelector(%q).select?.(), true`, selector, selector))
		do(t, ctx, chromedp.KeyEvent("\b"), chromedp.KeyEvent(text))
		if value[string](t, ctx, fmt.Sprintf(`document.querySelector(%q).value`, selector)) == text {
			return
		}
	}
	t.Fatalf("%s does not take %q", selector, text)
}

// give puts a file into the field for files.
func give(t *testing.T, ctx context.Context, file string) {
	t.Helper()
	until(t, ctx, `document.querySelector("input[type=file]")`)
	do(t, ctx, chromedp.SetUploadFiles(chromedp.CSS("input[type=file]"), []string{file}))
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func walkClasses(t *testing.T, s *server, browser context.Context) {
	s.classesCluster(t, "odd-names", hostile)
	executions := make([]any, 12)
	for i := range executions {
		seconds := 420 + 15*i
		executions[i] = map[string]any{"job": "Same", "execution": fmt.Sprintf("job_1700000000000_%04d", i), "submitted_at": fmt.Sprintf("2026-03-%02dT22:00:00Z", i+1),
			"finished_at": time.Date(2026, 3, i+1, 22, 0, seconds, 0, time.UTC).Format(time.RFC3339), "seconds": seconds,
			"sample": map[string]any{"profile": map[string]any{"map_tasks": 120, "reduce_tasks": 0, "map_avg_s": 24.5, "map_max_s": 61, "overhead_s": 11}, "seconds": seconds,
				"map": map[string]any{"count": 120, "mean": 24.5, "max": 61, "p50": 23, "p95": 48}, "map_slots": 8}}
	}
	s.send(t, "POST", "/v1/clusters/odd-names/executions", map[string]any{"executions": executions}, nil)
	s.send(t, "POST", "/v1/clusters/odd-names/profiles/etl/versions", map[string]any{"name": "etl", "profile": map[string]any{"map_tasks": 150, "reduce_tasks": 0, "map_avg_s": 20, "map_max_s": 61, "overhead_s": 11}}, nil)

	ctx := s.tab(t, browser)
	s.open(t, ctx, "/c/odd-names/classes")
	until(t, ctx, `document.querySelectorAll("table.data tbody tr").length === 7`)
	names := value[[]string](t, ctx, `[...document.querySelectorAll("table.data tbody td:first-child a")].map((a) => a.textContent).sort()`)
	for _, name := range hostile {
		if !strings.Contains(fmt.Sprint(names), name) {
			t.Errorf("the class %q is not listed as it is called: %q", name, names)
		}
	}
	calm(t, ctx, "classes")
	looks(t, ctx, "classes")

	// A column of all classes that are shown, in one step.
	press(t, ctx, "Change a column")
	press(t, ctx, "Pick all shown")
	write(t, ctx, `[placeholder^="+10"]`, "+10 %")
	until(t, ctx, `document.body.innerText.includes("7 classes picked.")`)
	picture(t, ctx, "classes-bulk")
	press(t, ctx, "Change 7 classes")
	until(t, ctx, `document.body.innerText.includes("7 classes changed.") && document.querySelector("table.data").innerText.includes("33 min")`)
	var c struct {
		Deadline float64 `json:"deadline_s"`
		Penalty  string  `json:"penalty"`
		VMs      float64 `json:"vms_per_job"`
	}
	s.get(t, "/v1/clusters/odd-names/classes/Same", &c)
	if c.Deadline != 1980 {
		t.Errorf("the deadline of Same is %g s, want 1800 and a tenth", c.Deadline)
	}

	// One class: what it comes to alone is what the plan says.
	do(t, ctx, chromedp.Navigate(s.address+"/c/odd-names/classes/Same"))
	until(t, ctx, `document.querySelector("#gamma") && document.querySelector("figure svg")`)
	var plan struct {
		Plan struct {
			Classes []struct {
				Name string  `json:"name"`
				VMs  float64 `json:"vms_per_job"`
			} `json:"classes"`
		} `json:"plan"`
	}
	alone := value[float64](t, ctx, `Number(document.querySelector("#gamma").textContent)`)
	s.eventually(t, "/v1/clusters/odd-names/plans/current", &plan, func() bool {
		for _, c := range plan.Plan.Classes {
			if c.Name == "Same" {
				return math.Abs(c.VMs-alone) < 0.006 // shown to two places
			}
		}
		return false
	})
	if said := value[string](t, ctx, `document.querySelector("figcaption p").textContent`); !strings.Contains(said, "12 runs ended inside the predicted range") {
		t.Errorf("the measured runs are told as %q", said)
	}
	calm(t, ctx, "class")
	looks(t, ctx, "class")

	// Mistakes stand at their fields, and a summary leads to them.
	write(t, ctx, "#field-class-deadline-s", "soon")
	press(t, ctx, "Save")
	until(t, ctx, `document.querySelector(".banner.error a[href='#field-class-deadline-s']") && document.querySelector("#field-class-deadline-s").getAttribute("aria-invalid") === "true"`)
	picture(t, ctx, "class-mistake")
	write(t, ctx, "#field-class-deadline-s", "0:30:00")
	write(t, ctx, "#field-class-jobs-max", "x2")
	press(t, ctx, "Save")
	until(t, ctx, `document.body.innerText.includes("Saved.")`)
	s.get(t, "/v1/clusters/odd-names/classes/Same", &c)
	if c.Deadline != 1800 {
		t.Errorf("the deadline is saved as %g s, want 1800", c.Deadline)
	}

	// A class of its own, with a profile that is made of its figures.
	do(t, ctx, chromedp.Navigate(s.address+"/c/odd-names/classes?new=1"))
	write(t, ctx, "#field-class-name", "=typed")
	write(t, ctx, "#field-figures-map-tasks", "42")
	picture(t, ctx, "class-new")
	press(t, ctx, "Add the class")
	until(t, ctx, `location.pathname === "/c/odd-names/classes/%3Dtyped" && document.querySelector("#gamma")`)
	var typed struct {
		Profile struct {
			Tasks int `json:"map_tasks"`
		} `json:"profile"`
	}
	if s.get(t, "/v1/clusters/odd-names/profiles/=typed", &typed); typed.Profile.Tasks != 42 {
		t.Errorf("the profile that was made has %d tasks, want 42", typed.Profile.Tasks)
	}
	do(t, ctx, chromedp.Navigate(s.address+"/c/odd-names/classes/Same"))

	// Two versions of its profile: what differs, and no more.
	press(t, ctx, "Versions")
	until(t, ctx, `document.body.innerText.includes("2 of 11 figures differ")`)
	press(t, ctx, "Use version 2")
	s.eventually(t, "/v1/clusters/odd-names/classes/Same", &plan, func() bool {
		var c struct {
			Profile struct {
				Version int `json:"version"`
			} `json:"profile"`
		}
		s.get(t, "/v1/clusters/odd-names/classes/Same", &c)
		return c.Profile.Version == 2
	})
}

// eventually asks until it is so.
func (s *server) eventually(t *testing.T, path string, into any, so func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		r, err := http.NewRequest("GET", s.address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+s.key)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		err = json.NewDecoder(answer.Body).Decode(into)
		_ = answer.Body.Close()
		if err == nil && answer.StatusCode == 200 && so() {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s does not come to what is waited for: %d, %v", path, answer.StatusCode, err)
		}
	}
}

// walkTwo is two people at one class, a delete that is undone, and a session that ends.
func walkTwo(t *testing.T, s *server, browser context.Context) {
	s.classesCluster(t, "two-people", []string{"nightly-etl", "weekly"})
	ctx := s.tab(t, browser)
	s.open(t, ctx, "/c/two-people/classes/nightly-etl")
	write(t, ctx, "#field-class-penalty", "0.50")
	at := "/v1/clusters/two-people/classes/nightly-etl"
	other := func(penalty string, max int) {
		t.Helper()
		s.overwrite(t, at, map[string]any{"name": "nightly-etl", "deadline_s": 1800, "jobs": map[string]int{"min": 0, "max": max}, "penalty": penalty, "profile": map[string]any{"name": "etl"}, "slots_per_vm": map[string]int{"map": 2, "reduce": 2}})
	}
	other("0.70", 9)
	press(t, ctx, "Save")
	until(t, ctx, `/^Key HEADROOM_ADMIN_KEY changed nightly-etl at \d\d:\d\d UTC, after you opened it\.$/.test(document.querySelector(".banner.error span")?.textContent ?? "")`)
	press(t, ctx, "Show both")
	until(t, ctx, `document.querySelectorAll(".banner.error tbody tr").length === 2`)
	picture(t, ctx, "class-conflict")
	press(t, ctx, "Keep mine")
	until(t, ctx, `document.body.innerText.includes("Saved.")`)
	var c struct {
		Penalty string `json:"penalty"`
		Jobs    struct {
			Max int `json:"max"`
		} `json:"jobs"`
	}
	if s.get(t, at, &c); c.Penalty != "0.5" && c.Penalty != "0.50" || c.Jobs.Max != 2 {
		t.Errorf("what was kept is %+v, want all of mine", c)
	}
	write(t, ctx, "#field-class-penalty", "0.60")
	other("0.80", 4)
	press(t, ctx, "Save")
	press(t, ctx, "Take theirs")
	until(t, ctx, `document.querySelector("#field-class-penalty").value === "0.8" || document.querySelector("#field-class-penalty").value === "0.80"`)

	// A session that ends keeps what stands in the fields.
	write(t, ctx, "#field-class-penalty", "0.90")
	value[int](t, ctx, `fetch("/v1/session", {method: "DELETE"}).then((a) => a.status)`)
	press(t, ctx, "Save")
	until(t, ctx, `document.body.innerText.includes("You were signed out. Your changes on this page are kept.")`)
	if got := value[string](t, ctx, `document.querySelector("#field-class-penalty").value`); got != "0.90" {
		t.Errorf("after the session's end the field has %q", got)
	}

	// Deleting waits, and can be undone.
	value[bool](t, ctx, fmt.Sprintf(`fetch("/v1/session", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({token: %q})}).then((a) => a.ok)`, s.key))
	s.open(t, ctx, "/c/two-people/classes")
	until(t, ctx, `document.querySelector("[aria-label='Delete weekly']")`)
	value[bool](t, ctx, `document.querySelector("[aria-label='Delete weekly']").click(), true`)
	until(t, ctx, `document.body.innerText.includes("Deleted. Undo")`)
	press(t, ctx, "Undo")
	until(t, ctx, `document.querySelector("[aria-label='Delete weekly']")`)
	value[bool](t, ctx, `document.querySelector("[aria-label='Delete weekly']").click(), true`)
	do(t, ctx, chromedp.Click(chromedp.CSS(`nav a[href="/c/two-people/now"]`)))
	s.eventually(t, "/v1/clusters/two-people/classes", &struct {
		Items []any `json:"items"`
	}{}, func() bool {
		var l struct {
			Items []any `json:"items"`
		}
		s.get(t, "/v1/clusters/two-people/classes", &l)
		return len(l.Items) == 1
	})
}

// forget deletes a cluster.
func (s *server) forget(t *testing.T, cluster string) {
	t.Helper()
	r, err := http.NewRequest("DELETE", s.address+"/v1/clusters/"+cluster, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("If-Match", `"1"`)
	answer, err := http.DefaultClient.Do(r)
	if err != nil || answer.StatusCode != 204 {
		t.Fatalf("the cluster %s is not deleted: %v %v", cluster, answer, err)
	}
	_ = answer.Body.Close()
}

// overwrite puts over whatever version is there.
func (s *server) overwrite(t *testing.T, path string, body map[string]any) {
	t.Helper()
	var there struct {
		Version int `json:"version"`
	}
	s.get(t, path, &there)
	s.put(t, path, body, fmt.Sprintf("%q", fmt.Sprint(there.Version)))
}

func walkImport(t *testing.T, s *server, browser context.Context) {
	s.classesCluster(t, "brought", []string{"there-before"})
	ctx := s.tab(t, browser)
	s.open(t, ctx, "/c/brought/classes/import")

	// 100 rows, of which four are bad: two that the page reads, then two that the service refuses.
	rows := func(bad map[int]string) string {
		var b strings.Builder
		b.WriteString("name,profile,deadline_s,slots_map,slots_reduce,jobs_min,jobs_max,penalty\n")
		for i := range 100 {
			row := fmt.Sprintf("class-%02d,etl,20 min,2,2,0,%d,0.30\n", i, 1+i%4)
			if bad[i] != "" {
				row = bad[i]
			}
			b.WriteString(row)
		}
		return b.String()
	}
	count := func() int {
		var l struct {
			Items []any `json:"items"`
		}
		s.get(t, "/v1/clusters/brought/classes?limit=1000", &l)
		return len(l.Items)
	}
	unread := map[int]string{3: "class-03,etl,soon,2,2,0,1,0.30\n", 7: "class-02,etl,20 min,2,2,0,1,0.30\n", 40: "class-40,etl,20 min,2,2,0,1,cheap\n", 99: ",etl,20 min,2,2,0,1,0.30\n"}
	give(t, ctx, file(t, "classes.csv", rows(unread)))
	until(t, ctx, `document.body.innerText.includes("4 mistakes in 100 rows. Nothing was imported.")`)
	if got := value[string](t, ctx, `[...document.querySelectorAll(".bad-import tbody tr")].map((r) => [...r.children].slice(0, 2).map((c) => c.lastChild.textContent).join(" ")).join(", ")`); got != "5 deadline_s, 9 name, 42 penalty, 101 name" {
		t.Errorf("the mistakes are told at %s", got)
	}
	calm(t, ctx, "import")
	looks(t, ctx, "import")
	refused := map[int]string{10: "class-10,etl,20 min,2,2,5,1,0.30\n", 60: "class-60,missing,20 min,2,2,0,1,0.30\n"}
	give(t, ctx, file(t, "classes.csv", rows(refused)))
	until(t, ctx, `[...document.querySelectorAll(".bad-import tbody tr")].some((r) => r.textContent.includes("12"))`)
	picture(t, ctx, "import-refused")
	if n := count(); n != 1 {
		t.Errorf("%d classes are there, want the one that was: nothing was imported", n)
	}
	give(t, ctx, file(t, "classes.csv", rows(nil)))
	until(t, ctx, `document.body.innerText.includes("100 classes: 100 new")`)
	press(t, ctx, "Import")
	until(t, ctx, `document.body.innerText.includes("Imported. 100 classes: 100 new")`)
	if n := count(); n != 101 {
		t.Errorf("%d classes are there, want 101", n)
	}

	// Rubbish is told; a history is taken.
	give(t, ctx, file(t, "x.bin", strings.Repeat("\x00\xff rubbish,,,\"", 2_000_000)))
	until(t, ctx, `document.body.innerText.includes("This file is not known.")`)
	var history strings.Builder
	history.WriteString("job,execution,task,kind,start,finish\n")
	for run := range 3 {
		for task := range 20 {
			fmt.Fprintf(&history, "reports,%d,t%d,map,%d,%d\n", run, task, 1000*(1_700_000_000+86_400*run+10*(task/4)), 1000*(1_700_000_000+86_400*run+10*(task/4)+9))
		}
	}
	give(t, ctx, file(t, "history.csv", history.String()))
	until(t, ctx, `document.body.innerText.includes("This is past runs of jobs.")`)
	press(t, ctx, "Import")
	until(t, ctx, `document.body.innerText.includes("3 runs of 1 job")`)
	press(t, ctx, "Make 1 class")
	until(t, ctx, `location.pathname === "/c/brought/now"`)

	// A sheet of a gigabyte tells how much of it has gone, and can be cancelled.
	big := filepath.Join(t.TempDir(), "prices.csv")
	text := "vm_type,price_per_hour,region,purchase\n" + strings.Repeat("m5.large,0.10,eu-central-1,on_demand\n", 1_000_000)
	if err := os.WriteFile(big, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, 1<<30); err != nil { // what follows is a hole, which nobody gets to
		t.Fatal(err)
	}
	do(t, ctx, chromedp.Navigate(s.address+"/settings/prices?cluster=brought"))
	press(t, ctx, "Import a price sheet")
	give(t, ctx, big)
	until(t, ctx, `document.body.innerText.includes("This is a price sheet.")`)
	press(t, ctx, "Check it first")
	until(t, ctx, `/Sent [\d.]+ (kB|MB|GB) of 1\.07 GB/.test(document.body.innerText) && document.querySelector("progress").value > 0`)
	press(t, ctx, "Cancel")
	until(t, ctx, `/Cancelled after [\d.]+ (kB|MB) *\. Nothing was imported\./.test(document.body.innerText)`)
	var prices struct {
		Items []any `json:"items"`
	}
	if s.get(t, "/v1/clusters/brought/prices", &prices); len(prices.Items) != 1 {
		t.Errorf("%d prices are there, want the one that was", len(prices.Items))
	}
	give(t, ctx, file(t, "small.csv", "vm_type,price_per_hour\nm5.xlarge,0.22\n"))
	press(t, ctx, "Check it first")
	until(t, ctx, `document.body.innerText.includes("This would be taken over.")`)
	press(t, ctx, "Import")
	until(t, ctx, `document.body.innerText.includes("Imported. Prices:")`)
	s.get(t, "/v1/clusters/brought/prices", &prices)
	if len(prices.Items) != 2 {
		t.Errorf("%d prices are there, want two", len(prices.Items))
	}
}

func walkSettings(t *testing.T, s *server, browser context.Context) {
	s.classesCluster(t, "to-be-set", nil)
	ctx := s.tab(t, browser)
	s.open(t, ctx, "/settings/keys")
	write(t, ctx, "#field-name", hostile[0])
	press(t, ctx, "Make the key")
	until(t, ctx, `document.querySelector("#secret")?.value.startsWith("hrk_")`)
	secret := value[string](t, ctx, `document.querySelector("#secret").value`)
	picture(t, ctx, "settings-secret")
	r, err := http.NewRequest("GET", s.address+"/v1/session", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+secret)
	answer, err := http.DefaultClient.Do(r)
	if err != nil || answer.StatusCode != 200 {
		t.Fatalf("the new key opens nothing: %v %v", answer, err)
	}
	_ = answer.Body.Close()
	press(t, ctx, "I have it")
	until(t, ctx, fmt.Sprintf(`!document.documentElement.outerHTML.includes(%q) && [...document.querySelectorAll("td")].some((e) => e.textContent.includes(%q))`, secret, hostile[0]))
	calm(t, ctx, "settings-keys")
	looks(t, ctx, "settings-keys")
	value[bool](t, ctx, fmt.Sprintf(`[...document.querySelectorAll("button[aria-label]")].find((b) => b.ariaLabel === "Revoke " + %q).click(), true`, hostile[0]))
	press(t, ctx, "Revoke it")
	until(t, ctx, `document.body.innerText.includes("revoked ")`)

	do(t, ctx, chromedp.Navigate(s.address+"/settings/clusters?cluster=to-be-set"))
	write(t, ctx, "#field-description", hostile[0]+" שלום")
	write(t, ctx, "#field-hold-s", "10 min")
	press(t, ctx, "Save")
	until(t, ctx, `document.body.innerText.includes("Saved.")`)
	var c struct {
		Description string `json:"description"`
		Hold        int    `json:"hold_s"`
	}
	if s.get(t, "/v1/clusters/to-be-set", &c); c.Hold != 600 || !strings.HasPrefix(c.Description, hostile[0]) {
		t.Errorf("the settings are saved as %+v", c)
	}
	calm(t, ctx, "settings-clusters")
	looks(t, ctx, "settings-clusters")

	do(t, ctx, chromedp.Navigate(s.address+"/settings/prices?cluster=to-be-set"))
	press(t, ctx, "Add a price")
	write(t, ctx, "#field-vm-type", "m5.2xlarge")
	write(t, ctx, "#field-price", "0.4")
	picture(t, ctx, "settings-price")
	press(t, ctx, "Save")
	until(t, ctx, `document.querySelectorAll("table.data tbody tr").length === 2`)
	calm(t, ctx, "settings-prices")
	looks(t, ctx, "settings-prices")

	do(t, ctx, chromedp.Navigate(s.address+"/settings/audit?cluster=to-be-set"))
	until(t, ctx, `document.querySelectorAll("table.data tbody tr").length >= 4`)
	calm(t, ctx, "settings-audit")
	if os.Getenv("HEADROOM_LONG") != "" {
		looks(t, ctx, "settings-audit")
	}
	do(t, ctx, chromedp.Navigate(s.address+"/settings/about"))
	until(t, ctx, `document.body.innerText.includes("Postgres 1") && document.body.innerText.includes("cbc")`)
	calm(t, ctx, "settings-about")
	if os.Getenv("HEADROOM_LONG") != "" {
		looks(t, ctx, "settings-about")
	}

	// A cluster goes only when its name is typed.
	do(t, ctx, chromedp.Navigate(s.address+"/settings/clusters?cluster=to-be-set"))
	write(t, ctx, `[aria-label="Delete the cluster"] input`, "to-be-se")
	until(t, ctx, `document.querySelector('[aria-label="Delete the cluster"] button').disabled`)
	do(t, ctx, chromedp.KeyEvent("t"))
	press(t, ctx, "Delete the cluster")
	until(t, ctx, `![...document.querySelectorAll("td")].some((e) => e.textContent.includes("to-be-set"))`)

	// Who may only read sees so, and fields that are not for typing.
	var made struct {
		Token string `json:"token"`
	}
	s.send(t, "POST", "/v1/keys", map[string]any{"name": "reader", "role": "viewer"}, &made)
	value[bool](t, ctx, fmt.Sprintf(`fetch("/v1/session", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({token: %q})}).then((a) => a.ok)`, made.Token))
	do(t, ctx, chromedp.Navigate(s.address+"/c/demo/classes"))
	until(t, ctx, `document.body.innerText.includes("Your key may read demo but not change it. Ask an administrator for the role operator.") && document.querySelector("table.data a")`)
	do(t, ctx, chromedp.Click(chromedp.CSS("table.data a")))
	until(t, ctx, `document.querySelector("fieldset:disabled input")`)
	picture(t, ctx, "class-reader")
	do(t, ctx, chromedp.Navigate(s.address+"/settings"))
	press(t, ctx, "About")
	press(t, ctx, "Sign out")
	until(t, ctx, `location.pathname === "/sign-in"`)
}

// TestFirstPlan goes from an empty server to a plan, with keys alone, then by each of the other ways.
func TestFirstPlan(t *testing.T) {
	s, b := serve(t), browser(t)
	s.forget(t, "demo")
	ctx := s.tab(t, b)
	s.signIn(t, ctx)
	until(t, ctx, `location.pathname === "/welcome" && document.querySelector(".ways")`)
	calm(t, ctx, "welcome")
	looks(t, ctx, "welcome")

	// Tab goes along until what is wanted has the focus.
	reach := func(what string) {
		t.Helper()
		for range 40 {
			if value[bool](t, ctx, fmt.Sprintf(`(document.activeElement?.textContent.trim() === %q || document.activeElement?.id === %q) && document.activeElement.matches(":focus-visible")`, what, what)) {
				return
			}
			do(t, ctx, chromedp.KeyEvent("\t"))
		}
		t.Fatalf("Tab does not lead to %s; the focus is on %s", what, value[string](t, ctx, `document.activeElement.outerHTML`))
	}
	began := time.Now()
	reach("Type one class")
	do(t, ctx, chromedp.KeyEvent("\r"))
	until(t, ctx, `document.querySelector("#field-figures-map-tasks")`)
	for id, text := range map[string]string{"field-figures-map-tasks": "300", "field-class-deadline-s": "18 min"} {
		value[bool](t, ctx, `document.activeElement.blur(), true`)
		reach(id)
		do(t, ctx, chromedp.KeyEvent(text))
	}
	picture(t, ctx, "welcome-class")
	reach("See the plan")
	do(t, ctx, chromedp.KeyEvent("\r"))
	until(t, ctx, `location.pathname === "/c/first/now" && document.querySelector("h1")?.textContent.includes("at once on")`)
	t.Logf("from Welcome to a plan by keys alone in %.1f s", time.Since(began).Seconds())
	var class struct {
		Deadline float64 `json:"deadline_s"`
	}
	if s.get(t, "/v1/clusters/first/classes/first-class", &class); math.Abs(class.Deadline-1080) > 1e-9 {
		t.Errorf("the deadline that was typed is %g s", class.Deadline)
	}

	// A demo, in one click.
	do(t, ctx, chromedp.Navigate(s.address+"/welcome"))
	began = time.Now()
	press(t, ctx, "See a demo")
	until(t, ctx, `location.pathname === "/c/demo/now" && document.querySelector("h1")?.textContent.includes("at once on")`)
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("the demo took %.1f s, want 3 at most", took.Seconds())
	} else {
		t.Logf("a demo in %.2f s", took.Seconds())
	}

	// A problem, pasted: mistakes are told as of the problem.
	text, err := os.ReadFile("../../openapi/examples/several-classes.json")
	if err != nil {
		t.Fatal(err)
	}
	do(t, ctx, chromedp.Navigate(s.address+"/welcome?way=paste"))
	paste := func(text string) {
		t.Helper()
		until(t, ctx, `document.querySelector("#problem")`)
		value[bool](t, ctx, fmt.Sprintf(`(() => { const e = document.querySelector("#problem"); e.value = %q; e.dispatchEvent(new Event("input", {bubbles: true})); return true; })()`, text))
		press(t, ctx, "See the plan")
	}
	paste(strings.Replace(string(text), `"deadline_s"`, `"dedline_s"`, 1))
	until(t, ctx, `document.querySelector(".banner.error")?.innerText.includes("dedline_s")`)
	picture(t, ctx, "welcome-paste")
	paste(string(text))
	until(t, ctx, `location.pathname === "/c/pasted/now" && document.querySelector("h1")?.textContent.includes("at once on")`)
	const want = "on 99 VMs" // as README has it of the same file
	if h1 := value[string](t, ctx, `document.querySelector("h1").textContent`); !strings.Contains(h1, want) {
		t.Errorf("the pasted problem's plan is %q, want %q", h1, want)
	}

	// A history.
	do(t, ctx, chromedp.Navigate(s.address+"/welcome?way=history"))
	press(t, ctx, "Make the cluster first-2")
	give(t, ctx, file(t, "history.csv", "job,execution,task,kind,start,finish\nreports,1,a,map,1700000000000,1700000009000\nreports,1,b,map,1700000000000,1700000019000\nreports,2,a,map,1700086400000,1700086410000\n"))
	press(t, ctx, "Import")
	press(t, ctx, "Make 1 class")
	until(t, ctx, `location.pathname === "/c/first-2/now" && document.querySelector("h1")?.textContent.includes("at once on")`)
}

// A thousand classes stay usable.
func TestAThousandClasses(t *testing.T) {
	if os.Getenv("HEADROOM_LONG") == "" {
		t.Skip("HEADROOM_LONG is not set")
	}
	s, b := serve(t), browser(t)
	names := make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprintf("class-%04d", i)
	}
	s.classesCluster(t, "many", names)
	ctx := s.tab(t, b)
	s.open(t, ctx, "/c/many/classes")
	began := time.Now()
	do(t, ctx, chromedp.Navigate(s.address+"/c/many/classes"))
	until(t, ctx, `document.querySelectorAll("table.data tbody tr").length === 100`)
	t.Logf("1,000 classes listed in %.2f s", time.Since(began).Seconds())
	took := value[float64](t, ctx, `(async () => {
		const field = document.querySelector("input[type=search]");
		const began = performance.now();
		field.value = "class-0999";
		field.dispatchEvent(new Event("input", {bubbles: true}));
		while (document.querySelectorAll("table.data tbody tr").length !== 1) await new Promise(requestAnimationFrame);
		return performance.now() - began;
	})()`)
	t.Logf("a filter is painted in %.0f ms", took)
	if took > 1000 {
		t.Errorf("a filter took %.0f ms", took)
	}
	value[bool](t, ctx, `(() => { const f = document.querySelector("input[type=search]"); f.value = ""; f.dispatchEvent(new Event("input", {bubbles: true})); return true; })()`)
	press(t, ctx, "Change a column")
	press(t, ctx, "Pick all shown")
	write(t, ctx, `[placeholder^="+10"]`, "x1.2")
	began = time.Now()
	press(t, ctx, "Change 1,000 classes")
	until(t, ctx, `document.body.innerText.includes("1,000 classes changed.")`)
	t.Logf("1,000 classes changed in %.2f s", time.Since(began).Seconds())
}
