package yarn

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/slots/drive"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/engines/yarntest"
)

// driver returns a driver of a YARN by a plan, and what it says.
func driver(y *yarntest.Yarn, plan *drive.Plan) (d *drive.Driver, said *[]string) {
	said = &[]string{}
	return &drive.Driver{
		Plan:   func(context.Context) (drive.Plan, error) { return *plan, nil },
		Engine: &Yarn{Addresses: []string{"http://127.0.0.1:1", y.Address}, User: "test", Queues: map[string]string{"ad hoc": "root.sql"}, Rest: "root.default"},
		Did:    func(s drive.Step, _ bool) { *said = append(*said, fmt.Sprint(s.Class, " ", s.To, " ", s.Room)) },
		Warn: func(sentence string, err error) {
			*said = append(*said, strings.TrimSpace(fmt.Sprint(sentence, " ", err)))
		},
		Observed: func(context.Context, int64, int64) error { return nil },
	}, said
}

// The queues hold the plan in a real YARN: how many applications run, and how many containers they have.
func TestYarnKeepsLimits(t *testing.T) {
	y := yarntest.Start(t, yarntest.Setup{Queues: map[string]string{"default": "60", "etl": "20", "sql": "20"}, Nodes: 2, Memory: 8192})
	plan := drive.Plan{Number: 7, Places: map[string]int64{"etl": 2, "ad hoc": 0, "ml": 3}, Shares: map[string]float64{"etl": 1}, Total: 1}
	d, said := driver(y, &plan)
	turn := func() {
		t.Helper()
		*said = nil
		began := time.Now()
		if err := d.Turn(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Logf("a turn took %s", time.Since(began))
	}
	states := func(queue string) (running, waiting, failed int) {
		for _, a := range y.Apps(t) {
			switch {
			case a.Queue != "root."+queue && a.Queue != queue:
			case a.State == "RUNNING":
				running++
			case a.State == "FAILED" || a.FinalStatus == "FAILED":
				failed++
				t.Log(a)
			case a.State != "FINISHED":
				waiting++
			}
		}
		return running, waiting, failed
	}
	wait := func(queue, want string) {
		t.Helper()
		for last := range await.Tries(90 * time.Second) {
			got := fmt.Sprint(states(queue))
			if got == want {
				return
			}
			if last {
				t.Fatalf("in %s are running, waiting, failed %s, want %s: %+v", queue, got, want, y.Apps(t))
			}
		}
	}
	turn()
	want := []string{`The engine has no limit for the class "ml", so its jobs are not held to the plan's 3 places. <nil>`, "ad hoc 0 nothing of the cluster", "etl 2 50 % of the cluster"}
	if !slices.Equal(*said, want) {
		t.Errorf("it says %q", *said)
	}
	got := y.Queues(t)
	if etl := got["etl"]; etl.Capacity != 50 || etl.MaxCapacity != 50 || etl.MaxParallelApps != 2 || got["default"].Capacity != 50 || got["sql"].MaxParallelApps != 0 {
		t.Errorf("the queues are %+v", got)
	}
	turn()
	if len(*said) != 0 {
		t.Errorf("a second turn says %q", *said)
	}
	// Each etl application asks for more than the queue has: 8 of 16 containers of 1024 MB, its own among them.
	for range 2 {
		y.Submit(t, "etl", 600, 12)
	}
	for range 3 {
		y.Submit(t, "sql", 600, 0)
	}
	wait("etl", "2 0 0")
	wait("sql", "0 3 0")
	y.Submit(t, "etl", 600, 0)
	full := func() bool { return y.Queues(t)["etl"].ResourcesUsed.Memory == 8*1024 }
	stays := func() {
		t.Helper()
		for range await.Tries(6 * time.Second) {
			if used := y.Queues(t)["etl"].ResourcesUsed.Memory; used > 8*1024 {
				t.Fatalf("etl has %d MB of 8192", used)
			}
		}
	}
	until(t, "etl has its share", full)
	stays()
	held := map[string]int{}
	for _, s := range y.Seen(t) {
		held[s.Process] = 1 + s.Containers
	}
	sum := 0
	for _, n := range held {
		sum += n
	}
	if sum != 8 || len(held) != 2 {
		t.Errorf("the applications of etl wrote that they have %v containers", held)
	}

	y.Kill() // the limits stand without anybody
	y.Restart(t)
	wait("etl", "2 1 0")
	wait("sql", "0 3 0")
	until(t, "etl has its share again", full)
	stays()
	plan = drive.Plan{Number: 8, Places: map[string]int64{"etl": 2, "ad hoc": 2}, Shares: map[string]float64{"etl": 1, "ad hoc": 0.5}, Total: 1.5}
	turn()
	wait("sql", "2 1 0")
	wait("etl", "2 1 0")
	plan = drive.Plan{Number: 9, Places: map[string]int64{"ad hoc": 3}, Shares: map[string]float64{"ad hoc": 0.5}, Total: 0.5}
	turn() // none is ended
	wait("sql", "3 0 0")
	wait("etl", "2 1 0")
	want = []string{`The plan has no class "etl" any more, so no further job of it starts. <nil>`, "etl 0 nothing of the cluster", "ad hoc 3 25 % of the cluster"}
	if !slices.Equal(*said, want) {
		t.Errorf("it says %q", *said)
	}
	got = y.Queues(t)
	if got["etl"].MaxParallelApps != 0 || got["etl"].MaxCapacity != 0.001 || got["sql"].MaxCapacity != 25 || got["default"].Capacity != 75 {
		t.Errorf("the queues are %+v", got)
	}
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for last := range await.Tries(time.Minute) {
		if is() {
			return
		}
		if last {
			t.Fatalf("after a minute it is not so that %s", what)
		}
	}
}
