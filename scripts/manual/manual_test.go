package manual

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// Every command and each of its flags stands on the page and in the pages for man.
func TestEveryFlagHasItsLine(t *testing.T) {
	root, err := Commands()
	if err != nil {
		t.Fatal(err)
	}
	page, pages := Markdown(root), Pages(root, "v1.2.3", time.Unix(1_700_000_000, 0).UTC())
	commands, lines := 0, 0
	for _, top := range root.Commands() {
		man := pages["headroom-"+top.Name()+".1"]
		walk(top, func(c *cobra.Command) {
			commands++
			if !strings.Contains(page, "## "+c.CommandPath()+"\n") {
				t.Errorf("the page has no %s", c.CommandPath())
			}
			for _, f := range append(flags(c.PersistentFlags()), flags(c.LocalNonPersistentFlags())...) {
				lines++
				if !strings.Contains(page, "| `"+f.name) || !strings.Contains(man, `\fB`+roff(f.name)+`\fR`) {
					t.Errorf("%s: %s has no line", c.CommandPath(), f.name)
				}
			}
		})
	}
	if commands < 150 || lines < 500 {
		t.Errorf("%d commands and %d flags were found", commands, lines)
	}
	if _, err := exec.LookPath("man"); err != nil {
		t.Skip("man is not installed; its pages are not rendered")
	}
	for name, text := range pages {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		render := exec.Command("man", "--warnings", "--local-file", file)
		render.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "MANWIDTH=120")
		var trouble strings.Builder
		render.Stderr = &trouble
		out, err := render.Output()
		if err != nil || trouble.Len() > 0 || !strings.Contains(string(out), "DESCRIPTION") {
			t.Errorf("%s: %v, %s", name, err, trouble.String())
		}
	}
}
