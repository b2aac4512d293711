package history

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// appLog is the event log of an application; class is what "drive spark" wrote into it.
func appLog(id, name, class string) string {
	return fmt.Sprintf(`{"Event":"SparkListenerEnvironmentUpdate","Spark Properties":{"spark.app.name":%q%s}}
{"Event":"SparkListenerApplicationStart","App Name":%q,"App ID":%q,"Timestamp":1767650400000,"User":"u"}
{"Event":"SparkListenerTaskEnd","Stage ID":0,"Stage Attempt ID":0,"Task Info":{"Index":0,"Launch Time":1767650405000,"Finish Time":1767650415000,"Host":"h"}}
{"Event":"SparkListenerStageCompleted","Stage Info":{"Stage ID":0,"Number of Tasks":1,"Parent IDs":[]}}
{"Event":"SparkListenerApplicationEnd","Timestamp":1767650420000}
`, name, class, name, id)
}

// An application counts for the class that stands in its log, each of several logs joined for its own.
func TestApplicationsHaveTheirClass(t *testing.T) {
	const etl = `,"spark.headroom.class":"etl"`
	text := appLog("app-1", "etl of Monday", etl) + appLog("app-2", "report", "") + appLog("app-3", "etl of Tuesday", etl)
	var jobs []string
	to := Sink{
		Execution: func(e *Execution) error { jobs = append(jobs, e.ID+" "+e.Name+" "+e.Outcome.String()); return nil },
		Refused:   func(r Refusal) error { return r },
	}
	if err := Read(strings.NewReader(text), Options{}, to); err != nil {
		t.Fatal(err)
	}
	if want := []string{"app-1 etl succeeded", "app-2 report succeeded", "app-3 etl succeeded"}; !slices.Equal(jobs, want) {
		t.Errorf("got %q, want %q", jobs, want)
	}
}

// Logs that are still written are told apart from those that are whole, and each change is seen.
func TestLogsOfADirectory(t *testing.T) {
	log := appLog("app-1", "etl", "")
	files := fstest.MapFS{}
	write := func(name, text string, at int) {
		files[name] = &fstest.MapFile{Data: []byte(text), ModTime: time.Unix(int64(at), 0)}
	}
	for _, name := range []string{"a", "b.inprogress", "day/c", "eventlog_v2_d/events_2_d", "eventlog_v2_d/events_1_d", "eventlog_v2_d/appstatus_d",
		"eventlog_v2_e/events_1_e", "eventlog_v2_e/appstatus_e.inprogress", "eventlog_v2_f/events_1_f", ".g.part", "h.crc"} {
		write(name, log, 1)
	}
	write("eventlog_v2_d/events_2_d", "", 1)
	all := func() map[string]Log {
		t.Helper()
		logs, err := Logs(files, func(r Refusal) { t.Error(r) })
		if err != nil {
			t.Fatal(err)
		}
		of := map[string]Log{}
		for _, l := range logs {
			of[l.Name] = l
		}
		return of
	}
	before := all()
	if want := []string{"a", "b.inprogress", "day/c", "eventlog_v2_d", "eventlog_v2_e", "eventlog_v2_f"}; !slices.Equal(slices.Sorted(maps.Keys(before)), want) {
		t.Errorf("got %v, want %v", before, want)
	}
	for name, l := range before {
		if written := name == "b.inprogress" || name == "eventlog_v2_e" || name == "eventlog_v2_f"; l.Written != written || l.Rolled != strings.HasPrefix(name, "event") {
			t.Errorf("%+v", l)
		}
		read := 0
		err := l.Read(files, Options{}, Sink{Execution: func(*Execution) error { read++; return nil }, Refused: func(r Refusal) error { return r }})
		if err != nil || read != 1 {
			t.Errorf("%s: %d executions, %v", name, read, err)
		}
	}
	write("a", log, 2)                         // as long as before
	write("eventlog_v2_d/events_2_d", "\n", 1) // at the same moment
	write("eventlog_v2_e/events_2_e", "", 1)   // one part more
	after := all()
	for name := range before {
		if changed := name == "a" || name == "eventlog_v2_d" || name == "eventlog_v2_e"; (before[name].Stamp != after[name].Stamp) != changed {
			t.Errorf("%s: %q, then %q", name, before[name].Stamp, after[name].Stamp)
		}
	}
}

// An application never has more slots than its executors: the end of a task is noted after its slot has begun another.
func TestSlotsAreThoseOfTheExecutors(t *testing.T) {
	executors := func(events string) string {
		start := `{"Event":"SparkListenerApplicationStart"`
		task := `{"Event":"SparkListenerTaskEnd","Stage ID":0,"Stage Attempt ID":0,"Task Info":{"Index":1,"Launch Time":1767650414999,"Finish Time":1767650416000,"Host":"h"}}` + "\n"
		log := strings.Replace(appLog("app-1", "etl", `,"spark.task.cpus":"2"`), start, events+start, 1)
		log = strings.Replace(log, `"Number of Tasks":1`, `"Number of Tasks":2`, 1)
		return strings.Replace(log, `{"Event":"SparkListenerStage`, task+`{"Event":"SparkListenerStage`, 1)
	}
	added := func(id string, cores int) string {
		return fmt.Sprintf(`{"Event":"SparkListenerExecutorAdded","Timestamp":1767650400001,"Executor ID":%q,"Executor Info":{"Host":"h","Total Cores":%d}}`+"\n", id, cores)
	}
	const removed = `{"Event":"SparkListenerExecutorRemoved","Timestamp":1767650400002,"Executor ID":"0","Removed Reason":"idle"}` + "\n"
	for events, want := range map[string]int64{"": 2, added("0", 2): 1, added("0", 2) + removed + added("1", 3): 1, added("0", 2) + added("0", 2): 1, added("0", 2) + added("1", 2): 2,
		added("0", 64): 2, added("0", -4): 2} {
		err := Read(strings.NewReader(executors(events)), Options{}, Sink{
			Execution: func(e *Execution) error {
				if c, err := TakeChain(e); err != nil || c.MapSlots != want {
					t.Errorf("of\n%sit makes %d slots, want %d (%v)", events, c.MapSlots, want, err)
				}
				return nil
			},
			Refused: func(r Refusal) error { return r },
		})
		if err != nil {
			t.Error(err)
		}
	}
}
