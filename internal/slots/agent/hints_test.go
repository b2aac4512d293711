package agent

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// group returns a directory that looks like a cgroup, with additional files.
func group(t *testing.T, files map[string]string) string {
	t.Helper()
	all := map[string]string{"cgroup.procs": "", "cgroup.controllers": "cpu memory\n", "cpu.idle": "0\n", "cpu.weight": "100\n", "cpu.max": "max 100000\n"}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		if text == "-" {
			delete(all, name)
		}
	}
	return made(t, all)
}

func inGroup(t *testing.T, cgroup, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(cgroup, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

func put(t *testing.T, cgroup, name, value string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(cgroup, name), []byte(value), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestHintsAreAppliedAndTakenBack(t *testing.T) {
	cgroup, dir := group(t, map[string]string{"cpu.weight": "50\n"}), t.TempDir()
	settings := []Setting{{"cpu.idle", "1"}, {"cpu.max", "200000 100000"}}
	if err := Apply(dir, cgroup, settings); err != nil {
		t.Fatal(err)
	}
	if inGroup(t, cgroup, "cpu.idle") != "1" || inGroup(t, cgroup, "cpu.max") != "200000 100000" {
		t.Error("the settings were not written")
	}
	info, err := os.Stat(filepath.Join(dir, changedFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	put(t, cgroup, "cpu.weight", "100") // as the kernel does with a group that stops being idle
	done, err := Restore(dir)
	if err != nil || len(done) != 3 {
		t.Errorf("%q, %v", done, err)
	}
	if idle, weight, quota := inGroup(t, cgroup, "cpu.idle"), inGroup(t, cgroup, "cpu.weight"), inGroup(t, cgroup, "cpu.max"); idle != "0" || weight != "50" || quota != "max 100000" {
		t.Errorf("the cgroup has %s, %s and %s", idle, weight, quota)
	}
	if again, err := Restore(dir); err != nil || again != nil {
		t.Errorf("%q, %v", again, err)
	}
}

func TestWhatOthersHaveChangedIsLeft(t *testing.T) {
	cgroup, dir := group(t, nil), t.TempDir()
	if err := Apply(dir, cgroup, []Setting{{"cpu.idle", "0"}, {"cpu.weight", "5"}, {"cpu.max", "50000 100000"}}); err != nil {
		t.Fatal(err)
	}
	put(t, cgroup, "cpu.max", "70000 100000")
	done, err := Restore(dir)
	if err != nil || inGroup(t, cgroup, "cpu.weight") != "100" || inGroup(t, cgroup, "cpu.max") != "70000 100000" || !strings.Contains(strings.Join(done, " "), "it is left") {
		t.Errorf("%q, %v", done, err)
	}
	// A removed cgroup takes its settings along.
	if err := Apply(dir, cgroup, BackgroundSettings); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(cgroup); err != nil {
		t.Fatal(err)
	}
	if done, err := Restore(dir); err != nil || len(done) != 1 || !strings.Contains(done[0], "is gone") {
		t.Errorf("%q, %v", done, err)
	}
}

func TestCgroupsThatCannotBeSetSayWhatToDo(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		cgroup   string
		settings []Setting
		says     string
	}{
		{filepath.Join(dir, "none"), BackgroundSettings, "mkdir"},
		{made(t, map[string]string{"a": ""}), BackgroundSettings, "is no cgroup"},
		{filepath.Join(group(t, nil), "cpu.max"), BackgroundSettings, "is no directory"},
		{group(t, map[string]string{"cgroup.controllers": "memory\n", "cpu.idle": "-", "cpu.weight": "-", "cpu.max": "-"}), BackgroundSettings, "echo +cpu >"},
		{group(t, map[string]string{"cpu.idle": "-"}), BackgroundSettings, "Linux 5.15"},
		{group(t, map[string]string{"cpu.idle": "1"}), []Setting{{"cpu.weight", "5"}}, "set cpu.idle to 0 first"},
		{group(t, nil), []Setting{{"cpu.idle", "1"}, {"cpu.weight", "5"}}, "set cpu.idle to 0 first"},
	} {
		if err := Apply(dir, c.cgroup, c.settings); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s, %v: %v", c.cgroup, c.settings, err)
		}
		if _, err := PlannedHints(c.cgroup, c.settings); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("planned: %s, %v: %v", c.cgroup, c.settings, err)
		}
		if _, err := os.Stat(filepath.Join(dir, changedFile)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: there is something to take back: %v", c.cgroup, err)
		}
	}
	// Writes before a failed one are undone.
	cgroup := group(t, nil)
	if err := os.Remove(filepath.Join(cgroup, "cpu.max")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/proc/self/mem-is-not-here", filepath.Join(cgroup, "cpu.max")); err != nil {
		t.Fatal(err)
	}
	if err := Apply(dir, cgroup, []Setting{{"cpu.idle", "1"}, {"cpu.max", "5000 100000"}}); err == nil || inGroup(t, cgroup, "cpu.idle") != "0" {
		t.Errorf("%v; cpu.idle is %s", err, inGroup(t, cgroup, "cpu.idle"))
	}
}

// An agent that may not write a cgroup says what to do.
func TestRightsToCgroups(t *testing.T) {
	cgroup, dir := group(t, nil), t.TempDir()
	for name := range map[string]bool{"cpu.idle": true, "cpu.weight": true, "cpu.max": true, "cgroup.procs": true} {
		if err := os.Chmod(filepath.Join(cgroup, name), 0o444); err != nil {
			t.Fatal(err)
		}
	}
	// The tests may run as the owner of everything, so one thread acts as nobody.
	for _, own := range []string{dir, cgroup, filepath.Dir(dir)} { // which is the test's
		if err := os.Chmod(own, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	var planned, applied, own error
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		if _, own = unix.SetfsuidRetUid(65534); own == nil {
			_, planned = PlannedHints(cgroup, BackgroundSettings)
			applied = Apply(dir, cgroup, BackgroundSettings)
		}
	}()
	<-done
	if own != nil {
		t.Fatal(own)
	}
	for _, err := range []error{planned, applied} {
		if err == nil || !strings.Contains(err.Error(), "this agent may not use "+cgroup+"/cpu.idle; run it as root, or give the cgroup to its user") {
			t.Errorf("got %v", err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, changedFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is something to take back: %v", err)
	}
}

// The real cgroups of this machine: with a cpu controller in version 2, a group is made and set. Without one, the
// sentence gives the reason.
func TestHintsOnThisMachine(t *testing.T) {
	root := ""
	for _, at := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		if realGroup(at) {
			root = at
		}
	}
	if root == "" {
		t.Log("cgroups of version 2 are not mounted here: nothing to look at")
		return
	}
	cgroup, dir := filepath.Join(root, "headroom-test"), t.TempDir()
	if err := os.Mkdir(cgroup, 0o755); err != nil {
		t.Logf("no group can be made here (%v): nothing to look at", err)
		return
	}
	t.Cleanup(func() {
		if err := os.Remove(cgroup); err != nil {
			t.Error(err)
		}
	})
	err := Apply(dir, cgroup, BackgroundSettings)
	if err != nil {
		t.Logf("not set: %v", err)
		if !strings.Contains(err.Error(), "the cpu controller is not given to it") && !strings.Contains(err.Error(), "Linux 5.15") {
			t.Errorf("it does not say why: %v", err)
		}
		return
	}
	if got := inGroup(t, cgroup, "cpu.idle"); got != "1" {
		t.Errorf("cpu.idle is %s", got)
	}
	if _, err := Restore(dir); err != nil || inGroup(t, cgroup, "cpu.idle") != "0" || inGroup(t, cgroup, "cpu.weight") != "100" {
		t.Errorf("%v, %s, %s", err, inGroup(t, cgroup, "cpu.idle"), inGroup(t, cgroup, "cpu.weight"))
	}
}

func TestHintsAreReadFromAnswers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hints.json")
	for text, says := range map[string]string{
		`{"cgroup":"/sys/fs/cgroup/a","settings":[{"file":"cpu.idle","value":"0"},{"file":"cpu.weight","value":"5"},{"file":"cpu.max","value":"max 100000"}],"commands":[],"notes":["n"]}`: "",
		`{"use":0.5,"policies":[{"policy":{},"hints":{"settings":[{"file":"cpu.idle","value":"0"},{"file":"cpu.weight","value":"5"},{"file":"cpu.max","value":"max 100000"}]}}]}`:          "",
		`{"policies":[{"hints":{}},{"hints":{}}]}`: "2 policies",
		`{"policies":[{"hints":null}]}`:            "no settings",
		`{}`:                                       "no settings",
		`nah`:                                      "has no hints",
		`{"settings":[{"file":"../../etc/passwd","value":"1"}]}`:        "no file that hints are written to",
		`{"settings":[{"file":"cpu.idle","value":"2"}]}`:                "0 or 1",
		`{"settings":[{"file":"cpu.weight","value":"0"}]}`:              "1 to 10000",
		`{"settings":[{"file":"cpu.max","value":"5"}]}`:                 "microseconds",
		`{"settings":[{"file":"cpu.max","value":"50000 100000 x"}]}`:    "microseconds",
		`{"settings":[{"file":"cpu.max","value":"999 100000"}]}`:        "microseconds",
		`{"settings":[{"file":"cpu.weight","value":"5\nrm"}],"more":1}`: "1 to 10000",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		settings, err := ReadHints(file)
		if says == "" {
			if diff := cmp.Diff([]Setting{{"cpu.idle", "0"}, {"cpu.weight", "5"}, {"cpu.max", "max 100000"}}, settings); err != nil || diff != "" {
				t.Errorf("%v %s", err, diff)
			}
		} else if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestOneAgentOwnsADirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	release, err := Own(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Own(dir); err == nil || !strings.Contains(err.Error(), "another agent works with") {
		t.Errorf("got %v", err)
	}
	release()
	release, err = Own(dir)
	if err != nil {
		t.Fatal(err)
	}
	release()
}
