package history

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"
)

const submitted = `{"type":"JOB_SUBMITTED","event":{"x":{"jobid":"job_1_1","jobName":"sort","submitTime":1700000000000}}}` + "\n"
const ended = `{"type":"JOB_FINISHED","event":{"x":{"jobid":"job_1_1","finishTime":1700000100000}}}` + "\n"

// mapTry returns the two events of an attempt at a map task.
func mapTry(task, try int, start, finish int64) string {
	return fmt.Sprintf(`{"type":"MAP_ATTEMPT_STARTED","event":{"x":{"taskid":"task_1_1_m_%06d","taskType":"MAP","attemptId":"a_m_%d_%d","startTime":%d}}}`+"\n", task, task, try, start) +
		fmt.Sprintf(`{"type":"MAP_ATTEMPT_FINISHED","event":{"x":{"taskid":"task_1_1_m_%06d","taskType":"MAP","attemptId":"a_m_%d_%d","finishTime":%d,"hostname":"h"}}}`+"\n", task, task, try, finish)
}

func reduceTry(start, shuffled, finish int64) string {
	return fmt.Sprintf(`{"type":"REDUCE_ATTEMPT_STARTED","event":{"x":{"taskid":"task_1_1_r_000000","taskType":"REDUCE","attemptId":"a_r","startTime":%d}}}`+"\n", start) +
		fmt.Sprintf(`{"type":"REDUCE_ATTEMPT_FINISHED","event":{"x":{"taskid":"task_1_1_r_000000","taskType":"REDUCE","attemptId":"a_r","shuffleFinishTime":%d,"finishTime":%d}}}`+"\n", shuffled, finish)
}

const jhistHead = "Avro-Json\n{}\n"
const base = 1700000000000

// Some editors write a byte order mark before everything.
func TestByteOrderMarksArePassedOver(t *testing.T) {
	var trace, file bytes.Buffer
	j := makeJob(rand.New(rand.NewPCG(3, 3)), 1, 5, 1)
	j.writeRumen(&trace)
	j.writeJHist(&file)
	for _, text := range []string{trace.String(), file.String(), "job,execution,task,kind,duration_s\na,1,t,map,5\n",
		`{"Event":"SparkListenerApplicationStart","App Name":"etl","App ID":"app-1","Timestamp":1700000000000}` + "\n"} {
		if k := readText(t, byteOrderMark+text); len(k.executions) != 1 || len(k.refused) != 0 || k.executions[0].ID == "" {
			t.Errorf("%.40q: %d executions, refused %v", text, len(k.executions), k.refused)
		}
	}
}

func TestFilesThatAreNoHistory(t *testing.T) {
	for why, text := range map[string]string{
		"It is empty.": " \n\t",
		"This job history is written in binary Avro":            "Avro-Binary\n\x00\x01",
		"It is a container of binary Avro":                      "Obj\x01\x04\x14avro.codec",
		"It is a job history of Hadoop 1":                       "Meta VERSION=\"1\" .\nJob JOBID=\"job_1\" .\n",
		"It is a list in JSON":                                  `[{"jobID":"x"}]`,
		"It is a page for a browser":                            "<!DOCTYPE html>",
		"It is written in UTF-16":                               "\xff\xfej\x00o\x00b\x00",
		"It is a table whose columns are divided by semicolons": "job;execution;task;kind;duration_s\na;1;1;map;5\n",
		"It begins with \"\\x7fELF":                             "\x7fELF\x02\x01",
		"It is JSON that begins with the members \"a\", \"b\"":  `{"a":1,"b":[1,{"c":2}]}`,
		"It is an empty object":                                 "{}",
		"It begins like JSON and is none":                       "{nothing}",
		"The zstd is damaged":                                   "\x28\xb5\x2f\xfd\x04\x00\xff\xff\xff\xff\xff",
		"The zstd is cut off":                                   "\x28\xb5\x2f\xfd",
		"The zstd has a window of more than 8 MiB":              "\x28\xb5\x2f\xfd\x00\x78\x01\x00\x00",
		"The zstd needs a dictionary":                           "\x28\xb5\x2f\xfd\x01\x50\x07\x01\x00\x00",
		"It is packed with Spark's lz4":                         "LZ4Block\x15rest",
		"It is packed with zip":                                 "PK\x03\x04rest",
		"It is one answer of a history server, a list of jobs":  `{"jobs":{"job":[]}}`,
		"It is a profile already":                               `{"map_tasks":3}`,
		"There is no job in this history":                       "Avro-Json\n{}\n",
		"There is no application in this event log":             `{"Event":"SparkListenerLogStart","Spark Version":"3.5"}`,
		"The gzip is cut off":                                   "\x1f\x8b\x08",
		"The gzip is damaged":                                   "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xff\xff\xff\xff",
	} {
		k := readText(t, text)
		if len(k.executions) != 0 || len(k.refused) != 1 || k.refused[0].Where != "the file" || !strings.HasPrefix(k.refused[0].Detail, why) {
			t.Errorf("%q: %v, %d executions; want %q", text, k.refused, len(k.executions), why)
		}
	}
}

