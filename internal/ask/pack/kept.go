package pack

import (
	"encoding/json"
	"time"
)

// MaxKeptPackings is the number of packings stored for a cluster.
const MaxKeptPackings = 200

// PackingKind names a stored packing in the audit log.
const PackingKind = "packing"

// PackingSummary sums up a stored packing.
type PackingSummary struct {
	ID                string           `json:"id"`
	Cluster           string           `json:"cluster"`
	CreatedAt         time.Time        `json:"created_at"`
	CreatedBy         string           `json:"created_by"` // the key's name
	Algorithm         PackingAlgorithm `json:"algorithm"`
	Status            PackingStatus    `json:"status"`
	Machines          int64            `json:"machines"`
	VMs               int64            `json:"vms"` // that have a disk
	Jobs              int64            `json:"jobs"`
	BusySeconds       float64          `json:"busy_s"`
	EndSeconds        float64          `json:"end_s"`
	SequentialSeconds float64          `json:"sequential_s"`
	LowerBoundSeconds float64          `json:"lower_bound_s"`
	Missed            int64            `json:"missed"` // jobs that end after their deadline
}

// KeptPacking is a packing with the exact batch that it answers.
type KeptPacking struct {
	PackingSummary
	Batch   json.RawMessage `json:"batch"`   // a PackingProblem
	Packing json.RawMessage `json:"packing"` // a Packing
}

// Keep prepares a packing for storage.
func Keep(cluster string, p PackingProblem, a Packing) (KeptPacking, error) {
	k := KeptPacking{PackingSummary: PackingSummary{
		Cluster: cluster, Algorithm: a.Algorithm, Status: a.Status, Machines: p.Machines.Count, VMs: p.Machines.VMs(),
		BusySeconds: a.BusySeconds, EndSeconds: a.EndSeconds, SequentialSeconds: a.SequentialSeconds, LowerBoundSeconds: a.LowerBoundSeconds,
	}}
	for _, j := range p.Jobs {
		k.Jobs += j.Count
	}
	if a.Deadlines != nil {
		k.Missed = a.Deadlines.Missed
	}
	var err error
	if k.Batch, err = json.Marshal(p); err == nil {
		k.Packing, err = json.Marshal(a)
	}
	return k, err
}
