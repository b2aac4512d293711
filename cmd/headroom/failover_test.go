package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/pgtest"
)

// A standby is promoted again and again, under writers and clients that ask again at once. The old primary was killed, or it hangs
// and comes back as if nothing had happened. In the long form half of it happens at a load of twenty a processor, in the short one
// each happens once; HEADROOM_PROMOTIONS says how many there are (R22).
func TestPromotedStandbysLoseNoWrite(t *testing.T) {
	t.Parallel()
	promotions, clients := 2, 4
	if wholeSamples {
		promotions, clients = 20, 20
	}
	if n, err := strconv.Atoi(os.Getenv("HEADROOM_PROMOTIONS")); err == nil {
		promotions = n
	}
	pair := pgtest.NewPair(t)
	var dirs []string
	for range 3 {
		dirs = append(dirs, dataDirectory(t))
	}
	g := besiege(t, 22, allOnDatabase(t, dirs, pair.URL())...)
	g.keepAsking(clients)
	promote := func(state string, promotions int) string {
		var first []time.Duration
		for n := 0; n < promotions && !g.late(); n++ {
			first = append(first, g.promotion(pair, n, state)...)
		}
		one := toll{back: first}
		said := one.tellBack(fmt.Sprintf("%s, at a load of %.0f: first write", state, loadAverage()), "a promotion")
		t.Log(said)
		if took := share(one.back, 1); took > patience(5*time.Second) {
			t.Errorf("a first write took %v, want 5 s at most", took)
		}
		return said
	}
	if !wholeSamples {
		t.Attr("R22", promote("beside other tests", promotions)+"; "+g.lift(3).String())
		return
	}
	said := promote("quiet", promotions/2)
	burn(t, 20*runtime.NumCPU()-int(loadAverage()))
	said += "; " + promote("busy", promotions-promotions/2)
	said += "; " + g.lift(3).String()
	t.Attr("R22", said)
}

// promotion lets the standby take over. It returns how long each server then took until its first write.
func (g *siege) promotion(pair *pgtest.Pair, n int, state string) (first []time.Duration) {
	g.Helper()
	old := pair.Primary
	hangs := n%4 == 1 || n%4 == 2 // each of the two, the first and the second
	kind := "killed " + state
	if hangs {
		kind = "hanging " + state
	}
	rest := g.writing()
	g.moment(1)
	var goOn func()
	if hangs {
		goOn = pair.Hang(old)
		lasts(g.within(3 * time.Second)) // until somebody notices
	} else {
		pair.End(old)
	}
	pair.Promote()
	promoted := time.Now()
	g.faults[kind]++
	first = make([]time.Duration, len(g.servers))
	var probing sync.WaitGroup
	for i, s := range g.servers {
		probing.Go(func() {
			for range await.Tries(time.Minute) {
				if g.probe(s, fmt.Sprintf("promoted-%d", i)) {
					break
				}
			}
			first[i] = time.Since(promoted)
		})
	}
	probing.Wait()
	g.Logf("%s, promotion %d: the first writes after %v", kind, n, first)
	if hangs { // it believes that it is the primary, until somebody ends it
		goOn()
		lasts(g.within(2 * time.Second))
		pair.End(old)
	}
	rest()
	waits(g.T, "writes are taken by all", time.Minute, func() bool {
		for _, s := range g.servers {
			if !g.probe(s, "probe-"+s.address[strings.LastIndexByte(s.address, ':')+1:]) {
				return false
			}
		}
		return true
	})
	pair.StandBy()
	g.compare()
	return first
}

// keepAsking lets so many clients of each server read until the test is over. They ask again at once when they are refused.
func (g *siege) keepAsking(clients int) {
	var asking sync.WaitGroup
	for _, s := range g.servers {
		for range clients {
			asking.Go(func() {
				for g.Context().Err() == nil {
					if status, _, err := (&writer{}).send(g.Context(), s, "GET", "/v1/clusters?limit=1", ""); err == nil && status == 200 {
						lasts(200 * time.Millisecond)
					}
				}
			})
		}
	}
	g.Cleanup(asking.Wait)
}

// loadAverage is that of the last minute.
func loadAverage() (load float64) {
	text, _ := os.ReadFile("/proc/loadavg")
	_, _ = fmt.Sscan(string(text), &load)
	return load
}

// burn keeps so many processes busy until the test is over.
func burn(t *testing.T, processes int) {
	t.Helper()
	for range processes {
		c := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Wait() })
	}
}
