package pack

import (
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
)

// PackingProblem is a batch of jobs and the machines that must run it. Nothing is rented: the question is the order
// of the jobs, and which run at once. As JSON:
//
//	{"machines": {"count": 11, "disks": 4, "hosts_per_extra": 2, "penalty": 1.2},
//	 "jobs": [{"name": "sort", "count": 3, "role": "host", "model": {"a": 4000, "b": -0.8}, "min_vms": 4},
//	          {"name": "index", "measurements": [{"vms": 6, "seconds": 900}, {"vms": 12, "seconds": 520}],
//	           "usage": {"cpu_percent": 85, "io_mb_s": 20}}],
//	 "options": {"algorithm": "multi"}}
type PackingProblem struct {
	Machines Machines       `json:"machines"`
	Jobs     []BatchJob     `json:"jobs"`
	Options  PackingOptions `json:"options"`
}

// Machines is a fixed cluster of equal machines. Every disk carries one VM. While jobs of the right kinds run at
// once, a machine carries extra VMs besides, which have no disk of their own.
type Machines struct {
	Count int64 `json:"count"` // P in the paper
	Disks int64 `json:"disks"` // of each machine: k
	// HostsPerExtra is the number of I/O-bound VMs that a machine must run for each extra VM of CPU-bound jobs: r; 0:
	// no extra VMs.
	HostsPerExtra int64 `json:"hosts_per_extra"`
	// Penalty multiplies the times of jobs on machines with extra VMs: alpha.
	Penalty float64 `json:"penalty"`
}

// VMs counts the VMs with a disk.
func (m Machines) VMs() int64 { return m.Count * m.Disks }

// extrasPerMachine counts the extra VMs on a machine full of I/O-bound VMs.
func (m Machines) extrasPerMachine() int64 {
	if m.HostsPerExtra == 0 {
		return 0
	}
	return m.Disks / m.HostsPerExtra
}

// BatchJob is one kind of job in a batch. A model or measurements give the time of a job.
type BatchJob struct {
	Name         string             `json:"name"`
	Count        int64              `json:"count"` // number of equal jobs; default 1
	Model        *perf.PowerModel   `json:"model,omitempty"`
	Measurements []perf.Measurement `json:"measurements,omitempty"`
	Fit          perf.FitMethod     `json:"fit,omitempty"`     // of measurements; default: log
	MinVMs       int64              `json:"min_vms,omitempty"` // fewest VMs it runs on; 0: the fewest measured, or 1
	Role         perf.JobRole       `json:"role,omitempty"`    // its role besides plain; default: by its usage
	Usage        *perf.Usage        `json:"usage,omitempty"`

	// Seconds from the batch's start: earliest start and latest end. 0 is no limit.
	ReleaseSeconds  float64 `json:"release_s,omitempty"`
	DeadlineSeconds float64 `json:"deadline_s,omitempty"`
}

// PackingAlgorithm names an algorithm.
type PackingAlgorithm string

const (
	PackSequential PackingAlgorithm = "sequential" // one job after the other, each on everything
	PackPair       PackingAlgorithm = "pair"       // at most two at once: the cheapest pairing
	PackMulti      PackingAlgorithm = "multi"      // any number at once
	PackSwarm      PackingAlgorithm = "pso"        // the paper's particle swarm, for comparison
)

// PackingOptions configures a packing.
type PackingOptions struct {
	Algorithm  PackingAlgorithm `json:"algorithm"`    // default: multi
	MaxSolveMs int64            `json:"max_solve_ms"` // default: 10,000
	Seed       uint64           `json:"seed"`         // of the swarm and of searches by chance; default: 1
	Placement  bool             `json:"placement"`    // give the place of every VM; default: true
	// Above these a job is CPU-bound, or I/O-bound; defaults: 60 % and 100 MB/s.
	CPUPercent float64 `json:"cpu_percent"`
	IOMBPerS   float64 `json:"io_mb_s"`
}

// DefaultPackingOptions returns the defaults.
func DefaultPackingOptions() PackingOptions {
	return PackingOptions{Algorithm: PackMulti, MaxSolveMs: 10_000, Seed: 1, Placement: true, CPUPercent: perf.DefaultCPUPercent, IOMBPerS: perf.DefaultIOMBPerS}
}

// PackingStatus tells what is proved about a packing.
type PackingStatus string

const (
	PackingOptimal  PackingStatus = "optimal"  // nothing of its algorithm's kind is shorter
	PackingFeasible PackingStatus = "feasible" // only the gap is proved
)

