package history

import (
	"bytes"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"
)

func TestMadeJobsReadBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	var trace bytes.Buffer
	var jobs []*madeJob
	for n := range 12 {
		j := makeJob(rng, n, 1+rng.IntN(150), rng.IntN(3)*rng.IntN(40))
		jobs = append(jobs, j)
		j.writeRumen(&trace)
		var file bytes.Buffer
		j.writeJHist(&file)
		for _, in := range []io.Reader{bytes.NewReader(file.Bytes()), bytes.NewReader(gzipped(file.Bytes())), iotest.OneByteReader(bytes.NewReader(file.Bytes()))} {
			k := readAll(t, in, Options{})
			if len(k.executions) != 1 || len(k.refused) != 0 {
				t.Fatalf("%d executions, %v", len(k.executions), k.refused)
			}
			j.profiled(t, k.executions[0])
		}
	}
	for _, in := range []io.Reader{bytes.NewReader(trace.Bytes()), bytes.NewReader(gzipped(trace.Bytes())), iotest.HalfReader(bytes.NewReader(trace.Bytes()))} {
		k := readAll(t, in, Options{})
		if len(k.executions) != len(jobs) || len(k.refused) != 0 {
			t.Fatalf("%d executions, %v", len(k.executions), k.refused)
		}
		for i, e := range k.executions {
			jobs[i].profiled(t, e)
		}
	}
}

// Histories joined to one file stay apart; their tasks have the same numbers.
func TestJoinedFilesStayApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	var text bytes.Buffer
	var jobs []*madeJob
	for n := range 3 {
		j := makeJob(rng, n, 2+rng.IntN(20), 3)
		jobs = append(jobs, j)
		j.writeJHist(&text)
	}
	k := readAll(t, &text, Options{})
	if len(k.executions) != len(jobs) || len(k.refused) != 0 {
		t.Fatalf("%d executions, %v", len(k.executions), k.refused)
	}
	for i, e := range k.executions {
		jobs[i].profiled(t, e)
	}
	for _, name := range []string{"app-1", "app-2"} {
		text.WriteString(`{"Event":"SparkListenerApplicationStart","App Name":"etl","App ID":"` + name + `","Timestamp":1700000000000,"User":"u"}
{"Event":"SparkListenerTaskEnd","Stage ID":0,"Stage Attempt ID":0,"Task End Reason":{"Reason":"Success"},"Task Info":{"Index":0,"Launch Time":1700000001000,"Finish Time":1700000003000}}
{"Event":"SparkListenerStageCompleted","Stage Info":{"Stage ID":0,"Number of Tasks":1}}
{"Event":"SparkListenerApplicationEnd","Timestamp":1700000004000}
`)
	}
	k = readAll(t, &text, Options{})
	if len(k.executions) != 2 || len(k.refused) != 0 {
		t.Fatalf("%d applications, %v", len(k.executions), k.refused)
	}
	for _, e := range k.executions {
		if c, err := TakeChain(e); err != nil || c.Phases[0].Tasks != 1 || c.Left != (LeftOut{}) {
			t.Errorf("%s: %+v, %v", e.ID, c, err)
		}
	}
}

// A table numbers executions by job, and a trace of the simulator starts again; in a cluster each has an id of its
// own.
func TestIdsThatBeginAnewAreToldApart(t *testing.T) {
	k := readText(t, "job,execution,task,kind,duration_s\na,1,t,map,5\nb,1,t,map,6\n")
	if len(k.executions) != 2 || k.executions[0].ID != "a/1" || k.executions[1].ID != "b/1" {
		t.Fatalf("%d executions", len(k.executions))
	}
	kept := func(end string) string {
		k := readText(t, `{"am.type":"mapreduce","job.start.ms":0,"job.end.ms":`+end+`,"job.id":"job_1","job.tasks":[{"container.start.ms":5,"container.end.ms":50,"container.type":"map"}]}`)
		r := Keep(k.executions[0], "etl")
		return r.Execution
	}
	if one, again, other := kept("60"), kept("60"), kept("61"); one != again || one == other || !strings.HasPrefix(one, "job_1 ") {
		t.Errorf("%q, %q, %q", one, again, other)
	}
}

