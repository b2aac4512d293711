package question

import (
	"errors"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/remote"
)

// Subject names the problem that a question is about: one in a file, which is answered here, or a cluster's, about which
// a server is asked.
type Subject struct {
	*remote.Connection
	Cluster string // "" for a file
	Async   bool   // nobody waits for the run of a server
}

// AddFlags adds --cluster.
func (s *Subject) AddFlags(c *cobra.Command) {
	c.Flags().StringVar(&s.Cluster, "cluster", "", "ask a server about this `cluster`")
}

// addAsync adds --async.
func (s *Subject) addAsync(c *cobra.Command) {
	c.Flags().BoolVar(&s.Async, "async", false, "with --cluster: start a run and do not wait for it")
}

// CheckFile refuses a file besides a cluster.
func (s *Subject) CheckFile(args []string) error {
	if s.Cluster != "" && len(args) > 0 {
		return errors.New("name a file or a --cluster, not both")
	}
	return nil
}

// checkAsync refuses --async without a cluster.
func (s *Subject) checkAsync() error {
	if s.Async && s.Cluster == "" {
		return errors.New("--async is for a --cluster; without a server there is nobody to work in the background")
	}
	return nil
}

// Here says whether the problem is in a file.
func (s *Subject) Here() bool { return s.Cluster == "" }
