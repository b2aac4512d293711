package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"

	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/chromium"
	"example.org/headroom/internal/test/pgtest"
)

// overviewLine is a line that the page's lines are compared with.
type overviewLine struct {
	Cluster string
	Plan    *struct {
		Bill, Penalties string
		Refused         int64
		Period          int64 `json:"period_s"`
	}
	Failure *string
	Month   *struct {
		Until time.Time
		Bill  decimal.Decimal
	}
	Days []*string
}

func (s *server) overview(t *testing.T) []overviewLine {
	t.Helper()
	var list struct{ Items []overviewLine }
	s.get(t, "/v1/overview?limit=1000", &list)
	return list.Items
}

// manyClusters creates so many clusters like the demonstration, each with prices of its own, and one that promises more than its
// quota allows.
func (s *server) manyClusters(t *testing.T, clusters int) {
	t.Helper()
	text, err := os.ReadFile("../cli/server/demo.json")
	if err != nil {
		t.Fatal(err)
	}
	for n := range clusters {
		var document map[string]any
		if err := json.Unmarshal(text, &document); err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("cluster-%03d", n)
		document["cluster"].(map[string]any)["name"] = name
		document["prices"].([]any)[0].(map[string]any)["price"] = fmt.Sprintf("0.%03d", 300+n)
		if n == clusters-1 {
			document["contracts"] = []any{}
			document["vm_types"].([]any)[0].(map[string]any)["quota"] = 1
		}
		s.apply(t, name, document)
	}
	for last := range await.Tries(2 * time.Minute) {
		lines := s.overview(t)
		if len(lines) == clusters && !slices.ContainsFunc(lines, func(l overviewLine) bool { return l.Plan == nil && l.Failure == nil }) {
			return
		}
		if last {
			t.Fatalf("not all of %d clusters are planned", clusters)
		}
	}
}

// recall gives every cluster plans of the last days, whose bills fall day by day to what they are now.
func recall(t *testing.T, database string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), `
		INSERT INTO plans (id, cluster_id, number, at, created_at, created_by, inputs_version, status, objective, total_cost, on_demand_cost, spot_cost, reserved_cost,
		                   penalties, currency, period_seconds, vms, vms_on_demand, vms_spot, vms_reserved, admitted, refused, gap, for_now, why, problem, plan)
		SELECT gen_random_uuid(), cluster_id, 1000 + 20 - back, created_at - back * interval '1 day', created_at - back * interval '1 day', created_by, inputs_version, status, objective,
		       total_cost + back, on_demand_cost + back, spot_cost, reserved_cost, penalties, currency, period_seconds, vms, vms_on_demand, vms_spot, vms_reserved, admitted, refused, gap, true, '', problem, plan
		FROM plans, generate_series(1, 10) back WHERE number = 1`); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `
		INSERT INTO plan_reigns (cluster_id, since, number) SELECT cluster_id, created_at, number FROM plans WHERE number > 1000`); err != nil {
		t.Fatal(err)
	}
	step, err := os.ReadFile("../../../migrations/00037_reigns_billed.sql")
	if err != nil {
		t.Fatal(err)
	}
	_, addUp, _ := strings.Cut(string(step), "\nWITH known AS") // as the step does with what it finds
	if _, err := conn.Exec(t.Context(), "WITH known AS"+addUp); err != nil {
		t.Fatal(err)
	}
}

// monthsUntil adds up the bills of clusters in a month until a moment, plan by plan as they were in force.
func (s *server) monthsUntil(t *testing.T, lines []overviewLine, now time.Time) *big.Rat {
	t.Helper()
	now = now.UTC()
	month := now.Add(-time.Nanosecond) // its end belongs to it
	first := time.Date(month.Year(), month.Month(), 1, 0, 0, 0, 0, time.UTC)
	sum := new(big.Rat)
	for _, l := range lines {
		var held struct {
			Items []struct {
				Bill         string
				Period       int64 `json:"period_s"`
				Since, Until time.Time
			}
		}
		s.get(t, "/v1/clusters/"+l.Cluster+"/plans?in_force=true&limit=1000&from="+first.Format(time.RFC3339), &held)
		for _, h := range held.Items {
			if h.Since.Before(first) {
				h.Since = first
			}
			if h.Until.IsZero() {
				h.Until = now
			}
			sum.Add(sum, new(big.Rat).Mul(amount(t, h.Bill), big.NewRat(h.Until.Sub(h.Since).Microseconds(), h.Period*1e6)))
		}
	}
	return sum
}

