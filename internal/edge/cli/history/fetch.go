package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/openapi"
)

// historySource says which executions a server fetches from an address.
type historySource struct {
	clusters.HistorySource
	time  remote.ForecastFilter // without its class
	async bool
}

func (f *historySource) add(c *cobra.Command) {
	shell.AddChoice(c, &f.Kind, "kind", "", "of an address: what is there, where it does not say", "file", "mapreduce", "spark")
	c.Flags().StringVar(&f.User, "user", "", "of an address: only executions of this `user`")
	c.Flags().StringVar(&f.Queue, "queue", "", "of an address: only executions in this `queue`")
	c.Flags().StringVar(&f.time.From, "from", "", "of an address: only executions that began at this `time` or later, such as 2026-01-31")
	c.Flags().StringVar(&f.time.Until, "until", "", "of an address: only executions that began before this `time`")
	c.Flags().Int64Var(&f.Limit, "limit", 0, "of a history server: only the newest `number`")
	c.Flags().BoolVar(&f.async, "async", false, "of an address: start a run and do not wait for it")
}

// historyFlags are those that are for addresses alone.
var historyFlags = []string{"kind", "user", "queue", "from", "until", "limit", "async"}

// check says what of the arguments and flags goes together.
func (f *historySource) check(c *cobra.Command, args []string) error {
	if !slices.ContainsFunc(args[1:], remote.IsAddress) {
		for _, name := range historyFlags {
			if c.Flags().Changed(name) {
				return fmt.Errorf("--%s is for an address; what is read here is taken whole", name)
			}
		}
		return nil
	}
	switch {
	case len(args) > 2:
		return errors.New("give one address, or files and directories")
	case c.Flags().Changed("upload"):
		return errors.New("--upload is for files; an address is fetched by the server")
	case c.Flags().Changed("limit") && f.Limit < 1:
		return fmt.Errorf("--limit is %d; it must be at least 1", f.Limit)
	}
	if err := f.time.Check(); err != nil {
		return err
	}
	for _, moment := range []struct {
		text string
		to   **time.Time
	}{{f.time.From, &f.From}, {f.time.Until, &f.Until}} {
		if t, err := time.Parse(time.RFC3339Nano, moment.text); err == nil {
			*moment.to = &t
		}
	}
	f.URL = args[1]
	return nil
}

// fetch has the server fetch the executions, and waits for the run. What a run that failed has stored is told
// as well; nil is that nobody waits for it.
func (f *historySource) fetch(c *cobra.Command, s *remote.Service, cluster string) (made *clusters.HistoryImport, err error) {
	body, err := json.Marshal(f.HistorySource)
	if err != nil {
		return nil, err
	}
	run, _, err := remote.ReadRun(s.Call(c.Context(), openapi.FetchHistory(cluster), remote.JSONBody(body)))
	if err != nil {
		origins := append(remote.FlagOrigins(historyFlags...), remote.FlagOrigins("job", "dry-run")...)
		return nil, append(origins, remote.Origin{Pointer: "/url", Flag: "the address"}).Say(err)
	}
	if f.async {
		_, err := fmt.Fprintln(c.OutOrStdout(), run.ID)
		return nil, err
	}
	if run, _, err = s.WatchRun(c.Context(), c.ErrOrStderr(), run.ID); err != nil {
		return nil, err
	}
	ended := remote.HowItEnded(run)
	if len(run.Result) == 0 && ended != nil {
		return nil, ended
	}
	a, err := s.Call(c.Context(), openapi.GetRunResult(run.ID, nil))
	if err == nil {
		made = &clusters.HistoryImport{}
		err = a.Into(made)
	}
	if ended != nil {
		return made, ended
	}
	return made, err
}