func TestExecutionsThatAreNoProfile(t *testing.T) {
	good := mapTry(0, 0, base+1000, base+9000)
	for why, text := range map[string]string{
		"It declared 3 reduces, of which none":       good + `{"type":"JOB_INITED","event":{"x":{"totalMaps":1,"totalReduces":3}}}` + "\n" + ended,
		"It has no map task that succeeded":          reduceTry(base+1000, base+2000, base+3000) + ended,
		"Its end is not on record":                   good,
		"ends at 2023-11-14T22:13:21Z, before its":   mapTry(0, 0, base+2000, base+1000) + ended,
		"no start or no end on record":               mapTry(0, 0, base+2000, -1) + ended,
		"An attempt at map task 7 succeeded and has": mapTry(7, 0, -5, base+1000) + ended,
		"no end of its shuffle between them":         good + reduceTry(base+9000, base+20000, base+10000) + ended,
		"It was killed: by ann":                      good + `{"type":"JOB_KILLED","event":{"x":{"finishTime":1700000100000,"diagnostics":"by\n ann"}}}`,
		"It ends at 2023-11-14T20:26:40Z, before it": good + `{"type":"JOB_FINISHED","event":{"x":{"finishTime":1699993600000}}}`,
	} {
		k := readText(t, jhistHead+submitted+text)
		if len(k.executions) != 1 || len(k.refused) != 0 {
			t.Fatalf("%q: %v", text, k)
		}
		refusedFor(t, k.executions[0], why)
	}
}

func TestDamagedLinesAreRefusedAndTheRestIsRead(t *testing.T) {
	huge := `{"type":"MAP_ATTEMPT_STARTED","event":{"` + strings.Repeat("x", maxLine) + "\n"
	k := readText(t, jhistHead+submitted+
		"{\"type\":\n"+ // line 4
		mapTry(0, 0, base+1000, base+9000)+ // 5, 6
		`{"type":"MAP_ATTEMPT_STARTED","event":{"x":{"attemptId":"a"}}}`+"\n"+
		`{"type":"MAP_ATTEMPT_FINISHED","event":{"x":{"taskid":"t","attemptId":"a","finishTime":"noon"}}}`+"\n"+
		`{"type":"JOB_INITED","event":{}}`+"\n"+
		huge+
		`{"type":"TASK_STARTED", this is passed over`+"\n"+
		`null`+"\n"+
		mapTry(0, 0, base+1000, base+9000)+ // told twice
		mapTry(0, 1, base+2000, base+9500)+ // a copy that ended second
		ended)
	refusedAs(t, k.refused, []string{"line 4: This is no event of a job history: unexpected end", "line 7: The event MAP_ATTEMPT_STARTED names no attempt", "line 8: This is no event of a job history: the member \"event.finishTime\" is a string",
		"line 9: The event \"JOB_INITED\" tells of 0 things", "line 10: The line is longer than 16 MiB", "line 12: The event \"\" tells of 0"})
	s, err := Take(k.executions[0])
	if err != nil {
		t.Fatal(err)
	}
	if s.Map.Count != 1 || s.Map.Max != 8 || s.Left.Repeated != 1 || s.Left.Speculative != 1 {
		t.Errorf("%+v", s)
	}
}

