package inputs

import (
	"reflect"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/cli/document"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/openapi"
)

var classes = remote.Resource{
	Word: "class", Words: "classes", ID: "NAME", Short: "Show and edit the classes of jobs of a cluster, their profiles and forecasts",
	As:      reflect.TypeFor[inputs.PlannedClass](),
	Columns: []string{"name", "profile_name", "profile_version", "deadline_s", "jobs_min", "jobs_max", "penalty", "version", "drift_state"},
	Flags: []document.MemberFlag{
		{Name: "name", Pointer: "/name", Usage: "the class's `name`"},
		{Name: "profile", Pointer: "/profile/name", Usage: "the `profile` it runs with, in its latest version", Alone: true},
		{Name: "profile-version", Pointer: "/profile/version", Usage: "the `version` of the profile"},
		{Name: "calibration-bound", Pointer: "/calibration/bound",
			Usage: "which `bound` its measured executions are compared with: lower, average or upper"},
		{Name: "calibration-factor", Pointer: "/calibration/factor",
			Usage: "by which `factor` that bound is multiplied where a cluster is planned with calibrated bounds"},
		{Name: "deadline-s", Pointer: "/deadline_s", Usage: "the deadline in `seconds`"},
		{Name: "target", Pointer: "/target", Usage: "which `part` of the executions is to end within the deadline, such as 0.99"},
		{Name: "confidence", Pointer: "/confidence", Usage: "the `confidence` with which that is to be shown (default 0.95)"},
		{Name: "due", Pointer: "/due", Usage: "by which `time` of day on the cluster's clocks an execution that may wait must have ended, such as 06:00"},
		{Name: "due-s", Pointer: "/due_s", Usage: "in how many `seconds` after it arrives an execution that may wait must have ended"},
		{Name: "map-slots", Pointer: "/slots_per_vm/map", Usage: "how many map slots one VM offers, as a `number`"},
		{Name: "reduce-slots", Pointer: "/slots_per_vm/reduce", Usage: "how many reduce slots one VM offers, as a `number`"},
		{Name: "jobs-min", Pointer: "/jobs/min", Usage: "how many jobs at once are promised, as a `number`", Against: "jobs-all"},
		{Name: "jobs-max", Pointer: "/jobs/max", Usage: "how many jobs at once are asked for, as a `number`"},
		{Name: "jobs-all", Pointer: "/jobs/all", Usage: "whether every job is promised: `true` or false"},
		{Name: "penalty", Pointer: "/penalty", Usage: "what one refused job is valued at a period, as an `amount`; not needed with --jobs-all", Unless: "jobs-all"},
	},
	Example: "  headroom class create shop nightly-etl.yaml\n  headroom class edit shop nightly-etl --penalty 6.50",
	List:    openapi.ListClasses,
	Create:  openapi.CreateClass,
	Get:     openapi.GetClass,
	Replace: openapi.ReplaceClass,
	Delete:  openapi.DeleteClass,
}
