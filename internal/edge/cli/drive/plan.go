package drive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/slots/drive"
	"example.org/headroom/openapi"
)

// planned reads what a plan means now. With types it finds how many VMs of each type must run, or must have been asked for,
// so that they are there in time.
type planned struct {
	s       *remote.Service
	cluster string
	types   []string // whose nodes follow
	lead    time.Duration
}

// unknownName is of a name that a flag has and the cluster does not.
type unknownName struct{ error }

// known refuses the first name that the cluster does not have.
func (a *planned) known(what, flag string, names, has []string) error {
	for _, name := range names {
		if !slices.Contains(has, name) {
			return unknownName{fmt.Errorf("the cluster %s has no %s %q (--%s); it has %s", a.cluster, what, name, flag, strings.Join(has, ", "))}
		}
	}
	return nil
}

// checkTypes refuses a type that the cluster does not have: the VMs of another would count for it. A server of before
// that agents could list types says nothing.
func (a *planned) checkTypes(ctx context.Context) error {
	items, err := a.s.Items(ctx, 0, openapi.ListVMTypes(a.cluster))
	var refused *remote.Problem
	switch {
	case errors.As(err, &refused) && refused.Status == http.StatusForbidden:
		return nil
	case err != nil:
		return err
	}
	var has []string
	for _, item := range items {
		var t struct {
			Name string `json:"name"`
		}
		if err := json.Unmarshal(item, &t); err != nil {
			return err
		}
		has = append(has, t.Name)
	}
	return a.known("VM type", "nodes", a.types, has)
}

// count counts the VMs of the types that follow.
func (a *planned) count(p plans.Scaling) (map[string]int64, error) {
	to := map[string]int64{}
	if len(p.Types) == 0 {
		if len(a.types) > 1 {
			return nil, errors.New("the plan has one VM type and does not name it; say with --nodes where its nodes are, and leave the others out")
		}
		to[a.types[0]] = p.VMs.Total
		return to, nil
	}
	for _, name := range a.types {
		to[name] = p.Types[name]
	}
	return to, nil
}

func noPlan(cluster string) error {
	return errors.New("no plan keeps every promise; \"headroom plan explain " + cluster + "\" says why")
}

// plan reads how many jobs of each class the current plan admits, and how many VMs must have been asked for by now.
func (a *planned) plan(ctx context.Context) (drive.Plan, error) {
	p := drive.Plan{Places: map[string]int64{}, Shares: map[string]float64{}}
	query := &openapi.GetScalingQuery{}
	if seconds := int64(math.Ceil(a.lead.Seconds())); len(a.types) > 0 && seconds > 0 {
		query.Lead = strconv.FormatInt(seconds, 10)
	}
	answer, err := a.s.Call(ctx, openapi.GetScaling(a.cluster, query))
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
	if p.Later, err = a.later(ctx, now, p.Places); err != nil || len(a.types) == 0 {
		return p, err
	}
	if err := a.checkTypes(ctx); err != nil {
		return p, err
	}
	if p.VMs, err = a.count(now); err != nil {
		return p, err
	}
	p.Unsure = a.unsure(now, time.Now())
	return p, nil
}

// later tells when VMs are planned next for classes without places. What comes is asked for only where there is such a class.
func (a *planned) later(ctx context.Context, now plans.Scaling, places map[string]int64) (map[string]time.Time, error) {
	if now.NextUntil == nil && slices.Contains(slices.Collect(maps.Values(places)), 0) {
		answer, err := a.s.Call(ctx, openapi.GetScaling(a.cluster, &openapi.GetScalingQuery{Lead: "1"}))
		if err != nil {
			return nil, err
		}
		if err := answer.Into(&now); err != nil {
			return nil, err
		}
	}
	if now.NextUntil == nil {
		return nil, nil
	}
	return nextVMs(places, now.Next, *now.NextUntil, time.Now().Add(plans.LongestLead)), nil
}

// nextVMs returns the first moment at which each class without places has VMs, of those before the end. Moments beyond until
// are of earlier inputs, which say nothing of what comes now.
func nextVMs(places map[string]int64, next []plans.ScalingNext, until, end time.Time) map[string]time.Time {
	later := map[string]time.Time{}
	for _, moment := range next {
		if moment.At.After(until) || moment.At.After(end) {
			break
		}
		for class, vms := range moment.Classes {
			if _, known := later[class]; !known && places[class] == 0 && vms > 0 {
				later[class] = moment.At
			}
		}
	}
	return later
}

// unsure says why it is not known how many VMs are needed next.
func (a *planned) unsure(now plans.Scaling, at time.Time) error {
	switch {
	case now.NextUntil == nil || !now.NextUntil.Before(at.Add(a.lead)):
		return nil
	case now.NextProblem != "":
		return errors.New(now.NextProblem)
	}
	return fmt.Errorf("what comes after %s is not planned yet", now.NextUntil.Format(time.RFC3339))
}