func TestDamagedTraces(t *testing.T) {
	job := func(id, more string) string {
		return fmt.Sprintf(`{"jobID":%q,"jobName":"sort","submitTime":1700000000000,"finishTime":1700000100000,"outcome":"SUCCESS"%s}`, id, more)
	}
	for _, c := range []struct {
		name, text string
		executions int
		refused    []string
	}{
		{"a member of a wrong kind", job("a", `,"totalMaps":"many"`) + job("b", ""), 1, []string{"execution 1 of the trace (a): It was passed over: in \"totalMaps\" a string stands where none can"}},
		{"a task of a wrong kind", job("a", `,"mapTasks":[{"taskID":7}]`) + job("b", ""), 1, []string{"execution 1 of the trace (a): It was passed over: in \"mapTasks\" the member \"taskID\" is a number"}},
		{"cut off", job("a", "") + `{"jobID":"b","mapTasks":[{`, 1, []string{"execution 2 of the trace (b): The file ends in the middle"}},
		{"no JSON", job("a", "") + `{"jobID":"b",]`, 1, []string{"execution 2 of the trace (b): This is no JSON"}},
		{"foreign", job("a", "") + `{"x":1} 7`, 1, []string{"execution 2 of the trace: It names no job", "execution 3 of the trace: There should be a {."}},
		{"nested", job("a", `,"x":`+strings.Repeat("[", 2_000_000)), 0, []string{"execution 1 of the trace (a): Values are nested more than 1000 deep."}},
		{"deep", job("a", `,"mapTasks":[`+strings.Repeat(`{"taskID":`, 20_000)), 0, []string{"execution 1 of the trace (a): "}},
		{"huge", job("a", `,"mapTasks":[{"x":"`+strings.Repeat("y", maxLine+1<<20)+`"}]`), 0, []string{"execution 1 of the trace (a): One value is larger than 16 MiB."}},
		{"no list", job("a", `,"mapTasks":{}`), 0, []string{"execution 1 of the trace (a): There should be a list."}},
		{"null", job("a", `,"mapTasks":null,"reduceTasks":[null,{"attempts":null}]`), 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := readText(t, c.text)
			refusedAs(t, k.refused, c.refused)
			if len(k.executions) != c.executions {
				t.Errorf("%d executions", len(k.executions))
			}
		})
	}
}

func TestDuplicateTasksOfATrace(t *testing.T) {
	task := `{"taskID":"task_1_1_m_000000","attempts":[{"result":"SUCCESS","startTime":1700000001000,"finishTime":1700000009000}]}`
	nameless := `{"attempts":[{"result":"SUCCESS","startTime":1700000001000,"finishTime":1700000009000}]}`
	odd := strings.Replace(task, "task_1_1_m_000000", "first", 1)
	k := readText(t, `{"jobID":"a","outcome":"SUCCESS","submitTime":1700000000000,"finishTime":1700000100000,"mapTasks":[`+task+","+task+","+nameless+","+nameless+","+odd+","+odd+`]}`)
	s, err := Take(k.executions[0])
	if err != nil || s.Map.Count != 4 || s.Left.Repeated != 2 {
		t.Errorf("%+v %v", s, err)
	}
}

func TestFilesOfGarbageAreGivenUp(t *testing.T) {
	k := readText(t, jhistHead+strings.Repeat("{\n", 5000)+submitted)
	if len(k.refused) != maxRefusals+1 || len(k.executions) != 0 || !strings.Contains(k.refused[maxRefusals].Detail, "the rest of it is not read") {
		t.Errorf("%d refusals, %v", len(k.refused), k.refused[len(k.refused)-1])
	}
}

