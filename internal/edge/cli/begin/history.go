package begin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	past "example.org/headroom/internal/data/history"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/cli/history"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/openapi"
)

// share of a job's runs that its deadline covers.
const share = 0.95

// fromHistory makes a class of each job that has runs to plan by.
func (b *beginning) fromHistory(c *cobra.Command) error {
	ctx := c.Context()
	made, err := history.Import(c, b.s, b.cluster, b.history, b.zoned)
	if err != nil {
		return err
	}
	for _, refused := range [][]past.Refusal{made.Refused.First, made.Unusable.First} {
		for _, r := range refused {
			b.left = append(b.left, r.Where+": "+r.Detail)
		}
	}
	if n := made.Refused.Count + made.Unusable.Count; n > mostLeft {
		b.left = append(b.left[:mostLeft-1], fmt.Sprintf("%d more; headroom history list %s tells them", n-mostLeft+1, b.cluster))
	}
	jobs, err := all[past.RecordedJob](ctx, b.s, openapi.ListRecordedJobs(b.cluster))
	if err != nil {
		return err
	}
	record := recordOf(jobs)
	for _, job := range jobs {
		if job.Usable > 0 {
			if err := b.addJob(ctx, job, record); err != nil {
				return err
			}
		}
	}
	if len(b.classes) == 0 {
		why := "there is no past run in " + shell.Listed(b.history) + "."
		if made.Executions > 0 {
			why = "no past run there tells how long its tasks take."
		}
		if len(b.left) > 0 {
			why += " " + b.left[0]
		}
		price := "--price " + b.price
		if b.sheet != "" {
			price = "--prices " + shell.QuotedText(b.sheet)
		}
		return fmt.Errorf("%s Name files or directories with runs that succeeded, or guess: "+
			"headroom init %s --takes 45m --on 10 --a-day 20 --instance %s %s", why, b.cluster, b.instance, price)
	}
	if len(b.origins) > 1 {
		b.assume("--from-history", "the runs are of one cluster, though their records name %d: %s", len(b.origins),
			shell.Listed(slices.Sorted(maps.Keys(b.origins))))
	}
	b.assume("--instance", "tasks take as long on %s as on the machines of these runs", b.instance)
	return nil
}

// named finds the cluster in the id of a run: Slurm's name of it, or the moment at which a resource manager of Hadoop began.
var named = regexp.MustCompile(`^(?:slurm (\S+) \S+$|(?:job|application)_(\d+)_)`)

// note keeps the clusters that runs name.
func (b *beginning) note(runs []past.StoredExecution) {
	for _, r := range runs {
		if m := named.FindStringSubmatch(r.Execution); m != nil {
			b.origins[m[1]+m[2]] = true
		}
	}
}

// So many lines tell what was left out.
const mostLeft = 5

// all returns all items of a list.
func all[T any](ctx context.Context, s *remote.Service, list openapi.List) ([]T, error) {
	items, err := s.Items(ctx, 0, list)
	if err != nil {
		return nil, err
	}
	values := make([]T, len(items))
	for i, item := range items {
		if err := json.Unmarshal(item, &values[i]); err != nil {
			return nil, fmt.Errorf("the server's answer is not what it should be: %w", err)
		}
	}
	return values, nil
}

// addJob makes a class of a job, with its profile, deadline and forecast.
func (b *beginning) addJob(ctx context.Context, job past.RecordedJob, record span) error {
	runs, err := all[past.StoredExecution](ctx, b.s, openapi.ListExecutions(b.cluster, &openapi.ListExecutionsQuery{Job: job.Job}))
	if err != nil {
		return err
	}
	b.note(runs)
	a, err := b.send(ctx, openapi.ProfileFromHistory(b.cluster), clusters.ProfileFromHistory{Job: job.Job})
	if err != nil {
		return fmt.Errorf("the runs of %q make no profile: %w", job.Job, err)
	}
	var profile clusters.ProfileMade
	if err := a.Into(&profile); err != nil {
		return err
	}
	took, name := measured(runs), profile.Profile.Name
	deadline := deadlineOf(took)
	if deadline == 0 {
		b.left = append(b.left, fmt.Sprintf("%s: its runs do not say how long they took; a table says it with the columns start and finish.", job.Job))
		return nil
	}
	deadline, calibrated, err := b.addCalibrated(ctx, b.class(name, profile.Profile.Version, deadline, 1), deadline, runs)
	if err != nil {
		return err
	}
	arrivals, err := b.forecast(ctx, name, job, record, runs)
	if err != nil {
		return err
	}
	half := took[len(took)/2]
	if job.Seconds != nil {
		half = *job.Seconds // the median that history read tells
	}
	about := fmt.Sprintf("%s, %s in the median; %s", shell.Counted(job.Executions, "run"), seconds(math.Round(half)), arrivals)
	if job.Executions == 1 {
		about = fmt.Sprintf("1 run of %s; %s", seconds(math.Round(half)), arrivals)
	}
	b.classes = append(b.classes, made{name, about})
	b.assume(fmt.Sprintf("headroom class edit %s %s --deadline-s", b.cluster, shell.QuotedText(name)),
		"%s is done within %s, as %d of %d runs were", name, seconds(deadline), within(took, deadline), len(took))
	b.assume(fmt.Sprintf("headroom history calibration get %s %s", b.cluster, shell.QuotedText(name)), "%s", calibrated)
	return nil
}

