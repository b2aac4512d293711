package live

import (
	"encoding/json"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/slots/dispatch"
)

// Names of the parts of a live cluster in the audit log.
const (
	LiveSettingsKind = "live_settings"
	LiveNodeKind     = "live_node"
	LiveJobKind      = "live_job"
	KnowledgeKind    = "classifier"
)

// LiveSettings configures how a cluster assigns tasks to its reporting nodes.
type LiveSettings struct {
	Policy dispatch.PolicyConfig `json:"policy"`
	Slots  SlotLayout            `json:"slots"`
	// Shares are the classes' slots under the policies fair and capacity; an unnamed class has none.
	Shares []SlotShare `json:"shares"`
	// Admission selects the jobs that are accepted.
	Admission dispatch.LiveAdmission `json:"admission"`
	// HeartbeatSeconds is the interval in which nodes should report. A node without a report for NodeTimeoutSeconds
	// counts as dead, and its tasks are assigned again.
	HeartbeatSeconds   float64 `json:"heartbeat_s"`
	NodeTimeoutSeconds float64 `json:"node_timeout_s"`

	Version   int64     `json:"version"`
	UpdatedAt time.Time `json:"updated_at,omitzero"` // zero if never changed
}

// SlotShare holds the part of the slots that a class of jobs gets.
type SlotShare struct {
	Class     string  `json:"class"`
	Weight    float64 `json:"weight"`                 // part of the shared slots, relative to other classes
	Min       int64   `json:"min,omitempty"`          // slots that it gets before others exceed their own
	Most      int64   `json:"most,omitempty"`         // maximum of slots; 0 is no limit
	MaxPerJob int64   `json:"most_per_job,omitempty"` // likewise each of its jobs
}

// SlotLayout tells which slots run which tasks.
type SlotLayout string

const (
	SlotsShared   SlotLayout = "shared"   // every slot runs maps and reduces
	SlotsSeparate SlotLayout = "separate" // map slots run maps, reduce slots run reduces
)

// DefaultLiveSettings holds until somebody decides otherwise.
func DefaultLiveSettings() LiveSettings {
	return LiveSettings{Policy: dispatch.PolicyConfig{Kind: dispatch.PolicyFIFO}, Slots: SlotsShared, Shares: []SlotShare{}, Admission: dispatch.LiveOpen, HeartbeatSeconds: 5, NodeTimeoutSeconds: 600, Version: 1}
}

// UnmarshalJSON fills in defaults.
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
	Slots NodeSlots `json:"slots"` // for shared slots their sum counts
	// Dedicated nodes run only tasks. Others have work of their own besides, and report what it leaves.
	Dedicated bool `json:"dedicated"`
	// ComputeUnits stands for the node's speed until that is measured; 0: its number of cores.
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

// UnmarshalJSON fills in defaults.
func (n *LiveNode) UnmarshalJSON(text []byte) error {
	type plain LiveNode
	*n = LiveNode{Dedicated: true}
	return json.Unmarshal(text, (*plain)(n))
}

// NodeSlots counts the concurrent tasks of each kind on a node.
type NodeSlots struct {
	Map    int64 `json:"map"`
	Reduce int64 `json:"reduce"`
}

// NodeHealth tells whether a node reports.
type NodeHealth string

const (
	NodeNew   NodeHealth = "new" // it has not yet
	NodeAlive NodeHealth = "alive"
	NodeDead  NodeHealth = "dead"
)

// NodeReport holds the state that a node reports. Missing members keep their last values.
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

// Heartbeat holds a node's report.
type Heartbeat struct {
	Seq int64 `json:"seq"` // grows with every heartbeat
	// Boot changes with each start of the node's agent; then seq may restart.
	Boot     string         `json:"boot,omitempty"`
	At       *time.Time     `json:"at,omitempty"` // by the node's clock
	State    *NodeReport    `json:"state,omitempty"`
	Running  []int64        `json:"running"` // every assignment that it has, also those not yet begun
	Finished []FinishedTask `json:"finished,omitempty"`
	Failed   []FailedTask   `json:"failed,omitempty"`
	// Leaving: the node's agent is about to end, and gets no more tasks.
	Leaving bool `json:"leaving,omitempty"`
}

