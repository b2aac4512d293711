package fetch

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"example.org/headroom/internal/data/history"
)

// hadoopPath is the path of Hadoop's history server for jobs.
const hadoopPath = "/ws/v1/history/mapreduce/jobs"

// maxTasks bounds the tasks of a job whose attempts are fetched, one request each.
const maxTasks = 100_000

// hadoop asks Hadoop's history server.
type hadoop struct {
	*visit
	query HistoryQuery
}

func (h hadoop) list(ctx context.Context, in window, limit int) (p page, err error) {
	q := url.Values{"limit": {strconv.Itoa(limit)}, "startedTimeEnd": {strconv.FormatInt(in.until, 10)}}
	if in.from > 0 {
		q.Set("startedTimeBegin", strconv.FormatInt(in.from, 10))
	}
	if h.query.User != "" {
		q.Set("user", h.query.User)
	}
	if h.query.Queue != "" {
		q.Set("queue", h.query.Queue)
	}
	err = h.document(ctx, hadoopPath, q, func(r io.Reader) error {
		p.all, p.refused, err = history.Jobs(r)
		return err
	})
	p.full = len(p.all)+len(p.refused) >= limit
	return p, err
}

// may reports whether a listed job can match the query: the list may cut its name.
func (h hadoop) may(e history.Listed) bool {
	return h.query.Job == "" || strings.HasPrefix(h.query.Job, e.Name)
}

// execution fetches all of a job: its declarations, its tasks, and the attempts at each. The times of tasks alone
// would not do: they begin before their attempts, and do not separate shuffles.
func (h hadoop) execution(ctx context.Context, of history.Listed) (e *history.Execution, err error) {
	job := hadoopPath + "/" + url.PathEscape(of.ID)
	if err := h.document(ctx, job, nil, func(r io.Reader) error { e, err = history.Job(r); return err }); err != nil {
		return nil, err
	}
	if e.ID != of.ID {
		return nil, history.Refusal{Where: of.ID, Detail: fmt.Sprintf("The server answers with the job %s.", e.ID)}
	}
	if e.Outcome != history.Succeeded || !h.query.wants(e) {
		return e, nil // nothing else can be learned from it
	}
	var tasks []string
	if err := h.document(ctx, job+"/tasks", nil, func(r io.Reader) error { tasks, err = history.Tasks(r); return err }); err != nil {
		return nil, err
	}
	if len(tasks) > maxTasks {
		return nil, history.Refusal{Where: of.ID, Detail: fmt.Sprintf("It has %d tasks; the attempts of at most %d are asked for one task after the other. Import its .jhist file.", len(tasks), maxTasks)}
	}
	parts := make([]history.Execution, len(tasks))
	err = together(ctx, len(tasks), func(ctx context.Context, i int) error {
		parts[i].ID = e.ID
		return h.document(ctx, job+"/tasks/"+url.PathEscape(tasks[i])+"/attempts", nil, func(r io.Reader) error {
			return parts[i].AddAttempts(r, int32(i))
		})
	})
	for i := range parts {
		e.Attempts.Join(&parts[i].Attempts)
	}
	return e, err
}
