package web_test

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/test/await"
)

// current holds the data that Now is compared with: the plan, and its problem.
type current struct {
	Number, VMs, Admitted, Refused int
	Plan                           struct {
		Objective string
		Cost      struct {
			Total, Reserved, Penalties string
			ReservedIdle               string `json:"reserved_idle"`
			OnDemand                   string `json:"on_demand"`
		}
		VMs struct {
			Total, Reserved float64
			OnDemand        float64 `json:"on_demand"`
			Contracts       []contractUse
		}
		Classes []struct {
			Name, Verdict, Reason  string
			Admitted, Refused, VMs float64
			Slots                  *struct{ Map, Reduce int }
			Time                   *struct{ Lower, Average, Upper float64 } `json:"time_s"`
			Flips                  struct {
				Penalty  *string
				Deadline *float64 `json:"deadline_s"`
				OnDemand *string  `json:"on_demand_price"`
			}
			Stays *struct {
				Penalty  *struct{ Low, High *string }
				Deadline *struct{ Low, High *float64 } `json:"deadline_s"`
			}
		}
		Stays *struct {
			OnDemand *struct{ Low, High *string } `json:"on_demand_price"`
		}
		Proof struct {
			Checked bool
			SolveMS float64 `json:"solve_ms"`
		}
	}
	problem struct {
		Period int64 `json:"period_s"`
		Supply struct {
			OnDemand struct {
				Price string
				Quota *int
			} `json:"on_demand"`
			Contracts []struct{ Name, Price, Billing string }
		}
		Classes []askedClass
	}
}

// askedClass is a class of a plan's problem.
type askedClass struct {
	Name, Penalty string
	Deadline      float64 `json:"deadline_s"`
	Arrivals      float64 `json:"arrivals_per_hour"`
}

type contractUse struct {
	Name      string
	VMs, Used int64
}

func (s *server) current(t *testing.T, cluster string) *current {
	t.Helper()
	var c current
	s.get(t, "/v1/clusters/"+cluster+"/plans/current", &c)
	s.get(t, fmt.Sprintf("/v1/clusters/%s/plans/%d/problem", cluster, c.Number), &c.problem)
	return &c
}

// line is one line of the bill's addition: its text, and its amount for an hour.
type line struct {
	name string
	hour *big.Rat
}

// lines reckons the addition from the prices and counts alone, and holds the service's own against it.
func (c *current) lines(t *testing.T) (bill []line, refused line) {
	t.Helper()
	times := func(n int64, price string) *big.Rat { return new(big.Rat).Mul(big.NewRat(n, 1), amount(t, price)) }
	used, idle, penalties := new(big.Rat), new(big.Rat), new(big.Rat)
	var inUse, notInUse int64
	for i, k := range c.problem.Supply.Contracts {
		of := c.Plan.VMs.Contracts[i]
		inUse += of.Used
		used.Add(used, times(of.Used, k.Price))
		if k.Billing == "always" {
			notInUse += of.VMs - of.Used
			idle.Add(idle, times(of.VMs-of.Used, k.Price))
		}
	}
	for i, k := range c.problem.Classes {
		penalties.Add(penalties, times(int64(c.Plan.Classes[i].Refused), k.Penalty))
	}
	period := big.NewRat(c.problem.Period, 3600)
	penalties.Quo(penalties, period)
	onDemand := int64(c.Plan.VMs.OnDemand)
	bill = append(bill, line{name: "Reserved, " + vms(inUse), hour: used})
	if notInUse > 0 {
		bill = append(bill, line{name: "Reserved but idle, " + vms(notInUse), hour: idle})
	}
	bill = append(bill, line{name: "On demand, " + vms(onDemand), hour: times(onDemand, c.problem.Supply.OnDemand.Price)})
	cost := c.Plan.Cost
	for said, mine := range map[string]*big.Rat{cost.Reserved: used, cost.ReservedIdle: idle, cost.OnDemand: bill[len(bill)-1].hour, cost.Penalties: penalties} {
		if off := new(big.Rat).Sub(amount(t, said), new(big.Rat).Mul(mine, period)); off.Abs(off).Cmp(big.NewRat(1, 1e9)) > 0 {
			t.Errorf("the service says that a period costs %s, its prices and counts come to %s", said, mine.FloatString(9))
		}
	}
	return bill, line{name: "Value refused (on no bill)", hour: penalties}
}

