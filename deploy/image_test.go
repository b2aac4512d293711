package deploy_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// imageUser is the user of the image, and so of the chart's pods.
const imageUser = 10001

// instruction is an instruction of a Dockerfile.
type instruction struct {
	line       int
	name, rest string
	stage      int // from 0; -1 before the first FROM
}

// readDockerfile joins continued lines and leaves out comments, like docker.
func readDockerfile(t *testing.T) []instruction {
	t.Helper()
	text, err := os.ReadFile("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	known := strings.Fields("ARG FROM RUN WORKDIR COPY LABEL ENV USER VOLUME EXPOSE STOPSIGNAL HEALTHCHECK ENTRYPOINT CMD")
	var all []instruction
	joined, began, stage := "", 0, -1
	for i, line := range strings.Split(string(text), "\n") {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(strings.TrimSpace(line), "#") {
			if joined != "" && strings.TrimSpace(line) == "" {
				t.Errorf("line %d: an empty line in the instruction of line %d", i+1, began)
			}
			continue
		}
		if joined == "" {
			began = i + 1
		}
		part, more := strings.CutSuffix(line, "\\")
		joined += part
		if more {
			continue
		}
		name, rest, _ := strings.Cut(joined, " ")
		if !slices.Contains(known, name) {
			t.Errorf("line %d: %s is no instruction that is used here", began, name)
		}
		if name == "FROM" {
			stage++
		}
		all = append(all, instruction{line: began, name: name, rest: strings.Join(strings.Fields(rest), " "), stage: stage})
		joined = ""
	}
	if joined != "" {
		t.Errorf("the last instruction is continued into nothing: %s", joined)
	}
	return all
}

// only returns the one instruction of a name in the last stage.
func only(t *testing.T, all []instruction, name string) string {
	t.Helper()
	var found []string
	for _, i := range all {
		if i.name == name && i.stage == all[len(all)-1].stage {
			found = append(found, i.rest)
		}
	}
	if len(found) != 1 {
		t.Fatalf("got %d instructions %s in the last stage, want one", len(found), name)
	}
	return found[0]
}

func execForm(t *testing.T, text string) []string {
	t.Helper()
	var words []string
	if err := json.Unmarshal([]byte(text), &words); err != nil || len(words) == 0 {
		t.Fatalf("%s is not in exec form, in which signals reach the program: %v", text, err)
	}
	return words
}

func TestDockerfile(t *testing.T) {
	t.Parallel()
	all := readDockerfile(t)
	var froms, images []string
	declared := map[int][]string{}
	for _, i := range all {
		switch i.name {
		case "FROM":
			froms = append(froms, i.rest)
		case "ARG":
			name, _, _ := strings.Cut(i.rest, "=")
			declared[i.stage] = append(declared[i.stage], name)
			if i.stage < 0 {
				images = append(images, i.rest)
			}
		}
	}
	if want := []string{"$GO_IMAGE AS build", "$BASE_IMAGE"}; !slices.Equal(froms, want) {
		t.Errorf("got the stages %q, want %q, which digests may replace", froms, want)
	}
	bases := []string{"GO_IMAGE=golang:" + goVersion(t) + "-bookworm", "BASE_IMAGE=debian:bookworm-slim"}
	if !slices.Equal(images, bases) {
		t.Errorf("got the images %q, want %q (of one Debian, so that the libraries match)", images, bases)
	}
	settings := settingsOfTheServer(t)
	for _, i := range all {
		if i.name == "RUN" || i.name == "LABEL" {
			for _, use := range regexp.MustCompile(`\$([A-Z_]+)`).FindAllStringSubmatch(i.rest, -1) {
				if !slices.Contains(declared[i.stage], use[1]) {
					t.Errorf("line %d: $%s is not declared with ARG in its stage", i.line, use[1])
				}
			}
		}
		if i.name == "RUN" && strings.Contains(i.rest, "apt-get") &&
			(!strings.Contains(i.rest, "apt-get update") || !strings.Contains(i.rest, "--no-install-recommends") || !strings.HasSuffix(i.rest, "rm -rf /var/lib/apt/lists/*")) {
			t.Errorf("line %d: packages want fresh lists, nothing recommended, and the lists removed in the same layer", i.line)
		}
		if i.name == "RUN" {
			if out, err := exec.Command("sh", "-n", "-c", i.rest).CombinedOutput(); err != nil {
				t.Errorf("line %d: the shell cannot read it: %v: %s", i.line, err, out)
			}
		}
		if i.name == "RUN" && strings.Contains(i.rest, "go build") {
			for _, want := range []string{"CGO_ENABLED=0 go build -trimpath", "CGO_ENABLED=1 go build -trimpath", "-X main.version=$VERSION", "-o /out/headroom ./cmd/headroom", "-o /out/headroom-solver ./cmd/headroom-solver"} {
				if !strings.Contains(i.rest, want) {
					t.Errorf("line %d: it lacks %q", i.line, want)
				}
			}
		}
		if i.name == "ENV" {
			for _, pair := range strings.Fields(i.rest) {
				name, _, _ := strings.Cut(pair, "=")
				if known, ok := settings[name]; !ok || known.secret {
					t.Errorf("line %d: %s is a secret or no setting of the server", i.line, name)
				}
			}
		}
	}
	if got := only(t, all, "USER"); got != "10001:10001" {
		t.Errorf("it runs as %s", got)
	}
	if got := only(t, all, "VOLUME"); got != "/var/lib/headroom" || !strings.Contains(only(t, all, "ENV"), "HEADROOM_DATA_DIR="+got) {
		t.Errorf("the volume %s is not where the data is", got)
	}
	if got := only(t, all, "EXPOSE"); !strings.Contains(only(t, all, "ENV"), "HEADROOM_LISTEN=0.0.0.0:"+got) {
		t.Errorf("the port %s is not the one it listens on", got)
	}
	if got := execForm(t, only(t, all, "ENTRYPOINT")); !slices.Equal(got, []string{"/usr/local/bin/headroom"}) {
		t.Errorf("it starts %q", got)
	}
	if got := execForm(t, only(t, all, "CMD")); !slices.Equal(got, []string{"serve"}) {
		t.Errorf("it starts with %q", got)
	}
	_, check, ok := strings.Cut(only(t, all, "HEALTHCHECK"), " CMD ")
	if got := execForm(t, check); !ok || !slices.Equal(got, []string{"/usr/local/bin/headroom", "server", "health"}) {
		t.Errorf("its health is checked by %q", got)
	}
	if got := only(t, all, "STOPSIGNAL"); got != "SIGTERM" {
		t.Errorf("it is stopped by %s", got)
	}
}

// goVersion returns the Go version of go.mod, without its last number.
func goVersion(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(text)
	if found == nil {
		t.Fatal("go.mod names no Go")
	}
	return string(found[1])
}

// All sources of the programs reach the build, and secrets do not.
func TestBuildContext(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../.dockerignore")
	if err != nil {
		t.Fatal(err)
	}
	ignored := func(name string) bool { // the last line that matches the file or a folder above it decides
		out := false
		for line := range strings.Lines(string(text)) {
			pattern := strings.TrimSpace(line)
			if pattern == "" || pattern[0] == '#' {
				continue
			}
			pattern, back := strings.CutPrefix(pattern, "!")
			for at := name; at != "."; at = path.Dir(at) {
				match, err := path.Match(pattern, at)
				if last, anywhere := strings.CutPrefix(pattern, "**/"); anywhere {
					match, err = path.Match(last, path.Base(at))
				}
				if err != nil {
					t.Fatal(err)
				}
				if match {
					out = !back
					break
				}
			}
		}
		return out
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	list := exec.Command("go", "list", "-deps", "-f", `{{if and .Module .Module.Main}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}} {{end}}{{range .CgoFiles}}{{$d}}/{{.}} {{end}}{{range .HFiles}}{{$d}}/{{.}} {{end}}{{range .CXXFiles}}{{$d}}/{{.}} {{end}}{{range .EmbedFiles}}{{$d}}/{{.}} {{end}}{{end}}`,
		"./cmd/headroom", "./cmd/headroom-solver")
	list.Dir = root
	list.Env = append(os.Environ(), "CGO_ENABLED=1") // the solver program is built with C
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	files := append(strings.Fields(string(out)), root+"/go.mod", root+"/go.sum")
	if len(files) < 100 {
		t.Errorf("the programs are built from %d files only?", len(files))
	}
	for _, i := range readDockerfile(t) {
		if words := strings.Fields(i.rest); i.name == "COPY" && !strings.HasPrefix(i.rest, "--from") {
			for _, word := range words[:len(words)-1] {
				files = append(files, path.Join(root, word))
			}
		}
	}
	for _, file := range files {
		if name := strings.TrimPrefix(strings.TrimPrefix(file, root), "/"); name != "" && ignored(name) {
			t.Errorf("%s is needed and does not reach the build", name)
		}
	}
	for _, name := range []string{".env", ".git/config", "bin/headroom", "data/postgres/PG_VERSION", "headroom.dump", "internal/edge/api/api_test.go", "internal/core/plan/testdata/x"} {
		if !ignored(name) {
			t.Errorf("%s would reach the build", name)
		}
	}
}
