package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/lp/worker"
	"example.org/headroom/internal/edge/cli/root"
	"example.org/headroom/internal/test/pgtest"
)

// notTried holds commands whose examples are not run here, with the reason.
var notTried = map[string]string{
	"serve":         "runs until it is ended; all tests here start it",
	"drive slurm":   "make test-engines runs it with a real Slurm",
	"drive spark":   "make test-engines runs it with a real Spark",
	"drive yarn":    "make test-engines runs it with a real YARN",
	"lab reproduce": "testdata/reproduce.txtar runs them",
}

// exampleNeeds reads, for each command, the lines of a shell that make what its examples need. A line "== plan get, plan pin"
// stands above those of these commands.
func exampleNeeds(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("testdata/examples/needs")
	if err != nil {
		t.Fatal(err)
	}
	needs := map[string]string{}
	for part := range strings.SplitSeq("\n"+string(text), "\n== ") {
		names, lines, there := strings.Cut(part, "\n")
		if !there {
			continue
		}
		for name := range strings.SplitSeq(names, ", ") {
			needs[name] = lines
		}
	}
	return needs
}

// exampleRefusals holds the words with which an example is refused that needs what is outside of a test.
var exampleRefusals = map[string]string{
	"headroom history import shop http:":                        "is not on the list of allowed hosts",
	"headroom supply price import shop https://":                "is not on the list of allowed hosts",
	"headroom server webhook test pager":                        "is a name that nobody knows",
	"headroom live agent shop --tasks tasks.json --apply-hints": "there is no cgroup",
	"headroom live agent --apply-hints":                         "there is no cgroup",
}

// exampleEndless holds examples that run until they are ended.
var exampleEndless = []string{"headroom history watch shop events", "headroom plan watch shop", "headroom live agent shop --node"}

// ofTest puts what a test has in place of what only a reader has.
var ofTest = strings.NewReplacer(
	"/var/spark-events", "events", "/mnt/history/done/2026", "events", "/etc/headroom/tasks.json", "tasks.json", " | jq .vms", "",
	"start-the-job", "true", "./etl.sh --day today", "true", "--hours 168", "--hours 24",
	"live job get shop 12", "live job get shop $JOB", "live job kill shop 12", "live job kill shop $JOB",
	"compare shop 3 7", "compare shop $OLD $NEW", "--plan 7", "--plan $NEW",
	"plan get shop 3", "plan get shop $OLD", "plan pin shop 3", "plan pin shop $OLD", "plan problem shop 3", "plan problem shop $OLD")

