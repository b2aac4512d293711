package deploy_test

import (
	"os/exec"
	"testing"
)

// Prometheus' own tool takes the rules, and tries them on series of servers that are cut off, fail and idle.
func TestPrometheusTakesTheRules(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed; Debian's package prometheus has it")
	}
	for _, args := range [][]string{{"check", "rules", "prometheus/rules.yaml"}, {"test", "rules", "testdata/rules_test.yaml"}} {
		if out, err := exec.CommandContext(t.Context(), promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
}
