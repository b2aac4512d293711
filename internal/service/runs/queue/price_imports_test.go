package queue_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/fetch"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/service/runs"
	"example.org/headroom/internal/service/runs/queue"
	"example.org/headroom/internal/test/pgtest"
)

const sheet = "vm_type,purchase,price_per_hour,upfront,term_years,payment\nsmall,on_demand,0.192,,,\nsmall,reserved,0.0605,507,1,Partial Upfront\nlarge,on_demand,0.384,,,\n"

// shop makes a cluster, and an allowed file server. It returns the server's address without a path.
func shop(t *testing.T, s *server, files http.HandlerFunc) (address string) {
	t.Helper()
	host := httptest.NewServer(files)
	t.Cleanup(host.Close)
	u, err := url.Parse(host.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.ParseInt(u.Port(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Hooks.AllowHost(boss(t), fetch.AllowedHost{Host: "127.0.0.1", Port: port, HTTP: true, Networks: []string{"127.0.0.1/32"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Clusters.Create(boss(t), inputs.NewCluster("shop")); err != nil {
		t.Fatal(err)
	}
	return host.URL
}

// fetching starts an import from an address.
func fetching(t *testing.T, s *server, address string) string {
	t.Helper()
	from := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	r, err := s.Clusters.StartPriceImport(boss(t), "shop", address, clusters.PriceSelection{From: &from})
	if err != nil {
		t.Fatal(err)
	}
	return r.ID
}

// inCluster lists the numbers of VM types, prices and offers.
func inCluster(t *testing.T, s *server) string {
	t.Helper()
	d, err := s.Stores.Inputs.Document(boss(t), "shop")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d types, %d prices, %d offers", len(d.VMTypes), len(d.Prices), len(d.Offers))
}

const takenOver = "2 types, 2 prices, 1 offers"

func TestSheetsAreFetched(t *testing.T) {
	t.Parallel()
	s := start(t, pgtest.Database(t), queue.Config{})
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = io.WriteString(w, sheet)
	_ = w.Close()
	var requests atomic.Int32
	at := shop(t, s, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gone.csv":
			http.NotFound(w, r)
		case "/moved":
			http.Redirect(w, r, "/sheet.csv.gz", http.StatusMovedPermanently)
		case "/away":
			http.Redirect(w, r, "http://localhost:1/sheet.csv.gz", http.StatusFound)
		case "/page":
			_, _ = io.WriteString(w, "<!doctype html><title>Sign in</title>")
		case "/cut":
			w.Header().Set("Content-Length", strconv.Itoa(len(sheet)))
			_, _ = io.WriteString(w, sheet[:len(sheet)-20])
		case "/cut.gz":
			_, _ = w.Write(packed.Bytes()[:packed.Len()-6])
		case "/slow-to-begin":
			if requests.Add(1) == 1 { // and then there
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			fallthrough
		default:
			_, _ = w.Write(packed.Bytes())
		}
	})
	for path, words := range map[string]string{
		"/gone.csv": "answers 404 Not Found", "/away": "sends on to another place", "/page": "page for a browser", "/cut.gz": "",
	} {
		id := fetching(t, s, at+path)
		r := until(t, s, id, "failed", state(runs.RunFailed))
		if r.Error == nil || r.Error.Kind != string(fault.Invalid) || len(r.Error.Errors) == 0 || !strings.Contains(r.Error.Errors[0].Detail, words) || r.Attempt != 1 {
			t.Errorf("%s: %+v %+v", path, r, r.Error)
		}
	}
	if r := until(t, s, fetching(t, s, at+"/cut"), "tried again", func(r runs.Run) bool { return r.Attempt > 1 }); r.State.Over() {
		t.Errorf("a connection that breaks: %+v", r)
	}
	if got := inCluster(t, s); got != "0 types, 0 prices, 0 offers" {
		t.Fatalf("of sheets that cannot be taken over there are %s", got)
	}

	r := succeeded(t, s, fetching(t, s, at+"/moved"))
	var made clusters.PriceImport
	if err := json.Unmarshal(r.Result, &made); err != nil || made.Offers.Created != 1 || r.Progress != (runs.Progress{Done: int64(packed.Len()), Total: int64(packed.Len()), Unit: "bytes"}) {
		t.Errorf("the run is %+v (%v)", r, err)
	}
	r = succeeded(t, s, fetching(t, s, at+"/slow-to-begin"))
	if err := json.Unmarshal(r.Result, &made); err != nil || len(made.Changes) != 0 || made.Offers.Unchanged != 1 || r.Attempt != 2 {
		t.Errorf("the same again: %s (%v)", r.Result, err)
	}
	if got := inCluster(t, s); got != takenOver {
		t.Errorf("there are %s", got)
	}
	_, err := s.Clusters.StartPriceImport(boss(t), "shop", "https://not-listed.example/x", clusters.PriceSelection{})
	if err == nil || !strings.Contains(err.Error(), "not on the list") {
		t.Errorf("a host that is not listed: %v", err)
	}
}

// A stalled fetch ends on request and by itself.
func TestAFetchIsEnded(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	store := pgtest.OpenWith(t, postgres.Config{URL: url})
	s := start(t, url, queue.Config{Fetch: fetch.New(fetch.Config{HostOf: store.HostOf, Stall: 300 * time.Millisecond})})
	begun := make(chan struct{}, 8)
	at := shop(t, s, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, sheet[:100])
		w.(http.Flusher).Flush()
		begun <- struct{}{}
		<-r.Context().Done()
	})
	id := fetching(t, s, at+"/stalls")
	<-begun
	until(t, s, id, "tried again", func(r runs.Run) bool { return r.Attempt > 1 })
	if _, err := s.Runs.Cancel(boss(t), id); err != nil {
		t.Fatal(err)
	}
	until(t, s, id, "cancelled", state(runs.RunCancelled))
	if got := inCluster(t, s); got != "0 types, 0 prices, 0 offers" {
		t.Errorf("half a sheet was taken over: %s", got)
	}
}

const importerVariable = "HEADROOM_RUN_IMPORTER"

// importer is a server in a process of its own, to be killed during an import.
func importer(url string) {
	store, err := postgres.Open(context.Background(), postgres.Config{URL: url, SkipMigrations: true, MaxConns: 5})
	if err != nil {
		panic(err)
	}
	pool, schema := store.River()
	if _, err := queue.Start(context.Background(), queue.Config{App: app.New(store.Stores(), auth.NewKeyring(), app.Config{}), Pool: pool, Schema: schema, Lease: shortLease}); err != nil {
		panic(err)
	}
	fmt.Println("begun")
	select {}
}

// One server is killed while the sheet arrives, and one as soon as it has arrived: the sheet is imported once.
func TestAServerThatIsKilledImportsNothingTwice(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := start(t, url, queue.Config{Kinds: kinds(does{"other": quick})}) // it imports nothing
	half, rest := make(chan struct{}, 2), make(chan struct{})
	at := shop(t, s, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/halves" {
			_, _ = io.WriteString(w, sheet[:100])
			w.(http.Flusher).Flush()
			select {
			case half <- struct{}{}:
			default:
			}
			select {
			case <-rest:
			case <-r.Context().Done():
				return
			}
			_, _ = io.WriteString(w, sheet[100:])
			return
		}
		_, _ = io.WriteString(w, sheet)
		select {
		case half <- struct{}{}:
		default:
		}
	})
	for _, path := range []string{"/halves", "/whole"} {
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), importerVariable+"="+url)
		command.Stderr = os.Stderr
		stdout, err := command.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "begun\n" {
			t.Fatalf("the child says %q (%v)", line, err)
		}
		id := fetching(t, s, at+path)
		<-half
		_ = command.Process.Kill()
		_ = command.Wait()
		if path == "/halves" {
			if got := inCluster(t, s); got != "0 types, 0 prices, 0 offers" {
				t.Errorf("of half a sheet there are %s", got)
			}
			close(rest)
		}
		other := start(t, url, queue.Config{Lease: shortLease})
		r := succeeded(t, other, id)
		other.ended()
		if path == "/halves" && r.Attempt != 2 {
			t.Errorf("%s: the run is %+v", path, r)
		}
		if got := inCluster(t, s); got != takenOver {
			t.Errorf("%s: there are %s", path, got)
		}
	}
}
