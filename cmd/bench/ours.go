package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"time"

	"example.org/headroom/internal/core/plan/integer"
)

// minMeasured is the shortest total time of a repeated solve, so that the shortest solves can be measured.
const minMeasured = 20 * time.Millisecond

// ours measures Headroom's exact method within this process, the collector's share included.
func ours(ctx context.Context, q question) (answer, error) {
	in := q.instance
	supply := make([]integer.Tier, len(in.Supply))
	for k, t := range in.Supply {
		supply[k] = integer.Tier(t)
	}
	asked := integer.Instance{Gamma: in.Gamma, Penalty: in.Penalty, Low: in.Low, High: in.High, Supply: supply}

	ctx, cancel := context.WithTimeout(ctx, q.limit)
	defer cancel()
	runtime.GC()
	before, err := ownCPU()
	if err != nil {
		return answer{}, err
	}
	var found integer.Result
	var spent time.Duration
	times := 0
	for spent < minMeasured {
		found = integer.P2(ctx, asked, integer.Within(q.gap))
		times++
		now, err := ownCPU()
		if err != nil {
			return answer{}, err
		}
		spent = now - before
	}
	if !found.Feasible {
		return answer{}, errors.New("there is no plan, which no instance of these families allows")
	}
	a := answer{outcome: optimal, x: columns(in, found.Jobs), took: spent / time.Duration(times), gap: found.Gap / abs(found.Objective)}
	if a.gap > max(q.gap, proofNoise) {
		a.outcome = limited
	}
	return a, nil
}

// ownCPU returns the user and system time this process has used.
func ownCPU() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, fmt.Errorf("read this process's CPU time: %w", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
