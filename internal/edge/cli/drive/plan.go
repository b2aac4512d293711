package drive

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/slots/drive"
	"example.org/headroom/openapi"
)

// What comes is looked at each minute, at the moment for which nodes must be asked for by then. At first, and when the
// inputs have changed, moments before that are looked at too.
const (
	lookEvery  = time.Minute
	firstLooks = 4
)

// planned reads what a plan means now. With types it finds how many VMs of each type must run, or must have been asked for, so that they are there in time.
type planned struct {
	s       *remote.Service
	cluster string
	types   []string // whose nodes follow
	lead    time.Duration

	inputs int64     // version of the cluster's inputs when it looked
	next   time.Time // to look again
	looks  []look    // at moments that have not passed yet
	err    error     // of the last look
}

// look holds how many VMs a moment needs.
type look struct {
	at  time.Time
	vms map[string]int64
}

// vmTotals holds the VMs of a plan; with one VM type it has no list of types.
type vmTotals struct {
	Total float64
	Types []struct {
		Name  string
		Total float64
	}
}

// count counts the VMs of the types that follow.
func (a *planned) count(to map[string]int64, vms vmTotals, total int64) error {
	if len(vms.Types) == 0 {
		if len(a.types) > 1 {
			return errors.New("the plan has one VM type and does not name it; say with --nodes where its nodes are, and leave the others out")
		}
		to[a.types[0]] = total
		return nil
	}
	for _, name := range a.types {
		to[name] = 0
	}
	for _, t := range vms.Types {
		if slices.Contains(a.types, t.Name) {
			to[t.Name] = int64(math.Ceil(t.Total - 1e-7))
		}
	}
	return nil
}

func noPlan(cluster string) error {
	return errors.New("no plan keeps every promise; \"headroom plan explain " + cluster + "\" says why")
}

// plan reads how many jobs of each class the current plan admits, and how many VMs must have been asked for by now.
func (a *planned) plan(ctx context.Context) (drive.Plan, error) {
	p := drive.Plan{Places: map[string]int64{}, Shares: map[string]float64{}}
	answer, err := a.s.Call(ctx, openapi.GetScaling(a.cluster, nil))
	if err != nil {
		return p, err
	}
	var now plans.Scaling
	if err := answer.Into(&now); err != nil {
		return p, err
	}
	if now.Status == capacity.InfeasibleStatus {
		return p, noPlan(a.cluster)
	}
	p.Number = now.Number
	for _, class := range now.Items {
		p.Places[class.Class] = int64(math.Floor(class.Admitted + 1e-9)) // a part of a job cannot run
		p.Shares[class.Class] = class.VMsShare
		p.Total += class.VMsShare
	}
	return p, a.add(ctx, &p, now, time.Now())
}

// add puts into a plan how many VMs run now by it, and how many the moments ahead need. A look that failed leaves the
// plan unsure.
func (a *planned) add(ctx context.Context, p *drive.Plan, scaling plans.Scaling, now time.Time) error {
	if len(a.types) == 0 {
		return nil
	}
	answer, err := a.s.Call(ctx, openapi.GetCurrentPlan(a.cluster, nil))
	if err != nil {
		return err
	}
	var current struct {
		Number    int64
		Plan      struct{ VMs vmTotals }
		Freshness struct {
			Inputs int64 `json:"inputs_version"`
		}
	}
	if err := answer.Into(&current); err != nil {
		return err
	}
	if current.Number != scaling.Number {
		return fmt.Errorf("plan %d took the place of plan %d meanwhile", current.Number, scaling.Number)
	}
	p.VMs = map[string]int64{}
	if err := a.count(p.VMs, current.Plan.VMs, scaling.VMs.Total); err != nil {
		return err
	}
	if a.lead > 0 && (current.Freshness.Inputs != a.inputs || !now.Before(a.next)) {
		parts := time.Duration(1)
		if current.Freshness.Inputs != a.inputs { // what was seen before counts no more
			parts, a.looks = firstLooks, nil
		}
		a.inputs, a.next, a.err = current.Freshness.Inputs, now.Add(lookEvery), nil
		for n := parts; n > 0 && a.err == nil; n-- {
			a.err = a.look(ctx, now.Add(a.lead/n))
		}
	}
	a.looks = slices.DeleteFunc(a.looks, func(l look) bool { return l.at.Before(now) })
	for _, l := range a.looks {
		for name, n := range l.vms {
			p.VMs[name] = max(p.VMs[name], n)
		}
	}
	p.Unsure = a.err
	return nil
}

// look asks for the plan of a moment.
func (a *planned) look(ctx context.Context, at time.Time) error {
	problem, err := a.s.Call(ctx, openapi.GetProblem(a.cluster, &openapi.GetProblemQuery{At: at.UTC().Format(time.RFC3339)}))
	if err != nil {
		return err
	}
	answer, err := a.s.Call(ctx, openapi.Solve(), remote.JSONBody(problem.Body))
	if err != nil {
		return err
	}
	var plan struct{ VMs vmTotals }
	if err := answer.Into(&plan); err != nil {
		return err
	}
	l := look{at, map[string]int64{}}
	if err := a.count(l.vms, plan.VMs, int64(math.Ceil(plan.VMs.Total-1e-7))); err != nil {
		return err
	}
	a.looks = append(a.looks, l)
	return nil
}
