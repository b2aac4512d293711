package agent

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// starter starts processes from one thread that lives as long as the agent. Linux ends them with the thread that
// started them, so no process outlives a killed agent.
type starter struct {
	requests chan func()
	done     chan struct{}
}

func newStarter() *starter {
	s := &starter{requests: make(chan func()), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
		for do := range s.requests {
			do()
		}
	}()
	return s
}

func (s *starter) start(a Assignment, c Command, environment []string, cgroup int) (t *task, err error) {
	started := make(chan struct{})
	s.requests <- func() {
		defer close(started)
		t, err = start(a, c, environment, cgroup)
	}
	<-started
	return t, err
}

func (s *starter) end() {
	close(s.requests)
	<-s.done
}

// killMarked ends processes left behind by the tasks of an earlier agent, which have its mark in their environment.
// It returns their number.
func killMarked(mark string) (ended int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	variable := []byte(markVariable + "=" + mark)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		text, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ")) // fails for other users' processes
		if err != nil {
			continue
		}
		for pair := range bytes.SplitSeq(text, []byte{0}) {
			if bytes.Equal(pair, variable) && syscall.Kill(pid, syscall.SIGKILL) == nil {
				ended++
				break
			}
		}
	}
	return ended
}

// hideMemory keeps tasks, which run as the agent's user, from reading its memory and environment, which hold the
// server's key.
func hideMemory() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("keep the key from tasks: %w", err)
	}
	return nil
}

// realGroup reports whether a directory is a cgroup of version 2 of this kernel.
func realGroup(dir string) bool {
	var s unix.Statfs_t
	return unix.Statfs(dir, &s) == nil && s.Type == unix.CGROUP2_SUPER_MAGIC
}

// openGroup opens a cgroup, to start processes in it.
func openGroup(dir string) (*os.File, error) {
	if !realGroup(dir) {
		return nil, fmt.Errorf("%s is no cgroup of version 2, so that no task can run in it", dir)
	}
	procs, err := os.OpenFile(filepath.Join(dir, "cgroup.procs"), os.O_WRONLY, 0)
	if err != nil {
		return nil, refused(filepath.Join(dir, "cgroup.procs"), err)
	}
	procs.Close()
	return os.Open(dir)
}
