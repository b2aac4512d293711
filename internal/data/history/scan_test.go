package history

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// jhistEnd is a line as Hadoop writes it, with counters.
const jhistEnd = `{"type":"MAP_ATTEMPT_FINISHED","event":{"org.apache.hadoop.mapreduce.jobhistory.MapAttemptFinished":{"taskid":"task_1_1_m_1","attemptId":"attempt_1_1_m_1_0","taskType":"MAP","taskStatus":"SUCCEEDED","mapFinishTime":1329348451083,"finishTime":1329348453179,"hostname":"node-1","port":1004,"rackname":"/r\"1","state":" > map","counters":{"name":"COUNTERS","groups":[{"name":"FileSystemCounter","counts":[{"name":"FILE_BYTES_READ","value":120},{"name":"x","value":-1.5e3}]},{}]},"clockSplits":[4201,5,[]],"physMemKbytes":null}}}`

// Lines without their counters mean the same, with any change.
func TestShortLinesMeanTheSame(t *testing.T) {
	if short := jhistShort(nil, []byte(jhistEnd)); strings.Contains(string(short), "COUNTERS") || strings.Contains(string(short), "Splits") {
		t.Fatalf("the counters are still there: %s", short)
	}
	r := rand.New(rand.NewPCG(3, 4))
	pieces := []string{`"hostname":"b",`, `"Counters":{"a":1},`, `"finishTime":"x",`, `"counters":7,`, `"counters":01,`, `,`, `}`, `{`, `[`, `]`, `:`, `"`, `\`, ` `, `-`, `1e9`, `true`, "\x00", "\xff", `"taskid":null,`}
	shorter, wrong := 0, 0
	for range 200_000 {
		line := []byte(jhistEnd)
		for range 1 + r.IntN(2) {
			at := r.IntN(len(line))
			switch r.IntN(3) {
			case 0:
				line = append(line[:at:at], line[min(len(line), at+1+r.IntN(3)):]...)
			case 1:
				line = append(append(line[:at:at], pieces[r.IntN(len(pieces))]...), line[at:]...)
			case 2:
				line[at] = byte(r.IntN(256))
			}
		}
		var want, got jhistEvent
		wantErr := json.Unmarshal(line, &want)
		short := jhistShort(nil, line)
		if gotErr := json.Unmarshal(short, &got); (gotErr == nil) != (wantErr == nil) || wantErr == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\nis %+v, %v\n%s\nis %+v, %v", line, want, wantErr, short, got, gotErr)
		}
		if len(short) < len(line)-100 {
			shorter++
		}
		if wantErr != nil {
			wrong++
		}
	}
	if shorter < 20_000 || wrong < 20_000 {
		t.Errorf("%d lines got shorter, %d were wrong", shorter, wrong)
	}
}

// The scanner ends a value where encoding/json does, or says nothing.
func FuzzEndsOfValues(f *testing.F) {
	for _, text := range []string{taskEnd, jhistEnd, `-0.5E+3`, `[1,[],{},{"a":[null,true,false]}]`, `"a\n"`, "\"\x1f\"", `"0123456789`, `01`, `1.`, `[}`, `{"a"1}`, strings.Repeat("[", 70)} {
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
