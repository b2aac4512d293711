package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"example.org/headroom/internal/service/auth"
)

// Values at the edges of types, as JSON.
var (
	edgeNumbers = []string{"0", "-0", "-1", "1", "2", "0.5", "1e3", "2147483648", "-2147483649", "9007199254740993", "9223372036854775807", "-9223372036854775808",
		"9223372036854775808", "18446744073709551616", "1e308", "-1e308", "1e309", "5e-324", "1e-308", "1" + strings.Repeat("0", 400), "0." + strings.Repeat("0", 400) + "1"}
	edgeTexts = []string{`""`, `" "`, `"0"`, `"-1"`, `"NaN"`, `"Infinity"`, `"-Inf"`, `"1e308"`, `"1e-400"`, `"9223372036854775808"`, `"0.000000001"`, `"0.0000000001"`,
		`"99999999999999999999.999999999"`, `"null"`, `"\u0000"`, `"a\u0000b"`, `"\ud800"`, `"\udc00\ud800"`, `"\ufeff"`, `"\u202e"`, `"\u2028"`, `"\r\n"`, `"e\u0301"`,
		`"\ud83d\ude00"`, `"..\/..\/etc"`, `"%00"`, `"%"`, `"a\/b"`, `"' OR 1=1 --"`, `"$1"`, `"=1+1"`, `"*"`, `"current"`, `"latest"`, `"https:\/\/[::1]:0\/"`, `"` + strings.Repeat("z", 201) + `"`,
		`"` + strings.Repeat("z", 70_000) + `"`, `"00000000-0000-0000-0000-000000000000"`}
	edgeTimes = []string{`"0000-01-01T00:00:00Z"`, `"0001-01-01T00:00:00Z"`, `"0001-01-01T00:00:00+23:59"`, `"9999-12-31T23:59:59.999999999Z"`, `"9999-12-31T23:59:59-23:59"`, `"10000-01-01T00:00:00Z"`,
		`"1969-12-31T23:59:59Z"`, `"2038-01-19T03:14:08Z"`, `"2262-04-12T00:00:00Z"`, `"2026-03-01T22:00:00-24:00"`, `"2026-03-01T22:00:00-00:00"`, `"2026-03-01T22:00:00.0000000001Z"`,
		`"2026-06-30T23:59:60Z"`, `"2026-02-29T00:00:00Z"`, `"2026-03-01"`, `"2000-03-01T22:00:00Z"`, `"2099-03-01T22:00:00Z"`}
	edgeOthers = []string{"null", "true", "false", "[]", "{}", "[null]", "[[]]", `{"":null}`, strings.Repeat("[", 40) + strings.Repeat("]", 40), strings.Repeat(`{"a":`, 33) + "1" + strings.Repeat("}", 33)}
)

