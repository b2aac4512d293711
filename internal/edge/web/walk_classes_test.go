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

	"example.org/headroom/internal/test/await"

	"github.com/chromedp/chromedp"
)

// classesCluster creates a cluster with classes of these names.
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

// write types into a field as people do, replacing its text.
func write(t *testing.T, ctx context.Context, selector, text string) {
	t.Helper()
	until(t, ctx, fmt.Sprintf(`document.querySelector(%q)`, selector))
	for range 3 { // a redrawn page may take the focus away meanwhile
		value[bool](t, ctx, fmt.Sprintf(`document.querySelector(%q).focus(), document.querySelector(%q).select?.(), true`, selector, selector))
		do(t, ctx, chromedp.KeyEvent("\b"), chromedp.KeyEvent(text))
		if value[string](t, ctx, fmt.Sprintf(`document.querySelector(%q).value`, selector)) == text {
			return
		}
	}
	t.Fatalf("%s does not take %q", selector, text)
}

// give puts a file into the field for files.
func give(t *testing.T, ctx context.Context, files ...string) {
	t.Helper()
	until(t, ctx, `document.querySelector("input[type=file]")`)
	do(t, ctx, chromedp.SetUploadFiles(chromedp.CSS("input[type=file]"), files))
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
	until(t, ctx, `document.querySelectorAll("table.data tbody tr").length === 8`)
	names := value[[]string](t, ctx, `[...document.querySelectorAll("table.data tbody td:first-child a")].map((a) => a.textContent).sort()`)
	for _, name := range hostile {
		if !strings.Contains(fmt.Sprint(names), name) {
			t.Errorf("the class %q is not listed as it is called: %q", name, names)
		}
	}
	calm(t, ctx, "classes")
	looks(t, ctx, "classes")

	// A column of all shown classes, in one step.
	press(t, ctx, "Change a column")
	press(t, ctx, "Pick all shown")
	write(t, ctx, `[placeholder^="+10"]`, "+10 %")
	until(t, ctx, `document.body.innerText.includes("8 classes picked.")`)
	picture(t, ctx, "classes-bulk")
	press(t, ctx, "Change 8 classes")
	until(t, ctx, `document.body.innerText.includes("8 classes changed.") && document.querySelector("table.data").innerText.includes("33 min")`)
	var c struct {
		Deadline float64 `json:"deadline_s"`
		Penalty  string  `json:"penalty"`
		VMs      float64 `json:"vms_per_job"`
	}
	s.get(t, "/v1/clusters/odd-names/classes/Same", &c)
	if c.Deadline != 1980 {
		t.Errorf("the deadline of Same is %g s, want 1800 and a tenth", c.Deadline)
	}

	// One class: its VMs per job equal those of the plan.
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

	// Mistakes are shown at their fields, and a summary links to them.
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
	walkTarget(t, ctx, s)

	// A new class, with a profile made from its figures.
	do(t, ctx, chromedp.Navigate(s.address+"/c/odd-names/classes?new=1"))
	write(t, ctx, "#field-class-name", "=typed")
	write(t, ctx, "#field-figures-map-tasks", "42")
	calm(t, ctx, "a new class")
	looks(t, ctx, "class-new")
	press(t, ctx, "Add the class")
	until(t, ctx, `location.pathname === "/c/odd-names/plan/classes/%3Dtyped" && document.querySelector("#gamma")`)
	var typed struct {
		Profile struct {
			Tasks int `json:"map_tasks"`
		} `json:"profile"`
	}
	if s.get(t, "/v1/clusters/odd-names/profiles/=typed", &typed); typed.Profile.Tasks != 42 {
		t.Errorf("the profile that was made has %d tasks, want 42", typed.Profile.Tasks)
	}
	do(t, ctx, chromedp.Navigate(s.address+"/c/odd-names/classes/Same"))

	// Two versions of its profile: only the differences.
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

// eventually reads a path until a condition holds.
func (s *server) eventually(t *testing.T, path string, into any, so func() bool) {
	t.Helper()
	for last := range await.Tries(20 * time.Second) {
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
		if last {
			t.Fatalf("%s does not come to what is waited for: %d, %v", path, answer.StatusCode, err)
		}
	}
}

// walkTwo has two people edit one class, undoes a delete, and ends a session.
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

	// The end of a session keeps the contents of the fields.
	write(t, ctx, "#field-class-penalty", "0.90")
	value[int](t, ctx, `fetch("/v1/session", {method: "DELETE"}).then((a) => a.status)`)
	press(t, ctx, "Save")
	until(t, ctx, `document.body.innerText.includes("You were signed out. Your changes on this page are kept.")`)
	if got := value[string](t, ctx, `document.querySelector("#field-class-penalty").value`); got != "0.90" {
		t.Errorf("after the session's end the field has %q", got)
	}

	// Deleting waits, and can be undone.
	becomes(t, ctx, s.key)
	s.open(t, ctx, "/c/two-people/classes")
	until(t, ctx, `document.querySelector("[aria-label='Delete weekly']")`)
	value[bool](t, ctx, `document.querySelector("[aria-label='Delete weekly']").click(), true`)
	until(t, ctx, `document.body.innerText.includes("Deleted. Undo")`)
	press(t, ctx, "Undo")
	until(t, ctx, `document.querySelector("[aria-label='Delete weekly']")`)
	value[bool](t, ctx, `document.querySelector("[aria-label='Delete weekly']").click(), true`)
	do(t, ctx, chromedp.Click(chromedp.CSS(`nav a[href="/c/two-people/plan"]`)))
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

// overwrite replaces a thing of any version.
func (s *server) overwrite(t *testing.T, path string, body map[string]any) {
	t.Helper()
	var there struct {
		Version int `json:"version"`
	}
	s.get(t, path, &there)
	s.put(t, path, body, fmt.Sprintf("%q", fmt.Sprint(there.Version)))
}

// walkAThousandClasses lists, filters and changes a thousand classes.
func walkAThousandClasses(t *testing.T, s *server, browser context.Context) {
	if !long() {
		t.Skip("HEADROOM_LONG is not set")
	}
	names := make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprintf("class-%04d", i)
	}
	s.classesCluster(t, "a-thousand", names)
	ctx := s.tab(t, browser)
	s.open(t, ctx, "/c/a-thousand/classes")
	began := time.Now()
	do(t, ctx, chromedp.Navigate(s.address+"/c/a-thousand/classes"))
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

// walkTarget gives a class a target and a time until which it may wait, sees what the plan says of it, and takes both away.
func walkTarget(t *testing.T, ctx context.Context, s *server) {
	const at = "/c/odd-names/plan/classes/Same"
	saved := func(target, due, by string) (c struct {
		Target float64 `json:"target"`
		Due    float64 `json:"due_s"`
		By     string  `json:"due"`
	}) {
		do(t, ctx, chromedp.Navigate(s.address+at))
		until(t, ctx, `document.querySelector("#field-class-target")`)
		write(t, ctx, "#field-class-target", target)
		write(t, ctx, "#field-class-due-s", due)
		write(t, ctx, "#field-class-due", by)
		press(t, ctx, "Save")
		until(t, ctx, `document.body.innerText.includes("Saved.")`)
		s.get(t, "/v1/clusters/odd-names/classes/Same", &c)
		return c
	}
	if c := saved("0.95", "6 h", ""); c.Target != 0.95 || c.Due != 21600 {
		t.Errorf("got the target %g and %g s, want 0.95 and 21600", c.Target, c.Due)
	}
	if c := saved("0.95", "", "06:00"); c.By != "06:00" || c.Due != 0 {
		t.Errorf("it is due by %q and within %g s, want 06:00", c.By, c.Due)
	}
	do(t, ctx, chromedp.Navigate(s.address+"/c/odd-names/plan?class=Same"))
	until(t, ctx, `(document.querySelector(".panel .target")?.textContent ?? "").startsWith("Target: 95 % in time. Nothing shows yet")`)
	picture(t, ctx, "plan-target")
	if c := saved("", "", ""); c.Target != 0 || c.Due != 0 || c.By != "" {
		t.Errorf("the target %g and %g s are still there", c.Target, c.Due)
	}
}
