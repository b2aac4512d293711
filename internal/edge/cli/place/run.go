package place

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

	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/slots/live"
	"example.org/headroom/openapi"
)

// The exit codes of what shells cannot run, and of what a signal ended (plus its number).
const (
	exitNoCommand = 127
	exitSignalled = 128
)

// Run holds the flags of a command that runs in a place.
type Run struct {
	Lease
	wait         time.Duration
	stopWhenLost bool
}

// AddFlags adds the flags.
func (r *Run) AddFlags(c *cobra.Command) {
	r.Lease.AddFlags(c, "this machine, process and command")
	c.Flags().DurationVar(&r.wait, "wait", 0, "how long to go on asking where the job is refused")
	c.Flags().BoolVar(&r.stopWhenLost, "stop-when-lost", false, "stop the command (SIGTERM) when its lease is lost")
}

// Command returns a command in the streams of c. It fails where there is no such program.
func Command(c *cobra.Command, words []string) (*exec.Cmd, error) {
	command := exec.Command(words[0], words[1:]...)
	if command.Err != nil {
		return nil, shell.Fail(exitNoCommand, fmt.Errorf("%q cannot be run: %w", shell.Shown(words[0]), errors.Unwrap(command.Err)))
	}
	command.Stdin, command.Stdout, command.Stderr = c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr()
	return command, nil
}

// Take asks for a place until there is one or no time is left to wait, and at least once. The place is to be ended.
func (r *Run) Take(s *remote.Service, c *cobra.Command, cluster, class, program string) (*Place, error) {
	if r.holder == "" {
		r.holder = ourselves(filepath.Base(program))
	}
	a, err := r.askUntil(s, c, cluster, class, time.Now().Add(r.wait))
	if err != nil {
		return nil, err
	}
	return &Place{Admission: a, Service: s, cluster: cluster, ttl: r.TTL, stopWhenLost: r.stopWhenLost, warn: func(format string, values ...any) {
		fmt.Fprintf(c.ErrOrStderr(), "headroom: "+format+"\n", values...)
	}}, nil
}

// askUntil asks for a place again and again until a moment, and at least once.
func (r *Run) askUntil(s *remote.Service, c *cobra.Command, cluster, class string, until time.Time) (live.Admission, error) {
	for {
		a, _, err := r.Ask(s, c, cluster, class)
		if err == nil && a.Admitted {
			return a, nil
		}
		if err == nil {
			err = Refusal(a)
		} else if !Away(err) {
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

// Away says whether nobody could be asked, or nobody could answer now.
func Away(err error) bool {
	var f *shell.Failure
	return shell.ExitCode(err) == shell.ExitSolver || errors.As(err, &f) && f.Code == remote.ExitConnection
}

// Place is a place that a job holds. The zero one is none: a command runs in it unseen.
type Place struct {
	live.Admission
	*remote.Service
	cluster      string
	ttl          time.Duration
	stopWhenLost bool
	warn         func(format string, values ...any)
}

// Run runs a command until it ends, and is an error with its exit code.
func (p *Place) Run(ctx context.Context, command *exec.Cmd) error {
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
		if p.Service != nil {
			p.beat(beating, lost)
		}
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
			if p.stopWhenLost {
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
func (p *Place) beat(ctx context.Context, lost chan<- struct{}) {
	period := p.ttl / 3
	troubled := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(period):
		}
		bounded, cancel := context.WithTimeout(ctx, period)
		_, err := p.Call(bounded, openapi.KeepAdmission(p.cluster, p.ID), remote.JSONOf(live.LeaseBeat{}))
		cancel()
		switch {
		case err == nil:
			if troubled {
				p.warn("The lease is renewed again.")
			}
			troubled = false
		case ctx.Err() != nil:
			return
		case leaseOver(err):
			if p.stopWhenLost {
				p.warn("The lease is lost, and its place may be another's; the command is stopped.")
			} else {
				p.warn("The lease is lost, and its place may be another's; the command goes on.")
			}
			close(lost)
			return
		case !troubled:
			troubled = true
			p.warn("The lease could not be renewed (%s); trying on.", shell.Shown(err.Error()))
		}
	}
}

// End frees the place. What fails here mends itself: the lease expires.
func (p *Place) End(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if _, err := p.Call(ctx, openapi.EndAdmission(p.cluster, p.ID)); err != nil {
		p.warn("The lease could not be ended (%s); it expires by itself.", shell.Shown(err.Error()))
	}
}
