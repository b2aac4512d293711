package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/test/pgtest"
)

// unknownStep is the first step of the schema that the older program does not know.
const unknownStep = "migrations/00020_live.sql"

// olderProgram builds the program as it was before that step, from the repository's history.
func olderProgram(t *testing.T) string {
	t.Helper()
	const root = "../.."
	git := func(args ...string) string {
		c := exec.Command("git", args...)
		c.Dir = root
		said, err := c.Output()
		if err != nil {
			t.Skipf("an older program is built from the history of the repository, which cannot be read: git %s: %v", args[0], err)
		}
		return strings.TrimSpace(string(said))
	}
	if git("rev-parse", "--is-shallow-repository") != "false" {
		t.Skip("an older program is built from the history of the repository, and this clone is shallow; git fetch --unshallow gets the rest")
	}
	steps := strings.Fields(git("log", "--diff-filter=A", "--format=%H", "--", unknownStep))
	if len(steps) == 0 {
		t.Skipf("the history does not say when %s was added", unknownStep)
	}
	before := steps[len(steps)-1] + "^"
	dir := t.TempDir()
	git("archive", "--output="+filepath.Join(dir, "source.tar"), before)
	source, program := filepath.Join(dir, "source"), filepath.Join(dir, "headroom-older")
	if err := os.Mkdir(source, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, make := range [][]string{{"tar", "-x", "-f", "../source.tar"}, {"go", "build", "-buildvcs=false", "-o", program, "./cmd/headroom"}} {
		c := exec.Command(make[0], make[1:]...)
		c.Dir = source
		c.Env = append(os.Environ(), "CGO_ENABLED=0")
		if said, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", make, err, said)
		}
	}
	return program
}

// once runs a program to its end.
func once(program string, variables []string, args ...string) (said string, err error) {
	c := exec.Command(program, args...)
	c.Env = append(os.Environ(), variables...)
	out, err := c.CombinedOutput()
	return string(out), err
}

// An upgrade goes on: what is written and read beside it, and what came of that.
type upgrade struct {
	*replicas
	over  atomic.Bool // nobody begins anything any more
	all   sync.WaitGroup
	made  atomic.Int64 // changes
	polls atomic.Int64
	moved atomic.Int64
	plans []atomic.Int64 // of each cluster
	last  []atomic.Int64

	mu      sync.Mutex
	answers map[string]string // of plans that were asked for, by their keys
}

// edit changes a cluster until the upgrade is over; each change comes to one plan, or to none.
func (u *upgrade) edit(t *testing.T, i int, cluster string) {
	random, quota, version := rand.New(rand.NewPCG(uint64(i), 19)), int64(60), int64(0)
	for ; !u.over.Load() && !t.Failed(); version++ {
		needs := version == 0 || random.IntN(4) > 0
		if needs {
			quota++
		}
		u.change(t, cluster, version+1, quota, needs, &u.plans[i])
		u.made.Add(1)
	}
	var stored struct{ Version, Quota int64 }
	text := u.want(t, http.StatusOK, "GET", "/v1/clusters/"+cluster+"/vm-types/m-8cpu-32gb", "").text
	if err := json.Unmarshal([]byte(text), &stored); err != nil || stored.Version != version+1 || stored.Quota != quota {
		t.Errorf("%s after %d changes up to the quota %d: %s", cluster, version, quota, text)
	}
	u.last[i].Store(u.plans[i].Load())
}

// poll reads what a dashboard reads, as often as a few of them do; each must be answered, by whatever program.
func (u *upgrade) poll(t *testing.T, cluster string) {
	for again := time.Tick(20 * time.Millisecond); !u.over.Load() && !t.Failed(); <-again {
		for _, path := range []string{"", "/document", "/plans?limit=5", "/plans/current", "/plans/current/scaling", "/classes"} {
			request, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+u.address+"/v1/clusters/"+cluster+path, nil)
			if err != nil {
				t.Error(err)
				return
			}
			request.Header.Set("Authorization", "Bearer "+replicaKey)
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				continue // it broke off with its server
			}
			text, err := io.ReadAll(answer.Body)
			answer.Body.Close()
			if err == nil && answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusBadGateway { // the proxy's word for a server that is gone
				t.Errorf("GET %s of %s: %d %s", path, answer.Header.Get("Replica"), answer.StatusCode, text)
			}
			u.polls.Add(1)
		}
	}
}

// ask makes a plan under a key again and again, and asks for earlier ones once more: whoever answers, the answer is the
// same.
func (u *upgrade) ask(t *testing.T, cluster string) {
	random := rand.New(rand.NewPCG(5, 19))
	for n := 0; !u.over.Load() && !t.Failed(); n++ {
		for _, k := range []int{n, random.IntN(n + 1)} {
			key := fmt.Sprint("asked-", k)
			text := u.want(t, http.StatusCreated, "POST", "/v1/clusters/"+cluster+"/plans", "{}", "Idempotency-Key", key).text
			u.mu.Lock()
			if earlier, asked := u.answers[key]; asked && earlier != text {
				t.Errorf("the plan %s asked for again:\n%s\nit was\n%s", key, text, earlier)
			}
			u.answers[key] = text
			u.mu.Unlock()
		}
	}
}

// goesOn waits for so many more changes and polls.
func (u *upgrade) goesOn(t *testing.T, changes int64) {
	t.Helper()
	made, polls := u.made.Load()+changes, u.polls.Load()+changes
	waits(t, "changes are made and polls answered", 2*time.Minute, func() bool {
		return u.made.Load() >= made && u.polls.Load() >= polls || t.Failed()
	})
}