// addCalibrated adds a class that is planned with the times that its runs took on their slots: bounds alone may ask for many
// more slots than these. It returns the deadline, which is later than asked for where no slots keep that.
func (b *beginning) addCalibrated(ctx context.Context, class object, asked float64, runs []past.StoredExecution) (deadline float64, about string, err error) {
	name := class["name"].(string)
	class["deadline_s"] = capacity.MaxSeconds // until its times are known
	made, err := b.send(ctx, openapi.CreateClass(b.cluster), class)
	if err != nil {
		return 0, "", err
	}
	about = fmt.Sprintf("%s takes what the average bound says, as its runs do not tell their slots", name)
	etag := made.Etag
	a, err := b.send(ctx, openapi.AdoptClassCalibration(b.cluster, name), object{"coverage": share}, remote.IfMatch(etag))
	switch {
	case err == nil:
		var planned inputs.PlannedClass
		if err := a.Into(&planned); err != nil {
			return 0, "", err
		}
		class["calibration"], etag = planned.Calibration, a.Etag
		about = fmt.Sprintf("on other slots %s takes %s times its %s bound, as on those of its runs", name, fault.Plain(planned.Calibration.Factor), planned.Calibration.Bound)
	case !errors.Is(err, fault.Invalid):
		return 0, "", err
	}
	for deadline = asked; ; {
		jobs, err := atOnce(runs, deadline)
		if err != nil {
			return 0, "", fmt.Errorf("the runs of %q make no forecast: %w", name, err)
		}
		class["deadline_s"], class["jobs"] = deadline, promised(jobs)
		_, err = b.send(ctx, openapi.ReplaceClass(b.cluster, name), class, remote.IfMatch(etag))
		if err == nil {
			return deadline, about, nil
		}
		later := laterDeadline(err)
		if later <= deadline {
			return 0, "", err
		}
		deadline = later
	}
}

// laterDeadline returns the deadline that a refusal offers; 0 where it offers none.
func laterDeadline(err error) float64 {
	var refused *remote.Problem
	if !errors.As(err, &refused) {
		return 0
	}
	for _, f := range refused.Errors {
		if f.Pointer != nil && *f.Pointer == "/deadline_s" && f.Hint != nil {
			x, _ := f.Hint.Value.(float64)
			return x
		}
	}
	return 0
}

// seconds writes a time for people.
func seconds(s float64) string {
	text := time.Duration(math.Ceil(s) * float64(time.Second)).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	return text
}

// measured returns how long runs took that succeeded, sorted.
func measured(runs []past.StoredExecution) (took []float64) {
	for _, r := range runs {
		if seconds, known := lasted(r); r.Refused == "" && known {
			took = append(took, seconds)
		}
	}
	slices.Sort(took)
	return took
}

// atOnce returns how many runs there are at once where each counts until its deadline, as plans count them, at least one.
// Arrivals of an hour are spread over it, which may be more at once than there were.
func atOnce(runs []past.StoredExecution, deadline float64) (most int64, err error) {
	var spans []past.Span
	arrivals := map[int64]float64{} // by hour
	for _, r := range runs {
		if r.SubmittedAt != nil {
			from := r.SubmittedAt.UnixMilli()
			spans = append(spans, past.Span{From: from, Until: from + int64(1000*deadline)})
			arrivals[r.SubmittedAt.Unix()/3600]++
		}
	}
	hours, err := past.Concurrency(spans)
	most = 1
	for _, h := range hours {
		most = max(most, h.Most)
	}
	for _, n := range arrivals {
		most = max(most, int64(math.Ceil(n*math.Min(1, deadline/3600))))
	}
	return most, err
}

