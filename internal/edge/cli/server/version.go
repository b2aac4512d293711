package server

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/shell"
)

// build describes this program.
type build struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func thisBuild() build { return build{shell.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH} }

func (b build) String() string {
	return fmt.Sprintf("headroom %s (%s, %s/%s)", b.Version, b.Go, b.OS, b.Arch)
}

// VersionCommand returns the command that tells the version.
func VersionCommand() *cobra.Command {
	var wantJSON bool
	c := &cobra.Command{Use: "version", Short: "Say which version of Headroom this is", Args: cobra.NoArgs}
	c.Flags().BoolVar(&wantJSON, "json", false, "write it as JSON")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		out := shell.Output{Format: "table"}
		if wantJSON {
			out.Format = "json"
		}
		return out.Write(c, map[string]shell.Form{
			"table": func(w io.Writer) error { _, err := fmt.Fprintln(w, thisBuild()); return err },
			"json":  shell.AsJSON(thisBuild()),
		})
	})
}