// FinishedTask is an assignment that succeeded.
type FinishedTask struct {
	Assignment int64   `json:"assignment"`
	Seconds    float64 `json:"seconds,omitempty"` // that it ran; 0: since it was handed out
}

// FailedTask is an assignment that failed.
type FailedTask struct {
	Assignment int64  `json:"assignment"`
	Reason     string `json:"reason,omitempty"`
}

// HeartbeatAnswer holds the orders for a node.
type HeartbeatAnswer struct {
	Node        string          `json:"node"`
	Seq         int64           `json:"seq"`
	At          time.Time       `json:"at"` // by the server's clock
	Assignments []Assignment    `json:"assignments"`
	Stop        []StopTask      `json:"stop"`  // before the assignments are begun
	Notes       []HeartbeatNote `json:"notes"` // irregularities, and how each was treated
	// HeartbeatSeconds is the time until the next heartbeat is expected.
	HeartbeatSeconds float64 `json:"heartbeat_s"`
}

// Assignment is a task for a node, with the reason for choosing it.
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

// Decided gives the reason why a task was chosen.
type Decided struct {
	Rule    string           `json:"rule"`   // a stable name of the deciding rule
	Reason  string           `json:"reason"` // says what the rule, the figures, Of, Tie and InClass say
	Of      string           `json:"of,omitempty"`
	Tie     dispatch.Tie     `json:"tie,omitempty"`
	InClass dispatch.InClass `json:"in_class,omitempty"`
	Figures []DecisionFigure `json:"figures,omitempty"`
}

// DecisionFigure is a figure behind a choice.
type DecisionFigure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// StopTask is an assignment that the node should end, because it no longer belongs to the node.
type StopTask struct {
	Assignment int64  `json:"assignment"`
	Code       string `json:"code"`
	Reason     string `json:"reason"`
}

// HeartbeatNote describes how something unexpected was treated.
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
	// Slowstart is the part of the maps that must be done before reduces start; default 1. With shared slots, reduces
	// start when all maps have ended.
	Slowstart       float64    `json:"slowstart"`
	DeadlineAt      *time.Time `json:"deadline_at"`  // or
	DeadlineSeconds float64    `json:"deadline_s"`   // from now; 0: no deadline
	MaxAttempts     int64      `json:"max_attempts"` // of a task until the job has failed; default 4
	Weight          float64    `json:"weight"`       // default 1
	MinShare        float64    `json:"min_share"`
	ReadMBPerS      float64    `json:"read_mb_s"`       // by one task on a dedicated node, from each data node
	Local           []LocalMap `json:"local,omitempty"` // the nodes that hold the data of maps
	Usage           TasksUsage `json:"usage,omitzero"`
	// UsageFrom is the source of the usage. If a job gives neither, the measured usage of its class applies, and
	// UsageFrom says so.
	UsageFrom string     `json:"usage_from,omitempty"`
	Utility   JobUtility `json:"utility,omitzero"`
}

// TasksUsage holds the usage of a job's tasks, for the policy learned.
type TasksUsage struct {
	Map    perf.TaskUsage `json:"map,omitzero"`
	Reduce perf.TaskUsage `json:"reduce,omitzero"`
}

// JobUtility values a job's tasks for the policy learned. Which member counts depends on the utility in use.
type JobUtility struct {
	Worth    float64 `json:"worth,omitempty"`    // budget: of a task while there is a balance; 0 is 1
	Budget   float64 `json:"budget,omitempty"`   // budget: balance of its owner
	Price    float64 `json:"price,omitempty"`    // budget: that each task handed out takes off
	Promised float64 `json:"promised,omitempty"` // dedicated_capacity: its part of the cluster's running tasks
	Revenue  float64 `json:"revenue,omitempty"`  // revenue: the offered amount
}

