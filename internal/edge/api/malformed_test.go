package api

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
)

// inside matches text that no answer and no log line may contain: secrets and internals of the service.
var inside = regexp.MustCompile(`hr[ksl]_[A-Za-z0-9_-]{20}|postgres(ql)?://|SQLSTATE|sqlstate|\bpgx\b|\bpgconn\b|goroutine |\.go:\d|runtime error|panic|` +
	`/(work|root|tmp|usr|home|var)/|\b(json|api|app|capacity|openapi3|strconv|runtime|time)\.[A-Za-z(*]|\b(float64|int64|interface \{\}|map\[|nil pointer|unmarshal|Unmarshal)`)

// pointers match places in a body, such as /jobs/0/work/0, which are no files.
var pointers = regexp.MustCompile(`"pointer":"[^"]*"`)

// sent is one malformed request.
type sent struct {
	method, path string
	body         []byte
	headers      map[string]string
}

// forge makes a request for an operation from the contract and breaks it in some places.
func forge(random *rand.Rand, method, path string, item *openapi3.PathItem, op *openapi3.Operation) sent {
	r := sent{method: method, headers: map[string]string{}}
	known := map[string]string{"cluster": "night", "name": "small", "id": "x", "node": "n", "job": "1", "plan": "1", "version": "1", "kind": "invalid", "file": "style.css"}
	query := url.Values{}
	for _, ref := range slices.Concat(item.Parameters, op.Parameters) {
		p := ref.Value
		value := known[p.Name]
		if p.In != "path" || random.IntN(6) == 0 {
			value = oddText(random)
		}
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(value))
		case p.In == "query" && (p.Required || random.IntN(3) == 0):
			query.Set(p.Name, value)
			if random.IntN(20) == 0 {
				query.Add(p.Name, value)
			}
		case p.In == "header" && random.IntN(3) == 0:
			r.headers[p.Name] = strings.Map(func(c rune) rune {
				if c < ' ' || c == 0x7f {
					return '?' // no client could send it
				}
				return c
			}, oddText(random))
		}
	}
	if random.IntN(10) == 0 {
		query.Set(oddText(random), oddText(random))
	}
	r.path = path
	if q := query.Encode(); q != "" {
		r.path += "?" + q
	}
	if random.IntN(30) == 0 {
		r.path += "?%zz&;=%"
	}
	if op.RequestBody != nil {
		value := sample(random, op.RequestBody.Value.Content["application/json"].Schema.Value, 0)
		for range random.IntN(4) {
			value = mutate(random, value)
		}
		r.body, _ = json.Marshal(value)
		switch random.IntN(6) {
		case 0, 1:
			r.body = damage(random, append(r.body, ' '))
		case 2:
			r.headers["Content-Type"] = []string{"text/plain", "application/json;charset=utf-16", "", "application/json"}[random.IntN(4)]
		}
		if random.IntN(25) == 0 {
			r.headers["Content-Encoding"] = "gzip"
		}
	}
	return r
}

// sample returns a value that a schema may accept.
func sample(random *rand.Rand, s *openapi3.Schema, depth int) any {
	switch {
	case len(s.OneOf) > 0:
		return sample(random, s.OneOf[random.IntN(len(s.OneOf))].Value, depth)
	case len(s.Enum) > 0:
		return s.Enum[random.IntN(len(s.Enum))]
	case s.Type.Is("object"):
		object := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if slices.Contains(s.Required, name) || random.IntN(3) == 0 {
				object[name] = sample(random, s.Properties[name].Value, depth+1)
			}
		}
		return object
	case s.Type.Is("array"):
		items := []any{}
		for range 1 + random.IntN(2) {
			items = append(items, sample(random, s.Items.Value, depth+1))
		}
		return items
	case s.Type.Is("integer"), s.Type.Is("number"):
		return json.Number(fmt.Sprint(1 + random.IntN(3)))
	case s.Type.Is("boolean"):
		return random.IntN(2) == 0
	case s.Format == "date-time":
		return "2026-03-01T22:00:00Z"
	}
	return []string{"small", "night", "etl", "USD", "UTC", "nightly", "1.5"}[random.IntN(7)]
}

