package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/headroom/internal/slots/sim"
)

// headroomSays runs the program: its exit code and both outputs.
func headroomSays(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, trouble bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(""), &out, &trouble)
	return code, out.String(), trouble.String()
}

func TestInterferenceOnTheCommandLine(t *testing.T) {
	code, stdout, stderr := headroomSays(t, "interference", "--per-second", "300", "--service", "exponential:2", "--requests", "50000",
		"--policy", "background", "--policy", "nonpreemptive:10", "--policy", "fair", "--policy", "anti-starvation:50/1000", "--ceiling-cores", "2", "-o", "json")
	var a sim.InterferenceAnswer
	if err := json.Unmarshal([]byte(stdout), &a); code != 0 || err != nil || len(a.Policies) != 4 || *a.Policies[1].Theory.MeanMs != 10 || !a.Policies[2].Unstable || a.Policies[3].Policy.WindowMs != 1000 {
		t.Fatalf("exit code %d, %v, %+v\n%s", code, err, a, stderr)
	}
	// A document asks the same, and gets the same.
	file := filepath.Join(t.TempDir(), "load.json")
	if err := os.WriteFile(file, []byte(`{"interactive":{"per_second":300,"service":{"kind":"exponential","mean_ms":2}},"requests":50000,"host":{"ceiling_cores":2},
		"policies":[{"kind":"background"},{"kind":"nonpreemptive","slice_ms":10},{"kind":"fair"},{"kind":"anti_starvation","floor_ms":50,"window_ms":1000}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, same, _ := headroomSays(t, "interference", file, "-o", "json"); code != 0 || same != stdout {
		t.Errorf("exit code %d; the document's answer is %s", code, same)
	}
	for _, form := range []string{"table", "csv"} {
		code, text, _ := headroomSays(t, "interference", file, "-o", form)
		if code != 0 || !strings.Contains(text, "unstable") || !strings.Contains(text, "cpu.idle") {
			t.Errorf("%s: exit code %d: %s", form, code, text)
		}
	}
	for form, want := range map[string]string{"table": "× 1.6", "csv": "terasort,50,1.6,7.8125,7\npi,0,1,0,\n", "json": `"saturated_at": 7`} {
		code, text, stderr := headroomSays(t, "interference", "--io-cap", "60", "--data-nodes", "4", "--reader", "terasort:50:1.6", "--reader", "pi:0", "-o", form)
		if code != 0 || !strings.Contains(text, want) {
			t.Errorf("%s: exit code %d: %s%s", form, code, text, stderr)
		}
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--io-cap", "60"}, 2, "--reader terasort:12.5"},
		{[]string{"--reader", "terasort:12.5"}, 2, "--io-cap 60"},
		{[]string{"--io-cap", "60", "--reader", "terasort"}, 2, `--reader is "terasort"`},
		{[]string{"--io-cap", "-60", "--reader", "terasort:1"}, 1, "/data_nodes/cap_mb_s"},
		{[]string{"--io-cap", "60", "--reader", "terasort:1", "--policy", "fair"}, 2, "--service exponential:2"},
		{[]string{"--per-second", "300"}, 2, "--service exponential:2"},
		{[]string{"--per-second", "300", "--service", "gamma:2"}, 2, `--service is "gamma:2"`},
		{[]string{"--per-second", "300", "--service", "constant:2,3"}, 2, "give exponential:MS"},
		{[]string{"--per-second", "300", "--service", "constant:2", "--policy", "anti-starvation:50"}, 2, "anti-starvation:FLOOR/WINDOW"},
		{[]string{"--per-second", "300", "--service", "constant:2", "--policy", "background:3"}, 2, "--policy is"},
		{[]string{"--per-second", "NaN", "--service", "constant:2"}, 1, "give a finite number"},
		{[]string{"--per-second", "300", "--service", "constant:2", "--policy", "anti-starvation:50/10"}, 1, "no more than the window"},
		{[]string{"--seed", "3", file}, 2, "--seed stands in the file"},
		{[]string{"--per-second", "1", "--service", "constant:2", "--requests", "5000000"}, 1, "2500000 at most"},
	} {
		code, _, stderr := headroomSays(t, append([]string{"lab", "interference"}, c.args...)...)
		if code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%q: exit code %d, want %d; it says %s", c.args, code, c.code, stderr)
		}
	}
}