// Packing lists the phases of a batch, which run one after the other.
type Packing struct {
	Algorithm         PackingAlgorithm   `json:"algorithm"`
	Status            PackingStatus      `json:"status"`
	BusySeconds       float64            `json:"busy_s"`       // the phases together
	EndSeconds        float64            `json:"end_s"`        // end of the last phase; later than BusySeconds if phases wait for releases
	SequentialSeconds float64            `json:"sequential_s"` // one job after the other
	Saving            float64            `json:"saving"`       // share of SequentialSeconds that is saved
	LowerBoundSeconds float64            `json:"lower_bound_s"`
	Gap               float64            `json:"gap"` // (busy − lower bound) / busy
	Jobs              []PackedJob        `json:"jobs"`
	Phases            []PackedPhase      `json:"phases"`
	Deadlines         *PackedDeadlines   `json:"deadlines,omitempty"` // if a job has a deadline
	Warnings          []capacity.Warning `json:"warnings"`
}

// PackedJob holds the figures that planning used for a kind of job.
type PackedJob struct {
	Name   string          `json:"name"`
	Count  int64           `json:"count"`
	Model  perf.PowerModel `json:"model"` // b is 0 if more VMs took longer
	MinVMs int64           `json:"min_vms"`
	Role   perf.JobRole    `json:"role"` // its role besides plain

	ReleaseSeconds  float64        `json:"release_s,omitempty"`
	DeadlineSeconds float64        `json:"deadline_s,omitempty"`
	Fit             *perf.PowerFit `json:"fit,omitempty"`
}

// PackedPhase lists jobs that start at once; the phase ends when all have ended.
type PackedPhase struct {
	StartSeconds float64      `json:"start_s"`
	EndSeconds   float64      `json:"end_s"`
	Seconds      float64      `json:"seconds"`
	Jobs         []PhaseJob   `json:"jobs"`
	Placement    []MachineVMs `json:"placement,omitempty"`
}

// PhaseJob is one job in its phase.
type PhaseJob struct {
	Job        string       `json:"job"`
	Number     int64        `json:"number"` // which of those alike, from 1
	Role       perf.JobRole `json:"role"`
	VMs        int64        `json:"vms"`
	Seconds    float64      `json:"seconds"`
	EndSeconds float64      `json:"end_s"`
	Late       bool         `json:"late,omitempty"`
}

// MachineVMs lists the VMs on a machine. Disks has the phase's job, from 0, whose VM is on each disk, or -1; Extras
// has the jobs of the extra VMs.
type MachineVMs struct {
	Disks  []int `json:"disks"`
	Extras []int `json:"extras,omitempty"`
}

// PackedDeadlines counts the jobs with a deadline that are done in time.
type PackedDeadlines struct {
	Met    int64 `json:"met"`
	Missed int64 `json:"missed"`
	// Proved means that no order of any phases meets more.
	Proved bool   `json:"proved"`
	Basis  string `json:"basis"` // the candidates it was chosen from, as a sentence
}

// PackingQuestion holds a batch and the question: how to pack it, or one of the others.
type PackingQuestion struct {
	Batch   PackingProblem `json:"batch"`
	Compare bool           `json:"compare,omitempty"`  // by every algorithm
	OneMore bool           `json:"one_more,omitempty"` // also with one more machine
	// BySeconds, if not 0, asks for the fewest machines on which the batch is done by then.
	BySeconds float64 `json:"by_s,omitempty"`
	// Sources describe the data behind the times of a batch of classes; nil for a batch that was sent.
	Sources []PackingSource `json:"sources,omitempty"`
}

// PackingAnswer answers a question: with a packing, and that of one more machine; with those of every algorithm; or
// with the fewest machines.
type PackingAnswer struct {
	Packing  *Packing        `json:"packing,omitempty"`
	OneMore  *Packing        `json:"one_more,omitempty"`
	Compared []Packing       `json:"compared,omitempty"` // the slowest kind first
	Machines *MachinesAnswer `json:"machines,omitempty"`
	// Of a batch of classes: the packed batch and its sources.
	Batch   *PackingProblem `json:"exact_batch,omitempty"`
	Sources []PackingSource `json:"sources,omitempty"`
}

// MachinesAnswer holds the fewest machines on which a batch is done in time.
type MachinesAnswer struct {
	BySeconds float64         `json:"by_s"`
	Machines  int64           `json:"machines"`
	Proved    bool            `json:"proved"` // that fewer do not suffice
	Packing   Packing         `json:"packing"`
	Tried     []TriedMachines `json:"tried"` // fewest first
}

// TriedMachines holds a batch's times on a number of machines.
type TriedMachines struct {
	Machines          int64   `json:"machines"`
	EndSeconds        float64 `json:"end_s"`
	LowerBoundSeconds float64 `json:"lower_bound_s"`
}
