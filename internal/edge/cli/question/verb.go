package question

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	kinds "example.org/headroom/internal/service/question"
	tables "example.org/headroom/internal/service/report"
	"example.org/headroom/internal/service/runs"
	"example.org/headroom/openapi"
)

// Verb is a command that asks a kind of question: about a problem in a file, which is answered here, or about a cluster
// of a server.
type Verb[Ask, Answer any] struct {
	Kind    *kinds.Kind[Ask, Answer]
	Formats []string           // besides table, JSON and those of the kind
	To      *remote.Connection // of the group of commands; nil is one of its own
	AtOnce  bool               // a server never makes a run of it
	Bar     string             // the word beside a bar for work that is done here; "" shows none
	Options OptionFlags

	Check func(c *cobra.Command, args []string) error // looks at the flags by themselves; may be nil
	Read  func(c *cobra.Command, args []string) (Ask, error)
	// Send returns the question about a cluster. A format other than "" asks for that instead of a document.
	Send func(c *cobra.Command, cluster, format string) (openapi.Request, any, error)
	Mend func(err error) error // makes findings name flags; may be nil
	Per  tables.Span           // of a row of csv; "" is the default

	about Subject
	out   shell.Output
}

// Command completes a command with flags and work.
func (v *Verb[Ask, Answer]) Command(c *cobra.Command) *cobra.Command {
	if v.about.Connection = v.To; v.To == nil {
		v.about.Connection = new(remote.Connection)
		v.about.Connection.AddFlags(c)
	}
	v.about.AddFlags(c)
	if !v.AtOnce {
		v.about.addAsync(c)
	}
	v.out.AddFlags(c, slices.Concat([]string{"table", "json"}, v.Formats, v.Kind.Formats)...)
	v.Options.Add(c)
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if v.Check != nil {
			if err := v.Check(c, args); err != nil {
				return err
			}
		}
		if err := errors.Join(v.about.CheckFile(args), v.about.checkAsync()); err != nil {
			return err
		}
		if err := v.out.CheckSheet(c); err != nil {
			return err
		}
		return v.Options.Check(c, v.Here())
	}
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		if !v.Here() {
			return v.there(c)
		}
		ask, err := v.Read(c, args)
		if err != nil {
			return err
		}
		answer, err := Work(c, v.Kind, ask, v.Bar)
		if err != nil {
			return v.mended(err)
		}
		return v.write(c, ask, answer, v.out.Format == "json")
	})
}

// Async reports whether nobody waits for the run of a server.
func (v *Verb[Ask, Answer]) Async() bool { return v.about.Async }

// Here reports whether the problem is in a file.
func (v *Verb[Ask, Answer]) Here() bool { return v.about.Here() }

func (v *Verb[Ask, Answer]) mended(err error) error {
	if err == nil || v.Mend == nil {
		return err
	}
	return v.Mend(err)
}

// there asks the server. Forms that need more than the answer are made there.
func (v *Verb[Ask, Answer]) there(c *cobra.Command) error {
	format := ""
	if v.Kind.Lacks != nil && v.Kind.Writes(v.out.Format) {
		format = v.out.Format
	}
	request, asked, err := v.Send(c, v.about.Cluster, format)
	if err != nil {
		return err
	}
	a, err := v.about.There(c, v.about.Async, request, asked, &openapi.GetRunResultQuery{Format: format, Per: string(v.Per)})
	if err != nil || a == nil {
		return v.mended(err)
	}
	if format != "" {
		return v.out.Deliver(c.OutOrStdout(), func(w io.Writer) error { _, err := w.Write(a.Body); return err })
	}
	answer := new(Answer)
	if err := a.Into(answer); err != nil {
		return err
	}
	var none Ask
	return v.write(c, none, answer, v.Kind.Lacks == nil)
}

// write writes an answer. An answer from here is first cut to what a document shows.
func (v *Verb[Ask, Answer]) write(c *cobra.Command, ask Ask, answer *Answer, cut bool) error {
	var document any = answer
	if cut {
		document = v.Kind.Document(&ask, answer)
	}
	view := kinds.View{Format: v.out.Format, Per: v.Per}
	if v.Per == "" {
		view.Per = tables.PerPeriod
	}
	return write(c, v.out, v.Kind, answer, v.Kind.Forms(ask, *answer, view), document)
}

// Work answers a question on this machine.
func Work[Ask, Answer any](c *cobra.Command, k *kinds.Kind[Ask, Answer], ask Ask, bar string) (*Answer, error) {
	var p Planner
	defer p.Close()
	tell := func(int64, int64) {}
	if bar != "" {
		show := remote.NewRunBar(c.ErrOrStderr())
		defer show.Finish()
		var one sync.Mutex
		tell = func(done, total int64) {
			one.Lock()
			defer one.Unlock()
			show.Show(runs.Run{Kind: bar, State: runs.RunRunning, Progress: runs.Progress{Done: done, Total: total}})
		}
	}
	return k.Work(c.Context(), kinds.Alone(&p, runtime.GOMAXPROCS(0), tell), ask)
}

// Write writes an answer and its warnings, and says by the exit code whether there is a plan.
func Write[Ask, Answer any](c *cobra.Command, out shell.Output, k *kinds.Kind[Ask, Answer], ask Ask, answer *Answer) error {
	return write(c, out, k, answer, k.Forms(ask, *answer, kinds.View{}), k.Document(&ask, answer))
}

// SendAndWrite asks a server, and writes what it answers unless nobody waits for it.
func SendAndWrite[Ask, Answer any](c *cobra.Command, to *remote.Connection, out shell.Output, k *kinds.Kind[Ask, Answer],
	async bool, request openapi.Request, asked any) error {
	a, err := to.There(c, async, request, asked, nil)
	if err != nil || a == nil {
		return err
	}
	answer, none := new(Answer), *new(Ask)
	if err := a.Into(answer); err != nil {
		return err
	}
	return Write(c, out, k, none, answer)
}

func write[Ask, Answer any](c *cobra.Command, out shell.Output, k *kinds.Kind[Ask, Answer], answer *Answer, forms kinds.Forms,
	document any) error {
	all := map[string]shell.Form{"json": shell.AsJSON(document)}
	maps.Copy(all, forms)
	err := out.Write(c, all)
	if k.Warned != nil {
		for _, w := range k.Warned(answer) {
			fmt.Fprintln(c.ErrOrStderr(), "headroom: "+shell.Shown(inFlags(c, w)))
		}
	}
	if err == nil && k.Status != nil && k.Status(answer) == capacity.InfeasibleStatus {
		return shell.Fail(shell.ExitInfeasible, nil) // the answer says why
	}
	return err
}

// inFlags is a warning that names a flag of the command in place of the member of a request.
func inFlags(c *cobra.Command, w capacity.Warning) string {
	name := strings.TrimPrefix(w.Pointer, "/")
	flag := strings.ReplaceAll(name, "_", "-")
	if c.Flags().Lookup(flag) == nil {
		return w.Detail
	}
	return regexp.MustCompile(`"`+regexp.QuoteMeta(name)+`": "?([^"\s]+)"?`).ReplaceAllString(w.Detail, "--"+flag+" $1")
}

var _ kinds.Solver = (*Planner)(nil)
