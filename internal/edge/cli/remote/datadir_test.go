package remote

import (
	"os"
	"testing"
)

func TestDataDirectories(t *testing.T) {
	t.Setenv("HEADROOM_DATA_DIR", "/x")
	if got := DefaultDataDir(); got != "/x" {
		t.Errorf("got %s, want HEADROOM_DATA_DIR", got)
	}
	t.Setenv("HEADROOM_DATA_DIR", "")
	t.Setenv("HOME", "/home/somebody")
	t.Setenv("XDG_DATA_HOME", "relative")
	want := "/home/somebody/.local/share/headroom"
	if os.Geteuid() == 0 {
		want = "/var/lib/headroom"
	}
	if got := DefaultDataDir(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