// edgesOf lists values at the edges of a schema and beyond: wrong types, and the bounds that the schema states.
func edgesOf(s *openapi3.Schema) (all []string) {
	text := func(v any) { all = append(all, string(must(json.Marshal(v)))) }
	switch {
	case s.Type.Is("integer"), s.Type.Is("number"):
		all = slices.Concat(edgeNumbers, edgeOthers, edgeTexts[:9])
	case s.Format == "date-time":
		all = slices.Concat(edgeTimes, edgeOthers, edgeTexts[:9], edgeNumbers[:5])
	case s.Type.Is("string"):
		all = slices.Concat(edgeTexts, edgeOthers, edgeNumbers)
	default:
		all = slices.Concat(edgeOthers, edgeTexts[:5], edgeNumbers[:5])
	}
	for _, limit := range []*float64{s.Min, s.Max} {
		if limit != nil {
			for _, d := range []float64{-1, 0, 1} {
				text(*limit + d)
			}
		}
	}
	if s.MaxLength != nil && *s.MaxLength < 100_000 {
		text(strings.Repeat("ä", int(*s.MaxLength)))
		text(strings.Repeat("\U0001F600", int(*s.MaxLength)+1))
	}
	for _, word := range s.Enum {
		text(word)
		text(fmt.Sprint(word) + " ")
	}
	return all
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// call is a request to an operation, before it is put together.
type call struct {
	op      *openapi3.Operation
	sent    sent
	path    map[string]string
	query   url.Values
	changed []string
}

// change makes one thing of a call odd.
type change struct {
	where string
	make  func(*call)
}

// textOf returns what a parameter says for a JSON value.
func textOf(value string) string {
	var text string
	if json.Unmarshal([]byte(value), &text) == nil {
		return text
	}
	return value
}

// changesOf returns makeChanges' list, which is made once.
func (t *tally) changesOf(parameters openapi3.Parameters, op *openapi3.Operation) []change {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.changes[op] == nil {
		t.changes[op] = makeChanges(parameters, op)
	}
	return t.changes[op]
}

// makeChanges lists all changes of one thing, for every parameter and member of an operation.
func makeChanges(parameters openapi3.Parameters, op *openapi3.Operation) (all []change) {
	add := func(where string, make func(*call)) { all = append(all, change{where, make}) }
	for _, ref := range parameters {
		p := ref.Value
		for _, value := range slices.Concat(edgesOf(p.Schema.Value), edgeTexts, edgeNumbers, edgeTimes) {
			text := textOf(value)
			add(p.In+" "+p.Name+"="+clip(value), func(c *call) {
				switch p.In {
				case "path":
					c.path[p.Name] = text
				case "query":
					c.query.Set(p.Name, text)
				case "header":
					c.sent.headers[p.Name] = strings.Map(func(r rune) rune {
						if r < ' ' || r == 0x7f {
							return -1 // no client could send it
						}
						return r
					}, text[:min(len(text), 9000)])
				}
			})
		}
		if p.In == "query" {
			add("query "+p.Name+" missing", func(c *call) { c.query.Del(p.Name) })
			add("query "+p.Name+" twice", func(c *call) { c.query[p.Name] = append(c.query[p.Name], c.query.Get(p.Name), "1") })
			add("query "+p.Name+" often", func(c *call) { c.query[p.Name] = slices.Repeat([]string{c.query.Get(p.Name)}, 500) })
		}
	}
	add("query unknown", func(c *call) { c.query.Set("unknown", "1") })
	if op.RequestBody == nil {
		return all
	}
	media := op.RequestBody.Value.Content["application/json"]
	if media == nil {
		return all
	}
	for _, place := range placesOf(media.Schema.Value, nil, nil) {
		at := strings.Join(names(place.at), "/")
		in := func(what string, with func(old any) any) {
			add("body /"+at+" "+what, func(c *call) { c.put(media, place, with) })
		}
		for _, value := range edgesOf(place.schema) {
			in("= "+clip(value), func(any) any { return json.RawMessage(value) })
		}
		switch {
		case place.schema.Type.Is("object"):
			in("unknown member", func(old any) any { return withMember(old, `"unknown":1`) })
			for _, name := range slices.Sorted(maps.Keys(place.schema.Properties)) {
				in("without "+name, func(old any) any { return without(old, name) })
				in("twice "+name, func(old any) any { return withMember(old, fmt.Sprintf(`%q:null`, name)) })
			}
		case place.schema.Type.Is("array"):
			for _, size := range []int{2, 1000, 200 << 10} {
				in(fmt.Sprintf("repeated to %d", size), func(old any) any { return repeated(old, size) })
			}
		}
	}
	for _, text := range []string{"", " ", "{", "null", "\ufeff{}", "\x00", "\xff\xfe", "{}{}", strings.Repeat("[", 100_000), strings.Repeat(" ", 200_000) + "{}", `{"a":` + strings.Repeat("9", 200_000) + "}"} {
		add("body "+clip(text), func(c *call) { c.sent.body = []byte(text) })
	}
	for _, kind := range []string{"text/csv", "text/plain", "application/json; charset=utf-16", "application/gzip", "/", ""} {
		add("Content-Type "+kind, func(c *call) { c.sent.headers["Content-Type"] = kind })
	}
	return all
}

func clip(text string) string { return fmt.Sprintf("%.40s", text) }

// put sets a place of a call's body, which is a good one, or the contract's example.
func (c *call) put(media *openapi3.MediaType, place leaf, with func(old any) any) {
	random := rand.New(rand.NewPCG(1, 2))
	value, err := generic(c.sent.body)
	if err != nil {
		value = exampleOf(random, media)
	}
	old, ok := value, true
	for _, next := range place.at {
		list, _ := old.([]any)
		object, _ := old.(map[string]any)
		if next.name == "" && len(list) > 0 {
			old = list[0]
		} else if old, ok = object[next.name]; !ok {
			old = sample(random, place.schema, 0)
			break
		}
	}
	if text, err := json.Marshal(put(random, value, place.at, with(old))); err == nil {
		c.sent.body = text
		c.sent.headers["Content-Type"] = "application/json"
	}
}

func withMember(object any, member string) any {
	text, _ := json.Marshal(object)
	if len(text) < 3 || text[0] != '{' {
		return json.RawMessage("{" + member + "}")
	}
	return json.RawMessage(string(text[:len(text)-1]) + "," + member + "}")
}

func without(object any, name string) any {
	of, _ := object.(map[string]any)
	of = maps.Clone(of)
	delete(of, name)
	return of
}

// repeated repeats the items of a list up to a number of them, or of bytes where it is larger than any list may be.
func repeated(list any, size int) any {
	items, _ := list.([]any)
	if len(items) == 0 {
		items = []any{json.Number("1")}
	}
	if size > 10_000 {
		text, _ := json.Marshal(items)
		size = len(items) * size / len(text)
	}
	return slices.Repeat(items, size/len(items)+1)
}

// rows makes a cell of a body of CSV odd.
func rows(random *rand.Rand, c *call) {
	lines := strings.Split(string(c.sent.body), "\n")
	line := random.IntN(len(lines))
	cells := strings.Split(lines[line], ",")
	values := slices.Concat(edgeTexts, edgeNumbers, edgeTimes)
	cells[random.IntN(len(cells))] = textOf(values[random.IntN(len(values))])
	lines[line] = strings.Join(cells, ",")
	c.sent.body = []byte(strings.Join(slices.Repeat(lines, 1+random.IntN(2)), "\n"))
}

// generator sends what is generated to a service, and judges the answers.
type generator struct {
	*service
	random  *rand.Rand
	callers []string // tokens; "" is nobody
	tally   *tally
}

// tally counts over all services.
type tally struct {
	mu       sync.Mutex
	changes  map[*openapi3.Operation][]change
	asked    map[string]int // requests of each operation until now
	statuses map[int]int
	slowest  time.Duration
	longest  time.Duration // of a question
	limit    time.Duration
	held     int // requests that waited for a change
	bad      map[string]bool
}

func (t *tally) sent() (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, of := range t.statuses {
		n += of
	}
	return n
}

// burst sends changed forms of a good request.
func (g *generator) burst(item *openapi3.PathItem, op *openapi3.Operation, method, template, body string, good *http.Request, n int) (written bool) {
	parameters := slices.Concat(item.Parameters, op.Parameters)
	changes := g.tally.changesOf(parameters, op)
	order := rand.New(rand.NewPCG(1, uint64(len(changes)))).Perm(len(changes)) // the same in each burst
	g.tally.mu.Lock()
	from := g.tally.asked[op.OperationID]
	g.tally.asked[op.OperationID] += n
	g.tally.mu.Unlock()
	etag := good.Header.Get("If-Match")
	for i := from; i < from+n; i++ {
		c := callOf(op, method, template, body, good)
		if etag != "" {
			c.sent.headers["If-Match"] = etag
		}
		if strings.HasPrefix(c.sent.headers["Content-Type"], "text/csv") && i%2 == 0 {
			rows(g.random, &c)
		} else if i < len(order) {
			c.apply(changes[order[i]])
		} else { // every change has been alone
			for range 1 + g.random.IntN(3) {
				c.apply(changes[g.random.IntN(len(changes))])
			}
		}
		who := g.callers[0]
		if g.random.IntN(3) == 0 {
			who = g.callers[g.random.IntN(len(g.callers))]
		}
		a, ok := g.tell(who, c, i)
		if !ok || method == http.MethodGet {
			continue
		}
		switch {
		case a.StatusCode < 300:
			written = true
			etag = a.etag()
			g.look()
			if method == http.MethodDelete {
				return true
			}
		case a.StatusCode == http.StatusPreconditionFailed && op.OperationID != "deleteCluster":
			etag = g.ask(g.admin, http.MethodGet, good.URL.RequestURI(), nil).etag()
		}
	}
	return written
}

// callOf takes a good request to pieces.
func callOf(op *openapi3.Operation, method, template, body string, good *http.Request) call {
	c := call{op: op, sent: sent{method: method, path: template, headers: map[string]string{}}, path: map[string]string{}, query: good.URL.Query()}
	if body != "" {
		c.sent.body = []byte(body)
	}
	for name := range good.Header {
		if name != "Authorization" {
			c.sent.headers[name] = good.Header.Get(name)
		}
	}
	parts := strings.Split(good.URL.EscapedPath(), "/")
	for i, part := range strings.Split(template, "/") {
		if name, is := strings.CutPrefix(part, "{"); is && i < len(parts) {
			c.path[strings.TrimSuffix(name, "}")], _ = url.PathUnescape(parts[i])
		}
	}
	return c
}

// works reports whether a call has as much worked out as it says.
func (c *call) works() bool {
	return c.op == nil || c.op.Extensions["x-question"] == true || solvingPath().MatchString(strings.ReplaceAll(strings.ReplaceAll(c.sent.path, "{", ""), "}", ""))
}

func (c *call) apply(ch change) {
	ch.make(c)
	c.changed = append(c.changed, ch.where)
}

// looks lists the requests that follow an odd one that was accepted.
var looks = [][3]string{
	{"POST", "/plans", ""}, {"GET", "/plans/current", ""}, {"GET", "/plans/current/scaling", ""}, {"GET", "/document", ""}, {"GET", "/problem", ""}, {"GET", "", ""},
	{"GET", "/classes?format=csv", ""}, {"GET", "/forecasts?format=csv", ""}, {"GET", "/prices?format=xlsx", ""}, {"GET", "/contracts", ""}, {"GET", "/plans?format=csv", ""}, {"GET", "/profiles?format=csv", ""},
	{"GET", "/offers?format=csv", ""}, {"GET", "/live", ""}, {"GET", "/jobs?format=csv", ""}, {"GET", "/nodes", ""}, {"GET", "/executions?format=csv", ""}, {"GET", "/measurements?format=csv", ""},
	{"GET", "/scenarios", ""}, {"GET", "/pool/plans/current", ""}, {"GET", "/observations/latest", ""}, {"GET", "/report-schedules", ""}, {"GET", "/admissions?format=csv", ""},
	{"POST", "/what-if", `{"scenarios":[{"changes":[{"what":"deadline","factor":2}]}]}`}, {"POST", "/sweeps", `{"vary":[{"what":"deadline","values":[2]}]}`},
	{"POST", "/horizons", `{"from":"2026-03-01T22:00:00Z","until":"2026-03-02T00:00:00Z"}`}, {"POST", "/admissions", `{"class":"nightly"}`}, {"POST", "/pool/plans", ""},
	{"POST", "/reports", `{"every":"day","covers":"behind","format":"csv"}`}, {"PUT", "/document?dry_run=true", `{"cluster":{"name":"mine"}}`},
}

// look reads and plans what the cluster holds now.
func (g *generator) look() {
	l := looks[g.random.IntN(len(looks))]
	c := call{sent: sent{method: l[0], path: "/v1/clusters/mine" + l[1], headers: map[string]string{}}, changed: []string{"after it"}}
	if l[2] != "" {
		c.sent.body, c.sent.headers["Content-Type"] = []byte(l[2]), "application/json"
	}
	g.tell(g.callers[0], c, 0)
}

// tell sends a call and judges the answer.
func (g *generator) tell(who string, c call, i int) (answered, bool) {
	r := c.sent
	for name, value := range c.path {
		r.path = strings.ReplaceAll(r.path, "{"+name+"}", url.PathEscape(value))
	}
	if len(c.query) > 0 {
		r.path += "?" + c.query.Encode()
	}
	waits := strings.Contains(r.headers["Prefer"], "wait") || strings.HasSuffix(c.sent.path, "/events")
	within := time.Minute
	if waits {
		within = 200 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(g.Context(), within)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, r.method, g.url+r.path, bytes.NewReader(r.body))
	if err != nil { // an address that no client can send
		return answered{}, false
	}
	if who != "" {
		request.Header.Set("Authorization", "Bearer "+who)
	}
	for name, value := range r.headers {
		request.Header.Set(name, value)
	}
	t := g.tally
	began := time.Now()
	a, err := g.answer(request)
	took := time.Since(began)
	for range 3 { // a busy machine is late at times, but not each time
		if err == nil && took > t.limit && !waits && !c.works() {
			request.Body, _ = request.GetBody()
			began = time.Now()
			_, err = g.answer(request)
			took = min(took, time.Since(began))
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		if waits && errors.Is(err, context.DeadlineExceeded) {
			t.held++
			return a, false
		}
		g.Errorf("%s %s with %q: %v", r.method, c.sent.path, c.changed, err)
		return a, false
	}
	t.statuses[a.StatusCode]++
	switch {
	case waits:
	case c.works():
		t.longest = max(t.longest, took)
	default:
		if t.slowest = max(t.slowest, took); took > t.limit {
			g.Errorf("%s %s with %q took %v", r.method, c.sent.path, c.changed, took)
		}
	}
	if found := fmt.Sprint(r.method, c.sent.path, a.StatusCode); a.StatusCode >= 500 {
		if t.bad[found] {
			return a, true
		}
		t.bad[found] = t.bad[found] || !explained(r, a)
	}
	g.judge(r, a)
	if i%8 == 0 {
		g.holdAgainstContract(request, a)
	}
	return a, true
}

func (g *generator) answer(r *http.Request) (answered, error) {
	response, err := direct.Do(r)
	if err != nil {
		return answered{}, err
	}
	defer func() { _ = response.Body.Close() }()
	var body io.Reader = response.Body
	if response.Header.Get("Content-Type") == "text/event-stream" { // endless: its beginning will do
		body = io.LimitReader(body, 13)
	}
	text, err := io.ReadAll(body)
	return answered{response, text}, err
}

// Values at every edge, in every parameter and member of the contract, from every role, against things that are
// really there: none is answered as a mistake of the server. None is answered late, but questions about as much as the
// caller wants worked out. HEADROOM_GENERATED says how many are sent.
func TestGeneratedRequests(t *testing.T) {
	t.Parallel()
	total, limit := many(1_500, 100_000), 5*time.Second
	if n, err := strconv.Atoi(os.Getenv("HEADROOM_GENERATED")); err == nil {
		total, limit = n, time.Second // the machine has no other work
	}
	counts := &tally{limit: limit, asked: map[string]int{}, statuses: map[int]int{}, bad: map[string]bool{}, changes: map[*openapi3.Operation][]change{}}
	var services sync.WaitGroup
	for service := range many(1, 2) {
		services.Go(func() {
			for round := service; counts.sent() < total && !t.Failed(); round += 2 {
				t.Run(fmt.Sprint(round), func(t *testing.T) { generate(t, uint64(round), counts, total) })
			}
		})
	}
	services.Wait()
	possible, alone := 0, 0
	for op, changes := range counts.changes {
		possible += len(changes)
		alone += min(len(changes), counts.asked[op.OperationID])
	}
	sent := counts.sent()
	t.Logf("%d requests, with %d of %d changes alone: %v, and %d waits; questions took %v at most", sent, alone, possible, counts.statuses, counts.held, counts.longest)
	if counts.statuses[200] < sent/20 || counts.statuses[422] < sent/100 {
		t.Errorf("too few were good enough to be worked on: %v", counts.statuses)
	}
	t.Attr("R14", fmt.Sprintf("%d generated requests, %d of status 5xx, the slowest took %v", sent, len(counts.bad), counts.slowest.Round(time.Millisecond)))
}

// generate sends changed requests of each operation to a new service.
func generate(t *testing.T, round uint64, counts *tally, total int) {
	s := newService(t, solved(t))
	g := &generator{service: s, random: rand.New(rand.NewPCG(28, round)), tally: counts}
	s.actor = s.key("actor", auth.Admin, nil)
	g.callers = []string{s.actor, "", "hrk_" + strings.Repeat("x", 43)}
	for _, role := range auth.Roles {
		g.callers = append(g.callers, s.key("any "+string(role), role, nil), s.key("limited "+string(role), role, []string{"mine"}), s.key("other "+string(role), role, []string{"other"}))
	}
	fresh := func() {
		if a := s.ask(s.admin, "GET", "/v1/clusters/mine", nil); a.StatusCode == http.StatusOK {
			s.ask(s.admin, "DELETE", "/v1/clusters/mine", nil, "If-Match", a.etag()).want(t, 204)
		}
		s.cluster("mine")
		made := s.ask(s.admin, "POST", "/v1/clusters/mine/plans", nil).want(t, 201).Header.Get("Location")
		s.known = made[strings.LastIndex(made, "/")+1:]
	}
	fresh()
	each(s.doc, func(method, path string, item *openapi3.PathItem, op *openapi3.Operation) {
		n, written := max(many(8, 20), min(total/200, 500)), false
		s.before = func(body string, good *http.Request) { written = g.burst(item, op, method, path, body, good, n) }
		a := s.perform(s.actor, op.OperationID, method, path, 0)
		s.before = nil
		if a.StatusCode >= 500 {
			t.Errorf("%s after all that: %d %s", op.OperationID, a.StatusCode, a.text)
		}
		if written {
			fresh()
		}
	})
}
