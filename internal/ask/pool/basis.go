package pool

import (
	"fmt"
	"math"
	"slices"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
)

// oldFigures is the age of measurements from which a warning mentions it.
const oldFigures = inputs.HoursPerWeek * time.Hour

// Basis derives the basis for planning a cluster's pool at a moment: the submissions of jobs in the coming rounds,
// the data, and the sources of both. Unknown parts are left out with a note. If nothing at all is known, it returns
// an *InputError.
func Basis(f PoolFacts, at time.Time) (PoolBasis, error) {
	s := f.Settings
	at = at.UTC().Truncate(time.Second)
	from, err := s.RoundAt(at)
	if err != nil {
		return PoolBasis{}, err
	}
	zone, err := time.LoadLocation(f.Outlook.Cluster.TimeZone)
	if err != nil {
		return PoolBasis{}, fmt.Errorf("the time zone %q: %w", f.Outlook.Cluster.TimeZone, err)
	}
	priced := PoolProblem{Types: slices.Clone(s.Types)}
	moment := at
	if from.After(at) {
		moment = from
	}
	CompletePool(f.Outlook.Snapshot, &priced, moment)
	b := PoolBasis{At: at, From: from, Machines: f.Machines.Machines, Version: s.Version, Sources: PoolSources{Jobs: []JobSource{}, Warnings: []capacity.Warning{}}}
	b.Problem = PoolCourseProblem{Currency: priced.Currency, Hours: s.Hours, Types: priced.Types, StartupHours: s.StartupHours, Options: s.Options,
		Running: []PoolRunning{}, Jobs: []PoolSubmittedJob{}}
	d := deriving{PoolFacts: f, basis: &b, zone: zone, first: inputs.HourOf(from)}
	known := 0
	for _, j := range s.Jobs {
		if d.job(j) {
			known++
		}
	}
	d.data()
	if b.Sources.Data.From == FromNowhere && known == 0 {
		return b, &fault.InputError{Findings: []fault.Finding{{Pointer: "/jobs", Code: "missing",
			Detail: "Nothing is known of what the pool is to do: no job has submissions, a forecast or executions, and nobody has said how much data there is. Import executions, or give submissions or a storage sample."}}}
	}
	d.running()
	if len(b.Problem.Running) > 0 && b.Sources.Data.From == FromNowhere {
		return b, &fault.InputError{Findings: []fault.Finding{{Pointer: "/storage/data_gb", Code: "missing",
			Detail: "Core instances run, but nobody has said how much data they hold, so that none of them can be given back safely. Send a storage sample, or give \"data_gb\" in the settings, 0 where they hold none."}}}
	}
	return b, nil
}

type deriving struct {
	PoolFacts
	basis *PoolBasis
	zone  *time.Location
	first int32 // hour of the first round
}

func (d *deriving) warn(code, detail string, values ...any) {
	d.basis.Sources.Warnings = append(d.basis.Sources.Warnings, capacity.Warning{Code: code, Detail: fmt.Sprintf(detail, values...)})
}

// job adds a job's submissions in each round, as far as they are known, and reports whether any hour is.
func (d *deriving) job(j PoolSource) bool {
	rounds, hours := int(d.Settings.Rounds), int(d.Settings.Hours)
	made := PoolSubmittedJob{PoolJob: j.PoolJob, Submissions: make([]float64, rounds)}
	source := JobSource{Job: j.Name, Hours: []HourSource{}}
	defer func() { d.basis.Sources.Jobs = append(d.basis.Sources.Jobs, source) }()
	if j.Submissions != nil {
		for n := range made.Submissions {
			made.Submissions[n] = *j.Submissions
		}
		d.add(made)
		source.Hours = append(source.Hours, HourSource{From: FromSettings, Hours: int64(rounds * hours), Submissions: *j.Submissions * float64(rounds),
			Detail: fmt.Sprintf("%s submissions a round, as the settings say.", number(*j.Submissions))})
		return true
	}
	forecast, classDetail := d.forecast(j)
	measured, executions := d.measured(j)
	planned, missing := HourSource{From: FromForecast, Class: j.Class, Detail: classDetail}, int64(0)
	for n := range rounds {
		for h := range hours {
			hour := d.first + int32(n*hours+h)
			if jobs, is := forecast[hour]; is {
				planned.Hours++
				planned.Submissions += jobs
				made.Submissions[n] += jobs
			} else if executions.Executions > 0 {
				rate := measured(hour)
				executions.Hours++
				executions.Submissions += rate
				made.Submissions[n] += rate
			} else {
				missing++
			}
		}
	}
	for _, x := range []HourSource{planned, executions} {
		if x.Hours > 0 {
			source.Hours = append(source.Hours, x)
		}
	}
	if missing > 0 {
		detail := fmt.Sprintf("Of %d of %s it is known from nowhere how often the job %q is submitted: %s Nothing is planned for it then.", missing, fault.Plural(int64(rounds*hours), "hour"), j.Name, d.nothing(j))
		source.Hours = append(source.Hours, HourSource{From: FromNowhere, Hours: missing, Detail: detail})
		d.warn("no_submissions", "%s", detail)
	}
	if missing == int64(rounds*hours) {
		return false
	}
	d.add(made)
	return true
}

