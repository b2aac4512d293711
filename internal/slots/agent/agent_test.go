package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestTasksAreRunOnceEach(t *testing.T) {
	out := t.TempDir()
	d := newDesk(t, 3, tasks("job-a", 12)...)
	d.queue[3].JobName, d.queue[3].Class = "other", "none"
	a := newAgent(t, d, Command{Command: []string{script(t, `echo "$HEADROOM_JOB $HEADROOM_JOB_NUMBER $HEADROOM_TASK_KIND $HEADROOM_ATTEMPT $HEADROOM_CLUSTER $HEADROOM_NODE $1 $EXTRA key=$HEADROOM_API_KEY" >> `+out+`/$HEADROOM_TASK`), "first one"},
		Environment: map[string]string{"EXTRA": "more"}})
	t.Setenv("HEADROOM_API_KEY", "hrk_secret")
	end := a.runs()
	d.until("the end of all tasks", func() bool { return len(d.over) == 12 })
	if err := end(); err != nil {
		t.Error(err)
	}
	for id, why := range d.over {
		if id == 4 {
			if why != `The node has no command for the job "other" or its class "none".` {
				t.Errorf("a job without a command: %q", why)
			}
			continue
		}
		text, err := os.ReadFile(filepath.Join(out, strconv.FormatInt(id-1, 10)))
		if want := "job-a 7 map 1 c n first one more key=\n"; why != "" || err != nil || string(text) != want {
			t.Errorf("task %d: %q, %v, it wrote %q, want %q", id, why, err, text, want)
		}
	}
	if d.twice != nil {
		t.Errorf("assignments %v ended more than once", d.twice)
	}
	if shown, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || shown != 0 {
		t.Errorf("the agent's environment can be read by tasks: %d, %v", shown, err)
	}
	last := d.seen[len(d.seen)-1]
	if !last.Leaving || len(last.Running) > 0 || last.State.Load1 == nil || last.State.MemoryPercent == nil {
		t.Errorf("the last heartbeat is %+v", last)
	}
}

// If anything breaks between the agent and the service, each task still runs once and is reported once.
func TestBrokenConnectionsLoseNothing(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	d := newDesk(t, 2, tasks("job", 8)...)
	broken := errors.New("the connection broke")
	d.trouble = func(beat int) (before, after error) {
		switch beat % 3 {
		case 0:
			return broken, nil
		case 1:
			return nil, broken // it was accepted, and the answer is lost
		}
		return nil, nil
	}
	a := newAgent(t, d, Command{Command: []string{script(t, `echo ran >> `+out+`/$HEADROOM_ASSIGNMENT`)}})
	a.runs()
	d.until("the end of all tasks", func() bool { return len(d.over) == 8 })
	for i := range 8 {
		if text, err := os.ReadFile(filepath.Join(out, strconv.Itoa(i+1))); err != nil || string(text) != "ran\n" {
			t.Errorf("task %d: %q, %v", i+1, text, err)
		}
	}
	if d.twice != nil {
		t.Errorf("assignments %v ended more than once", d.twice)
	}
}

