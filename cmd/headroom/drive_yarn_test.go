package main

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/test/engines/yarntest"
)

// drivenYarn is a YARN that a driver keeps to the plans of a server.
type drivenYarn struct {
	follower
	yarn *yarntest.Yarn
	had  []time.Time // when YARN had each plan
}

func startDrivenYarn(t *testing.T) *drivenYarn {
	t.Helper()
	queues := map[string]string{"default": "50"}
	for _, class := range drivenClasses {
		queues[class] = "10"
	}
	d := &drivenYarn{yarn: yarntest.Start(t, yarntest.Setup{Queues: queues, Nodes: 2, Memory: 1 << 16})}
	d.follower = startFollower(t, "yarn", "shop", "--yarn", d.yarn.Address, "--user", "test")
	return d
}

// YARN keeps to plans that change while applications come and everything is killed in turn: none starts beyond its class's
// places, none is lost or fails. The long form has 60 applications, 20 changes and 12 kills.
func TestYarnFollowsThePlan(t *testing.T) {
	apps, changes, kills := 15, 4, 3
	if wholeSamples {
		apps, changes, kills = 60, 20, 12
	}
	d := startDrivenYarn(t)
	if said := d.verb(t, "drive", "yarn", "shop", "--yarn", d.yarn.Address, "--dry-run"); !strings.Contains(said, "etl: any number of places with 10 to 100 % of the cluster, refusing what is more now, 2 with 50 % of the cluster by the plan\n") {
		t.Errorf("a dry run says\n%s", said)
	}
	d.drive(t)
	t.Cleanup(func() { d.endDriver(t) })
	d.follows(t)
	random := rand.New(rand.NewPCG(7, 2))
	submitted := 0
	submit := func(n int) {
		for ; n > 0 && submitted < apps; n-- {
			d.yarn.Submit(t, drivenClasses[random.IntN(len(drivenClasses))], 2+random.IntN(5), 0)
			submitted++
		}
	}
	killed := 0
	for n := range changes {
		submit(apps/changes + 1)
		if killed*changes < n*kills+kills {
			killed++
			switch killed % 3 {
			case 0:
				d.server.kill(t)
				d.serve(t)
			case 1: // what YARN keeps stays, and the next driver has the plan's places within one turn
				before := d.yarn.Queues(t)
				d.endDriver(t)
				d.change(t, random.IntN(12))
				lasts(2 * time.Second) // in which nobody drives
				for name, now := range d.yarn.Queues(t) {
					if was := before[name]; was.MaxParallelApps != now.MaxParallelApps || was.MaxCapacity != now.MaxCapacity {
						t.Errorf("without a driver the queue %s went from %+v to %+v", name, was, now)
					}
				}
				d.drive(t)
				d.follows(t)
			case 2:
				d.yarn.Kill()
				d.yarn.Restart(t)
			}
		}
		d.change(t, random.IntN(12))
		d.follows(t)
	}
	submit(apps)
	d.change(t, 60)
	d.follows(t)
	ended := 0
	waits(t, "all applications have ended", 5*time.Minute, func() bool {
		ended = 0
		for _, a := range d.yarn.Apps(t) {
			if a.FinishedTime > 0 {
				ended++
			}
		}
		return ended == apps
	})
	d.judge(t, apps)
	t.Logf("%d applications under %d plans, %d kills", apps, len(d.plans), killed)
}

// follows waits until YARN has the current plan, and says how long that took after the plan.
func (d *drivenYarn) follows(t *testing.T) {
	t.Helper()
	want := d.plans[len(d.plans)-1]
	total := int64(0)
	for _, n := range want.places {
		total += n // each job has a VM
	}
	waits(t, "YARN has the plan's places", 15*time.Second, func() bool {
		queues := d.yarn.Queues(t)
		sum := 0.0
		for _, q := range queues {
			sum += q.Capacity
		}
		for class, n := range want.places {
			share := max(0.001, 100*float64(n)/float64(max(2, total)))
			if q := queues[class]; q.MaxParallelApps != n || math.Abs(q.MaxCapacity-share) > 0.001 {
				return false
			}
		}
		return math.Abs(sum-100) < 0.001
	})
	for len(d.had) < len(d.plans) { // it need not have had one that another followed at once
		d.had = append(d.had, time.Now())
	}
	t.Logf("YARN had a plan %s after it was current", time.Since(want.from).Round(10*time.Millisecond))
}

// judge checks that all applications ended well, and by their own words that when one was launched its class had a place.
func (d *drivenYarn) judge(t *testing.T, apps int) {
	t.Helper()
	all := d.yarn.Apps(t)
	if len(all) != apps {
		t.Errorf("YARN has %d of %d applications", len(all), apps)
	}
	for _, a := range all {
		if a.State != "FINISHED" || a.FinalStatus != "SUCCEEDED" {
			t.Errorf("an application ended as %+v", a)
		}
	}
	running, launched, full := map[string]int64{}, 0, 0
	for _, s := range d.yarn.Seen(t) {
		switch s.What {
		case "launch":
			launched++
			running[s.Queue]++
			switch n := d.inYarn(s.Queue, s.At); {
			case running[s.Queue] > n:
				t.Errorf("at %s %d applications of %s ran, of %d", s.At.Format(time.TimeOnly), running[s.Queue], s.Queue, n)
			case running[s.Queue] == n:
				full++
			}
		case "end":
			running[s.Queue]--
		}
	}
	if launched < apps { // one that its resource manager gave a node as it was killed is given another
		t.Errorf("applications wrote %d times that they start, want %d", launched, apps)
	}
	if full < apps/10 {
		t.Errorf("only %d applications took their class's last place, which is too few to judge by", full)
	}
	t.Logf("%d applications took their class's last place", full)
}

// inYarn returns how many applications of a class the plans admit that YARN had at a moment, or just before: nodes take a
// few seconds to launch what YARN gave them.
func (d *drivenYarn) inYarn(class string, at time.Time) (n int64) {
	const launching = 5 * time.Second
	for i, p := range d.plans {
		if p.from.Before(at.Add(time.Second)) && (i+1 == len(d.had) || at.Add(-launching).Before(d.had[i+1])) {
			n = max(n, p.places[class])
		}
	}
	return n
}
