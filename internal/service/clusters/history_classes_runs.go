package clusters

import (
	"context"
	"errors"
	"math"
	"regexp"
	"slices"
	"sync"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/data/storage"
)

// pastRuns is what a class needs to know of a job's runs.
type pastRuns struct {
	took    []float64 // seconds of those that give profiles, sorted
	arrived []int64   // moments of all that are dated, in milliseconds since 1970
}

// named finds the cluster in the id of a run: Slurm's name of it, or the moment at which a resource manager of Hadoop began.
var named = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:slurm (\S+) \S+$|(?:job|application)_(\d+)_)`) })

// runs reads the runs of a job, and tells those that are of no use.
func (m *classMaker) runs(ctx context.Context, job string) (runs pastRuns, err error) {
	for page := (storage.Page{Limit: listPage}); ; {
		some, err := m.desk.executions.Executions(ctx, m.of.Name, ExecutionFilter{Job: job}, page)
		if err != nil {
			return runs, err
		}
		for _, r := range some.Items {
			if r.Refused != "" {
				m.made.LeftOut.add(history.Refusal{Where: r.Execution, Detail: r.Refused})
			} else if seconds, known := lasted(r); known {
				runs.took = append(runs.took, seconds)
			}
			if r.SubmittedAt != nil {
				runs.arrived = append(runs.arrived, r.SubmittedAt.UnixMilli())
			}
			if found := named().FindStringSubmatch(r.Execution); found != nil {
				m.origins[found[1]+found[2]] = true
			}
		}
		if page.After = some.Next; page.After == "" {
			slices.Sort(runs.took)
			return runs, nil
		}
	}
}

// tellRuns tells why the runs of a job are of no use.
func (m *classMaker) tellRuns(ctx context.Context, job string) error {
	_, err := m.runs(ctx, job)
	return err
}

// lasted returns how long a run took: from its submission, or where only its tasks are dated from the start of the first.
func lasted(r history.StoredExecution) (seconds float64, known bool) {
	switch {
	case r.Seconds != nil:
		return *r.Seconds, true
	case r.SubmittedAt != nil && r.FinishedAt != nil:
		return r.FinishedAt.Sub(*r.SubmittedAt).Seconds(), true
	}
	return 0, false
}

// atOnce returns how many runs there are at once where each counts until its deadline, as plans count them, at least one.
// Arrivals of an hour are spread over it, which may be more at once than there were.
func (r pastRuns) atOnce(deadline float64) (most int64, err error) {
	spans := make([]history.Span, len(r.arrived))
	hours := map[int64]float64{}
	for i, from := range r.arrived {
		spans[i] = history.Span{From: from, Until: from + int64(1000*deadline)}
		hours[from/(3600*1000)]++
	}
	counted, err := history.Concurrency(spans)
	if refusal := (history.Refusal{}); errors.As(err, &refusal) {
		return 0, fault.At("/job", "too_long", refusal.Detail)
	}
	most = 1
	for _, h := range counted {
		most = max(most, h.Most)
	}
	for _, n := range hours {
		most = max(most, int64(math.Ceil(n*math.Min(1, deadline/3600))))
	}
	return most, err
}

// deadlineOf returns the least whole number of seconds within which the share of runs ended; 0 without runs.
func deadlineOf(took []float64) float64 {
	if len(took) == 0 {
		return 0
	}
	return math.Max(1, math.Ceil(took[int(math.Ceil(keptShare*float64(len(took))))-1]))
}

func within(took []float64, deadline float64) (n int) {
	for _, s := range took {
		if s <= deadline {
			n++
		}
	}
	return n
}
