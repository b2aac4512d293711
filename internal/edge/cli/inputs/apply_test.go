package inputs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/test/servertest"
)

// A cluster that somebody changes after the difference was shown is left as it is.
func TestApplyYieldsToOthers(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t)
	t.Run("changed", func(t *testing.T) {
		inputsVerb(t, server, "cluster", "create", "--name", "shop")
		d, s := compared(t, server, `{"cluster": {"name": "shop"}, "vm_types": [{"name": "small"}]}`)
		inputsVerb(t, server, "supply", "vm-type", "create", "shop", "--name", "large")
		err := d.apply(t.Context(), s)
		if err == nil || !strings.Contains(err.Error(), `somebody changed the cluster "shop" since the difference was shown`) ||
			shell.ExitCode(err) != shell.ExitError {
			t.Errorf("got %v", err)
		}
		if got := inputsVerb(t, server, "supply", "vm-type", "list", "shop"); strings.Contains(got, "small") {
			t.Errorf("it was applied all the same: %s", got)
		}
	})
	t.Run("created", func(t *testing.T) {
		d, s := compared(t, server, `{"cluster": {"name": "new"}}`)
		inputsVerb(t, server, "cluster", "create", "--name", "new", "--currency", "EUR")
		if err := d.apply(t.Context(), s); err == nil || !strings.Contains(err.Error(), "somebody changed") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("deleted", func(t *testing.T) {
		d, s := compared(t, server, `{"cluster": {"name": "new", "currency": "GBP"}}`)
		inputsVerb(t, server, "cluster", "delete", "new", "--yes")
		if err := d.apply(t.Context(), s); err == nil {
			t.Error("it was applied to a cluster that is gone")
		}
	})
}

// compared is a document whose difference has been shown.
func compared(t *testing.T, server servertest.Server, text string) (clusterDocument, *remote.Service) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "document.json")
	keyFile := filepath.Join(t.TempDir(), "key")
	for name, content := range map[string]string{file: text, keyFile: server.Keys[auth.Operator]} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := ApplyCommand()
	c.SetContext(t.Context())
	documents, _, err := readDocuments(c, file)
	if err != nil {
		t.Fatal(err)
	}
	to := remote.Connection{Server: server.URL, KeyFile: keyFile, Timeout: time.Minute}
	s, err := to.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := documents[0].compare(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return documents[0], s
}

// inputsVerb runs one of the commands about inputs as an admin of a server.
func inputsVerb(t *testing.T, server servertest.Server, args ...string) string {
	t.Helper()
	keyFile := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(keyFile, []byte(server.Keys[auth.Admin]), 0o600); err != nil {
		t.Fatal(err)
	}
	none := func(*remote.Connection) *cobra.Command { return &cobra.Command{Use: "from-history"} }
	root := &cobra.Command{Use: "headroom", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(ClusterCommand(), ApplyCommand(), ClassCommand(none, none), SupplyCommand())
	root.SetArgs(append(args, "--server", server.URL, "--key-file", keyFile))
	var out strings.Builder
	root.SetOut(&out)
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("headroom %s: %v", strings.Join(args, " "), err)
	}
	return out.String()
}
