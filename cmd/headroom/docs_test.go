package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.org/headroom/internal/core/lp/worker"
	"example.org/headroom/internal/edge/cli/root"
	"example.org/headroom/internal/test/await"
)

// repository is the path of the repository's root from this package.
const repository = "../.."

// page is one Markdown file, split into fenced blocks and prose.
type page struct {
	name   string // from the repository's root
	blocks []block
	prose  string // the text without its fenced blocks
}

// serverBlock marks blocks whose commands ask a server.
const serverBlock = "console server"

type block struct {
	line     int // of its first line of text
	language string
	text     string
}

func readPage(t *testing.T, name string) page {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, name))
	if err != nil {
		t.Fatal(err)
	}
	p := page{name: name}
	var prose strings.Builder
	var open *block
	for i, line := range strings.Split(string(text), "\n") {
		language, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && open == nil:
			open = &block{line: i + 2, language: language}
		case fence:
			p.blocks = append(p.blocks, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		default:
			prose.WriteString(line + "\n")
		}
	}
	if open != nil {
		t.Errorf("%s: the block that begins at line %d is never closed", name, open.line)
	}
	p.prose = prose.String()
	return p
}

// documentation returns README.md, CONTRIBUTING.md and every page of docs.
func documentation(t *testing.T) []page {
	t.Helper()
	pages := []page{readPage(t, "README.md"), readPage(t, "CONTRIBUTING.md")}
	err := fs.WalkDir(os.DirFS(repository), "docs", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".md") {
			pages = append(pages, readPage(t, name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// changing matches what differs from run to run and from machine to machine.
var changing = regexp.MustCompile(`\b[0-9.,]+ (ms\b|s of processor)|\bcbc [0-9.]+`)

// sameOutput compares a printed output with that of a command. A line "…" stands
// for any lines, and " …" at the end of a line for the rest of it.
func sameOutput(printed, got string) bool {
	var pattern strings.Builder
	for line := range strings.Lines(changing.ReplaceAllString(strings.TrimSpace(printed)+"\n", "#")) {
		line = strings.TrimRight(line, " \n")
		if begin, cut := strings.CutSuffix(line, " …"); cut {
			pattern.WriteString(regexp.QuoteMeta(begin) + `.*\n`)
		} else if line == "…" {
			pattern.WriteString(`(?s:.*)`)
		} else {
			pattern.WriteString(regexp.QuoteMeta(line) + ` *\n`)
		}
	}
	return regexp.MustCompile(`^` + pattern.String() + `$`).MatchString(changing.ReplaceAllString(strings.TrimSpace(got)+"\n", "#"))
}

func TestOutputsAreCompared(t *testing.T) {
	for _, c := range []struct {
		printed, got string
		want         bool
	}{
		{"a\nb", "a\nb\n", true},
		{"took 3 ms; 5 VMs", "took 12.5 ms; 5 VMs", true},
		{"took 3 ms; 5 VMs", "took 3 ms; 6 VMs", false},
		{"a\n…\nd", "a\nb\nc\nd", true},
		{"a\n…", "a\nb", true},
		{"a …\nd", "a b c\nd", true},
		{"a …\nd", "a b\nc\nd", false},
		{"a", "a\nb", false},
		{"a\n…\nd", "a\nb\nc", false},
	} {
		if got := sameOutput(c.printed, c.got); got != c.want {
			t.Errorf("%q printed, %q written: %v, want %v", c.printed, c.got, got, c.want)
		}
	}
}

// Every command after "$ " in a console block runs, and writes what is printed below it. The commands of a page run
// one after the other in a folder with bin/headroom and openapi. Blocks "console server" ask a server, one for each page.
// No other test runs beside it, which would take the time of commands that print the best plan of a few seconds.
func TestPrintedOutputsAreReal(t *testing.T) {
	program, err := exec.LookPath("headroom")
	if err != nil {
		t.Fatal(err)
	}
	contract, err := filepath.Abs(filepath.Join(repository, "openapi"))
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, p := range documentation(t) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
			t.Fatal(err)
		}
		for from, to := range map[string]string{program: "bin/headroom", contract: "openapi"} {
			if err := os.Symlink(from, filepath.Join(dir, to)); err != nil {
				t.Fatal(err)
			}
		}
		data, address := dir, ""
		for _, b := range p.blocks {
			if b.language != "console" && b.language != serverBlock {
				continue
			}
			if b.language == serverBlock && address == "" {
				h := startHomed(t)
				data, address = h.dir, h.address
			}
			for i, step := range strings.Split("\n"+b.text, "\n$ ") {
				if i == 0 {
					if strings.TrimSpace(step) != "" {
						t.Errorf("%s:%d: a console block begins with a command after \"$ \"", p.name, b.line)
					}
					continue
				}
				line, printed, _ := strings.Cut(step, "\n")
				var got []byte
				again := strings.HasPrefix(line, "bin/headroom solve ") || strings.HasPrefix(line, "bin/headroom plan get ") || strings.HasPrefix(line, "bin/headroom whatif ")
				for range await.Tries(3 * time.Minute) { // on a busy machine there is little time for CBC, a plan or a schedule
					c := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(line, "127.0.0.1:8080", address))
					c.Dir, c.Env = dir, append(os.Environ(), worker.ProgramVariable+"="+os.Getenv(worker.ProgramVariable), "HEADROOM_DATA_DIR="+data)
					if got, err = c.CombinedOutput(); err != nil || sameOutput(printed, string(got)) || !again {
						break
					}
				}
				if err != nil {
					t.Errorf("%s:%d: %s: %v\n%s", p.name, b.line, line, err, got)
				} else if !sameOutput(printed, string(got)) {
					t.Errorf("%s:%d: %s\nprinted\n%s\nwritten\n%s", p.name, b.line, line, printed, got)
				}
				ran++
			}
		}
	}
	if ran < 5 {
		t.Errorf("%d commands of the documentation were run; are its blocks marked \"console\"?", ran)
	}
}

var (
	inlineCode = regexp.MustCompile("`([^`\n]+)`")
	comments   = regexp.MustCompile(`(^|\s)#\s.*`)
	// invocation finds headroom and its arguments, up to what ends a command in a shell.
	invocation = regexp.MustCompile(`(?:^|[\s(]|bin/)headroom((?:[ =]|'[^']*'|"[^"]*"|[^\s'"|><;&)])+)`)
	// otherProgram finds commands in which headroom is the name of an image, a release or a database.
	otherProgram = regexp.MustCompile(`^(docker|helm|pg_dump|pg_restore|createdb) `)
	shellWords   = regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"])+`)
)

// codeOf returns the lines of code of a page: those of shell and console blocks and the code within the prose.
func codeOf(p page) (lines []string) {
	for _, b := range p.blocks {
		if b.language != "sh" && b.language != "console" && b.language != serverBlock {
			continue
		}
		for _, line := range strings.Split(b.text, "\n") {
			command, isCommand := strings.CutPrefix(line, "$ ")
			if b.language == "sh" || isCommand {
				lines = append(lines, comments.ReplaceAllString(command, ""))
			}
		}
	}
	for _, m := range inlineCode.FindAllStringSubmatch(p.prose, -1) {
		lines = append(lines, m[1])
	}
	return lines
}

// misused says what is wrong with a command that is written as these words, its flags and arguments included.
func misused(args []string) error {
	root := root.Command()
	root.InitDefaultCompletionCmd()
	c, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	if err := c.ParseFlags(rest); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil
		}
		return err
	}
	given := c.Flags().Args()
	if len(given) == 0 {
		return nil // the prose names a command without its arguments
	}
	if c.HasSubCommands() && !strings.Contains(c.Use, " ") {
		return fmt.Errorf("%q has no command %q", c.CommandPath(), given[0])
	}
	return c.ValidateArgs(given)
}

