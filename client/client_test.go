package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/headroom/client"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/test/pgtest"
	"example.org/headroom/internal/test/servertest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// shop starts a server with a planned cluster.
func shop(t *testing.T) (*client.Client, servertest.Server) {
	t.Helper()
	s := servertest.Start(t)
	document := `{"cluster": {"name": "shop", "currency": "USD"}, "vm_types": [{"name": "m5"}],
		"prices": [{"vm_type": "m5", "price": "0.20", "from": "2020-01-01T00:00:00Z"}],
		"classes": [{"name": "etl", "vms_per_job": "1.5", "jobs": {"min": 0, "max": 2}, "penalty": "9"}]}`
	for _, step := range []struct{ method, path, body string }{{"PUT", "/v1/clusters/shop/document", document}, {"POST", "/v1/clusters/shop/plans", "{}"}} {
		r, err := http.NewRequestWithContext(t.Context(), step.method, s.URL+step.path, strings.NewReader(step.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Authorization": {"Bearer " + s.Keys[auth.Admin]}, "Content-Type": {"application/json"}}
		if step.method == "PUT" {
			r.Header.Set("If-None-Match", "*")
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode >= 300 {
			t.Fatalf("%s %s: %s\n%s", step.method, step.path, answer.Status, text)
		}
	}
	return client.New(s.URL, s.Keys[auth.Admin]), s
}

// The example of the documentation does what it says at a real server.
func TestExample(t *testing.T) {
	c, _ := shop(t)
	t.Setenv("HEADROOM_URL", c.Server)
	t.Setenv("HEADROOM_API_KEY", c.Key)
	before := os.Stdout
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout = write
	Example()
	os.Stdout = before
	write.Close()
	said, err := io.ReadAll(read)
	want := "Rent 15 VMs for 3.00 USD an hour.\nThe cluster should have 3 VMs.\n1 of 2 jobs run.\n1 run is new.\n"
	if err != nil || string(said) != want {
		t.Errorf("got\n%s\nwant\n%s", said, want)
	}
	left, err := c.Ask(t.Context(), "shop", client.Place{Class: "etl"})
	if err != nil || left.Running != 1 {
		t.Errorf("the example kept its place: %+v, %v", left, err)
	}
}

// Refusals have kinds, faults and conflicts that a program can look at.
func TestRefusals(t *testing.T) {
	c, s := shop(t)
	problem := func(err error) *client.Problem {
		t.Helper()
		var p *client.Problem
		if !errors.As(err, &p) {
			t.Fatalf("got %v, want a problem", err)
		}
		return p
	}
	_, err := c.Scaling(t.Context(), "nowhere", 0)
	if p := problem(err); p.Kind() != "not-found" || p.Status != http.StatusNotFound || p.Instance == "" {
		t.Errorf("got %+v", p)
	}
	_, err = c.Solve(t.Context(), json.RawMessage(`{"currency": "USD", "supply": {"on_demand": {"price": "1"}}, "klasses": []}`))
	if p := problem(err); p.Kind() != "malformed" || !slices.ContainsFunc(p.Errors, func(f client.Fault) bool { return f.Code == "unknown_member" && f.Pointer == "/klasses" }) {
		t.Errorf("got %+v", p)
	}
	none := int64(0)
	_, err = c.Solve(t.Context(), client.Question{Currency: "USD", Supply: client.Supply{OnDemand: client.OnDemand{Price: "1", Quota: &none}},
		Classes: []client.Class{{Name: "a", VMsPerJob: "1", Jobs: client.Jobs{Min: 1, Max: 1}, Penalty: "1"}}})
	if p := problem(err); p.Kind() != "infeasible" || len(p.Conflicts) == 0 || p.Conflicts[0].Detail == "" {
		t.Errorf("got %+v", p)
	}
	c.Key = s.Keys[auth.Viewer]
	_, err = c.Ask(t.Context(), "shop", client.Place{Class: "etl"})
	if p := problem(err); p.Kind() != "forbidden" {
		t.Errorf("got %+v", p)
	}
	current, err := c.CurrentPlan(t.Context(), "shop")
	if err != nil || current.Number != 1 || current.Plan.VMs.Total != 3 || len(current.Plan.Classes) != 1 {
		t.Errorf("got %+v, %v", current, err)
	}
	c.Key = s.Keys[auth.Admin]
	place, err := c.Ask(t.Context(), "shop", client.Place{Class: "etl"})
	if err != nil || !place.Admitted || c.End(t.Context(), "shop", place.ID) != nil || c.End(t.Context(), "shop", place.ID) != nil {
		t.Errorf("got %+v, %v", place, err)
	}
	_, err = c.Keep(t.Context(), "shop", place.ID, client.Heartbeat{TTLS: 60})
	if p := problem(err); p.Kind() != "gone" {
		t.Errorf("got %+v", p)
	}
}

// What a server refuses for the moment is asked again after the time that it names, with the same body and key.
func TestRepetitions(t *testing.T) {
	var bodies, keys []string
	refuse := http.StatusServiceUnavailable
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies, keys = append(bodies, string(body)), append(keys, r.Header.Get("Idempotency-Key"))
		if len(bodies) < 3 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(refuse)
			return
		}
		_, _ = io.WriteString(w, `{"admitted": true, "id": "x"}`)
	}))
	defer server.Close()
	c := client.New(server.URL, "hrk_x")
	began := time.Now()
	a, err := c.Ask(t.Context(), "a/b", client.Place{Class: "etl"})
	if took := time.Since(began); err != nil || !a.Admitted || took < 2*time.Second {
		t.Errorf("got %+v, %v after %s", a, err, took)
	}
	if len(bodies) != 3 || bodies[0] != bodies[2] || bodies[0] == "" || keys[0] != keys[2] || keys[0] == "" {
		t.Errorf("it sent %q with keys %q", bodies, keys)
	}
	// Time that would pass before the next try is not waited for.
	bodies = nil
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	var p *client.Problem
	if _, err := c.Ask(short, "shop", client.Place{}); !errors.As(err, &p) || p.RetryAfter != time.Second || len(bodies) != 1 {
		t.Errorf("got %v after %d tries", err, len(bodies))
	}
	// What is wrong with the request is not asked again.
	bodies, refuse = nil, http.StatusBadRequest
	if _, err := c.Ask(t.Context(), "shop", client.Place{}); !errors.As(err, &p) || p.Title != "Bad Request" || len(bodies) != 1 {
		t.Errorf("got %v after %d tries", err, len(bodies))
	}
}

// A program of another module builds with the client, and gets nothing but the standard library with it.
func TestOtherModules(t *testing.T) {
	here, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module other.example.com/autoscaler\n\ngo 1.26\n\nrequire example.org/headroom v0.0.0\n\nreplace example.org/headroom => " + here + "\n",
		"main.go": "package main\n\nimport (\n\t\"context\"\n\t\"fmt\"\n\n\t\"example.org/headroom/client\"\n)\n\nfunc main() {\n" +
			"\ts, err := client.New(\"http://127.0.0.1:1\", \"hrk_x\").Scaling(context.Background(), \"shop\", 0)\n\tfmt.Println(s.VMs.Total, err)\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"build", "-o", "autoscaler", "."}, {"list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "."}} {
		c := exec.Command("go", args...)
		c.Dir, c.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod -trimpath", "GOWORK=off", "GOPROXY=off")
		var trouble bytes.Buffer
		c.Stderr = &trouble
		out, err := c.Output()
		if err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, trouble.String())
		}
		if args[0] == "list" && strings.TrimSpace(string(out)) != "example.org/headroom/client\nother.example.com/autoscaler" {
			t.Errorf("it needs\n%s", out)
		}
	}
}
