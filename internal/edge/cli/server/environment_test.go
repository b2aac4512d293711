package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnvFilesAreReadAsSystemdDoes(t *testing.T) {
	t.Parallel()
	got := parseEnvFile("# a comment\n; another\nHEADROOM_LISTEN=0.0.0.0:8080\n DATABASE_URL = \"postgres://a:b=c@db/x\" \nA='it''s'\nno line\nLONG=one\\\n two\nEMPTY=\n")
	want := map[string]string{"HEADROOM_LISTEN": "0.0.0.0:8080", "DATABASE_URL": "postgres://a:b=c@db/x", "A": "it''s", "LONG": "one two", "EMPTY": ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMistypedVariablesAreNamed(t *testing.T) {
	t.Parallel()
	got := mistyped(map[string]string{"HEADROOM_LISTN": "", "HEADROOM_LISTEN": "", "HEADROOM_CLUSTER": "", "HEADROOM_LONG": "", "HEADROOM_COPPY": "", "LISTEN": ""})
	want := []string{"HEADROOM_COPPY is no setting; did you mean HEADROOM_COPY?", "HEADROOM_LISTN is no setting; did you mean HEADROOM_LISTEN?"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The settings of the unit count where the shell and the flags name no database, and only there.
func TestSettingsOfTheUnitAreFound(t *testing.T) {
	unit := filepath.Join(t.TempDir(), "headroom.env")
	for _, name := range []string{"DATABASE_URL", "HEADROOM_DATA_DIR"} {
		t.Setenv(name, "")
	}
	read := func(args ...string) (surroundings, string, error) {
		c := doctorCommand()
		if err := c.ParseFlags(args); err != nil {
			t.Fatal(err)
		}
		s, err := surroundingsOf(c, unit)
		settings, _, _ := readConfig(c, s)
		return s, s.about(c, settings), err
	}
	if s, about, err := read(); err != nil || s.file != "" || !strings.HasPrefix(about, "the variables of this shell; they name no DATABASE_URL") {
		t.Errorf("without a unit: got %q, %q, %v", s.file, about, err)
	}
	if err := os.WriteFile(unit, []byte("HEADROOM_LISTEN=127.0.0.1:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, about, err := read(); err != nil || s.values["HEADROOM_LISTEN"] != "127.0.0.1:1" || !strings.HasSuffix(about, "the private one in /var/lib/headroom") {
		t.Errorf("of the unit: got %q, %q, %v", s.values, about, err)
	}
	if s, about, err := read("--data-dir", "/tmp/elsewhere"); err != nil || s.file != "" || !strings.HasSuffix(about, "the private one in /tmp/elsewhere") {
		t.Errorf("with a flag: got %q, %q, %v", s.file, about, err)
	}
	t.Setenv("DATABASE_URL", "postgres://db/x")
	if s, about, err := read(); err != nil || s.file != "" || about != "the variables of this shell; the database is that of DATABASE_URL" {
		t.Errorf("with a database in the environment: got %q, %q, %v", s.file, about, err)
	}
	if _, _, err := read("--env-file", filepath.Dir(unit)); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("a file that cannot be read: got %v", err)
	}
}
