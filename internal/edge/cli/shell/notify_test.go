package shell

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestNotifyWithoutAListenerSaysSo(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "nobody"))
	if err := Notify(NotifyReady); err == nil || !strings.Contains(err.Error(), "supervisor") {
		t.Errorf("got %v, want an error about the supervisor", err)
	}
	t.Setenv("NOTIFY_SOCKET", "")
	if err := Notify(NotifyReady); err != nil {
		t.Error(err)
	}
}
