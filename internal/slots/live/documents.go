package live

import (
	"encoding/json"
	"time"

	"headroom/internal/core/capacity"
	"headroom/internal/core/perf"
	"headroom/internal/slots/dispatch"
)

// What the audit log calls the parts of a live cluster.
const (
	LiveSettingsKind = "live_settings"
	LiveNodeKind     = "live_node"
	LiveJobKind      = "live_job"
	KnowledgeKind    = "classifier"
)

// LiveSettings is how tasks are handed to the nodes of a cluster as they tell of themselves.
type LiveSettings struct {
	Policy dispatch.PolicyConfig `json:"policy"`
	Slots  SlotLayout            `json:"slots"`
	// Shares are the classes' slots under the policies fair and capacity; a class that is not named has none.
	Shares []SlotShare `json:"shares"`
	// Admission is which jobs are taken in.
	Admission dispatch.LiveAdmission `json:"admission"`
	// HeartbeatSeconds is how often nodes are asked to tell of themselves; one that says nothing for
	// NodeTimeoutSeconds counts as dead, and its tasks are handed out again.
	HeartbeatSeconds   float64 `json:"heartbeat_s"`
	NodeTimeoutSeconds float64 `json:"node_timeout_s"`

	Version   int64     `json:"version"`
	UpdatedAt time.Time `json:"updated_at,omitzero"` // zero where nobody has changed them
}

// SlotShare is what a class of jobs gets of the slots.
type SlotShare struct {
	Class     string  `json:"class"`
	Weight    float64 `json:"weight"`                 // its part of what classes share, as against the others'
	Min       int64   `json:"min,omitempty"`          // slots that it gets before others get more than theirs
	Most      int64   `json:"most,omitempty"`         // slots that it may hold; 0 is no limit
	MaxPerJob int64   `json:"most_per_job,omitempty"` // likewise each of its jobs
}

// SlotLayout says which slots run which tasks.
type SlotLayout string

const (
	SlotsShared   SlotLayout = "shared"   // every slot runs maps and reduces
	SlotsSeparate SlotLayout = "separate" // map slots run maps, reduce slots run reduces
)

// DefaultLiveSettings holds until somebody decides otherwise.
func DefaultLiveSettings() LiveSettings {
	return LiveSettings{Policy: dispatch.PolicyConfig{Kind: dispatch.PolicyFIFO}, Slots: SlotsShared, Shares: []SlotShare{}, Admission: dispatch.LiveOpen, HeartbeatSeconds: 5, NodeTimeoutSeconds: 600, Version: 1}
}

// UnmarshalJSON fills in what is left out.
func (s *LiveSettings) UnmarshalJSON(text []byte) error {
	type plain LiveSettings
	*s = DefaultLiveSettings()
	return json.Unmarshal(text, (*plain)(s))
}

// LiveNode is a machine that runs tasks.
type LiveNode struct {
	Name  string    `json:"name"`
	Type  string    `json:"type"` // nodes of one type are alike
	Cores float64   `json:"cores"`
	Slots NodeSlots `json:"slots"` // where slots are shared, their sum counts
	// Dedicated nodes run tasks alone. Others do work of their own besides, and say what it leaves.
	Dedicated bool `json:"dedicated"`
	// ComputeUnits stands for how fast it is until that is measured; 0: its cores do.
	ComputeUnits float64 `json:"compute_units"`

	// Of its heartbeats.
	State           NodeHealth  `json:"state"`
	LastHeartbeatAt *time.Time  `json:"last_heartbeat_at"`
	Seq             int64       `json:"seq"`      // of the last heartbeat
	Boot            string      `json:"boot"`     // likewise
	Residual        float64     `json:"residual"` // the part of its processors that it leaves to tasks
	Report          *NodeReport `json:"report"`
	Running         int64       `json:"running"` // tasks

	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// UnmarshalJSON fills in what is left out.
func (n *LiveNode) UnmarshalJSON(text []byte) error {
	type plain LiveNode
	*n = LiveNode{Dedicated: true}
	return json.Unmarshal(text, (*plain)(n))
}

// NodeSlots is how many tasks of each kind a node runs at once.
type NodeSlots struct {
	Map    int64 `json:"map"`
	Reduce int64 `json:"reduce"`
}

// NodeHealth is whether a node tells of itself.
type NodeHealth string

const (
	NodeNew   NodeHealth = "new" // it has not yet
	NodeAlive NodeHealth = "alive"
	NodeDead  NodeHealth = "dead"
)

// NodeReport is the state that a node tells of. What is left out stays as it was told last.
type NodeReport struct {
	Load1         *float64                `json:"load1,omitempty"`
	CPUPercent    *float64                `json:"cpu_percent,omitempty"`
	MemoryPercent *float64                `json:"memory_percent,omitempty"`
	NetMBPerS     *float64                `json:"net_mb_s,omitempty"`
	DiskMBPerS    *float64                `json:"disk_mb_s,omitempty"`
	Residual      *float64                `json:"residual,omitempty"`
	Features      map[string]FeatureValue `json:"features,omitempty"` // that the cluster adds
}

// FeatureValue is a number or a word.
type FeatureValue struct {
	Number *float64
	Word   string
}

// MarshalJSON writes it as JSON has it.
func (f FeatureValue) MarshalJSON() ([]byte, error) {
	if f.Number != nil {
		return json.Marshal(*f.Number)
	}
	return json.Marshal(f.Word)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (f *FeatureValue) UnmarshalJSON(text []byte) error {
	*f = FeatureValue{}
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &f.Word)
	}
	return json.Unmarshal(text, &f.Number)
}

