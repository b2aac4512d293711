package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// scheduled is a server whose plan has one place for a job, which tells when two of it run at once.
type scheduled struct {
	homed
	agent    string // a key
	job      string // the program
	ran      string // a file with a line for each time
	programs string // the folder with the program headroom
	replace  *strings.Replacer
}

func startScheduled(t *testing.T) *scheduled {
	d := startHomed(t)
	files := t.TempDir()
	program, err := exec.LookPath("headroom")
	if err != nil {
		t.Fatal(err)
	}
	s := &scheduled{homed: d, job: filepath.Join(files, "etl.sh"), ran: filepath.Join(files, "ran"), programs: filepath.Dir(program)}
	s.agent = d.agentKey(t)
	document := filepath.Join(files, "shop.yaml")
	for file, text := range map[string]string{
		s.job: fmt.Sprintf("#!/bin/sh\nmkdir %[1]s/alone || echo two at once >> %[1]s/ran\nsleep 0.3\necho ran $1 >> %[1]s/ran\nrmdir %[1]s/alone\n", files),
		document: "cluster: {name: shop}\nvm_types: [{name: m, in_use: true}]\nprices: [{vm_type: m, price: 0.2, from: 2020-01-01}]\n" +
			"classes: [{name: nightly-etl, vms_per_job: 1, jobs: {min: 1, max: 1}, penalty: 5}]\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	d.verb(t, "apply", "-f", document, "--yes")
	d.verb(t, "plan", "create", "shop")
	s.replace = strings.NewReplacer("/opt/jobs/etl.sh", s.job, "http://127.0.0.1:8080", "http://"+d.address, "$(cat /etc/headroom/etl.key)", s.agent)
	return s
}

// example reads a file of deploy for this server.
func (s *scheduled) example(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../deploy", file))
	if err != nil {
		t.Fatal(err)
	}
	changed := s.replace.Replace(string(text))
	if changed == string(text) {
		t.Fatalf("%s starts no job of ours", file)
	}
	return changed
}

// runs returns what the job wrote since the last time.
func (s *scheduled) runs(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(s.ran)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	_ = os.Remove(s.ran)
	return string(text)
}

// take takes the only place, until it is given back.
func (s *scheduled) take(t *testing.T) (giveBack func()) {
	t.Helper()
	id := strings.TrimSpace(s.verb(t, "admission", "ask", "shop", "nightly-etl", "-q", "--holder", "somebody"))
	return func() { s.verb(t, "admission", "end", "shop", id) }
}

// The job of the example for cron waits for its place, runs in it, and says so with its exit code where there is none.
func TestCronWaitsForAPlace(t *testing.T) {
	t.Parallel()
	s := startScheduled(t)
	var environment []string
	command := ""
	for line := range strings.Lines(s.example(t, "cron/nightly-etl")) {
		line = strings.TrimSpace(line)
		if fields := strings.Fields(line); len(fields) > 6 && !strings.HasPrefix(line, "#") { // when, who, what
			_, command, _ = strings.Cut(line, fields[5]+" ")
		} else if !strings.HasPrefix(line, "#") {
			environment = append(environment, strings.Replace(line, "PATH=", "PATH="+s.programs+":", 1))
		}
	}
	start := func(command string) (code int, said string) {
		c := exec.Command("/bin/sh", "-c", command)
		c.Env = environment
		text, err := c.CombinedOutput()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return c.ProcessState.ExitCode(), string(text)
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if code, said := start(command); code != 0 {
				t.Errorf("exit code %d: %s", code, said)
			}
		})
	}
	all.Wait()
	if ran := s.runs(t); ran != strings.Repeat("ran\n", 3) {
		t.Errorf("three jobs wrote %q", ran)
	}
	giveBack := s.take(t)
	if code, said := start(strings.Replace(command, "--wait 2h", "--wait 1s", 1)); code != 3 || !strings.Contains(said, "not admitted") || s.runs(t) != "" {
		t.Errorf("without a place: exit code %d, %s", code, said)
	}
	giveBack()
}

// Airflow runs the example's task in its place. Where there is none the task fails, to be tried again later.
func TestAirflowWaitsForAPlace(t *testing.T) {
	if !wholeSamples {
		t.Skip("it installs Airflow from Python's registry; make test-long does")
	}
	s := startScheduled(t)
	folder := t.TempDir()
	programs := filepath.Join(folder, "environment", "bin")
	airflow := func(name string, args ...string) (said string, err error) {
		var out bytes.Buffer
		c := exec.Command(name, args...)
		c.Dir, c.Stdout, c.Stderr = folder, &out, &out
		c.Env = append(os.Environ(), "AIRFLOW_HOME="+folder, "AIRFLOW__CORE__LOAD_EXAMPLES=False", "HEADROOM_URL=http://"+s.address, "HEADROOM_API_KEY="+s.agent,
			"PATH="+s.programs+":"+os.Getenv("PATH"))
		err = c.Run()
		return out.String(), err
	}
	for _, command := range [][]string{
		{"python3", "-m", "venv", "environment"},
		{filepath.Join(programs, "pip"), "install", "--quiet", "apache-airflow==2.11.2"},
		{filepath.Join(programs, "airflow"), "db", "migrate"},
	} {
		if said, err := airflow(command[0], command[1:]...); err != nil {
			t.Fatalf("%v: %v\n%s", command, err, said)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "dags"), 0o700); err != nil {
		t.Fatal(err)
	}
	task := func(wait string) (string, error) {
		text := strings.Replace(s.example(t, "airflow/nightly_etl.py"), "--wait 5m", "--wait "+wait, 1)
		if err := os.WriteFile(filepath.Join(folder, "dags", "nightly_etl.py"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return airflow(filepath.Join(programs, "airflow"), "tasks", "test", "nightly_etl", "etl", "2026-03-01")
	}
	if said, err := task("5m"); err != nil || s.runs(t) != "ran 2026-03-01\n" {
		t.Errorf("with a place: %v\n%s", err, said)
	}
	giveBack := s.take(t)
	if said, err := task("1s"); err == nil || !strings.Contains(said, "exit code 3") || s.runs(t) != "" {
		t.Errorf("without a place: %v\n%s", err, said)
	}
	giveBack()
	if said := s.verb(t, "admission", "list", "shop"); !strings.Contains(said, "No job holds a lease.") {
		t.Errorf("a place is still taken:\n%s", said)
	}
}
