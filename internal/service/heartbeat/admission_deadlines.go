package heartbeat

import (
	"context"
	"fmt"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/slots/live"
)

// admitPromised asks for a place for a job with a deadline. A promise holds the live cluster's row until the commit,
// so each promise is judged with all earlier ones.
func (d *Desk) admitPromised(ctx context.Context, cluster string, r live.AdmissionRequest) (answer live.Admission, err error) {
	err = d.change(ctx, cluster, func(ctx context.Context, c *live.Cluster, now float64, _ *Work) error {
		mode := c.Settings().Admission.Mode()
		answer, err = d.takePlace(ctx, cluster, c, now, mode, r, &r.DeadlineSeconds)
		return err
	})
	return answer, err
}

// takePlace gives a job a place in its class, and promises its deadline if it has one, which may have passed. It is
// part of a change of the live cluster: its writes take effect with that.
func (d *Desk) takePlace(ctx context.Context, cluster string, c *live.Cluster, now float64, mode dispatch.AdmissionMode, r live.AdmissionRequest, due *float64) (answer live.Admission, err error) {
	var verdict *dispatch.DeadlineVerdict
	if due != nil {
		leases, err := d.admissions.Promised(ctx, cluster)
		if err != nil {
			return answer, err
		}
		classes := append(c.ActiveClasses(), r.Class)
		for _, l := range leases {
			classes = append(classes, l.Class)
		}
		known, err := d.knownTimes(ctx, cluster, classes)
		if err != nil {
			return answer, err
		}
		if p, some := known.Profiles[r.Class]; some && r.Maps+r.Reduces == 0 {
			usual := live.UsualTasks(p)
			r.Maps, r.Reduces = usual.Tasks[dispatch.Map], usual.Tasks[dispatch.Reduce]
		}
		room := c.Room(now, mode, known)
		for _, l := range leases {
			name := l.Holder
			if name == "" {
				name = l.Class
			}
			promised := c.Commitment(l.ID, name, l.Class, l.DueSeconds, l.Maps, l.Reduces, known)
			promised.Running = promised.Tasks // nobody says which do not
			room.Accepted = append(room.Accepted, promised)
		}
		judged := room.Judge(c.Commitment("", r.Holder, r.Class, *due, r.Maps, r.Reduces, known))
		verdict = &judged
	}
	answer, err = d.admissions.Admit(ctx, cluster, r)
	answer.Deadline = verdict
	if err != nil || !answer.Admitted || verdict == nil || verdict.Kept && r.Maps+r.Reduces > 0 {
		return answer, err
	}
	if err := d.admissions.Unadmit(ctx, answer.ID); err != nil {
		return answer, err
	}
	if r.Maps+r.Reduces == 0 {
		return answer, &fault.InputError{Findings: []fault.Finding{{Pointer: "/maps", Code: "missing",
			Detail: fmt.Sprintf("The class %q has no profile that says how many tasks its jobs have; say how many maps and reduces this one has.", r.Class)}}}
	}
	answer = live.Admission{Class: answer.Class, PlanNumber: answer.PlanNumber, Running: answer.Running - 1, Limit: answer.Limit, Deadline: verdict}
	answer.RefuseDeadline(*verdict)
	return answer, nil
}

// knownTimes returns the known times of classes' tasks beyond the observations of their live cluster.
func (d *Desk) knownTimes(ctx context.Context, cluster string, classes []string) (known live.KnownTimes, err error) {
	if known.Profiles, err = d.admissions.ClassProfiles(ctx, cluster, classes); err != nil {
		return known, err
	}
	known.Fits, err = d.fits.LatestFits(ctx, cluster, perf.TaskTimeFits, classes)
	return known, err
}

// placeForJob takes a place for a live job if the cluster limits admission, or returns nil.
func (d *Desk) placeForJob(ctx context.Context, cluster string, c *live.Cluster, now float64, r live.LiveJobRequest) (*live.Admission, error) {
	rule := c.Settings().Admission
	if rule == dispatch.LiveOpen {
		return nil, nil
	}
	c.Advance(now)
	ask := live.AdmissionRequest{Class: r.Class, Holder: r.Name, Maps: r.Maps, Reduces: r.Reduces, Job: c.LastJob + 1}
	var due *float64
	if at := live.Due(r, c.Clock); at > 0 {
		left := at - c.Clock
		due, ask.DeadlineSeconds = &left, max(left, 0)
	}
	place, err := d.takePlace(ctx, cluster, c, now, rule.Mode(), ask, due)
	if err == nil {
		d.foretell(cluster, &place)
	}
	return &place, err
}