// The examples of every command run, in their order, in a folder with the files that they name, and do what they should.
// The short form tries one command in ten.
func TestExamplesRun(t *testing.T) {
	t.Parallel()
	h := startHomed(t)
	dir := t.TempDir()
	contract, err := filepath.Abs(filepath.Join(repository, "openapi/examples"))
	if err != nil {
		t.Fatal(err)
	}
	database, needs := pgtest.Database(t), exampleNeeds(t)
	every := 16 // commands, of which one is tried
	if wholeSamples {
		every = 1
	}
	nights(t, dir)
	if err := os.CopyFS(dir, os.DirFS("testdata/examples")); err != nil {
		t.Fatal(err)
	}
	for name, from := range map[string]string{
		"problem.json": "several-classes.json", "cluster.json": "several-classes.json", "year.json": "year-with-offers.json",
		"day.json": "day-with-windows.json", "batch.json": "batch.json", "shares.json": "rules/shares.json",
		"executions.json": "rules/executions.json", "measured.json": "rules/measurements.json", "case.json": "rules/decide.json",
		"cases.json": "rules/cases.json", "job.json": "rules/judge.json", "targets.json": "targets.json", "lessons.json": "rules/lessons.json", "more.json": "rules/lessons.json",
	} {
		if err := os.Symlink(filepath.Join(contract, from), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	try := func(script string) (string, error) {
		home := t.TempDir()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c := exec.CommandContext(ctx, "sh", "-c", script)
		c.WaitDelay = time.Second
		c.Dir = dir
		c.Env = append(os.Environ(), worker.ProgramVariable+"="+os.Getenv(worker.ProgramVariable), "HEADROOM_DATA_DIR="+h.dir,
			"HEADROOM_LISTEN="+h.address, "SERVER=http://"+h.address, "DATABASE="+database, "HOME="+home, "XDG_CONFIG_HOME="+home)
		said, err := c.CombinedOutput()
		return string(said), err
	}
	var known []string
	fresh := false // the cluster is as the document has it
	for _, c := range leaves(root.Command()) {
		path := strings.TrimPrefix(c.CommandPath(), "headroom ")
		if untried(path) != "" {
			continue
		}
		known = append(known, path)
		if len(known)%every != 0 {
			continue
		}
		t.Run(path, func(t *testing.T) {
			if !fresh && c.Flag("server") != nil {
				if said, err := try("headroom cluster delete shop --yes >/dev/null 2>&1; headroom apply -f document.yaml --yes"); err != nil {
					t.Fatalf("%v\n%s", err, said)
				}
			}
			fresh = needs[path] == "" && slices.Contains([]string{"get", "list", "history"}, c.Name())
			script := "set -e\n" + needs[path] + "\nset -x\n"
			for line := range strings.Lines(c.Example) {
				script += strings.ReplaceAll(tried(c, strings.TrimSpace(line)), "127.0.0.1:8080", h.address) + "\n"
			}
			said, err := try(script)
			if err != nil {
				t.Errorf("%v\n%s", err, said)
			}
			if found := onePlural.FindString(said); found != "" {
				t.Errorf("it says %q:\n%s", found, said)
			}
		})
	}
	for name := range needs {
		if !slices.Contains(known, name) {
			t.Errorf("testdata/examples/needs names %q, which is no command with examples", name)
		}
	}
	if len(known) < 150 {
		t.Errorf("the examples of %d commands were run", len(known))
	}
}

// onePlural finds a plural after the number one. A run that "1 runs on general" tells is a verb.
var onePlural = regexp.MustCompile(`(?m)(^|[^0-9A-Za-z.,:%/*=-])1 (more )?(attempts|changes|classes|clusters|contracts|days|events|executions|files|hours|jobs|` +
	`machines|months|nodes|offers|places|plans|points|rows|slots|stages|tasks|types|VMs|warnings|weeks)\b.*`)

// nights writes three weeks of runs up to today: tables of their tasks, and a list of Slurm's.
func nights(t *testing.T, dir string) {
	t.Helper()
	var table, list strings.Builder
	table.WriteString("job,execution,task,kind,start,finish\n")
	list.WriteString("JobID|JobName|AllocCPUS|Submit|Start|End|State\n")
	for night := range 21 {
		at := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, night-21)
		fmt.Fprintf(&list, "%d|nightly etl|6|%d|%d|%d|COMPLETED\n", night, at.Unix(), at.Unix(), at.Unix()+int64(600+night%5))
		for task := range 6 {
			end := at.Add(time.Duration(50+task+night%5) * time.Second)
			fmt.Fprintf(&table, "nightly etl,%d,%d,map,%s,%s\n", night, task, at.Format(time.RFC3339), end.Format(time.RFC3339))
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "events"), 0o700); err != nil {
		t.Fatal(err)
	}
	tasks := table.String()
	for name, text := range map[string]string{"trace.csv": tasks, "app-20260301.zstd": tasks, "events/trace.csv": tasks, "jobs.txt": list.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// leaves returns the commands that do something.
func leaves(c *cobra.Command) (all []*cobra.Command) {
	if c.Runnable() && (!c.HasSubCommands() || strings.Contains(c.Use, " ")) {
		all = append(all, c)
	}
	for _, sub := range c.Commands() {
		all = append(all, leaves(sub)...)
	}
	return all
}

// untried returns why the examples of a command are not run, or "".
func untried(path string) string {
	for name, why := range notTried {
		if path == name || strings.HasPrefix(path, name+" ") {
			return why
		}
	}
	return ""
}

// tried returns a line of an example as a line that succeeds where the example does what it should.
// What a person confirms on a terminal is confirmed by a flag.
func tried(c *cobra.Command, line string) string {
	line = ofTest.Replace(line)
	asks := c.Flag("yes") != nil && strings.HasPrefix(line, c.CommandPath())
	if asks && !strings.Contains(line, "--yes") && !strings.Contains(line, "--dry-run") {
		line += " --yes"
	}
	if strings.HasPrefix(line, "headroom init ") { // each example makes the same cluster
		line = "headroom cluster delete shop --yes >/dev/null 2>&1 || true\n" + line
	}
	if strings.HasPrefix(line, "headroom lab judge ") { // its job would be late, which is no failure
		line += " || test $? -eq 3"
	}
	for begin, words := range exampleRefusals {
		if strings.HasPrefix(line, begin) {
			return fmt.Sprintf("%s 2>&1 | grep -F %q", line, words)
		}
	}
	for _, begin := range exampleEndless {
		if strings.HasPrefix(line, begin) {
			return fmt.Sprintf("timeout 2 %s || test $? -eq 124", line)
		}
	}
	return line
}
