package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/test/engines/slurmtest"
)

// A Slurm with Headroom's plug-in, reservations and driver is measured beside one without, in turn on the same machine. A
// job takes at most 200 ms longer, and at 100 submissions a second slurmctld takes at most a tenth longer for one.
func TestSlurmStaysQuick(t *testing.T) {
	tasks, rounds, jobs := 5, 4, 50
	if wholeSamples {
		tasks, rounds, jobs = 40, 30, 200 // Slurm remembers 10,000 jobs at most, for five minutes after their end
	}
	plugin, err := os.ReadFile("../../deploy/slurm/job_submit.lua")
	if err != nil {
		t.Fatal(err)
	}
	alone := slurmtest.Start(t, slurmtest.Setup{Licences: "none:1"})
	text := strings.Replace(string(plugin), "local more_classes = {}", `local more_classes = {"adhoc"}`, 1)
	d := startDriven(t, slurmtest.Setup{Plugin: text})
	both := []*slurmtest.Slurm{alone, d.slurm}
	d.drive(t, "--every", "10s") // as it does by itself
	t.Cleanup(func() { d.endDriver(t) })
	d.change(t, 60)
	d.has(t, 15*time.Second)

	var took [2][]float64
	for range tasks {
		for i, s := range both {
			s.Use(t)
			began := time.Now()
			s.Run(t, "srun", "-p", "etl", "-n", "1", "true")
			took[i] = append(took[i], 1000*time.Since(began).Seconds())
		}
	}
	more := middleOf(took[1]) - middleOf(took[0])
	t.Logf("a job takes %.0f ms in the median alone and %.0f with Headroom, of %d each", middleOf(took[0]), middleOf(took[1]), tasks)
	if more > 200 {
		t.Errorf("a job takes %.0f ms longer with Headroom", more)
	}

	for i, s := range both { // all that is submitted waits
		s.Use(t)
		for n := range 4 {
			args := []string{"sbatch", "-p", "etl", "-w", fmt.Sprint("n", n+1), "--exclusive", "-o", s.Output(), "--wrap", "sleep 3600"}
			if i == 1 {
				args = append([]string{"sbatch", "-L", "adhoc"}, args[1:]...)
			}
			s.Run(t, args...)
		}
		waits(t, "all nodes are taken", 30*time.Second, func() bool { return strings.Count(s.Run(t, "squeue", "-h", "-t", "running"), "\n") == 4 })
	}
	d.change(t, 0)
	d.has(t, 15*time.Second)
	var middle, slow, own [2][]float64
	var ratios, ownRatios []float64
	for round := range rounds {
		for n := range both {
			i := (n + round) % 2 // each begins every other round
			s := both[i]
			s.Use(t)
			ms, mean := s.Load(t, jobs, 100)
			middle[i], slow[i], own[i] = append(middle[i], ms[len(ms)/2]), append(slow[i], ms[len(ms)*99/100]), append(own[i], mean)
			s.Run(t, "scancel", "--name=load")
			waits(t, "none waits", 30*time.Second, func() bool { return s.Run(t, "squeue", "-h", "-n", "load") == "" })
		}
		ratios, ownRatios = append(ratios, middle[1][round]/middle[0][round]), append(ownRatios, own[1][round]/own[0][round])
	}
	t.Logf("of %d rounds of %d submissions, 100 a second, in ms alone and with Headroom:", rounds, jobs)
	t.Logf("the median's median %.2f and %.2f, the 99th per cent's %.2f and %.2f, slurmctld's own mean %.2f and %.2f",
		middleOf(middle[0]), middleOf(middle[1]), middleOf(slow[0]), middleOf(slow[1]), middleOf(own[0]), middleOf(own[1]))
	slices.Sort(ratios)
	slices.Sort(ownRatios)
	t.Logf("round by round the median is %.3f times that of Slurm alone in the median, in half of the rounds %.2f to %.2f times; slurmctld's own %.3f times, %.2f to %.2f",
		middleOf(ratios), ratios[rounds/4], ratios[rounds*3/4], middleOf(ownRatios), ownRatios[rounds/4], ownRatios[rounds*3/4])
	if limit := 1.1; wholeSamples && middleOf(ownRatios) > limit {
		t.Errorf("slurmctld takes %.3f times as long for a submission with Headroom, want at most %g", middleOf(ownRatios), limit)
	}
}

// middleOf returns the middle of figures.
func middleOf(all []float64) float64 {
	all = slices.Sorted(slices.Values(all))
	n := len(all)
	if n == 0 {
		return math.NaN()
	}
	return (all[(n-1)/2] + all[n/2]) / 2
}

