package internal_test

import (
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"
)

// plainSince is the last commit before subjects had to be short and bodies had to say why.
const plainSince = "38fdeb1392b1e6270578b0a9e0b82277cc121eea"

// maxSubject is the length that tools show on one line.
const maxSubject = 72

// Every commit has a subject of one line and a body that says why.
func TestCommitsSayWhy(t *testing.T) {
	if exec.Command("git", "-C", "..", "merge-base", "--is-ancestor", plainSince, "HEAD").Run() != nil {
		t.Skip("this is no clone with the history that is checked")
	}
	out, err := exec.Command("git", "-C", "..", "log", "--no-merges", "-z", "--format=%h%n%B", plainSince+"..HEAD").Output()
	if err != nil {
		t.Fatal(err)
	}
	for commit := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		hash, message, _ := strings.Cut(commit, "\n")
		for _, complaint := range complaints(message) {
			t.Errorf("commit %s: %s", hash, complaint)
		}
	}
}

func complaints(message string) (found []string) {
	subject, body, _ := strings.Cut(strings.TrimSpace(message), "\n")
	if n := utf8.RuneCountInString(subject); n > maxSubject {
		found = append(found, "the subject is too long; 72 characters are shown on one line")
	}
	if strings.TrimSpace(body) == "" {
		found = append(found, "there is no body; say what was seen and why it changes")
	}
	return found
}

func TestBadCommitsAreFound(t *testing.T) {
	for message, want := range map[string]int{
		"plan: round slots up\n\nA deadline was missed.\n": 0,
		"plan: round slots up\n":                           1,
		strings.Repeat("é", 72) + "\n\nWhy.":               0,
		strings.Repeat("e", 73) + "\n\nWhy.":               1,
		strings.Repeat("e", 73):                            2,
	} {
		if got := complaints(message); len(got) != want {
			t.Errorf("%q: got %q, want %d complaints", message, got, want)
		}
	}
}