func TestProgressCountsBytesAsTheyAreSent(t *testing.T) {
	var text bytes.Buffer
	makeJob(rand.New(rand.NewPCG(1, 2)), 1, 400, 10).writeRumen(&text)
	packed := gzipped(text.Bytes())
	heard := int64(0)
	readAll(t, bytes.NewReader(packed), Options{Progress: func(n int64) {
		if n <= heard {
			t.Fatalf("from %d to %d", heard, n)
		}
		heard = n
	}})
	if heard != int64(len(packed)) {
		t.Errorf("%d of %d bytes", heard, len(packed))
	}
}

func TestSimulatorTracesAreRelative(t *testing.T) {
	k := readText(t, `{"am.type":"mapreduce","job.start.ms":0,"job.end.ms":90000,"job.id":"j1","job.queue.name":"q","job.tasks":[
		{"container.host":"/r/a","container.start.ms":6000,"container.end.ms":26000,"container.type":"map"},
		{"container.host":"/r/b","container.start.ms":6000,"container.end.ms":16000,"container.type":"map"},
		{"container.host":"/r/b","container.start.ms":20000,"container.end.ms":60000,"container.type":"reduce"}]}
		{"job.id":"j2","job.start.ms":100000,"job.end.ms":90000,"job.tasks":[]}`)
	if len(k.executions) != 2 || len(k.refused) != 0 {
		t.Fatal(k)
	}
	s, err := Take(k.executions[0])
	if err != nil {
		t.Fatal(err)
	}
	p := s.Profile
	if p.MapTasks != 2 || p.MapAvgSeconds != 15 || p.MapMaxSeconds != 20 || p.ReduceTasks != 1 || p.ReduceMaxSeconds != 40 || p.FirstShuffleMaxSeconds != 0 || p.ShuffleMaxSeconds != 0 || !near(p.OverheadSeconds, 36) {
		t.Errorf("%+v", p)
	}
	if !slices.ContainsFunc(s.Notes, func(n string) bool { return strings.Contains(n, "Shuffles are not on record") }) {
		t.Errorf("no word about the shuffle: %q", s.Notes)
	}
	if _, ok := k.executions[0].Span(); ok {
		t.Error("a trace that is not dated has a span")
	}
	refusedFor(t, k.executions[1], "before it was submitted")
}

func refusedFor(t *testing.T, e *Execution, why string) {
	t.Helper()
	take := func() error { _, err := Take(e); return err }
	if len(e.Stages) > 0 {
		take = func() error { _, err := TakeChain(e); return err }
	}
	if err := take(); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("%s: %v, want %q", e.ID, err, why)
	}
}

func TestTablesInAnyOrder(t *testing.T) {
	k := readText(t, "\uFEFFhost,kind,task,execution,job,duration_s,shuffle_s,outcome\r\n"+
		"a,map,1,e1,sort,10,,succeeded\r\n"+
		"a,map,1,e2,sort,12.5,,\n"+
		"b,reduce,1,e1,sort,30,10,succeeded\n"+
		"b,map,2,e1,\"sort\",20,,\n"+
		"b,map,2,e1,sort,3,,failed\n"+
		"b,map,3,e2,sort,3,,failed\n")
	if len(k.executions) != 2 || len(k.refused) != 0 {
		t.Fatal(k)
	}
	s, err := Take(k.executions[0])
	if err != nil {
		t.Fatal(err)
	}
	if p := s.Profile; p.MapTasks != 2 || p.MapAvgSeconds != 15 || p.MapMaxSeconds != 20 || p.ShuffleMaxSeconds != 10 || p.FirstShuffleMaxSeconds != 10 || p.ReduceMaxSeconds != 20 || p.OverheadSeconds != 0 || s.Left.Failed != 1 || s.Seconds != nil {
		t.Errorf("%+v", s)
	}
	refusedFor(t, k.executions[1], "tasks without an attempt that succeeded: 1 of 2")

	k = readText(t, "job,execution,task,kind,start,finish\n"+
		"sort,e1,1,map,2026-03-01T10:00:00Z,2026-03-01T12:00:30+02:00\n"+
		"sort,e1,2,map,1772359200000,1772359210500\n"+
		"sort,e1,3,reduce,2026-03-01T10:00:31Z,2026-03-01T10:00:41Z\n")
	if len(k.executions) != 1 || len(k.refused) != 0 {
		t.Fatal(k)
	}
	s, err = Take(k.executions[0])
	if p := s.Profile; err != nil || p.MapMaxSeconds != 30 || p.MapAvgSeconds != 20.25 || p.ReduceMaxSeconds != 10 {
		t.Errorf("%+v %v", p, err)
	}
	if span, ok := k.executions[0].Span(); !ok || span != (Span{1772359200000, 1772359241000}) {
		t.Errorf("%+v", span)
	}
}

