package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"headroom/internal/service/runs"
	"headroom/openapi"
)

// there asks a server, and waits for the run that long work becomes. The last query says in which form its result is
// wanted. The answer is nil where nobody waits for it.
func (to *connection) there(
	c *cobra.Command, async bool, request openapi.Request, question any, result *openapi.GetRunResultQuery,
) (*answer, error) {
	s, err := to.openForPlanning(c)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(question)
	if err != nil {
		return nil, err
	}
	options := []option{jsonBody(body)}
	if async {
		options = append(options, respondAsync())
	}
	answered, err := s.call(c.Context(), request, options...)
	if err != nil {
		return nil, err
	}
	var run runs.Run
	if json.Unmarshal(answered.body, &run) != nil || run.Kind == "" { // a file, or an answer at once
		return &answered, nil
	}
	if async {
		_, err := fmt.Fprintln(c.OutOrStdout(), run.ID)
		return nil, err
	}
	fmt.Fprintf(c.ErrOrStderr(), "headroom: This takes a while; it is run %s on the server.\n", run.ID)
	if run, _, err = s.watchRun(c, run.ID); err == nil {
		err = howItEnded(run)
	}
	if err != nil {
		return nil, err
	}
	answered, err = s.call(c.Context(), openapi.GetRunResult(run.ID, result))
	return &answered, err
}

// longestPlanning is how long an answer with a plan in it may take, unless --timeout says otherwise:
// the longest time budget of a cluster, and some.
const longestPlanning = 11 * time.Minute

// openForPlanning is open for questions that solve something.
func (o *connection) openForPlanning(c *cobra.Command) (*service, error) {
	longer := *o
	if !c.Flags().Changed("timeout") {
		longer.timeout = longestPlanning
	}
	return longer.open()
}
