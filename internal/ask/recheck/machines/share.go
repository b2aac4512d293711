package machines

import (
	"fmt"
	"math"

	"example.org/headroom/internal/ask/pool"
	"example.org/headroom/internal/core/fault"
)

// Share checks a share plan: that the slots exist and the shares are right. It does not say whether a better plan
// exists.
func Share(p pool.SharePlanProblem, a pool.SharePlan) (findings []fault.Finding) {
	wrong := func(pointer, sentence string, values ...any) {
		if len(findings) < fault.MaxFindings {
			findings = append(findings, fault.Finding{Pointer: pointer, Code: "share", Detail: fmt.Sprintf(sentence, values...) + "."})
		}
	}
	if len(a.Jobs) != len(p.Jobs) {
		wrong("/jobs", "there are %d jobs, not %d", len(p.Jobs), len(a.Jobs))
		return findings
	}
	given := map[string]int64{}
	lowest, total := math.Inf(1), 0.0
	for i, job := range p.Jobs {
		got, at := a.Jobs[i], fmt.Sprintf("/jobs/%d", i)
		if got.Name != job.Name {
			wrong(at+"/name", "the job is called %q", job.Name)
		}
		has, all := 0.0, 0.0
		slots := 0
		for _, t := range p.Types {
			n, named := got.Slots[t.Name]
			if named {
				slots++
			}
			if n < 0 {
				wrong(at+"/slots", "%d slots cannot be given", n)
			}
			given[t.Name] += n
			has += float64(n) * job.Rates[t.Name]
			all += float64(t.Slots) * job.Rates[t.Name]
		}
		if slots != len(got.Slots) {
			wrong(at+"/slots", "slots are of types that are not there")
		}
		if !poolAlike(got.ProgressShare, has/all) {
			wrong(at+"/progress_share", "the share is %g, not %g", has/all, got.ProgressShare)
		}
		lowest, total = min(lowest, has/all/job.Weight), total+has/all
	}
	for _, t := range p.Types {
		if given[t.Name] > t.Slots {
			wrong("/jobs", "%d slots of %s are given, but there are %d", given[t.Name], t.Name, t.Slots)
		}
	}
	if !poolAlike(a.MinShare, lowest) || !poolAlike(a.Total, total) {
		wrong("/least_share", "the least share is %g and all together are %g, not %g and %g", lowest, total, a.MinShare, a.Total)
	}
	if a.ShareBound < lowest*(1-poolTolerance) || a.TotalBound < total*(1-poolTolerance) {
		wrong("/share_bound", "nothing is above %g and %g, it says, but this is %g and %g", a.ShareBound, a.TotalBound, lowest, total)
	}
	if a.Status == pool.PoolOptimal && (!poolAlike(a.ShareBound, lowest) || !poolAlike(a.TotalBound, total)) {
		wrong("/status", "the plan is called optimal with bounds of %g and %g", a.ShareBound, a.TotalBound)
	}
	return append(findings, held(p, a.Held)...)
}

// held checks what the slots come to that jobs hold.
func held(p pool.SharePlanProblem, a *pool.HeldShares) (findings []fault.Finding) {
	lowest, total, holds := math.Inf(1), 0.0, false
	for i, job := range p.Jobs {
		has, all := 0.0, 0.0
		for _, t := range p.Types {
			has += float64(job.Holds[t.Name]) * job.Rates[t.Name]
			all += float64(t.Slots) * job.Rates[t.Name]
		}
		holds = holds || len(job.Holds) > 0
		lowest, total = min(lowest, has/all/job.Weight), total+has/all
		if a != nil && (i >= len(a.Jobs) || a.Jobs[i].Name != job.Name || !poolAlike(a.Jobs[i].ProgressShare, has/all)) {
			findings = append(findings, fault.Finding{Pointer: fmt.Sprintf("/held/jobs/%d", i), Code: "share",
				Detail: fmt.Sprintf("the share of what %q holds is %g.", job.Name, has/all)})
		}
	}
	if holds != (a != nil) || a != nil && (!poolAlike(a.MinShare, lowest) || !poolAlike(a.Total, total)) {
		findings = append(findings, fault.Finding{Pointer: "/held", Code: "share",
			Detail: fmt.Sprintf("what jobs hold has a least share of %g and %g together.", lowest, total)})
	}
	return findings
}
