package history

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// madeJob is a made-up execution of maps and reduces, with the figures of its profile.
type madeJob struct {
	id, name               string
	submitted, ended       int64
	attempts               []madeAttempt
	maps, firsts           []float64
	shuffles, reduces      []float64
	failed, spare, killed  int64
	totalMaps, totalReduce int
}

type madeAttempt struct {
	task, try                     int
	reduce, spare                 bool
	outcome                       string // SUCCEEDED, FAILED, KILLED
	start, shuffled, sorted, ends int64
	host                          string
}

// makeJob makes up an execution; some of its tasks fail first, or have a copy that is killed or ends second.
func makeJob(rng *rand.Rand, number, maps, reduces int) *madeJob {
	j := &madeJob{id: fmt.Sprintf("job_1700000000000_%04d", number), name: fmt.Sprintf("nightly \"%d\"", number%3), totalMaps: maps, totalReduce: reduces}
	j.submitted = 1_700_000_000_000 + int64(number)*600_000
	free := make([]int64, 40) // when slots are free
	for i := range free {
		free[i] = j.submitted + 5000
	}
	lastMap := int64(0)
	add := func(a madeAttempt) { j.attempts = append(j.attempts, a) }
	host := func() string { return fmt.Sprintf("node%02d.example.com", rng.IntN(30)) }
	for t := range maps {
		slot := t % len(free)
		a := madeAttempt{task: t, outcome: "SUCCEEDED", host: host(), start: free[slot]}
		if rng.IntN(10) == 0 {
			f := a
			f.outcome, f.ends = "FAILED", a.start+1000+rng.Int64N(5000)
			j.failed++
			add(f)
			a.try, a.start = 1, f.ends+100
		}
		a.ends = a.start + 5000 + rng.Int64N(60_000)
		switch rng.IntN(10) {
		case 0: // a copy that is killed when the first one ends
			c := a
			c.try, c.spare, c.outcome, c.start = 7, true, "KILLED", a.start+(a.ends-a.start)/2
			add(c)
			j.spare++
		case 1: // a copy that ends first
			c := a
			c.try, c.spare, c.start, c.ends = 8, true, a.start+500, a.ends-500
			add(c)
			j.maps = append(j.maps, secondsOf(c))
			j.spare++
			lastMap = max(lastMap, c.ends)
			add(a)
			free[slot] = a.ends
			continue
		}
		add(a)
		j.maps = append(j.maps, secondsOf(a))
		lastMap, free[slot] = max(lastMap, a.ends), a.ends
	}
	end := lastMap
	for t := range reduces {
		a := madeAttempt{task: t, reduce: true, outcome: "SUCCEEDED", host: host()}
		if t < (reduces+1)/2 {
			a.start = lastMap - 1 - rng.Int64N(4000)
			a.shuffled = lastMap + rng.Int64N(9000)
		} else {
			a.start = lastMap + rng.Int64N(20_000)
			a.shuffled = a.start + rng.Int64N(30_000)
		}
		a.sorted = a.shuffled + rng.Int64N(100)
		a.ends = a.sorted + 1000 + rng.Int64N(20_000)
		if a.start < lastMap {
			j.firsts = append(j.firsts, float64(a.sorted-lastMap)/1000)
		} else {
			j.shuffles = append(j.shuffles, float64(a.sorted-a.start)/1000)
		}
		j.reduces = append(j.reduces, float64(a.ends-a.sorted)/1000)
		end = max(end, a.ends)
		add(a)
	}
	for _, a := range j.attempts {
		end = max(end, a.ends)
	}
	j.ended = end + 1500
	return j
}

func secondsOf(a madeAttempt) float64 { return float64(a.ends-a.start) / 1000 }

// kind returns Hadoop's names for it, in full and in ids.
func (a madeAttempt) kind() (word, letter string) {
	if a.reduce {
		return "REDUCE", "r"
	}
	return "MAP", "m"
}

func (j *madeJob) task(a madeAttempt) string {
	_, letter := a.kind()
	return fmt.Sprintf("task_%s_%s_%06d", strings.TrimPrefix(j.id, "job_"), letter, a.task)
}

func (j *madeJob) attempt(a madeAttempt) string {
	return fmt.Sprintf("attempt_%s_%d", strings.TrimPrefix(j.task(a), "task_"), a.try)
}

