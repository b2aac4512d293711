package perf

// TaskUsage rates each use from 1 (next to nothing) to 10 (everything); 0 is unknown.
type TaskUsage struct {
	CPU     float64 `json:"cpu,omitempty"`
	Memory  float64 `json:"memory,omitempty"`
	Disk    float64 `json:"disk,omitempty"`
	Network float64 `json:"network,omitempty"`
}

// MeasuredTasks holds seconds of tasks, or equally spaced quantiles of them, by phase. For an empty list the
// profile's figures count.
type MeasuredTasks struct {
	MapSeconds          []float64   `json:"map_s,omitempty"`
	FirstShuffleSeconds []float64   `json:"first_shuffle_s,omitempty"`
	ShuffleSeconds      []float64   `json:"shuffle_s,omitempty"`
	ReduceSeconds       []float64   `json:"reduce_s,omitempty"`
	StageSeconds        [][]float64 `json:"stage_s,omitempty"` // of a chain, by stage
}