func TestTablesSayWhatIsWrongByRow(t *testing.T) {
	k := readText(t, "job,execution,task,kind,start,finish,duration_s,shuffle_s,outcome\n"+
		",e,1,map,,,1,,\n"+
		"j,e,1,mapp,,,1,,\n"+
		"j,e,1,map,,,-1,,\n"+
		"j,e,1,map,,,NaN,,\n"+
		"j,e,1,map,,,1,1,\n"+
		"j,e,1,reduce,,,1,2,\n"+
		"j,e,1,map,,,1,,won\n"+
		"j,e,1,map,yesterday,,1,,\n"+
		"j,e,1,map,1772359200,,1,,\n"+
		"j,e,1,map,2026-03-01T10:00:01Z,2026-03-01T10:00:00Z,,,\n"+
		"j,e,1,map,2026-03-01T10:00:01Z,2026-03-01T10:00:02Z,5,,\n"+
		"j,e,1\n"+
		"j,good,1,map,,,5,,\n"+
		"j,mixed,1,map,,,5,,\n"+
		"j,mixed,2,map,2026-03-01T10:00:01Z,,5,,\n"+
		"j,half,1,reduce,,,5,1,\n"+
		"j,half,2,reduce,,,5,,\n")
	want := []string{
		"line 2: The job, the execution or the task is empty", `line 3: The kind is "mapp"`, `line 4: duration_s is "-1"`, `line 5: duration_s is "NaN"`,
		"line 6: A map attempt has no shuffle", "line 7: shuffle_s is 2, longer", `line 8: The outcome is "won"`, `line 9: The start is "yesterday"`,
		"line 10: The start is \"1772359200\", which is not between", "line 11: The finish is before", "line 12: duration_s is not the time", "line 13: The row has 3 fields",
		"j/mixed: Some of its rows have a start", "j/half: Some of its reduce attempts have a shuffle_s",
	}
	refusedAs(t, k.refused, want)
	if len(k.executions) != 1 || k.executions[0].ID != "j/good" {
		t.Errorf("%d executions", len(k.executions))
	}
	for header, why := range map[string]string{
		"job,execution,task,kind,duration":              `line 1: There is no column "duration"`,
		"job,execution,kind,duration_s":                 "line 1: The columns job, execution, task and kind are needed",
		"job,execution,task,kind,start":                 "line 1: The columns start and finish are needed",
		"job,job,execution,task,kind,duration_s":        `line 1: The column "job" is there twice`,
		"job,execution,task,kind,duration_s":            "the table: There is no row",
		"job,execution,task,kind,duration_s\n\"a,b\n,c": "line 2: This is no CSV",
	} {
		k := readText(t, header+"\n")
		if len(k.refused) == 0 || !strings.HasPrefix(k.refused[0].Error(), why) || len(k.executions) != 0 {
			t.Errorf("%q: %v", header, k.refused)
		}
	}
}

// refusedAs checks the beginnings of all refusals, in order.
func refusedAs(t *testing.T, refused []Refusal, want []string) {
	t.Helper()
	for i := range max(len(refused), len(want)) {
		switch {
		case i >= len(want):
			t.Errorf("one more: %v", refused[i])
		case i >= len(refused):
			t.Errorf("nothing, want %q", want[i])
		case !strings.HasPrefix(refused[i].Error(), want[i]):
			t.Errorf("%v\nwant %q", refused[i], want[i])
		}
	}
}