func vms(n int64) string {
	if n == 1 {
		return "1 VM"
	}
	return fmt.Sprintf("%d VMs", n)
}

// lasting writes seconds as people read them, in the two largest units that matter.
func lasting(seconds float64) string {
	if seconds < 10 && seconds != math.Floor(seconds) {
		return fmt.Sprintf("%.1f s", seconds)
	}
	n := int(math.Round(seconds))
	units := []struct {
		name string
		of   int
	}{{"days", 86400}, {"h", 3600}, {"min", 60}, {"s", 1}}
	for i, u := range units {
		if n < u.of {
			continue
		}
		if i == len(units)-1 {
			return fmt.Sprintf("%d s", n)
		}
		less := units[i+1]
		rest := int(math.Round(math.Mod(float64(n), float64(u.of)) / float64(less.of)))
		if rest == 0 {
			return fmt.Sprintf("%d %s", n/u.of, u.name)
		}
		return fmt.Sprintf("%d %s %d %s", n/u.of, u.name, rest, less.name)
	}
	return "0 s"
}

// odd creates a cluster whose amounts have nine places and whose period is two hours. It has a contract that is paid
// and mostly idle, and a class too large for all VMs.
func (s *server) odd(t *testing.T, cluster string) {
	t.Helper()
	var document map[string]any
	s.get(t, "/v1/clusters/demo/document", &document)
	of := document["cluster"].(map[string]any)
	of["name"], of["period_s"] = cluster, 7200
	document["prices"].([]any)[0].(map[string]any)["price"] = "0.383333333"
	for _, k := range document["contracts"].([]any) {
		contract := k.(map[string]any)
		contract["price"], contract["vms"] = "0.242999999", 30
		if contract["name"] == "three-year" {
			contract["price"], contract["vms"] = "0.157123457", 90 // paid, whether they are used or not
		}
	}
	for i, c := range document["classes"].([]any) {
		class := c.(map[string]any)
		class["penalty"] = fmt.Sprintf("0.%d33333333", i+1)
		if i == 3 {
			class["deadline_s"], class["jobs"] = 60, map[string]int{"min": 0, "max": 7}
		}
	}
	s.apply(t, cluster, document)
	s.planned(t, cluster, 1)
}

