package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"example.org/headroom/internal/edge/api/docs"
	"example.org/headroom/openapi"
)

// load is requests of every kind to one server, each at its moment whatever became of those before it, and how
// long the answers to each operation took.
type load struct {
	s      *served
	key    string
	client *http.Client
	doc    *docs.Contract

	operations map[string][][]string // by method and number of segments, the contract's paths in segments
	atOnce     chan struct{}
	going      sync.WaitGroup

	mu     sync.Mutex
	took   map[string][]time.Duration // by operation
	putOff map[string]int             // refused with Retry-After because there is too much at once
	wrong  []string
	wrongs int
}

const mostAtOnce = 1000 // requests; a server so far behind is not in service

func newLoad(t *testing.T, s *served) *load {
	t.Helper()
	doc, err := docs.Load(openapi.Document)
	if err != nil {
		t.Fatal(err)
	}
	k := &load{s: s, key: s.key(t), doc: doc, operations: map[string][][]string{}, atOnce: make(chan struct{}, mostAtOnce),
		took: map[string][]time.Duration{}, putOff: map[string]int{},
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 5 * time.Second}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	for _, path := range doc.Paths {
		segments := strings.Split(path.Name, "/")
		for _, operation := range path.Of.Operations() {
			of := fmt.Sprint(operation.Name, len(segments))
			k.operations[of] = append(k.operations[of], segments)
		}
	}
	return k
}

// operation is the contract's name for what is asked, "" where it has none.
func (k *load) operation(method, path string) string {
	path, _, _ = strings.Cut(path, "?")
	asked := strings.Split(path, "/")
	best, most := "", -1
	for _, known := range k.operations[fmt.Sprint(method, len(asked))] {
		same := 0
		for i, segment := range known {
			if segment == asked[i] {
				same++
			} else if !strings.HasPrefix(segment, "{") {
				same = -1
				break
			}
		}
		if same > most {
			best, most = method+" "+strings.Join(known, "/"), same
		}
	}
	return best
}

// caller makes the requests of one visit, one after the other.
type caller struct {
	*load
	ctx context.Context
	n   int       // which visit of its kind
	due time.Time // when the next request should have been sent
}

// gotten is an answer.
type gotten struct {
	status int
	header http.Header
	text   []byte
}

func (a gotten) etag() string { return a.header.Get("ETag") }

// field is a member of the answer as text, "" where it has none.
func (a gotten) field(name string) string {
	var members map[string]any
	if json.Unmarshal(a.text, &members) != nil || members[name] == nil {
		return ""
	}
	return fmt.Sprint(members[name])
}

// get reads.
func (c *caller) get(path string, headers ...string) gotten {
	return c.send("GET", path, "", []int{200, 304}, headers...)
}

// post sends to what answers at once, or later.
func (c *caller) post(path, body string, headers ...string) gotten {
	return c.send("POST", path, body, []int{200, 201, 202}, headers...)
}

// send asks and notes a status that is not among those expected. Headers stand in pairs; an Authorization or a
// Cookie among them takes the place of the key.
func (c *caller) send(method, path, body string, want []int, headers ...string) gotten {
	due := c.due
	if due.IsZero() {
		due = time.Now()
	}
	c.due = time.Time{}
	operation := c.operation(method, path)
	a, err := c.perform(method, path, body, headers)
	took := time.Since(due)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err != nil && c.ctx.Err() != nil:
		return gotten{}
	case err != nil:
		c.complain(fmt.Sprintf("%s %s: %v", method, path, err))
		return gotten{}
	case (a.status == 429 || a.status == 503) && a.header.Get("Retry-After") != "" && !slices.Contains(want, a.status):
		c.putOff[operation]++
	case !slices.Contains(want, a.status):
		c.complain(fmt.Sprintf("%s %s: got %d, want %d: %.300s", method, path, a.status, want, a.text))
	}
	if operation != "" {
		c.took[operation] = append(c.took[operation], took)
	}
	return a
}

