package history

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// A failed application of Spark brings a stack trace. All of it is kept, within a bound, and people see its first
// sentence.
func TestReasonsWithStackTraces(t *testing.T) {
	t.Parallel()
	const first = "Job aborted due to stage failure: Task 3 in stage 1.0 failed 4 times, most recent failure: Lost task 3.3 in stage 1.0 (TID 17): java.lang.IllegalStateException: a bad record"
	trace := "\n\tat com.example.Etl$.parse(Etl.scala:41)" + strings.Repeat("\n\tat org.apache.spark.rdd.RDD.iterator(RDD.scala:328)", 20) + "\n\nDriver stacktrace:"
	for _, c := range []struct {
		name, message, brief string
		cut                  bool
	}{
		{"a trace", first + trace, "It failed: " + first, false},
		{"lines of Windows", first + strings.ReplaceAll(trace, "\n", "\r\n"), "It failed: " + first, false},
		{"two sentences", "The disk is full. " + strings.Repeat("Nothing was written. ", 20), "It failed: The disk is full.", false},
		{"one sentence without end", strings.Repeat("ü", 3000), "It failed: " + strings.Repeat("ü", 188) + "…", true},
		{"a trace without end", first + strings.Repeat(trace+"ü€", 30), "It failed: " + first, true},
		{"short", "out of memory", "It failed: out of memory. What did not end well says nothing about how long the job takes.", false},
	} {
		message, err := json.Marshal(c.message)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf(`{"Event":"SparkListenerApplicationStart","App Name":"etl","App ID":"app-1","Timestamp":1767650400000,"User":"u"}
{"Event":"SparkListenerJobEnd","Job ID":0,"Job Result":{"Result":"JobFailed","Exception":{"Message":%s,"Stack Trace":[]}}}
{"Event":"SparkListenerApplicationEnd","Timestamp":1767650460000}
`, message)
		var kept []Record
		err = Read(strings.NewReader(text), Options{}, Sink{
			Execution: func(e *Execution) error { kept = append(kept, Keep(e, "")); return nil },
			Refused:   func(r Refusal) error { return r },
		})
		if err != nil || len(kept) != 1 {
			t.Fatalf("%s: %d executions (%v)", c.name, len(kept), err)
		}
		all := kept[0].Refused
		if got := Brief(all); got != c.brief || utf8.RuneCountInString(got) > briefest {
			t.Errorf("%s: people are shown %q, want %q", c.name, got, c.brief)
		}
		whole := strings.Contains(all, strings.TrimSpace(strings.TrimSuffix(c.message, ".")))
		if whole == c.cut || len(all) > maxReason || len(all) < maxReason-utf8.UTFMax && c.cut || !utf8.ValidString(all) || strings.ContainsRune(all, utf8.RuneError) {
			t.Errorf("%s: %d bytes are kept, whole %v", c.name, len(all), whole)
		}
	}
}
