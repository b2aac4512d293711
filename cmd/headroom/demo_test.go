package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/test/await"
)

// empty finds the words with which commands say that there is nothing.
var empty = regexp.MustCompile(`(?i)there (is|are) no|nobody has|keeps no|has no forecast|headroom: `)

// The lines that a server prints work in a shell in another directory, and each shows something. The program is named
// by its path, is on no PATH and has a space in it; the data directory was given relative.
func TestServePrintsLinesThatWork(t *testing.T) {
	t.Parallel()
	dir := dataDirectory(t)
	program := filepath.Join(dir, "it's bin", "headroom") // the test program acts by the name it is started with
	here, err := exec.LookPath("headroom")
	if err != nil {
		t.Fatal(err)
	}
	if here, err = filepath.Abs(here); err == nil {
		err = errors.Join(os.Mkdir(filepath.Dir(program), 0o755), os.Symlink(here, program))
	}
	if err != nil {
		t.Fatal(err)
	}
	work, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	relative, err := filepath.Rel(work, filepath.Join(dir, "data of mine"))
	if err != nil {
		t.Fatal(err)
	}
	s := launchProgram(t, program, relative, nil, "--demo").await(t)
	pasted := 0
	for line := range strings.Lines(s.greeted) {
		if !strings.Contains(line, "headroom") || !strings.HasPrefix(line, "  ") {
			continue
		}
		pasted++
		shell := exec.Command("/bin/sh")
		shell.Dir, shell.Stdin = t.TempDir(), strings.NewReader(line)
		shell.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + shell.Dir, "HEADROOM_URL=http://127.0.0.1:1"}
		said, err := shell.Output()
		if err != nil || strings.Count(string(said), "\n") < 2 || empty.Match(said) {
			t.Errorf("%s: %v\n%s", line, err, said)
		}
	}
	if pasted != 10 {
		t.Errorf("%d lines to paste in\n%s", pasted, s.greeted)
	}
	s.simulates(t)
	s.labelsListed(t)
}

// simulates waits until tasks of simulated nodes have ended, all of them while they ran on the node.
func (s *served) simulates(t *testing.T) {
	t.Helper()
	var got struct {
		Items []struct {
			Node    string
			JobName string `json:"job_name"`
			Outcome string
			Seconds *float64
		}
	}
	for last := range await.Tries(patience(3 * time.Minute)) {
		if err := json.Unmarshal([]byte(s.get(t, "/v1/clusters/demo/decisions?limit=1000")), &got); err != nil {
			t.Fatal(err)
		}
		done := 0
		for _, d := range got.Items {
			if !strings.HasPrefix(d.Node, "simulated") || !strings.HasPrefix(d.JobName, "simulated") {
				t.Fatalf("the demonstration does not say that this is simulated: %+v", d)
			}
			if d.Outcome == "done" && d.Seconds != nil && *d.Seconds >= 30 {
				done++
			}
			if d.Outcome == "lost" || d.Outcome == "failed" {
				t.Errorf("a simulated task was lost or has failed: %+v", d)
			}
		}
		if done > 0 && len(got.Items) > 32 {
			return
		}
		if last {
			t.Fatalf("no task of the simulated nodes ends: %+v\n%s", got, s.stderr)
		}
	}
}

// Simulated nodes go on after a crash of the server: no task is lost, and none runs twice.
func TestSimulatedNodesSurviveACrash(t *testing.T) {
	t.Parallel()
	dir := madeDirectory(t)
	s := startServing(t, dir, "--demo")
	running := func() (all []string) {
		var got struct {
			Items []struct {
				Assignment, Attempt int64
				Outcome             string
			}
		}
		if err := json.Unmarshal([]byte(s.get(t, "/v1/clusters/demo/decisions?limit=1000")), &got); err != nil {
			t.Fatal(err)
		}
		for _, d := range got.Items {
			if d.Attempt > 1 || d.Outcome == "lost" {
				t.Errorf("assignment %d: attempt %d, %s", d.Assignment, d.Attempt, d.Outcome)
			}
			all = append(all, fmt.Sprint(d.Assignment))
		}
		return all
	}
	for last := range await.Tries(patience(30 * time.Second)) {
		if len(running()) == 32 {
			break
		}
		if last {
			t.Fatalf("the nodes have %d tasks, want 32", len(running()))
		}
	}
	s.kill(t)
	s = startServing(t, dir, "--demo")
	beats := func() (seq int64) {
		var node struct{ Seq int64 }
		if err := json.Unmarshal([]byte(s.get(t, "/v1/clusters/demo/nodes/simulated-node-4")), &node); err != nil {
			t.Fatal(err)
		}
		return node.Seq
	}
	for last := range await.Tries(patience(30 * time.Second)) {
		if beats() >= 3 {
			break
		}
		if last {
			t.Fatalf("the last node has sent %d heartbeats, want 3", beats())
		}
	}
	if now := running(); len(now) < 32 {
		t.Errorf("after the crash %d tasks are on record, want 32 or more", len(now))
	}
}
