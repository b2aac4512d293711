package main

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// The licences of what is linked in, by their SPDX names.
const (
	coin       = "EPL-1.0"
	gccRuntime = "GPL-3.0-or-later WITH GCC-exception-3.1"
)

// solverLibraries lists what is linked into the solver program, in the order of the linker: it needs nothing of the
// machine that it runs on but the C library. Each stands with the Debian package that holds it; those of the compiler have
// another for each platform.
var solverLibraries = []struct{ name, deb, licence string }{
	{"CbcSolver", "coinor-libcbc-dev", coin}, {"Cbc", "coinor-libcbc-dev", coin}, {"Cgl", "coinor-libcgl-dev", coin},
	{"OsiClp", "coinor-libclp-dev", coin}, {"ClpSolver", "coinor-libclp-dev", coin}, {"Clp", "coinor-libclp-dev", coin},
	{"Osi", "coinor-libosi-dev", coin}, {"CoinUtils", "coinor-libcoinutils-dev", coin}, {"bz2", "libbz2-dev", "bzip2-1.0.6"},
	{"z", "zlib1g-dev", "Zlib"}, {"lapack", "liblapack-dev", "BSD-3-Clause"}, {"blas", "libblas-dev", "BSD-3-Clause"},
	{"gfortran", "", gccRuntime}, {"quadmath", "", gccRuntime}, {"stdc++", "", gccRuntime},
}

// toolchain builds C for a platform.
type toolchain struct {
	prefix  string // of the compilers' names
	sysroot string // the folder with the platform's packages; "" is this machine's own
	triplet string // of the folders of libraries
}

// toolchainFor returns the toolchain of a platform. Those of other platforms come from scripts/setup release.
func toolchainFor(p platform) (toolchain, error) {
	triplet := map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[p.machine]
	if p.machine == runtime.GOARCH {
		return toolchain{triplet: triplet}, nil
	}
	t := toolchain{prefix: triplet + "-", triplet: triplet}
	var err error
	if t.sysroot, err = filepath.Abs("bin/sysroot/" + p.machine); err != nil {
		return toolchain{}, err
	}
	_, compiler := exec.LookPath(t.prefix + "gcc")
	_, packages := os.Stat(t.sysroot)
	if err := errors.Join(compiler, packages); err != nil {
		return toolchain{}, fmt.Errorf("the solver cannot be built for it here; scripts/setup release installs what is missing: %w", err)
	}
	return t, nil
}

// find returns the file with a library to link in; "" where the platform has none of that name.
func (t toolchain) find(name string) (string, error) {
	file := "lib" + name + ".a"
	for _, folder := range []string{"", "lapack", "blas"} {
		found := filepath.Join(t.sysroot, "/usr/lib", t.triplet, folder, file)
		if _, err := os.Stat(found); err == nil {
			return filepath.EvalSymlinks(found)
		}
	}
	out, err := exec.Command(t.prefix+"gcc", "-print-file-name="+file).Output() // #nosec G204 -- a compiler of Debian
	if err != nil {
		return "", fmt.Errorf("ask the compiler for %s: %w", file, err)
	}
	found := strings.TrimSpace(string(out))
	switch {
	case filepath.IsAbs(found):
		return filepath.EvalSymlinks(found)
	case name == "quadmath" && t.triplet != "x86_64-linux-gnu": // whose long double is that already
		return "", nil
	}
	return "", fmt.Errorf("%s is not here; scripts/setup release installs what is missing", file)
}

