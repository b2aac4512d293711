package fetch

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"time"

	"example.org/headroom/internal/data/history"
)

// sparkPath is the path of Spark's history server for applications.
const sparkPath = "/api/v1/applications"

const (
	taskPage    = 1000
	maxAttempts = 1_000_000 // of one application
)

// spark asks Spark's history server.
type spark struct {
	*visit
	query HistoryQuery
}

func (s spark) list(ctx context.Context, in window, limit int) (p page, err error) {
	moment := func(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000GMT") }
	q := url.Values{"limit": {strconv.Itoa(limit)}, "status": {"completed"}, "maxDate": {moment(in.until)}}
	if in.from > 0 {
		q.Set("minDate", moment(in.from))
	}
	err = s.document(ctx, sparkPath, q, func(r io.Reader) error {
		p.all, p.refused, err = history.Applications(r)
		return err
	})
	applications := len(p.refused) // the limit includes those
	for i, e := range p.all {
		if i == 0 || e.App != p.all[i-1].App {
			applications++
		}
	}
	p.full = applications >= limit
	if err == nil && s.query.Job != "" { // settings may name another class than the application's name
		err = together(ctx, len(p.all), func(ctx context.Context, i int) error {
			_, err := s.settings(ctx, p.all[i], p.all[i].Execution)
			return err
		})
	}
	return p, err
}

// path is the path of an application's try.
func (s spark) path(of history.Listed) string {
	path := sparkPath + "/" + url.PathEscape(of.App)
	if of.Try != "" {
		path += "/" + url.PathEscape(of.Try)
	}
	return path
}

func (s spark) settings(ctx context.Context, of history.Listed, e *history.Execution) (coresOfTask int64, err error) {
	err = s.document(ctx, s.path(of)+"/environment", nil, func(r io.Reader) error { coresOfTask, err = e.AddSettings(r); return err })
	return coresOfTask, err
}

func (s spark) may(e history.Listed) bool { return s.query.wants(e.Execution) }

// execution fetches all of an application: its settings and executors, the outcome of its jobs, its stages, and the tasks of each. The server's
// summaries of stages would not do: they hold quantiles of the executors' work, not of the tasks' times, and no
// means.
func (s spark) execution(ctx context.Context, of history.Listed) (*history.Execution, error) {
	e := *of.Execution
	app := s.path(of)
	coresOfTask, err := s.settings(ctx, of, &e)
	if err != nil {
		return nil, err
	}
	if err := s.document(ctx, app+"/jobs", nil, e.AddJobs); err != nil {
		return nil, err
	}
	if e.Outcome != history.Succeeded {
		return &e, nil // nothing else can be learned from it
	}
	executors := func(r io.Reader) error { return e.AddExecutors(r, coresOfTask) }
	if err := s.document(ctx, app+"/allexecutors", nil, executors); err != nil {
		return nil, err
	}
	var tries []history.StageTry
	if err := s.document(ctx, app+"/stages", nil, func(r io.Reader) (err error) { tries, err = e.AddStages(r); return err }); err != nil {
		return nil, err
	}
	announced := int64(0)
	for _, t := range tries {
		announced += min(t.Tasks, maxAttempts+1) // a sum that does not overflow
	}
	if announced > maxAttempts {
		return nil, history.Refusal{Where: of.ID, Detail: fmt.Sprintf("It has more than %d attempts at tasks, which are too many to be asked for page by page. Import its event log.", maxAttempts)}
	}
	slices.SortFunc(tries, func(a, b history.StageTry) int {
		return cmp.Or(cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Try, b.Try))
	})
	parts := make([]history.Execution, len(tries))
	err = together(ctx, len(tries), func(ctx context.Context, i int) error {
		parts[i].ID, parts[i].Stages = e.ID, e.Stages
		return s.tasks(ctx, fmt.Sprintf("%s/stages/%d/%d/taskList", app, tries[i].Stage, tries[i].Try), &parts[i], tries[i])
	})
	for i := range parts {
		e.Attempts.Join(&parts[i].Attempts)
	}
	return &e, err
}

// tasks fetches a stage's tasks page by page, until their announced number has come.
func (s spark) tasks(ctx context.Context, path string, e *history.Execution, of history.StageTry) error {
	where := fmt.Sprintf("%s, stage %d", e.ID, of.Stage)
	var before []history.Attempt // the last page
	for int64(e.Attempts.Len()) < of.Tasks {
		var page []history.Attempt
		q := url.Values{"offset": {strconv.Itoa(e.Attempts.Len())}, "length": {strconv.Itoa(taskPage)}, "sortBy": {"ID"}}
		if err := s.document(ctx, path, q, func(r io.Reader) (err error) { page, err = e.TaskPage(r, of.Stage, of.Try); return err }); err != nil {
			return err
		}
		switch {
		case len(page) == 0:
			return nil // fewer than announced; TakeChain sees whether one is missing
		case slices.Equal(page, before):
			return history.Refusal{Where: where, Detail: "The server answers with the same tasks again and again. Import the event log."}
		}
		e.Attempts.Add(page...)
		before = page
	}
	return nil
}