// add plans for a job; work too small to plan counts as none.
func (d *deriving) add(j PoolSubmittedJob) {
	for n, x := range j.Submissions {
		if x*j.Work < minPoolWork {
			j.Submissions[n] = 0
		}
	}
	d.basis.Problem.Jobs = append(d.basis.Problem.Jobs, j)
}

// nothing explains why nothing is known of a job.
func (d *deriving) nothing(j PoolSource) string {
	sentence := fmt.Sprintf("there is no execution of %q", j.Recorded())
	if d.Recorded.From.Before(d.Recorded.Until) {
		sentence += fmt.Sprintf(" from %s to %s", stamp(d.Recorded.From), stamp(d.Recorded.Until))
	} else {
		sentence += ", nor of any other job"
	}
	if j.Class != "" {
		sentence += fmt.Sprintf(", and no forecast of the class %q", j.Class)
	}
	return sentence + "."
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04Z") }

// forecast returns the expected submissions of a job in the hours that have a forecast of its class. One that counts
// concurrent jobs says how many are submitted by the time that each takes, the class's deadline.
func (d *deriving) forecast(j PoolSource) (map[int32]float64, string) {
	at := slices.IndexFunc(d.Outlook.Classes, func(c inputs.PlannedClass) bool { return c.Name == j.Class })
	if j.Class == "" {
		return nil, ""
	}
	if at < 0 {
		d.warn("no_class", "The cluster has no class %q, whose forecast the job %q names.", j.Class, j.Name)
		return nil, ""
	}
	deadline := d.Outlook.Classes[at].DeadlineSeconds
	found, arrives, atOnce := map[int32]float64{}, false, false
	for _, s := range d.Outlook.Series {
		for i, hour := range s.Hours {
			switch {
			case s.Class != j.Class:
			case s.Arrives:
				found[int32(hour)], arrives = s.Jobs[i], true
			case deadline > 0:
				found[int32(hour)], atOnce = s.Jobs[i]*3600/deadline, true
			}
		}
	}
	if arrives && !atOnce {
		return found, fmt.Sprintf("The forecast of arrivals of the class %q.", j.Class)
	}
	return found, fmt.Sprintf("The forecast of jobs at once of the class %q; each takes its deadline of %s s, so that one at once is %s submissions an hour.", j.Class, number(deadline), number(3600/deadline))
}

// measured returns a job's mean submissions in hours like a given one.
func (d *deriving) measured(j PoolSource) (func(hour int32) float64, HourSource) {
	from, until := inputs.HourOf(d.Recorded.From), inputs.HourOf(d.Recorded.Until)
	source := HourSource{From: FromExecutions, RecordedAs: j.Recorded(), Pattern: PatternMean}
	if weeks := (until - from) / inputs.HoursPerWeek; weeks > 0 {
		source.Pattern, from = PatternWeek, until-weeks*inputs.HoursPerWeek
	}
	var counts, hours [inputs.HoursPerWeek]float64
	total := 0.0
	for h := from; h < until; h++ {
		slot, n := d.slot(h), d.Recorded.Jobs[j.Recorded()][h]
		counts[slot] += float64(n)
		hours[slot]++
		total += float64(n)
		source.Executions += n
	}
	if source.Executions == 0 {
		return nil, source
	}
	begins, ends := inputs.TimeOf(from), inputs.TimeOf(until)
	source.MeasuredFrom, source.MeasuredUntil = &begins, &ends
	mean := total / float64(until-from)
	if source.Pattern == PatternMean {
		source.Detail = fmt.Sprintf("%s of %q in %s from %s to %s, spread evenly, because that is less than a week.", fault.Plural(source.Executions, "execution"), j.Recorded(), fault.Plural(int64(until-from), "hour"), stamp(begins), stamp(ends))
		d.warn("short_measurement", "%s", source.Detail)
	} else {
		source.Detail = fmt.Sprintf("%s of %q in %s from %s to %s: the mean of the same hour of each week.", fault.Plural(source.Executions, "execution"), j.Recorded(), fault.Plural(int64((until-from)/inputs.HoursPerWeek), "week"), stamp(begins), stamp(ends))
	}
	if d.basis.At.Sub(ends) > oldFigures {
		d.warn("old_measurement", "The last execution that is dated was submitted before %s, %s days ago; import newer ones.", stamp(ends), number(math.Floor(d.basis.At.Sub(ends).Hours()/24)))
	}
	return func(hour int32) float64 {
		if slot := d.slot(hour); source.Pattern == PatternWeek && hours[slot] > 0 { // an hour that clocks skip may have none
			return counts[slot] / hours[slot]
		}
		return mean
	}, source
}

// slot returns an hour's place in the week by the cluster's clocks.
func (d *deriving) slot(hour int32) int {
	t := inputs.TimeOf(hour).In(d.zone)
	return int(t.Weekday())*24 + t.Hour()
}

// data adds the amount of data and its growth.
func (d *deriving) data() {
	b, s := d.basis, d.Settings
	storage := PoolStorage{Replication: s.Storage.Replication, Fill: s.Storage.Fill}
	incoming := make([]float64, s.Rounds)
	source := DataSource{From: FromNowhere, GrowthFrom: FromNowhere}
	if n := len(d.Samples); n > 0 {
		first, last := d.Samples[0], d.Samples[n-1]
		source.From, source.GB, source.At, source.Samples = FromSamples, last.DataGB, &last.At, int64(n)
		source.Detail = fmt.Sprintf("%s GB at %s.", number(last.DataGB), stamp(last.At))
		storage.DataGB = last.DataGB
		if b.At.Sub(last.At) > oldFigures {
			d.warn("old_measurement", "The last storage sample is of %s, %s days ago; send newer ones.", stamp(last.At), number(math.Floor(b.At.Sub(last.At).Hours()/24)))
		}
		if hours := last.At.Sub(first.At).Hours(); hours >= 1 {
			source.GrowthFrom, source.GBPerHour, source.MeasuredFrom, source.MeasuredUntil = FromSamples, (last.DataGB-first.DataGB)/hours, &first.At, &last.At
			source.Detail += fmt.Sprintf(" It grew by %s GB in %s from %s on.", number(last.DataGB-first.DataGB), inHours(hours), stamp(first.At))
			if source.GBPerHour < 0 {
				source.Detail += " Data that shrinks is planned as it is now."
			}
			growth := max(0, source.GBPerHour)
			storage.DataGB += growth * max(0, b.From.Sub(last.At).Hours())
			for n := range incoming {
				begins := b.From.Add(time.Duration(int64(n)*s.Hours) * time.Hour)
				ends := begins.Add(time.Duration(s.Hours) * time.Hour)
				if last.At.After(begins) { // the last sample includes everything before it
					begins = last.At
				}
				incoming[n] = growth * max(0, ends.Sub(begins).Hours())
			}
		}
	} else if s.Storage.DataGB != nil {
		source.From, source.GB, storage.DataGB = FromSettings, *s.Storage.DataGB, *s.Storage.DataGB
		source.Detail = fmt.Sprintf("%s GB, as the settings say; nobody has sent a storage sample.", number(*s.Storage.DataGB))
	} else {
		source.Detail = "Nobody has said how much data there is."
		d.warn("no_data", "Nobody has said how much data there is, so that no disks are planned for it; send storage samples, or give \"data_gb\" in the settings.")
	}
	if source.GrowthFrom == FromNowhere {
		source.GrowthFrom = d.left(incoming)
		switch {
		case source.GrowthFrom == FromJobs:
			source.Detail += " It grows by what jobs leave behind."
		case source.From != FromNowhere:
			source.Detail += " How it grows is not known."
			d.warn("no_growth", "It is not known how the data grows, so that only what there is gets a place; send storage samples of at least an hour, or give \"leaves_gb\" of jobs.")
		}
	}
	b.Problem.Storage, b.Problem.IncomingGB, b.Sources.Data = storage, incoming, source
}

// left adds the data that submissions leave behind, by round.
func (d *deriving) left(incoming []float64) string {
	from := FromNowhere
	for _, j := range d.Settings.Jobs {
		at := slices.IndexFunc(d.basis.Problem.Jobs, func(x PoolSubmittedJob) bool { return x.Name == j.Name })
		if j.LeavesGB == 0 || at < 0 {
			continue
		}
		from = FromJobs
		for n, x := range d.basis.Problem.Jobs[at].Submissions {
			incoming[n] += x * j.LeavesGB
		}
	}
	return from
}

// running adds the running core instances.
func (d *deriving) running() {
	types := map[string]int64{}
	unknown := map[string]bool{}
	for _, m := range d.Machines.Machines {
		if m.As == AsCore {
			types[m.Type] += m.Count
		}
		if named := slices.ContainsFunc(d.Settings.Types, func(t PoolType) bool { return t.Name == m.Type }); !named && m.Count > 0 && !unknown[m.Type] {
			unknown[m.Type] = true
			d.warn("unknown_type", "Machines of %q run, but the settings name no such type, so that all of them are to be given back; correct the name where it is misspelt, or add the type to the settings.", m.Type)
		}
	}
	for _, t := range d.Settings.Types {
		if n := types[t.Name]; n > 0 {
			d.basis.Problem.Running = append(d.basis.Problem.Running, PoolRunning{Type: t.Name, Count: min(n, maxPoolInstances)})
		}
	}
	if d.Machines.SaidAt == nil {
		d.warn("no_machines", "Nobody has said which machines run, so that all of them are to be rented; say so with PUT …/pool/machines.")
	}
}
