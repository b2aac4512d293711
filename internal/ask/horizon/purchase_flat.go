package horizon

import (
	"math"
	"math/bits"
	"slices"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
)

// flat is the average demand of each class from one moment until another, of those that arrive as of those told as jobs at
// once. Of whole jobs one more runs in the first part of each month, long enough for the job-hours of the average. Where
// that would make a horizon too large, jobs are rounded up.
func (h *Horizon) flat(p HorizonPeriod, from, until time.Time) (periods []HorizonPeriod) {
	from, until = from.UTC(), until.UTC()
	n, all := len(h.Problem.Classes), h.End().Unix()-h.Start().Unix()
	if h.Problem.Options.Integrality == capacity.Relaxed {
		p.Jobs = make([]float64, n)
		for i := range h.Periods {
			for k := range n {
				p.Jobs[k] += h.told(i, k) * float64(h.Periods[i].Length()) / float64(all)
			}
		}
		return []HorizonPeriod{p.part(from, until)}
	}
	jobs, rest := make([]float64, n), make([]int64, n) // the rest in job-seconds of the forecast
	for i := range h.Periods {
		for k := range n {
			rest[k] += int64(capacity.WholeJobs(h.told(i, k))) * h.Periods[i].Length()
		}
	}
	parted, flows := h.keepsJobHours(from, until), make([]flow, n)
	for k := range n {
		if len(p.Arrivals) > 0 && p.Arrivals[k] > 0 {
			flows[k] = h.flowOf(k, p.Arrivals[k]/float64(p.Length()))
		}
	}
	for k := range n {
		jobs[k], rest[k] = float64(rest[k]/all), rest[k]%all
		if rest[k] > 0 && !parted {
			jobs[k], rest[k] = jobs[k]+1, 0
		}
	}
	for from.Before(until) {
		month := until
		if parted {
			month = minTime(until, time.Date(from.Year(), from.Month()+1, 1, 0, 0, 0, 0, time.UTC))
		}
		more, cuts := make([]int64, n), []int64{0, month.Unix() - from.Unix()} // in seconds from the start
		for k := range n {
			high, low := bits.Mul64(uint64(rest[k]), uint64(cuts[1]))
			whole, part := bits.Div64(high, low, uint64(all))
			more[k] = int64(whole + min(part, 1))
			if parted {
				flows[k].until = flows[k].more(cuts[1])
				cuts = append(cuts, flows[k].until)
			}
		}
		cuts = append(cuts, more...)
		slices.Sort(cuts)
		cuts = slices.Compact(cuts)
		for i, cut := range cuts[1:] {
			p.Jobs = slices.Clone(jobs)
			for k := range n {
				if more[k] >= cut {
					p.Jobs[k]++
				}
			}
			piece := p.part(from.Add(time.Duration(cuts[i])*time.Second), from.Add(time.Duration(cut)*time.Second))
			for k := range piece.Arrivals {
				if parted {
					piece.Arrivals[k] = flows[k].arrivals(cuts[i], cut, month.Unix()-from.Unix())
				}
			}
			periods = append(periods, piece)
		}
		from = month
	}
	return periods
}

// flow has the arrivals of a class after a forecast. Some keep whole jobs running all the time. The rest comes in the first
// part of a month, and keeps one more running then.
type flow struct {
	always, rest float64 // a second, on average
	share        float64 // of a month in which the rest comes
	until        int64   // seconds from the start of a month
}

// flowOf parts the arrivals of a class, which are so many a second.
func (h *Horizon) flowOf(class int, rate float64) flow {
	of := &h.Problem.Classes[class]
	if h.parts != nil {
		of = &h.asked[class]
	}
	atOnce := rate * perf.HeldSeconds(*of, h.Problem.Supply, h.Problem.Options)
	whole := math.Floor(atOnce + wholeNoise)
	if atOnce <= 0 || atOnce-whole <= wholeNoise {
		return flow{always: rate}
	}
	return flow{always: rate * whole / atOnce, rest: rate * (atOnce - whole) / atOnce, share: atOnce - whole}
}

// wholeNoise bounds the rounding errors of jobs at once and of hours.
const wholeNoise = 1e-9

// more returns the end of the whole hours at the start of a month of so many seconds in which the rest arrives.
func (f *flow) more(month int64) int64 {
	return min(month, 3600*int64(math.Ceil(f.share*float64(month)/3600-wholeNoise)))
}

// arrivals returns how many jobs arrive from one second of a month until another.
func (f *flow) arrivals(from, until, month int64) float64 {
	n := f.always * float64(until-from)
	if f.rest > 0 && until <= f.until {
		n += f.rest * float64(month) * float64(until-from) / float64(f.until)
	}
	return n
}

// keepsJobHours says whether months from one moment until another may be parted for each class.
func (h *Horizon) keepsJobHours(from, until time.Time) bool {
	months, n := 12*(until.Year()-from.Year())+int(until.Month()-from.Month())+1, len(h.Problem.Classes)
	return h.Problem.Options.Integrality != capacity.Relaxed && months*(n+1)*n <= MaxHorizonLoad/10
}