// LocalMap names the nodes that have the data of a map.
type LocalMap struct {
	Task  int64    `json:"task"`
	Nodes []string `json:"nodes"`
}

// LiveJob is a job whose tasks are assigned to nodes.
type LiveJob struct {
	Number  int64    `json:"number"`
	Name    string   `json:"name"`
	Class   string   `json:"class"`
	State   JobState `json:"state"`
	Reason  string   `json:"reason,omitempty"` // the reason of a failure
	Maps    JobTasks `json:"maps"`
	Reduces JobTasks `json:"reduces"`

	Slowstart   float64    `json:"slowstart"`
	MaxAttempts int64      `json:"max_attempts"`
	Weight      float64    `json:"weight"`
	MinShare    float64    `json:"min_share"`
	ReadMBPerS  float64    `json:"read_mb_s"`
	Usage       TasksUsage `json:"usage,omitzero"`
	UsageFrom   string     `json:"usage_from,omitempty"` // its source
	Utility     JobUtility `json:"utility,omitzero"`

	SubmittedAt time.Time  `json:"submitted_at"`
	SubmittedBy string     `json:"submitted_by"` // the key's name
	DeadlineAt  *time.Time `json:"deadline_at"`
	EndedAt     *time.Time `json:"ended_at"`
	Late        bool       `json:"late"` // it has ended after its deadline, or that has passed

	Warnings []capacity.Warning `json:"warnings"`

	// Admission answers the submitter of a job, if jobs take places.
	Admission *Admission `json:"admission,omitempty"`
	// Predictions cover the kinds of tasks that are not done, in the answer for a single active job.
	Predictions []TasksPrediction `json:"predictions,omitempty"`
}

// TasksPrediction predicts the time from now for a job's tasks of a kind if the job had every usable slot for them.
// Running tasks count as though they began now.
type TasksPrediction struct {
	Kind            dispatch.TaskKind `json:"kind"`
	Unfinished      int64             `json:"unfinished"`   // running ones too
	UsableSlots     int64             `json:"usable_slots"` // of nodes that leave enough of their processors
	FluidSeconds    float64           `json:"fluid_s"`      // if tasks could be cut
	DiscreteSeconds float64           `json:"discrete_s"`   // of whole tasks, each on the slot that ends it first
	CautiousSeconds float64           `json:"cautious_s"`   // as promises of deadlines count
	// Running counts the tasks that the slots of its running tasks complete until the deadline; nil without a
	// deadline.
	Running *Completable           `json:"running,omitempty"`
	Times   dispatch.TaskTimesFrom `json:"times"`
}

// Completable counts the tasks that slots complete until a deadline.
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
	Lost     int64 `json:"lost"`     // attempts whose node is gone, or that were not needed
}

// JobState names a stage of a job.
type JobState string

const (
	JobActive JobState = "active"
	JobDone   JobState = "done"
	JobFailed JobState = "failed"
	JobKilled JobState = "killed"
	// JobRefused is the state of a job that was not accepted. Such jobs are not stored.
	JobRefused JobState = "refused"
)

// LiveDecision is an assignment as it is stored.
type LiveDecision struct {
	At   time.Time `json:"at"`
	Node string    `json:"node"`
	Assignment
	Policy  dispatch.PolicyKind `json:"policy"` // that decided
	Version int64               `json:"settings_version"`
	Outcome TaskOutcome         `json:"outcome"`
	Cause   string              `json:"cause,omitempty"` // the reason of a loss
	EndedAt *time.Time          `json:"ended_at"`
	Seconds *float64            `json:"seconds"` // running time of a task that is done
}

// TaskOutcome names the outcome of an assignment.
type TaskOutcome string

const (
	TaskRunning TaskOutcome = "running"
	TaskDone    TaskOutcome = "done"
	TaskFailed  TaskOutcome = "failed"
	TaskLost    TaskOutcome = "lost" // its node is gone or has forgotten it, or it was not needed any more
)