func TestTasksThatDoNotBehave(t *testing.T) {
	much := "200000000"
	if os.Getenv("HEADROOM_LONG") != "" {
		much = "2000000000"
	}
	pids := t.TempDir()
	for _, c := range []struct {
		name    string
		command Command
		says    string
	}{
		{"fails", Command{Command: []string{script(t, "echo the disk is full >&2; exit 3")}}, "It ended with exit code 3. Its last words: the disk is full"},
		{"hangs", Command{Command: []string{script(t, "sleep 600")}, LimitSeconds: 0.2, GraceSeconds: 0.2}, "It took longer than its limit of 0.2 s."},
		{"hangs and will not end", Command{Command: []string{script(t, "trap '' TERM; while :; do sleep 1; done")}, LimitSeconds: 0.2, GraceSeconds: 0.2}, "longer than its limit"},
		{"is killed", Command{Command: []string{script(t, "kill -9 $$")}}, "A signal ended it (killed)."},
		{"prints a great deal", Command{Command: []string{"/bin/sh", "-c", "head -c " + much + " /dev/zero | tr '\\0' 'é'; echo; echo the end; exit 1"}}, "the end"},
		{"is no program", Command{Command: []string{"/nowhere/at/all"}}, "It was not started: /nowhere/at/all cannot be run: no such file or directory."},
		{"leaves others behind", Command{Command: []string{script(t, "sleep 600 & echo $! > "+pids+"/left; exit 0")}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1, tasks("job", 1)...)
			newAgent(t, d, c.command).runs()
			d.until("the end of the task", func() bool { return len(d.over) == 1 })
			if got := d.over[1]; !strings.Contains(got, c.says) || c.says == "" && got != "" || len(got) > 500 {
				t.Errorf("got %q, want %q", got, c.says)
			}
		})
	}
	t.Cleanup(func() { // after the parallel ones
		text, err := os.ReadFile(filepath.Join(pids, "left"))
		if err != nil {
			t.Error(err)
			return
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if state := processState(pid); err != nil || state != "" && state != "Z" {
			t.Errorf("what a task left behind, process %q, is there still (%s)", text, state)
		}
	})
}

// processState returns the state of a process, "" if there is none.
func processState(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))[0]
}

func TestTasksThatTheServerStops(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 2, tasks("job", 2)...)
	a := newAgent(t, d, Command{Command: []string{"/bin/sleep", "600"}, GraceSeconds: 5})
	a.config.StopAfter = 0
	a.runs()
	d.until("both run", func() bool { return len(d.seen) > 0 && len(d.seen[len(d.seen)-1].Running) == 2 })
	d.mu.Lock()
	d.stop[1] = "Another copy is done."
	d.mu.Unlock()
	d.until("one has been stopped", func() bool { return slices.Equal(d.seen[len(d.seen)-1].Running, []int64{2}) })
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.over) > 0 || d.twice != nil {
		t.Errorf("a task that was stopped is told of: %v %v", d.over, d.twice)
	}
}

// An agent that ends waits for its tasks, ends those that take too long, and says so.
func TestAgentsLeave(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 2, tasks("job", 4)...)
	a := newAgent(t, d, Command{Command: []string{script(t, "if [ $HEADROOM_TASK = 0 ]; then sleep 1; else sleep 600; fi")}, GraceSeconds: 1})
	a.config.StopAfter = 2 * time.Second
	end := a.runs()
	d.until("both run", func() bool { return len(d.seen) > 0 && len(d.seen[len(d.seen)-1].Running) == 2 })
	if err := end(); err != nil {
		t.Error(err)
	}
	if why, ended := d.over[1]; !ended || why != "" || len(d.over) != 1 {
		t.Errorf("over: %v", d.over)
	}
	last := d.seen[len(d.seen)-1]
	if len(d.queue) != 3 || len(d.open) != 0 || !last.Leaving || len(last.Running) != 0 {
		t.Errorf("%d wait and %d are open; the last heartbeat is %+v", len(d.queue), len(d.open), last)
	}
	// It does so without a server too, and reports at its next start.
	d = newDesk(t, 1, tasks("job", 1)...)
	b := newAgent(t, d, Command{Command: []string{script(t, "sleep 0.5")}})
	b.config.StopAfter = 2 * time.Second
	end = b.runs()
	d.until("it runs", func() bool { return len(d.seen) > 0 && len(d.open) == 1 })
	d.mu.Lock()
	d.trouble = func(int) (error, error) { return errors.New("nobody is there"), nil }
	d.mu.Unlock()
	if err := end(); err != nil {
		t.Error(err)
	}
	d.mu.Lock()
	d.trouble = nil
	open := len(d.open)
	d.mu.Unlock()
	end = b.runs()
	d.until("it is told of", func() bool { return len(d.over) == 1 })
	if err := end(); err != nil || open != 1 || d.over[1] != "" || d.twice != nil {
		t.Errorf("%v; %d were open, over %v, twice %v", err, open, d.over, d.twice)
	}
}

