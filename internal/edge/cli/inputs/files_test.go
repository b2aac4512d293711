package inputs

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/cli/document"
	"example.org/headroom/internal/edge/cli/remote"
)

// bound reads a file as one document and writes it as the JSON that is sent.
func bound(text string) (string, error) {
	trees, err := document.ReadTrees([]byte(text))
	if err != nil {
		return "", err
	}
	var all []string
	for _, tree := range trees {
		body, err := document.Bind(tree, documentType)
		if err != nil {
			return "", err
		}
		all = append(all, string(body))
	}
	return strings.Join(all, "\n"), nil
}

func TestFilesMeanWhatTheySay(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"words that YAML once took for truth": {
			"cluster: {name: no, description: yes}\nvm_types:\n  - name: on\n  - name: null-ish\n  - {name: y}\n  - name: 'off'\n  - name: true\n",
			`{"cluster":{"name":"no","description":"yes"},"vm_types":[{"name":"on"},{"name":"null-ish"},{"name":"y"},{"name":"off"},{"name":"true"}]}`},
		"names that look like numbers and dates": {
			"cluster: {name: 007}\nclasses:\n  - name: 1.10\n  - name: 0x1F\n  - name: 2026-01-01\n  - name: 1e3\n  - name: 1:30\n  - name: .inf\n",
			`{"cluster":{"name":"007"},"classes":[{"name":"1.10"},{"name":"0x1F"},{"name":"2026-01-01"},{"name":"1e3"},{"name":"1:30"},{"name":".inf"}]}`},
		"amounts keep their digits": {
			"cluster: {name: a}\nprices:\n  - {vm_type: s, price: 0.200000001, from: 2026-01-01, until: 2026-02-01T06:00:00+01:00}\n" +
				"  - {vm_type: s, price: '0.2', from: \"2026-02-01\", until: null}\n" +
				"  - {vm_type: s, price: 12345678901.123456789, from: 2026-02-01, until: ~}\n",
			`{"cluster":{"name":"a"},"prices":[{"vm_type":"s","price":0.200000001,"from":"2026-01-01T00:00:00Z","until":"2026-02-01T06:00:00+01:00"},{"vm_type":"s","price":"0.2","from":"2026-02-01T00:00:00Z","until":null},{"vm_type":"s","price":12345678901.123456789,"from":"2026-02-01T00:00:00Z","until":null}]}`},
		"slots and speeds by VM type": {
			"cluster: {name: a, budget: {vm_cost: 250.5, total: ~}}\nvm_types: [{name: s, spot: {max_share: 0.5}}, {name: t, spot: null}]\n" +
				"prices: [{vm_type: s, purchase: spot, price: 0.1}]\nclasses:\n" +
				"  - {name: x, slots_per_vm: {s: {map: 2, reduce: 1}, 007: {map: 4, reduce: 4}}, speed: {s: 1.5}}\n" +
				"  - {name: y, slots_per_vm: {map: 2, reduce: 1}}\n",
			`{"cluster":{"name":"a","budget":{"vm_cost":250.5,"total":null}},"vm_types":[{"name":"s","spot":{"max_share":0.5}},{"name":"t","spot":null}],"prices":[{"vm_type":"s","purchase":"spot","price":0.1}],"classes":[{"name":"x","slots_per_vm":{"s":{"map":2,"reduce":1},"007":{"map":4,"reduce":4}},"speed":{"s":1.5}},{"name":"y","slots_per_vm":{"map":2,"reduce":1}}]}`},
		"what is left out stays out": {"cluster: {name: a}\nclasses: []\n", `{"cluster":{"name":"a"},"classes":[]}`},
		"several documents": {
			"cluster: {name: a}\n---\n# nothing\n---\ncluster: {name: b}\n...\n---\n---\ncluster:\n  name: c\n",
			`{"cluster":{"name":"a"}}` + "\n" + `{"cluster":{"name":"b"}}` + "\n" + `{"cluster":{"name":"c"}}`},
		"a first mark, and Windows line ends": {"--- # one\r\ncluster:\r\n  name: a\r\n---\r\n" +
			"cluster: {name: b}\r\n", `{"cluster":{"name":"a"}}` + "\n" + `{"cluster":{"name":"b"}}`},
		"defaults by anchors": {
			"cluster: {name: a}\nclasses:\n  - &base\n    name: x\n    jobs: &j {min: 0, max: 5}\n    penalty: 5\n  - <<: *base\n    name: y\n" +
				"  - name: z\n    penalty: 6\n    <<: [*base, {deadline_s: 60}]\n    jobs: *j\n",
			`{"cluster":{"name":"a"},"classes":[{"name":"x","jobs":{"min":0,"max":5},"penalty":5},{"name":"y","jobs":{"min":0,"max":5},"penalty":5},{"name":"z","penalty":6,"jobs":{"min":0,"max":5},"deadline_s":60}]}`},
		"texts over several lines": {"cluster:\n  name: a\n  description: |\n    one: two\n    # three\n---\ncluster:\n  name: b\n" +
			"  description: >-\n    one\n    two\n", `{"cluster":{"name":"a","description":"one: two\n# three\n"}}` + "\n" +
			`{"cluster":{"name":"b","description":"one two"}}`},
		"JSON": {`{"cluster": {"name": "a", "description": "\ud83d\ude00 \u00e9"}, "vm_types": [{"name": "s", "quota": null, "in_use": true}]}`,
			`{"cluster":{"name":"a","description":"😀 é"},"vm_types":[{"name":"s","quota":null,"in_use":true}]}`},
		"what the server writes is taken back": {"cluster: {name: a, inputs_version: 3, version: 2, created_at: 2026-01-01T00:00:00Z}\n" +
			"prices: [{id: x, vm_type: s, price: 1, from: 2026-01-01}]\n",
			`{"cluster":{"name":"a","inputs_version":3,"version":2,"created_at":"2026-01-01T00:00:00Z"},"prices":[{"id":"x","vm_type":"s","price":1,"from":"2026-01-01T00:00:00Z"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := bound(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFilesAreRefusedWithTheirPlace(t *testing.T) {
	aliases := "cluster: {name: a}\nx: &a0 [" + strings.Repeat("text, ", 50) + "text]\n"
	for i := range 12 {
		aliases += fmt.Sprintf("y%d: &a%d [%s*a%d]\n", i, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), i)
	}
	for name, c := range map[string]struct{ text, want string }{
		"empty":          {"", "line 1, column 1: The file is empty"},
		"comments alone": {"# a\n", "nothing but comments"},
		"a tab":          {"cluster:\n\tname: a\n", "line 2, column 1: A tab stands here"},
		"a member twice": {"cluster:\n  name: a\n  name: b\n", `line 3, column 3: The member "name" is given twice`},
		"a member twice in JSON": {"{\"cluster\": {\"name\": \"a\",\n" +
			" \"name\": \"b\"}}", `line 2, column 2: The member "name" is given twice`},
		"an unknown member": {"cluster: {name: a}\nclasses:\n  - name: x\n" +
			"    deadline: 9\n", `line 4, column 5: There is no member "deadline" here; there are name, profile, demand, vms_per_job, calibration, deadline_s, target, confidence, promise, due_s, due, slots_per_vm, speed, jobs, penalty.`},
		"a member in the 2nd file": {"cluster: {name: a}\n---\ncluster:\n  nmae: b\n", `line 4, column 3: There is no member "nmae"`},
		"mistaken slots": {"cluster: {name: a}\nclasses:\n" +
			"  - slots_per_vm: {map: 1, redcue: 2}\n", `line 3, column 28: There is no member "redcue" here; there are map, reduce`},
		"mistaken slots of a type": {"cluster: {name: a}\nclasses:\n  - slots_per_vm:\n      s: {map: 1, reduce: 1}\n" +
			"      t: {map: 1, redcue: 1}\n", `line 5, column 19: There is no member "redcue" here`},
		"slots and slots by type": {"cluster: {name: a}\nclasses:\n  - slots_per_vm:\n      s: {map: 1, reduce: 1}\n" +
			"      map: 1\n", `line 5, column 12: Here stands a bare word where "map" needs an object`},
		"a speed in words":   {"cluster: {name: a}\nclasses:\n  - speed: {s: fast}\n", `line 3, column 16: "fast" is no number`},
		"octal":              {"cluster: {name: a}\ncontracts:\n  - vms: 010\n", `line 3, column 10: 010 starts with a zero`},
		"octal of YAML 1.2":  {"cluster: {name: a}\ncontracts:\n  - vms: 0o10\n", `"0o10" is no number`},
		"hexadecimal":        {"cluster: {name: a}\ncontracts:\n  - vms: 0x10\n", `"0x10" is no number`},
		"underscores":        {"cluster: {name: a}\ncontracts:\n  - vms: 1_000\n", `"1_000" is no number`},
		"sixty":              {"cluster: {name: a, period_s: 1:30}\n", `"1:30" is no number`},
		"a comma":            {"cluster: {name: a}\nprices:\n  - price: 0,20\n", `line 3, column 12: "0,20" is no number`},
		"infinity":           {"cluster: {name: a}\nclasses:\n  - deadline_s: .inf\n", `".inf" is no number`},
		"a number in quotes": {"cluster: {name: a, period_s: \"3600\"}\n", `"3600" stands in quotes`},
		"a truth that is none": {"cluster: {name: a}\nvm_types:\n" +
			"  - {name: s, in_use: yes}\n", `line 3, column 23: "yes" is neither true nor false`},
		"a list that is not said": {"cluster: {name: a}\n" +
			"classes:\n", `line 2, column 1: Nothing is given for "classes"; write [] for an empty list`},
		"an empty name":             {"cluster:\n  name:\n", `Nothing is given for "name"; write "" for an empty text`},
		"null in JSON":              {`{"cluster": {"name": null}}`, `line 1, column 22: Nothing is given for "name"`},
		"a date that is none":       {"cluster: {name: a}\nprices:\n  - from: 2026-02-30\n", `"2026-02-30" is no time`},
		"a time with a space":       {"cluster: {name: a}\nprices:\n  - from: 2026-02-03 06:00:00\n", `"2026-02-03 06:00:00" is no time`},
		"a list for an object":      {"cluster: [a]\n", `Here stands a list where "cluster" needs an object`},
		"an object for a list":      {"cluster: {name: a}\nclasses: {name: x}\n", `Here stands an object where "classes" needs a list`},
		"an object for a word":      {"cluster: {name: {a: b}}\n", `Here stands an object where "name" needs one word`},
		"many at once":              {"cluster: {nmae: a, period_s: x}\nzebra: 1\n", "There is no member \"zebra\""},
		"two colons":                {"cluster: name: a\n", "line 1, column 10: Here stands a second colon"},
		"an open quote":             {"cluster: {name: \"a}\n", "A quote is opened here and not closed"},
		"bad indentation":           {"cluster:\n  name: a\n description: b\n", "line 3"},
		"a reserved sign":           {"cluster: {name: a}\nvm_types:\n  - name: @a\n", "line 3, column 11: A word cannot start so"},
		"a tag":                     {"cluster: {name: !!str 5}\n", "The tag !!str is not read"},
		"a directive":               {"%YAML 1.1\n---\ncluster: {name: a}\n", "Directives such as %YAML are not read"},
		"a key with question mark":  {"? cluster\n: {name: a}\n", "question mark is not read"},
		"an unknown alias":          {"cluster: {name: *a}\n", "*a stands for nothing"},
		"an alias of itself":        {"cluster: &a {name: *a}\n", "*a stands for nothing"},
		"an alias of another file":  {"cluster: {name: &a x}\n---\ncluster: {name: *a}\n", "line 3, column 17: *a stands for nothing"},
		"a merge of a word":         {"cluster: {<<: 5}\n", "Only objects can be merged"},
		"a bomb":                    {aliases, "repeat more than 16 MiB"},
		"a deep list":               {"cluster: " + strings.Repeat("[", 100_000), "more than 32 deep"},
		"a deep list on one line":   {"cluster:\n  " + strings.Repeat("- ", 100_000) + "x\n", "more than 32 deep"},
		"a deep list in JSON":       {`{"cluster": ` + strings.Repeat("[", 100_000), "more than 32 deep"},
		"deep indentation":          {deepBlock(200), "more than 32 deep"},
		"very deep indentation":     {deepBlock(3000), "more than 32 deep"},
		"a control character":       {"cluster: {name: \"a\x01\"}\n", "line 1, column 19: A control character (U+0001) stands here"},
		"another encoding":          {"cluster: {name: \"\xe9\"}\n", "The byte 0xe9 is not UTF-8"},
		"a byte order mark":         {"\ufeffcluster: {name: a}\n", "byte order mark"},
		"cut off JSON":              {`{"cluster": {"name": "a"`, "it seems to be cut off"},
		"two JSON documents":        {`{"cluster": {"name": "a"}} {}`, "line 1, column 28: After the end of the JSON document"},
		"broken JSON":               {"{\"cluster\":\n  {name: \"a\"}}", "line 2, column 4: This is no JSON"},
		"JSON that is YAML":         {"{cluster: {name: a}}", "This is no JSON"},
		"a word where a list is":    {"cluster: {name: a}\nclasses: none\n", `Here stands a bare word where "classes" needs a list`},
		"a plain text":              {"hello\n", "Here stands a bare word"},
		"a second top-level object": {"cluster: {name: a}\n} x\n", "line"},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			got, err := bound(c.text)
			if err == nil {
				t.Fatalf("got %.200s, want an error", got)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %.500q, want %q in it", err, c.want)
			}
			if took := time.Since(began); took > 15*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func deepBlock(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// An exported file gives back every text of a name or a description, in YAML and in JSON.
func TestExportedTextsAreReadBack(t *testing.T) {
	hostile := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"no", "~", "null", "", " ", "010", "1e3", "- a", "a: b", "a #b", "#a", "&a", "*a", "!a", "|", ">", "%a", "@a", "`a", "'", "\"", "\\",
		"{a", "[a]", "a,b", "? a", "<<",
		"---", "...", "a\nb", "a\n---\nb", "\ta", "a\t", "a ", " a", "\u2028", "\u0085", "\u00a0", "\u202e", "\ufeff", "\U0001F600",
		"a: \"b\"\\n", "2026-01-01", "2026-01-01T00:00:00Z", "0x1F", "=1+1", "é", "日本", "\x7f", "$(id)", "key:", ":", "-", "--- a", "yes",
	}))
	rapid.Check(t, func(t *rapid.T) {
		d := inputs.Document{
			Cluster: inputs.NewCluster(hostile.Draw(t, "cluster")),
			VMTypes: []inputs.VMType{{Name: hostile.Draw(t, "type"), Description: hostile.Draw(t, "description")}},
			Classes: []inputs.PlannedClass{{Name: hostile.Draw(t, "class"),
				Profile: &inputs.ProfileRef{Name: hostile.Draw(t, "profile"), Version: 2}}},
		}
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]any{}
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		for _, yaml := range []bool{true, false} {
			got, file, err := exportedAgain(text, yaml)
			if err != nil {
				t.Fatalf("%v in\n%s", err, file)
			}
			if diff := cmp.Diff(withoutReadOnly(want), withoutReadOnly(got)); diff != "" {
				t.Fatalf("%s\nin\n%s", diff, file)
			}
		}
	})
}

