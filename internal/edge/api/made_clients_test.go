package api

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Other languages make their client from openapi.yaml with well-known generators. Each such client, made outside of
// this module, creates a cluster, puts and lists a class, solves a problem and reads the refusal of a bad class. It
// takes packages from the network.
func TestClientsMadeFromTheContract(t *testing.T) {
	if os.Getenv("HEADROOM_LONG") == "" {
		t.Skip("generators are installed for it: HEADROOM_LONG=1 does that")
	}
	t.Parallel()
	s := newService(t)
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	contract := filepath.Join(root, "openapi", "openapi.yaml")
	run := func(t *testing.T, dir, name string, args ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), name, args...)
		command.Dir = dir
		command.Env = append(os.Environ(), "GOFLAGS=-mod=mod -trimpath", "GOWORK=off")
		said, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%.5000s", name, strings.Join(args, " "), err, said)
		}
		return strings.TrimSpace(string(said))
	}
	outside := func(t *testing.T, language string) string {
		t.Helper()
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "clients", language))); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	t.Run("TypeScript", func(t *testing.T) {
		if _, err := exec.LookPath("npm"); err != nil {
			t.Fatal("npm is missing; \"scripts/setup clients\" installs it")
		}
		dir := outside(t, "typescript")
		run(t, dir, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
		run(t, dir, "npx", "--no-install", "openapi-typescript", contract, "--default-non-nullable=false", "--output", "contract.ts")
		run(t, dir, "npx", "--no-install", "tsc", "--project", ".")
		t.Log(run(t, dir, "node", "client.js", s.url, s.admin))
	})
	t.Run("Go", func(t *testing.T) {
		dir := outside(t, "go")
		runtime := run(t, root, "go", "list", "-m", "-f", "{{.Path}}@{{.Version}}", "github.com/oapi-codegen/runtime")
		run(t, dir, "go", "mod", "init", "example.com/client")
		run(t, filepath.Join(root, "tools"), "go", "tool", "oapi-codegen", "-generate", "types,client", "-package", "main",
			"-o", filepath.Join(dir, "contract.go"), contract)
		run(t, dir, "go", "get", runtime)
		run(t, dir, "go", "mod", "tidy")
		t.Log(run(t, dir, "go", "run", ".", s.url, s.admin))
	})
}
