package capacity

import (
	"fmt"
	"strings"
	"testing"

	"example.org/headroom/internal/core/fault"
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
	if n := len(findings(t, err)); n != fault.MaxFindings {
		t.Errorf("got %d findings, want %d", n, fault.MaxFindings)
	}
}

func TestReadPlanRefuses(t *testing.T) {
	whole := string(AppendPlan(nil, Plan{
		Status: Optimal, Classes: []ClassPlan{{Name: "a", Verdict: VerdictFull}}, Warnings: []Warning{},
		Conflicts: []fault.Finding{{Pointer: "/classes/0", Detail: "No.", Code: "no", Hint: &fault.Hint{Detail: "Yes.", Value: 1}}},
	}))
	if _, err := ReadPlan([]byte(whole)); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 1000)
	for _, c := range []struct{ name, old, new, pointer, says string }{
		{"another document", whole, `{"supply": {}, "classes": [], "currency": "USD"}`, "", "This is a problem, and a plan is needed here"},
		{"a list", whole, `[]`, "", "Here an object (a plan) is needed, not an array."},
		{"unknown member", `"admitted"`, `"zebra":1,"admitted"`, "/classes/0/zebra", `has no member "zebra"`},
		{"other capitals", `"admitted"`, `"Admitted":3,"admitted"`, "/classes/0/Admitted", `has no member "Admitted"`},
		{"a member twice", `"admitted"`, `"admitted":3,"admitted"`, "/classes/0/admitted", `"admitted" is given twice`},
		{"a member twice in a conflict", `"code"`, `"code":"x","code"`, "/conflicts/0/code", `"code" is given twice`},
		{"a member twice in a hint's value", `"value":1`, `"value":{"a":1,"a":2}`, "/conflicts/0/hint/value/a", `"a" is given twice`},
		{"a member missing", `"refused":0,`, ``, "/classes/0/refused", `"refused" is missing`},
		{"a status that is none", `"optimal"`, `"optimum"`, "/status", `"optimum" is no status; there are optimal, feasible, infeasible.`},
		{"a long status", `"optimal"`, `"` + long + `"`, "/status", `xx…" is no status`},
		{"a long verdict", `"full"`, `"` + long + `"`, "/classes/0/verdict", `xx…" is no verdict`},
		{"money that is none", `"objective":"0.00"`, `"objective":"x"`, "/objective", `"x" is not a decimal`},
		{"money that is absent", `"objective":"0.00"`, `"objective":null`, "/objective", "not null"},
		{"money too long", `"objective":"0.00"`, `"objective":"0.0000000001"`, "/objective", "decimal places"},
		{"money too small", `"objective":"0.00"`, `"objective":1e-400`, "/objective", "1e-400 is too small for a decimal."},
		{"money too large", `"objective":"0.00"`, `"objective":1e400`, "/objective", "1e400 is too large for a decimal."},
		{"wrong type", `"vms":{"total":0`, `"vms":{"total":"x"`, "/vms/total", "Here a number is needed, not a string."},
	} {
		text := strings.Replace(whole, c.old, c.new, 1)
		if text == whole {
			t.Fatalf("%s: there is no %s in %s", c.name, c.old, whole)
		}
		for _, in := range []struct{ at, text string }{{"", text}, {"/plan", `{"number":1,"plan":` + text + `}`}} {
			if in.at != "" && c.old == whole {
				continue
			}
			_, err := ReadPlanOrRecord([]byte(in.text))
			if got := findings(t, err); len(got) != 1 || got[0].Pointer != in.at+c.pointer || !strings.Contains(got[0].Detail, c.says) || len(got[0].Detail) > 300 {
				t.Errorf("%s: got %+v, want %s: %s", c.name, got, in.at+c.pointer, c.says)
			}
		}
	}
	for _, c := range []struct{ name, text, says string }{
		{"nothing", "", "is empty"},
		{"cut off", `{"status": "optimal"`, "cut off"},
		{"trailing", whole + ` {}`, "After the end"},
		{"not JSON", `{"a" 1}`, "Here stands '1' where a colon should stand."},
	} {
		_, err := ReadPlan([]byte(c.text))
		if got := findings(t, err); len(got) != 1 || got[0].Line < 1 || !strings.Contains(got[0].Detail, c.says) {
			t.Errorf("%s: got %+v, want a line and %q", c.name, got, c.says)
		}
	}
	for text, pointer := range map[string]string{
		`{"plan":` + whole + `,"plan":` + whole + `}`: "/plan", `{"number":1,"number":2,"plan":` + whole + `}`: "/number", `{"a":{"b":1,"b":2},"plan":` + whole + `}`: "/a/b",
	} {
		if _, err := ReadPlanOrRecord([]byte(text)); findings(t, err)[0].Pointer != pointer {
			t.Errorf("%s: got %v, want a finding at %s", text, err, pointer)
		}
	}
	if _, err := ReadPlanOrRecord([]byte(`{"number":1,"plan":` + whole + `}`)); err != nil {
		t.Errorf("a record: %v", err)
	}
}

// Of more findings than are listed the last says how many more there are, whoever finds them.
func TestMoreFindingsThanAreListedAreCounted(t *testing.T) {
	class := func(member string) string { return `{"name":"c%d","vms_per_job":"1",` + member + `"penalty":"1"}` }
	many := func(n int, class string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, class, i)
		}
		return `{"currency":"USD","supply":{"on_demand":{"price":"1","quota":null}},"classes":[` + b.String() + `]}`
	}
	for name, text := range map[string]string{
		"missing members":             many(120, class("")),
		"unknown ones":                many(120, class(`"jobs":{"min":0,"max":1},"zebra":1,`)),
		"values outside their ranges": many(120, class(`"jobs":{"min":2,"max":1},`)),
	} {
		_, err := ReadProblem([]byte(text), Limits{})
		got := findings(t, err)
		if last := got[len(got)-1]; len(got) != fault.MaxFindings || last.Code != "more" || last.Detail != "And 71 more; mend these first." {
			t.Errorf("%s: got %d findings and %+v, want %d and 71 more", name, len(got), last, fault.MaxFindings)
		}
	}
	_, err := ReadProblem([]byte(many(fault.MaxFindings, class(""))), Limits{})
	if got := findings(t, err); len(got) != fault.MaxFindings || got[len(got)-1].Code != "missing" {
		t.Errorf("got %+v, want every finding", got[len(got)-1])
	}
}
