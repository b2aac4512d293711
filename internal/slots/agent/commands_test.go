package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCommandFiles(t *testing.T) {
	dir := t.TempDir()
	program, plain, open := filepath.Join(dir, "program"), filepath.Join(dir, "plain"), filepath.Join(dir, "open")
	for file, mode := range map[string]os.FileMode{program: 0o755, plain: 0o644, open: 0o777} {
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		text string
		says []string // empty if valid
	}{
		{`{"jobs":{"etl":{"command":["` + program + `","-x"],"limit_s":60,"grace_s":1,"directory":"/tmp","environment":{"A":"b"}},"report-*":{"command":["` + program + `"]},"*":{"command":["/bin/true"]}}}`, nil},
		{`{"jobs":{"a":{"command":["` + dir + `/none"]},"b":{"command":["` + plain + `"]},"c":{"command":["true"]},"d":{"command":[]},"e":{"command":["` + dir + `"]},"f":{"command":["` + open + `"]},"a*b":{"command":["/bin/true"]}}}`,
			[]string{`job "a": the program ` + dir + `/none cannot be run: no such file`, `chmod +x ` + plain, `"true" is not where a program is`, "it has no command", "is a directory", "chmod o-w " + open, "a * at its end"}},
		{`{"jobs":{"a":{"command":["/bin/true"],"limit_s":-1,"grace_s":1e9,"directory":"x","environment":{"HEADROOM_TASK":"1","B=":"c"}}}}`,
			[]string{"limit_s is -1", "grace_s is 1e+09", `"x" is no directory`, `"HEADROOM_TASK" cannot be set`, `"B=" cannot be set`}},
		{`{"jobs":{}}`, []string{"there is no job"}},
		{`{"job":{}}`, []string{`unknown field "job"`}},
		{`{"jobs":{"a":{"command":"/bin/true"}}}`, []string{"cannot be read"}},
		{`{"jobs":{"a":{"command":["/bin/true"]}}} {}`, []string{"something after"}},
		{``, []string{"cannot be read"}},
	} {
		file := filepath.Join(dir, "commands.json")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		commands, err := ReadCommands(file)
		if c.says == nil {
			if err != nil {
				t.Errorf("%s: %v", c.text, err)
				continue
			}
			for job, limit := range map[string]time.Duration{"etl": time.Minute, "report-2026": time.Hour, "etl2": time.Hour} {
				if got, known := commands.of(job, ""); !known || got.limit() != limit {
					t.Errorf("%s: %+v, %v", job, got, known)
				}
			}
			if got, _ := commands.of("report-2026", ""); got.Command[0] != program {
				t.Errorf("the longest name that fits: %v", got.Command)
			}
			continue
		}
		for _, say := range c.says {
			if err == nil || !strings.Contains(err.Error(), say) {
				t.Errorf("%s: want %q in %v", c.text, say, err)
			}
		}
		if err := os.Chmod(file, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadCommands(file); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
			t.Errorf("a file that everybody can write: %v", err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	classes, err := readCommands([]byte(`{"jobs":{"etl-*":{"command":["/bin/true","job"]}},"classes":{"nightly":{"command":["/bin/true","class"]},"n*":{"command":["/bin/true","pattern"]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for of, want := range map[[2]string]string{{"etl-1", "nightly"}: "job", {"x", "nightly"}: "class", {"nightly", "x"}: "", {"x", "night"}: "pattern", {"x", ""}: "", {"etl-1", ""}: "job"} {
		if got, known := classes.of(of[0], of[1]); known != (want != "") || known && got.Command[1] != want {
			t.Errorf("the job %q of the class %q: %v, want %q", of[0], of[1], got.Command, want)
		}
	}
	if _, err := readCommands([]byte(`{"classes":{"a":{"command":["true"]}}}`)); err == nil || !strings.Contains(err.Error(), `class "a"`) {
		t.Errorf("got %v", err)
	}
	if _, err := ReadCommands(filepath.Join(dir, "none")); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v", err)
	}
}

func TestOutputIsKeptInPart(t *testing.T) {
	var out tail
	for range 1000 {
		if n, err := out.Write([]byte(strings.Repeat("é", 3000))); n != 6000 || err != nil {
			t.Fatal(n, err)
		}
	}
	if _, err := out.Write([]byte("\n\x1b[31mthe end\x00\n")); err != nil {
		t.Fatal(err)
	}
	got := out.text()
	if len(out.kept) > keptOutput || len(got) > shownOutput+3 || !strings.HasSuffix(got, "[31mthe end") || strings.ContainsAny(got, "\x1b\x00\n\uFFFD") {
		t.Errorf("%d bytes are kept, and shown is %q", len(out.kept), got)
	}
}