func TestDirectories(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	var jhist, log bytes.Buffer
	makeJob(rng, 1, 20, 3).writeJHist(&jhist)
	app := makeApp(rng, 4, 30)
	app.write(&log)
	lines := bytes.SplitAfter(log.Bytes(), []byte("\n"))
	part := func(from, until int) []byte {
		return bytes.TrimSuffix(bytes.Join(lines[from:until], nil), []byte("\n"))
	}
	file := func(data []byte) *fstest.MapFile { return &fstest.MapFile{Data: data} }
	n := len(lines)
	files := fstest.MapFS{
		"done/2026/job_1.jhist":                      file(jhist.Bytes()),
		"done/2026/job_1_conf.xml":                   file([]byte("<configuration/>")),
		"done/2026/.job_1.jhist.crc":                 file([]byte("crc")),
		"done/2026/notes.txt":                        file([]byte("hello")),
		"spark/eventlog_v2_a/events_1_a":             file(part(0, 40)),
		"spark/eventlog_v2_a/events_2_a.zstd":        file(zstdOf(part(40, 41))),
		"spark/eventlog_v2_a/events_10_a":            file(part(80, n)),
		"spark/eventlog_v2_a/appstatus_a":            file(nil),
		"spark/eventlog_v2_hole/events_1_b":          file(part(0, 40)),
		"spark/eventlog_v2_hole/events_3_b":          file(part(40, n)),
		"spark/eventlog_v2_c/events_2_c.compact":     file(part(0, 40)),
		"spark/eventlog_v2_c/events_3_c":             file(part(40, n)),
		"spark/eventlog_v2_e/events_1_e.zstd":        file([]byte("\x28\xb5\x2f\xfd....")),
		"spark/eventlog_v2_f/events_1_f":             file(part(0, n-3)),
		"spark/eventlog_v2_f/appstatus_f.inprogress": file(nil),
	}
	for i := 3; i < 10; i++ {
		files["spark/eventlog_v2_a/events_"+string(rune('0'+i))+"_a"] = file(part(38+i, 39+i))
	}
	files["spark/eventlog_v2_a/events_8_a"] = file(gzipped(part(46, 47)))
	files["spark/eventlog_v2_a/events_9_a"] = file(part(47, 80))
	files["spark/app-1.zstd"] = file(zstdOf(log.Bytes()))
	files["spark/app-2.zstd.inprogress"] = file(zstdOf(part(0, n-3)))
	var k taken
	sent := int64(0)
	files["done/link"] = &fstest.MapFile{Data: []byte("done/2026"), Mode: fs.ModeSymlink}
	if err := ReadFS(files, Options{Progress: func(n int64) {
		if n < sent {
			t.Errorf("progress goes from %d to %d", sent, n)
		}
		sent = n
	}}, k.sink()); err != nil {
		t.Fatal(err)
	}
	refusedAs(t, k.refused, []string{
		`done/2026/notes.txt, the file: It begins with "hello"`,
		"done/link: It is no plain file",
		"spark/eventlog_v2_c, the log: Spark has compacted this log",
		"spark/eventlog_v2_e, the file: The zstd is damaged",
		"spark/eventlog_v2_hole, the log: Part 2 of the log is missing",
	})
	if len(k.executions) != 5 {
		t.Fatalf("%d executions", len(k.executions))
	}
	for _, whole := range []int{1, 3} {
		c, err := TakeChain(k.executions[whole])
		if err != nil {
			t.Fatal(err)
		}
		app.chained(t, c)
	}
	for _, cut := range []int{2, 4} {
		refusedFor(t, k.executions[cut], "Its end is not on record")
		if notes := k.executions[cut].Notes; len(notes) != 1 || !strings.Contains(notes[0], "still being written") {
			t.Errorf("%q", notes)
		}
	}
	alone, err := fs.Sub(files, "spark/eventlog_v2_a")
	if err != nil {
		t.Fatal(err)
	}
	var one taken
	if err := ReadFS(alone, Options{}, one.sink()); err != nil || len(one.executions) != 1 || len(one.refused) != 0 {
		t.Errorf("%v, %d executions, %v", err, len(one.executions), one.refused)
	}
	var none taken
	if err := ReadFS(fstest.MapFS{"_SUCCESS": file(nil)}, Options{}, none.sink()); err != nil {
		t.Fatal(err)
	}
	refusedAs(t, none.refused, []string{".: There is no history in it"})
	if sent < int64(jhist.Len()+log.Len())/2 {
		t.Errorf("%d bytes were told", sent)
	}
}