// walkNow compares every figure of Now with the service's, computed in another way, and checks that shown additions
// add up.
func walkNow(t *testing.T, s *server, browser context.Context) {
	ctx := s.tab(t, browser)
	s.signIn(t, ctx, "/c/demo/now")
	until(t, ctx, `document.querySelector("h1")?.textContent.includes("at once")`)
	until(t, ctx, `location.pathname === "/c/demo/plan"`) // where the page's former address leads
	s.readNow(t, ctx, "demo")
	calm(t, ctx, "now")
	looks(t, ctx, "now")

	s.odd(t, "odd-amounts")
	s.open(t, ctx, "/c/odd-amounts/now")
	until(t, ctx, `document.querySelector("h1").textContent.includes("at once")`)
	c := s.readNow(t, ctx, "odd-amounts")
	if amount(t, c.Plan.Cost.ReservedIdle).Sign() == 0 {
		t.Errorf("no VM is paid and idle: the walk proves less than it should: %+v", c.Plan.Cost)
	}
	looks(t, ctx, "now-idle")

	// A forecast of some hours: the page says how much of what is to come rests on none.
	s.odd(t, "odd-hours")
	from := time.Now().UTC().Truncate(time.Hour).Add(time.Hour)
	for _, class := range s.current(t, "odd-hours").problem.Classes {
		s.send(t, http.MethodPost, "/v1/clusters/odd-hours/forecasts/weekly", map[string]any{"class": class.Name, "from": from, "until": from.Add(5 * time.Hour), "week": "else 3"}, nil)
	}
	s.open(t, ctx, "/c/odd-hours/plan")
	s.readMonth(t, ctx, "odd-hours")
	reader := s.viewer(t)
	readerTab := reader.tab(t, browser)
	reader.open(t, readerTab, "/c/odd-hours/plan") // a viewer may not ask for months
	until(t, readerTab, `/The months to come are not known here|to come by the plan of this hour, the month's last/.test(document.querySelector(".month")?.textContent)`)

	// The relaxation's price of a VM is shown where fractions of VMs are planned: its cost on demand is not the value of room for one more.
	var nearly map[string]any
	s.get(t, "/v1/clusters/demo/document", &nearly)
	nearly["cluster"].(map[string]any)["name"] = "nearly"
	nearly["cluster"].(map[string]any)["options"].(map[string]any)["integrality"] = "relaxed"
	for _, k := range nearly["contracts"].([]any) {
		if contract := k.(map[string]any); contract["name"] == "one-year" {
			contract["vms"] = 23
		}
	}
	s.apply(t, "nearly", nearly)
	s.planned(t, "nearly", 1)
	s.open(t, ctx, "/c/nearly/now")
	until(t, ctx, `document.body.innerText.includes("What room for one more is worth; on demand it costs $0.384.")`)
	// What if shows ten more such VMs, with the steps from one cost to the other.
	s.open(t, ctx, "/c/odd-amounts/what-if?base=1&ch="+url.QueryEscape("contract:three-year:=100"))
	more := amountOf(t, "1.57123457", month, false)
	until(t, ctx, fmt.Sprintf(`document.querySelector("#answer")?.closest("section").querySelector(".big")?.textContent === %q`, "+"+more))
	until(t, ctx, fmt.Sprintf(`document.querySelector(".bridge")?.ariaLabel.includes(%q)`, "Same decisions +"+more))

	// Rows found by a search do not add up, and no sum is claimed.
	s.open(t, ctx, "/c/odd-amounts/now")
	until(t, ctx, `document.querySelector("input[type=search]")`)
	value[bool](t, ctx, `(() => { const f = document.querySelector("input[type=search]"); f.value = "ml-"; f.dispatchEvent(new Event("input", {bubbles: true})); return true; })()`)
	until(t, ctx, `location.search === "?filter=ml-" && document.querySelectorAll("table.classes tbody tr").length === 1`)
}

// readNow compares the page's figures of a cluster with the service's.
func (s *server) readNow(t *testing.T, ctx context.Context, cluster string) *current {
	t.Helper()
	c := s.current(t, cluster)
	if got, want := value[string](t, ctx, `document.querySelector("h1").textContent`), fmt.Sprintf("%d jobs run at once on %d VMs. %d jobs are refused because ", c.Admitted, c.VMs, c.Refused); !strings.HasPrefix(got, want) {
		t.Errorf("%s leads with %q, want %q", cluster, got, want)
	}
	if got := value[string](t, ctx, `document.querySelector("header.top").textContent`); !strings.Contains(got, fmt.Sprintf("Plan %d · computed ", c.Number)) || !strings.Contains(got, "Proved optimal") {
		t.Errorf("%s: the header says %q", cluster, got)
	}
	s.readMonth(t, ctx, cluster)
	bill, refused := c.lines(t)
	for _, period := range []struct {
		text, key, of string
		hours         int64
	}{{"Hour", "", "of this hour", 1}, {"Day", "day", "a day at this hour's rate", 24}, {"Month", "month", "a month at this hour's rate", 730}} {
		value[bool](t, ctx, fmt.Sprintf(`[...document.querySelectorAll(".segments label")].find((l) => l.textContent === %q).querySelector("input").click(), true`, period.text))
		until(t, ctx, fmt.Sprintf(`(new URLSearchParams(location.search).get("per") ?? "") === %q && document.querySelector(".sums .total dt").textContent === %q`, period.key, "VM bill "+period.of))
		c.readSums(t, ctx, cluster+", "+period.text, bill, refused, period.of, period.hours)
	}
	c.readVMs(t, ctx, cluster)
	s.readFacts(t, ctx, cluster, c)
	s.readClasses(t, ctx, cluster, c)
	said := value[string](t, ctx, `document.querySelector("#proof").closest("section").textContent`)
	took := fmt.Sprintf("proved in %.0f ms by our own exact method", max(1, math.Round(c.Plan.Proof.SolveMS)))
	if c.Plan.Proof.SolveMS >= 1000 {
		took = fmt.Sprintf("proved in %.1f s by our own exact method", c.Plan.Proof.SolveMS/1000)
	}
	if !strings.Contains(said, took) || strings.Contains(said, "Every limit was checked again") != c.Plan.Proof.Checked {
		t.Errorf("%s: the proof reads %q, want %q", cluster, said, took)
	}
	return c
}

