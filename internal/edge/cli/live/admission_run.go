package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"headroom/internal/edge/cli/remote"
	"headroom/internal/edge/cli/shell"
	"headroom/internal/slots/live"
	"headroom/openapi"
)

// The exit codes of what shells cannot run, and of what a signal ended (plus its number).
const (
	exitNoCommand = 127
	exitSignalled = 128
)

func admissionRunCommand(to *remote.Connection) *cobra.Command {
	var lease leaseFlags
	var wait time.Duration
	var stopWhenLost bool
	c := &cobra.Command{
		Use: "run CLUSTER CLASS -- COMMAND [ARGUMENT…]", Short: "Run a command in a place of its class",
		Long: `Asks for a place, runs the command while heartbeats renew the lease, ends the lease when the command
ends, and exits as it does. Where the job is refused nothing runs and the exit code is 3; with --wait it
asks again until that time is over. SIGTERM and interrupts are handed on to the command.

While the server cannot be reached a running command goes on, and heartbeats are tried again. If the lease
has expired by then its place may be another's: the command goes on and a warning says so, or it is
stopped with --stop-when-lost.`,
		Example: "  headroom admission run shop nightly-etl --wait 2h -- ./etl.sh --day today",
		Args: func(c *cobra.Command, args []string) error {
			if c.ArgsLenAtDash() != 2 || len(args) < 3 {
				return errors.New("say \"run CLUSTER CLASS -- COMMAND\", with the two hyphens before the command")
			}
			return nil
		},
	}
	lease.add(c, "this machine, process and command")
	c.Flags().DurationVar(&wait, "wait", 0, "how long to go on asking where the job is refused")
	c.Flags().BoolVar(&stopWhenLost, "stop-when-lost", false, "stop the command (SIGTERM) when its lease is lost")
	// Names are checked, the command's own arguments are not.
	c.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		return c.Parent().PersistentPreRunE(c, args[:2])
	}
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		program, err := exec.LookPath(args[2])
		if err != nil { // before anybody else has to do without the place
			return shell.Fail(exitNoCommand, fmt.Errorf("%q cannot be run: %w", shell.Shown(args[2]), errors.Unwrap(err)))
		}
		if lease.holder == "" {
			lease.holder = ourselves(filepath.Base(args[2]))
		}
		a, err := askUntil(s, c, args[0], args[1], lease, time.Now().Add(wait))
		if err != nil {
			return err
		}
		j := job{Service: s, cluster: args[0], lease: a.ID, ttl: lease.ttl, stopWhenLost: stopWhenLost, warn: func(format string, values ...any) {
			fmt.Fprintf(c.ErrOrStderr(), "headroom: "+format+"\n", values...)
		}}
		defer j.end(c.Context())
		command := exec.Command(program, args[3:]...)
		command.Args[0] = args[2]
		command.Stdin, command.Stdout, command.Stderr = c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr()
		return j.run(c.Context(), command)
	})
}

// askUntil asks for a place again and again until a moment, and at least once.
func askUntil(s *remote.Service, c *cobra.Command, cluster, class string, f leaseFlags, until time.Time) (live.Admission, error) {
	for {
		a, _, err := askAdmission(s, c, cluster, class, f)
		if err == nil && a.Admitted {
			return a, nil
		}
		if err == nil {
			err = refusal(a)
		} else if shell.ExitCode(err) != shell.ExitSolver && !unreached(err) {
			return a, err // it will not be better later
		}
		left := time.Until(until)
		if left <= 0 {
			return a, err
		}
		select {
		case <-c.Context().Done():
			return a, c.Context().Err()
		case <-time.After(min(left, pause(a.RetryAfterSeconds))):
		}
	}
}

// pause returns the time to wait before asking again: at most five seconds, and different for each who waits.
func pause(seconds int64) time.Duration {
	const longest = 5 * time.Second
	most := longest
	if said := time.Duration(seconds) * time.Second; said > 0 {
		most = min(said, longest)
	}
	return most/2 + rand.N(most/2)
}

// unreached says whether no server could be asked.
func unreached(err error) bool {
	var f *shell.Failure
	return errors.As(err, &f) && f.Code == remote.ExitConnection
}

// job is a command that runs in a place.
type job struct {
	*remote.Service
	cluster, lease string
	ttl            time.Duration
	stopWhenLost   bool
	warn           func(format string, values ...any)
}

// run runs the command until it ends, and is an error with its exit code.
func (j *job) run(ctx context.Context, command *exec.Cmd) error {
	if err := command.Start(); err != nil {
		return shell.Fail(exitNoCommand, fmt.Errorf("%q cannot be run: %w", shell.Shown(command.Args[0]), err))
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	// The beats stop before the lease is ended, so that none is in flight then.
	beating, stop := context.WithCancel(context.WithoutCancel(ctx))
	lost := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		j.beat(beating, lost)
	}()
	defer func() { stop(); <-stopped }()
	told := ctx.Done()
	for {
		select {
		case err := <-ended:
			return exitOf(command, err)
		case <-told:
			told = nil
			_ = command.Process.Signal(syscall.SIGTERM) // it has ended already, perhaps
		case <-lost:
			lost = nil
			if j.stopWhenLost {
				_ = command.Process.Signal(syscall.SIGTERM)
			}
		}
	}
}

// exitOf turns the end of a command into ours.
func exitOf(command *exec.Cmd, err error) error {
	state := command.ProcessState
	switch {
	case err == nil:
		return nil
	case state == nil:
		return err
	case state.ExitCode() >= 0:
		if state.Success() { // its output could not be written
			return err
		}
		return shell.Fail(state.ExitCode(), nil)
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return shell.Fail(exitSignalled+int(status.Signal()), nil)
	}
	return err
}

// beat renews the lease three times in its life, and says when it is lost.
func (j *job) beat(ctx context.Context, lost chan<- struct{}) {
	period := j.ttl / 3
	troubled := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(period):
		}
		bounded, cancel := context.WithTimeout(ctx, period)
		_, err := j.Call(bounded, openapi.KeepAdmission(j.cluster, j.lease), remote.JSONOf(live.LeaseBeat{}))
		cancel()
		switch {
		case err == nil:
			if troubled {
				j.warn("The lease is renewed again.")
			}
			troubled = false
		case ctx.Err() != nil:
			return
		case leaseOver(err):
			if j.stopWhenLost {
				j.warn("The lease is lost, and its place may be another's; the command is stopped.")
			} else {
				j.warn("The lease is lost, and its place may be another's; the command goes on.")
			}
			close(lost)
			return
		case !troubled:
			troubled = true
			j.warn("The lease could not be renewed (%s); trying on.", shell.Shown(err.Error()))
		}
	}
}

// end frees the place. What fails here mends itself: the lease expires.
func (j *job) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if _, err := j.Call(ctx, openapi.EndAdmission(j.cluster, j.lease)); err != nil {
		j.warn("The lease could not be ended (%s); it expires by itself.", shell.Shown(err.Error()))
	}
}
