package main

import (
	"reflect"

	"github.com/spf13/cobra"

	"headroom/internal/data/inputs"
	"headroom/openapi"
)

var classes = resource{
	word: "class", words: "classes", id: "NAME", short: "Show and edit the classes of jobs of a cluster",
	as:      reflect.TypeFor[inputs.PlannedClass](),
	columns: []string{"name", "profile_name", "profile_version", "deadline_s", "jobs_min", "jobs_max", "penalty", "version", "drift_state"},
	flags: []memberFlag{
		{name: "name", pointer: "/name", usage: "the class's `name`"},
		{name: "profile", pointer: "/profile/name", usage: "the `profile` it runs with, in its latest version", alone: true},
		{name: "profile-version", pointer: "/profile/version", usage: "the `version` of the profile"},
		{name: "calibration-bound", pointer: "/calibration/bound", usage: "which `bound` its measured executions are compared with: lower, average or upper"},
		{name: "calibration-factor", pointer: "/calibration/factor", usage: "by which `factor` that bound is multiplied where a cluster is planned with calibrated bounds"},
		{name: "deadline-s", pointer: "/deadline_s", usage: "the deadline in `seconds`"},
		{name: "map-slots", pointer: "/slots_per_vm/map", usage: "how many map slots one VM offers, as a `number`"},
		{name: "reduce-slots", pointer: "/slots_per_vm/reduce", usage: "how many reduce slots one VM offers, as a `number`"},
		{name: "jobs-min", pointer: "/jobs/min", usage: "how many jobs at once are promised, as a `number`"},
		{name: "jobs-max", pointer: "/jobs/max", usage: "how many jobs at once are asked for, as a `number`"},
		{name: "penalty", pointer: "/penalty", usage: "what refusing one job costs a period, as an `amount`"},
	},
	example: "  headroom class create shop nightly-etl.yaml\n  headroom class replace shop nightly-etl --penalty 6.50",
	list:    openapi.ListClasses,
	create:  openapi.CreateClass,
	get:     openapi.GetClass,
	replace: openapi.ReplaceClass,
	delete:  openapi.DeleteClass,
}

func classCommand() *cobra.Command { return classes.command() }