// buildSolver builds the solver program with its libraries in it. The folder gets links to these, which the linker finds
// before any shared ones. It returns their files.
func (t toolchain) buildSolver(p platform, version, folder, to string) (libraries []library, err error) {
	links := filepath.Join(folder, "static")
	if err := os.MkdirAll(links, 0o755); err != nil {
		return nil, err
	}
	flags := []string{"-static-libgcc"}
	for _, l := range solverLibraries {
		file, err := t.find(l.name)
		if err != nil {
			return nil, err
		}
		if file == "" {
			continue
		}
		if err := os.Symlink(file, filepath.Join(links, "lib"+l.name+".a")); err != nil {
			return nil, err
		}
		flags = append(flags, "-l"+l.name)
		linked, err := t.linked("lib"+l.name, file, l.deb, l.licence)
		if err != nil {
			return nil, err
		}
		libraries = append(libraries, linked)
	}
	// Without a build ID, which would depend on the folder of the links.
	ld := fmt.Sprintf(`-s -w -buildid= -X main.version=%s -extldflags "%s -lm"`, version, strings.Join(flags, " "))
	command := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", ld, "-o", to, "./cmd/headroom-solver") // #nosec G204 -- our own words
	command.Env = append(os.Environ(), "GOOS="+p.system, "GOARCH="+p.machine, "CGO_ENABLED=1", "CGO_LDFLAGS=-L"+links,
		"CC="+t.prefix+"gcc", "CXX="+t.prefix+"g++")
	if t.sysroot != "" {
		command.Env = append(command.Env, "PKG_CONFIG_SYSROOT_DIR="+t.sysroot, "PKG_CONFIG_LIBDIR="+filepath.Join(t.sysroot, "/usr/lib", t.triplet, "pkgconfig"))
	}
	command.Stderr = os.Stderr
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("build the solver: %w", err)
	}
	return libraries, checkLinked(to)
}

// linked returns what is known of a library in a file: its package, that package's version and its licence.
func (t toolchain) linked(name, file, deb, licence string) (library, error) {
	l := library{name: name, deb: deb, licence: licence}
	root := "/"
	if t.sysroot != "" && deb != "" {
		root = t.sysroot
		versions, err := os.ReadFile(filepath.Join(root, "versions"))
		if err != nil {
			return l, err
		}
		for line := range strings.Lines(string(versions)) {
			if of, version, _ := strings.Cut(strings.TrimSpace(line), " "); of == deb {
				l.version = version
			}
		}
	} else {
		owner, err := exec.Command("dpkg-query", "--search", file).Output()
		if err != nil {
			return l, fmt.Errorf("ask Debian's package manager for the package of %s: %w", file, err)
		}
		l.deb, _, _ = strings.Cut(string(owner), ":")
		version, err := exec.Command("dpkg-query", "--show", "--showformat=${Version}\n", l.deb).Output() // #nosec G204 -- a name that dpkg gave
		if err != nil {
			return l, fmt.Errorf("ask for the version of %s: %w", l.deb, err)
		}
		l.version, _, _ = strings.Cut(string(version), "\n")
	}
	text, err := os.ReadFile(filepath.Join(root, "usr/share/doc", l.deb, "copyright"))
	l.text = text
	return l, err
}

// checkLinked refuses a program that loads more than the C library.
func checkLinked(program string) error {
	binary, err := elf.Open(program)
	if err != nil {
		return err
	}
	defer binary.Close()
	names, err := binary.ImportedLibraries()
	for _, name := range names {
		if !slices.ContainsFunc([]string{"libc.so.", "libm.so.", "libpthread.so.", "ld-linux-"}, func(own string) bool { return strings.HasPrefix(name, own) }) {
			return fmt.Errorf("the solver would load %s of the machine that it runs on", name)
		}
	}
	return err
}

// newestC returns the version of the C library that a program needs, such as 2.34; "" for none.
func newestC(program string) (string, error) {
	binary, err := elf.Open(program)
	if err != nil {
		return "", err
	}
	defer binary.Close()
	needs, err := binary.DynamicVersionNeeds()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return "", err
	}
	newest, rank := "", 0
	for _, n := range needs {
		for _, need := range n.Needs {
			var major, minor int
			if _, err := fmt.Sscanf(need.Dep, "GLIBC_%d.%d", &major, &minor); err == nil && major*1000+minor > rank {
				newest, rank = fmt.Sprintf("%d.%d", major, minor), major*1000+minor
			}
		}
	}
	return newest, nil
}
