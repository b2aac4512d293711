package client

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"
)

// Question is a problem to solve: what may be rented, and which jobs ask for it. Money is a decimal such as "0.10".
// docs/reference/problem.md explains each member. Solve takes other values, too, for problems with more than these.
type Question struct {
	Currency string   `json:"currency"`
	PeriodS  int64    `json:"period_s,omitempty"` // 0 is an hour
	Supply   Supply   `json:"supply"`
	Classes  []Class  `json:"classes"`
	Options  *Options `json:"options,omitempty"`
}

// Supply holds VMs of one kind.
type Supply struct {
	OnDemand  OnDemand   `json:"on_demand"`
	Contracts []Contract `json:"contracts,omitempty"`
}

// OnDemand holds VMs rented by the hour.
type OnDemand struct {
	Price string `json:"price"`
	Quota *int64 `json:"quota,omitempty"` // nil is no limit
}

// A Contract holds reserved VMs.
type Contract struct {
	Name    string `json:"name"`
	VMs     int64  `json:"vms"`
	Price   string `json:"price"`
	Billing string `json:"billing,omitempty"` // used or always
}

// A Class is a kind of job. It has a profile, a demand, or VMs per job.
type Class struct {
	Name       string   `json:"name"`
	Profile    *Profile `json:"profile,omitempty"`
	Demand     *Demand  `json:"demand,omitempty"`
	VMsPerJob  string   `json:"vms_per_job,omitempty"`
	DeadlineS  float64  `json:"deadline_s,omitempty"`
	SlotsPerVM *Slots   `json:"slots_per_vm,omitempty"`
	Jobs       Jobs     `json:"jobs"`
	Penalty    string   `json:"penalty"` // the value of a job that is refused, a period
}

// A Profile holds the figures of one execution. Those of reduces are for jobs that have them.
type Profile struct {
	MapTasks         int64   `json:"map_tasks"`
	ReduceTasks      int64   `json:"reduce_tasks"`
	MapAvgS          float64 `json:"map_avg_s"`
	MapMaxS          float64 `json:"map_max_s"`
	FirstShuffleAvgS float64 `json:"first_shuffle_avg_s,omitempty"`
	FirstShuffleMaxS float64 `json:"first_shuffle_max_s,omitempty"`
	ShuffleAvgS      float64 `json:"shuffle_avg_s,omitempty"`
	ShuffleMaxS      float64 `json:"shuffle_max_s,omitempty"`
	ReduceAvgS       float64 `json:"reduce_avg_s,omitempty"`
	ReduceMaxS       float64 `json:"reduce_max_s,omitempty"`
	OverheadS        float64 `json:"overhead_s,omitempty"`
}

// A Demand holds the three figures of a class's time.
type Demand struct {
	MapWorkS    float64 `json:"map_work_s"`
	ReduceWorkS float64 `json:"reduce_work_s"`
	FixedS      float64 `json:"fixed_s"`
}

// Slots counts slots of both phases.
type Slots struct {
	Map    float64 `json:"map"`
	Reduce float64 `json:"reduce"`
}

// Jobs counts jobs at once: those promised, and those asked for.
type Jobs struct {
	Min float64 `json:"min"`
	Max float64 `json:"max"`
}

// Options holds settings of the solve; what is empty has its default.
type Options struct {
	Integrality string  `json:"integrality,omitempty"`
	Bound       string  `json:"bound,omitempty"`
	Engine      string  `json:"engine,omitempty"`
	Sharing     string  `json:"sharing,omitempty"`
	Gap         float64 `json:"gap,omitempty"`
	MaxSolveMs  int64   `json:"max_solve_ms,omitempty"`
}

// A Plan says what to rent and which jobs to admit.
type Plan struct {
	Status    string      `json:"status"` // optimal or feasible
	Objective string      `json:"objective"`
	Cost      Cost        `json:"cost"`
	VMs       VMs         `json:"vms"`
	Classes   []ClassPlan `json:"classes"`
	Proof     *Proof      `json:"proof"`
	Warnings  []Fault     `json:"warnings"`
}

// Cost holds amounts a period. The bill is paid; penalties are the value of refused jobs to you.
type Cost struct {
	Bill      string `json:"bill"`
	Penalties string `json:"penalties"`
	Total     string `json:"total"`
	Currency  string `json:"currency"`
	PeriodS   int64  `json:"period_s"`
}

// VMs counts what to rent.
type VMs struct {
	Total    float64 `json:"total"`
	Reserved float64 `json:"reserved"`
	OnDemand float64 `json:"on_demand"`
	Spot     float64 `json:"spot"`
}

