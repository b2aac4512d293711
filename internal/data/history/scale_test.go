package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// wholeSamples asks for histories as large as the promise covers.
var wholeSamples = os.Getenv("HEADROOM_LONG") != ""

// maxHeap bounds the heap while a history is read and its executions are examined.
const maxHeap = 128 << 20

// peak returns the largest heap during a function.
func peak(f func()) (bytes uint64) {
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // as a server collects garbage
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			metrics.Read(sample)
			bytes = max(bytes, sample[0].Value.Uint64())
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}()
	f()
	close(stop)
	<-done
	return bytes
}

// endless is a text made while it is read: blocks in sequence up to a size, between a beginning and an end.
type endless struct {
	block func(w io.Writer, n int)
	head  string
	tail  string
	want  int64
	buf   bytes.Buffer
	sent  int64
	n     int
	ended bool
}

func (e *endless) Read(p []byte) (int, error) {
	for e.buf.Len() == 0 {
		switch {
		case e.ended:
			return 0, io.EOF
		case e.n == 0:
			e.buf.WriteString(e.head)
		case e.sent >= e.want:
			e.buf.WriteString(e.tail)
			e.ended = true
		default:
			e.block(&e.buf, e.n)
		}
		e.n++
	}
	n, err := e.buf.Read(p)
	e.sent += int64(n)
	return n, err
}

// large returns histories of any size: one execution that does not end, and a trace of many.
func large(bytes int64) map[string]func() *endless {
	// A block holds the events of a task; only numbers and times differ.
	return map[string]func() *endless{
		"jhist": func() *endless {
			rng := rand.New(rand.NewPCG(6, 6))
			return &endless{want: bytes, head: jhistHead + submitted, tail: ended, block: func(w io.Writer, n int) {
				j := madeJob{id: "job_1_1", attempts: []madeAttempt{{task: n, outcome: "SUCCEEDED", start: base + int64(n), ends: base + int64(n) + 5000 + rng.Int64N(9000), host: "node"}}}
				j.writeTask(w, j.attempts[0])
			}}
		},
		"Rumen": func() *endless {
			rng := rand.New(rand.NewPCG(6, 6))
			return &endless{want: bytes, block: func(w io.Writer, n int) { makeJob(rng, n, 40, 10).writeRumen(w) }}
		},
		"Spark": func() *endless {
			rng := rand.New(rand.NewPCG(6, 6))
			return &endless{want: bytes, head: sparkHead, tail: sparkTail, block: func(w io.Writer, n int) {
				writeSparkTask(w, n/1000, n%1000, base+int64(n), base+int64(n)+5000+rng.Int64N(9000), false, false, false, "Success")
			}}
		},
		// Minimal events, all of one stage: far more attempts than usual.
		"Spark, short events": func() *endless {
			rng := rand.New(rand.NewPCG(6, 6))
			return &endless{want: bytes, head: sparkHead, tail: sparkTail, block: func(w io.Writer, n int) {
				start := base + int64(n)
				fmt.Fprintf(w, `{"Event":"SparkListenerTaskEnd","Stage ID":0,"Stage Attempt ID":0,"Task Type":"ResultTask","Task End Reason":{"Reason":"Success"},"Task Info":{"Task ID":%d,"Index":%d,"Attempt":0,"Partition ID":%d,"Launch Time":%d,"Executor ID":"1","Host":"n%d","Locality":"ANY","Speculative":false,"Getting Result Time":0,"Finish Time":%d,"Failed":false,"Killed":false,"Accumulables":[]}}`+"\n",
					n, n, n, start, n%7, start+5000+rng.Int64N(9000))
			}}
		},
	}
}

