package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/test/engines/slurmtest"
)

// driven is a Slurm that a driver keeps to the plans of a server.
type driven struct {
	follower
	slurm *slurmtest.Slurm
	had   []time.Duration      // how long it took until Slurm had the places of each plan
	held  map[string]time.Time // classes with a licence in use and no job for it, and since when
	freed time.Duration        // the longest such time
}

// follower is a server, and a driver that carries its plans out.
type follower struct {
	homed
	arguments []string  // of the driver
	driver    *exec.Cmd // the one started last
	said      *lockedBuffer
	key       string // the driver's
	plans     []inForce
}

// inForce holds the places of classes from a moment on.
type inForce struct {
	from   time.Time
	places map[string]int64
}

var drivenClasses = []string{"etl", "sql", "ml", "web", "adhoc"}

const driverPause = time.Second

// Slurm keeps to plans that change while jobs come and everything is killed in turn: no job starts beyond its class's
// places, none is lost, and none fails because it waits. Each frees its place within ten seconds of its end. The long form
// has 500 jobs, 50 changes and 20 kills, and is judged by sacct.
func TestSlurmFollowsThePlan(t *testing.T) {
	jobs, changes, kills := 60, 4, 3
	if wholeSamples {
		jobs, changes, kills = 500, 50, 20
	}
	d := startDriven(t, slurmtest.Setup{Accounting: wholeSamples})
	if said := d.verb(t, "drive", "slurm", "shop", "--dry-run"); !strings.Contains(said, "etl: 200 places now, 2 by the plan\n") {
		t.Errorf("a dry run says\n%s", said)
	}
	d.drive(t)
	t.Cleanup(func() { d.endDriver(t) })
	d.follows(t)

	random := rand.New(rand.NewPCG(7, 1))
	submitted := 0
	submit := func(n int) {
		for ; n > 0 && submitted < jobs; n-- {
			class := drivenClasses[random.IntN(len(drivenClasses))]
			d.slurm.Run(t, "sbatch", "-J", class, "-L", class, "-o", d.slurm.Output(), "--wrap", fmt.Sprintf("sleep %d", 1+random.IntN(4)))
			submitted++
		}
	}
	killed := 0
	for n := range changes {
		submit(jobs/changes + 1)
		if killed*changes < n*kills+kills {
			killed++
			switch killed % 3 {
			case 0: // between jobs: those that ended within its last seconds it would take for running
				d.change(t, 0)
				d.follows(t)
				waits(t, "no job runs", 30*time.Second, func() bool { return d.slurm.Run(t, "squeue", "-h", "-t", "running,completing") == "" })
				d.slurm.Kill(t)
				d.follows(t)
			case 1:
				d.endDriver(t)
				d.drive(t)
			case 2:
				d.server.kill(t)
				d.serve(t)
			}
		}
		d.change(t, random.IntN(12))
		d.follows(t)
	}
	submit(jobs)
	d.change(t, 60)
	waits(t, "all jobs have ended", 5*time.Minute, func() bool { return d.slurm.Run(t, "squeue", "-h") == "" })
	waits(t, "all places are free", 10*time.Second, func() bool {
		return strings.Count(d.slurm.Run(t, "scontrol", "-o", "show", "licenses"), " Used=0 ") == len(drivenClasses)
	})
	d.judge(t, jobs)
	d.kept(t)
	slices.Sort(d.had)
	t.Logf("%d jobs under %d plans, %d kills", jobs, len(d.plans), killed)
	t.Logf("Slurm had the places of a plan %s after it was current, or slurmctld answered again, in the median, and %s at most", d.had[len(d.had)/2], d.had[len(d.had)-1])
	if t.Logf("a place was held for %s at most after its job had ended", d.freed.Round(time.Millisecond)); d.freed > 10*time.Second {
		t.Error("that is more than ten seconds")
	}
}

// startDriven starts a Slurm, and a server with a plan and a driver's key.
func startDriven(t *testing.T, setup slurmtest.Setup) *driven {
	t.Helper()
	setup.Licences = strings.Join(drivenClasses, ":200,") + ":200"
	d := &driven{slurm: slurmtest.Start(t, setup), held: map[string]time.Time{}}
	d.follower = startFollower(t, "slurm", "shop")
	return d
}

