package horizon_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/slots/sim"
)

const perVM = 4 // slots

// pastJobs is a history of one job: when it arrived, in seconds, and how it ran.
type pastJobs struct {
	arrived []float64
	seconds float64 // for which each ran on the old cluster
	profile capacity.Profile
	due     float64 // seconds
	hours   int
}

// drawHistory draws jobs of 10 s to 20 h on 1 to 200 slots that came over a day or two.
func drawHistory(r *rand.Rand) pastJobs {
	slots := int64(math.Round(math.Exp(r.Float64() * math.Log(200))))
	p := pastJobs{seconds: math.Exp(math.Log(10) + r.Float64()*math.Log(7200)), hours: 24 * (1 + r.IntN(2))}
	waves := int64(8 + r.IntN(13))
	task := p.seconds / float64(waves)
	p.profile = capacity.Profile{MapTasks: slots * waves, MapAvgSeconds: task * (0.7 + 0.3*r.Float64()), MapMaxSeconds: task}
	p.due = p.seconds * (1 + 2*r.Float64())
	// So many at once that a thousand slots or so do.
	atOnce := 0.1 + r.Float64()*min(30, 1000/float64(slots))
	perHour := min(atOnce*3600/p.seconds, 60)
	for h := range p.hours {
		busy := 1.0
		if r.IntN(3) == 0 {
			busy = 2 * r.Float64()
		}
		for n := 0; float64(n) < perHour*busy || r.Float64() < perHour*busy-float64(n); n++ {
			p.arrived = append(p.arrived, float64(h*3600)+3600*r.Float64())
		}
	}
	if len(p.arrived) == 0 {
		p.arrived = []float64{3600 * float64(p.hours) * r.Float64()}
	}
	slices.Sort(p.arrived)
	return p
}

var historyStart = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// forecast is the horizon of the history as imports make it: the arrivals of each hour. It ends when all jobs have.
func (p pastJobs) forecast(t *testing.T) horizon.Horizon {
	t.Helper()
	var spans []history.Span
	for _, at := range p.arrived {
		from := historyStart.UnixMilli() + int64(1000*at)
		spans = append(spans, history.Span{From: from, Until: from + int64(1000*p.seconds)})
	}
	counted, err := history.Concurrency(spans)
	if err != nil {
		t.Fatal(err)
	}
	h := horizon.Horizon{Problem: capacity.Problem{Currency: "USD", PeriodSeconds: 3600, Options: capacity.DefaultOptions()}}
	h.Problem.Options.Engine = capacity.EngineExact
	h.Problem.Supply.OnDemand.Price, _ = money.Parse("0.192")
	penalty, _ := money.Parse("1000000")
	h.Problem.Classes = []capacity.Class{{Name: "job", Profile: &p.profile, DeadlineSeconds: p.due, SlotsPerVM: capacity.SlotsPerVM{Map: perVM, Reduce: perVM},
		Jobs: capacity.JobRange{Max: 1}, Penalty: penalty}}
	first := historyStart.Unix() / 3600
	for hour := range p.hours + 1 + int(math.Ceil(p.due/3600)) {
		x := 0.0
		for _, c := range counted {
			if int64(c.Hour) == first+int64(hour) {
				x = float64(c.Arrived)
			}
		}
		h.Periods = append(h.Periods, horizon.HorizonPeriod{Start: historyStart.Add(time.Duration(hour) * time.Hour), Hours: 1, Arrivals: []float64{x}})
	}
	return h
}

// vms returns the planned VMs of every hour.
func vms(a *horizon.Answer) (hours []int) {
	for _, p := range a.Periods {
		for range int(math.Round(p.Hours)) {
			hours = append(hours, int(math.Round(p.VMs.Total)))
		}
	}
	return hours
}

// replay lets the jobs run on the planned VMs, in the order of their deadlines, and returns the part of deadlines met. Slots of
// VMs that are not rented in an hour are kept busy by work of the highest priority: what runs on them ends first.
func (p pastJobs) replay(t *testing.T, arrived []float64, hours []int) float64 {
	t.Helper()
	most := slices.Max(hours)
	in := sim.Input{Slots: sim.Slots{Map: int64(most * perVM)}, Policy: sim.Policy{PolicyConfig: dispatch.PolicyConfig{Kind: dispatch.PolicyEDF}}, Seed: 1}
	away := map[int][]float64{} // by hours: when VMs are given back for so long
	for level := range most {
		for h := 0; h < len(hours); h++ {
			if hours[h] > level {
				continue
			}
			from := h
			for h < len(hours) && hours[h] <= level {
				h++
			}
			if h == len(hours) {
				h += 100 // jobs that are late by then have no VM
			}
			away[h-from] = append(away[h-from], float64(from*3600))
		}
	}
	in.Classes = []sim.Class{{Name: "job", Profile: p.profile, DeadlineSeconds: p.due, Load: sim.Load{Kind: sim.Trace, AtSeconds: arrived}, Tasks: sim.Tasks{Kind: sim.Uniform}}}
	for length, at := range away {
		slices.Sort(at)
		seconds := float64(length * 3600)
		in.Classes = append(in.Classes, sim.Class{Name: fmt.Sprint("away ", length), DeadlineSeconds: 1e-6, Load: sim.Load{Kind: sim.Trace, AtSeconds: at},
			Profile: capacity.Profile{MapTasks: perVM, MapAvgSeconds: seconds, MapMaxSeconds: seconds}, Tasks: sim.Tasks{Kind: sim.Constant}})
	}
	slices.SortFunc(in.Classes[1:], func(a, b sim.Class) int { return len(a.Name)*1000 - len(b.Name)*1000 + compare(a.Name, b.Name) })
	if err := sim.Validate(in); err != nil {
		t.Fatal(err)
	}
	s, err := sim.New(in)
	if err != nil {
		t.Fatal(err)
	}
	met := 0
	s.Finished = func(_ int, x sim.Execution) {
		if x.Class == 0 && x.FinishedSeconds <= x.SubmittedSeconds+p.due*(1+1e-9) {
			met++
		}
	}
	if err := s.Work(t.Context()); err != nil {
		t.Fatal(err)
	}
	return float64(met) / float64(len(arrived))
}