func TestPackingsThatAreWrong(t *testing.T) {
	var trace bytes.Buffer
	rng := rand.New(rand.NewPCG(1, 1))
	for n := range 40 {
		makeJob(rng, n, 30, 2).writeRumen(&trace)
	}
	for packing, pack := range map[string]func([]byte) []byte{"gzip": gzipped, "zstd": zstdOf} {
		packed := pack(trace.Bytes())
		flipped := bytes.Clone(packed)
		flipped[len(flipped)-6] ^= 1
		if packing == "zstd" { // which ends in its checksum
			flipped[len(flipped)-2] ^= 1
		}
		for why, text := range map[string][]byte{
			"The " + packing + " is cut off.":                packed[:len(packed)/2],
			"The " + packing + " is damaged.":                flipped,
			"What follows the packed text is not " + packing: append(bytes.Clone(packed), "and more than that"...),
		} {
			k := readAll(t, bytes.NewReader(text), Options{})
			if len(k.refused) != 1 || !strings.Contains(k.refused[0].Detail, why) || len(k.executions) < 10 {
				t.Errorf("%v, %d executions, want %q", k.refused, len(k.executions), why)
			}
		}
		// Several packed texts one after the other are one text.
		k := readAll(t, bytes.NewReader(append(bytes.Clone(packed), packed...)), Options{})
		if len(k.executions) != 80 || len(k.refused) != 0 {
			t.Errorf("%d executions, %v", len(k.executions), k.refused)
		}
		for _, limit := range []int64{1, 100, 70_000, int64(trace.Len()) - 1} {
			k := readAll(t, bytes.NewReader(packed), Options{MaxBytes: limit})
			if len(k.refused) == 0 || limit > 1000 && !strings.Contains(k.refused[0].Detail, fmt.Sprintf("It is more than %d bytes when it is unpacked", limit)) {
				t.Errorf("%d: %v", limit, k.refused)
			}
		}
		if k := readAll(t, bytes.NewReader(packed), Options{MaxBytes: int64(trace.Len())}); len(k.refused) != 0 || len(k.executions) != 40 {
			t.Errorf("%v", k.refused)
		}
	}
	// A frame that is to be passed over, before and between.
	skipped := "\x53\x2a\x4d\x18\x03\x00\x00\x00abc"
	k := readText(t, skipped+string(zstdOf(trace.Bytes()))+skipped+string(zstdOf(trace.Bytes())))
	if len(k.executions) != 80 || len(k.refused) != 0 {
		t.Errorf("%d executions, %v", len(k.executions), k.refused)
	}
}

// What is small packed and very large unpacked is given up at the limit, and little is held until then.
func TestBombsAreGivenUp(t *testing.T) {
	const large = 128 << 20
	for packing, open := range map[string]func(io.Writer) io.WriteCloser{
		"gzip": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"zstd": func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w, zstd.WithWindowSize(maxWindow)); return z },
	} {
		var packed bytes.Buffer
		w := open(&packed)
		io.WriteString(w, jhistHead+submitted)
		spaces := append(bytes.Repeat([]byte(" "), 1<<20), '\n')
		for range large >> 20 {
			w.Write(spaces)
		}
		w.Close()
		var k taken
		runtime.GC()
		held := peak(func() { k = readAll(t, &packed, Options{MaxBytes: large / 2}) })
		if len(k.refused) != 1 || !strings.Contains(k.refused[0].Detail, "It is more than 67108864 bytes when it is unpacked") {
			t.Errorf("%s: %v", packing, k.refused)
		}
		if held > large/4 {
			t.Errorf("%s: %d MB were held", packing, held>>20)
		}
	}
}

// What the source says is no fault of the history.
func TestErrorsOfTheSourceComeBack(t *testing.T) {
	var trace, jhist, log bytes.Buffer
	rng := rand.New(rand.NewPCG(1, 1))
	makeJob(rng, 1, 300, 2).writeRumen(&trace)
	makeJob(rng, 1, 300, 2).writeJHist(&jhist)
	makeApp(rng, 4, 300).write(&log)
	broken := errors.New("the line is dead")
	table := []byte("job,execution,task,kind,duration_s\n" + strings.Repeat("j,e,1,map,5\n", 30_000))
	for i, text := range [][]byte{trace.Bytes(), jhist.Bytes(), log.Bytes(), table, gzipped(trace.Bytes()), zstdOf(trace.Bytes())} {
		for _, n := range []int{0, 10, len(text) / 2, len(text) - 1} {
			var k taken
			err := Read(io.MultiReader(bytes.NewReader(text[:n]), iotest.ErrReader(broken)), Options{}, k.sink())
			if !errors.Is(err, broken) {
				t.Errorf("text %d cut at %d: %v, refused %v", i, n, err, k.refused)
			}
			err = Read(io.MultiReader(bytes.NewReader(text[:n]), iotest.ErrReader(io.ErrUnexpectedEOF)), Options{}, k.sink())
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("text %d cut at %d by a cut connection: %v, refused %v", i, n, err, k.refused)
			}
		}
		full := Sink{Execution: func(*Execution) error { return broken }, Refused: func(Refusal) error { return broken }}
		if err := Read(bytes.NewReader(text), Options{}, full); !errors.Is(err, broken) {
			t.Errorf("text %d: %v", i, err)
		}
	}
}
