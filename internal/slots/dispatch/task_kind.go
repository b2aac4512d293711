package dispatch

// TaskKind is what a task does.
type TaskKind string

const (
	MapTask    TaskKind = "map"
	ReduceTask TaskKind = "reduce"
)

// RefusalReason is why a job may not start now.
type RefusalReason string

// The reasons. All may pass with time: places are freed, and plans change.
const (
	Full         RefusalReason = "full"          // as many run as may
	NoneAdmitted RefusalReason = "none_admitted" // the plan admits no job of the class
	NotPlanned   RefusalReason = "not_planned"   // the plan does not know the class
)
