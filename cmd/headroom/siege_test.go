package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/test/await"
)

// A siege runs real servers on a real database under every fault, with writers that remember the answers. After each
// fault what was acknowledged is compared with what is there, and in the end every stored plan is verified.
type siege struct {
	*testing.T
	random  *rand.Rand
	servers []*served // to which the writers are dealt out
	writers []*writer
	planned int // plans made with the key before the writers began
	checked int // so many faults were done when all stored plans were verified last
	toll
}

// toll counts the effects of faults.
type toll struct {
	faults              map[string]int
	acknowledged, plans int
	back                []time.Duration // from the end of each fault until every server took writes
}

func (a toll) String() string {
	return fmt.Sprintf("%v, %d acknowledged writes, %d of them plans, 0 lost, doubled or changed", a.faults, a.acknowledged, a.plans)
}

func (a toll) rounds() (n int) {
	for _, times := range a.faults {
		n += times
	}
	return n
}

// tellBack says how long it took until all was well again.
func (a toll) tellBack(what, after string) string {
	slices.Sort(a.back)
	return fmt.Sprintf("%s %v after %s in the median, p95 %v, %v at the slowest of %d", what, share(a.back, 0.5).Round(time.Millisecond), after,
		share(a.back, 0.95).Round(time.Millisecond), share(a.back, 1).Round(time.Millisecond), len(a.back))
}

// inSieges divides so many rounds among sieges that go on beside each other, and adds up what came of them.
func inSieges(t *testing.T, sieges, rounds int, siege func(t *testing.T, seed uint64, rounds int) toll) toll {
	t.Helper()
	if sieges == 1 { // on the test's own turn: a test of its own would wait for another among all the others
		return siege(t, 0, rounds)
	}
	all := toll{faults: map[string]int{}}
	var mu sync.Mutex
	t.Run("siege", func(t *testing.T) {
		for i := range sieges {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				one := siege(t, uint64(i), (rounds+i)/sieges)
				mu.Lock()
				defer mu.Unlock()
				for kind, n := range one.faults {
					all.faults[kind] += n
				}
				all.acknowledged, all.plans, all.back = all.acknowledged+one.acknowledged, all.plans+one.plans, append(all.back, one.back...)
			})
		}
	})
	if t.Failed() {
		t.FailNow()
	}
	return all
}

const crashKey = "hrk_0123456789012345678901234567890123456789012"

// unlimited lets the writers ask as fast as they can.
var unlimited = []string{"HEADROOM_REQUESTS_PER_SECOND=100000", "HEADROOM_SOLVES_PER_SECOND=100000"}

// besiege makes what the writers write to.
func besiege(t *testing.T, seed uint64, servers ...*served) *siege {
	t.Helper()
	g := &siege{T: t, random: rand.New(rand.NewPCG(seed, 1)), servers: servers, toll: toll{faults: map[string]int{}}}
	s := servers[0]
	for i := range 6 {
		w := &writer{name: fmt.Sprintf("writer%d", i), version: 1, quota: 1}
		for _, made := range [][2]string{{"/v1/clusters", `{"name":"` + w.name + `"}`}, {"/v1/clusters/" + w.name + "/vm-types", `{"name":"counted","quota":1}`}} {
			if status, answer, err := s.ask(t.Context(), s.key(t), made[0], made[1]); err != nil || status != http.StatusCreated {
				t.Fatalf("%s: %d %s, %v", made[0], status, answer, err)
			}
		}
		g.writers = append(g.writers, w)
	}
	g.planned = g.plansByKey()
	return g
}

// moment waits for a few more acknowledged writes for each of so many faults, and a little longer.
func (g *siege) moment(faults int) {
	more := g.written()
	for range faults {
		more += 3 + g.random.IntN(12)
		if wholeSamples {
			more += g.random.IntN(30)
		}
	}
	for range await.Tries(5 * time.Second) { // where nothing is written any more, a fault strikes all the same
		if g.written() >= more {
			break
		}
	}
	lasts(g.within(20 * time.Millisecond))
}

