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

// starter starts processes from one thread that lives as long as the agent: Linux ends them with the thread that
// started them, so that none outlives an agent that is killed.
type starter struct {
	asked chan func()
	done  chan struct{}
}

func newStarter() *starter {
	s := &starter{asked: make(chan func()), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
		for do := range s.asked {
			do()
		}
	}()
	return s
}

func (s *starter) start(a Assignment, c Command, environment []string, cgroup int) (t *task, err error) {
	started := make(chan struct{})
	s.asked <- func() {
		defer close(started)
		t, err = start(a, c, environment, cgroup)
	}
	<-started
	return t, err
}

func (s *starter) end() {
	close(s.asked)
	<-s.done
}

// killMarked ends processes that tasks of an earlier agent have left behind: they have its mark in their
// environment. It answers how many.
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
		text, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ")) // those of others cannot be read
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

// hideMemory keeps the tasks of an agent, which run as its own user, from reading its memory and environment, where the
// key to the server is.
func hideMemory() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("keep the key from tasks: %w", err)
	}
	return nil
}

// realGroup says whether a directory is a cgroup of version 2 of this kernel.
func realGroup(dir string) bool {
	var s unix.Statfs_t
	return unix.Statfs(dir, &s) == nil && s.Type == unix.CGROUP2_SUPER_MAGIC
}

// openGroup opens a cgroup for processes to be started in.
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