// startFollower starts a server with a plan, and makes a driver's key.
func startFollower(t *testing.T, arguments ...string) follower {
	t.Helper()
	f := follower{homed: startHomed(t), said: &lockedBuffer{}, arguments: arguments}
	f.key = f.agentKey(t, "--cluster", "shop")
	f.change(t, 4)
	return f
}

// Of two drivers one acts. The other follows it within 15 s of its end, also where it only stood still, and then never
// acts beside it.
func TestSlurmHasOneDriver(t *testing.T) {
	d := startDriven(t, slurmtest.Setup{})
	d.drive(t)
	first, firstSaid := d.driver, d.said
	t.Cleanup(func() { _ = first.Process.Kill(); _ = first.Wait() })
	d.has(t, 10*time.Second)
	d.said = &lockedBuffer{}
	d.drive(t)
	second, secondSaid := d.driver, d.said
	t.Cleanup(func() { _ = second.Process.Kill(); _ = second.Wait() })
	waits(t, "the second driver says that it waits", 10*time.Second, func() bool { return strings.Contains(secondSaid.String(), "Another driver acts") })

	d.change(t, 9)
	d.has(t, 10*time.Second)
	if said := secondSaid.String(); strings.Contains(said, "places") {
		t.Errorf("the one that waits did something:\n%s", said)
	}
	code := run(t.Context(), []string{"drive", "slurm", "shop", "--once", "--data-dir", d.dir}, strings.NewReader(""), &lockedBuffer{}, d.said)
	if code == shell.ExitOK || !strings.Contains(d.said.String(), "another driver acts") {
		t.Errorf("a third one: exit code %d\n%s", code, d.said)
	}

	if err := first.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	d.change(t, 3)
	t.Logf("after the first stood still, Slurm had the next plan in %s", d.has(t, 15*time.Second))
	before := firstSaid.String()
	if err := first.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	d.change(t, 7)
	d.has(t, 10*time.Second)
	waits(t, "the first driver says that it waits", 10*time.Second, func() bool { return strings.Contains(firstSaid.String(), "Another driver acts") })
	if after := strings.TrimPrefix(firstSaid.String(), before); strings.Contains(after, "places") {
		t.Errorf("the first did something after it stood still:\n%s", after)
	}

	_ = second.Process.Kill()
	d.change(t, 5)
	t.Logf("after the second was killed, Slurm had the next plan in %s", d.has(t, 15*time.Second))
}

// Nodes are asked for before the plan that needs them is current, and given back when no plan ahead needs them.
func TestSlurmHasNodesAhead(t *testing.T) {
	d := startDriven(t, slurmtest.Setup{Cloud: 4})
	boundary := time.Now().Add(45 * time.Second).UTC().Truncate(time.Second)
	dear := fmt.Sprintf(`{"vm_type":"m","price":"500","from":"2020-01-01T00:00:00Z","until":%q}`, boundary.Format(time.RFC3339))
	d.changeAll(t, 3, 0, fmt.Sprintf(`%s,{"vm_type":"m","price":"0.3","from":%q}`, dear, boundary.Format(time.RFC3339)))
	look := []string{"drive", "slurm", "shop", "--dry-run", "--nodes", "m=cloud", "--lead"}
	if said := d.verb(t, append(look, "0s")...); strings.Contains(said, "nodes") {
		t.Errorf("without a look ahead it says\n%s", said)
	}
	if said := d.verb(t, append(look, "10m")...); !strings.Contains(said, "m: 0 nodes now, 3 by the plan: c1,c2,c3 would be asked for\n") {
		t.Errorf("with a look ahead it says\n%s", said)
	}
	d.drive(t, "--nodes", "m=cloud", "--lead", "10m")
	t.Cleanup(func() { d.endDriver(t) })
	asked := func(want ...string) {
		t.Helper()
		waits(t, fmt.Sprintf("Slurm's programs got %q", want), 30*time.Second, func() bool { return slices.Equal(d.slurm.Powered(t), want) })
	}
	asked("Resume c[1-3]")
	t.Logf("nodes were asked for %s before the boundary", time.Until(boundary).Round(time.Second))
	if !time.Now().Before(boundary) {
		t.Error("nodes were asked for after the boundary")
	}
	for _, node := range []string{"c1", "c2", "c3"} {
		d.slurm.Boot(t, node)
	}
	idle := func() bool {
		return strings.Count(d.slurm.Run(t, "scontrol", "-o", "show", "nodes"), "State=IDLE+CLOUD ") == 3
	}
	waits(t, "the nodes are there", time.Until(boundary)+10*time.Second, idle)
	waits(t, "the boundary has passed", time.Minute, func() bool { return time.Now().After(boundary.Add(5 * time.Second)) })
	if !idle() || len(d.slurm.Powered(t)) != 1 {
		t.Errorf("after the boundary Slurm's programs got %q", d.slurm.Powered(t))
	}
	d.changeAll(t, 1, 1, `{"vm_type":"m","price":"0.3","from":"2020-01-01T00:00:00Z"}`)
	asked("Resume c[1-3]", "Suspend c[2-3]")
}