func exportedAgain(text []byte, yaml bool) (got map[string]any, file string, err error) {
	tree, err := document.ReadJSONTree(text)
	if err != nil {
		return nil, "", err
	}
	file = exported("a cluster", tree, yaml)
	trees, err := document.ReadTrees([]byte(file))
	if err != nil {
		return nil, file, err
	}
	if len(trees) != 1 {
		return nil, file, fmt.Errorf("%d documents", len(trees))
	}
	body, err := document.Bind(trees[0], documentType)
	if err != nil {
		return nil, file, err
	}
	return got, file, json.Unmarshal(body, &got)
}

// withoutReadOnly is a document as people write it, with numbers and amounts alike.
func withoutReadOnly(x any) any {
	switch x := x.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, value := range x {
			if name != "inputs_version" {
				out[name] = withoutReadOnly(value)
			}
			if name == "penalty" || name == "price" || name == "upfront" {
				m, _ := money.Parse(fmt.Sprint(value))
				out[name] = m.String()
			}
		}
		return out
	case []any:
		for i := range x {
			x[i] = withoutReadOnly(x[i])
		}
	}
	return x
}

// A file as large as they come is read in seconds.
func TestLargeFilesAreReadQuickly(t *testing.T) {
	d := inputs.Document{Cluster: inputs.NewCluster("large")}
	for i := range 1000 {
		d.Classes = append(d.Classes, inputs.PlannedClass{Name: fmt.Sprintf("class %d", i), Profile: &inputs.ProfileRef{Name: "etl", Version: 1},
			DeadlineSeconds: 60, SlotsPerVM: capacity.SlotsPerVM{Map: 2, Reduce: 2}, Jobs: capacity.JobRange{Min: 1, Max: 2}})
	}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	got, _, err := exportedAgain(text, true)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got["classes"].([]any)); n != 1000 {
		t.Errorf("got %d classes, want 1000", n)
	}
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("1,000 classes took %v", took)
	}
}

