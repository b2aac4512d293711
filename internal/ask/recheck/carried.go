package recheck

import (
	"math"
	"math/big"
	"slices"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof"
)

// carrying turns arrivals into jobs that run at once. The jobs of each class are planned in so many parts, and hours are cut
// where contracts or offers begin or end.
type carrying struct {
	parts   []int64
	edges   []int64   // in order
	lasting []float64 // a job counts until its deadline: by class, so much longer than it holds VMs
}

// newCarrying is nil where nothing arrives.
func newCarrying(h *horizon.Horizon, offers []capacity.Offer) *carrying {
	if !carriedOver(h) {
		return nil
	}
	x := &carrying{}
	for i := range h.Problem.Classes {
		n, lasting := int64(1), 1.0
		if len(arrivedIn(h, i)) > 0 {
			n = proof.Parts(&h.Problem, i)
			if held := proof.HeldSeconds(&h.Problem, i); held > 0 {
				lasting = h.Problem.Classes[i].DeadlineSeconds / held
			}
		}
		x.parts, x.lasting = append(x.parts, n), append(x.lasting, lasting)
	}
	for _, c := range h.Contracts {
		x.edges = append(x.edges, c.From.Unix(), c.Until.Unix())
	}
	for i := range offers {
		from, until := termOf(&offers[i], h.Periods[0].Start)
		x.edges = append(x.edges, from.Unix(), until.Unix())
	}
	slices.Sort(x.edges)
	return x
}

// inJobs is a horizon with the jobs at once that follow from its arrivals, times a factor, hour by hour. What does not arrive
// stays as it is.
func (x *carrying) inJobs(h horizon.Horizon, factor float64) horizon.Horizon {
	if x == nil {
		return h
	}
	asked, of := h.Problem, h.Problem.Classes
	edges := slices.Concat(x.edges, idleFrom(&h))
	slices.Sort(edges)
	var pieces []horizon.HorizonPeriod
	var in []int // the period of each piece
	var times [][2]int64
	for i := range h.Periods {
		p := &h.Periods[i]
		from, until := p.Start.Unix(), p.Start.Unix()+lengthOf(p)
		for from < until {
			to := min(until, from-from%3600+3600)
			if n, _ := slices.BinarySearch(edges, from+1); n < len(edges) {
				to = min(to, edges[n])
			}
			piece := *p
			piece.Start, piece.Hours, piece.Seconds = time.Unix(from, 0).UTC(), 0, to-from
			piece.Jobs, piece.Running, piece.Arrivals = make([]float64, len(of)), make([]float64, len(of)), nil
			pieces, in, times = append(pieces, piece), append(in, i), append(times, [2]int64{from, to})
			from = to
		}
	}
	for n := range of {
		arrived := arrivedIn(&h, n)
		most := 0.0
		running := proof.AtOnce(&asked, n, arrived, times)
		for _, jobs := range running {
			most = max(most, jobs)
		}
		for i := range pieces {
			jobs, p := running[i], &h.Periods[in[i]]
			if p.Jobs != nil {
				jobs = max(jobs, p.Jobs[n])
			} else if p.Arrivals == nil {
				jobs = max(jobs, of[n].Jobs.Max)
			}
			pieces[i].Jobs[n], pieces[i].Running[n] = x.roundedUp(&asked, n, jobs*factor, sweepNoise*most*factor), jobs*factor*x.lasting[n]
			if i > 0 && math.Abs(pieces[i].Running[n]-pieces[i-1].Running[n]) <= sweepNoise*most*factor*x.lasting[n] {
				pieces[i].Jobs[n], pieces[i].Running[n] = pieces[i-1].Jobs[n], pieces[i-1].Running[n] // as many go on
			}
		}
	}
	h.Problem.Classes = slices.Clone(of)
	for n := range of {
		h.Problem.Classes[n] = proof.InParts(of[n], x.parts[n], asked.Options)
		h.Problem.Classes[n].Penalty = of[n].Penalty
	}
	h.Periods, h.Earlier = pieces, nil
	return h
}

// mostIdle is how many moments of an hour count at which the work of a class ends; of more the last counts alone.
const mostIdle = 4

// idleFrom lists when the work of a class ends that has arrived, before more arrives.
func idleFrom(h *horizon.Horizon) (moments []int64) {
	byHour := map[int64][]int64{}
	for n := range h.Problem.Classes {
		arrived, held := arrivedIn(h, n), int64(math.Ceil(proof.HeldSeconds(&h.Problem, n)-1e-6))
		for i := range arrived {
			end := arrived[i].Until + held
			if more := i+1 < len(arrived) && arrived[i+1].From <= end; !more && !slices.Contains(byHour[end/3600], end) {
				byHour[end/3600] = append(byHour[end/3600], end)
			}
		}
	}
	for _, of := range byHour {
		if len(of) > mostIdle {
			of = []int64{slices.Max(of)}
		}
		moments = append(moments, of...)
	}
	return moments
}

// edges lists when contracts begin or end and the work of classes ends, in order.
func (k *calendar) edges() []int64 {
	edges := idleFrom(k.h)
	for _, c := range k.contracts[k.own:] {
		edges = append(edges, c.from.Unix(), c.until.Unix())
	}
	slices.Sort(edges)
	return edges
}

// steadyAround is the time around a moment for which the jobs at once are counted: of an hour what lies in the period, between the
// edges before and after the moment.
func steadyAround(p *horizon.HorizonPeriod, at int64, edges []int64) [2]int64 {
	hour := at - at%3600
	from, until := max(p.Start.Unix(), hour), min(p.Start.Unix()+lengthOf(p), hour+3600)
	n, _ := slices.BinarySearch(edges, at+1)
	if n > 0 {
		from = max(from, edges[n-1])
	}
	if n < len(edges) {
		until = min(until, edges[n])
	}
	return [2]int64{from, until}
}

// filled returns the jobs that each job of a period stands for on average, since those of arrivals are rounded up.
func (k *calendar) filled(period, class int) *big.Rat {
	p := &k.h.Periods[period]
	if p.Running == nil || p.Jobs[class] == 0 {
		return whole(1)
	}
	return quo(number(p.Running[class]), number(p.Jobs[class]))
}

// planned returns the number of jobs with VMs, where an answer serves some of all. It counts each until its deadline.
func (x *carrying) planned(p *capacity.Problem, class int, all, some float64) float64 {
	if all <= 0 {
		return some
	}
	return some / all * x.roundedUp(p, class, all/x.lasting[class], 0) / float64(x.parts[class])
}

// sweepNoise is what adding up may be off, relative to the most jobs at once.
const sweepNoise = 1e-10

// roundedUp is a number of jobs in parts, rounded up, with one whole job at least where there are any.
func (x *carrying) roundedUp(p *capacity.Problem, class int, jobs, noise float64) float64 {
	up := func(jobs float64) float64 { return math.Ceil(jobs - noise - 1e-9) }
	if jobs <= noise {
		return 0
	}
	if p.Options.Integrality == capacity.Relaxed {
		return jobs
	}
	if p.Classes[class].DeadlineSeconds > 0 {
		jobs = max(jobs, min(1, up(jobs)))
	}
	return max(0, up(jobs*float64(x.parts[class])))
}
