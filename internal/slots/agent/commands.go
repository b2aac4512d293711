package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Commands maps jobs to programs, as a file of this machine defines. The server sends only the names of jobs and the
// numbers of tasks.
//
//	{"jobs": {"nightly-etl": {"command": ["/usr/local/bin/etl", "--part"], "limit_s": 3600},
//	          "report-*":    {"command": ["/usr/local/bin/report"]}},
//	 "classes": {"sql": {"command": ["/usr/local/bin/query"]}}}
//
// A job without a command of its own uses the command of its class. A name that ends with * covers all names with
// that beginning; the longest match wins.
type Commands struct {
	Jobs    map[string]Command `json:"jobs"`
	Classes map[string]Command `json:"classes"`
}

// Command is the program for a task. It runs without a shell, and the environment describes the task: HEADROOM_JOB,
// HEADROOM_CLASS, HEADROOM_JOB_NUMBER, HEADROOM_TASK (from 0), HEADROOM_TASK_KIND (map or reduce), HEADROOM_ATTEMPT
// (from 1), HEADROOM_ASSIGNMENT, HEADROOM_CLUSTER and HEADROOM_NODE. Of the agent's own environment it gets PATH,
// HOME, LANG and TZ.
type Command struct {
	Command     []string          `json:"command"`
	Directory   string            `json:"directory,omitempty"` // working directory; default /
	Environment map[string]string `json:"environment,omitempty"`
	// LimitSeconds bounds the run time of a task (default 3600). After that the task gets SIGTERM, and SIGKILL after
	// another GraceSeconds (10).
	LimitSeconds float64 `json:"limit_s,omitempty"`
	GraceSeconds float64 `json:"grace_s,omitempty"`
}

const (
	defaultLimit = 3600
	defaultGrace = 10
	maxLimit     = 30 * 24 * 3600
	maxGrace     = 3600
	maxFile      = 1 << 20
	maxArguments = 1000
	maxJobs      = 1000
	maxFindings  = 20
)

func (c Command) limit() time.Duration { return seconds(c.LimitSeconds, defaultLimit) }
func (c Command) grace() time.Duration { return seconds(c.GraceSeconds, defaultGrace) }

func seconds(given, usual float64) time.Duration {
	if given == 0 {
		given = usual
	}
	return time.Duration(given * float64(time.Second))
}

