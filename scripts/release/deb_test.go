package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestDebianVersions(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{"v1.2.3": "1.2.3", "v1.2.3-4-gabc1234": "1.2.3+4.gabc1234", "v1.2.3-4-gabc-dirty": "1.2.3+4.gabc.dirty", "abc1234": "0~abc1234", "1abc": "0~1abc"} {
		if got := debVersion(version); got != want {
			t.Errorf("%s: got %s, want %s", version, got, want)
		}
	}
}

// tool runs a program and returns what it prints.
func tool(t *testing.T, name string, args ...string) string {
	t.Helper()
	var trouble bytes.Buffer
	c := exec.Command(name, args...)
	c.Stderr = &trouble
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s%s", name, args, err, out, trouble.String())
	}
	return string(out)
}

// checkPackage asks Debian's own program what is in a package, and of this machine's runs what it installs.
func checkPackage(t *testing.T, p platform, deb string) {
	t.Helper()
	for field, want := range map[string]string{"Package": "headroom", "Version": "1.2.3+test", "Architecture": p.machine, "Depends": "libc6 (>= 2.", "Recommends": "postgresql"} {
		if got := tool(t, "dpkg-deb", "--field", deb, field); !strings.Contains(got, want) {
			t.Errorf("%s: %s is %q, want %q", p, field, got, want)
		}
	}
	root := t.TempDir()
	tool(t, "dpkg-deb", "--raw-extract", deb, root)
	for _, line := range strings.Split(strings.TrimSpace(tool(t, "dpkg-deb", "--contents", deb)), "\n") {
		words := strings.Fields(line)
		mode, owner, name := words[0], words[1], words[5]
		want := "-rw-r--r--"
		if strings.HasSuffix(name, "/") {
			want = "drwxr-xr-x"
		} else if strings.HasPrefix(name, "./usr/bin/") {
			want = "-rwxr-xr-x"
		}
		if mode != want || owner != "root/root" {
			t.Errorf("%s: %s, want %s and root", p, line, want)
		}
	}
	for _, name := range []string{"usr/bin/headroom", "usr/bin/headroom-solver", "usr/share/man/man1/headroom.1.gz", "usr/share/man/man1/headroom-whatif.1.gz",
		"usr/share/bash-completion/completions/headroom", "usr/share/zsh/vendor-completions/_headroom", "usr/share/fish/vendor_completions.d/headroom.fish",
		"usr/lib/systemd/system/headroom.service", "usr/lib/systemd/system/headroom-agent.service", "usr/lib/sysusers.d/headroom.conf",
		"usr/share/doc/headroom/copyright", "usr/share/doc/headroom/docs/README.md", "usr/share/doc/headroom/openapi/examples/nightly-etl.json", "etc/headroom"} {
		if info, err := os.Stat(filepath.Join(root, name)); err != nil || !info.IsDir() && info.Size() == 0 {
			t.Errorf("%s: %s is not there, or empty (%v)", p, name, err)
		}
	}
	unit, err := os.ReadFile(filepath.Join(root, "usr/lib/systemd/system/headroom.service"))
	if err != nil || !strings.Contains(string(unit), "\nExecStart=/usr/bin/headroom serve\n") || strings.Contains(string(unit), "/usr/local") {
		t.Errorf("%s: the unit starts another program (%v):\n%s", p, err, unit)
	}
	for name := range debScripts {
		tool(t, "sh", "-n", filepath.Join(root, "DEBIAN", name))
	}
	checkSums(t, root)
	if p.machine != runtime.GOARCH {
		return
	}
	example := filepath.Join(root, "usr/share/doc/headroom/openapi/examples/nightly-etl.json")
	said := tool(t, filepath.Join(root, "usr/bin/headroom"), "solve", "--max-solve-ms", "30000", example)
	if !strings.Contains(said, "Rent 41 VMs") || !strings.Contains(said, "Confirmed by cbc ") {
		t.Errorf("the package plans\n%s", said)
	}
}

