package lp

import "errors"

// Why a Solver gave no answer. Limits that were reached are a Status, not an error.
var (
	// ErrBusy: all solver processes are at work and the queue behind them is full.
	ErrBusy = errors.New("every solver is busy and the queue is full: try again in a moment")
	// ErrCrashed: the solver failed, or answered wrongly, twice on one program under different settings.
	ErrCrashed = errors.New("the solver failed or answered wrongly, twice, on this program: where it is short of memory give it more, or ask for a smaller program")
	// ErrUnavailable: there is no solver program that can be run.
	ErrUnavailable = errors.New("no solver can be started: install headroom-solver beside headroom, or set HEADROOM_SOLVER to its path")
)
