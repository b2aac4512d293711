package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What clients would miss is named; what they would not is let pass.
func TestChangesAreJudged(t *testing.T) {
	source, err := os.ReadFile("../../openapi/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	before, err := factsOf(source)
	if err != nil || len(before) < 3000 {
		t.Fatalf("%d facts, %v", len(before), err)
	}
	const place = "      properties:\n        class: {$ref: '#/components/schemas/Name'}\n        holder: {type: string, maxLength: 200, default: \"\", " +
		"description: \"The job's own id, for people who look at the list.\", example: \"cron@host-7 4711\"}\n"
	for _, c := range []struct{ name, from, to, want string }{
		{"nothing", "", "", ""},
		{"a new optional member", "      required: [class]\n" + place, "      required: [class]\n" + place + "        colour: {type: string}\n", ""},
		{"a new value", "enum: [optimal, feasible, infeasible]", "enum: [optimal, feasible, infeasible, late]", ""},
		{"no longer needed", "required: [currency, supply, classes]", "required: [currency, supply]", ""},
		{"an operation is gone", "  /v1/solve:\n    post:", "  /v1/solved:\n    post:", "operation is gone or changed: POST /v1/solve"},
		{"another method", "  /v1/solve:\n    post:", "  /v1/solve:\n    put:", "operation is gone or changed: POST /v1/solve"},
		{"a member of an answer is gone", "        running: {type: integer, format: int64, description: \"The number of running jobs of the class, an admitted one included.\"}\n", "",
			"member is gone or changed: Admission.running integer"},
		{"another type", "admitted: {type: boolean, description: \"Whether it may start.\"}", "admitted: {type: string, description: \"Whether it may start.\"}",
			"member is gone or changed: Admission.admitted boolean"},
		{"a value is gone", "enum: [optimal, feasible, infeasible]", "enum: [optimal, infeasible]", "value is gone or changed: Status feasible"},
		{"needed now", "required: [currency, supply, classes]", "required: [currency, supply, classes, period_s]", "needed now: Problem.period_s"},
		{"a new member that is needed", "      required: [class]\n" + place, "      required: [class, colour]\n" + place + "        colour: {type: string}\n",
			"needed now: AdmissionRequest.colour"},
		{"an answer has more for certain", "required: [admitted, class, plan_number, running, limit]", "required: [admitted, class, plan_number, running, limit, id]", ""},
	} {
		if c.from != "" && strings.Count(string(source), c.from) < 1 {
			t.Fatalf("%s: openapi.yaml has no %q", c.name, c.from)
		}
		now, err := factsOf([]byte(strings.Replace(string(source), c.from, c.to, 1)))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		lost := strings.Join(broken(before, now), "\n")
		if c.want == "" && lost != "" || !strings.Contains(lost, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, lost, c.want)
		}
	}
}

// The last tag counts, and without one the record.
func TestEarlierContracts(t *testing.T) {
	source, err := os.ReadFile("../../openapi/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write(contractFile, string(source))
	git("init", "--quiet")
	git("add", ".")
	git("commit", "--quiet", "--message", "first")
	if err := run(false, false); err == nil || !strings.Contains(err.Error(), "neither a tag nor") {
		t.Errorf("without anything to compare with: %v", err)
	}
	if err := run(true, false); err != nil {
		t.Fatal(err)
	}
	if err := run(false, false); err != nil {
		t.Errorf("as recorded: %v", err)
	}
	more := strings.Replace(string(source), "  /v1/solve:\n", "  /v1/solved:\n    post: {operationId: solved, responses: {'204': {description: Done.}}}\n  /v1/solve:\n", 1)
	write(contractFile, more)
	if err := run(false, false); err == nil || !strings.Contains(err.Error(), "make generate") || !strings.Contains(err.Error(), "/v1/solved") {
		t.Errorf("more than recorded: %v", err)
	}
	if err := run(false, true); err != nil {
		t.Fatal(err)
	}
	if err := run(false, false); err != nil {
		t.Errorf("with what is new recorded: %v", err)
	}
	write(contractFile, string(source))
	if err := run(false, true); err != nil {
		t.Fatal(err)
	}
	if err := run(false, false); err == nil || !strings.Contains(err.Error(), "/v1/solved") {
		t.Errorf("what was recorded is gone: %v", err)
	}
	if err := run(true, false); err != nil {
		t.Fatal(err)
	}
	less := strings.Replace(string(source), "  /v1/solve:\n    post:", "  /v1/solved:\n    post:", 1)
	write(contractFile, less)
	if err := run(false, false); err == nil || !strings.Contains(err.Error(), "as of openapi/v1.txt") || !strings.Contains(err.Error(), "POST /v1/solve\n") {
		t.Errorf("another than recorded: %v", err)
	}
	git("tag", "v1.0.0") // of the first commit
	if err := run(true, false); err != nil {
		t.Fatal(err)
	}
	if err := run(false, false); err == nil || !strings.Contains(err.Error(), "as of v1.0.0") {
		t.Errorf("another than tagged, though recorded: %v", err)
	}
	write(contractFile, string(source))
	if err := run(false, false); err != nil {
		t.Errorf("as tagged: %v", err)
	}
}
