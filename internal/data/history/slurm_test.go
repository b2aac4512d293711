package history

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// sacctSample was written by sacct 22.05: a job of two processors with the name of its Slurm. Then one that failed, one that was cancelled while it ran,
// two tasks of an array, a step, one that runs and one that waits.
const sacctSample = `JobID|JobName|User|Partition|AllocCPUS|Submit|Start|End|State|NodeList|Cluster
1|etl|ann|main|2|1795797696|1795797698|1795797701|COMPLETED|n1|north
1.batch|batch||main|2|1795797698|1795797698|1795797701|COMPLETED|n1
2|bad|ann|main|1|1795797696|1795797698|1795797699|FAILED|n1
3|gone|ann|main|1|1795797696|1795797698|1795797702|CANCELLED by 0|n1
4_1|arr|ann|main|1|1795797696|1795797698|1795797700|COMPLETED|n1
4_2|arr|ann|main|1|1795797696|1795797698|1795797699|COMPLETED|n2
5|held|bob|main|0|1795797696|Unknown|Unknown|PENDING|None assigned
6|now|bob|main|1|1795797696|1795797698|Unknown|RUNNING|n1
7|never|bob|main|0|1795797696|1795797700|1795797700|CANCELLED|None assigned
`

func TestSlurm(t *testing.T) {
	var got []string
	sink := Sink{
		Execution: func(e *Execution) error {
			var attempts []string
			for a := range e.Attempts.All() {
				attempts = append(attempts, fmt.Sprintf("%s %gs %s", a.Kind, a.Seconds(), a.Outcome))
			}
			seconds, _ := e.Seconds()
			got = append(got, fmt.Sprintf("%s: %s of %s in %s, %s after %gs, %d maps [%s] %s", e.ID, e.Name, e.User, e.Queue, e.Outcome, seconds, e.Maps, strings.Join(attempts, ", "), e.Diagnosis))
			return nil
		},
		Refused: func(r Refusal) error { t.Errorf("it refuses %s", r); return nil },
	}
	if err := Read(strings.NewReader(sacctSample), Options{}, sink); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"slurm north 1: etl of ann in main, succeeded after 5s, 2 maps [map 3s succeeded, map 3s succeeded] ",
		"slurm 2: bad of ann in main, failed after 3s, 1 maps [map 1s failed] Slurm says FAILED",
		"slurm 3: gone of ann in main, killed after 6s, 1 maps [map 4s killed] Slurm says CANCELLED",
		"slurm 4_1: arr of ann in main, succeeded after 4s, 1 maps [map 2s succeeded] ",
		"slurm 4_2: arr of ann in main, succeeded after 3s, 1 maps [map 1s succeeded] ",
		"slurm 5: held of bob in main, unfinished after 0s, -1 maps [] ",
		"slurm 6: now of bob in main, unfinished after 0s, -1 maps [] ",
		"slurm 7: never of bob in main, killed after 4s, 1 maps [map 0s killed] Slurm says CANCELLED",
	}
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("got\n%s\nwant\n%s", a, b)
	}
}

// Lists of jobcomp are read in the zone that is told, also over a change of clocks, and names may have anything in them.
func TestSlurmJobcomp(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	const end = " WorkDir=/tmp/a b ReservationName= Tres=cpu=1,mem=1000M,node=1,billing=1 Account=root QOS=normal WcKey= "
	list := "JobId=11 UserId=ann(7) GroupId=ann(7) Name=nn JobState=CANCELLED Partition=main TimeLimit=UNLIMITED StartTime=2026-11-27T19:00:47 EndTime=2026-11-27T19:00:47 NodeList=(null) NodeCnt=0 ProcCnt=0" + end +
		"Cluster=north SubmitTime=2026-11-27T19:00:46 EligibleTime=unknown DerivedExitCode=0:0 ExitCode=0:0 \n" +
		"JobId=12 UserId=ann(7) GroupId=ann(7) Name=a | JobState=b JobState=COMPLETED Partition=main TimeLimit=60 StartTime=2026-03-29T01:59:50 EndTime=2026-03-29T03:00:10 NodeList=n[1-2] NodeCnt=2 ProcCnt=2" + end +
		"Cluster=unknown SubmitTime=2026-03-29T01:59:49 EligibleTime=2026-03-29T01:59:49 DerivedExitCode=0:0 ExitCode=0:0 \n" +
		"JobId=13 JobState=COMPLETED\n" +
		"JobId=14 UserId=ann(7) GroupId=ann(7) Name=x JobState=FAILED Partition=main TimeLimit=60 StartTime=soon EndTime=Unknown NodeList=n1 NodeCnt=1 ProcCnt=1" + end +
		"Cluster=unknown SubmitTime=2026-03-29T01:59:49 EligibleTime=2026-03-29T01:59:49 DerivedExitCode=0:0 ExitCode=0:0 \n"
	var got []string
	sink := Sink{
		Execution: func(e *Execution) error {
			seconds, _ := e.Seconds()
			got = append(got, fmt.Sprintf("%s %q of %s at %s, %s after %gs, %d maps", e.ID, e.Name, e.User, at(e.Submitted), e.Outcome, seconds, e.Maps))
			return nil
		},
		Refused: func(r Refusal) error { got = append(got, r.Error()[:40]); return nil },
	}
	if err := Read(strings.NewReader(list), Options{Zone: berlin}, sink); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`slurm north 11 "nn" of ann at 2026-11-27T18:00:46Z, killed after 1s, 1 maps`,
		`slurm 12 "a | JobState=b" of ann at 2026-03-29T00:59:49Z, succeeded after 21s, 2 maps`,
		"line 3: It is no line of Slurm's jobcomp", `line 4: The Start is "Soon", which is no`,
	}
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("got\n%s\nwant\n%s", a, b)
	}
}