// TestOverview sees 200 clusters at once, and a server that has none.
func TestOverview(t *testing.T) {
	clusters := 20
	if long() {
		clusters = 200
	}
	database, b := pgtest.Database(t), chromium.Start(t)
	s := start(t, freeAddress(t), database)
	ctx := s.tab(t, b)
	s.open(t, ctx, "/overview")
	until(t, ctx, `document.querySelector("main h1").textContent === "There is no cluster yet." && document.querySelector('main a[href="/welcome"]')`)
	calm(t, ctx, "overview-empty")
	looks(t, ctx, "overview-empty")

	s.manyClusters(t, clusters)
	recall(t, database)
	asked := time.Now()
	lines := s.overview(t)
	t.Logf("the overview of %d clusters is answered in %v", clusters, time.Since(asked))
	s.open(t, ctx, "/")
	until(t, ctx, fmt.Sprintf(`location.pathname === "/overview" && document.querySelectorAll(".overview tbody tr").length === %d`, clusters))

	bill, change, planned, refusing, refuser := new(big.Rat), new(big.Rat), 0, 0, ""
	for _, l := range lines {
		if l.Plan != nil {
			if l.Plan.Refused > 0 {
				refusing, refuser = refusing+1, l.Cluster
			}
			is := new(big.Rat).Mul(amount(t, l.Plan.Bill), big.NewRat(3600, l.Plan.Period))
			bill.Add(bill, is)
			planned++
			if was := l.Days[len(l.Days)-2]; was != nil {
				change.Add(change, is.Sub(is, new(big.Rat).Mul(amount(t, *was), big.NewRat(3600, l.Plan.Period))))
			}
		}
	}
	one := big.NewRat(1, 1)
	said := value[string](t, ctx, `document.querySelector("main h1").textContent`)
	begin := fmt.Sprintf("%d of %d clusters rent VMs for %s an hour, %s less than a day ago. %s so far: $", planned, clusters, amountOf(t, bill.FloatString(9), one, false), amountOf(t, change.Neg(change).FloatString(9), one, false), asked.UTC().Month())
	first := fmt.Sprintf(". cluster-%03d needs attention.", clusters-1)
	if refusing == 1 {
		first = fmt.Sprintf(". cluster-%03d needs attention, %s refuses jobs.", clusters-1, refuser)
	} else if refusing > 1 {
		first = fmt.Sprintf(". cluster-%03d needs attention, %d refuse jobs.", clusters-1, refusing)
	}
	shown, found := strings.CutPrefix(strings.TrimSuffix(said, first), begin)
	if !found {
		t.Fatalf("the page says %q, want %q", said, begin)
	}
	month := amount(t, strings.ReplaceAll(shown, ",", ""))
	low, high := new(big.Rat).Sub(s.monthsUntil(t, lines, asked), one), new(big.Rat).Add(s.monthsUntil(t, lines, time.Now()), one) // rounded
	if month.Cmp(low) < 0 || month.Cmp(high) > 0 || low.Sign() < 0 {
		t.Errorf("the month came to %s so far, want between %s and %s", month.FloatString(2), low.FloatString(2), high.FloatString(2))
	}
	if first := value[string](t, ctx, `document.querySelector(".overview tbody tr").textContent`); !strings.Contains(first, fmt.Sprintf("cluster-%03d", clusters-1)) || !strings.Contains(first, "No plan possible") {
		t.Errorf("first stands %q, not the cluster in conflict", first)
	}
	slowest := 0.0
	for column := range 8 {
		quickest := 1e9 // of several: others use the machine as well
		for range 6 {   // upwards and downwards in turn
			took := value[float64](t, ctx, fmt.Sprintf(`new Promise((then) => { const begin = performance.now(); document.querySelectorAll(".overview thead button")[%d].click(); requestAnimationFrame(() => setTimeout(() => then(performance.now() - begin))); })`, column))
			quickest = min(quickest, took)
		}
		slowest = max(slowest, quickest)
	}
	t.Logf("the slowest column of %d clusters is sorted and painted after %.0f ms", clusters, slowest)
	most := 1_000.0 // beside other tests
	if long() {
		most = 100
	}
	if slowest > most {
		t.Errorf("a sort of %d clusters takes %.0f ms, at most %.0f are promised", clusters, slowest, most)
	}
	if at := value[string](t, ctx, `document.querySelector(".overview thead [aria-sort=descending]").textContent`); !strings.HasPrefix(at, "Next contract end") {
		t.Errorf("it is sorted by %q", at)
	}
	value[bool](t, ctx, `(() => { const f = document.querySelector("main input[type=search]"); f.value = "cluster-01"; f.dispatchEvent(new Event("input", {bubbles: true})); return true; })()`)
	until(t, ctx, `document.querySelectorAll(".overview tbody tr").length === 10`)
	calm(t, ctx, "overview")
	calmInTheDark(t, ctx, "overview")
	looks(t, ctx, "overview")
	s.open(t, ctx, "/overview")
	press(t, ctx, "cluster-000")
	until(t, ctx, `location.pathname.startsWith("/c/cluster-000/") && document.querySelector("main h1").textContent.includes("jobs run")`)
}
