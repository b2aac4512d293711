package plans

import (
	"context"
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
	Failure     *string         `json:"failure"`      // why the last try to make a newer plan failed; nil if it did not
	Days        []*money.Amount `json:"days"`         // the bills of the last days, per period of the plan, the newest last; nil where no plan held
	ContractEnd *ContractEnd    `json:"contract_end"` // the next one; nil if no contract runs
}

// ContractEnd is the end of a contract that runs now.
type ContractEnd struct {
	Name string    `json:"name"`
	VMs  int64     `json:"vms"`
	Ends time.Time `json:"ends"`
}

// Overview sums up the clusters that the caller may see, by name.
func (d *Desk) Overview(ctx context.Context, page storage.Page) (storage.Listed[Overview], error) {
	return d.store.Overview(ctx, auth.From(ctx).Clusters, d.now(), page)
}