// readMonth reckons the bill of this month from the lists of plans in force and of months, and compares it with the page's.
func (s *server) readMonth(t *testing.T, ctx context.Context, cluster string) {
	t.Helper()
	section := `document.querySelector("#money").closest("section").querySelector(".month")`
	until(t, ctx, section+`?.querySelector(".big")`)
	want := ""
	for last := range await.Tries(10 * time.Second) { // an hour may begin meanwhile
		now := time.Now().UTC()
		begins := now.Truncate(time.Hour).Add(time.Hour)
		ends := time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC)
		total := s.monthsUntil(t, []overviewLine{{Cluster: cluster}}, begins) // this hour goes on as it is
		basis := "to come by the plan of this hour, the month's last."
		if begins.Before(ends) {
			basis = "to come with demand as it is where there is no forecast."
			var ahead struct {
				Total struct {
					Hours      float64
					Unforeseen float64 `json:"hours_without_forecast"`
					Resting    string  `json:"bill_without_forecast"`
					Cost       struct{ Bill string }
					Whole      *struct{ Bill string } `json:"in_whole_jobs"`
				}
			}
			s.send(t, http.MethodPost, "/v1/clusters/"+cluster+"/horizons", map[string]any{"from": begins, "until": ends, "detail": "summary"}, &ahead)
			bill := ahead.Total.Cost.Bill
			if of := ahead.Total.Whole; of != nil {
				bill = of.Bill
			}
			total.Add(total, amount(t, bill))
			if bill != ahead.Total.Cost.Bill {
				basis = "to come by the forecast, in whole jobs as plans are"
			} else if ahead.Total.Unforeseen == 0 {
				basis = "to come by the forecast."
			} else if ahead.Total.Unforeseen < ahead.Total.Hours {
				basis = fmt.Sprintf("to come by the forecast; %s of it (", amountOf(t, ahead.Total.Resting, big.NewRat(1, 1), false))
			}
		}
		want = fmt.Sprintf("%s VM bill of %s|%s", amountOf(t, total.FloatString(9), big.NewRat(1, 1), false), now.Month(), basis)
		said := value[string](t, ctx, section+`.textContent`)
		lead, rest, _ := strings.Cut(want, "|")
		if strings.HasPrefix(said, lead) && strings.Contains(said, rest) {
			return
		}
		if last {
			t.Errorf("%s: the month reads %q, want %q", cluster, said, want)
		}
	}
}

// readSums reads the addition: each line is the true amount to a cent, and the shown amounts add up exactly.
func (c *current) readSums(t *testing.T, ctx context.Context, of string, bill []line, refused line, per string, hours int64) {
	t.Helper()
	shown := value[[][]string](t, ctx, `[...document.querySelectorAll(".sums > div")].map((d) => [d.querySelector("dt").textContent, d.querySelector("dd").textContent])`)
	if len(shown) != len(bill)+3 {
		t.Fatalf("%s: the addition is %q", of, shown)
	}
	sum, total := new(big.Rat), new(big.Rat)
	read := func(i int, want line) *big.Rat {
		got := amount(t, strings.NewReplacer("$", "", ",", "").Replace(shown[i][1]))
		truth := new(big.Rat).Mul(want.hour, big.NewRat(hours, 1))
		total.Add(total, truth)
		if off := new(big.Rat).Sub(got, truth); shown[i][0] != want.name || off.Abs(off).Cmp(big.NewRat(1, 100)) >= 0 {
			t.Errorf("%s: it says %q, want %s and %s", of, shown[i], want.name, truth.FloatString(9))
		}
		return got
	}
	for i, l := range bill {
		sum.Add(sum, read(i, l))
	}
	n := len(bill)
	if want := []string{"VM bill " + per, dollars(sum)}; !slices.Equal(shown[n], want) {
		t.Errorf("%s: it says %q, its parts come to %q", of, shown[n], want)
	}
	sum.Add(sum, read(n+1, refused))
	if want := []string{"Bill and value refused", dollars(sum)}; !slices.Equal(shown[n+2], want) || dollars(sum) != dollars(total) {
		t.Errorf("%s: it says %q, its parts come to %q and in truth to %s", of, shown[n+2], want, total.FloatString(9))
	}
}

