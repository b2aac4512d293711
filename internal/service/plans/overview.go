package plans

import (
	"context"
	"slices"
	"time"

	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
)

// OverviewDays is the number of days that an overview looks back.
const OverviewDays = 14

// Overview sums up a cluster in one line, beside those of all others.
type Overview struct {
	Cluster     string          `json:"cluster"`
	Plan        *PlanSummary    `json:"plan"` // the current one; nil without any
	Stale       bool            `json:"stale"`
	Pin         *Pin            `json:"pin"`          // nil where the plan is not pinned
	Waiting     *int64          `json:"waiting"`      // the newer plan that waits for the pin's end; nil where none does
	Failure     *string         `json:"failure"`      // why the last try to make a newer plan failed; nil if it did not
	Month       *MonthSoFar     `json:"month"`        // nil without a plan
	Days        []*money.Amount `json:"days"`         // the bills of the last days, per period of the plan, the newest last; nil where no plan held
	ContractEnd *ContractEnd    `json:"contract_end"` // the next one; nil if no contract runs
}

// MonthSoFar is the VM bill of the plans that were in force in this month, in UTC, until now. It begins later where the
// first plan in the currency of the current one does.
type MonthSoFar struct {
	From  time.Time    `json:"from"`
	Until time.Time    `json:"until"`
	Bill  money.Amount `json:"bill"` // without upfront payments, as bills of plans are
}

// ContractEnd is the end of a contract that runs now.
type ContractEnd struct {
	Name string    `json:"name"`
	VMs  int64     `json:"vms"`
	Ends time.Time `json:"ends"`
}

// Overview sums up the clusters that the caller may see, by name; only one of them, unless its name is "".
func (d *Desk) Overview(ctx context.Context, cluster string, page storage.Page) (storage.Listed[Overview], error) {
	only := auth.From(ctx).Clusters
	if cluster != "" && only != nil && !slices.Contains(only, cluster) {
		only = []string{}
	} else if cluster != "" {
		only = []string{cluster}
	}
	return d.store.Overview(ctx, only, d.now(), page)
}
