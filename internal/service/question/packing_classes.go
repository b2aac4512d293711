package question

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/clusters"
)

// maxSizes is the number of past executions of a class, the latest, to which a model is fitted.
const maxSizes = 2_000

// classPackingSource reads a batch of a cluster's classes.
func classPackingSource(ctx context.Context, d *Desk, r Request) (func() (pack.PackingQuestion, error), error) {
	q, err := askedOfPacking(r.Query)
	if err != nil {
		return nil, err
	}
	of, err := d.Inputs.Cluster(ctx, r.Cluster)
	if err != nil {
		return nil, err
	}
	return func() (pack.PackingQuestion, error) {
		batch, err := pack.ReadClassBatch(r.Body, r.Limits)
		if err != nil {
			return q, wrongBody(err)
		}
		if by := r.Query.Get("by"); by != "" {
			if q.BySeconds, err = d.secondsUntil(of, by, r.Query.Get("start")); err != nil {
				return q, err
			}
		}
		switch {
		case q.BySeconds > 0 && batch.Machines.Count == 0:
			batch.Machines.Count = pack.MaxPackedVMs / max(1, min(batch.Machines.Disks, pack.MaxPackedVMs)) // does not count
		case batch.Machines.Count == 0:
			return q, fault.At("/machines/count", "missing",
				"Say how many machines there are, or by when the batch must be done, to learn how many it needs.")
		}
		q.Batch, q.Sources, err = d.batchOf(ctx, r.Cluster, batch)
		if err == nil {
			err = q.Batch.Validate()
		}
		return q, err
	}, nil
}

// secondsUntil returns the time from a start, "" being now, until a cluster's clocks next show hh:mm.
func (d *Desk) secondsUntil(of inputs.Cluster, by, start string) (float64, error) {
	zone, err := time.LoadLocation(of.TimeZone)
	if err != nil {
		return 0, fmt.Errorf("read the clocks of cluster %s: %w", of.Name, err)
	}
	clock, err := time.Parse("15:04", by)
	if err != nil {
		return 0, fault.At("/by", "format", fmt.Sprintf("%q is no time of day; write one such as 06:00.", by))
	}
	from := d.Now()
	if start != "" {
		from, _ = time.Parse(time.RFC3339Nano, start) // its form is checked already
	}
	return pack.UntilClock(from, clock.Hour(), clock.Minute(), zone), nil
}

// batchOf returns a batch of classes with their times.
func (d *Desk) batchOf(ctx context.Context, cluster string, of pack.ClassBatch) (p pack.PackingProblem,
	sources []pack.PackingSource, err error) {
	p = pack.PackingProblem{Machines: of.Machines, Options: of.Options}
	if of.Jobs == nil {
		for page := (storage.Page{Limit: 200}); ; {
			list, err := d.Inputs.Classes().List(ctx, cluster, page)
			if err != nil {
				return p, nil, err
			}
			for _, c := range list.Items {
				of.Jobs = append(of.Jobs, pack.ClassJob{Class: c.Name, Count: 1})
			}
			if page.After = list.Next; page.After == "" || len(of.Jobs) > pack.MaxPackedKinds {
				break
			}
		}
		if len(of.Jobs) == 0 {
			return p, nil, fault.At("/jobs", "missing",
				"The cluster has no class; make some, or send a batch with the times of its jobs to POST /v1/packings.")
		}
	}
	// Faults of the figures are reported first: nobody measures for a batch that cannot be packed.
	figures := p
	for _, j := range of.Jobs {
		figures.Jobs = append(figures.Jobs, pack.BatchJob{Name: j.Class, Count: j.Count, Model: &perf.PowerModel{A: 1}, Fit: j.Fit,
			MinVMs: j.MinVMs, Role: j.Role,
			ReleaseSeconds: j.ReleaseSeconds, DeadlineSeconds: j.DeadlineSeconds})
	}
	if err := figures.Validate(); err != nil {
		return p, nil, err
	}
	var findings []fault.Finding
	for i, j := range of.Jobs {
		class, err := d.Inputs.Classes().Get(ctx, cluster, j.Class)
		if errors.Is(err, fault.NotFound) {
			findings = append(findings, fault.Finding{Pointer: fmt.Sprintf("/jobs/%d/class", i), Code: "missing",
				Detail: fmt.Sprintf("The cluster has no class %.100q.", j.Class)})
			continue
		}
		if err != nil {
			return p, nil, err
		}
		job, source, wrong, err := d.batchJob(ctx, cluster, class, j)
		if err != nil {
			return p, nil, err
		}
		if wrong != "" {
			findings = append(findings, fault.Finding{Pointer: fmt.Sprintf("/jobs/%d/class", i), Code: "not_measured", Detail: wrong})
		}
		p.Jobs, sources = append(p.Jobs, job), append(sources, source)
	}
	if len(findings) > 0 {
		return p, nil, fault.Refusal(findings, 0)
	}
	return p, sources, nil
}

