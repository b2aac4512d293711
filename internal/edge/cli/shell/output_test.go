package shell

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestOutputFileIsWholeOrAbsent(t *testing.T) {
	dir := t.TempDir()
	out := Output{File: filepath.Join(dir, "plan.json")}
	broken := errors.New("the disk is full")
	err := out.Deliver(nil, func(w io.Writer) error {
		_, _ = io.WriteString(w, `{"status": `)
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("got error %v, want %v", err, broken)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("%v were left behind", entries)
	}
}