// While the driver is away Slurm keeps to the last plan that it had, whatever is planned, submitted or ends. The driver that
// comes back sets the plan's places in one turn, no place is lost, and what ended meanwhile is kept. In the long form it is
// away for ten minutes, and the server for a part of them.
func TestSlurmDriverIsAway(t *testing.T) {
	away, pause := 15*time.Second, time.Second
	if wholeSamples {
		away, pause = 10*time.Minute, 3*time.Second
	}
	d := startDriven(t, slurmtest.Setup{Accounting: wholeSamples})
	d.drive(t)
	d.change(t, 9)
	d.has(t, 15*time.Second)
	before := d.plans[len(d.plans)-1].places
	d.endDriver(t)

	random := rand.New(rand.NewPCG(7, 3))
	submitted, turns, full := 0, int(away/pause), 0
	for n := range turns {
		began := time.Now()
		class := drivenClasses[random.IntN(len(drivenClasses))]
		d.slurm.Run(t, "sbatch", "-J", class, "-L", class, "-o", d.slurm.Output(), "--wrap", fmt.Sprintf("sleep %d", 1+random.IntN(8)))
		submitted++
		used, _ := d.slurm.Places(t)
		for class, places := range before {
			switch {
			case used[class] > places:
				t.Errorf("%s has %d places, and the plan before had %d", class, used[class], places)
			case used[class] == places && places > 0:
				full++
			}
		}
		switch n * 8 / turns { // in eight parts of the time
		case 1, 2, 5, 6:
			if n*8/turns != (n-1)*8/turns {
				d.change(t, random.IntN(12))
			}
		case 3:
			if (n-1)*8/turns == 2 {
				d.server.kill(t)
			}
		case 4:
			if (n-1)*8/turns == 3 {
				d.serve(t)
			}
		}
		sleepUntil(began.Add(pause))
	}
	d.change(t, 30)
	began := time.Now()
	said := d.verb(t, "drive", "slurm", "shop", "--once") // one turn
	took := time.Since(began)
	d.has(t, 0)
	if left := d.verb(t, "drive", "slurm", "shop", "--dry-run"); strings.Contains(left, " places now, ") {
		t.Errorf("after one turn there is left to do\n%s", left)
	}
	t.Logf("after %s away, with %d jobs submitted, one turn of %s set %d limits", away, submitted, took.Round(10*time.Millisecond), strings.Count(said, " before"))
	if full == 0 {
		t.Error("no class ever had all its places taken, so nothing was judged")
	}

	d.drive(t)
	t.Cleanup(func() { d.endDriver(t) })
	waits(t, "all jobs have ended", 5*time.Minute, func() bool { return d.slurm.Run(t, "squeue", "-h") == "" })
	waits(t, "all places are free", 10*time.Second, func() bool {
		used, _ := d.slurm.Places(t)
		for _, n := range used {
			if n > 0 {
				return false
			}
		}
		return len(used) == len(drivenClasses)
	})
	d.has(t, 0)
	var ended []slurmtest.Ended
	waits(t, "all jobs are written down", 30*time.Second, func() bool {
		ended = d.slurm.Ended(t)
		return len(ended) >= submitted
	})
	if len(ended) != submitted || slices.ContainsFunc(ended, func(j slurmtest.Ended) bool { return j.State != "COMPLETED" }) {
		t.Errorf("of %d jobs %d have ended: %v", submitted, len(ended), ended)
	}
	d.kept(t)
}

// Whoever does what the tutorial says sees in Slurm what it says.
func TestSlurmTutorial(t *testing.T) {
	began := time.Now()
	s := slurmtest.Start(t, slurmtest.Setup{Licences: "jobs:1000"})
	text, err := os.ReadFile("../../docs/tutorials/slurm.md")
	if err != nil {
		t.Fatal(err)
	}
	f := follower{homed: startHomed(t), said: &lockedBuffer{}}
	f.key = f.agentKey(t, "--cluster", "shop")
	changes := ""
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(strings.TrimPrefix(strings.TrimPrefix(line, "$ "), "bin/"))
		switch line = strings.Join(words, " "); {
		case strings.HasPrefix(line, "headroom init "):
			f.verb(t, words[1:]...)
		case strings.HasPrefix(line, "headroom class forecast "):
			changes = line
		case strings.HasPrefix(line, "headroom drive ") && strings.HasSuffix(line, "--dry-run"):
			if said := f.verb(t, words[1:]...); !strings.Contains(string(text), said) {
				t.Errorf("a dry run says %q, and the tutorial does not", said)
			}
		case strings.HasPrefix(line, "headroom drive "):
			f.arguments = words[2:]
			f.drive(t)
			t.Cleanup(func() { f.endDriver(t) })
		}
	}
	if f.driver == nil {
		t.Fatal("the tutorial starts no driver")
	}
	waits(t, "all licences but four are held back", 30*time.Second, func() bool {
		return strings.Contains(s.Run(t, "scontrol", "-o", "show", "licenses"), " Reserved=996 ")
	})
	for range 10 {
		s.Run(t, "sbatch", "-L", "jobs:1", "-o", s.Output(), "--wrap", "sleep 600")
	}
	waiting := regexp.MustCompile(`PENDING Licenses Headroom: 4 of 4 places of jobs are taken, as many as plan \d has\.\n`) // a plan may follow the first at once
	said := ""
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("squeue says\n%s", said)
		}
	})
	waits(t, "four run and six wait with the sentence of the tutorial", time.Minute, func() bool {
		said = s.Run(t, "squeue", "-h", "-o", "%i %T %r %k")
		return strings.Count(said, " RUNNING ") == 4 && len(waiting.FindAllString(said, -1)) == 6
	})
	t.Logf("it took %s, with the start of a Slurm and a server", time.Since(began).Round(time.Second))

	c := exec.Command("sh", "-c", changes)
	c.Env = append(os.Environ(), "HEADROOM_DATA_DIR="+f.dir)
	if out, err := c.CombinedOutput(); err != nil || changes == "" {
		t.Fatalf("%s: %v\n%s", changes, err, out)
	}
	waits(t, "Slurm follows the other forecast", 30*time.Second, func() bool {
		return strings.Contains(s.Run(t, "scontrol", "-o", "show", "licenses"), " Reserved=998 ")
	})
	waits(t, "the driver says what runs beyond the plan", 5*time.Second, func() bool {
		return strings.Contains(f.said.String(), "jobs: 2 places, 4 places before; 4 are taken, and none starts until 3 are free\n")
	})
}
