package server

import (
	"reflect"
	"strings"
	"testing"
)

func TestRulesOfSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rules string
		value any
		want  string // how the sentence begins; "" where the value may stand
	}{
		{"hostport", "127.0.0.1:8080", ""},
		{"hostport", ":8080", ""},
		{"hostport", "[::1]:8080", ""},
		{"hostport", "plan.example.com:8080", ""},
		{"hostport", "127.0.0.1", "must be an address and a port"},
		{"hostport", "127.0.0.1:0", "must be an address and a port"},
		{"hostport", "127.0.0.1:65536", "must be an address and a port"},
		{"hostport", "a b:80", "must be an address and a port"},
		{"hostport", "", "must be an address and a port"},
		{"omitempty,hostport", "", ""},
		{"omitempty,startswith=postgres", "mysql://x", "must begin with postgres://"},
		{"omitempty,startswith=hrk_,min=8", "hrk_ä", "must be at least 8 characters long"},
		{"min=4,max=1000", 3, "must be at least 4"},
		{"min=4,max=1000", 1001, "can be 1000 at most"},
		{"min=4,max=1000", 1000, ""},
		{"min=0,max=1", 1.5, "can be 1 at most"},
		{"oneof=a b", "c", "must be one of a, b"},
		{"oneof=a b", "a b", "must be one of a, b"},
		{"network", []string{"10.0.0.0/8", "::1"}, ""},
		{"network", []string{"10.0.0.0/8", "10.0.0.0/33"}, "must be addresses or networks"},
		{"host", []string{"plan.example.com", "plan", "plan.example.com."}, ""},
		{"host", []string{"plan:80"}, "must be host names without a port"},
		{"host", []string{""}, "must be host names without a port"},
		{"omitempty,url", "http://127.0.0.1:4318", ""},
		{"omitempty,url", "ftp://127.0.0.1", "must be an address such as http"},
		{"omitempty,url", "http://", "must be an address such as http"},
		{"", "anything", ""},
	} {
		if got := brokenRule(reflect.ValueOf(c.value), c.rules); (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%v by %q: got %q, want %q", c.value, c.rules, got, c.want)
		}
	}
}

// Every word of a tag is a rule that some value breaks; otherwise a misspelt one would let everything through.
func TestSettingsHaveKnownRules(t *testing.T) {
	t.Parallel()
	known := map[string]bool{"omitempty": true, "hostport": true, "startswith": true, "min": true, "max": true, "oneof": true, "network": true, "host": true, "url": true}
	tested := 0
	for f := range reflect.TypeFor[config]().Fields() {
		for rule := range strings.SplitSeq(f.Tag.Get("validate"), ",") {
			if name, _, _ := strings.Cut(rule, "="); name != "" && !known[name] {
				t.Errorf("%s has the rule %q, which there is not", f.Name, name)
			}
			tested++
		}
	}
	if tested < 20 {
		t.Errorf("%d rules were looked at", tested)
	}
}
