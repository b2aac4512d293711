package sim

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"example.org/headroom/internal/core/fault"
)

// Read gives the same values as the standard library.
func TestReadReadsEveryMember(t *testing.T) {
	for _, text := range []string{everyMember, everyMemberOnNodes, strings.Replace(everyMember, `"horizon_s"`, `"compare": [{"kind": "fifo"}, {"kind": "edf"}], "horizon_s"`, 1)} {
		got, err := Read([]byte(text))
		if want := read(t, text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
}

func TestReadSaysWhatIsWrongAndWhere(t *testing.T) {
	for _, c := range []struct{ old, new, pointer, code string }{
		{`"seed": 1`, `"sead": 1`, "/sead", "unknown_member"},
		{`"seed": 1`, `"seed": 1, "seed": 2`, "/seed", "duplicate_member"},
		{`"seed": 1`, `"seed": 1.5`, "/seed", "not_whole"},
		{`"seed": 1`, `"seed": -1`, "/seed", "range"},
		{`"warm_up_s": 100`, `"warm_up_s": "100"`, "/warm_up_s", "type"},
		{`"warm_up_s": 100`, `"warm_up_s": 1e999`, "/warm_up_s", "range"},
		{`"warm_up_s": 100`, `"warm_up_s": null`, "/warm_up_s", "null"},
		{`"warm_up_s": 100`, `"warm_up_s": 1e9`, "/warm_up_s", "premise"},
		{`{"kind": "fair"}`, `{"kind": "fair", "colour": {"a": [1, {}]}}`, "/policy/colour", "unknown_member"},
		{`{"kind": "fair"}`, `["fair"]`, "/policy", "type"},
		{`"new": 3`, `"new": {}`, "/classes/0/rates/new", "type"},
		{`[10, 20]`, `[10, "20"]`, "/classes/2/load/at_s/1", "type"},
		{`[10, 20]`, `{"at": 10}`, "/classes/2/load/at_s", "type"},
		{`"replications": 3`, `"replications": 3,`, "", "syntax"},
		{`"jobs": 1000}`, `"jobs": 1000`, "", "syntax"},
		{`"limits":`, `"limits"`, "", "syntax"},
	} {
		text := strings.Replace(everyMemberOnNodes, c.old, c.new, 1)
		if text == everyMemberOnNodes {
			t.Fatalf("%s is not there", c.old)
		}
		_, err := Read([]byte(text))
		var wrong *fault.InputError
		if !errors.As(err, &wrong) || wrong.Findings[0].Pointer != c.pointer || wrong.Findings[0].Code != c.code {
			t.Errorf("%s: got %v, want %s at %q", c.new, err, c.code, c.pointer)
			continue
		}
		if f := wrong.Findings[0]; c.code == "syntax" && (f.Line < 15 || f.Column < 1) {
			t.Errorf("%s: said to be on line %d, column %d", c.new, f.Line, f.Column)
		}
	}
	if _, err := Read([]byte(everyMember + "{}")); err == nil || !strings.Contains(err.Error(), "After the end of the document") {
		t.Errorf("two objects: got %v", err)
	}
}

// Read answers any text, and the inputs it accepts give finite figures.
func FuzzRead(f *testing.F) {
	f.Add(everyMember)
	f.Add(everyMemberOnNodes)
	f.Add(`{"classes": [[[{`)
	f.Fuzz(func(t *testing.T, text string) {
		in, err := Read([]byte(text))
		if err != nil {
			if wrong := (*fault.InputError)(nil); !errors.As(err, &wrong) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if err := Validate(in); err != nil {
			t.Fatalf("%q is read and not valid: %v", text, err)
		}
		confine(&in)
		in.Limits.Events = min(in.Limits.Events, 1_000)
		sim, err := New(in)
		if wrong := (*fault.InputError)(nil); errors.As(err, &wrong) {
			return // larger sizes may not fit in memory
		}
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if err := sim.Work(t.Context()); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if _, err := json.Marshal(sim.Report()); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	})
}
