package remote

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/service/runs"
	"example.org/headroom/openapi"
)

// There asks a server, and waits for the run that long work becomes. The last query says in which form its result is
// wanted. The answer is nil where nobody waits for it.
func (to *Connection) There(
	c *cobra.Command, async bool, request openapi.Request, question any, result *openapi.GetRunResultQuery,
) (*Answer, error) {
	s, err := to.OpenForPlanning(c)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(question)
	if err != nil {
		return nil, err
	}
	options := []Option{JSONBody(body)}
	if async {
		options = append(options, RespondAsync())
	}
	answered, err := s.Call(c.Context(), request, options...)
	if err != nil {
		return nil, err
	}
	var run runs.Run
	if json.Unmarshal(answered.Body, &run) != nil || run.Kind == "" { // a file, or an answer at once
		return &answered, nil
	}
	if async {
		_, err := fmt.Fprintln(c.OutOrStdout(), run.ID)
		return nil, err
	}
	fmt.Fprintf(c.ErrOrStderr(), "headroom: This takes a while; it is run %s on the server.\n", run.ID)
	if run, _, err = s.WatchRun(c.Context(), c.ErrOrStderr(), run.ID); err == nil {
		err = HowItEnded(run)
	}
	if err != nil {
		return nil, err
	}
	answered, err = s.Call(c.Context(), openapi.GetRunResult(run.ID, result))
	return &answered, err
}

// longestPlanning bounds the time for an answer with a plan in it, unless --timeout is given. It exceeds the longest time
// budget of a cluster.
const longestPlanning = 11 * time.Minute

// OpenForPlanning is open for questions that solve something.
func (o *Connection) OpenForPlanning(c *cobra.Command) (*Service, error) {
	longer := *o
	if !c.Flags().Changed("timeout") {
		longer.Timeout = longestPlanning
	}
	return longer.Open()
}
