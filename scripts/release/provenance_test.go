package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// checksOfInstall returns the commands by which docs/how-to/install.md checks a release.
func checksOfInstall(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/how-to/install.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```sh\n(sed -E [^`]*openssl pkeyutl[^`]*)```").FindSubmatch(text)
	if block == nil {
		t.Fatal("install.md has no commands that check a release")
	}
	return string(block[1])
}

// OpenSSL verifies what is signed, by the commands of the documents, and refuses each change of it.
func TestProvenanceIsVerifiedByOpenSSL(t *testing.T) {
	t.Parallel()
	commands, dir := checksOfInstall(t), t.TempDir()
	run := func(script string) (string, error) {
		command := exec.Command("sh", "-e", "-c", script)
		command.Dir = dir
		out, err := command.CombinedOutput()
		return string(out), err
	}
	if out, err := run("openssl genpkey -algorithm ed25519 -out release.pem; openssl pkey -in release.pem -pubout -out headroom.pub; " +
		"openssl genpkey -algorithm rsa -out rsa.pem; echo hello > none.pem"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	files := filepath.Join(dir, "dist")
	if err := os.MkdirAll(files, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.tar.gz", "SHA256SUMS"} {
		if err := os.WriteFile(filepath.Join(files, name), []byte("text of "+name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, bad := range []string{"rsa.pem", "none.pem", "nowhere.pem"} {
		if _, err := signingKey(filepath.Join(dir, bad)); err == nil {
			t.Errorf("%s is taken for a key that signs", bad)
		}
	}
	key, err := signingKey(filepath.Join(dir, "release.pem"))
	if err != nil {
		t.Fatal(err)
	}
	const hash = "193f78ab00000000000000000000000000000000"
	if err := sign(files, "v1.2.3", hash, key); err != nil {
		t.Fatal(err)
	}
	written := filepath.Join(files, "provenance.intoto.jsonl")
	text, err := os.ReadFile(written)
	if err != nil {
		t.Fatal(err)
	}
	check := func(text string) error {
		if err := os.WriteFile(filepath.Join(dir, "provenance.intoto.jsonl"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := run(commands)
		if err == nil && !strings.Contains(out, "Signature Verified Successfully") {
			t.Errorf("openssl says %q", out)
		}
		return err
	}
	if err := check(string(text)); err != nil {
		t.Fatalf("openssl refuses what was signed: %v", err)
	}
	read, err := os.ReadFile(filepath.Join(dir, "statement.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s statement
	if err := json.Unmarshal(read, &s); err != nil {
		t.Fatal(err)
	}
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("text of a.tar.gz")))
	if len(s.Subject) != 2 || s.Subject[1].Name != "a.tar.gz" || s.Subject[1].Digest["sha256"] != sum {
		t.Errorf("got the files %v", s.Subject)
	}
	if from := s.Predicate.BuildDefinition.ResolvedDependencies[0]; from.Digest["gitCommit"] != hash {
		t.Errorf("got the source %v", from)
	}
	other := base64.StdEncoding.EncodeToString([]byte(strings.Replace(string(read), "v1.2.3", "v1.2.4", 1)))
	changed := strings.Replace(string(text), base64.StdEncoding.EncodeToString(read), other, 1)
	if changed == string(text) || check(changed) == nil {
		t.Error("openssl takes another version for what was signed")
	}
}