// drive starts a driver.
func (d *follower) drive(t *testing.T, flags ...string) {
	t.Helper()
	d.driver = exec.Command("headroom", slices.Concat([]string{"drive"}, d.arguments, []string{"--every", driverPause.String()}, flags)...)
	d.driver.Env = append(os.Environ(), "HEADROOM_URL=http://"+d.address, "HEADROOM_API_KEY="+d.key)
	d.driver.Stdout, d.driver.Stderr = d.said, d.said
	if err := d.driver.Start(); err != nil {
		t.Fatal(err)
	}
}

// endDriver kills the driver.
func (d *follower) endDriver(t *testing.T) {
	t.Helper()
	_ = d.driver.Process.Kill()
	_ = d.driver.Wait()
	if t.Failed() {
		t.Logf("the driver said\n%s", d.said)
	}
}

// change gives the cluster another quota, waits for its plan, and keeps the plan's places.
func (d *follower) change(t *testing.T, quota int) {
	t.Helper()
	d.changeAll(t, quota, min(quota, 40), `{"vm_type":"m","price":"0.3","from":"2020-01-01T00:00:00Z"}`)
}

// changeAll gives the cluster other prices as well, and waits for the plan of so many VMs.
func (d *follower) changeAll(t *testing.T, quota, vms int, prices string) {
	t.Helper()
	var classes []string
	for i, name := range drivenClasses {
		classes = append(classes, fmt.Sprintf(`{"name":%q,"vms_per_job":1,"jobs":{"min":0,"max":%d},"penalty":"%d"}`, name, 2+3*i, 9-i))
	}
	file := filepath.Join(t.TempDir(), "shop.json")
	text := fmt.Sprintf(`{"cluster":{"name":"shop","currency":"USD"},"vm_types":[{"name":"m","in_use":true,"quota":%d}],
		"prices":[%s],"classes":[%s]}`, quota, prices, strings.Join(classes, ","))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d.verb(t, "apply", "-f", file, "--yes")
	var now plans.Scaling
	waits(t, "the plan is current", 30*time.Second, func() bool {
		status, answer, err := d.server.ask(t.Context(), d.server.key(t), "/v1/clusters/shop/plans/current/scaling", "")
		return err == nil && status == 200 && json.Unmarshal([]byte(answer), &now) == nil && now.VMs.Total == int64(vms)
	})
	places := map[string]int64{}
	for _, class := range now.Items {
		places[class.Class] = int64(class.Admitted)
	}
	d.plans = append(d.plans, inForce{time.Now(), places})
}

// has waits until Slurm has the current plan's places, and says how long that took after the plan.
func (d *driven) has(t *testing.T, patience time.Duration) time.Duration {
	t.Helper()
	want := d.plans[len(d.plans)-1]
	waits(t, "Slurm has the plan's places", patience, func() bool {
		licences := d.slurm.Run(t, "scontrol", "-o", "show", "licenses")
		for class, n := range want.places {
			if !strings.Contains(licences, fmt.Sprintf("LicenseName=%s Total=200 ", class)) || !strings.Contains(after(licences, "LicenseName="+class+" "), fmt.Sprintf(" Reserved=%d ", 200-n)) {
				return false
			}
		}
		return true
	})
	return time.Since(want.from).Round(10 * time.Millisecond)
}

