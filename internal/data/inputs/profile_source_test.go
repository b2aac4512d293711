package inputs

import (
	"encoding/json"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"strings"
	"testing"
	"time"
)

func TestSources(t *testing.T) {
	version := func(source string) ProfileVersion {
		return ProfileVersion{Name: "etl", Version: 1, Profile: capacity.Profile{Stages: []capacity.Stage{{Name: "", Tasks: 2, AvgSeconds: 1, MaxSeconds: 1}}}, Source: json.RawMessage(source)}
	}
	for _, c := range []struct{ source, says string }{
		{`{}`, ""},
		{`{"job":"etl","executions":["application_1","application_2"],"from":1767225600123456789,"share":0.1}`, ""},
		{`null`, "no JSON object"}, {`[]`, "no JSON object"}, {`"etl"`, "no JSON object"},
		{`{"n":1e31}`, "the number 1e31"}, {`{"n":[{"m":1e-99999}]}`, "1e-99999"}, {`{"n":1e99999}`, "1e99999"},
		{`{"n":"a\u0000b"}`, "NUL"}, {`{"a\u0000b":1}`, "NUL"},
		{`{"n":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`, "nested"},
		{`{"n":"` + strings.Repeat("x", maxSource) + `"}`, "at most 65536"},
	} {
		err := version(c.source).Validate()
		switch {
		case c.says == "" && err != nil:
			t.Errorf("%.60s: %v", c.source, err)
		case c.says != "":
			got := fault.Findings(err)
			if len(got) != 1 || got[0].Pointer != "/source" || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%.60s: %v, want /source saying %q", c.source, err, c.says)
			}
		}
	}
	one, other := version(`{"b": [1.50, 2e2, -0], "a": "<é"}`), version("{\"a\":\"\\u003c\\u00e9\",\n\"b\":[1.5,200,0]}")
	other.CreatedAt = time.Unix(1, 0)
	if !one.Says(other) || len(Changes(Document{Cluster: NewCluster("c"), Profiles: []ProfileVersion{one}}, Document{Cluster: NewCluster("c"), Profiles: []ProfileVersion{other}})) > 0 {
		t.Errorf("%s and %s are told apart", one.Source, other.Source)
	}
	for i, differs := range []ProfileVersion{version(`{"b":[1.5,200,0],"a":"<e"}`), version(``), {Name: "etl", Version: 1, Profile: capacity.Profile{Stages: []capacity.Stage{{Name: "", Tasks: 2, AvgSeconds: 1, MaxSeconds: 1.5}}}, Source: one.Source}} {
		if one.Says(differs) {
			t.Errorf("%s and %s seem the same (%d)", one.Source, differs.Source, i)
		}
	}
	text, err := json.Marshal(version(``))
	if err != nil || strings.Contains(string(text), "source") {
		t.Errorf("a version without a source is written %s (%v)", text, err)
	}
}