func (c *caller) perform(method, path, body string, headers []string) (gotten, error) {
	r, err := http.NewRequestWithContext(c.ctx, method, "http://"+c.s.address+path, strings.NewReader(body))
	if err != nil {
		return gotten{}, err
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	if r.Header.Get("Authorization") == "" && r.Header.Get("Cookie") == "" {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}
	got, err := c.client.Do(r)
	if err != nil {
		return gotten{}, err
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	return gotten{got.StatusCode, got.Header, text}, err
}

// complain notes what should not be; the lock is held.
func (k *load) complain(text string) {
	if k.wrongs++; k.wrongs <= 20 {
		k.wrong = append(k.wrong, text)
	}
}

// visit is something that clients do so often a second.
type visit struct {
	name      string
	perSecond float64
	does      func(c *caller)
}

// round makes each visit once, one after the other: nothing is left for the load to be the first.
func (k *load) round(ctx context.Context, visits []visit) {
	for _, v := range visits {
		v.does(&caller{load: k, ctx: ctx})
	}
}

// run begins visits in their rhythm, times faster, until the time is over, and waits for those under way.
func (k *load) run(ctx context.Context, visits []visit, times float64, lasts time.Duration) {
	began := time.Now()
	var rhythms sync.WaitGroup
	for i, v := range visits {
		rhythms.Go(func() {
			every := time.Duration(float64(time.Second) / (v.perSecond * times))
			due := began.Add(every * time.Duration(i) / time.Duration(len(visits)))
			for n := 1; due.Before(began.Add(lasts)) && ctx.Err() == nil; n++ {
				sleepUntil(due)
				k.begin(&caller{load: k, ctx: ctx, n: n, due: due}, v)
				due = due.Add(every)
			}
		})
	}
	rhythms.Wait()
	k.going.Wait()
}

func (k *load) begin(c *caller, v visit) {
	select {
	case k.atOnce <- struct{}{}:
		k.going.Go(func() {
			defer func() { <-k.atOnce }()
			v.does(c)
		})
	default:
		k.mu.Lock()
		defer k.mu.Unlock()
		k.complain(v.name + fmt.Sprintf(": %d requests are under way already", mostAtOnce))
	}
}

// table lists the times of each operation's answers, the slowest first, and returns their number.
func (k *load) table() (string, int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "requests\tput off\tp50\tp95\tp99\tslowest\t  operation")
	all := 0
	names := make([]string, 0, len(k.took))
	for name, took := range k.took {
		slices.Sort(took)
		names = append(names, name)
		all += len(took)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(share(k.took[b], 0.95), share(k.took[a], 0.95)), cmp.Compare(a, b))
	})
	for _, name := range names {
		t := k.took[name]
		fmt.Fprintf(w, "%d\t%d\t%v\t%v\t%v\t%v\t  %s\n", len(t), k.putOff[name], share(t, 0.5), share(t, 0.95), share(t, 0.99), share(t, 1), name)
	}
	_ = w.Flush()
	return text.String(), all
}

// missed are the contract's operations that nobody asked for.
func (k *load) missed() (missed []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, path := range k.doc.Paths {
		for _, operation := range path.Of.Operations() {
			if name := operation.Name + " " + path.Name; len(k.took[name]) == 0 {
				missed = append(missed, name)
			}
		}
	}
	slices.Sort(missed)
	return missed
}

// soakRate returns the requests a second; SOAK_RATE sets fewer for a machine that is smaller or busy.
func soakRate(t *testing.T) float64 {
	t.Helper()
	text := os.Getenv("SOAK_RATE")
	if text == "" {
		return 200
	}
	rate, err := strconv.ParseFloat(text, 64)
	if err != nil || rate <= 0 {
		t.Fatalf("SOAK_RATE is %q and no number of requests a second", text)
	}
	return rate
}

// soakTime returns the length of the soak: SOAK, which make soak sets, or else moments.
func soakTime(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("SOAK")
	switch {
	case text == "" && wholeSamples:
		return 10 * time.Minute
	case text == "":
		return 3 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		t.Fatalf("SOAK is %q and no duration such as 10m", text)
	}
	return d
}