// checkSums compares the package's list of sums with its files.
func checkSums(t *testing.T, root string) {
	t.Helper()
	sums := exec.Command("md5sum", "--check", "--quiet", "--strict", "DEBIAN/md5sums")
	sums.Dir = root
	if out, err := sums.CombinedOutput(); err != nil {
		t.Errorf("md5sums: %v\n%s", err, out)
	}
	listed, err := os.ReadFile(filepath.Join(root, "DEBIAN/md5sums"))
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.HasPrefix(name, filepath.Join(root, "DEBIAN")) {
			files++
		}
		return err
	})
	if n := strings.Count(string(listed), "\n"); err != nil || n != files {
		t.Errorf("%d of %d files are listed (%v)", n, files, err)
	}
}

// A fresh minimal Debian, without Go, Node and a compiler, runs archive and package to a plan. testdata/minimal.sh says how.
func TestMinimalDebian(t *testing.T) {
	if os.Getenv("HEADROOM_LONG") == "" {
		t.Skip("it takes minutes to make a Debian; set HEADROOM_LONG=1")
	}
	if os.Geteuid() != 0 {
		t.Skip("only root may make a Debian")
	}
	script, err := filepath.Abs("testdata/minimal.sh")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../..")
	tool(t, "scripts/setup", "release")
	out := filepath.Join(t.TempDir(), "dist")
	before := filepath.Join(t.TempDir(), "before")
	for version, into := range map[string]string{"v1.2.2-test": before, "v1.2.3-test": out} {
		if err := release(version, into, []platform{{"linux", runtime.GOARCH}}); err != nil {
			t.Fatal(err)
		}
	}
	root := filepath.Join(t.TempDir(), "debian")
	began := time.Now()
	tool(t, "debootstrap", "--variant=minbase", "bookworm", root)
	t.Logf("debootstrap took %s", time.Since(began).Round(time.Second))
	tool(t, "cp", "-r", out, filepath.Join(root, "root/dist"))
	tool(t, "cp", "-r", before, filepath.Join(root, "root/dist/before"))
	tool(t, "cp", script, filepath.Join(root, "root/minimal.sh"))
	began = time.Now()
	// Mounts and processes end with the namespaces, whatever happens in them.
	said := tool(t, "unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-euc", `mount --make-rprivate / && mount --rbind /dev "$0/dev"
		mount -t proc proc "$0/proc" && cp /etc/resolv.conf "$0/etc/" && exec chroot "$0" sh -eu /root/minimal.sh`, root)
	t.Logf("archive and package took %s and said\n%s", time.Since(began).Round(time.Second), said)
	for _, part := range []string{"archive", "package"} {
		if !strings.Contains(said, part+": Rent 99 VMs") || !strings.Contains(said, part+": confirmed by cbc") {
			t.Errorf("the %s does not solve", part)
		}
	}
	for _, want := range []string{"archive without its solver: Rent 99 VMs", "init: Rent 10 VMs", "key: made", "plan: optimal", "restored: Rent 10 VMs", "verify: ", "page: served", "docs: served", "stopped",
		"user: made", "upgraded: 1.2.3+test", "upgraded: headroom v1.2.3-test", "upgraded: user and settings are as before", "upgraded: Rent 10 VMs", "upgraded: stopped", "removed", "purged"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q", want)
		}
	}
}

// The programs for arm64 plan on an emulated processor.
func TestArm64(t *testing.T) {
	if os.Getenv("HEADROOM_LONG") == "" {
		t.Skip("it builds for another machine; set HEADROOM_LONG=1")
	}
	t.Chdir("../..")
	tool(t, "scripts/setup", "release")
	dir := t.TempDir()
	arm := platform{"linux", "arm64"}
	tools, err := toolchainFor(arm)
	if err != nil {
		t.Fatal(err)
	}
	program, solver := filepath.Join(dir, "headroom"), filepath.Join(dir, "solver")
	if err := build(arm, "v1", program); err != nil {
		t.Fatal(err)
	}
	if _, err := tools.buildSolver(arm, "v1", dir, solver); err != nil {
		t.Fatal(err)
	}
	emulated := filepath.Join(dir, "emulated")
	if err := os.WriteFile(emulated, []byte("#!/bin/sh\nexec qemu-aarch64-static -L /usr/aarch64-linux-gnu "+solver+" \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HEADROOM_SOLVER", emulated)
	said := tool(t, "qemu-aarch64-static", program, "solve", "--max-solve-ms", "60000", "openapi/examples/nightly-etl.json")
	if !strings.Contains(said, "Rent 41 VMs") || !strings.Contains(said, "Confirmed by cbc ") {
		t.Errorf("it plans\n%s", said)
	}
}
