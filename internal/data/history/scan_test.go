package history

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// jhistEnd is a line as Hadoop writes it, with counters.
const jhistEnd = `{"type":"MAP_ATTEMPT_FINISHED","event":{"org.apache.hadoop.mapreduce.jobhistory.MapAttemptFinished":{"taskid":"task_1_1_m_1","attemptId":"attempt_1_1_m_1_0","taskType":"MAP","taskStatus":"SUCCEEDED","mapFinishTime":1329348451083,"finishTime":1329348453179,"hostname":"node-1","port":1004,"rackname":"/r\"1","state":" > map","counters":{"name":"COUNTERS","groups":[{"name":"FileSystemCounter","counts":[{"name":"FILE_BYTES_READ","value":120},{"name":"x","value":-1.5e3}]},{}]},"clockSplits":[4201,5,[]],"physMemKbytes":null}}}`

// agreeOnAttempt tells whether an event that is read without decoding means the same to encoding/json.
func agreeOnAttempt(t *testing.T, line []byte) bool {
	t.Helper()
	kind, got, ok := readJhistAttempt(line)
	if !ok {
		return false
	}
	var e jhistEvent
	if err := json.Unmarshal(line, &e); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	for _, want := range e.Event {
		if e.Type != kind || len(e.Event) != 1 || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %s %+v, want %s %+v of %s", kind, got, e.Type, want, line)
		}
	}
	return len(e.Event) == 1
}

// Lines with any change mean the same to encoding/json, or are left to it.
func TestScannedAttemptsAreThoseOfJSON(t *testing.T) {
	var text bytes.Buffer
	r := rand.New(rand.NewPCG(3, 4))
	makeJob(r, 1, 3, 2).writeJHist(&text)
	lines := []string{jhistEnd}
	for line := range strings.Lines(text.String()) {
		if strings.Contains(line, "_ATTEMPT_") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	for _, line := range lines {
		if !agreeOnAttempt(t, []byte(line)) {
			t.Fatalf("it was not read: %s", line)
		}
	}
	pieces := []string{`"hostname":"b",`, `"hostname":null,`, `"Hostname":"b",`, `"avataar":"a\n",`, `"Counters":{"a":1},`, `"finishTime":"x",`, `"finishTime":7,`, `"counters":7,`, `"counters":01,`, `"jobid":"j",`, `,`, `}`, `{`, `[`, `]`, `:`, `"`, `\`, ` `, `-`, `1e9`, `true`, "\x00", "\xff", `"taskid":null,`}
	read := 0
	for k := range 200_000 {
		if agreeOnAttempt(t, changed(r, []byte(lines[k%len(lines)]), pieces)) {
			read++
		}
	}
	if read < 10_000 || read > 150_000 {
		t.Errorf("%d of 200,000 changed lines were read without decoding", read)
	}
}

// changed returns a text with one place or two changed.
func changed(r *rand.Rand, text []byte, pieces []string) []byte {
	for range 1 + r.IntN(2) {
		if len(text) == 0 {
			break
		}
		at := r.IntN(len(text))
		switch r.IntN(4) {
		case 0:
			text = append(text[:at:at], text[min(len(text), at+1+r.IntN(3)):]...)
		case 1:
			text = append(append(text[:at:at], pieces[r.IntN(len(pieces))]...), text[at:]...)
		case 2:
			text[at] = byte(r.IntN(256))
		case 3: // a piece before a member
			if comma := bytes.IndexByte(text[at:], ','); comma >= 0 {
				at += comma + 1
				text = append(append(text[:at:at], pieces[r.IntN(len(pieces))]...), text[at:]...)
			}
		}
	}
	return text
}

func FuzzScannedAttempts(f *testing.F) {
	f.Add([]byte(jhistEnd))
	f.Add([]byte(strings.TrimSpace(mapTry(1, 0, base, base+1))[:strings.Index(mapTry(1, 0, base, base+1), "\n")]))
	f.Fuzz(func(t *testing.T, line []byte) { agreeOnAttempt(t, line) })
}

// The scanner ends a value where encoding/json does, or says nothing.
func FuzzEndsOfValues(f *testing.F) {
	for _, text := range []string{taskEnd, jhistEnd, `-0.5E+3`, `[ ]`, "{ \"a\" :\n [ 1 , { } ] }", `[1,[],{},{"a":[null,true,false]}]`, `"a\n"`, "\"\x1f\"", `"0123456789`, `01`, `1.`, `[}`, `{"a"1}`, strings.Repeat("[", 70)} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		end := endOfValue(text, 0)
		if end < 0 {
			return
		}
		if !json.Valid(text[:end]) {
			t.Fatalf("%q ends at %d", text, end)
		}
		if end < len(text) && strings.IndexByte("0123456789.eE+-", text[end]) >= 0 && text[end-1] >= '0' && text[end-1] <= '9' {
			return // of 01 the value ends after 0: what follows is found out by whoever asked
		}
		if rest := json.NewDecoder(strings.NewReader(string(text))); rest.Decode(new(json.RawMessage)) == nil && int(rest.InputOffset()) != end {
			t.Fatalf("%q ends at %d, and for encoding/json at %d", text, end, rest.InputOffset())
		}
	})
}
