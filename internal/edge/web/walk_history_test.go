package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/test/await"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// a name that would be markup, a formula and text of another direction, were it not only a name
const hostileName = "<img src=x onerror=alert(1)> =1+1 \u202eevil \u05d0\u05d1"

// apply creates a cluster from a document.
func (s *server) apply(t *testing.T, cluster string, document any) {
	t.Helper()
	s.write(t, http.MethodPut, "/v1/clusters/"+cluster+"/document", document, "If-None-Match", "*")
}

// put replaces a thing of a given version.
func (s *server) put(t *testing.T, path string, body any, version string) {
	t.Helper()
	s.write(t, http.MethodPut, path, body, "If-Match", version)
}

// delete deletes a thing.
func (s *server) delete(t *testing.T, path string) {
	t.Helper()
	s.write(t, http.MethodDelete, path, nil, "If-Match", s.etag(t, path))
}

func (s *server) write(t *testing.T, method, path string, body any, condition, version string) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequest(method, s.address+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(condition, version)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if said, _ := io.ReadAll(answer.Body); answer.StatusCode >= 300 {
		t.Fatalf("%s %s: %s\n%s", method, path, answer.Status, said)
	}
}

// etag returns the version of the thing at a path.
func (s *server) etag(t *testing.T, path string) string {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, s.address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.key)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.Header.Get("ETag")
}

// planned waits until a cluster's current plan has a number, and gives it.
func (s *server) planned(t *testing.T, cluster string, number int) {
	t.Helper()
	var list struct {
		Items []struct{ Number int }
	}
	for last := range await.Tries(30 * time.Second) {
		s.get(t, "/v1/clusters/"+cluster+"/plans", &list)
		if len(list.Items) > 0 && list.Items[0].Number >= number {
			return
		}
		if last {
			t.Fatalf("%s has no plan %d: %+v", cluster, number, list.Items)
		}
	}
}

// past creates a cluster with three plans.
func (s *server) past(t *testing.T, cluster string) {
	t.Helper()
	var document map[string]any
	s.get(t, "/v1/clusters/demo/document", &document)
	document["cluster"].(map[string]any)["name"] = cluster
	document["classes"].([]any)[3].(map[string]any)["name"] = hostileName
	s.apply(t, cluster, document)
	s.planned(t, cluster, 1)
	document["prices"].([]any)[0].(map[string]any)["price"] = "0.419"
	s.put(t, "/v1/clusters/"+cluster+"/document", document, s.etag(t, "/v1/clusters/"+cluster+"/document"))
	s.planned(t, cluster, 2)
	for i, penalty := range []string{"", "0.31", "0.02", "9.00", "0.02"} {
		if penalty != "" {
			document["classes"].([]any)[i].(map[string]any)["penalty"] = penalty
		}
	}
	s.put(t, "/v1/clusters/"+cluster+"/document", document, s.etag(t, "/v1/clusters/"+cluster+"/document"))
	s.planned(t, cluster, 3)
}

// dollars writes an amount as the page does: two places, half away from zero.
func dollars(amount *big.Rat) string {
	text := new(big.Rat).Abs(amount).FloatString(2)
	whole, part, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if text = "$" + whole + "." + part; amount.Sign() < 0 {
		return "−" + text
	}
	return text
}

func amount(t *testing.T, text string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is no amount", text)
	}
	return r
}

// viewer returns the server with a key that may only read.
func (s *server) viewer(t *testing.T) *server {
	t.Helper()
	var made struct{ Token string }
	s.send(t, "POST", "/v1/keys", map[string]any{"name": "reads alone", "role": "viewer"}, &made)
	return &server{address: s.address, key: made.Token}
}