// ReadCommands reads the file and checks that each of its programs can be run.
func ReadCommands(file string) (Commands, error) {
	f, err := os.Open(file)
	if err != nil {
		return Commands{}, fmt.Errorf("read the commands: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Commands{}, fmt.Errorf("read the commands: %w", err)
	}
	// Anyone who can write it, or the programs, can run anything here.
	if info.Mode().IsRegular() && info.Mode().Perm()&0o022 != 0 {
		return Commands{}, fmt.Errorf("%s can be written by others, who could run anything here; take that away with \"chmod go-w %s\"", file, file)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s is larger than %d MiB", file, maxFile>>20)
	}
	if err != nil {
		return Commands{}, fmt.Errorf("read the commands: %w", err)
	}
	c, err := readCommands(text)
	if err != nil {
		return c, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

func readCommands(text []byte) (c Commands, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		return c, fmt.Errorf("the commands cannot be read: %w; give {\"jobs\": {\"NAME\": {\"command\": [\"/path/to/program\", \"argument\"]}}}", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return c, errors.New("there is something after the commands; keep one object")
	}
	if len(c.Jobs)+len(c.Classes) == 0 {
		return c, errors.New("there is no job; give {\"jobs\": {\"NAME\": {\"command\": [\"/path/to/program\", \"argument\"]}}}")
	}
	var wrong []error
	for _, all := range []struct {
		one, many string
		commands  map[string]Command
	}{{"job", "jobs", c.Jobs}, {"class", "classes", c.Classes}} {
		if len(all.commands) > maxJobs {
			return c, fmt.Errorf("here are %d %s; at most %d are kept. A name that ends with * stands for many", len(all.commands), all.many, maxJobs)
		}
		for _, name := range slices.Sorted(maps.Keys(all.commands)) {
			for _, err := range all.commands[name].check(name) {
				wrong = append(wrong, fmt.Errorf("%s %q: %w", all.one, name, err))
			}
		}
	}
	if more := len(wrong) - maxFindings; more > 0 {
		wrong = append(wrong[:maxFindings], fmt.Errorf("and %d more", more))
	}
	return c, errors.Join(wrong...)
}

func (c Command) check(name string) (wrong []error) {
	add := func(format string, values ...any) { wrong = append(wrong, fmt.Errorf(format, values...)) }
	if name == "" || strings.Contains(strings.TrimSuffix(name, "*"), "*") {
		add("a name has a character at least, and a * at its end alone")
	}
	switch {
	case len(c.Command) == 0:
		add("it has no command; give the program and its arguments as a list")
	case len(c.Command) > maxArguments:
		add("the command has %d arguments; it can have %d", len(c.Command), maxArguments)
	case !filepath.IsAbs(c.Command[0]):
		add("%q is not where a program is; give its whole path, such as /usr/local/bin/etl", c.Command[0])
	default:
		if err := runnable(c.Command[0]); err != nil {
			wrong = append(wrong, err)
		}
	}
	for _, word := range c.Command {
		if strings.ContainsRune(word, 0) {
			add("%q has a NUL in it", word)
		}
	}
	if c.Directory != "" {
		if info, err := os.Stat(c.Directory); !filepath.IsAbs(c.Directory) || err != nil || !info.IsDir() {
			add("%q is no directory; give the whole path of one that is there", c.Directory)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.Environment)) {
		if key == "" || strings.ContainsAny(key, "=\x00") || strings.ContainsRune(c.Environment[key], 0) || strings.HasPrefix(key, "HEADROOM_") {
			add("the variable %q cannot be set; names have no = in them and do not begin with HEADROOM_", key)
		}
	}
	if !(c.LimitSeconds >= 0 && c.LimitSeconds <= maxLimit) {
		add("limit_s is %g; give seconds up to %d", c.LimitSeconds, maxLimit)
	}
	if !(c.GraceSeconds >= 0 && c.GraceSeconds <= maxGrace) {
		add("grace_s is %g; give seconds up to %d", c.GraceSeconds, maxGrace)
	}
	return wrong
}

// runnable returns an error if a program cannot be run.
func runnable(program string) error {
	info, err := os.Stat(program)
	switch {
	case err != nil:
		return fmt.Errorf("the program %s cannot be run: %w", program, errors.Unwrap(err))
	case info.IsDir():
		return fmt.Errorf("%s is a directory; give the program itself", program)
	case info.Mode().Perm()&0o111 == 0:
		return fmt.Errorf("%s is no program (\"chmod +x %s\" makes it one)", program, program)
	case info.Mode().Perm()&0o002 != 0:
		return fmt.Errorf("%s can be written by everybody, who could run anything here; take that away with \"chmod o-w %s\"", program, program)
	}
	return nil
}

// of returns the command of a job, else that of its class; "" is an unknown class.
func (c Commands) of(job, class string) (Command, bool) {
	if command, known := named(c.Jobs, job); known || class == "" {
		return command, known
	}
	return named(c.Classes, class)
}

// named returns the command under a name, or under its longest listed beginning.
func named(commands map[string]Command, wanted string) (Command, bool) {
	if command, known := commands[wanted]; known {
		return command, true
	}
	best, found := "", false
	for name := range commands {
		begin, pattern := strings.CutSuffix(name, "*")
		if pattern && strings.HasPrefix(wanted, begin) && (!found || len(begin) > len(best)) {
			best, found = begin, true
		}
	}
	return commands[best+"*"], found
}
