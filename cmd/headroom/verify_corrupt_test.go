package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/test/pgtest"
)

// What somebody with every right changes in the history is found, be it in a plan, in the inputs it answers or in what
// lists and polls tell of it (R4).
func TestVerifyFindsWhatWasChangedInTheHistory(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := onDatabase(t, dataDirectory(t), url)
	ctx := t.Context()
	owner, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = owner.Close(ctx) }()
	verify := func() (string, error) {
		c := exec.Command("headroom", "verify", "--all")
		c.Env = append(os.Environ(), "HEADROOM_URL=http://"+s.address, "HEADROOM_API_KEY="+s.localKey)
		out, err := c.CombinedOutput()
		return string(out), err
	}
	// The newest plan is answered from memory, so it is an older one that is changed.
	if status, answer, err := s.ask(ctx, s.localKey, "/v1/clusters/demo/plans", "{}"); err != nil || status != http.StatusCreated {
		t.Fatalf("a second plan: %d %s, %v", status, answer, err)
	}
	if out, err := verify(); err != nil {
		t.Fatalf("the demonstration's plan: %v\n%s", err, out)
	}
	if _, err := owner.Exec(ctx, "UPDATE plans SET vms = vms + 1"); err == nil || !strings.Contains(err.Error(), "append-only") {
		t.Fatalf("the history can be rewritten by mistake: %v", err)
	}
	if _, err := owner.Exec(ctx, "SET headroom.retention = 'on'"); err != nil {
		t.Fatal(err)
	}
	const first = " WHERE number = 1 AND cluster_id = (SELECT id FROM clusters WHERE name = 'demo')"
	var plan, problem string
	if err := owner.QueryRow(ctx, "SELECT plan::text, problem::text FROM plans"+first).Scan(&plan, &problem); err != nil {
		t.Fatal(err)
	}
	set := func(assignment string, values ...any) {
		t.Helper()
		if done, err := owner.Exec(ctx, "UPDATE stored_plans SET "+assignment+first, values...); err != nil || done.RowsAffected() != 1 {
			t.Fatalf("%s: %v, %v", assignment, done, err)
		}
	}
	found := 0
	finds := func(what string) {
		t.Helper()
		if out, err := verify(); err == nil || !strings.Contains(out, "Plan 1 of cluster demo: ") {
			t.Errorf("%s is not found: %v\n%s", what, err, out)
		}
		found++
	}
	for _, of := range []struct{ column, text, path string }{
		{"plan", plan, "objective"}, {"plan", plan, "cost.total"}, {"plan", plan, "vms.total"}, {"plan", plan, "classes.0.admitted"}, {"plan", plan, "classes.1.refused"},
		{"problem", problem, "classes.0.penalty"}, {"problem", problem, "classes.1.jobs.max"}, {"problem", problem, "supply.on_demand.price"},
	} {
		set(of.column+" = $1", changed(t, of.text, strings.Split(of.path, ".")))
		finds(of.column + "'s " + of.path)
		set(of.column+" = $1", of.text)
	}
	for _, change := range []struct{ what, old, new string }{
		{"a part left out", `"relaxed"`, `"relaxed":null,"was"`}, {"a member in other capitals", `"admitted"`, `"Admitted"`},
	} {
		set("plan = $1", strings.Replace(plan, change.old, change.new, 1))
		finds(change.what)
		set("plan = $1", plan)
	}
	for _, column := range []string{"vms", "total_cost", "penalties", "admitted"} {
		set(column + " = " + column + " + 1")
		finds("the column " + column)
		set(column + " = " + column + " - 1")
	}
	if out, err := verify(); err != nil {
		t.Errorf("put back as it was: %v\n%s", err, out)
	}
	t.Attr("R4", fmt.Sprintf("%d changes of a stored plan, its inputs or its summary, past the trigger: all found", found))
}

// changed is a document whose figure at a path is another one.
func changed(t *testing.T, text string, path []string) string {
	t.Helper()
	var document any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&document); err != nil {
		t.Fatal(err)
	}
	at := document
	for i, step := range path {
		var now any
		set := func(any) {}
		switch x := at.(type) {
		case map[string]any:
			now, set = x[step], func(v any) { x[step] = v }
		case []any:
			var n int
			if _, err := fmt.Sscan(step, &n); err != nil {
				t.Fatal(err)
			}
			now, set = x[n], func(v any) { x[n] = v }
		}
		if i < len(path)-1 {
			at = now
			continue
		}
		switch old := now.(type) {
		case json.Number:
			f, _ := old.Float64()
			set(f + 1)
		case string:
			var f float64
			if _, err := fmt.Sscan(old, &f); err != nil {
				t.Fatalf("%v holds %q", path, old)
			}
			set(fmt.Sprint(f + 1))
		default:
			t.Fatalf("%v holds %v in\n%.3000s", path, now, text)
		}
	}
	out, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