func walkHistory(t *testing.T, s *server, browser context.Context) {
	s.past(t, "past")
	type plan struct {
		Number       int
		Why          string
		TotalCost    string `json:"total_cost"`
		Penalties    string
		VMs, Refused float64
	}
	// A fourth plan, for another moment, is never in force.
	s.send(t, "POST", "/v1/clusters/past/plans", map[string]any{"at": time.Now().UTC().Add(7 * 24 * time.Hour).Truncate(time.Hour)}, nil)
	var list struct{ Items []plan }
	s.get(t, "/v1/clusters/past/plans", &list)
	list.Items = list.Items[1:]
	ctx := s.tab(t, browser)
	s.open(t, ctx, "/c/past/history?per=hour")
	until(t, ctx, `document.querySelectorAll("table.data tbody tr").length === 4 && document.querySelector(".axes svg") &&
		document.querySelectorAll("table.data tbody tr")[1].textContent.includes("now")`) // the current plan comes by itself
	cells := value[[][]string](t, ctx, `[...document.querySelectorAll("table.data tbody tr")].map((r) => [...r.cells].map((c) => { const x = c.cloneNode(true); x.querySelector(".narrow")?.remove(); return x.textContent.trim(); }))`)
	if got := cells[0]; got[0] != "4" || got[2] != "never" || !strings.Contains(got[1], ", for ") || got[7] != "–" {
		t.Errorf("the plan for another moment reads %q", got)
	}
	if said := value[string](t, ctx, `document.querySelector(".card p").textContent`); strings.Contains(said, "plan 4") {
		t.Errorf("a plan for another moment is among the bills: %q", said)
	}
	cells = cells[1:]
	for i, p := range list.Items {
		bill := new(big.Rat).Sub(amount(t, p.TotalCost), amount(t, p.Penalties))
		change := "–"
		if i+1 < len(list.Items) {
			before := new(big.Rat).Sub(amount(t, list.Items[i+1].TotalCost), amount(t, list.Items[i+1].Penalties))
			switch d := new(big.Rat).Sub(bill, before); d.Sign() {
			case 0:
				change = "no change"
			case 1:
				change = "+" + dollars(d)
			default:
				change = dollars(d)
			}
		}
		if asked := `Key "HEADROOM_ADMIN_KEY" changed the `; p.Number == 1 && p.Why != "The first plan." || p.Number > 1 && !strings.HasPrefix(p.Why, asked) {
			t.Errorf("plan %d was computed because %q", p.Number, p.Why)
		}
		number := fmt.Sprint(p.Number)
		if i == 0 {
			number += " now"
		}
		want := []string{number, p.Why, dollars(bill), fmt.Sprint(p.VMs), fmt.Sprint(p.Refused), change}
		if since := cells[i][2]; strings.HasPrefix(since, "since ") != (i == 0) || strings.HasPrefix(since, "until ") != (i > 0) {
			t.Errorf("plan %d was in force %q", p.Number, since)
		}
		got := append([]string{cells[i][0]}, cells[i][3:]...)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("plan %d reads %q, want %q", p.Number, got, want)
		}
		if i == 0 {
			if lead := value[string](t, ctx, `document.querySelector("h1").textContent`); !strings.HasPrefix(lead, "Plan 3 rents VMs for "+dollars(bill)+" an hour") {
				t.Errorf("the page leads with %q, want %s in it", lead, dollars(bill))
			}
		}
	}
	do(t, ctx, chromedp.Focus(chromedp.CSS(".plot")), chromedp.KeyEvent(kb.End))
	until(t, ctx, `document.querySelector(".readout").textContent.startsWith("Plan 3, ")`)

	// A part of the time is seen closer, and all of it again; where nothing was in force, that is said.
	press(t, ctx, "Zoom in")
	until(t, ctx, `location.search.includes("days=")`)
	press(t, ctx, "Show all")
	until(t, ctx, `!location.search.includes("days=") && ![...document.querySelectorAll("main button")].some((b) => b.textContent === "Show all")`)
	s.open(t, ctx, "/c/past/plan/history?days=2020-01-01T00:00Z..2020-01-02T00:00Z")
	until(t, ctx, `document.querySelector("main").textContent.includes("No plan was in force then.")`)
	press(t, ctx, "Show all")
	until(t, ctx, `document.querySelector(".axes svg")`)
	calm(t, ctx, "history")
	looks(t, ctx, "history")

	// Two ticks by keys lead to the differences.
	for _, row := range []string{"4", "2"} {
		do(t, ctx, chromedp.Focus(chromedp.CSS("table.data tbody tr:nth-child("+row+") input")), chromedp.KeyEvent(" "))
	}
	press(t, ctx, "Compare plan 1 with plan 3")
	until(t, ctx, `location.pathname === "/c/past/plan/history/1..3" && document.querySelector(".bridge svg")`)
	if lead := value[string](t, ctx, `document.querySelector("h1").textContent`); !strings.HasPrefix(lead, "From plan 1 to plan 3 the VM bill ") {
		t.Errorf("the page leads with %q", lead)
	}
	do(t, ctx, chromedp.Click(chromedp.CSS(`.segments label:nth-of-type(1) input`)))
	until(t, ctx, `document.querySelector("#cost").textContent === "Bill and value refused an hour"`)
	var difference struct {
		Cost    []struct{ Name, From, To, Change string }
		Classes []struct{ Name string }
		Inputs  []struct{ Pointer string }
	}
	s.get(t, "/v1/clusters/past/plans/diff?from=1&to=3", &difference)
	rows := value[map[string][]string](t, ctx, `Object.fromEntries([...document.querySelector("#cost").closest("section").querySelectorAll("tbody tr")].map((r) => [r.cells[0].textContent, [...r.cells].slice(1).map((c) => c.textContent)]))`)
	names := map[string]string{"total": "Bill and value refused", "bill": "VM bill", "reserved": "Reserved", "on_demand": "On demand", "penalties": "Value refused", "reserved_idle": "Reserved but idle", "spot": "Spot"}
	for _, c := range difference.Cost {
		got := rows[names[c.Name]]
		if amount(t, c.From).Sign() == 0 && amount(t, c.To).Sign() == 0 {
			if got != nil {
				t.Errorf("%s is nothing in both plans and reads %q", c.Name, got)
			}
			continue
		}
		if len(got) != 3 || got[0] != dollars(amount(t, c.From)) || got[1] != dollars(amount(t, c.To)) {
			t.Errorf("%s reads %q, want %s to %s", c.Name, got, c.From, c.To)
		}
	}
	if shown := value[[]string](t, ctx, `[...document.querySelectorAll("table.decisions tbody bdi")].map((e) => e.textContent)`); len(shown) == 0 || len(shown) > len(difference.Classes) || !strings.Contains(strings.Join(shown, "|"), hostileName) {
		t.Errorf("the decisions are of %q, want those of %+v", shown, difference.Classes)
	}
	if shown := value[int](t, ctx, `document.querySelector("#inputs").closest("section").querySelectorAll("tbody tr").length`); shown != len(difference.Inputs) || shown < 4 {
		t.Errorf("%d inputs are shown, want %d", shown, len(difference.Inputs))
	}
	calm(t, ctx, "history-difference")
	looks(t, ctx, "history-difference")

	// One tick: it is proved again, and held.
	s.open(t, ctx, "/c/past/history?pick=2")
	press(t, ctx, "Verify")
	until(t, ctx, `document.querySelector(".chosen").textContent.includes("Plan 2 was proved again by code that shares nothing with the code that planned: ")`)
	press(t, ctx, "Pin")
	until(t, ctx, `document.querySelector("main").textContent.includes("Plan 2 is pinned until ") && document.querySelector("h1").textContent.startsWith("Plan 2 ")`)
	picture(t, ctx, "history-pinned")
	until(t, ctx, `document.querySelector("main").textContent.includes(". Plan 3 waits until then.")`)
	until(t, ctx, `document.querySelector("header.top").textContent.includes("Plan 2 · pinned · made ")`)
	s.open(t, ctx, "/c/past/plan")
	looks(t, ctx, "plan-pinned")
	until(t, ctx, `/Plan 2 is pinned until .*\. Plan 3 waits until then\./.test(document.querySelector("main").textContent)`)
	press(t, ctx, "End the pin")
	until(t, ctx, `!document.querySelector("main").textContent.includes("is pinned until") && document.querySelector("header.top").textContent.includes("Plan 3 · computed ")`)
	s.open(t, ctx, "/c/past/history")
	until(t, ctx, `document.querySelector("h1").textContent.startsWith("Plan 3 ")`)

	// A cluster without any history yet.
	s.send(t, "POST", "/v1/clusters", map[string]any{"name": "unplanned"}, nil)
	s.open(t, ctx, "/c/unplanned/history")
	until(t, ctx, `document.querySelector("h1").textContent === "There is no plan yet. Plans are made whenever inputs change, and stand here then."`)
	s.open(t, ctx, "/c/unplanned/batch")
	until(t, ctx, `document.querySelector("main").textContent.includes("Nothing to pack yet. Add a class, and measure how long its jobs take.")`)
	picture(t, ctx, "batch-bare")

	reader := s.viewer(t)
	ctx = reader.tab(t, browser)
	reader.open(t, ctx, "/c/past/history?pick=2")
	press(t, ctx, "Verify")
	until(t, ctx, `document.querySelector(".chosen [role=alert]")?.textContent === "Your key may read past but not change it. Ask an administrator for the role planner."`)
}
