package clusters

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/words"
	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
)

// classMaker makes classes of past runs. It reads, and changes nothing.
type classMaker struct {
	desk    *Desk
	of      inputs.Cluster
	zone    *time.Location
	used    []inputs.VMType
	slots   capacity.SlotsPerVM
	guessed []Assumption    // of slots
	taken   map[string]bool // names of classes
	now     time.Time       // the beginning of this hour
	record  span            // of all jobs
	origins map[string]bool // clusters that the runs name
	made    ClassesMade
	all     []madeClass
}

// classMaker begins to make classes for a cluster.
func (d *Desk) classMaker(s inputs.Snapshot, q ClassesFromHistory) (*classMaker, error) {
	zone, err := s.Cluster.Zone()
	if err != nil {
		return nil, err
	}
	m := &classMaker{desk: d, of: s.Cluster, zone: zone, now: d.now().UTC().Truncate(time.Hour), taken: map[string]bool{}, origins: map[string]bool{}}
	m.made = ClassesMade{DryRun: q.DryRun, Until: m.now.Add(Ahead), Classes: []ClassMade{}, Assumed: []Assumption{}, LeftOut: Refusals{First: []history.Refusal{}}}
	if q.Until != nil {
		m.made.Until = q.Until.UTC()
	}
	if weekly := (inputs.WeeklyForecast{Class: "any", From: m.now, Until: m.made.Until}); weekly.Check() != nil {
		return nil, weekly.Check()
	}
	for _, c := range s.Classes {
		m.taken[c.Name] = true
	}
	m.used = slices.DeleteFunc(slices.Clone(s.VMTypes), func(v inputs.VMType) bool { return !v.InUse })
	return m, nil
}

// lacksSupply refuses a cluster for which nothing could be planned, with the sentence that a plan would say.
func lacksSupply(s inputs.Snapshot, at time.Time) error {
	_, err := s.Problem(at)
	findings := slices.DeleteFunc(slices.Clone(fault.Findings(err)), func(f fault.Finding) bool { return strings.HasPrefix(f.Pointer, "/classes") })
	for i := range findings {
		findings[i].Pointer, findings[i].Hint = "", nil // it is no member of the request
	}
	return fault.Refusal(findings, 0)
}

// settleSlots finds how many tasks run at once on a VM of the types in use.
func (m *classMaker) settleSlots(asked int64) error {
	if asked > 0 {
		m.slots = capacity.SlotsPerVM{Map: asked, Reduce: asked}
		return nil
	}
	by := map[string]capacity.SlotsPerVM{}
	for _, v := range m.used {
		n := processors(v)
		if n < 1 {
			return fault.At("/slots", "missing", fmt.Sprintf("It is not on record how many processors a VM of the type %q has; give the type its vcpu, or say how many tasks run on one at once.", fault.Clip(v.Name)))
		}
		by[v.Name] = capacity.SlotsPerVM{Map: n, Reduce: n}
		m.guessed = append(m.guessed, Assumption{AboutSlots, OneEach(v.Name, n)})
	}
	if m.slots = (capacity.SlotsPerVM{ByType: by}); len(m.used) == 1 {
		m.slots = by[m.used[0].Name]
	}
	return nil
}

// OneEach says what slots of a VM type take for granted that are as many as its processors.
func OneEach(vmType string, processors int64) string {
	said := fmt.Sprintf("%s runs %s at once, one for each processor", vmType, fault.Plural(processors, "task"))
	if inputs.Burstable(vmType) {
		said += ", and never lacks CPU credits"
	}
	return said
}

func processors(v inputs.VMType) int64 {
	if v.VCPU != nil {
		return int64(*v.VCPU)
	}
	return inputs.Processors(v.Name)
}

func (m *classMaker) assumed(about, detail string, values ...any) {
	m.made.Assumed = append(m.made.Assumed, Assumption{about, fmt.Sprintf(detail, values...)})
}

// assume adds what holds for all classes.
func (m *classMaker) assume() {
	if len(m.all) == 0 {
		return
	}
	m.made.Assumed = append(m.made.Assumed, m.guessed...)
	if len(m.origins) > 1 {
		m.assumed(AboutRuns, "the runs are of one cluster, though their records name %d: %s", len(m.origins), words.List(slices.Sorted(maps.Keys(m.origins))))
	}
	names := make([]string, len(m.used))
	for i, v := range m.used {
		names[i] = v.Name
	}
	m.assumed(AboutMachines, "tasks take as long on %s as on the machines of these runs", words.List(names))
	m.assumed(AboutJobs, PromisedJobs)
	if !slices.ContainsFunc(m.all, func(c madeClass) bool { return !c.seldom }) {
		m.assumed(AboutForecast, "no run arrives until %s, because each job ran too seldom", m.made.Until.Format(time.DateOnly))
		return
	}
	m.assumed(AboutForecast, "runs arrive like that until %s", m.made.Until.Format(time.DateOnly))
}