// lasted returns how long a run took: from its submission, or where only its tasks are dated from the start of the first.
func lasted(r past.StoredExecution) (seconds float64, known bool) {
	switch {
	case r.Seconds != nil:
		return *r.Seconds, true
	case r.SubmittedAt != nil && r.FinishedAt != nil:
		return r.FinishedAt.Sub(*r.SubmittedAt).Seconds(), true
	}
	return 0, false
}

// deadlineOf returns the least whole number of seconds within which the share of runs ended; 0 without runs.
func deadlineOf(took []float64) float64 {
	if len(took) == 0 {
		return 0
	}
	return math.Max(1, math.Ceil(took[int(math.Ceil(share*float64(len(took))))-1]))
}

func within(took []float64, deadline float64) (n int) {
	for _, s := range took {
		if s <= deadline {
			n++
		}
	}
	return n
}

// span is the time from the hour of a first run to the end of the hour of a last one.
type span struct{ from, until time.Time }

func spanOf(first, last time.Time) span {
	return span{first.UTC().Truncate(time.Hour), last.UTC().Truncate(time.Hour).Add(time.Hour)}
}

func (s span) days() float64 { return s.until.Sub(s.from).Hours() / 24 }

const week = 7 * 24 * time.Hour

// recordOf is the time that the runs of all jobs are of. Nothing is known of other times.
func recordOf(jobs []past.RecordedJob) (record span) {
	for _, job := range jobs {
		if job.FirstAt == nil || job.LastAt == nil {
			continue
		}
		own := spanOf(*job.FirstAt, *job.LastAt)
		if record.from.IsZero() || own.from.Before(record.from) {
			record.from = own.from
		}
		if own.until.After(record.until) {
			record.until = own.until
		}
	}
	return record
}

// weeks returns the whole weeks that a job's runs are counted in, so that no day counts more often. They are the last ones
// of its own time. A job that ran for less than a week is counted in those of the whole record, unless it is new. None are
// 0 days.
func (s span) weeks(record span) span {
	if s.new(record) {
		return span{s.until, s.until}
	}
	if s.days() >= 7 {
		return span{s.until.Add(-time.Duration(s.days()/7) * week), s.until}
	}
	length := time.Duration(record.days()/7) * week
	if in := (span{record.until.Add(-length), record.until}); !s.from.Before(in.from) {
		return in
	}
	return span{record.from, record.from.Add(length)}
}

// new reports whether a job began to run in the last week on record, and goes on.
func (s span) new(record span) bool {
	return s.days() > 1 && s.days() < 7 && record.until.Sub(s.until) < 2*24*time.Hour
}

// forecast repeats the week that the runs show. Where the record is of less than a week they come evenly.
func (b *beginning) forecast(ctx context.Context, class string, job past.RecordedJob, record span, runs []past.StoredExecution) (about string, err error) {
	if job.FirstAt == nil || job.LastAt == nil {
		return "without dates, so as many as ran at once, all the time", nil
	}
	until := b.now.UTC().Truncate(time.Hour).Add(ahead)
	own := spanOf(*job.FirstAt, *job.LastAt)
	in := own.weeks(record)
	if weeks := int64(in.days() / 7); weeks >= 1 {
		_, err := b.send(ctx, openapi.ForecastFromHistory(b.cluster), clusters.ForecastFromHistory{Class: class, Job: job.Job,
			MeasuredFrom: &in.from, MeasuredUntil: &in.until, Until: &until})
		if err != nil {
			return "", err
		}
		n := int64(0)
		for _, r := range runs {
			if r.SubmittedAt != nil && !r.SubmittedAt.Before(in.from) && r.SubmittedAt.Before(in.until) {
				n++
			}
		}
		if n < weeks {
			return fmt.Sprintf("%d in %d weeks on record, at the same hour of the week", n, weeks), nil
		}
		return fmt.Sprintf("%s a week, at the hours of the last %s on record", shell.Figure(float64(n)/float64(weeks)), shell.Counted(weeks, "week")), nil
	}
	why := "less than a week is on record"
	if own.new(record) && record.days() >= 7 {
		record, why = own, "it is new: it ran for less than a week, the last of the record"
	}
	aDay := float64(job.Executions) / math.Max(record.days(), 1)
	return fmt.Sprintf("%s a day, at any hour alike, as %s", shell.Figure(aDay), why), b.evenly(ctx, class, aDay/24)
}