func TestMemoryStaysFlat(t *testing.T) {
	size := int64(50 << 20)
	if wholeSamples {
		size = 2 << 30
	}
	for name, history := range large(size) {
		t.Run(name, func(t *testing.T) {
			executions, attempts := 0, int64(0)
			in := history()
			to := Sink{
				Execution: func(e *Execution) error {
					executions++
					var count int64
					if s, err := Take(e); err == nil {
						count = s.Map.Count + s.Reduce.Count
					} else if c, err := TakeChain(e); err == nil {
						for _, p := range c.Phases {
							count += p.Tasks
						}
					} else {
						t.Error(err)
					}
					attempts += count
					return nil
				},
				Refused: func(r Refusal) error { return r },
			}
			var err error
			start := time.Now()
			held := peak(func() { err = Read(in, Options{}, to) })
			if err != nil || executions == 0 || attempts < size/20_000 {
				t.Fatalf("%v, %d executions, %d tasks", err, executions, attempts)
			}
			t.Logf("%d MB with %d executions and %d tasks, made and read in %.1f s: %.1f MB held at most", in.sent>>20, executions, attempts, time.Since(start).Seconds(), float64(held)/(1<<20))
			if held > maxHeap {
				t.Errorf("%d MB were held", held>>20)
			}
		})
	}
}

// A table's executions are collected until all of it is read, so their size is bounded.
func TestTablesOfTooMuchAreRefused(t *testing.T) {
	for name, row := range map[string]string{"executions": "j,e#,t,map,3,h\n", "tasks": "j,e,t#,map,3,h\n", "hosts": "j,e,t,map,3,h#\n", "attempts": "j,e,t,map,3,h\n"} {
		t.Run(name, func(t *testing.T) {
			if name != "executions" && !wholeSamples {
				t.Skip("millions of rows")
			}
			in := &endless{want: 1 << 30, head: "job,execution,task,kind,duration_s,host\n", block: func(w io.Writer, n int) { _, _ = io.WriteString(w, strings.Replace(row, "#", strconv.Itoa(n), 1)) }}
			var refused []Refusal
			to := Sink{
				Execution: func(*Execution) error { return errors.New("an execution of a table that is too large") },
				Refused:   func(r Refusal) error { refused = append(refused, r); return nil },
			}
			held := peak(func() {
				if err := Read(in, Options{}, to); err != nil {
					t.Error(err)
				}
			})
			if len(refused) != 1 || !strings.Contains(refused[0].Detail, "more executions, tasks and attempts") {
				t.Errorf("after %d MB: %d refused, %.200v", in.sent>>20, len(refused), refused)
			}
			t.Logf("%d MB read, %d MB held", in.sent>>20, held>>20)
			if held > 3*maxHeld {
				t.Errorf("%d MB were held", held>>20)
			}
		})
	}
}