// chosenJob is a recorded job of which a class is made.
type chosenJob struct {
	history.RecordedJob
	name     string
	deadline float64 // 0: of its runs
}

// choose finds the jobs that are asked for, or all that have runs to plan by. Jobs that wait for a further request are
// counted, and told of by that.
func (m *classMaker) choose(ctx context.Context, q ClassesFromHistory) ([]chosenJob, error) {
	jobs, err := m.recorded(ctx)
	if err != nil {
		return nil, err
	}
	m.record = recordOf(jobs)
	switch {
	case len(q.Jobs) > 0 && q.After != "":
		return nil, fault.At("/after", "one_of", "Here are jobs, and a job after which all others are meant; give one of the two.")
	case len(q.Jobs) > 0:
		return m.chosen(jobs, q.Jobs)
	}
	var chosen []chosenJob
	used, reasons, last := map[string]bool{}, 0, ""
	for _, job := range jobs {
		name := ""
		if job.Usable > 0 {
			name = unused(used, slug(job.Job))
		}
		switch {
		case job.Job <= q.After:
			continue
		case m.made.Next != "" || job.Usable > 0 && !m.taken[name] && len(chosen) == maxClassesMade:
			if m.made.Next = last; job.Usable > 0 && !m.taken[name] {
				m.made.MoreJobs++
			}
			continue
		case job.Usable == 0:
			if reasons++; reasons <= fewReasons {
				err = m.tellRuns(ctx, job.Job)
			} else {
				m.made.LeftOut.add(history.Refusal{Where: job.Job, Detail: "None of its runs tells how long its tasks take."})
				m.made.LeftOut.Count += job.Executions - 1 // all its runs
			}
			if err != nil {
				return nil, err
			}
		case m.taken[name]:
			m.made.LeftOut.add(history.Refusal{Where: job.Job, Detail: fmt.Sprintf("There is a class %q already, which stays as it is. Delete it first, or ask for a class of this job under another name.", name)})
		default:
			chosen = append(chosen, chosenJob{RecordedJob: job, name: name})
		}
		last = job.Job
	}
	return chosen, nil
}

// unused returns a name that was not used, and notes it.
func unused(used map[string]bool, name string) string {
	free := name
	for n := 2; used[free]; n++ {
		free = fmt.Sprintf("%s-%d", name, n)
	}
	used[free] = true
	return free
}

// chosen finds the jobs that are asked for by name.
func (m *classMaker) chosen(jobs []history.RecordedJob, asked []JobToPlan) (chosen []chosenJob, err error) {
	names := make([]string, len(jobs))
	known := map[string]history.RecordedJob{}
	for i, job := range jobs {
		names[i], known[job.Job] = job.Job, job
	}
	var findings []fault.Finding
	found := func(i int, member, code, detail string, values ...any) {
		findings = append(findings, fault.Finding{Pointer: fmt.Sprintf("/jobs/%d/%s", i, member), Code: code, Detail: fmt.Sprintf(detail, values...)})
	}
	used, given := map[string]int{}, map[string]int{}
	for i, a := range asked {
		job, there := known[a.Job]
		name := a.Name
		if name == "" {
			name = slug(a.Job)
		}
		before, twice := used[name]
		again, repeated := given[a.Job]
		switch {
		case repeated:
			found(i, "job", "duplicate_name", "The job with index %d is %q as well; keep one.", again, fault.Clip(a.Job))
		case !there:
			found(i, "job", "missing", "There is no run of the job %q; import its runs first.", fault.Clip(a.Job))
			if near := fault.Nearest(a.Job, names[:min(len(names), 200)]); near != "" {
				findings[len(findings)-1].Hint = &fault.Hint{Detail: fmt.Sprintf("Did you mean %q?", near), Pointer: fmt.Sprintf("/jobs/%d/job", i), Value: near}
			}
		case job.Usable == 0:
			found(i, "job", "no_runs", "No run of the job %q tells how long its tasks take; import runs that succeeded, or leave the job out.", fault.Clip(a.Job))
		case twice:
			found(i, "name", "duplicate_name", "The class of the job with index %d is called %q as well; give one of both another name.", before, fault.Clip(name))
		case m.taken[name]:
			found(i, "name", "taken", "There is a class %q already; give this one another name, or leave the job out.", fault.Clip(name))
		}
		used[name], given[a.Job] = i, i
		chosen = append(chosen, chosenJob{job, name, a.DeadlineSeconds})
	}
	return chosen, fault.Refusal(findings, 0)
}

// recorded returns all jobs that have runs.
func (m *classMaker) recorded(ctx context.Context) (all []history.RecordedJob, err error) {
	for page := (storage.Page{Limit: listPage}); ; {
		some, err := m.desk.executions.RecordedJobs(ctx, m.of.Name, page)
		if err != nil {
			return nil, err
		}
		all = append(all, some.Items...)
		if page.After = some.Next; page.After == "" {
			return all, nil
		}
	}
}

