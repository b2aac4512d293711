package private

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// longestAttach bounds the wait of AttachPrivate for a cluster that is just starting.
const longestAttach = 5 * time.Second

// Attach is the address of the private cluster of a data directory that another process runs,
// if one does. Only root and the user Postgres runs as can use it.
func Attach(dir string) (url string, running bool, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return "", false, err
	}
	cluster := filepath.Join(dir, clusterFolder)
	for deadline := time.Now().Add(longestAttach); ; time.Sleep(orphanPoll) {
		pid, err := readPidFile(cluster)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", false, nil
		case errors.Is(err, fs.ErrPermission):
			return "", false, fmt.Errorf("the database in %s belongs to another user; run this as root or as the user headroom serve was started by", dir)
		case err != nil:
			return "", false, unusable(dir, err)
		case !pid.runs(cluster):
			return "", false, nil
		case pid.ready:
			return privateURL(pid.socket, ""), true, nil
		case time.Now().After(deadline):
			return "", false, fmt.Errorf("the database in %s has been starting or stopping for %.0f s; try again later", dir, longestAttach.Seconds())
		}
	}
}

// pidFile holds the file that a postmaster writes about itself into its data directory.
type pidFile struct {
	number int
	socket string
	ready  bool
}

func readPidFile(cluster string) (pidFile, error) {
	text, err := os.ReadFile(filepath.Join(cluster, "postmaster.pid"))
	if err != nil {
		return pidFile{}, err
	}
	// number, data directory, start, port, socket's directory, address, shared memory, state
	lines := strings.Split(string(text), "\n")
	number, _ := strconv.Atoi(strings.TrimSpace(lines[0])) // 0 while it is being written
	p := pidFile{number: number}
	if len(lines) > 7 {
		p.socket, p.ready = lines[4], strings.TrimSpace(lines[7]) == "ready"
	}
	return p, nil
}

// runs reports whether the postmaster is alive: a process of that number whose folder is the cluster's.
func (p pidFile) runs(cluster string) bool { return p.alive() && p.stands(cluster) }

// strange reports whether another program has the number by now.
func (p pidFile) strange(cluster string) bool { return p.alive() && !p.stands(cluster) }

func (p pidFile) alive() bool {
	if p.number <= 0 {
		return false
	}
	err := syscall.Kill(p.number, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// stands reports whether the process works in the cluster's folder, as every postmaster does.
func (p pidFile) stands(cluster string) bool {
	there, err := os.Stat(fmt.Sprintf("/proc/%d/cwd", p.number))
	if err != nil {
		return false
	}
	here, err := os.Stat(cluster)
	return err == nil && os.SameFile(there, here)
}
