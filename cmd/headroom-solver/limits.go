//go:build cgo

package main

import (
	"fmt"
	"math"
	"syscall"
)

// limitMemory bounds the process's private writable memory. It limits RLIMIT_DATA and not the address space, of which
// the Go runtime reserves far more than it uses. A failed allocation then ends the process: for C++ as an uncaught
// bad_alloc, for Go as a fatal error. No core files are left.
func limitMemory(megabytes int) error {
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}); err != nil {
		return fmt.Errorf("forbid core files: %w", err)
	}
	if megabytes == 0 {
		return nil
	}
	bytes := uint64(megabytes) << 20
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: bytes, Max: bytes}); err != nil {
		return fmt.Errorf("limit memory to %d MB: %w", megabytes, err)
	}
	return nil
}

// limitCPU ends the process if the next solve takes far more processor time than its elapsed time limit: a last
// resort if nobody is there to kill it. 0 seconds lift the limit.
func limitCPU(seconds float64) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_CPU, &limit); err != nil {
		return fmt.Errorf("read the processor time limit: %w", err)
	}
	limit.Cur = limit.Max
	if seconds > 0 {
		var used syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
			return fmt.Errorf("read the processor time used: %w", err)
		}
		const slackSeconds = 2
		sofar := float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
		limit.Cur = min(limit.Max, uint64(math.Ceil(sofar+min(2*seconds, 1e9)+slackSeconds)))
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_CPU, &limit); err != nil {
		return fmt.Errorf("limit processor time: %w", err)
	}
	return nil
}