// A short list cannot stand for more work than a long one.
func TestSlurmJobsAreBoundedTogether(t *testing.T) {
	list := "JobID|JobName|Submit|Start|End|State|AllocCPUS\n" + strings.Repeat("1|a|1795797696|1795797696|1795797697|COMPLETED|1000000\n", 22)
	taken, refused := 0, 0
	sink := Sink{Execution: func(*Execution) error { taken++; return nil }, Refused: func(Refusal) error { refused++; return nil }}
	if err := Read(strings.NewReader(list), Options{}, sink); err != nil || taken != maxAttempts/1_000_000 || refused != 22-taken {
		t.Errorf("%d taken, %d refused (%v)", taken, refused, err)
	}
}

// What cannot be read is refused with its line and a cure; the rest is read.
func TestSlurmRefusals(t *testing.T) {
	for _, c := range []struct{ text, where, says string }{
		{"JobID|JobName|State\n1|a|COMPLETED\n", "line 1", "There is no column Submit. Make the file with: SLURM_TIME_FORMAT=%s sacct"},
		{"JobID|JobName|Submit|Start|End|State\n1|a|2026-01-02T03:04:05|Unknown|Unknown|PENDING\n", "line 2", `The Submit is "2026-01-02T03:04:05", which has no time zone.`},
		{"JobID|JobName|Submit|Start|End|State\n1|a|soon|Unknown|Unknown|PENDING\n", "line 2", `The Submit is "soon", which is no moment between 1990 and 2200.`},
		{"JobID|JobName|Submit|Start|End|State\n1|a|1795797696|Unknown|Unknown|DREAMING\n", "line 2", `The State is "DREAMING", which no job of Slurm has.`},
		{"JobID|JobName|Submit|Start|End|State|AllocCPUS\n1|a|1795797696|1795797696|1795797697|COMPLETED|many\n", "line 2", `AllocCPUS is "many"; it is a number`},
		{"JobID|JobName|Submit|Start|End|State\n1||1795797696|Unknown|Unknown|PENDING\n", "line 2", "The JobID or the JobName is empty."},
		{"JobID|JobName|Submit|Start|End|State\n1.batch|a|1795797696|Unknown|Unknown|PENDING\n", "the list", "There is no job in it."},
		{"JobId=1 UserId=root(0) Name=etl JobState=COMPLETED\n", "the file", "whose times have no zone"},
	} {
		var said []Refusal
		taken := 0
		sink := Sink{Execution: func(*Execution) error { taken++; return nil }, Refused: func(r Refusal) error { said = append(said, r); return nil }}
		text := c.text
		if c.where == "line 2" { // and one that can be read
			text += "9|b|2026-01-02T03:04:05+0100|Unknown|Unknown|PENDING|\n"
		}
		if err := Read(strings.NewReader(text), Options{}, sink); err != nil {
			t.Fatal(err)
		}
		if len(said) != 1 || said[0].Where != c.where || !strings.Contains(said[0].Detail, c.says) || (taken == 1) != (c.where == "line 2") {
			t.Errorf("%q: %d taken, refused %v", c.text, taken, said)
		}
	}
}