func (c *current) readVMs(t *testing.T, ctx context.Context, cluster string) {
	t.Helper()
	v, bought := c.Plan.VMs, int64(0)
	var rows []string
	price, always := map[string]*big.Rat{}, map[string]bool{}
	for _, k := range c.problem.Supply.Contracts {
		price[k.Name], always[k.Name] = amount(t, k.Price), k.Billing == "always"
	}
	paid, free := int64(0), int64(0)
	cheapest := slices.Clone(v.Contracts)
	slices.SortFunc(cheapest, func(a, b contractUse) int { return price[a.Name].Cmp(price[b.Name]) })
	for _, k := range cheapest {
		bought += k.VMs
		if k.Used > 0 {
			rows = append(rows, fmt.Sprintf("%s %d", k.Name, k.Used))
		}
		switch {
		case k.VMs > k.Used && always[k.Name]:
			paid += k.VMs - k.Used
			rows = append(rows, fmt.Sprintf("%s, idle %d", k.Name, k.VMs-k.Used))
		case k.VMs > k.Used:
			free += k.VMs - k.Used
			rows = append(rows, fmt.Sprintf("%s, idle and free of charge %d", k.Name, k.VMs-k.Used))
		}
	}
	if v.OnDemand > 0 {
		rows = append(rows, fmt.Sprintf("on demand %g", v.OnDemand))
	}
	section := `document.querySelector("#vms").closest("section")`
	if got, want := value[string](t, ctx, section+`.querySelector("p").textContent`), fmt.Sprintf("%g of which %g reserved, %g on demand", v.Total, v.Reserved, v.OnDemand); got != want || v.Reserved+v.OnDemand != v.Total {
		t.Errorf("%s: its VMs are %q, want %q", cluster, got, want)
	}
	idle := "none"
	if paid > 0 {
		idle = fmt.Sprint(paid)
	}
	want := fmt.Sprintf("Reserved, %g of %d used|On demand, %g of a quota of %d|Reserved but idle: %s", v.Reserved, bought, v.OnDemand, *c.problem.Supply.OnDemand.Quota, idle)
	if free > 0 {
		want += fmt.Sprintf("|Reserved and free of charge while idle: %d", free)
	}
	if got := value[string](t, ctx, `[...`+section+`.querySelectorAll(".figure > .legend > span")].map((e) => e.textContent).join("|")`); got != want {
		t.Errorf("%s: the legend is %q, want %q", cluster, got, want)
	}
	const toggle = `.querySelector(".foot [aria-expanded]").click(), true`
	value[bool](t, ctx, section+toggle)
	until(t, ctx, section+`.querySelector("tbody")`)
	if got := value[[]string](t, ctx, `[...`+section+`.querySelectorAll("tbody tr")].map((r) => [...r.cells].map((c) => c.lastChild.textContent).join(" "))`); !slices.Equal(got, rows) {
		t.Errorf("%s: the VMs come from %q, want %q", cluster, got, rows)
	}
	value[bool](t, ctx, section+toggle)
}

// cured follows a link to What if by way of the service, if jobs of the class must be served.
func (c *current) cured(t *testing.T, s *server, link string, class int) {
	t.Helper()
	address, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(address.Query().Get("ch"), ":")
	var w struct {
		Scenarios []struct {
			Plan struct{ Classes []struct{ Admitted float64 } }
		}
	}
	cluster := strings.Split(address.Path, "/")[2]
	s.send(t, "POST", "/v1/clusters/"+cluster+"/what-if", map[string]any{"detail": "full", "scenarios": []any{map[string]any{"changes": []any{map[string]any{"what": parts[0], "class": parts[1], "value": strings.TrimPrefix(parts[2], "=")}}}}}, &w)
	if w.Scenarios[0].Plan.Classes[class].Admitted == 0 {
		t.Errorf("%s serves no job of %s", link, c.Plan.Classes[class].Name)
	}
}