func compare(a, b string) int {
	if a < b {
		return -1
	}
	return 1
}

// even spreads the arrivals of each hour evenly over it, as the forecast counts them.
func (p pastJobs) even() (at []float64) {
	for from := 0; from < len(p.arrived); {
		hour, until := math.Floor(p.arrived[from]/3600), from
		for until < len(p.arrived) && math.Floor(p.arrived[until]/3600) == hour {
			until++
		}
		for i := range until - from {
			at = append(at, 3600*(hour+(float64(i)+0.5)/float64(until-from)))
		}
		from = until
	}
	return at
}

// The VMs of a history are at least its work. They are at most a twentieth more than its deadlines take, K·p/(p − C), and
// in each hour the rounding up to whole VMs and slots. On these VMs its jobs meet their deadlines.
func TestHistoriesKeepTheirWork(t *testing.T) {
	cases := 6
	if os.Getenv("HEADROOM_LONG") != "" {
		cases = 200
	}
	jobs, met, metAsWas, clumped := 0, 0.0, 0.0, 0
	for i := range cases {
		p := drawHistory(rand.New(rand.NewPCG(27, uint64(i))))
		h := p.forecast(t)
		if err := h.Validate(); err != nil {
			t.Fatalf("history %d: %v", i, err)
		}
		a, err := horizon.Plan(t.Context(), h, nil, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a.Status == capacity.InfeasibleStatus || a.Total.RefusedHours != 0 {
			t.Fatalf("history %d: %s, %v job-hours are refused; %v", i, a.Status, a.Total.RefusedHours, a.Infeasible)
		}
		n, d := float64(len(p.arrived)), perf.Demands(p.profile).Average
		work := n * float64(p.profile.MapTasks) * p.profile.MapAvgSeconds / perVM / 3600 // VM-hours of the tasks themselves
		k := d.MapWorkSeconds / perVM                                                    // what the plan's bound calls work
		rounding, perJob := 0.0, k/(p.due-d.FixedSeconds)
		flow := perf.NewArrivals(spansOf(&h))
		for _, x := range h.Periods {
			if running := flow.Running(p.due, x.Start.Unix(), x.Start.Unix()+3600); running > 0 {
				rounding += 1 + 1.0/perVM + perJob*max(0, 1-running) // no job runs on less than its own slots
			}
		}
		most := 1.05*n*k*p.due/(p.due-d.FixedSeconds)/3600 + rounding
		if a.Total.VMHours < work || a.Total.VMHours > most {
			t.Errorf("history %d: %v VM-hours, want %v to %v", i, a.Total.VMHours, work, most)
		}
		if of := a.Classes[0].Arrivals; math.Abs(of.Jobs-n) > 1e-6 || of.LaterHours > 1e-6 || math.Abs(of.WorkVMHours-work) > 1e-6*work {
			t.Errorf("history %d: got %+v, want %v jobs of %v VM-hours", i, *of, n, work)
		}
		hours := vms(&a)
		share, asWas := p.replay(t, p.even(), hours), p.replay(t, p.arrived, hours)
		if share < 0.95 {
			t.Errorf("history %d: %.3f of deadlines are met (%.3f as it was); %.0f s due %.0f s, %d jobs of %d tasks, %.2f VMs a job, %.1f VM-hours of work, %.1f planned", i, share, asWas, p.seconds, p.due, len(p.arrived), p.profile.MapTasks, perJob, work, a.Total.VMHours)
		}
		if asWas < 0.95 {
			clumped++
		}
		jobs, met, metAsWas = jobs+1, met+share, metAsWas+asWas
	}
	t.Logf("%d histories: %.4f of deadlines met where jobs arrive evenly, %.4f as they arrived (%d histories below 0.95)", jobs, met/float64(jobs), metAsWas/float64(jobs), clumped)
}

func spansOf(h *horizon.Horizon) (spans []perf.Arriving) {
	for _, p := range h.Periods {
		spans = append(spans, perf.Arriving{From: p.Start.Unix(), Until: p.End().Unix(), Jobs: p.Arrivals[0]})
	}
	return spans
}