// The unanswered reports of a killed agent are sent by the next one, as the same heartbeat first.
func TestKilledAgentsGoOn(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	d := newDesk(t, 1, tasks("job", 2)...)
	d.open[1], d.queue = d.queue[0], d.queue[1:]
	a := newAgent(t, d, Command{Command: []string{script(t, "echo $HEADROOM_TASK >> "+out)}})
	pending := heartbeat{Seq: 5, Boot: "before", At: time.Now(), Running: []int64{}, Finished: []FinishedTask{{1, 2.5}}}
	text, err := json.Marshal(pending)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.beat(t.Context(), text); err != nil { // it arrived, and its answer was lost with the agent
		t.Fatal(err)
	}
	if err := save(filepath.Join(a.config.Dir, keptFile), kept{Mark: "m", Boot: "before", Seq: 5, Pending: text, Ended: []ended{{Assignment: 1, Seconds: 2.5}}}); err != nil {
		t.Fatal(err)
	}
	// A process of the killed agent that still runs.
	left, err := os.StartProcess("/bin/sleep", []string{"sleep", "600"}, &os.ProcAttr{Env: []string{markVariable + "=m"}})
	if err != nil {
		t.Fatal(err)
	}
	end := a.runs()
	state, err := left.Wait()
	if err != nil || !state.Sys().(syscall.WaitStatus).Signaled() {
		t.Errorf("what was left behind: %v, %v", state, err)
	}
	d.until("the end of the task of the answer that was lost", func() bool { return len(d.over) == 2 })
	if err := end(); err != nil || d.twice != nil || d.over[1]+d.over[2] != "" {
		t.Errorf("%v; over %v, twice %v", err, d.over, d.twice)
	}
	if next := d.seen[1]; next.Boot != "before" || next.Seq != 6 || len(next.Failed) > 0 || slices.Contains(next.Finished, FinishedTask{1, 2.5}) {
		t.Errorf("the new agent says %+v", next)
	}
	if text, err := os.ReadFile(out); err != nil || string(text) != "1\n" {
		t.Errorf("it ran %q, %v", text, err)
	}
	// If the server no longer takes that heartbeat, the agent reports the same in another.
	d.open[3] = Assignment{Assignment: 3}
	pending.Boot, pending.Seq, pending.Finished = "older", 1, []FinishedTask{{3, 1}}
	if text, err = json.Marshal(pending); err != nil {
		t.Fatal(err)
	}
	if err := save(filepath.Join(a.config.Dir, keptFile), kept{Mark: "m", Boot: "older", Seq: 1, Pending: text, Ended: []ended{{Assignment: 3, Seconds: 1}}}); err != nil {
		t.Fatal(err)
	}
	d.mu.Lock()
	beats, refused := d.beats, 0
	d.instead = func(beat int) *http.Response {
		if beat == beats+1 {
			refused++
			return says(409, `{"title":"no","detail":"It comes from an earlier start."}`)
		}
		return nil
	}
	d.mu.Unlock()
	end = a.runs()
	d.until("what was told in vain", func() bool { return len(d.over) == 3 })
	if err := end(); err != nil || refused != 1 || d.twice != nil {
		t.Errorf("%v; refused %d times, twice %v", err, refused, d.twice)
	}
	info, err := os.Stat(filepath.Join(a.config.Dir, keptFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestServersThatAnswerNonsense(t *testing.T) {
	for name, instead := range map[string]*http.Response{
		"nothing": says(200, ""), "a page": says(200, "<html>"), "another number": says(200, `{"seq": 99}`), "another kind": says(200, `{"seq": "1"}`),
		"a task of nobody":   says(200, `{"seq":1,"assignments":[{"assignment":0,"job_name":"job","kind":"map"}]}`),
		"a kind of its own":  says(200, `{"seq":1,"assignments":[{"assignment":1,"job_name":"job","kind":"rm -rf"}]}`),
		"a redirect":         says(302, ""),
		"a proxy's trouble":  says(502, "<html>bad gateway"),
		"a thousand and one": says(200, `{"seq":1,"assignments":[`+strings.Repeat(`{"assignment":1,"job_name":"job","kind":"map"},`, 1000)+`{"assignment":1,"job_name":"job","kind":"map"}]}`),
		"very much":          says(200, `{"seq":1,"notes":[`+strings.Repeat(" ", maxAnswer)+`]}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1, tasks("job", 1)...)
			d.instead = func(beat int) *http.Response {
				if beat == 1 {
					return instead
				}
				return nil
			}
			a := newAgent(t, d, Command{Command: []string{"/bin/true"}})
			end := a.runs()
			d.until("the task is done all the same", func() bool { return len(d.over) == 1 })
			if err := end(); err != nil || d.over[1] != "" || d.twice != nil || d.seen[0].Seq != 1 {
				t.Errorf("%v, %v, %v, %+v", err, d.over, d.twice, d.seen[0])
			}
		})
	}
}

func TestRefusalsSayWhatToDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		says   string
	}{
		{401, "a key of the role agent"}, {403, "a key of the role agent"}, {404, "does not know the node"}, {409, "another agent speaks for node"}, {422, "refuses the heartbeats"},
	} {
		d := newDesk(t, 1)
		d.instead = func(int) *http.Response {
			return says(c.status, `{"title":"no","detail":"The server's own words.","code":"x"}`)
		}
		err := newAgent(t, d, Command{}).runsOnce()
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "The server's own words") || d.beats != 1 {
			t.Errorf("%d: %v after %d heartbeats", c.status, err, d.beats)
		}
	}
	// A revoked key may come back later, but a name taken by another agent does not.
	d := newDesk(t, 1, tasks("job", 1)...)
	d.instead = func(beat int) *http.Response {
		switch {
		case beat == 3:
			return says(403, `{"title":"no","detail":"Not now."}`)
		case beat > 5:
			return says(409, `{"title":"no","detail":"It comes from an earlier start."}`)
		}
		return nil
	}
	a := newAgent(t, d, Command{Command: []string{"/bin/sleep", "600"}})
	began := time.Now()
	if err := a.runsOnce(); err == nil || !strings.Contains(err.Error(), "name of its own") || time.Since(began) > 20*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

// runsOnce runs the agent until it ends by itself.
func (a *at) runsOnce() error {
	ctx, stop := context.WithTimeout(a.Context(), 30*time.Second)
	defer stop()
	return Run(ctx, a.config)
}

// Tasks run in their given cgroup, if this machine has any.
func TestTasksRunInTheirCgroup(t *testing.T) {
	root := ""
	for _, at := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		if realGroup(at) {
			root = at
		}
	}
	cgroup := filepath.Join(root, "headroom-test-tasks")
	if err := os.Mkdir(cgroup, 0o755); root == "" || err != nil {
		t.Logf("no group can be made here (%v): nothing to look at", err)
		return
	}
	t.Cleanup(func() {
		if err := os.Remove(cgroup); err != nil {
			t.Error(err)
		}
	})
	out := filepath.Join(t.TempDir(), "out")
	d := newDesk(t, 1, tasks("job", 1)...)
	a := newAgent(t, d, Command{Command: []string{script(t, "cat /proc/self/cgroup > "+out)}})
	a.config.Cgroup = cgroup
	end := a.runs()
	d.until("the task is done", func() bool { return len(d.over) == 1 })
	text, err := os.ReadFile(out)
	if err != nil || d.over[1] != "" || !strings.Contains(string(text), "0::/headroom-test-tasks\n") {
		t.Errorf("%v, %q: it ran in %q", err, d.over[1], text)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	// A directory that is no cgroup is refused before anything runs.
	a.config.Cgroup = t.TempDir()
	if err := a.runsOnce(); err == nil || !strings.Contains(err.Error(), "is no cgroup of version 2") {
		t.Errorf("got %v", err)
	}
}