// readClasses reads the table: each class's figures, and a column of VMs that adds up.
func (s *server) readClasses(t *testing.T, ctx context.Context, cluster string, c *current) {
	t.Helper()
	type row struct {
		Cells         []string
		Reason, Times string // of its panel
		Cure          string
	}
	rows := value[[]row](t, ctx, `(async () => {
		const said = (e) => { const x = e.cloneNode(true); for (const n of x.querySelectorAll(".narrow")) n.remove(); return x.textContent.trim(); };
		const painted = () => new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(then)));
		const rows = [];
		for (let i = 0; i < document.querySelectorAll("table.classes tbody tr").length; i++) {
			const r = document.querySelectorAll("table.classes tbody tr")[i];
			const row = {cells: [...r.cells].map(said), reason: "", times: "", cure: ""};
			rows.push(row);
			const open = r.querySelector("a");
			if (!open) continue;
			open.click();
			await painted();
			const panel = document.querySelector(".panel");
			row.reason = panel.querySelector(".reason").textContent;
			row.times = [panel.querySelector(".against p"), panel.querySelector(".late-runs")].map((e) => e?.textContent ?? "").join("");
			row.cure = panel.querySelector("a.button")?.href ?? "";
		}
		document.querySelector(".panel button").click();
		await painted();
		return rows;
	})()`)
	order, tenths, before := map[string]int{"impossible": 0, "none": 1, "minimum": 2, "partial": 3, "full": 4}, 0, 0
	for _, r := range rows {
		var units, part int
		if _, err := fmt.Sscanf(r.Cells[3], "%d.%d", &units, &part); err != nil {
			t.Fatalf("%s: the row %q has no VMs", cluster, r.Cells)
		}
		tenths += 10*units + part
		i := slices.IndexFunc(c.problem.Classes, func(k askedClass) bool {
			return strings.HasPrefix(r.Cells[0], k.Name)
		})
		if i < 0 {
			if r.Cells[0] != "Rounding up to whole VMs" {
				t.Errorf("%s: no class is called as in %q", cluster, r.Cells)
			}
			continue
		}
		k, deadline := c.Plan.Classes[i], c.problem.Classes[i].Deadline
		if order[k.Verdict] < before {
			t.Errorf("%s: %s stands below classes that need less attention", cluster, k.Name)
		}
		before = order[k.Verdict]
		jobs := fmt.Sprintf("%g of %g", k.Admitted, k.Admitted+k.Refused)
		if k.Admitted+k.Refused == 0 {
			jobs = "0"
		}
		slots, times := "–", ""
		if k.Admitted > 0 {
			slots = fmt.Sprintf("%d / %d", k.Slots.Map, k.Slots.Reduce)
			times = fmt.Sprintf("expected %s · deadline %s", lasting(k.Time.Average), lasting(deadline))
			if k.Time.Upper > deadline {
				times += fmt.Sprintf("The plan counts on the expected time; a bad run may take %s. Plan for it", lasting(k.Time.Upper))
			}
		}
		verdict := map[string]string{"full": "All served", "minimum": fmt.Sprintf("Promised %g only", k.Admitted), "partial": fmt.Sprintf("%g of %g served", k.Admitted, k.Admitted+k.Refused), "none": "None served", "impossible": "Cannot meet " + lasting(deadline)}[k.Verdict]
		if k.Verdict == "impossible" {
			cure := math.Ceil(*k.Flips.Deadline)
			times = fmt.Sprintf("expected at least %s · deadline %s", lasting(cure), lasting(deadline))
			c.cured(t, s, r.Cure, i)
		}
		if math.Abs(float64(units)+float64(part)/10-k.VMs) >= 0.1 {
			t.Errorf("%s: %s has %s VMs, the service says %g", cluster, k.Name, r.Cells[3], k.VMs)
		}
		want := []string{verdict, jobs, r.Cells[3], slots, times, k.Reason}
		got := append(slices.Clone(r.Cells[1:5]), r.Times, r.Reason)
		if got[0] = strings.TrimLeft(got[0], "✓▲✕ "); !slices.Equal(got, want) {
			t.Errorf("%s: %s reads %q, want %q", cluster, k.Name, got, want)
		}
	}
	if tenths != 10*int(c.Plan.VMs.Total) {
		t.Errorf("%s: the column of VMs comes to %d.%d, the plan has %g", cluster, tenths/10, tenths%10, c.Plan.VMs.Total)
	}
}
