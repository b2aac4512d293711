package root

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/shell"
)

// A command that is asked for is made without the others; help has all of them.
func TestStartMakesOneCommand(t *testing.T) {
	all := len(Command().Commands())
	for _, args := range [][]string{{"solve", "x.json"}, {"cluster", "list"}, {"help"}, {"--help"}, {"solv"}, {"__complete", ""}} {
		root := Command(args...)
		made := len(root.Commands())
		found, _, err := root.Find(args[:1])
		named, none := err == nil && found != root, args[0] == "--help"
		if named && made != 1 || none && made != 0 || !named && !none && made != all {
			t.Errorf("%q: %d of %d commands are made", args, made, all)
		}
	}
}

// The first screen fits on a small terminal and names every command that is not hidden.
func TestFirstScreen(t *testing.T) {
	var screen bytes.Buffer
	if code := Run(t.Context(), []string{"--help"}, strings.NewReader(""), &screen, &screen); code != shell.ExitOK {
		t.Fatalf("exit code %d", code)
	}
	lines := strings.Split(strings.TrimSpace(screen.String()), "\n")
	if len(lines) > 30 {
		t.Errorf("the first screen has %d lines", len(lines))
	}
	for _, line := range lines {
		if len(line) > 110 {
			t.Errorf("%d characters: %s", len(line), line)
		}
	}
	for _, g := range groups {
		for _, one := range g.commands {
			if c := one.make(); c.Name() != one.name || g.title != "" && c.Short != one.short {
				t.Errorf("the first screen says %q of %s, whose help says %q", one.short, one.name, c.Short)
			}
		}
	}
	names := 0
	for _, c := range Command().Commands() {
		if !strings.Contains(screen.String(), c.Name()) {
			t.Errorf("the first screen does not name %s", c.Name())
		}
		names++
	}
	if names < 15 || names > 19 { // with version, which stands in a sentence
		t.Errorf("%d commands stand at the top", names)
	}
}

// Every name before leads to a command of today, has none of its own, and is told.
func TestNamesBefore(t *testing.T) {
	for before, today := range renamed {
		root := Command()
		c, rest, err := root.Find(strings.Fields(today))
		if err != nil || len(rest) > 0 || c.CommandPath() != "headroom "+today {
			t.Errorf("%q leads to %q, which is no command", before, today)
		}
		if c, rest, err := root.Find(strings.Fields(before)); err == nil && len(rest) == 0 && c != root {
			t.Errorf("%q is still a command", before)
		}
	}
	var out, trouble bytes.Buffer
	code := Run(t.Context(), []string{"ask", "one-more", "--class", "a", "/nowhere.json"}, strings.NewReader(""), &out, &trouble)
	if code != shell.ExitError || !strings.Contains(trouble.String(), `ask one-more" is "headroom whatif one-more" now`) {
		t.Errorf("exit code %d, %s", code, &trouble)
	}
}

// Words that people try first lead to a command that exists, and are none themselves.
func TestWordsMeant(t *testing.T) {
	for word, path := range meant {
		if c, rest, err := Command().Find(strings.Fields(path)); err != nil || len(rest) > 0 || c.CommandPath() != "headroom "+path {
			t.Errorf("%q means %q, which is no command", word, path)
		}
		if known(word) || renamed[word] != "" {
			t.Errorf("%q is a command", word)
		}
	}
	for _, ask := range []struct{ args, want string }{
		{"cost", `Did you mean "headroom whatif months"?`}, {"class show", "did you mean get?"}, {"supply price add", "did you mean create?"},
		{"cluster lst", "did you mean list or get?"}, {"slove", "did you mean solve or "}, {"vresion", "did you mean version"},
	} {
		var out, trouble bytes.Buffer
		code := Run(t.Context(), strings.Fields(ask.args), strings.NewReader(""), &out, &trouble)
		if code != shell.ExitUsage || !strings.Contains(trouble.String(), ask.want) {
			t.Errorf("%s: exit code %d, %s", ask.args, code, &trouble)
		}
	}
}

// One act has one verb in all commands.
func TestOneVerbPerAct(t *testing.T) {
	other := []string{"show", "add", "make", "new", "replace", "set", "put", "update", "remove", "unset", "diff"}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if slices.Contains(other, c.Name()) {
			t.Errorf("%s: create, get, list, edit, delete and compare are the verbs", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(Command())
}