// Three servers of an older program work on while the schema is brought up to this release. This program replaces them
// one after the other, under writers, watchers and pollers that notice nothing of it. Before the schema is brought up
// this program refuses by name to serve (R19).
func TestRollingUpgrade(t *testing.T) {
	if !wholeSamples {
		t.Skip("an older program is built for it: HEADROOM_LONG=1 does that")
	}
	older := olderProgram(t)
	owner := pgtest.Empty(t)
	if said, err := once(older, []string{"MIGRATE_DATABASE_URL=" + owner}, "migrate", "up"); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	r := replicasOn(t, asService(t, owner), older, 3, "MIGRATE_DATABASE_URL="+owner)
	r.forgetful = true
	u := &upgrade{replicas: r, answers: map[string]string{}}
	const clusters, watchers, changes = 4, 3, 40
	u.plans, u.last = make([]atomic.Int64, clusters), make([]atomic.Int64, clusters)
	for i := range clusters {
		name := fmt.Sprint("shared-", i)
		r.cluster(t, name)
		u.plans[i].Store(1)
		u.all.Go(func() { u.edit(t, i, name) })
		u.all.Go(func() { u.poll(t, name) })
		for w := range watchers {
			u.all.Go(func() {
				seen, moves := r.follow(t, name, &u.last[i], rand.New(rand.NewPCG(uint64(w), uint64(i))))
				u.moved.Add(int64(moves))
				if last := u.last[i].Load(); !t.Failed() && (len(seen) == 0 || seen[len(seen)-1] != last) {
					t.Errorf("a watcher of %s saw %v, and the last plan is %d", name, seen, last)
				}
			})
		}
	}
	r.cluster(t, "asked")
	u.all.Go(func() { u.ask(t, "asked") })
	defer u.all.Wait()
	defer u.over.Store(true)
	u.goesOn(t, changes)

	alone := append(r.variables[:0:0], r.variables...)
	for i, v := range alone {
		if strings.HasPrefix(v, "MIGRATE_DATABASE_URL=") {
			alone[i] = "MIGRATE_DATABASE_URL="
		}
	}
	said, err := once("headroom", append(alone, "HEADROOM_PEER_ADDRESS="), "serve", "--listen", testPort(t), "--data-dir", dataDirectory(t))
	if err == nil || !strings.Contains(said, `the database's schema has version 19 and this release needs `) || !strings.Contains(said, `run "headroom server migrate up"`) {
		t.Errorf("this program on the older schema: %v, %s", err, said)
	}
	began := time.Now()
	if said, err := once("headroom", []string{"MIGRATE_DATABASE_URL=" + owner}, "migrate", "up"); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	migrated := time.Since(began)
	u.goesOn(t, changes)
	r.lose(t, r.one()) // an older one that dies comes back on the newer schema
	r.add(t)
	u.goesOn(t, changes)

	r.program, r.variables = "headroom", alone
	for i := range 3 {
		oldest := r.one()
		r.add(t)
		u.goesOn(t, changes)
		if i == 1 {
			r.lose(t, oldest)
		} else {
			r.leave(t, oldest)
		}
		u.goesOn(t, changes)
	}
	u.over.Store(true)
	u.all.Wait()

	for key, want := range u.answers {
		if got := r.want(t, http.StatusCreated, "POST", "/v1/clusters/asked/plans", "{}", "Idempotency-Key", key).text; got != want {
			t.Errorf("the plan %s asked for again:\n%s\nit was\n%s", key, got, want)
		}
	}
	var stored, gaps, twice, asked int
	if err := r.database.QueryRow(t.Context(), `
		SELECT (SELECT count(*) FROM plans), (SELECT count(*) FROM (SELECT max(number) <> count(*) AS gap FROM plans GROUP BY cluster_id) numbers WHERE gap),
		       (SELECT count(*) FROM (SELECT FROM plans p JOIN clusters c ON c.id = p.cluster_id WHERE c.name LIKE 'shared-%' GROUP BY cluster_id, problem::text HAVING count(*) > 1) same),
		       (SELECT count(*) FROM plans p JOIN clusters c ON c.id = p.cluster_id WHERE c.name = 'asked')`).
		Scan(&stored, &gaps, &twice, &asked); err != nil {
		t.Fatal(err)
	}
	if gaps != 0 || twice != 0 || asked != 1+len(u.answers) {
		t.Errorf("of %d plans, numbers of %d clusters have gaps, %d problems were planned twice, and %d keys made %d plans", stored, gaps, twice, len(u.answers), asked-1)
	}
	verifyStored(t, r.one())
	t.Logf("the schema was brought up in %v; %d polls, %d plans", migrated.Round(time.Millisecond), u.polls.Load(), stored)
	t.Attr("R19", fmt.Sprintf("three servers of a program six steps older, upgraded one by one under %d changes each with its one plan, %d plans by key, %d polls and %d moves of watchers. Nothing lost, doubled or answered 5xx",
		u.made.Load(), len(u.answers), u.polls.Load(), u.moved.Load()))
}

// asService is the address of a database for a user who may work as the service, and no more.
func asService(t *testing.T, owner string) string {
	t.Helper()
	at, err := url.Parse(owner)
	if err != nil {
		t.Fatal(err)
	}
	user := "service_" + strings.TrimPrefix(strings.TrimPrefix(at.Path, "/"), "headroom_test_")[:12]
	administer := func(statement string) {
		conn, err := pgx.Connect(context.Background(), owner)
		if err == nil {
			_, err = conn.Exec(context.Background(), statement)
			_ = conn.Close(context.Background())
		}
		if err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
	administer("CREATE ROLE " + user + " LOGIN PASSWORD 'p'")
	t.Cleanup(func() { administer("DROP OWNED BY " + user + "; DROP ROLE " + user) })
	at.User = url.UserPassword(user, "p")
	return at.String()
}
