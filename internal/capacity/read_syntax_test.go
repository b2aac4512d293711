package capacity

import (
	"strings"
	"testing"
)

func TestReadProblemSaysWhereTextIsNotJSON(t *testing.T) {
	for _, c := range []struct {
		name, text   string
		line, column int
		says         string
	}{
		{"nothing", "", 1, 1, "is empty"},
		{"white space", " \n\t", 2, 2, "is empty"},
		{"byte order mark", "\xef\xbb\xbf{}", 1, 1, "byte order mark"},
		{"UTF-16", "\xff\xfe{\x00}\x00", 1, 1, "UTF-16"},
		{"cut in an object", "{\n  \"currency\": \"USD\"", 2, 20, "cut off"},
		{"cut in a string", `{"currency": "US`, 1, 17, "cut off"},
		{"cut in a name", `{"curr`, 1, 7, "cut off"},
		{"cut in an escape", `{"currency": "\u00`, 1, 19, "cut off"},
		{"cut after a backslash", `{"currency": "\`, 1, 16, "cut off"},
		{"cut in a number", `{"period_s": 3.`, 1, 16, "cut off"},
		{"cut after a colon", `{"period_s":`, 1, 13, "cut off"},
		{"cut in an array", `{"classes": [`, 1, 14, "cut off"},
		{"second document", `{"supply": 1} {}`, 1, 15, "After the end"},
		{"comma after the last member", `{"period_s": 1,}`, 1, 16, "remove the comma"},
		{"comma after the last element", `{"classes": [{},]}`, 1, 17, "remove the comma"},
		{"no comma", `{"period_s": 1 "currency": "USD"}`, 1, 16, "a comma or the end of the object"},
		{"no colon", `{"period_s" 1}`, 1, 13, "a colon"},
		{"no name", `{1: 2}`, 1, 2, "a member name in double quotes"},
		{"single quotes", `{'period_s': 1}`, 1, 2, "single"},
		{"comment", "{\n// the period\n\"period_s\": 1}", 2, 1, "no comments"},
		{"plus sign", `{"period_s": +1}`, 1, 14, "plus sign"},
		{"leading point", `{"period_s": .5}`, 1, 14, "starts with a digit"},
		{"leading zeros", `{"period_s": 01}`, 1, 14, "leading zeros"},
		{"no digits after the point", `{"period_s": 1.}`, 1, 16, "decimal point"},
		{"no digits in the exponent", `{"period_s": 1e}`, 1, 16, "exponent"},
		{"two points", `{"period_s": 1.2.3}`, 1, 17, "the end of the number"},
		{"hexadecimal", `{"period_s": 0x10}`, 1, 15, "the end of the number"},
		{"minus alone", `{"period_s": -}`, 1, 15, "digit"},
		{"Python's word", `{"options": {"one_slot_per_job": True}}`, 1, 34, `"True" is no value`},
		{"undefined", `{"period_s": undefined}`, 1, 14, `"undefined" is no value`},
		{"NUL", "{\"period_s\": \x00}", 1, 14, "U+0000"},
		{"NUL in a string", "{\"currency\": \"U\x00D\"}", 1, 16, "U+0000"},
		{"line end in a string", "{\"currency\": \"US\nD\"}", 1, 17, "line ends"},
		{"not UTF-8", "{\"currency\": \"\u00e9\xe9\"}", 1, 16, "not UTF-8"},
		{"lone high surrogate", `{"currency": "\ud83d"}`, 1, 15, "surrogate"},
		{"lone low surrogate", `{"currency": "\udc00x"}`, 1, 15, "surrogate"},
		{"two high surrogates", `{"currency": "\ud83d\ud83d"}`, 1, 15, "surrogate"},
		{"unknown escape", `{"currency": "\x41"}`, 1, 15, "backslash"},
		{"bad hexadecimal", `{"currency": "\u00g0"}`, 1, 15, "four hexadecimal digits"},
		{"too deep", `{"classes": ` + strings.Repeat("[", 32), 1, 44, "deeper than 32"},
		{"bad text in an unknown member", `{"zebra": {"a": [1, tru]}}`, 1, 21, `"tru" is no value`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadProblem([]byte(c.text), DefaultLimits())
			got := findings(t, err)
			if len(got) != 1 || got[0].Code != "syntax" || got[0].Line != c.line || got[0].Column != c.column || !strings.Contains(got[0].Detail, c.says) {
				t.Errorf("got %+v, want line %d, column %d saying %q", got, c.line, c.column, c.says)
			}
		})
	}
}

func TestReadProblemReportsEverythingAtOnce(t *testing.T) {
	_, err := ReadProblem([]byte(`{"currency": "usd", "period_s": "3600", "zebra": NaN,
		"supply": {"on_demand": {"price": -1}, "contracts": [{"name": "a", "vms": 1, "price": 1}, {"name": "a", "vms": 1.5, "price": 1}]},
		"classes": [
			{"name": "b", "jobs": {"min": 2, "max": 1}, "penalty": 0},
			{"name": "b", "vms_per_job": 1e9, "jobs": {"min": 0, "max": 2}, "penalty": null, "deadline_s": -1, "slots_per_vm": {"map": 0, "reduce": 1}},
			{"name": "c", "demand": {"map_work_s": -1, "fixed_s": 1e8}, "jobs": {"min": 0}, "penalty": 1}
		]}`), DefaultLimits())
	var pointers []string
	for _, f := range findings(t, err) {
		pointers = append(pointers, f.Pointer+" "+f.Code)
	}
	want := strings.TrimSpace(`
/period_s type
/zebra unknown_member
/zebra not_finite
/supply/contracts/1/vms not_whole
/classes/1/penalty null
/classes/2/demand/reduce_work_s missing
/classes/2/jobs/max missing
/classes/2/deadline_s missing
/classes/2/slots_per_vm missing
/currency text
/supply/contracts/1/name duplicate_name
/supply/on_demand/price range
/classes/0 one_of
/classes/0/deadline_s range
/classes/0/slots_per_vm/map range
/classes/0/slots_per_vm/reduce range
/classes/0/jobs/min order
/classes/1/name duplicate_name
/classes/1/vms_per_job range
/classes/1/deadline_s range
/classes/1/slots_per_vm/map range
/classes/2/demand/map_work_s range
/classes/2/demand/fixed_s range`)
	if got := strings.Join(pointers, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestReadProblemStopsAtTheLimits(t *testing.T) {
	text := []byte(nightly(t))
	for _, c := range []struct {
		name   string
		limits Limits
		text   string
		want   string
	}{
		{"bytes", Limits{Bytes: len(text) - 1}, string(text), "too_large"},
		{"classes", Limits{Classes: 1}, strings.Replace(string(text), `"classes": [{`, `"classes": [{"name": "a", "vms_per_job": 1, "jobs": {"min": 0, "max": 1}, "penalty": 1}, {`, 1), "/classes too_many"},
		{"contracts", Limits{Contracts: 1}, strings.Replace(string(text), `"contracts": [{`, `"contracts": [{"name": "a", "vms": 1, "price": 1}, {`, 1), "/supply/contracts too_many"},
		{"no class", Limits{}, `{"currency": "USD", "supply": {"on_demand": {"price": 1}}, "classes": []}`, "/classes missing"},
	} {
		_, err := ReadProblem([]byte(c.text), c.limits)
		got := findings(t, err)
		if len(got) != 1 || strings.TrimSpace(got[0].Pointer+" "+got[0].Code) != c.want {
			t.Errorf("%s: got %+v, want %s", c.name, got, c.want)
		}
		if _, err := ReadProblem([]byte(c.text), Limits{}); c.name != "no class" && err != nil {
			t.Errorf("%s: without limits got %v", c.name, err)
		}
	}
}

func TestFindingsAreBounded(t *testing.T) {
	text := `{"classes": [` + strings.Repeat(`{"zebra": 1},`, 2000) + `{}]}`
	_, err := ReadProblem([]byte(text), DefaultLimits())
	if n := len(findings(t, err)); n != MaxFindings {
		t.Errorf("got %d findings, want %d", n, MaxFindings)
	}
}

func TestReadBoundsRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no kind", `{"tasks": 1}`, "/kind missing"},
		{"kind of another type", `{"kind": 1}`, "/kind type"},
		{"unknown kind", `{"kind": "fase", "tasks": 1}`, "/kind choice"},
		{"kind twice", `{"kind": "phase", "tasks": 1, "mean_s": 1, "max_s": 1, "slots": 1, "kind": "job"}`, "/kind duplicate_member"},
		{"kind last", `{"tasks": 1.5, "mean_s": 1, "max_s": 1, "slots": 1, "kind": "phase"}`, "/tasks not_whole"},
		{"member of another kind", `{"kind": "phase", "tasks": 1, "mean_s": 1, "max_s": 1, "slots": 1, "share": 1}`, "/share unknown_member"},
		{"missing", `{"kind": "shared_phase", "tasks": 1, "mean_s": 1, "max_s": 1, "slots": 1, "share": 1}`, "/jobs missing"},
		{"one job of two", `{"kind": "two_jobs", "slots": 2, "jobs": [{"tasks": 1, "mean_s": 1, "max_s": 1, "share": 1}]}`, "/jobs range"},
		{"job of a pair", `{"kind": "two_jobs", "slots": 2, "jobs": [{"tasks": 1, "mean_s": 1, "max_s": 1, "share": 1}, {"tasks": 1, "mean_s": 1, "max_s": null, "share": 1}]}`, "/jobs/1/max_s null"},
		{"profile", `{"kind": "job", "profile": {"map_tasks": 1, "reduce_tasks": 0, "map_avg_s": 1}, "slots": {"map": 1, "reduce": 1}, "share": {"map": 1, "reduce": 1}, "jobs": 1}`, "/profile/map_max_s missing"},
		{"not an object", `[]`, " type"},
		{"trailing", `{"kind": "phase"} x`, "/ syntax"},
	} {
		_, err := ReadBounds([]byte(c.text))
		got := findings(t, err)
		if len(got) != 1 || got[0].Pointer+" "+got[0].Code != c.want && c.want != "/ "+got[0].Code {
			t.Errorf("%s: got %+v, want %s", c.name, got, c.want)
		}
	}
}

func TestReadPlanRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, says string }{
		{"nothing", "", "is empty"},
		{"cut off", `{"status": "optimal"`, "cut off"},
		{"unknown member", `{"status": "optimal", "zebra": 1}`, "zebra"},
		{"money that is none", `{"objective": "x"}`, `"x" is not a decimal`},
		{"money that is absent", `{"objective": null}`, "not a decimal"},
		{"money too long", `{"objective": 1e-10}`, "9 decimal places"},
		{"wrong type", `{"vms": {"total": "x"}}`, "vms.total"},
		{"trailing", `{} {}`, "After the end"},
		{"not JSON", `{"a" 1}`, "not JSON"},
	} {
		_, err := ReadPlan([]byte(c.text))
		got := findings(t, err)
		if len(got) != 1 || got[0].Line < 1 || !strings.Contains(got[0].Detail, c.says) {
			t.Errorf("%s: got %+v, want a line and %q", c.name, got, c.says)
		}
	}
}