// late says that the time of all tests is nearly over: what is reached by then is told.
func (g *siege) late() bool {
	end, ends := g.Deadline()
	return ends && time.Until(end) < 2*time.Minute
}

// within is some time up to a longest.
func (g *siege) within(longest time.Duration) time.Duration {
	return time.Duration(g.random.Int64N(int64(longest)))
}

func (g *siege) written() (n int) {
	for _, w := range g.writers {
		n += int(w.acknowledged.Load())
	}
	return n
}

// round lets the writers write until the fault is over, waits until every server takes writes and compares.
func (g *siege) round(kind string, fault func()) {
	g.Helper()
	g.atOnce(1, kind, fault)
}

// atOnce is a round with several faults of a kind.
func (g *siege) atOnce(faults int, kind string, fault func()) {
	g.Helper()
	rest := g.writing()
	g.moment(faults)
	fault()
	g.faults[kind] += faults
	began := time.Now()
	rest()
	for _, s := range g.servers {
		waits(g.T, "writes are taken after "+kind, 60*time.Second, func() bool { return g.probe(s, "probe") })
	}
	g.back = append(g.back, time.Since(began))
	g.compare()
}

// writing lets the writers write until rest is called, which waits for the last answers.
func (g *siege) writing() (rest func()) {
	var over atomic.Bool
	var working sync.WaitGroup
	for i, w := range g.writers {
		s := g.servers[i%len(g.servers)]
		working.Go(func() { w.write(g.Context(), s, &over) })
	}
	return func() {
		over.Store(true)
		working.Wait()
	}
}

// probe reports whether a server takes a write now. It makes one cluster a round.
func (g *siege) probe(s *served, prefix string) bool {
	name := fmt.Sprintf("%s-%d", prefix, g.rounds())
	status, _, err := (&writer{}).send(g.Context(), s, "POST", "/v1/clusters", `{"name":"`+name+`"}`, "Idempotency-Key", name)
	return err == nil && status == http.StatusCreated
}

// compare holds what was acknowledged against what is there.
func (g *siege) compare() {
	g.Helper()
	s := g.servers[g.random.IntN(len(g.servers))]
	there := map[string]int{}
	for _, name := range s.clusters(g.T) {
		there[name]++
	}
	for _, w := range g.writers {
		w.compare(g.T, s, there)
	}
	if g.Failed() {
		g.Fatalf("after %v", g.faults)
	}
}

// plansByKey counts the stored plans that were asked for with the writers' key.
func (g *siege) plansByKey() (n int) {
	g.Helper()
	s := g.servers[0]
	for path := "/v1/clusters/demo/plans?limit=1000"; path != ""; {
		var page struct {
			Items []plans.PlanSummary
			Next  *string `json:"next_cursor"`
		}
		if err := json.Unmarshal([]byte(s.get(g.T, path)), &page); err != nil {
			g.Fatal(err)
		}
		for _, p := range page.Items {
			if p.CreatedBy != "planner" {
				n++
			}
		}
		path = ""
		if page.Next != nil {
			path = "/v1/clusters/demo/plans?limit=1000&cursor=" + *page.Next
		}
	}
	return n
}

func (g *siege) verify() {
	g.Helper()
	verifyStored(g.T, g.servers[0])
	g.checked = g.rounds()
}

// verifyEvery verifies the history again after so many faults.
func (g *siege) verifyEvery(faults int) {
	g.Helper()
	if g.rounds() >= g.checked+faults {
		g.verify()
	}
}

// verifyStored checks every stored plan, with the program.
func verifyStored(t *testing.T, s *served) {
	t.Helper()
	c := exec.Command("headroom", "verify", "--all")
	c.Env = append(os.Environ(), "HEADROOM_URL=http://"+s.address, "HEADROOM_API_KEY="+s.key(t))
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("verify --all: %v\n%s", err, out)
	}
}

