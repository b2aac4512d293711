package history

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sacctColumns lists the columns of a Slurm history that are read, as sacct --parsable2 names them; others are passed
// over. sacct writes local times without their zone, unless SLURM_TIME_FORMAT says otherwise.
var sacctColumns = []string{"JobID", "JobName", "Submit", "Start", "End", "State", "User", "Partition", "AllocCPUS", "NodeList", "Cluster"}

const sacctCommand = "SLURM_TIME_FORMAT=%s sacct -aXP --format=JobID,JobName,User,Partition,AllocCPUS,Submit,Start,End,State,NodeList,Cluster"

// maxCPUs bounds the processors of a job, each of which becomes an attempt.
const maxCPUs = 1 << 20

func isSacctHeader(line []byte) bool {
	return bytes.HasPrefix(line, []byte("JobID|")) && bytes.ContainsRune(line, '|')
}

// readSacct reads the jobs that sacct lists. Slurm does not know what a job does: each of its processors counts as one
// map task that takes as long as the job runs.
func readSacct(r io.Reader, to Sink) error {
	in := newLines(r)
	header, _, err := in.next()
	if err != nil {
		return err
	}
	names := strings.Split(string(header), "|")
	s := sacct{to: to, columns: len(names), column: map[string]int{}}
	for i, name := range names {
		if slices.Contains(sacctColumns, name) {
			s.column[name] = i
		}
	}
	for _, name := range sacctColumns[:6] {
		if _, there := s.column[name]; !there {
			return to.refuse("line 1", "There is no column %s. Make the file with: %s", name, sacctCommand)
		}
	}
	step := func(line []byte) bool { // of a job, which stands there itself
		id, _, _ := bytes.Cut(line, []byte("|"))
		return bytes.ContainsRune(id, '.')
	}
	if err := in.each(to, step, s.job); err != nil || s.jobs > 0 {
		return err
	}
	return to.refuse("the list", "There is no job in it.")
}

type sacct struct {
	to      Sink
	columns int
	column  map[string]int
	jobs    int   // also those that are refused
	tried   int64 // attempts of all
}

// job reads the line of a job.
func (s *sacct) job(where string, line []byte) error {
	most := -1
	if s.column["JobName"] == s.columns-1 { // then it may have any character
		most = s.columns
	}
	fields := strings.SplitN(string(line), "|", most)
	field := func(name string) string {
		if i, there := s.column[name]; there && i < len(fields) {
			return strings.TrimSpace(fields[i])
		}
		return ""
	}
	s.jobs++
	b := newBuilder()
	id := strings.TrimSpace(field("Cluster") + " " + field("JobID")) // Slurms count alike
	b.ID, b.Name, b.User, b.Queue = clip("slurm "+id), clip(field("JobName")), clip(field("User")), clip(field("Partition"))
	if field("JobID") == "" || b.Name == "" {
		return s.to.refuse(where, "The JobID or the JobName is empty.")
	}
	state, _, _ := strings.Cut(field("State"), " ") // CANCELLED by 1000
	var known bool
	if b.Outcome, known = sacctStates[state]; !known {
		return s.to.refuse(where, "The State is %q, which no job of Slurm has.", clip(state))
	}
	var start int64
	for _, m := range []struct {
		name string
		to   *int64
	}{{"Submit", &b.Submitted}, {"Start", &start}, {"End", &b.Finished}} {
		ms, wrong := sacctTime(field(m.name))
		if wrong != "" {
			return s.to.refuse(where, "The %s is %q, %s. Make the file with: %s", m.name, clip(field(m.name)), wrong, sacctCommand)
		}
		*m.to = ms
	}
	if b.Outcome == Unfinished {
		b.Finished = 0
	} else if state != "COMPLETED" {
		b.Diagnosis = "Slurm says " + state
	}
	cpus := int64(1)
	if text := field("AllocCPUS"); text != "" && start > 0 {
		var err error
		if cpus, err = strconv.ParseInt(text, 10, 64); err != nil || cpus < 0 || cpus > maxCPUs {
			return s.to.refuse(where, "AllocCPUS is %q; it is a number from 0 to %d.", clip(text), maxCPUs)
		}
	}
	if s.tried += max(1, cpus); s.tried > maxAttempts {
		return s.to.refuse(where, "The jobs up to here had more than %d processors together. Divide the list; this job is left out.", maxAttempts)
	}
	if start > 0 && b.Finished >= start {
		host := b.host(field("NodeList"))
		for n := range max(1, cpus) {
			b.Attempts.Add(Attempt{Kind: Map, Task: int32(n), Start: start, Finish: b.Finished, Outcome: b.Outcome, Host: host})
		}
		b.Maps, b.Reduces = max(1, cpus), 0
	}
	b.note("Slurm does not say what a job does: each of its %d processors counts as one map task, as long as the job ran.", max(1, cpus))
	return s.to.Execution(&b.Execution)
}

// sacctStates maps the states of jobs to outcomes.
var sacctStates = map[string]Outcome{
	"COMPLETED": Succeeded, "FAILED": Failed, "TIMEOUT": Failed, "OUT_OF_MEMORY": Failed, "NODE_FAIL": Failed, "BOOT_FAIL": Failed,
	"DEADLINE": Failed, "CANCELLED": Killed, "PREEMPTED": Killed, "REVOKED": Killed, "PENDING": Unfinished, "RUNNING": Unfinished,
	"SUSPENDED": Unfinished, "REQUEUED": Unfinished, "RESIZING": Unfinished, "COMPLETING": Unfinished,
}

// sacctTime reads a moment in seconds, or with its zone; 0 is one that has not come.
func sacctTime(text string) (ms int64, wrong string) {
	if text == "" || text == "Unknown" || text == "None" || text == "N/A" {
		return 0, ""
	}
	if s, err := strconv.ParseInt(text, 10, 64); err == nil && s < latest {
		ms = moment(s * 1000)
	} else if at, err := time.Parse("2006-01-02T15:04:05Z0700", text); err == nil {
		ms = moment(at.UnixMilli())
	} else if _, err := time.Parse("2006-01-02T15:04:05", text); err == nil {
		return 0, "which has no time zone"
	}
	if ms == 0 {
		return 0, fmt.Sprintf("which is no moment between %d and %d", 1990, 2200)
	}
	return ms, ""
}
