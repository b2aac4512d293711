package inputs

import (
	"reflect"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/cli/document"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/openapi"
)

// profiles have versions that never change: one is added where other things are replaced.
var profiles = remote.Resource{
	Word: "profile", Words: "profiles", ID: "NAME", Short: "Show profiles of jobs and add versions of them",
	As:      reflect.TypeFor[inputs.ProfileVersion](),
	Columns: []string{"name", "version", "profile_map_tasks", "profile_reduce_tasks", "note", "created_at"},
	Example: "  headroom class profile create shop etl.yaml     # with the members name, note and profile, whose own are\n" +
		"                                            # map_tasks … or stages, each with tasks, avg_s and max_s",
	List:    openapi.ListProfiles,
	Create:  openapi.CreateProfile,
	Get:     openapi.GetProfile,
	Delete:  openapi.DeleteProfile,
	Version: openapi.GetProfileVersion,
}

// profileCommand returns the commands about profiles; fromHistory makes the one that reads them off past executions.
func profileCommand(fromHistory func(*remote.Connection) *cobra.Command) *cobra.Command {
	return profiles.Command(profileVersionsCommand, profileAddCommand, fromHistory)
}

func profileVersionsCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{Use: "versions CLUSTER NAME", Short: "List the versions of a profile", Args: cobra.ExactArgs(2)}
	out.AddFlags(c, "table", "json", "csv")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		return remote.WriteList(c, s, out, remote.List{As: profiles.As, Columns: profiles.Columns, None: "There are no versions."},
			openapi.ListProfileVersions(args[0], args[1]))
	})
}

func profileAddCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{
		Use: "edit CLUSTER NAME FILE|-", Short: "Add a version to a profile",
		Long: `Add a version to a profile, described by a file (JSON or YAML) with the members note and profile.
Classes go on with the version they name; "headroom class edit CLUSTER CLASS --profile NAME" moves
one to the latest.`,
		Example: "  headroom class profile edit shop etl etl-november.yaml",
		Args:    cobra.ExactArgs(3),
	}
	out.AddFlags(c, "table", "json", "csv")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		tree, label, err := document.ReadTree(c, args[2])
		if err != nil {
			return err
		}
		tree.Named(args[1])
		a, err := profiles.Write(c.Context(), s, tree, label, openapi.AddProfileVersion(args[0], args[1]))
		if err != nil {
			return err
		}
		return profiles.Changed(c, out, a, args[0], "Added to")
	})
}
