package dispatch

// TaskKind names a kind of tasks.
type TaskKind string

const (
	MapTask    TaskKind = "map"
	ReduceTask TaskKind = "reduce"
)

// RefusalReason names the reason why a job may not start now.
type RefusalReason string

// The reasons. All may pass with time: places are freed, and plans change.
const (
	Full         RefusalReason = "full"          // as many run as may
	NoneAdmitted RefusalReason = "none_admitted" // the plan admits no job of the class
	NotPlanned   RefusalReason = "not_planned"   // the plan does not know the class
)
