package api

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"k8s.io/apimachinery/pkg/api/resource"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/service/auth"
)

// kedaValue reads an answer as KEDA's metrics-api scaler does, with the same parsers. Only the status 200 will do,
// the value is found by a gjson path, and a text must be a Kubernetes quantity (metrics_api_scaler.go: getMetricValue
// and getValueFromJSONResponse).
func kedaValue(a answered, path string) (float64, error) {
	if a.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("api returned %d", a.StatusCode)
	}
	r := gjson.GetBytes(a.text, path)
	if r.Type == gjson.String {
		quantity, err := resource.ParseQuantity(r.String())
		return quantity.AsApproximateFloat64(), err
	}
	if r.Type != gjson.Number {
		return 0, fmt.Errorf("valueLocation must point to value of type number or a string representing a Quantity got: %s %q", r.Type, r.String())
	}
	return r.Num, nil
}

// kedaReads returns a value that KEDA can scale by: it would turn invalid and negative values into 0.
func kedaReads(t *testing.T, a answered, path string) float64 {
	t.Helper()
	value, err := kedaValue(a, path)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) || value < 0 {
		t.Fatalf("%s: got %v (%v) of %s", path, value, err, a.text)
	}
	return value
}

// asKeda sends a request as the scaler does: a plain GET with only the key in its header.
func (s *service) asKeda(key, query string) answered {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), "GET", s.url+scalingOfNight+query, nil)
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("X-API-KEY", key)
	return s.send(r)
}

func TestScalingIsReadAsKedaDoes(t *testing.T) {
	t.Parallel()
	s := shownPlan(t)
	key := s.key("keda", auth.Viewer, []string{"night"})
	a := s.asKeda(key, "").want(t, 200)
	total, sum := kedaReads(t, a, "vms.total"), 0.0
	for _, class := range []string{"nightly", "ad-hoc"} {
		vms := kedaReads(t, a, "classes."+class+".vms")
		if got := kedaReads(t, a, fmt.Sprintf(`items.#(class==%q).vms`, class)); got != vms {
			t.Errorf("class %s has %v VMs as a row and %v by name", class, got, vms)
		}
		kedaReads(t, a, "classes."+class+".slots_map")
		kedaReads(t, a, "classes."+class+".admitted")
		sum += vms
	}
	if total == 0 || sum != total || total != kedaReads(t, a, "vms.reserved")+kedaReads(t, a, "vms.on_demand") {
		t.Errorf("the classes have %v VMs of %v: %s", sum, total, a.text)
	}
	for _, path := range []string{"status", "stale", "vms", "vms.most", "items", "classes.nightly", "generated_at"} {
		if value, err := kedaValue(a, path); err == nil {
			t.Errorf("%s is %v for KEDA, which is no number", path, value)
		}
	}
	one := s.asKeda(key, "?class=nightly&headroom=1.5&min=2&max=1000").want(t, 200)
	if got, want := kedaReads(t, one, "vms.total"), math.Ceil(total*1.5); got != want {
		t.Errorf("with headroom the total is %v, want %v", got, want)
	}
	if strings.Contains(string(one.text), "ad-hoc") {
		t.Errorf("another class is in %s", one.text)
	}
	if got := kedaReads(t, s.asKeda(key, "?max=3").want(t, 200), "vms.total"); got != 3 {
		t.Errorf("the total is not clamped: %v", got)
	}
	for query, want := range map[string]int{"class=none": 404, "class=": 400, "headroom=0": 400, "headroom=NaN": 400, "headroom=99": 400, "min=-1": 400, "max=0": 400, "min=5&max=4": 400, "slots=1": 400, "min=1&min=2": 400, "%zz": 400} {
		got := s.asKeda(key, "?"+query)
		if _, err := kedaValue(got, "vms.total"); got.StatusCode != want || err == nil {
			t.Errorf("%s: got %d (%v), want %d and an error", query, got.StatusCode, err, want)
		}
	}
	s.ask(key, "GET", scalingOfNight, nil, "If-None-Match", a.etag()).want(t, 304) // KEDA sends none
	s.ask(s.key("other", auth.Viewer, []string{"day"}), "GET", scalingOfNight, nil).want(t, 404)
	s.ask(key, "GET", strings.Replace(scalingOfNight, "night", "nights", 1), nil).want(t, 404)
}

// Names of classes may contain any special characters of gjson's paths and queries.
func TestScalingOfClassesWithStrangeNames(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	escape := strings.NewReplacer(`\`, `\\`, `.`, `\.`, `*`, `\*`, `?`, `\?`, `|`, `\|`, `#`, `\#`, `@`, `\@`, `!`, `\!`, `{`, `\{`, `}`, `\}`, `[`, `\[`, `]`, `\]`, `(`, `\(`, `)`, `\)`, `=`, `\=`, `<`, `\<`, `>`, `\>`, `%`, `\%`, `"`, `\"`, `:`, `\:`)
	names := []string{"etl.nightly", `the "big" one`, `it's`, "größe.für.日本語", "🚀", "a*b?c", "#1", "@this", "x|y", `back\slash`, "<b>&amp;</b>", "0", "-1", "a b"}
	for _, name := range names {
		s.ask(s.admin, "POST", "/v1/clusters/night/classes", inputs.PlannedClass{Name: name, Demand: &capacity.Demand{MapWorkSeconds: 7200, ReduceWorkSeconds: 3600},
			DeadlineSeconds: 3600, SlotsPerVM: capacity.SlotsPerVM{Map: 2, Reduce: 2}, Jobs: capacity.JobRange{Min: 1, Max: 2}}).want(t, 201)
	}
	s.ask(s.admin, "POST", "/v1/clusters/night/plans", nil).want(t, 201)
	s.shows("night", 1)
	a := s.asKeda(s.admin, "").want(t, 200)
	for _, name := range names {
		byName, found := kedaReads(t, a, "classes."+escape.Replace(name)+".vms"), false
		gjson.GetBytes(a.text, "items").ForEach(func(_, row gjson.Result) bool {
			found = row.Get("class").Str == name && row.Get("vms").Num == byName
			return !found
		})
		if !found {
			t.Errorf("no row of class %q has its %v VMs", name, byName)
		}
		if byName == 0 {
			t.Errorf("class %q has no VM", name)
		}
	}
}
