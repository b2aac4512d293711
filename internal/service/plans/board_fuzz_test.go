package plans

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.org/headroom/internal/service/auth"
)

// A copy with the right sum may still hold anything: it is shown or refused.
func FuzzCopies(f *testing.F) {
	f.Add([]byte(`{"of":"x","written_at":"2026-01-01T00:00:00Z","plans":[{"cluster":"a"}],"keys":[{"key":{"id":"k","role":"admin"},"hash":"AAAA"}]}`))
	f.Add([]byte(`{"of":"x","plans":null,"keys":null}`))
	f.Fuzz(func(t *testing.T, rest []byte) {
		file := filepath.Join(t.TempDir(), "copy")
		if err := os.WriteFile(file, append([]byte(copyForm+sumOf(rest)+"\n"), rest...), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := ReadCopy(file, "x")
		if err != nil {
			return
		}
		a := New(Config{Now: time.Now, Ring: auth.NewKeyring()})
		hide, err := a.ShowCopy(c)
		if err == nil {
			hide()
		}
	})
}