// Commands that need a server are not run; their verbs, flags and numbers of arguments are checked.
func TestDocumentedCommandsExist(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, p := range documentation(t) {
		for _, line := range codeOf(p) {
			if otherProgram.MatchString(line) {
				continue
			}
			for _, m := range invocation.FindAllStringSubmatch(line, -1) {
				args := shellWords.FindAllString(m[1], -1)
				for i := range args {
					args[i] = strings.NewReplacer("'", "", `"`, "").Replace(args[i])
				}
				if len(args) == 0 || m[1][0] != ' ' {
					continue // a path such as deploy/helm/headroom.yaml
				}
				if err := misused(args); err != nil {
					t.Errorf("%s: %s: %v", p.name, line, err)
				}
				checked++
			}
		}
	}
	if checked < 50 {
		t.Errorf("%d commands were found", checked)
	}
}

// alertCommand finds the commands of an alert, which are written as code or in quotes.
var alertCommand = regexp.MustCompile("[`\"](headroom [^`]*?)(?:`|\" )")

// The commands of alerts run as they are written: with the cluster, the class or the webhook that the alert is about.
func TestCommandsOfAlertsAreWhole(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(repository, "deploy/prometheus/rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(strings.TrimSpace(line), "summary:") && !strings.HasPrefix(strings.TrimSpace(line), "runbook:") {
			continue
		}
		filled := regexp.MustCompile(`\{\{ \$labels\.(\w+) \}\}`).ReplaceAllString(line, "$1")
		for _, m := range alertCommand.FindAllStringSubmatch(filled, -1) {
			args := strings.Fields(strings.ReplaceAll(m[1], `"`, ""))[1:]
			if err := misused(args); err != nil {
				t.Errorf("%s: %v", m[1], err)
				continue
			}
			c, rest, err := root.Command().Find(args)
			if err == nil {
				err = c.ParseFlags(rest)
			}
			if err == nil {
				err = errors.Join(c.ValidateArgs(c.Flags().Args()), c.ValidateRequiredFlags())
			}
			if err != nil {
				t.Errorf("%s: %v", m[1], err)
			}
			checked++
		}
	}
	if checked < 20 {
		t.Errorf("%d commands were found", checked)
	}
}

