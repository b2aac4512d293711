// Package shell holds what all commands share with the shell that started them: files and answers, streams, messages and
// exit codes. It asks no server.
package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/lp"
)

// Version is the version of the program, as main says it.
var Version = "development"

// The exit codes, which scripts rely on.
const (
	ExitOK         = 0
	ExitError      = 1 // something could not be done
	ExitUsage      = 2 // the command line makes no sense
	ExitInfeasible = 3 // there is no plan; the conflicts say why
	ExitSolver     = 4 // no solver, or it gave up; or no server to ask
	ExitDiffers    = 5 // a verdict of reproduce is not the recorded one, or a figure is outside its band
)

// OutliveReaders keeps the program alive when whoever read its output has gone: writing fails, and no signal
// ends it. Programs that it starts do not inherit that, as they would with signal.Ignore.
func OutliveReaders() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// Run runs the command that arguments name and returns the exit code.
func Run(ctx context.Context, root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	speak(root)
	root.SetFlagErrorFunc(wrongFlag)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	asked, err := root.ExecuteContextC(ctx)
	return Report(stderr, asked, err)
}

// Failure is an error with its exit code from a command that understood its arguments. All other errors of cobra are
// wrong usage.
type Failure struct {
	Code int
	err  error // nil where everything has been said already
}

func (f *Failure) Error() string {
	if f.err == nil {
		return fmt.Sprintf("exit code %d", f.Code)
	}
	return f.err.Error()
}

func (f *Failure) Unwrap() error { return f.err }

// Failed gives an error its exit code.
func Failed(err error) error {
	if err == nil {
		return nil
	}
	var f *Failure
	if errors.As(err, &f) {
		return err
	}
	return Fail(ExitCode(err), err)
}

// Fail returns an error with its exit code; err is nil where the answer says it already.
func Fail(code int, err error) error { return &Failure{code, err} }

func ExitCode(err error) int {
	switch {
	case errors.Is(err, fault.Infeasible):
		return ExitInfeasible
	case errors.Is(err, fault.Busy), errors.Is(err, lp.ErrBusy), errors.Is(err, lp.ErrCrashed), errors.Is(err, lp.ErrUnavailable):
		return ExitSolver
	default:
		return ExitError
	}
}

// Report says on standard error what went wrong, a line a finding, and answers the exit code; asked is
// the verb that was used, or misused.
func Report(stderr io.Writer, asked *cobra.Command, err error) int {
	if err == nil {
		return ExitOK
	}
	var f *Failure
	if !errors.As(err, &f) {
		said, similar, _ := strings.Cut(flagGroup(err.Error()), "\n\nDid you mean this?\n")
		if verbs := strings.Fields(similar); len(verbs) > 0 {
			slices.Sort(verbs)
			verbs = slices.Compact(verbs) // a word of another tool, which resembles ours as well
			var typed string
			if _, err := fmt.Sscanf(said, "unknown command %q", &typed); err == nil {
				likest := fault.Nearest(typed, verbs) // "" is none of them
				if at := slices.Index(verbs, likest); at > 0 {
					verbs = slices.Insert(slices.Delete(verbs, at, at+1), 0, likest)
				}
			}
			said += "; did you mean " + strings.Join(verbs, " or ") + "?"
		}
		usage := fmt.Sprintf("It is used as %q; %q says more.", asked.UseLine(), asked.CommandPath()+" --help")
		if asked.HasAvailableSubCommands() {
			usage = fmt.Sprintf("Run %q to see what there is.", asked.CommandPath()+" --help")
		}
		fmt.Fprintf(stderr, "headroom: %s\nheadroom: %s\n", Sentence(said), usage)
		return ExitUsage
	}
	if errors.Is(f.err, context.Canceled) {
		fmt.Fprintln(stderr, "headroom: Interrupted; nothing was written.")
		return f.Code
	}
	if f.err != nil {
		for line := range strings.Lines(f.err.Error()) {
			fmt.Fprintf(stderr, "headroom: %s\n", Sentence(strings.TrimSuffix(line, "\n")))
		}
	}
	return f.Code
}

// Command finishes a verb: its own errors are failures, not wrong usage.
func Command(c *cobra.Command, do func(c *cobra.Command, args []string) error) *cobra.Command {
	c.RunE = func(c *cobra.Command, args []string) error { return Failed(do(c, args)) }
	return c
}