// Heartbeat is what a node tells of itself.
type Heartbeat struct {
	Seq int64 `json:"seq"` // grows with every heartbeat
	// Boot is another one after each start of the node's agent; then seq may begin anew.
	Boot     string         `json:"boot,omitempty"`
	At       *time.Time     `json:"at,omitempty"` // by the node's clock
	State    *NodeReport    `json:"state,omitempty"`
	Running  []int64        `json:"running"` // every assignment that it has, also those not yet begun
	Finished []FinishedTask `json:"finished,omitempty"`
	Failed   []FailedTask   `json:"failed,omitempty"`
	// Leaving: the node's agent is about to end, and gets no more tasks.
	Leaving bool `json:"leaving,omitempty"`
}

// FinishedTask is an assignment that has done its work.
type FinishedTask struct {
	Assignment int64   `json:"assignment"`
	Seconds    float64 `json:"seconds,omitempty"` // that it ran; 0: since it was handed out
}

// FailedTask is an assignment that has not.
type FailedTask struct {
	Assignment int64  `json:"assignment"`
	Reason     string `json:"reason,omitempty"`
}

// HeartbeatAnswer is what the node is to do.
type HeartbeatAnswer struct {
	Node        string          `json:"node"`
	Seq         int64           `json:"seq"`
	At          time.Time       `json:"at"` // by the server's clock
	Assignments []Assignment    `json:"assignments"`
	Stop        []StopTask      `json:"stop"`  // before the assignments are begun
	Notes       []HeartbeatNote `json:"notes"` // what was not as it should be, and what was made of it
	// HeartbeatSeconds is in how many seconds the next heartbeat is expected.
	HeartbeatSeconds float64 `json:"heartbeat_s"`
}

// Assignment is a task that a node is to run, and why that one.
type Assignment struct {
	Assignment int64             `json:"assignment"` // its number in the cluster
	Job        int64             `json:"job"`
	JobName    string            `json:"job_name"`
	Class      string            `json:"class,omitempty"` // the job's, to nodes
	Kind       dispatch.TaskKind `json:"kind"`
	Task       int64             `json:"task"`            // its number among the job's of its kind, from 0
	Attempt    int64             `json:"attempt"`         // from 1
	Local      bool              `json:"local,omitempty"` // the job prefers this node for the task
	Decided
}

// Decided is why a task was chosen.
type Decided struct {
	Rule    string           `json:"rule"`   // a stable name of what decided
	Reason  string           `json:"reason"` // a sentence
	Figures []DecisionFigure `json:"figures,omitempty"`
}

// DecisionFigure is a number that a choice was made by.
type DecisionFigure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// StopTask is an assignment that the node should end, because it is no longer its own.
type StopTask struct {
	Assignment int64  `json:"assignment"`
	Code       string `json:"code"`
	Reason     string `json:"reason"`
}

// HeartbeatNote says what was made of something unexpected.
type HeartbeatNote struct {
	Assignment int64  `json:"assignment,omitempty"`
	Code       string `json:"code"`
	Detail     string `json:"detail"`
}

// LiveJobRequest asks for a job's tasks to be run.
type LiveJobRequest struct {
	Name    string `json:"name"`
	Class   string `json:"class"` // jobs of one class take alike; default its name
	Maps    int64  `json:"maps"`
	Reduces int64  `json:"reduces"`
	// Slowstart is the part of the maps that must be done before reduces start; default 1. Where slots are
	// shared, reduces start when all maps have ended.
	Slowstart       float64    `json:"slowstart"`
	DeadlineAt      *time.Time `json:"deadline_at"`  // or
	DeadlineSeconds float64    `json:"deadline_s"`   // from now; 0 is none
	MaxAttempts     int64      `json:"max_attempts"` // of a task until the job has failed; default 4
	Weight          float64    `json:"weight"`       // default 1
	MinShare        float64    `json:"min_share"`
	ReadMBPerS      float64    `json:"read_mb_s"`       // by one task on a dedicated node, from each data node
	Local           []LocalMap `json:"local,omitempty"` // where maps have their data
	Usage           TasksUsage `json:"usage,omitzero"`
	// UsageFrom is where the usage comes from. Where a job says nothing of either, the usage is what was measured of
	// its class, and this says so.
	UsageFrom string     `json:"usage_from,omitempty"`
	Utility   JobUtility `json:"utility,omitzero"`
}

// TasksUsage is what a job's tasks use, under the policy learned.
type TasksUsage struct {
	Map    perf.TaskUsage `json:"map,omitzero"`
	Reduce perf.TaskUsage `json:"reduce,omitzero"`
}

