package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func solves(o outcome, times ...time.Duration) (all []result) {
	for _, d := range times {
		all = append(all, result{answer: answer{outcome: o, took: d}})
	}
	return all
}

func TestGoalsAreJudged(t *testing.T) {
	const ms = time.Millisecond
	theirs := map[string][]result{asProgram: solves(optimal, ms), "fast": solves(optimal, 40*ms), "slow": solves(limited, 900*ms)}
	for _, c := range []struct {
		goal goal
		mine time.Duration
		want string
	}{
		{goal{}, ms, ""},
		{goal{ms: 2}, 2 * ms, "≤ 2 ms: reached"},
		{goal{ms: 2}, 3 * ms, "≤ 2 ms: missed"},
		{goal{ms: 2}, 0, "≤ 2 ms: missed"}, // not all were proved
		{goal{ms: 9, times: 20}, 2 * ms, "≤ 9 ms, 20 × every peer: reached"},
		{goal{ms: 9, times: 30}, 2 * ms, "≤ 9 ms, 30 × every peer: missed"},
		{goal{ms: 9, times: 30, than: "slow"}, 2 * ms, "≤ 9 ms, 30 × slow: reached"},
		{goal{ms: 9, times: 30, than: "absent"}, 2 * ms, "≤ 9 ms, 30 × absent: not compared"},
		{goal{times: 1}, 40 * ms, "proved, 1 × every peer: reached"},
		{goal{times: 1}, 41 * ms, "proved, 1 × every peer: missed"},
	} {
		if got := c.goal.judge(comparison{theirs: theirs}, c.mine); got != c.want {
			t.Errorf("%+v with %v: %q, want %q", c.goal, c.mine, got, c.want)
		}
	}
}

func TestTheShortTableIsWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "benchmarks.md")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := settings{seeds: 1, limit: 3 * time.Second}
	peers := []peer{{name: asProgram}, {name: "other"}, {name: "third"}, {name: "wrong"}}
	whole := solves(optimal, 30*time.Millisecond)
	whole[0].whole = 45 * time.Millisecond
	wrong := solves(optimal, 40*time.Millisecond)
	wrong[0].worse = 0.01
	all := []comparison{
		{work: work{family: "hard", size: 20, goal: goal{ms: 1}}, ours: solves(optimal, time.Millisecond), theirs: map[string][]result{
			asProgram: solves(optimal, 10*time.Millisecond), "other": whole, "third": solves(limited, time.Second), "wrong": wrong}},
		{work: work{family: "steps", size: 20, gap: 1e-6, goal: goal{ms: 1}}, ours: solves(limited, time.Millisecond)},
		{work: work{family: "mixed", size: 20}, ours: solves(optimal, time.Millisecond)},
	}
	write("before\n" + tableBegins(partFleets) + "kept\n" + tableEnds + tableBegins(partP2) + "old\n" + tableEnds + "after\n")
	if err := writeTable(file, partP2, short(s, peers, all)); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	want := `
| family | classes | gap | Headroom | headroom-file | other | third | wrong | fastest |
|---|---|---|---|---|---|---|---|---|
| hard | 20 | 1e-9 | 1.0 | 10 (×10) | 30 (×30; 45) | limit | 40 (×40), wrong | ×30 |
| steps | 20 | 1e-06 | 1.0, 1 open | – | – | – | – | – |
` + tableEnds + "after\n"
	if err != nil || !strings.HasPrefix(string(got), "before\n"+tableBegins(partFleets)+"kept\n"+tableEnds+tableBegins(partP2)+"CPU milliseconds, median of 1 instances") || !strings.HasSuffix(string(got), want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	write("nothing here")
	if err := writeTable(file, partP2, short(s, peers, all)); err == nil || !strings.Contains(err.Error(), "has no marks") {
		t.Errorf("without marks: %v", err)
	}
}

// The server's rows are measured with a server that is the bare route itself, which tests the measurement.
func TestPollsAreCounted(t *testing.T) {
	address, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	written := make(listening, 1)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = serveBare(ctx, address, written)
	}()
	t.Cleanup(func() { stop(); <-ended })
	select {
	case <-written:
	case <-time.After(10 * time.Second):
		t.Fatal("the bare route does not listen")
	}
	n, err := perSecond(address, scaling, "", "200", 300*time.Millisecond)
	if err != nil || n < 10 {
		t.Errorf("%g polls a second, %v", n, err)
	}
	if _, err := perSecond(address, "/elsewhere", "", "200", 50*time.Millisecond); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("another address: %v", err)
	}
}

// listening signals each write.
type listening chan struct{}

func (l listening) Write(text []byte) (int, error) {
	l <- struct{}{}
	return len(text), nil
}