func TestFindingsOfTheServerGetTheirPlaces(t *testing.T) {
	trees, err := document.ReadTrees([]byte("cluster: {name: a}\nclasses:\n  - name: a/b\n    jobs: {min: 3, max: 2}\n  - {name: ~x}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for pointer, want := range map[string]string{
		"/classes/0/jobs/min":  "line 4, column 17",
		"/classes/0/penalty":   "line 3, column 5",
		"/classes/1/name":      "line 5, column 12",
		"/classes/7/name":      "line 3, column 3",
		"/classes/0/jobs/nope": "line 4, column 11",
	} {
		at := trees[0].At(pointer)
		if got := fmt.Sprintf("line %d, column %d", at.Line, at.Column); got != want {
			t.Errorf("%s: got %s, want %s", pointer, got, want)
		}
	}
	p := &remote.Problem{Errors: []remote.ProblemFinding{{Pointer: ptr("/classes/0/jobs/min"), Detail: "At least 3 jobs are promised."},
		{Pointer: ptr("/name"), Detail: "No."}}}
	if got := remote.Located(&document.Node{Kind: document.ObjectNode,
		Members: []document.Member{{Name: "name", Value: &document.Node{Place: document.Place{Flag: "name"}}}}},
		p).Error(); !strings.Contains(got, "--name: No.") {
		t.Errorf("got %q", got)
	}
	if got := remote.Located(trees[0], p).Error(); !strings.Contains(got, "line 4, column 17: /classes/0/jobs/min: At least 3") {
		t.Errorf("got %q", got)
	}
}

func ptr[T any](x T) *T { return &x }

// The flat columns of every kind of thing stay as they are: tables and files are made of them.
const columnsOfTargets = "target confidence promise_factor promise_target promise_confidence promise_expected promise_low promise_high promise_executions " +
	"promise_missed promise_replications promise_seed promise_lending promise_deadline_s promise_map_work_s promise_reduce_work_s promise_fixed_s " +
	"promise_jobs_from promise_jobs_until "

func TestColumns(t *testing.T) {
	for _, c := range []struct {
		of   remote.Resource
		want string
	}{
		{classes, "name profile_name profile_version demand_map_work_s demand_reduce_work_s demand_fixed_s vms_per_job calibration_bound " +
			"calibration_factor deadline_s " + columnsOfTargets + "due_s due slots_per_vm_map slots_per_vm_reduce jobs_min jobs_max jobs_all penalty version created_at updated_at " +
			"drift_state drift_since drift_executions drift_exceeded drift_expected drift_detail"},
		{prices, "id vm_type purchase price from until version created_at updated_at"},
		{contracts, "name vm_type vms price billing upfront from until version created_at updated_at"},
		{offers, "name vm_type price upfront billing term_hours term_years max note version created_at updated_at"},
		{vmTypes, "name description quota in_use spot_max_share start_price start_lead_s vcpu memory_gib gpus version created_at updated_at"},
	} {
		var names []string
		for _, l := range remote.LeavesOf(c.of.As) {
			names = append(names, l.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: got %s, want %s", c.of.Word, got, c.want)
		}
	}
	for _, of := range []remote.Resource{clusters, classes, prices, contracts, offers, vmTypes, profiles} {
		all := map[string]bool{}
		for _, l := range remote.LeavesOf(of.As) {
			all[l.Name] = true
		}
		for _, name := range of.Columns {
			if !all[name] {
				t.Errorf("%s: the column %s is no member", of.Word, name)
			}
		}
		for _, f := range of.Flags {
			tree := &document.Node{Kind: document.ObjectNode}
			tree.Set(f, "1")
			if _, err := document.Bind(tree, of.As); err != nil && strings.Contains(err.Error(), "There is no member") {
				t.Errorf("%s: --%s gives %s, which there is not", of.Word, f.Name, f.Pointer)
			}
		}
	}
}

// Every file is read or refused, and every file that is read can be written as JSON.
func FuzzFilesAreReadOrRefused(f *testing.F) {
	for _, seed := range []string{
		"cluster: {name: a}\nclasses:\n  - &base\n    name: x\n  - <<: *base\n    name: y\n", "a: |\n  x\n---\nb: >-\n  y\n" +
			"...\n", "{\"cluster\": {\"name\": \"\\u00e9\"}}", "- [a, {b: c}]\n- 'x''y'\n- \"\\x41\"\n",
		"? a\n: b\n", "!!str a: b", "%YAML 1.2\n---\n", "a: &x\n  - *x", "\"a\" : b\n'c' : d\n", "a:\n- b\n-\n  c: d\n", "a: b # c\n" +
			"# d\n", "[a, b]: c", "a: *\n", "&: a", "<<: {a: b}\n", "a:\r\n  b\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		trees, err := document.ReadTrees(data)
		if err != nil {
			return
		}
		for _, tree := range trees {
			text := exported("fuzz", tree, false)
			if tree.Kind == document.ObjectNode && quotedEverywhere(tree) && !json.Valid([]byte(text)) {
				t.Errorf("written as %q", text)
			}
			if body, err := document.Bind(tree, documentType); err == nil && !json.Valid(body) {
				t.Errorf("bound as %q", body)
			}
		}
	})
}

// quotedEverywhere says that a tree has no bare words, which are JSON only where a number is.
func quotedEverywhere(n *document.Node) bool {
	for _, m := range n.Members {
		if !quotedEverywhere(m.Value) {
			return false
		}
	}
	for _, item := range n.Items {
		if !quotedEverywhere(item) {
			return false
		}
	}
	return n.Kind != document.BareNode
}
