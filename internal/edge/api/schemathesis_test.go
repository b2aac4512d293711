package api

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Schemathesis makes requests of its own from openapi.yaml, against a cluster with everything in it: none is answered as a mistake of the
// server, nor with a status that the contract does not list. It takes packages from the network.
func TestSchemathesis(t *testing.T) {
	if os.Getenv("HEADROOM_LONG") == "" {
		t.Skip("make test-long runs it: it installs Schemathesis from the network, and takes minutes")
	}
	t.Parallel()
	s := newService(t, solved(t))
	s.cluster("mine")
	s.planned("mine")
	s.ask(s.admin, "POST", "/v1/clusters/mine/plans", nil).want(t, 201)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "schemathesis"))); err != nil {
		t.Fatal(err)
	}
	contract, err := filepath.Abs("../../../openapi/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), name, args...)
		c.Dir = dir
		said, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%.30000s", name, strings.Join(args, " "), err, said)
		}
		return string(said)
	}
	programs := filepath.Join(dir, "environment", "bin")
	run("python3", "-m", "venv", "environment")
	run(filepath.Join(programs, "pip"), "install", "--quiet", "--requirement", "requirements.txt")
	said := run(filepath.Join(programs, "st"), "--config-file", "schemathesis.toml", "run", contract, "--url", s.url, "--header", "Authorization: Bearer "+s.admin,
		"--checks", "not_a_server_error,status_code_conformance", "--phases", "examples,coverage,fuzzing", "--max-examples", "25", "--seed", "28",
		"--continue-on-failure", "--request-timeout", "60", "--warnings", "off", "--generation-with-security-parameters", "false", "--generation-database", "none", "--no-color",
		"--exclude-operation-id", "watchPlans", "--exclude-operation-id", "watchRun") // they never end
	statuses, sent := map[string]int{}, 0
	for _, found := range regexp.MustCompile(`"status":(\d{3}),`).FindAllStringSubmatch(s.log.String(), -1) {
		statuses[found[1]]++
		sent++
	}
	t.Logf("%v\n%s", statuses, said[strings.LastIndex(said, "SUMMARY"):])
	passed := sent - statuses["401"] - statuses["429"] // the rest has another key or none
	if good := statuses["200"] + statuses["201"] + statuses["202"] + statuses["204"]; good < passed/50 || passed < sent/3 {
		t.Errorf("too few of %d requests were good enough to be worked on", sent)
	}
	t.Attr("R14", fmt.Sprintf("Schemathesis: %d requests, %d of them past the key, 0 of status 5xx, none that the contract does not list", sent, passed))
}
