package main

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

	"headroom/internal/core/fault"
	"headroom/internal/core/lp"
)

// The exit codes, which scripts rely on.
const (
	exitOK         = 0
	exitError      = 1 // something could not be done
	exitUsage      = 2 // the command line makes no sense
	exitInfeasible = 3 // there is no plan; the conflicts say why
	exitSolver     = 4 // no solver, or it gave up; no server to ask (exitConnection)
	exitDiffers    = 5 // a published claim does not come out
)

// outliveReaders keeps the program alive when whoever read its output has gone: writing fails, and no signal
// ends it. Programs that it starts do not inherit that, as they would with signal.Ignore.
func outliveReaders() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// failure is an error from a command that understood its arguments, with its exit code. Whatever
// else cobra returns is wrong usage.
type failure struct {
	code int
	err  error // nil where everything has been said already
}

func (f *failure) Error() string {
	if f.err == nil {
		return fmt.Sprintf("exit code %d", f.code)
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

// failed gives an error its exit code.
func failed(err error) error {
	if err == nil {
		return nil
	}
	var f *failure
	if errors.As(err, &f) {
		return err
	}
	return fail(exitCode(err), err)
}

// fail returns an error with its exit code; err is nil where the answer says it already.
func fail(code int, err error) error { return &failure{code, err} }

func exitCode(err error) int {
	switch {
	case errors.Is(err, fault.Infeasible):
		return exitInfeasible
	case errors.Is(err, fault.Busy), errors.Is(err, lp.ErrBusy), errors.Is(err, lp.ErrCrashed), errors.Is(err, lp.ErrUnavailable):
		return exitSolver
	default:
		return exitError
	}
}

// report says on standard error what went wrong, a line a finding, and answers the exit code; asked is
// the verb that was used, or misused.
func report(stderr io.Writer, asked *cobra.Command, err error) int {
	if err == nil {
		return exitOK
	}
	var f *failure
	if !errors.As(err, &f) {
		said, similar, _ := strings.Cut(flagGroup(err.Error()), "\n\nDid you mean this?\n")
		if verbs := strings.Fields(similar); len(verbs) > 0 {
			slices.Sort(verbs)
			said += "; did you mean " + strings.Join(verbs, " or ") + "?"
		}
		usage := fmt.Sprintf("It is used as %q; %q says more.", asked.UseLine(), asked.CommandPath()+" --help")
		if asked.HasAvailableSubCommands() {
			usage = fmt.Sprintf("Run %q to see what there is.", asked.CommandPath()+" --help")
		}
		fmt.Fprintf(stderr, "headroom: %s\nheadroom: %s\n", sentence(said), usage)
		return exitUsage
	}
	if errors.Is(f.err, context.Canceled) {
		fmt.Fprintln(stderr, "headroom: Interrupted; nothing was written.")
		return f.code
	}
	if f.err != nil {
		for line := range strings.Lines(f.err.Error()) {
			fmt.Fprintf(stderr, "headroom: %s\n", sentence(strings.TrimSuffix(line, "\n")))
		}
	}
	return f.code
}

// command finishes a verb: its own errors are failures, not wrong usage.
func command(c *cobra.Command, do func(c *cobra.Command, args []string) error) *cobra.Command {
	c.RunE = func(c *cobra.Command, args []string) error { return failed(do(c, args)) }
	return c
}
