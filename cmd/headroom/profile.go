package main

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	"github.com/spf13/cobra"

	"headroom/internal/data/inputs"
	tables "headroom/internal/service/report"
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

func profileCommand() *cobra.Command {
	return profiles.command(profileVersionsCommand, profileAddCommand, profileFromHistoryCommand)
}

// getProfile asks for one version.
func getProfile(ctx context.Context, s *service, cluster, name, version string) (answer, error) {
	number, err := strconv.ParseInt(version, 10, 64)
	if err != nil || number < 1 {
		return answer{}, fail(exitUsage, fmt.Errorf("%q is no version; versions are 1, 2 and so on", version))
	}
	return s.call(ctx, openapi.GetProfileVersion(cluster, name, number))
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

// mostStages is how many stages of a profile are shown to people.
const mostStages = 30

// stagesAndSource adds what a profile has besides single figures.
func stagesAndSource(table *tables.Table, text json.RawMessage) error {
	var p inputs.ProfileVersion
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	add := func(member, value string) {
		table.Rows = append(table.Rows, []tables.Cell{{Text: member}, {Text: value}})
	}
	for i, s := range p.Profile.Stages {
		member := "profile.stages." + strconv.Itoa(i)
		if i == mostStages {
			add(member, fmt.Sprintf("and %d more; -o json shows all", len(p.Profile.Stages)-i))
			break
		}
		what := fmt.Sprintf("%d tasks of %s s, the longest of %s s", s.Tasks, figure(s.AvgSeconds), figure(s.MaxSeconds))
		if s.Name != "" {
			what = s.Name + ": " + what
		}
		add(member, what)
	}
	if p.Source != nil {
		add("source", clipped(string(p.Source)))
	}
	return nil
}