func oddText(random *rand.Rand) string {
	texts := []string{
		"", "0", "-1", "1", "999999999999999999999", "1e9", "NaN", "null", "true", "csv", "*", `"1"`, `"0"`, `W/"1"`, `"`, "current", "..", "%", "a/b", "\x00", "\xff\xfe",
		"night", "small", "2026-03-01T22:00:00Z", "2026-13-01T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999+23:59", "019a0000-0000-7000-8000-000000000000", "00000000-0000-0000-0000-000000000000",
		"é\u202e", "' OR 1=1 --", "$1", "{{.}}", strings.Repeat("z", 201), strings.Repeat("z", 3000), "=cmd()", "\u2028", "\r\nX: y",
	}
	return texts[random.IntN(len(texts))]
}

// Any request gets a quick answer that is no 5xx, names the fault, and reveals nothing of the inside.
func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	s := newService(t, solved(t))
	s.cluster("night")
	s.ask(s.admin, "POST", "/v1/clusters/night/plans", nil).want(t, 201)
	type target struct {
		method, path string
		item         *openapi3.PathItem
		op           *openapi3.Operation
	}
	var targets []target
	each(s.doc, func(method, path string, item *openapi3.PathItem, op *openapi3.Operation) {
		if op.OperationID != "metrics" && op.OperationID != "openapi" && op.OperationID != "docs" {
			targets = append(targets, target{method, path, item, op})
		}
	})
	var mu sync.Mutex
	statuses := map[int]int{}
	slowest := time.Duration(0)
	total := many(1000, 10_000)
	const workers = 4
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(14, uint64(worker)))
			for i := range total / workers {
				to := targets[(i*workers+worker)%len(targets)]
				r := forge(random, to.method, to.path, to.item, to.op)
				began := time.Now()
				a, ok := s.deliver(r)
				took := time.Since(began)
				if !ok {
					return
				}
				s.judge(r, a)
				mu.Lock()
				statuses[a.StatusCode]++
				slowest = max(slowest, took)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	t.Logf("%v, the slowest took %v", statuses, slowest)
	if slowest > 5*time.Second {
		t.Errorf("an answer took %v", slowest)
	}
	for line := range strings.Lines(s.log.String()) {
		if found := inside.FindString(line); found != "" {
			t.Errorf("the log tells %q: %s", found, line)
		}
	}
	if statuses[400] < total/4 {
		t.Errorf("only %d of %d requests were malformed enough: %v", statuses[400], total, statuses)
	}
	t.Attr("R14", fmt.Sprintf("%d requests made from the contract, 0 of status 5xx, the slowest took %v", total, slowest.Round(time.Millisecond)))
}

func (s *service) deliver(r sent) (answered, bool) {
	ctx, cancel := context.WithTimeout(s.Context(), 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, r.method, s.url+r.path, strings.NewReader(string(r.body)))
	if err != nil { // an address that no client can send
		return answered{Response: &http.Response{StatusCode: 400, Header: http.Header{"Content-Type": {"application/problem+json"}}}, text: []byte(`{"errors":[{}]}`)}, true
	}
	request.Header.Set("Authorization", "Bearer "+s.admin)
	if r.body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range r.headers {
		request.Header.Set(name, value)
	}
	return s.send(request), true
}

func (s *service) judge(r sent, a answered) {
	told := func() string {
		return fmt.Sprintf("%s %.300s %v\n%.600s\n→ %d %.600s", r.method, r.path, r.headers, r.body, a.StatusCode, a.text)
	}
	if a.StatusCode >= 500 && !explained(r, a) {
		s.Errorf("a malformed request is answered as our mistake:\n%s", told())
	}
	if found := inside.FindString(pointers.ReplaceAllString(string(a.text), "")); found != "" && a.StatusCode >= 400 {
		s.Errorf("an answer tells %q:\n%s", found, told())
	}
	if a.StatusCode == 400 {
		var p problem
		if err := json.Unmarshal(a.text, &p); err != nil || len(p.Errors) == 0 && !strings.Contains(p.Detail, "query") {
			s.Errorf("what is malformed is not named (%v):\n%s", err, told())
		}
	}
}

// explained reports whether a 503 says when to ask again, for one of two reasons that the contract gives. A cluster has
// never had a plan, and autoscalers must not take that for 0. A question found no answer in the time that it gives.
func explained(r sent, a answered) bool {
	unplanned := strings.Contains(r.path, "/plans/current/scaling") && strings.Contains(string(a.text), "no plan yet")
	spent := strings.Contains(string(r.body), "max_solve_ms") && strings.Contains(string(a.text), "allow more of it by max_solve_ms")
	return a.StatusCode == 503 && (unplanned || spent) && a.Header.Get("Retry-After") != ""
}
