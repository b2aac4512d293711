package private

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// OldestPostgres is the oldest major version that Headroom's tables work on.
const OldestPostgres = 15

// programFolders lists the folders in which distributions install Postgres off PATH: Debian and its kin; the packages
// of postgresql.org for Fedora and its kin.
var programFolders = []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin"}

// programs describes the installed Postgres.
type programs struct {
	folder  string
	version string // such as 15.18
	major   int
}

func (p programs) path(name string) string { return filepath.Join(p.folder, name) }

// Installed says which Postgres a private cluster would be made with: its folder and version.
func Installed() (folder, version string, err error) {
	p, err := findPrograms(os.Getenv("PATH"), programFolders, "")
	return p.folder, p.version, err
}

// findPrograms looks on path, then in the folders for the newest version. With wanted, the major
// version of an existing cluster, only that one will do.
func findPrograms(path string, folders []string, wanted string) (programs, error) {
	var found []programs
	for _, folder := range candidates(path, folders) {
		version, err := programVersion(filepath.Join(folder, "postgres"))
		if err != nil {
			continue
		}
		digits := strings.IndexFunc(version, func(r rune) bool { return r < '0' || r > '9' })
		if digits < 0 {
			digits = len(version)
		}
		major, err := strconv.Atoi(version[:digits])
		if err != nil {
			continue
		}
		p := programs{folder, version, major}
		if wanted == strconv.Itoa(major) || wanted == "" && major >= OldestPostgres {
			return p, nil
		}
		found = append(found, p)
	}
	switch {
	case len(found) == 0:
		return programs{}, errors.New("no Postgres is installed: neither PATH nor /usr/lib/postgresql has its programs postgres and initdb; " +
			"install the package postgresql (Debian and Arch) or postgresql-server (Fedora), or set DATABASE_URL to a Postgres of yours")
	case wanted == "":
		return programs{}, fmt.Errorf("the installed Postgres %s in %s is too old; install Postgres %d or newer, or set DATABASE_URL to one",
			found[0].version, found[0].folder, OldestPostgres)
	}
	return programs{}, &versionError{wanted, found[0]}
}

// versionError reports a cluster of another version than the programs'.
type versionError struct {
	cluster string
	have    programs
}

func (e *versionError) Error() string {
	return fmt.Sprintf("the database was made by Postgres %s and the installed Postgres is %s, which cannot read it; "+
		"install Postgres %s again (Debian: postgresql-%s), or bring the database to the new version with %s",
		e.cluster, e.have.version, e.cluster, e.cluster, e.have.path("pg_upgrade"))
}

// candidates returns the folders with both programs, in the order in which they are tried.
func candidates(path string, patterns []string) []string {
	var folders []string
	for _, folder := range filepath.SplitList(path) {
		// Postgres finds its other files from its real place, so links are followed.
		if program, err := filepath.EvalSymlinks(filepath.Join(folder, "postgres")); err == nil && filepath.IsAbs(program) {
			folders = append(folders, filepath.Dir(program))
		}
	}
	for _, pattern := range patterns {
		matches, _ := filepath.Glob(pattern) // it fails for a wrong pattern only
		slices.SortStableFunc(matches, func(a, b string) int { return folderVersion(b) - folderVersion(a) })
		folders = append(folders, matches...)
	}
	return slices.DeleteFunc(folders, func(folder string) bool {
		for _, name := range []string{"postgres", "initdb"} {
			if info, err := os.Stat(filepath.Join(folder, name)); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
				return true
			}
		}
		return false
	})
}

// folderVersion returns the version in a name such as /usr/lib/postgresql/15/bin.
func folderVersion(folder string) int {
	name := filepath.Base(filepath.Dir(folder))
	major, _ := strconv.ParseFloat(name[strings.LastIndexByte(name, '-')+1:], 64)
	return int(major)
}

func programVersion(program string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	command := exec.CommandContext(ctx, program, "--version")
	command.Env = programEnvironment()
	said, err := command.Output()
	if err != nil {
		return "", err
	}
	words := strings.Fields(string(said)) // postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)
	if len(words) < 3 {
		return "", fmt.Errorf("%s does not tell its version", program)
	}
	return words[2], nil
}

// programEnvironment returns the environment for Postgres. It has none of the service's secrets, and none of the
// variables (PGDATA, PGOPTIONS and others) that would change its behaviour.
func programEnvironment() []string {
	env := []string{"LC_ALL=C", "TZ=UTC", "PATH=/usr/bin:/bin"}
	if path, set := os.LookupEnv("LD_LIBRARY_PATH"); set {
		env = append(env, "LD_LIBRARY_PATH="+path)
	}
	return env
}
