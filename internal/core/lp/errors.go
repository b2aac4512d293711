package lp

import "errors"

// Reasons why a Solver gives no answer. A limit that was reached is a Status, not an error.
var (
	// ErrBusy means that all solver processes are at work and the queue behind them is full.
	ErrBusy = errors.New("every solver is busy and the queue is full: try again in a moment")
	// ErrCrashed means that the solver failed, or answered wrongly, twice on one program under different settings.
	ErrCrashed = errors.New("the solver failed or answered wrongly, twice, on this program: where it is short of memory give it more, or ask for a smaller program")
	// ErrUnavailable means that no solver program can be run.
	ErrUnavailable = errors.New("no solver can be started: install headroom-solver beside headroom, or set HEADROOM_SOLVER to its path")
)