// follows waits until Slurm has the current plan's places, and for a while after it, in which jobs start by this plan.
func (d *driven) follows(t *testing.T) {
	t.Helper()
	began := time.Now() // the plan is current, or slurmctld answers again
	d.has(t, 15*time.Second)
	d.had = append(d.had, time.Since(began).Round(10*time.Millisecond))
	for end := time.Now().Add(8 * time.Second); time.Now().Before(end); {
		d.frees(t)
		lasts(time.Second) // jobs take their time
	}
}

// frees notes for how long classes have more licences in use than jobs.
func (d *driven) frees(t *testing.T) {
	t.Helper()
	used, taken := d.slurm.Places(t)
	for class, n := range used {
		since, held := d.held[class]
		if held {
			d.freed = max(d.freed, time.Since(since))
		}
		switch {
		case n <= taken[class]:
			delete(d.held, class)
		case !held:
			d.held[class] = time.Now()
		}
	}
}

// kept waits until Headroom has each job that ended once, as a past execution of its class, with the times that Slurm wrote
// down, although drivers and servers were killed; and what runs was told.
func (d *driven) kept(t *testing.T) {
	t.Helper()
	want := map[string]float64{} // seconds that it ran, by id
	for _, j := range d.slurm.Ended(t) {
		want["slurm test "+j.ID+" "+j.Name] = j.End.Sub(j.Start).Seconds()
	}
	waits(t, "Headroom keeps what ended", 3*time.Minute, func() bool {
		var all struct {
			Items []struct {
				Job, Execution string
				Seconds        float64
			}
		}
		if err := json.Unmarshal([]byte(d.verb(t, "history", "list", "shop", "--limit", "0", "-o", "json")), &all); err != nil {
			t.Fatal(err)
		}
		missing := maps.Clone(want)
		for _, e := range all.Items {
			ran, there := missing[e.Execution+" "+e.Job]
			if !there || e.Seconds < ran {
				t.Fatalf("the execution %s of %s took %g s, and Slurm says %g (%t)", e.Execution, e.Job, e.Seconds, ran, there)
			}
			delete(missing, e.Execution+" "+e.Job)
		}
		return len(missing) == 0
	})
	if said := d.verb(t, "observation", "latest", "shop"); !strings.Contains(said, "4 VMs ran") {
		t.Errorf("what runs is told as %s", said)
	}
}

// after returns the rest of the line that begins with a word.
func after(text, word string) string {
	_, rest, _ := strings.Cut(text, word)
	line, _, _ := strings.Cut(rest, "\n")
	return line
}

// most returns how many jobs of a class the plans around a moment admit. A plan counts until fifteen seconds after its
// end, in which a driver follows one that was killed.
func (d *follower) most(class string, at time.Time) (n int64) {
	const late = 15 * time.Second
	for i, p := range d.plans {
		if p.from.Before(at.Add(time.Second)) && (i+1 == len(d.plans) || at.Add(-late).Before(d.plans[i+1].from)) {
			n = max(n, p.places[class])
		}
	}
	return n
}

// judge checks what Slurm wrote down: all jobs ended well, and when one began its class had a place.
func (d *driven) judge(t *testing.T, jobs int) {
	t.Helper()
	var ended []slurmtest.Ended
	waits(t, fmt.Sprintf("%d jobs have ended", jobs), 30*time.Second, func() bool { // sacct tells of the last a moment later
		ended = d.slurm.Ended(t)
		return len(ended) >= jobs
	})
	if len(ended) != jobs {
		t.Errorf("%d of %d jobs have ended", len(ended), jobs)
	}
	full := 0
	for _, j := range ended {
		if j.State != "COMPLETED" {
			t.Errorf("job %s ended as %s", j.ID, j.State)
		}
		running := int64(0)
		for _, other := range ended {
			if other.Name == j.Name && !other.Start.After(j.Start) && other.End.After(j.Start) {
				running++
			}
		}
		switch n := d.most(j.Name, j.Start); {
		case running > n:
			t.Errorf("when job %s of %s began at %s, %d ran of %d", j.ID, j.Name, j.Start.Format(time.TimeOnly), running, n)
		case running == n:
			full++
		}
	}
	if full < jobs/10 {
		t.Errorf("only %d jobs took their class's last place, which is too few to judge by", full)
	}
}