// Every command shows how it is used, in words that it takes itself.
func TestEveryCommandHasAnExample(t *testing.T) {
	t.Parallel()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if c.HasSubCommands() && !strings.Contains(c.Use, " ") {
			return
		}
		used := 0
		for _, m := range invocation.FindAllStringSubmatch(strings.ReplaceAll(comments.ReplaceAllString(c.Example, ""), "$(", "\n"), -1) {
			args := shellWords.FindAllString(m[1], -1)
			for i := range args {
				args[i] = strings.NewReplacer("'", "", `"`, "").Replace(args[i])
			}
			if err := misused(args); err != nil {
				t.Errorf("%s: %q: %v", c.CommandPath(), m[0], err)
			}
			if strings.HasPrefix(strings.Join(args, " ")+" ", strings.TrimPrefix(c.CommandPath(), "headroom ")+" ") {
				used++
			}
		}
		if used == 0 {
			t.Errorf("%s has no example of its own: %q", c.CommandPath(), c.Example)
		}
	}
	walk(root.Command())
}

// quoted matches words in double quotes, as help names commands.
var quoted = regexp.MustCompile(`"([a-z][^"\n]*)"`)

// formerName says under which name of before a text names a command, by itself or below a group.
func formerName(text string, groups []string) (hint string) {
	words, _, _ := strings.Cut(text, " -")
	words, whole := strings.CutPrefix(words, "headroom ")
	given := strings.Fields(words)
	if len(given) < 2 && !whole { // a word alone may be a file, a member or a target of make
		return ""
	}
	for _, group := range groups {
		above := strings.Fields(group)
		_, known := root.Renamed(above)
		if _, hint = root.Renamed(append(above, given...)); hint != "" && hint != known {
			return hint
		}
	}
	return ""
}

