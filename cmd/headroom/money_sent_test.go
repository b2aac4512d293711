package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/moneytest"
)

// sentPlan is a plan in a message of a webhook.
type sentPlan struct {
	Number int64
	Bill   decimal.Decimal `json:"bill_per_hour"`
	VMs    decimal.Decimal `json:"vms_per_hour"`
	Value  decimal.Decimal `json:"value_refused_per_hour"`
	Both   decimal.Decimal `json:"cost_per_hour"`
}

// messages holds what a real server sent to a webhook.
type messages struct {
	sync.Mutex
	plans map[string][]sentPlan // by cluster
	texts map[string][]string   // bodies
}

// listen makes a webhook of plans that change, whose messages are kept.
func listen(t *testing.T, send func(method, path, body, form string) string) *messages {
	t.Helper()
	m := &messages{plans: map[string][]sentPlan{}, texts: map[string][]string{}}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body struct {
			Cluster        string
			Plan, Previous *sentPlan
		}
		text, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(text, &body) != nil {
			return
		}
		m.Lock()
		defer m.Unlock()
		m.texts[body.Cluster] = append(m.texts[body.Cluster], string(text))
		for _, p := range []*sentPlan{body.Plan, body.Previous} {
			if p != nil {
				m.plans[body.Cluster] = append(m.plans[body.Cluster], *p)
			}
		}
	}))
	t.Cleanup(receiver.Close)
	host, port, err := net.SplitHostPort(strings.TrimPrefix(receiver.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	send(http.MethodPost, "/v1/allowed-hosts", fmt.Sprintf(`{"host":%q,"port":%s,"http":true,"networks":["127.0.0.0/8"]}`, host, port), "")
	send(http.MethodPost, "/v1/webhooks", fmt.Sprintf(`{"name":"money","url":%q,"events":["plan.changed"]}`, receiver.URL), "")
	return m
}

// ofPlan are what a stored plan's bill and its refused jobs come to in an hour.
func ofPlan(t *testing.T, text string) (bill, value decimal.Decimal) {
	t.Helper()
	var stored struct {
		Plan struct {
			Cost struct {
				Period          int64 `json:"period_s"`
				Bill, Penalties decimal.Decimal
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &stored); err != nil {
		t.Fatal(err)
	}
	c := stored.Plan.Cost
	hour := func(x decimal.Decimal) decimal.Decimal {
		return x.Mul(decimal.NewFromInt(3600)).DivRound(decimal.NewFromInt(c.Period), 9)
	}
	return hour(c.Bill), hour(c.Penalties)
}

// check compares each message about the clusters with the plan it names: the bill is the plan's to the last place.
func (m *messages) check(t *testing.T, send func(method, path, body, form string) string, names []string) (seen, refusing int) {
	t.Helper()
	for _, name := range names {
		for range await.Tries(time.Minute) {
			m.Lock()
			some := len(m.plans[name]) > 0
			m.Unlock()
			if some {
				break
			}
		}
		m.Lock()
		plans, texts := m.plans[name], m.texts[name]
		m.Unlock()
		if len(plans) == 0 {
			t.Errorf("no message of %s came", name)
		}
		for _, p := range plans {
			bill, value := ofPlan(t, send(http.MethodGet, fmt.Sprintf("/v1/clusters/%s/plans/%d", name, p.Number), "", ""))
			if !p.Bill.Equal(bill) || !p.VMs.Equal(bill) || !p.Value.Equal(value) || !p.Both.Equal(bill.Add(value)) {
				t.Errorf("a message says of plan %d of %s: bill %s, VMs %s, value %s, both %s; its bill is %s and its value %s an hour",
					p.Number, name, p.Bill, p.VMs, p.Value, p.Both, bill, value)
			}
			if seen++; !value.IsZero() {
				refusing++
			}
		}
		for _, text := range texts { // no other money stands in it
			for _, member := range regexp.MustCompile(`"([a-z_]+)": ?"-?\d+\.\d+"`).FindAllStringSubmatch(text, -1) {
				if !regexp.MustCompile(`^(bill|vms|value_refused|cost)_per_hour$`).MatchString(member[1]) {
					t.Errorf("a message of %s has %s, which nobody compared", name, member[1])
				}
			}
		}
	}
	return seen, refusing
}

// checkMetrics compares what is scraped with the current plans: without the value of refused jobs the components are
// the bill.
func checkMetrics(t *testing.T, send func(method, path, body, form string) string, names []string) {
	t.Helper()
	text := send(http.MethodGet, "/metrics", "", "")
	line := regexp.MustCompile(`(?m)^headroom_plan_cost_per_hour\{cluster="([^"]*)",component="([^"]*)",currency="[A-Z]{3}"\} (\S+)$`)
	bills, values := map[string]float64{}, map[string]float64{}
	for _, x := range line.FindAllStringSubmatch(text, -1) {
		amount, err := strconv.ParseFloat(x[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		if x[2] == "penalty" {
			values[x[1]] += amount
		} else {
			bills[x[1]] += amount
		}
	}
	for _, name := range names {
		bill, value := ofPlan(t, send(http.MethodGet, "/v1/clusters/"+name+"/plans/current", "", ""))
		if got, there := bills[name]; !there || math.Abs(got-bill.InexactFloat64()) > 1e-8 || math.Abs(values[name]-value.InexactFloat64()) > 1e-8 {
			t.Errorf("metrics of %s: bill %v and value %v, want %s and %s", name, got, values[name], bill, value)
		}
	}
	for _, x := range regexp.MustCompile(`(?m)^# HELP (headroom_\S+) (.*)$`).FindAllStringSubmatch(text, -1) {
		if name := strings.ReplaceAll(x[1], "_", " "); moneytest.MoneyWord.MatchString(name) && moneytest.ValueWord.MatchString(x[2]) && !strings.Contains(x[2], "no bill") {
			t.Errorf("%s has a word of money, and its text does not say what is on no bill: %s", x[1], x[2])
		}
	}
}