// lift verifies the history and says what came of it all. At least so many writes a fault must have been acknowledged.
func (g *siege) lift(least int) toll {
	g.Helper()
	g.verify()
	for _, w := range g.writers {
		g.plans += w.plans
	}
	g.acknowledged = g.written()
	if made := g.plansByKey() - g.planned; made != g.plans {
		g.Errorf("%d plans were acknowledged under a key each, and %d are there", g.plans, made)
	}
	if g.acknowledged < least*g.rounds() {
		g.Errorf("only %d writes were acknowledged beside %v", g.acknowledged, g.faults)
	}
	return g.toll
}

// writer counts up a quota with If-Match, makes clusters and plans with Idempotency-Keys, and remembers what was
// acknowledged and what got no answer.
type writer struct {
	name    string
	version int64 // of the VM type, as far as it is known
	quota   int64 // acknowledged
	tried   int64 // sent and not acknowledged; 0 is none

	made    []string // clusters that were acknowledged
	pending string   // one that was not

	plans   int               // acknowledged
	answers map[string]string // since the last fault, by their keys
	awaited string            // the key of a plan that was not acknowledged

	acknowledged atomic.Int64
	wrong        []string
}

// send asks without a connection that is kept: after a crash none is worth anything.
func (w *writer) send(ctx context.Context, s *served, method, path, body string, headers ...string) (int, string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "http://"+s.address+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	r.Close = true
	r.Header.Set("Authorization", "Bearer "+s.localKey)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), err
}

// write goes on until the server no longer answers or the round is over. It waits for its last answer: a request that
// nobody waits for may be carried out after all was compared.
func (w *writer) write(ctx context.Context, s *served, over *atomic.Bool) {
	for n := 0; !over.Load(); n++ {
		if !w.repeat(over, func() (bool, bool) { return w.count(ctx, s) }) {
			return
		}
		switch {
		case n%4 == 0:
			if w.pending == "" {
				w.pending = fmt.Sprintf("%s-%d", w.name, len(w.made))
			}
			if !w.repeat(over, func() (bool, bool) { return w.create(ctx, s) }) {
				return
			}
		case n%8 == 2:
			if w.awaited == "" {
				w.awaited = fmt.Sprintf("%s-plan-%d", w.name, w.plans)
			}
			if !w.repeat(over, func() (bool, bool) { return w.plan(ctx, s) }) {
				return
			}
		}
	}
}

// repeat asks again while the answer is 503, as anybody may who gives a key or a version.
func (w *writer) repeat(over *atomic.Bool, ask func() (done, refused bool)) bool {
	for again := time.Tick(20 * time.Millisecond); ; <-again {
		done, refused := ask()
		if !refused || over.Load() {
			return done
		}
	}
}

// count raises the quota by one, as often as it takes: who was refused may find it done.
func (w *writer) count(ctx context.Context, s *served) (done, refused bool) {
	again := w.tried != 0
	w.tried = w.quota + 1
	status, _, err := w.send(ctx, s, "PUT", "/v1/clusters/"+w.name+"/vm-types/counted", fmt.Sprintf(`{"name":"counted","quota":%d}`, w.tried), "If-Match", fmt.Sprintf(`"%d"`, w.version))
	if err != nil || status == http.StatusServiceUnavailable {
		return false, err == nil
	}
	switch {
	case status == http.StatusOK:
		w.acknowledged.Add(1)
	case status != http.StatusPreconditionFailed || !again:
		w.wrong = append(w.wrong, fmt.Sprintf("%s: the quota %d at version %d got %d", w.name, w.tried, w.version, status))
		return false, false
	}
	w.quota, w.tried, w.version = w.tried, 0, w.version+1
	return true, false
}