// batchJob returns jobs of a class with their measured times: from measurements, and if those are not of several
// sizes from past executions as well. fault describes the missing measurements.
func (d *Desk) batchJob(ctx context.Context, cluster string, class inputs.PlannedClass, of pack.ClassJob) (job pack.BatchJob,
	source pack.PackingSource, wrong string, err error) {
	job = pack.BatchJob{Name: class.Name, Count: of.Count, Fit: of.Fit, MinVMs: of.MinVMs, Role: of.Role,
		ReleaseSeconds: of.ReleaseSeconds, DeadlineSeconds: of.DeadlineSeconds}
	source = pack.PackingSource{Class: class.Name, VMs: []float64{}}
	kept, err := d.Clusters.MeasurementsOf(ctx, cluster, class.Name, perf.PowerFits)
	if err != nil {
		return job, source, "", err
	}
	for _, m := range kept {
		job.Measurements = append(job.Measurements, perf.Measurement{VMs: *m.VMs, Seconds: *m.Seconds})
	}
	source.Measurements = int64(len(kept))
	recorded := class.Name
	if sizesOf(job.Measurements) == nil || len(sizesOf(job.Measurements)) < 2 {
		if class.Profile != nil {
			version, err := d.Profiles.Profile(ctx, cluster, class.Profile.Name, class.Profile.Version)
			if err != nil {
				return job, source, "", err
			}
			if of := clusters.JobOf(version); of != "" {
				recorded = of
			}
		}
		executions, err := d.Fits.ExecutionSizes(ctx, cluster, recorded, maxSizes)
		if err != nil {
			return job, source, "", err
		}
		points, unsized := perf.OnVMs(executions, class.SlotsPerVM.Map)
		job.Measurements = append(job.Measurements, points...)
		source.Executions, source.Unsized = int64(len(points)), unsized
	}
	source.VMs = sizesOf(job.Measurements)
	if len(source.VMs) < 2 {
		return job, source, notMeasured(cluster, source, recorded), nil
	}
	usage, err := d.Fits.JobFit(ctx, cluster, class.Name, perf.UsageFits, 0)
	switch {
	case err == nil && usage.Usage != nil:
		job.Usage, source.Usage = &usage.Usage.Usage, true
	case err != nil && !errors.Is(err, fault.NotFound):
		return job, source, "", err
	}
	return job, source, "", nil
}

// sizesOf returns the different numbers of VMs of measurements, by size.
func sizesOf(points []perf.Measurement) []float64 {
	sizes := make([]float64, len(points))
	for i, p := range points {
		sizes[i] = p.VMs
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// notMeasured describes the known times of a class, and the measurements to make.
func notMeasured(cluster string, s pack.PackingSource, recorded string) string {
	known := fmt.Sprintf("Nothing says how long %q takes on different numbers of VMs", s.Class)
	size := int64(perf.ReferenceVMs)
	sizes := fmt.Sprintf("two numbers, for instance %d and %d, and add how long each took", size, 2*size)
	if len(s.VMs) == 1 {
		known = fmt.Sprintf("All that is measured of %q ran on %g VMs", s.Class, s.VMs[0])
		size = max(1, 2*int64(s.VMs[0]))
		sizes = fmt.Sprintf("another number, for instance %d, and add how long it took", size)
	}
	switch {
	case s.Unsized > 0:
		known += fmt.Sprintf("; of %d past executions of %q it is not known on how many they ran, because each had a slot for every map, or its slots are not on record", s.Unsized, recorded)
	case s.Executions == 0:
		known += fmt.Sprintf(", and there is no past execution of %q", recorded)
	}
	return fmt.Sprintf("%s. Run it on %s: headroom history measurement create %s %q power --vms %d --seconds S.", known, sizes, cluster, s.Class, size)
}