// add makes a class of a job, with its profile, deadline, calibration and forecast.
func (m *classMaker) add(ctx context.Context, job chosenJob) error {
	runs, err := m.runs(ctx, job.Job)
	if err != nil {
		return err
	}
	deadline := job.deadline
	if deadline == 0 {
		deadline = deadlineOf(runs.took)
	}
	if deadline == 0 {
		return fault.At("/deadline_s", "missing", "Its runs do not say how long they took; a table says it with the columns start and finish.")
	}
	c, err := m.profile(ctx, job)
	if err != nil {
		return err
	}
	about, err := m.calibrate(ctx, job.Job, &c, runs, deadline, job.deadline > 0)
	if err != nil {
		return err
	}
	arrivals, err := m.forecast(ctx, job, &c, runs)
	if err != nil {
		return err
	}
	median := job.Seconds
	if n := len(runs.took); median == nil && n > 0 {
		median = &runs.took[n/2]
	}
	deadline = c.class.DeadlineSeconds
	m.all = append(m.all, c)
	done := fmt.Sprintf("%s is done within %s", job.name, words.Seconds(deadline))
	if len(runs.took) > 0 {
		done += fmt.Sprintf(", as %d of %d runs were", within(runs.took, deadline), len(runs.took))
	}
	m.made.Classes = append(m.made.Classes, ClassMade{Job: job.Job, Class: c.class, Runs: job.Executions, MedianSeconds: median, Arrivals: arrivals,
		Assumed: []Assumption{{AboutDeadline, done}, {AboutCalibration, about}}})
	return nil
}

// profile makes the profile of a job, and a class that has it.
func (m *classMaker) profile(ctx context.Context, job chosenJob) (c madeClass, err error) {
	made, before, err := m.desk.profileOf(ctx, m.of.Name, ProfileFromHistory{Job: job.Job, Profile: job.name})
	if err != nil {
		return c, err
	}
	if isOfAnother(before, made, job.Job) {
		return c, fault.At("/name", "taken", fmt.Sprintf("There is a profile %q already, which was not made of the job %q. Give the class another name, which its profile has too.", job.name, job.Job))
	}
	c.profile, c.isNew = made.Profile, made.Changed
	c.class = inputs.PlannedClass{Name: job.name, Profile: &inputs.ProfileRef{Name: job.name, Version: made.Profile.Version}, SlotsPerVM: m.slots}
	return c, nil
}

// calibrate plans a class with the times that its runs took on their slots: bounds alone may ask for many more slots than
// these. Its deadline becomes later than asked for where no slots keep that, unless it is fixed.
func (m *classMaker) calibrate(ctx context.Context, job string, c *madeClass, runs pastRuns, deadline float64, fixed bool) (about string, err error) {
	c.class.DeadlineSeconds, c.class.Jobs = capacity.MaxSeconds, Promised(1) // until its times are known
	measured, err := m.desk.calibrations.Measurements(ctx, m.of.Name, MeasuredFilter{Job: job, Form: FormOf(c.profile.Profile)})
	if err != nil {
		return "", err
	}
	about = fmt.Sprintf("%s takes what the average bound says, as its runs do not tell their slots", c.class.Name)
	report := ClassCalibration{Class: c.class.Name, Job: job}
	report.Calibration, err = perf.Calibrated(perf.CalibrationQuestion{Profile: c.profile.Profile, Executions: measured.Executions, Coverage: keptShare})
	if err == nil {
		err = report.adopt(m.of, c)
	}
	switch {
	case err == nil:
		about = fmt.Sprintf("on other slots %s takes %s times its %s bound, as on those of its runs", c.class.Name, fault.Plain(c.class.Calibration.Factor), c.class.Calibration.Bound)
	case !errors.Is(err, fault.Invalid):
		return "", err
	}
	for {
		jobs, err := runs.atOnce(deadline)
		if err != nil {
			return "", err
		}
		c.class.DeadlineSeconds, c.class.Jobs = deadline, Promised(jobs)
		if err = checkPlanned(m.of, &c.class, &c.profile.Profile); err == nil {
			return about, nil
		}
		later := laterDeadline(err)
		if fixed || later <= deadline {
			return "", err
		}
		deadline = later
	}
}

// adopt gives a class the recommended calibration, or leaves it without one.
func (c *ClassCalibration) adopt(of inputs.Cluster, made *madeClass) error {
	use, err := c.choose(CalibrationAsk{})
	if err != nil {
		return err
	}
	class := made.class
	class.Calibration = &use
	if err := checkPlanned(of, &class, &made.profile.Profile); err != nil {
		return err
	}
	basis, err := c.Basis(use.Bound, use.Factor)
	if err != nil {
		return err
	}
	made.class, made.adoption = class, &Adoption{Basis: basis, Job: c.Job}
	return nil
}

// laterDeadline returns the deadline that a refusal offers; 0 where it offers none.
func laterDeadline(err error) float64 {
	for _, f := range fault.Findings(err) {
		if f.Pointer == "/deadline_s" && f.Hint != nil {
			later, _ := f.Hint.Value.(float64)
			return later
		}
	}
	return 0
}