// Neither help nor documentation has names of before, also where a command's group goes without saying.
func TestNoCommandIsNamedAsBefore(t *testing.T) {
	t.Parallel()
	groups := []string{""}
	var all []*cobra.Command
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		all = append(all, c)
		if c.HasSubCommands() && c.HasParent() {
			groups = append(groups, strings.TrimPrefix(c.CommandPath(), "headroom "), c.Name())
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root.Command())
	for _, c := range all {
		help := c.Short + "\n" + strings.ReplaceAll(c.Long, "\n", " ")
		c.Flags().VisitAll(func(f *pflag.Flag) { help += "\n" + f.Usage })
		for _, m := range quoted.FindAllStringSubmatch(help, -1) {
			if hint := formerName(m[1], groups); hint != "" {
				t.Errorf("the help of %q has %s: %s", c.CommandPath(), m[0], hint)
			}
		}
	}
	for _, p := range documentation(t) {
		if strings.HasPrefix(p.name, "docs/decisions/") { // they say what was so when they were taken
			continue
		}
		for _, m := range inlineCode.FindAllStringSubmatch(p.prose, -1) {
			if hint := formerName(m[1], groups); hint != "" && !strings.HasPrefix(m[1], "make ") {
				t.Errorf("%s has %s: %s", p.name, m[0], hint)
			}
		}
	}
	for text, want := range map[string]bool{"policy set --dry-run": true, "headroom forecast list -o csv": true, "policy edit": false, "get": false} {
		if hint := formerName(text, groups); (hint != "") != want {
			t.Errorf("%s: %q", text, hint)
		}
	}
}

func TestMisusedCommandsAreFound(t *testing.T) {
	for text, want := range map[string]bool{
		"plan get demo": false, "plan get demo --at-noon": true, "plan got demo": true, "slove x.json": true,
		"solve a.json b.json": true, "plan explain": false, "completion bash": false, "plan --help": false, "live admission run shop etl --wait 2h -- ./etl.sh --flag": false,
	} {
		if err := misused(strings.Fields(text)); (err != nil) != want {
			t.Errorf("headroom %s: %v", text, err)
		}
	}
}

var (
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading   = regexp.MustCompile(`(?m)^#+ (.+)$`)
	forAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	filePath  = regexp.MustCompile(`^(?:\.ci|cmd|deploy|docs|internal|migrations|openapi|scripts|tools)/[\w./-]+$`)
	target    = regexp.MustCompile(`^make ([a-z-]+)`)
)

// anchors returns the names under which the headings of a page can be linked.
func anchors(p page) (names []string) {
	for _, m := range heading.FindAllStringSubmatch(p.prose, -1) {
		names = append(names, strings.ReplaceAll(forAnchor.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return names
}

func TestLinksOfTheDocumentationLeadSomewhere(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join(repository, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	pages := documentation(t)
	linked := map[string]bool{}
	for _, p := range append(pages, readPage(t, "ARCHITECTURE.md"), readPage(t, "SECURITY.md"), readPage(t, "CHANGELOG.md")) {
		for _, m := range link.FindAllStringSubmatch(inlineCode.ReplaceAllString(p.prose, ""), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			to, anchor, _ := strings.Cut(m[1], "#")
			name := p.name
			if to != "" {
				name = filepath.Join(filepath.Dir(p.name), to)
			}
			linked[name] = true
			if _, err := os.Stat(filepath.Join(repository, name)); err != nil {
				t.Errorf("%s links to %s, which does not exist", p.name, m[1])
			} else if anchor != "" && !slices.Contains(anchors(readPage(t, name)), anchor) {
				t.Errorf("%s links to %s; %s has no such heading", p.name, m[1], name)
			}
		}
	}
	for _, p := range pages {
		if strings.HasPrefix(p.name, "docs/") && !linked[p.name] {
			t.Errorf("no page links to %s", p.name)
		}
		for _, line := range codeOf(p) {
			if m := target.FindStringSubmatch(line); m != nil && !regexp.MustCompile(`(?m)^`+m[1]+`:`).Match(makefile) {
				t.Errorf("%s: %s: the Makefile has no such target", p.name, line)
			}
			for _, word := range strings.Fields(line) {
				if word := strings.Trim(word, "'\","); filePath.MatchString(word) {
					if _, err := os.Stat(filepath.Join(repository, word)); err != nil {
						t.Errorf("%s names %s, which does not exist", p.name, word)
					}
				}
			}
		}
	}
}