// create makes the pending cluster, as often as it takes under the same key.
func (w *writer) create(ctx context.Context, s *served) (done, refused bool) {
	status, _, err := w.send(ctx, s, "POST", "/v1/clusters", `{"name":"`+w.pending+`"}`, "Idempotency-Key", "key-"+w.pending)
	if err != nil || status == http.StatusServiceUnavailable {
		return false, err == nil
	}
	if status != http.StatusCreated {
		w.wrong = append(w.wrong, fmt.Sprintf("%s: making it got %d", w.pending, status))
		return false, false
	}
	w.made, w.pending = append(w.made, w.pending), ""
	w.acknowledged.Add(1)
	return true, false
}

// plan makes the awaited plan, as often as it takes under the same key.
func (w *writer) plan(ctx context.Context, s *served) (done, refused bool) {
	status, answer, err := w.send(ctx, s, "POST", "/v1/clusters/demo/plans", "{}", "Idempotency-Key", w.awaited)
	if err != nil || status == http.StatusServiceUnavailable {
		return false, err == nil
	}
	if status != http.StatusCreated {
		w.wrong = append(w.wrong, fmt.Sprintf("%s: got %d %s", w.awaited, status, answer))
		return false, false
	}
	if w.answers == nil {
		w.answers = map[string]string{}
	}
	w.answers[w.awaited], w.awaited = answer, ""
	w.plans++
	w.acknowledged.Add(1)
	return true, false
}

// compare holds what was acknowledged against what is there after a fault: all of it, once, and of what got
// no answer either all or nothing.
func (w *writer) compare(t *testing.T, s *served, there map[string]int) {
	t.Helper()
	var stored inputs.VMType
	if err := json.Unmarshal([]byte(s.get(t, "/v1/clusters/"+w.name+"/vm-types/counted")), &stored); err != nil {
		t.Fatal(err)
	}
	quota := *stored.Quota
	if quota != w.quota && (w.tried == 0 || quota != w.tried) || stored.Version != quota {
		t.Errorf("%s: the quota is %d in version %d; acknowledged was %d, on its way %d", w.name, quota, stored.Version, w.quota, w.tried)
	}
	w.quota, w.tried, w.version = quota, 0, stored.Version
	for _, name := range w.made {
		if n := there[name]; n != 1 {
			t.Errorf("cluster %s was acknowledged and is there %d times", name, n)
		}
	}
	if w.pending != "" {
		if done, _ := w.create(t.Context(), s); !done { // the same request once more
			t.Errorf("cluster %s cannot be made after the fault", w.pending)
		}
	}
	for key, want := range w.answers { // a plan's answer is kept with its plan, so both are there or none is
		status, again, err := w.send(t.Context(), s, "POST", "/v1/clusters/demo/plans", "{}", "Idempotency-Key", key)
		if err != nil || status != http.StatusCreated || again != want {
			t.Errorf("the plan %s asked for again: %d %s, %v\nit was %s", key, status, again, err, want)
		}
		var number struct{ Number int64 }
		if err := json.Unmarshal([]byte(want), &number); err != nil {
			t.Fatal(err)
		}
		if stored := s.get(t, fmt.Sprintf("/v1/clusters/demo/plans/%d", number.Number)); withoutVote(strings.TrimSpace(stored)) != withoutVote(strings.TrimSpace(want)) {
			t.Errorf("plan %d is\n%s\nand was acknowledged as\n%s", number.Number, stored, want)
		}
	}
	w.answers = nil
	if w.awaited != "" {
		if done, _ := w.plan(t.Context(), s); !done {
			t.Errorf("the plan %s cannot be made after the fault", w.awaited)
		}
	}
	for _, wrong := range w.wrong {
		t.Error(wrong)
	}
	w.wrong = nil
}

var vote = regexp.MustCompile(`"vote":\{[^}]*\}`)

// withoutVote is a stored plan without the vote on it, which comes later.
func withoutVote(text string) string { return vote.ReplaceAllString(text, "") }