// Other parts held until the end, such as unfinished ones or names, have the same bound.
func TestHistoriesThatHoldTooMuchAreRefused(t *testing.T) {
	long := strings.Repeat("n", maxText)
	parents := make([]string, 1000)
	for i := range parents {
		parents[i] = fmt.Sprintf("#%03d", i)
	}
	for name, history := range map[string]struct{ head, block string }{
		"attempts without an end": {jhistHead + submitted, `{"type":"MAP_ATTEMPT_STARTED","event":{"x":{"taskid":"task_1_1_m_#","taskType":"MAP","attemptId":"attempt_1_1_m_#_0","startTime":1700000000000}}}`},
		"names of tasks":          {jhistHead + submitted, `{"type":"MAP_ATTEMPT_FINISHED","event":{"x":{"taskid":"t#","taskType":"MAP","attemptId":"a#","finishTime":1700000009000,"hostname":"h"}}}`},
		"hosts":                   {jhistHead + submitted, `{"type":"MAP_ATTEMPT_FINISHED","event":{"x":{"taskid":"task_1_1_m_1","taskType":"MAP","attemptId":"a","finishTime":1700000009000,"hostname":"h#` + long + `"}}}`},
		"Spark's stages":          {sparkHead, `{"Event":"SparkListenerStageCompleted","Stage Info":{"Stage ID":#999,"Stage Name":"` + long + `","Number of Tasks":1,"Parent IDs":[` + strings.Join(parents, ",") + `]}}`},
		"Spark's hosts":           {sparkHead, `{"Event":"SparkListenerTaskEnd","Stage ID":0,"Task Info":{"Index":1,"Launch Time":1700000000000,"Finish Time":1700000009000,"Host":"#` + long + `"}}`},
		"Rumen's tasks":           {`{"jobID":"job_1_1","mapTasks":[{}`, `,{"taskID":"t#` + long + `","attempts":[{"result":"SUCCESS"}]}`},
		"the simulator's hosts":   {`{"job.id":"j","job.tasks":[{}`, `,{"container.host":"h#` + long + `","container.type":"map"}`},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "Spark's stages" && !wholeSamples {
				t.Skip("hundreds of MB")
			}
			in := &endless{want: 1 << 30, head: history.head, block: func(w io.Writer, n int) {
				_, _ = io.WriteString(w, strings.ReplaceAll(history.block, "#", strconv.Itoa(n))+"\n")
			}}
			var refused []Refusal
			to := Sink{
				Execution: func(*Execution) error { return errors.New("an execution that holds too much") },
				Refused:   func(r Refusal) error { refused = append(refused, r); return nil },
			}
			held := peak(func() {
				if err := Read(in, Options{}, to); err != nil {
					t.Error(err)
				}
			})
			if len(refused) != 1 || !strings.Contains(refused[0].Detail, "128 MiB") {
				t.Errorf("after %d MB: %d refused, %.300v", in.sent>>20, len(refused), refused)
			}
			t.Logf("%d MB read, %d MB held", in.sent>>20, held>>20)
			if held > 4*maxHeld { // the collector lets half of it be garbage
				t.Errorf("%d MB were held", held>>20)
			}
		})
	}
}

// Reading is not much slower than decoding the JSON. The measurement is logged; a busy machine allows no finer
// judgement.
func TestReadingIsAsFastAsDecoding(t *testing.T) {
	size, rounds := int64(8<<20), 3
	if wholeSamples {
		size, rounds = 64<<20, 7
	}
	for name, history := range large(size) {
		t.Run(name, func(t *testing.T) {
			text, err := io.ReadAll(history())
			if err != nil {
				t.Fatal(err)
			}
			decode := decodeValues
			if name == "jhist" {
				decode = func(r io.Reader) error {
					in := bufio.NewReader(r)
					in.ReadString('\n') // the format line is no JSON
					return decodeValues(in)
				}
			}
			var reads, decodes []float64
			for range rounds {
				start := time.Now()
				if err := Read(bytes.NewReader(text), Options{}, Sink{Execution: func(*Execution) error { return nil }, Refused: func(r Refusal) error { return r }}); err != nil {
					t.Fatal(err)
				}
				reads = append(reads, time.Since(start).Seconds())
				start = time.Now()
				if err := decode(bytes.NewReader(text)); err != nil {
					t.Fatal(err)
				}
				decodes = append(decodes, time.Since(start).Seconds())
			}
			slices.Sort(reads)
			slices.Sort(decodes)
			mb := float64(len(text)) / 1e6
			read, decoded := reads[rounds/2], decodes[rounds/2]
			t.Logf("%.0f MB: read at %.0f MB/s, decoded at %.0f MB/s (medians of %d): %.2f times as long", mb, mb/read, mb/decoded, rounds, read/decoded)
			if mb/read < 100 && read > 3*decoded {
				t.Errorf("%.0f MB/s, %.1f times as long as decoding", mb/read, read/decoded)
			}
		})
	}
}

// decodeValues decodes values one after the other and keeps none.
func decodeValues(r io.Reader) error {
	dec := json.NewDecoder(r)
	for {
		var v any
		switch err := dec.Decode(&v); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}
