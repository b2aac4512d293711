package main

import (
	"reflect"

	"github.com/spf13/cobra"

	"headroom/internal/data/inputs"
	"headroom/openapi"
)

// profiles have versions that never change: one is added where other things are replaced.
var profiles = resource{
	word: "profile", words: "profiles", id: "NAME", short: "Show profiles of jobs and add versions of them",
	as:      reflect.TypeFor[inputs.ProfileVersion](),
	columns: []string{"name", "version", "profile_map_tasks", "profile_reduce_tasks", "note", "created_at"},
	example: "  headroom profile create shop etl.yaml     # with the members name, note and profile, whose own are\n                                            # map_tasks … or stages, each with tasks, avg_s and max_s",
	list:    openapi.ListProfiles,
	create:  openapi.CreateProfile,
	get:     openapi.GetProfile,
	delete:  openapi.DeleteProfile,
	version: openapi.GetProfileVersion,
}

// profileCommand returns the commands about profiles; fromHistory makes the one that reads them off past executions.
func profileCommand(fromHistory func(*connection) *cobra.Command) *cobra.Command {
	return profiles.command(profileVersionsCommand, profileAddCommand, fromHistory)
}

func profileVersionsCommand(to *connection) *cobra.Command {
	var out output
	c := &cobra.Command{Use: "versions CLUSTER NAME", Short: "List the versions of a profile", Args: cobra.ExactArgs(2)}
	out.addFlags(c, "table", "json", "csv")
	return command(c, func(c *cobra.Command, args []string) error {
		s, err := to.open()
		if err != nil {
			return err
		}
		return writeList(c, s, out, list{as: profiles.as, columns: profiles.columns, none: "There are no versions."},
			openapi.ListProfileVersions(args[0], args[1]))
	})
}

func profileAddCommand(to *connection) *cobra.Command {
	var out output
	c := &cobra.Command{
		Use: "add CLUSTER NAME FILE|-", Short: "Add a version to a profile",
		Long: `Add a version to a profile, described by a file (JSON or YAML) with the members note and profile.
Classes go on with the version they name; "headroom class replace CLUSTER CLASS --profile NAME" moves
one to the latest.`,
		Example: "  headroom profile add shop etl etl-november.yaml",
		Args:    cobra.ExactArgs(3),
	}
	out.addFlags(c, "table", "json", "csv")
	return command(c, func(c *cobra.Command, args []string) error {
		s, err := to.open()
		if err != nil {
			return err
		}
		tree, label, err := readTree(c, args[2])
		if err != nil {
			return err
		}
		tree.named(args[1])
		a, err := profiles.write(c.Context(), s, tree, label, openapi.AddProfileVersion(args[0], args[1]))
		if err != nil {
			return err
		}
		return profiles.changed(c, out, a, args[0], "Added to")
	})
}