// counters is a text as long as Hadoop's counters of an attempt.
var counters = func() string {
	var b strings.Builder
	b.WriteString(`{"name":"COUNTERS","groups":[{"name":"org.apache.hadoop.mapreduce.TaskCounter","displayName":"Map-Reduce Framework","counts":[`)
	for i := range 22 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"COUNTER_OF_BYTES_%d","displayName":"Counter of bytes: number=%d","value":%d}`, i, i, i*7919)
	}
	b.WriteString(`]}]}`)
	return b.String()
}()

func (j *madeJob) writeJHist(w io.Writer) {
	fmt.Fprintf(w, "Avro-Json\n{\"type\":\"record\",\"name\":\"Event\",\"fields\":[]}\n")
	event := eventsTo(w)
	event("AM_STARTED", "AMStarted", `"startTime":%d`, j.submitted+100)
	event("JOB_SUBMITTED", "JobSubmitted", `"jobid":%q,"jobName":%q,"userName":"ann","submitTime":%d,"jobQueueName":"prod"`, j.id, j.name, j.submitted)
	event("JOB_INITED", "JobInited", `"jobid":%q,"launchTime":%d,"totalMaps":%d,"totalReduces":%d`, j.id, j.submitted+2000, j.totalMaps, j.totalReduce)
	for _, a := range j.attempts {
		j.writeTask(w, a)
	}
	event("JOB_FINISHED", "JobFinished", `"jobid":%q,"finishTime":%d`, j.id, j.ended)
}

func (j *madeJob) writeTask(w io.Writer, a madeAttempt) {
	event := eventsTo(w)
	word, _ := a.kind()
	avataar := "VIRGIN"
	if a.spare {
		avataar = "SPECULATIVE"
	}
	event(word+"_ATTEMPT_STARTED", "TaskAttemptStarted", `"taskid":%q,"taskType":%q,"attemptId":%q,"startTime":%d,"avataar":%q`, j.task(a), word, j.attempt(a), a.start, avataar)
	common := fmt.Sprintf(`"taskid":%q,"attemptId":%q,"taskType":%q,"finishTime":%d,"hostname":%q`, j.task(a), j.attempt(a), word, a.ends, a.host)
	switch {
	case a.outcome != "SUCCEEDED":
		event(word+"_ATTEMPT_"+a.outcome, "TaskAttemptUnsuccessfulCompletion", `%s,"status":%q,"error":"no"`, common, a.outcome)
	case a.reduce:
		event("REDUCE_ATTEMPT_FINISHED", "ReduceAttemptFinished", `%s,"shuffleFinishTime":%d,"sortFinishTime":%d,"counters":%s`, common, a.shuffled, a.sorted, counters)
	default:
		event("MAP_ATTEMPT_FINISHED", "MapAttemptFinished", `%s,"counters":%s`, common, counters)
	}
	event("TASK_FINISHED", "TaskFinished", `"taskid":%q,"taskType":%q,"finishTime":%d,"counters":%s`, j.task(a), word, a.ends, counters)
}

func eventsTo(w io.Writer) func(kind, class, format string, args ...any) {
	return func(kind, class, format string, args ...any) {
		fmt.Fprintf(w, `{"type":"%s","event":{"org.apache.hadoop.mapreduce.jobhistory.%s":{%s}}}`+"\n", kind, class, fmt.Sprintf(format, args...))
	}
}

func (j *madeJob) writeRumen(w io.Writer) {
	fmt.Fprintf(w, "{\n \"priority\" : \"NORMAL\", \"jobID\" : %q, \"jobName\" : %q, \"queue\":null, \"submitTime\" : %d, \"finishTime\" : %d, \"totalMaps\":%d, \"totalReduces\":%d, \"outcome\" : \"SUCCESS\",\n", j.id, j.name, j.submitted, j.ended, j.totalMaps, j.totalReduce)
	results := map[string]string{"SUCCEEDED": "SUCCESS", "FAILED": "FAILED", "KILLED": "KILLED"}
	for _, reduce := range []bool{false, true} {
		list := map[bool]string{false: "mapTasks", true: "reduceTasks"}[reduce]
		fmt.Fprintf(w, " %q : [", list)
		before, open := -1, false
		for _, a := range j.attempts {
			if a.reduce != reduce {
				continue
			}
			word, _ := a.kind()
			if a.task != before {
				if open {
					fmt.Fprint(w, "] }, ")
				}
				fmt.Fprintf(w, "{ \"startTime\" : %d, \"taskID\" : %q, \"taskType\" : %q, \"preferredLocations\" : [ { \"layers\" : [ \"rack\", \"node\" ] } ], \"attempts\" : [ ", a.start, j.task(a), word)
				before, open = a.task, true
			} else {
				fmt.Fprint(w, ", ")
			}
			shuffled, sorted := int64(-1), int64(-1)
			if a.reduce {
				shuffled, sorted = a.shuffled, a.sorted
			}
			fmt.Fprintf(w, "{\n      \"location\" : null,\n      \"hostName\" : \"/rack/%s\",\n      \"startTime\" : %d,\n      \"finishTime\" : %d,\n      \"result\" : %q,\n      \"attemptID\" : %q,\n      \"shuffleFinished\" : %d,\n      \"sortFinished\" : %d,\n      \"hdfsBytesRead\" : 704270,\n      \"fileBytesWritten\" : 48266,\n      \"mapInputRecords\" : 13427,\n      \"mapOutputBytes\" : 1182333,\n      \"mapOutputRecords\" : 126063,\n      \"spilledRecords\" : 6612,\n      \"resourceUsageMetrics\" : { \"cumulativeCpuUsage\" : 4710, \"virtualMemoryUsage\" : 0, \"physicalMemoryUsage\" : 228540416, \"heapUsage\" : 0 }\n    }", a.host, a.start, a.ends, results[a.outcome], j.attempt(a), shuffled, sorted)
		}
		if open {
			fmt.Fprint(w, "] }")
		}
		fmt.Fprint(w, "],\n")
	}
	fmt.Fprint(w, " \"successfulMapAttemptCDFs\" : [ { \"maximum\" : 1, \"rankings\" : [ { \"relativeRanking\" : 0.05, \"datum\" : 3 } ] } ], \"otherTasks\" : [ ]\n}\n")
}

// profiled checks the result of Take.
func (j *madeJob) profiled(t *testing.T, e *Execution) {
	t.Helper()
	if e.ID != j.id || e.Name != j.name || e.Outcome != Succeeded {
		t.Fatalf("%s %q %s, want %s %q", e.ID, e.Name, e.Outcome, j.id, j.name)
	}
	s, err := Take(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		phase string
		got   Durations
		want  []float64
	}{{"map", s.Map, j.maps}, {"first shuffle", s.First, j.firsts}, {"shuffle", s.Shuffle, j.shuffles}, {"reduce", s.Reduce, j.reduces}} {
		if !isOf(c.got, c.want) {
			t.Errorf("%s: %s: %+v, of %d tasks", j.id, c.phase, c.got, len(c.want))
		}
	}
	if s.Left.Failed != j.failed || s.Left.Speculative+s.Left.Killed != j.spare+j.killed {
		t.Errorf("%s: left out %+v; %d failed, %d copies, %d killed", j.id, s.Left, j.failed, j.spare, j.killed)
	}
	if s.Seconds == nil || *s.Seconds != float64(j.ended-j.submitted)/1000 || !near(s.Profile.OverheadSeconds, j.idle()) {
		t.Errorf("%s: %v s of which overhead %g, want %g", j.id, s.Seconds, s.Profile.OverheadSeconds, j.idle())
	}
}

// idle counts the milliseconds in which no attempt ran, one by one.
func (j *madeJob) idle() float64 {
	runs := make([]bool, j.ended-j.submitted)
	for _, a := range j.attempts {
		for at := a.start; at < a.ends; at++ {
			runs[at-j.submitted] = true
		}
	}
	idle := 0
	for _, r := range runs {
		if !r {
			idle++
		}
	}
	return float64(idle) / 1000
}

// isOf counts durations again.
func isOf(d Durations, all []float64) bool {
	sum, highest := 0.0, 0.0
	notAbove := map[float64]int{d.Median: 0, d.P95: 0}
	for _, x := range all {
		sum, highest = sum+x, math.Max(highest, x)
		for q := range notAbove {
			if x <= q {
				notAbove[q]++
			}
		}
	}
	n := float64(len(all))
	if len(all) == 0 {
		return d.Count == 0 && d.Max == 0 && d.Mean == 0 && len(d.Quantiles) == 0
	}
	for i, q := range d.Quantiles { // the smallest one that this part does not exceed
		under, notAbove := 0, 0
		for _, x := range all {
			if x < q {
				under++
			}
			if x <= q {
				notAbove++
			}
		}
		if lowest := float64(i) / 20 * n; float64(under) >= lowest && i > 0 || float64(notAbove) < lowest-1e-9 {
			return false
		}
	}
	return len(d.Quantiles) == 21 && d.Quantiles[0] == slices.Min(all) && d.Count == int64(n) && near(d.Mean, sum/n) && d.Max == highest && float64(notAbove[d.Median]) >= n/2 && float64(notAbove[d.P95]) >= 0.95*n-1e-9
}

func near(x, y float64) bool { return math.Abs(x-y) <= 1e-9*math.Max(1, math.Abs(y)) }

// madeApp is a made-up application of Spark, with the figures of its chain.
type madeApp struct {
	id     string
	stages []madeStage
}

type madeStage struct {
	id      int
	parents []int
	tries   int
	tasks   []float64 // seconds; none is a skipped stage
	start   int64
}

func makeApp(rng *rand.Rand, stages, tasks int) *madeApp {
	a := &madeApp{id: "app-20260301-0001"}
	start := int64(1_770_000_010_000)
	for i := range stages {
		s := madeStage{id: i, start: start, tries: 1}
		if i > 0 {
			s.parents = []int{rng.IntN(i)}
		}
		if i != 2 {
			for range tasks {
				s.tasks = append(s.tasks, float64(100+rng.IntN(50_000))/1000)
			}
		}
		start += 60_000
		a.stages = append(a.stages, s)
	}
	return a
}

// accumulables is a text as long as Spark's for a task.
var accumulables = func() string {
	var all []string
	for i := range 20 {
		all = append(all, fmt.Sprintf(`{"ID":%d,"Name":"internal.metrics.number%d","Update":"%d","Value":"%d","Internal":true,"Count Failed Values":true}`, i, i, i*31, i*977))
	}
	return "[" + strings.Join(all, ",") + "]"
}()

func (a *madeApp) write(w io.Writer) {
	line := func(event, format string, args ...any) {
		fmt.Fprintf(w, `{"Event":"SparkListener%s",%s}`+"\n", event, fmt.Sprintf(format, args...))
	}
	line("LogStart", `"Spark Version":"3.5.0"`)
	line("ApplicationStart", `"App Name":"etl","App ID":%q,"Timestamp":1770000000000,"User":"bob"`, a.id)
	line("JobStart", `"Job ID":0,"Stage Infos":[]`)
	end := int64(0)
	for _, s := range a.stages {
		if len(s.tasks) == 0 {
			continue
		}
		for i, took := range s.tasks {
			finish := s.start + int64(math.Round(took*1000))
			end = max(end, finish)
			if i%10 == 3 {
				writeSparkTask(w, s.id, i, s.start-5000, s.start-10, false, true, false, "ExceptionFailure")
			}
			writeSparkTask(w, s.id, i, s.start, finish, false, false, false, "Success")
			if i%10 == 4 {
				writeSparkTask(w, s.id, i, s.start+1, finish+5, true, false, true, "TaskKilled")
			}
		}
		parents, _ := json.Marshal(s.parents)
		if s.parents == nil {
			parents = []byte("[]")
		}
		line("StageCompleted", `"Stage Info":{"Stage ID":%d,"Stage Attempt ID":0,"Stage Name":"map at %d","Number of Tasks":%d,"RDD Info":[],"Parent IDs":%s}`, s.id, s.id, len(s.tasks), parents)
	}
	line("JobEnd", `"Job ID":0,"Job Result":{"Result":"JobSucceeded"}`)
	line("ApplicationEnd", `"Timestamp":%d`, end+4000)
}

func writeSparkTask(w io.Writer, stage, index int, launch, finish int64, spare, failed, killed bool, reason string) {
	fmt.Fprintf(w, `{"Event":"SparkListenerTaskEnd","Stage ID":%d,"Stage Attempt ID":0,"Task Type":"ShuffleMapTask","Task End Reason":{"Reason":%q},"Task Info":{"Task ID":%d,"Index":%d,"Attempt":0,"Partition ID":%d,"Launch Time":%d,"Executor ID":"1","Host":"n%d","Locality":"ANY","Speculative":%t,"Getting Result Time":0,"Finish Time":%d,"Failed":%t,"Killed":%t,"Accumulables":%s},"Task Metrics":{"Executor Run Time":%d}}`+"\n",
		stage, reason, index, index, index, launch, index%7, spare, finish, failed, killed, accumulables, finish-launch)
}

// taken collects the results of a reading.
type taken struct {
	executions []*Execution
	refused    []Refusal
}

func (k *taken) sink() Sink {
	return Sink{
		Execution: func(e *Execution) error { k.executions = append(k.executions, e); return nil },
		Refused:   func(r Refusal) error { k.refused = append(k.refused, r); return nil },
	}
}

func readAll(t testing.TB, r io.Reader, o Options) taken {
	t.Helper()
	var k taken
	if err := Read(r, o, k.sink()); err != nil {
		t.Fatal(err)
	}
	return k
}

func readText(t testing.TB, text string) taken {
	t.Helper()
	return readAll(t, strings.NewReader(text), Options{})
}

func gzipped(text []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(text)
	w.Close()
	return b.Bytes()
}

func zstdOf(text []byte) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return w.EncodeAll(text, nil)
}
