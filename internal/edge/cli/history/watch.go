package history

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
)

func historyWatchCommand(to *remote.Connection) *cobra.Command {
	w := watch{seen: map[string]seen{}}
	var names []string
	var every time.Duration
	c := &cobra.Command{
		Use: "watch CLUSTER DIRECTORY", Short: "Import histories as they come into a directory, such as Spark's event logs",
		Long: `Looks at a directory again and again, and imports each history in it once it is whole: a file that did not change
between two looks. Event logs that Spark still writes are waited for, rolled ones too. One that is cut off or damaged
is told of with its place, left alone, and tried again when it changes.

The executions count for the job called as the class that "headroom drive spark" wrote into the log, else as the
application. --job renames: the first regular expression that matches the whole name counts.

It keeps no record. After a start it reads what is in the directory once more, and the server tells what it has
already: no execution is kept twice. A key of the role agent is enough.`,
		Example: "  headroom history watch shop /var/spark-events\n" +
			"  headroom history watch shop /var/spark-events --job 'etl [0-9-]+=etl' --once",
		Args: cobra.ExactArgs(2),
	}
	pathsAreAllowed(c, to)
	c.Flags().DurationVar(&every, "every", 10*time.Second, "how long to wait between looks")
	c.Flags().BoolVar(&w.once, "once", false, "look once, without waiting for files to stay the same")
	c.Flags().StringArrayVar(&names, "job", nil, "the job of applications, as `EXPRESSION=JOB`; again for others")
	c.PreRunE = func(*cobra.Command, []string) (err error) {
		if every < time.Second {
			return fmt.Errorf("--every is %s; give at least 1s", every)
		}
		w.names, err = readNames(names)
		return err
	}
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		w.s, w.cluster, w.dir, w.files = s, args[0], args[1], os.DirFS(args[1])
		w.c, w.log = c, slog.New(slog.NewTextHandler(c.ErrOrStderr(), nil))
		if info, err := os.Stat(args[1]); err != nil {
			return errors.New(shell.FileTrouble(args[1], err))
		} else if !info.IsDir() {
			return fmt.Errorf("%s is no directory; \"headroom history import\" imports files", args[1])
		}
		if w.once {
			return w.turn(c.Context())
		}
		shell.OutliveReaders()
		if err := shell.Notify(shell.NotifyReady); err != nil {
			w.log.Warn("the supervisor was not told", "error", err)
		}
		w.run(c.Context(), every)
		return nil
	})
}

// jobName gives executions of some names a job.
type jobName struct {
	of  *regexp.Regexp
	job string
}

func readNames(all []string) (names []jobName, err error) {
	for _, text := range all {
		i := strings.LastIndexByte(text, '=')
		if i <= 0 || i == len(text)-1 {
			return nil, fmt.Errorf("--job is %q; write EXPRESSION=JOB, such as 'etl [0-9-]+=etl'", text)
		}
		of, err := regexp.Compile("^(?:" + text[:i] + ")$")
		if err != nil {
			return nil, fmt.Errorf("--job is %q: %w", text, err)
		}
		names = append(names, jobName{of, text[i+1:]})
	}
	return names, nil
}

// watch imports what comes into a directory.
type watch struct {
	c       *cobra.Command
	log     *slog.Logger
	s       *remote.Service
	cluster string
	dir     string
	files   fs.FS
	names   []jobName
	once    bool
	seen    map[string]seen // by name; nothing of what is gone
	trouble string          // that was told last and lasts
}

// seen is a log as it was at the last look.
type seen struct {
	stamp string
	done  bool // it was imported, or cannot be as it is
}

// run takes turns until ctx ends.
func (w *watch) run(ctx context.Context, every time.Duration) {
	for ctx.Err() == nil {
		trouble := ""
		if err := w.turn(ctx); err != nil && ctx.Err() == nil {
			if trouble = err.Error(); trouble != w.trouble {
				w.log.Warn("Nothing is imported for now; it is tried again", "error", err)
			}
		}
		w.trouble = trouble
		select {
		case <-ctx.Done():
		case <-time.After(every):
		}
	}
}

// turn looks at the directory once. An error means that the rest has its turn later.
func (w *watch) turn(ctx context.Context) error {
	logs, err := history.Logs(w.files, func(history.Refusal) {}) // what cannot be looked at may be one day
	if err != nil {
		return errors.New(shell.FileTrouble(w.dir, err))
	}
	before := w.seen
	w.seen = map[string]seen{}
	for _, log := range logs {
		was, known := before[log.Name]
		if !known || was.stamp != log.Stamp {
			was = seen{stamp: log.Stamp}
		}
		w.seen[log.Name] = was
	}
	for _, log := range logs {
		if log.Written || w.seen[log.Name].done || !w.once && before[log.Name].stamp != log.Stamp {
			continue
		}
		if err := w.take(ctx, log); err != nil {
			return err
		}
		w.seen[log.Name] = seen{log.Stamp, true}
	}
	return nil
}

// mostOfOne bounds the executions of a history; its executions are held until it is known to be whole.
const mostOfOne = 2000

// take imports a log, or says why not. An error is of the server.
func (w *watch) take(ctx context.Context, log history.Log) error {
	i := historyImport{s: w.s, cluster: w.cluster}
	var records [][]byte
	err := log.Read(w.files, history.Options{}, history.Sink{
		Execution: func(e *history.Execution) error {
			switch {
			case e.Outcome == history.Unfinished:
				return history.Refusal{Where: e.ID, Detail: "The log has no end of it. It was cut off, or is still being copied."}
			case len(records) == mostOfOne:
				return history.Refusal{Where: "the file", Detail: fmt.Sprintf("It has more than %d executions. Import it by \"headroom history import\".", mostOfOne)}
			}
			for _, n := range w.names {
				if n.of.MatchString(e.Name) {
					e.Name = n.job
					break
				}
			}
			record, err := recordOf(e, "")
			records = append(records, record)
			return errors.Join(err, ctx.Err())
		},
		Refused: func(r history.Refusal) error { return r },
	})
	var refused history.Refusal
	switch {
	case errors.As(err, &refused):
		w.refuse(log, refused)
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		w.refuse(log, history.Refusal{Where: "the file", Detail: err.Error()})
		return nil
	}
	for _, record := range records {
		if len(i.batch) > 0 && (i.bytes+len(record) > batchBytes || len(i.batch) == batchExecutions) {
			if err = i.send(ctx); err != nil {
				break
			}
		}
		i.batch, i.bytes = append(i.batch, record), i.bytes+len(record)
	}
	if err == nil {
		err = i.send(ctx)
	}
	var p *remote.Problem
	if errors.As(err, &p) && slices.Contains([]int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity}, p.Status) {
		w.refuse(log, history.Refusal{Where: "the file", Detail: err.Error()})
		return nil
	}
	if err != nil {
		return err
	}
	for _, r := range i.made.Refused.First {
		w.refuse(log, r)
	}
	for _, j := range i.report().Jobs {
		if fresh := j.Created + j.Updated; fresh > 0 {
			fmt.Fprintf(w.c.OutOrStdout(), "%s: %d of job %s, %d without a profile\n", shell.Shown(log.Name), fresh, shell.Shown(j.Job), j.Unusable)
		}
	}
	return nil
}

// refuse says once why a log is not taken as it is.
func (w *watch) refuse(log history.Log, r history.Refusal) {
	w.log.Warn("A history is left alone until it changes", "file", shell.Shown(filepath.Join(w.dir, log.Name)), "where", shell.Shown(r.Where),
		"why", shell.Shown(history.Brief(r.Detail)))
}
