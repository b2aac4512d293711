package internal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// secrets matches texts that must never be stored where others read: private keys, tokens of Headroom and of the
// services it calls, and passwords in addresses.
var secrets = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----|\bhr[ksl]_[A-Za-z0-9_-]{43}\b|\bwhsec_[A-Za-z0-9+/]{32,}={0,2}` +
	`|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36}\b|\bglpat-[A-Za-z0-9_-]{20}\b|\bxox[abprs]-[A-Za-z0-9-]{10,}|\bnpm_[A-Za-z0-9]{36}\b` +
	`|\b[a-z][a-z0-9+.-]*://[^\s/:@"'` + "`" + `<>$%{}|\\]*:([^\s/@"'` + "`" + `<>|\\]+)@[A-Za-z0-9\[]`)

// pretended matches the passwords of examples and tests, which open nothing.
var pretended = regexp.MustCompile(`^(\*+|[$%{].*|…|\.\.\.|hush-hush|(?i:passw(or)?d|pass|pw|secret|hidden|hunter2|sample|example|changeme|change-me|geheim|p|x|b|pa|headroom|word|s3cret|topsecret)([0-9:=!-].*)?)$`)

// madeUp matches tokens that open nothing: the example of the standard of webhooks, and ones written by hand.
var madeUp = regexp.MustCompile(`^whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw|_0123456789`)

// hints matches a part of every line with a secret; searching for it first is quick.
var hints = regexp.MustCompile(`PRIVATE KEY|hr[ksl]_|whsec_|AKIA|gh[pousr]_|glpat-|xox[abprs]-|npm_|://[^ /]*@`)

// secretsIn lists the secrets of a text, by line.
func secretsIn(text []byte) (found []string) {
	if !hints.Match(text) {
		return nil
	}
	for n, line := range bytes.Split(text, []byte("\n")) {
		if !hints.Match(line) {
			continue
		}
		for _, m := range secrets.FindAllSubmatch(line, -1) {
			if m[1] != nil && pretended.Match(m[1]) || m[1] == nil && (repeats(m[0]) || madeUp.Match(m[0])) {
				continue
			}
			found = append(found, fmt.Sprintf("line %d: %.12s…", n+1, m[0]))
		}
	}
	return found
}

// repeats reports whether a token has few different letters, like those that tests write by hand.
func repeats(token []byte) bool {
	if bytes.HasPrefix(token, []byte("-----")) {
		return false
	}
	seen := map[byte]bool{}
	for _, c := range token[min(4, len(token)):] {
		seen[c] = true
	}
	return len(seen) < 10
}

func TestSecretsAreKnown(t *testing.T) {
	word := "Qm9vM2xkTG9uZ1JhbmRvbVRva2VuVGhhdE9wZW5zLQ1"
	for text, want := range map[string]int{
		"key: hr" + "k_" + word[:43]:                             1,
		"-----BEGIN RSA PRIVATE" + " KEY-----":                   1,
		"postgres://headroom:kT9" + "-vQ2z@db.example/x":         1,
		"https://ada:kT9" + "vQ2z@hooks.example/x":               1,
		"postgres://headroom:***@db.example/x":                   0,
		"postgres://headroom:${PASSWORD}@db/x":                   0,
		"hrk_" + strings.Repeat("A", 43):                         0,
		"see https://example.com/a:b@c and mailto:ada@b.example": 0,
		"AKIA" + "IOSFODNN7EXAMPLQ":                              1,
	} {
		if got := secretsIn([]byte(text)); len(got) != want {
			t.Errorf("%s: found %v", text, got)
		}
	}
}

// No file of the repository has a secret, nor, in the whole sample, any file of its history.
func TestNoSecretIsKept(t *testing.T) {
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-C", ".."}, args...)...).Output()
		if err != nil {
			t.Fatalf("git %s: %v", strings.Join(args, " "), err)
		}
		return string(out)
	}
	files := strings.Split(strings.TrimSuffix(git("ls-files", "-z"), "\x00"), "\x00")
	for _, name := range files {
		text, err := os.ReadFile("../" + name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // is being removed
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range secretsIn(text) {
			t.Errorf("%s, %s", name, found)
		}
	}
	past := 0
	if os.Getenv("HEADROOM_LONG") != "" {
		past = inThePast(t, git("rev-list", "--objects", "--all", "--filter=blob:limit=2m"))
	}
	t.Attr("S2", fmt.Sprintf("no secret in %d files and %d texts of their history", len(files), past))
}

// inThePast checks every text of any commit, and returns their number.
func inThePast(t *testing.T, listed string) (texts int) {
	t.Helper()
	var names strings.Builder
	paths := map[string]string{}
	for line := range strings.Lines(listed) {
		if name, path, _ := strings.Cut(strings.TrimSpace(line), " "); path != "" {
			paths[name] = path
			fmt.Fprintln(&names, name)
		}
	}
	c := exec.Command("git", "-C", "..", "cat-file", "--batch")
	c.Stdin = strings.NewReader(names.String())
	all, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	for len(all) > 0 {
		head, rest, _ := bytes.Cut(all, []byte("\n"))
		var name, kind string
		var size int
		if _, err := fmt.Sscan(string(head), &name, &kind, &size); err != nil {
			t.Fatalf("git cat-file says %q", head)
		}
		if kind == "blob" {
			texts++
			for _, found := range secretsIn(rest[:size]) {
				t.Errorf("%s as it was (%.10s), %s", paths[name], name, found)
			}
		}
		all = rest[size+1:]
	}
	return texts
}