// A ClassPlan is the part of a class.
type ClassPlan struct {
	Name     string  `json:"name"`
	Admitted float64 `json:"admitted"`
	Refused  float64 `json:"refused"`
	VMs      float64 `json:"vms"`
	Slots    *Slots  `json:"slots"`
	Verdict  string  `json:"verdict"`
	Reason   string  `json:"reason"`
}

// A Proof says how far from the optimum the plan can be.
type Proof struct {
	Bound  string  `json:"bound"`
	Gap    float64 `json:"gap"`
	Method string  `json:"method"`
	Engine string  `json:"engine"`
}

// Solve plans a problem: a Question, or any other value that is one as JSON. A problem that no plan answers is a
// *Problem of the kind infeasible, with conflicts.
func (c *Client) Solve(ctx context.Context, question any) (Plan, error) {
	var plan Plan
	r, err := asJSON(http.MethodPost, path("solve"), question)
	if err == nil {
		err = c.send(ctx, r, &plan)
	}
	return plan, err
}

// A CurrentPlan is the plan of a cluster that holds now.
type CurrentPlan struct {
	ID        string    `json:"id"`
	Number    int64     `json:"number"`
	At        time.Time `json:"at"`
	Why       string    `json:"why"`
	Plan      Plan      `json:"plan"`
	Freshness Freshness `json:"freshness"`
}

// Freshness says whether a plan may still be relied on.
type Freshness struct {
	ConfirmedAt time.Time `json:"confirmed_at"`
	ValidUntil  time.Time `json:"valid_until"`
	Stale       bool      `json:"stale"`
}

// CurrentPlan reads the plan of a cluster that holds now.
func (c *Client) CurrentPlan(ctx context.Context, cluster string) (CurrentPlan, error) {
	var plan CurrentPlan
	err := c.send(ctx, request{method: http.MethodGet, path: path("clusters", cluster, "plans", "current")}, &plan)
	return plan, err
}

// Scaling holds what an autoscaler follows.
type Scaling struct {
	Number     int64                   `json:"number"`
	Status     string                  `json:"status"`
	Stale      bool                    `json:"stale"` // the last good plan, to be taken with care
	ValidUntil time.Time               `json:"valid_until"`
	VMs        ScalingVMs              `json:"vms"`
	Classes    map[string]ScalingClass `json:"classes"`
	Types      map[string]int64        `json:"types"`      // VMs of each type, where the cluster has several,
	SpotTypes  map[string]int64        `json:"spot_types"` // and those of them that are spot

	Next         []ScalingNext `json:"next"`          // with a lead: the changes of a day ahead,
	NextUntil    *time.Time    `json:"next_until"`    // up to when these are complete,
	NextComplete bool          `json:"next_complete"` // that they are so for a day,
	NextProblem  string        `json:"next_problem"`  // and why what follows cannot be planned
}

// ScalingNext holds the VMs from a moment ahead on.
type ScalingNext struct {
	At        time.Time        `json:"at"`
	VMs       int64            `json:"vms"`
	Reserved  int64            `json:"reserved"`
	OnDemand  int64            `json:"on_demand"`
	Spot      int64            `json:"spot"`
	Types     map[string]int64 `json:"types"`
	SpotTypes map[string]int64 `json:"spot_types"`
	Classes   map[string]int64 `json:"classes"`
}

// ScalingVMs counts whole VMs that should run.
type ScalingVMs struct {
	Total    int64 `json:"total"`
	Reserved int64 `json:"reserved"`
	OnDemand int64 `json:"on_demand"`
	Spot     int64 `json:"spot"`
	Planned  int64 `json:"planned"` // the plan's own total
	Held     bool  `json:"held"`    // a decrease is held back
	Ahead    bool  `json:"ahead"`   // the total is that of a change within the lead
}

// ScalingClass is the part of a class.
type ScalingClass struct {
	VMs         int64   `json:"vms"`
	SlotsMap    int64   `json:"slots_map"`
	SlotsReduce int64   `json:"slots_reduce"`
	Admitted    float64 `json:"admitted"`
}

// Scaling reads how many VMs and slots a cluster should have. With a lead, which says how long a VM takes until it can work,
// VMs are the most of any moment up to then; 0 is now alone.
func (c *Client) Scaling(ctx context.Context, cluster string, lead time.Duration) (Scaling, error) {
	var s Scaling
	address := path("clusters", cluster, "plans", "current", "scaling")
	if lead > 0 {
		address += "?lead=" + strconv.FormatInt(int64(math.Ceil(lead.Seconds())), 10)
	}
	err := c.send(ctx, request{method: http.MethodGet, path: address}, &s)
	return s, err
}