// JobUtility is what a job's tasks are worth under the policy learned, by the utility that asks.
type JobUtility struct {
	Worth    float64 `json:"worth,omitempty"`    // budget: of a task while there is a balance; 0 is 1
	Budget   float64 `json:"budget,omitempty"`   // budget: what its owner can pay
	Price    float64 `json:"price,omitempty"`    // budget: that each task handed out takes off
	Promised float64 `json:"promised,omitempty"` // dedicated_capacity: its part of the cluster's running tasks
	Revenue  float64 `json:"revenue,omitempty"`  // revenue: what is offered
}

// LocalMap names the nodes that have the data of a map.
type LocalMap struct {
	Task  int64    `json:"task"`
	Nodes []string `json:"nodes"`
}

// LiveJob is a job whose tasks are handed out.
type LiveJob struct {
	Number  int64    `json:"number"`
	Name    string   `json:"name"`
	Class   string   `json:"class"`
	State   JobState `json:"state"`
	Reason  string   `json:"reason,omitempty"` // why it has failed
	Maps    JobTasks `json:"maps"`
	Reduces JobTasks `json:"reduces"`

	Slowstart   float64    `json:"slowstart"`
	MaxAttempts int64      `json:"max_attempts"`
	Weight      float64    `json:"weight"`
	MinShare    float64    `json:"min_share"`
	ReadMBPerS  float64    `json:"read_mb_s"`
	Usage       TasksUsage `json:"usage,omitzero"`
	UsageFrom   string     `json:"usage_from,omitempty"` // where it comes from
	Utility     JobUtility `json:"utility,omitzero"`

	SubmittedAt time.Time  `json:"submitted_at"`
	SubmittedBy string     `json:"submitted_by"` // the key's name
	DeadlineAt  *time.Time `json:"deadline_at"`
	EndedAt     *time.Time `json:"ended_at"`
	Late        bool       `json:"late"` // it has ended after its deadline, or that has passed

	Warnings []capacity.Warning `json:"warnings"`

	// Admission is the answer to whoever has submitted it, where jobs take places.
	Admission *Admission `json:"admission,omitempty"`
	// Predictions are of its kinds of tasks that are not done, where one job that is active is asked for.
	Predictions []TasksPrediction `json:"predictions,omitempty"`
}

// TasksPrediction is how long a job's tasks of a kind take from now on, those that run as though they began now, if it
// had every usable slot of theirs.
type TasksPrediction struct {
	Kind            dispatch.TaskKind `json:"kind"`
	Unfinished      int64             `json:"unfinished"`   // running ones too
	UsableSlots     int64             `json:"usable_slots"` // of nodes that leave enough of their processors
	FluidSeconds    float64           `json:"fluid_s"`      // if tasks could be cut
	DiscreteSeconds float64           `json:"discrete_s"`   // of whole tasks, each where it ends first
	CautiousSeconds float64           `json:"cautious_s"`   // as promises of deadlines count
	// Running is what the slots of its running tasks come to until its deadline; nil where it has none.
	Running *Completable           `json:"running,omitempty"`
	Times   dispatch.TaskTimesFrom `json:"times"`
}

// Completable is how many tasks slots complete until a deadline.
type Completable struct {
	Tasks      float64 `json:"tasks"` // with parts of tasks
	WholeTasks int64   `json:"whole_tasks"`
	OnTrack    bool    `json:"on_track"` // the former are all that are unfinished
}

// JobTasks counts a job's tasks of one kind.
type JobTasks struct {
	Total    int64 `json:"total"`
	Waiting  int64 `json:"waiting"` // those of reduces also before they may start
	Running  int64 `json:"running"`
	Done     int64 `json:"done"`
	Failures int64 `json:"failures"` // attempts
	Lost     int64 `json:"lost"`     // attempts whose node is gone, or which were not needed
}

// JobState is how far a job is.
type JobState string

const (
	JobActive JobState = "active"
	JobDone   JobState = "done"
	JobFailed JobState = "failed"
	JobKilled JobState = "killed"
	// JobRefused is that of a job that was not taken in. Such jobs are not kept.
	JobRefused JobState = "refused"
)

// LiveDecision is an assignment as it is kept.
type LiveDecision struct {
	At   time.Time `json:"at"`
	Node string    `json:"node"`
	Assignment
	Policy  dispatch.PolicyKind `json:"policy"` // that decided
	Version int64               `json:"settings_version"`
	Outcome TaskOutcome         `json:"outcome"`
	Cause   string              `json:"cause,omitempty"` // why it is lost
	EndedAt *time.Time          `json:"ended_at"`
	Seconds *float64            `json:"seconds"` // that it ran, where it is done
}

// TaskOutcome is what became of an assignment.
type TaskOutcome string

const (
	TaskRunning TaskOutcome = "running"
	TaskDone    TaskOutcome = "done"
	TaskFailed  TaskOutcome = "failed"
	TaskLost    TaskOutcome = "lost" // its node is gone or has forgotten it, or it was not needed any more
)
