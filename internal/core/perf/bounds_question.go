package perf

import (
	"example.org/headroom/internal/core/capacity"
)

// BoundsQuestion asks for bounds on a time. Exactly one member is set, chosen by the JSON member "kind": phase,
// two_jobs, shared_phase or job.
type BoundsQuestion struct {
	Phase       *PhaseQuestion
	TwoJobs     *TwoJobsQuestion
	SharedPhase *SharedPhaseQuestion
	Job         *JobQuestion
}

// PhaseQuestion describes one phase alone on its slots.
type PhaseQuestion struct {
	Tasks       int64   `json:"tasks"`
	MeanSeconds float64 `json:"mean_s"`
	MaxSeconds  float64 `json:"max_s"`
	Slots       int64   `json:"slots"`
}

// TwoJobsQuestion describes two jobs that start together and lend each other idle slots.
type TwoJobsQuestion struct {
	Slots int64       `json:"slots"`
	Jobs  []PairedJob `json:"jobs"` // exactly two
}

// PairedJob is one of two jobs on shared slots; Share is in slots.
type PairedJob struct {
	Tasks       int64   `json:"tasks"`
	MeanSeconds float64 `json:"mean_s"`
	MaxSeconds  float64 `json:"max_s"`
	Share       float64 `json:"share"`
}

// SharedPhaseQuestion describes one phase of a class that has a share (0..1) of the slots and divides it among its
// concurrent jobs.
type SharedPhaseQuestion struct {
	Tasks       int64   `json:"tasks"`
	MeanSeconds float64 `json:"mean_s"`
	MaxSeconds  float64 `json:"max_s"`
	Slots       int64   `json:"slots"`
	Share       float64 `json:"share"`
	Jobs        int64   `json:"jobs"`
}

// JobQuestion describes a whole execution of a class with a share of the map and of the reduce slots.
type JobQuestion struct {
	Profile capacity.Profile `json:"profile"`
	Slots   SlotPools        `json:"slots"`
	Share   PhaseShare       `json:"share"`
	Jobs    int64            `json:"jobs"`
}

// PhaseShare is a class's share (0..1) of the map and of the reduce slots.
type PhaseShare struct {
	Map    float64 `json:"map"`
	Reduce float64 `json:"reduce"`
}

// SlotPools counts all map and all reduce slots.
type SlotPools struct {
	Map    int64 `json:"map"`
	Reduce int64 `json:"reduce"`
}
