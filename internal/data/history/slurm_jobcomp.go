package history

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"
)

// jobcompLine is a line of Slurm's jobcomp/filetxt. A name may have spaces in it.
var jobcompLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^JobId=(\d+) UserId=(\S*)\(\d+\) GroupId=\S* Name=(.*) JobState=(\S+) Partition=(\S*) TimeLimit=\S* StartTime=(\S+) EndTime=(\S+) ` +
		`NodeList=(\S*) NodeCnt=\d+ ProcCnt=(\d+) .* Cluster=(\S*) SubmitTime=(\S+) `)
})

// readJobcomp reads the jobs that Slurm's jobcomp/filetxt wrote down in the local time of a zone, as those of sacct.
func readJobcomp(zone *time.Location) reader {
	return func(r io.Reader, to Sink) error {
		s := sacct{to: to, columns: len(sacctColumns), column: map[string]int{}}
		for i, name := range []string{"JobID", "User", "Partition", "AllocCPUS", "Submit", "Start", "End", "State", "NodeList", "Cluster", "JobName"} {
			s.column[name] = i
		}
		seconds := func(text string) string {
			at, err := time.ParseInLocation("2006-01-02T15:04:05", text, zone)
			if err != nil {
				return strings.ToUpper(text[:1]) + text[1:] // such as unknown
			}
			return fmt.Sprint(at.Unix())
		}
		return newLines(r).each(to, func([]byte) bool { return false }, func(where string, line []byte) error {
			m := jobcompLine().FindStringSubmatch(string(line) + " ")
			if m == nil {
				return to.refuse(where, "It is no line of Slurm's jobcomp/filetxt: %q.", clip(string(line[:min(len(line), 100)])))
			}
			cluster := strings.TrimPrefix(m[10], "unknown")
			return s.job(where, []byte(strings.Join([]string{m[1], m[2], m[5], m[9], seconds(m[11]), seconds(m[6]), seconds(m[7]), m[4], m[8], cluster, m[3]}, "|")))
		})
	}
}
