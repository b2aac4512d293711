package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/runs"
	"example.org/headroom/openapi"
)

// ReadRun takes a run from an answer.
func ReadRun(a Answer, err error) (r runs.Run, text []byte, _ error) {
	if err == nil {
		err = a.Into(&r)
	}
	return r, a.Body, err
}

// Told says how a run is, in a line or two.
func Told(r runs.Run) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Run %s (%s", r.ID, r.Kind)
	if r.Cluster != nil {
		fmt.Fprintf(&b, " of cluster %s", *r.Cluster)
	}
	switch fmt.Fprintf(&b, ", by %s) ", r.By); r.State {
	case runs.RunQueued:
		b.WriteString("waits")
	case runs.RunRunning:
		b.WriteString("is running")
		if r.Cancelling {
			b.WriteString(" and about to end")
		}
	case runs.RunCancelled:
		b.WriteString("was cancelled")
	default:
		b.WriteString(string(r.State))
	}
	if p := r.Progress; p.Total > 0 {
		fmt.Fprintf(&b, "; %d of %d %s", p.Done, p.Total, p.Unit)
	} else if p.Done > 0 {
		fmt.Fprintf(&b, "; %d %s", p.Done, p.Unit)
	}
	if r.ETASeconds != nil {
		b.WriteString("; " + rest(*r.ETASeconds))
	}
	b.WriteString(".")
	if r.ResultURL != nil {
		what := "What it made"
		if r.Partial {
			what = "What it had until then"
		}
		fmt.Fprintf(&b, "\n%s: headroom server run result %s", what, r.ID)
	}
	return b.String()
}

// rest says how much longer a run takes.
func rest(seconds float64) string {
	if seconds < 1 {
		return "ending"
	}
	return fmt.Sprintf("about %s more", time.Duration(seconds)*time.Second)
}

// HowItEnded returns nil for a run that succeeded, or an error with its exit code.
func HowItEnded(r runs.Run) error {
	switch {
	case r.State == runs.RunSucceeded:
		return nil
	case r.State == runs.RunCancelled:
		return shell.Fail(shell.ExitError, errors.New("the run was cancelled"))
	case r.Error == nil:
		return shell.Fail(shell.ExitError, errors.New("the run failed"))
	}
	code, said := shell.ExitError, r.Error.Detail
	if r.Error.Kind == string(fault.Infeasible) {
		code = shell.ExitInfeasible
	}
	if more := append(r.Error.Conflicts, r.Error.Errors...); len(more) > 0 {
		said = (&fault.InputError{Findings: more}).Error()
	}
	return shell.Fail(code, errors.New(shell.ShownLines(said)))
}

func WriteRun(c *cobra.Command, out shell.Output, r runs.Run, text []byte) error {
	return out.Write(c, map[string]shell.Form{
		"table": func(w io.Writer) error { _, err := fmt.Fprintln(w, shell.ShownLines(Told(r))); return err },
		"json":  Indented(text),
	})
}

// How a run is watched.
const (
	longPoll     = "wait=30"
	watchPause   = time.Second
	watchOutages = time.Minute // of the server that are waited for: it may be starting anew
)

// WatchRun waits for the end of a run by long polls.
func (s *Service) WatchRun(ctx context.Context, stderr io.Writer, id string) (r runs.Run, text []byte, err error) {
	bar := NewRunBar(stderr)
	defer bar.Finish()
	etag, answered := `"0"`, time.Time{}
	for {
		response, err := s.Send(ctx, openapi.GetRun(id), Header("If-None-Match", etag), Header("Prefer", longPoll))
		if err == nil && response.StatusCode == http.StatusNotModified {
			response.Body.Close()
			answered = time.Now()
			continue
		}
		a, err := s.ReadReply(response, err)
		var f *shell.Failure
		if errors.As(err, &f) && f.Code == ExitConnection && time.Since(answered) < watchOutages {
			select {
			case <-time.After(watchPause):
				continue
			case <-ctx.Done():
				return r, nil, ctx.Err()
			}
		}
		if r, text, err = ReadRun(a, err); err != nil || r.State.Over() {
			return r, text, err
		}
		etag, answered = `"`+a.Etag+`"`, time.Now()
		bar.Show(r)
	}
}

// runBar shows the progress of a run on a terminal.
type runBar struct {
	to  io.Writer
	bar *progressbar.ProgressBar
}

func NewRunBar(stderr io.Writer) *runBar {
	if !shell.IsTerminal(stderr) {
		return &runBar{}
	}
	return &runBar{to: stderr}
}

func (b *runBar) Show(r runs.Run) {
	if b.to == nil {
		return
	}
	total := r.Progress.Total
	if total == 0 {
		total = -1 // a spinner
	}
	if b.bar == nil {
		b.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(b.to), progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(false), progressbar.OptionClearOnFinish())
	}
	if b.bar.GetMax64() != total {
		b.bar.ChangeMax64(total)
	}
	words := shell.Shown(fmt.Sprintf("%s %s", r.Kind, r.State))
	if r.ETASeconds != nil {
		words += ", " + rest(*r.ETASeconds)
	}
	b.bar.Describe(words)
	_ = b.bar.Set64(r.Progress.Done) // a bar that cannot be drawn is no reason to stop
}

func (b *runBar) Finish() {
	if b.bar != nil {
		_ = b.bar.Finish()
	}
}
