package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Setting is a file of a cgroup (version 2) and its content.
type Setting struct {
	File  string `json:"file"`
	Value string `json:"value"`
}

// settingFiles lists the files that an agent writes, in the order of reading and restoring. The kernel writes no
// weight while a group is idle, and gives a group that no longer is idle the usual weight.
var settingFiles = []string{"cpu.idle", "cpu.weight", "cpu.max"}

// BackgroundSettings give a cgroup only the processor time that nobody else wants.
var BackgroundSettings = []Setting{{"cpu.idle", "1"}}

// ReadHints reads the hints for a host from an answer of POST /v1/interference/estimate. The file holds the object
// with its settings, or the whole answer if that covers one policy.
func ReadHints(file string) ([]Setting, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the hints: %w", err)
	}
	type settings struct {
		Settings []Setting `json:"settings"`
	}
	var hints struct {
		settings
		Policies []struct {
			Hints settings `json:"hints"`
		} `json:"policies"`
	}
	if err := json.Unmarshal(text, &hints); err != nil {
		return nil, fmt.Errorf("%s has no hints: %w; give a file like {\"settings\": [{\"file\": \"cpu.idle\", \"value\": \"1\"}]}", file, err)
	}
	if n := len(hints.Policies); n > 1 {
		return nil, fmt.Errorf("%s has hints for %d policies; ask about the one that is wanted alone", file, n)
	} else if n == 1 {
		hints.settings = hints.Policies[0].Hints
	}
	if len(hints.Settings) == 0 {
		return nil, fmt.Errorf("%s has no settings; give a file like {\"settings\": [{\"file\": \"cpu.idle\", \"value\": \"1\"}]}", file)
	}
	for _, s := range hints.Settings {
		if err := s.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return hints.Settings, nil
}

// check refuses settings of other files than the known ones.
func (s Setting) check() error {
	between := func(text string, lowest, limit int) bool {
		n, err := strconv.Atoi(text)
		return err == nil && n >= lowest && n <= limit
	}
	switch s.File {
	case "cpu.idle":
		if s.Value == "0" || s.Value == "1" {
			return nil
		}
		return fmt.Errorf("cpu.idle is %q; it is 0 or 1", s.Value)
	case "cpu.weight":
		if between(s.Value, 1, 10_000) {
			return nil
		}
		return fmt.Errorf("cpu.weight is %q; it is from 1 to 10000", s.Value)
	case "cpu.max":
		quota, period, _ := strings.Cut(s.Value, " ")
		if (quota == "max" || between(quota, 1_000, 1<<40)) && between(period, 1_000, 1_000_000) {
			return nil
		}
		return fmt.Errorf("cpu.max is %q; it is max or microseconds, and the microseconds of a period, such as \"50000 100000\"", s.Value)
	default:
		return fmt.Errorf("%q is no file that hints are written to; those are %s", s.File, strings.Join(settingFiles, ", "))
	}
}

// changed holds the earlier settings of a cgroup, and the new ones.
type changed struct {
	Cgroup string    `json:"cgroup"`
	Before []Setting `json:"before"` // all existing ones
	Made   []Setting `json:"made"`
}

const changedFile = "cgroup.json"

// PlannedHints returns the writes that Apply would make, with the present values, after checking that it could.
func PlannedHints(cgroup string, settings []Setting) (lines []string, err error) {
	before, err := current(cgroup, settings)
	if err != nil {
		return nil, err
	}
	for _, s := range settings {
		at := filepath.Join(cgroup, s.File)
		f, err := os.OpenFile(at, os.O_WRONLY, 0) // opening changes nothing
		if err != nil {
			return nil, refused(at, err)
		}
		f.Close()
		lines = append(lines, fmt.Sprintf("%s: %q instead of %q", at, s.Value, valueOf(before, s.File)))
	}
	return lines, nil
}

// Apply writes settings to a cgroup. It first saves the earlier ones in the directory. So Restore can bring them
// back, even after the process was killed.
func Apply(dir, cgroup string, settings []Setting) error {
	before, err := current(cgroup, settings)
	if err != nil {
		return err
	}
	if err := save(filepath.Join(dir, changedFile), changed{cgroup, before, settings}); err != nil {
		return err
	}
	for _, s := range settings {
		if err := write(cgroup, s); err != nil {
			_, restoring := Restore(dir)
			return errors.Join(err, restoring)
		}
	}
	return nil
}

// Restore gives a cgroup its settings from before Apply, except those that somebody else has changed since. It
// returns sentences about its actions, or nothing if there was nothing to do.
func Restore(dir string) (done []string, err error) {
	file := filepath.Join(dir, changedFile)
	var c changed
	if some, err := load(file, &c); err != nil || !some {
		return nil, err
	}
	if _, err := os.Stat(c.Cgroup); errors.Is(err, fs.ErrNotExist) {
		return []string{fmt.Sprintf("The cgroup %s is gone, and its settings with it.", c.Cgroup)}, forget(file)
	}
	weightIsLost := false
	for _, name := range settingFiles {
		before, made := valueOf(c.Before, name), valueOf(c.Made, name)
		if made == "" && !(name == "cpu.weight" && weightIsLost) {
			continue
		}
		if name == "cpu.weight" && valueOf(c.Before, "cpu.idle") == "1" {
			continue // an idle group's weight is not its own
		}
		now, err := read(c.Cgroup, name)
		if err != nil {
			return done, err
		}
		if now == before {
			continue
		}
		if made != "" && now != made {
			done = append(done, fmt.Sprintf("%s/%s is %q, which is not what the agent wrote (%q): it is left.", c.Cgroup, name, now, made))
			continue
		}
		if err := write(c.Cgroup, Setting{name, before}); err != nil {
			return done, err
		}
		weightIsLost = weightIsLost || name == "cpu.idle" && before == "0"
		done = append(done, fmt.Sprintf("%s/%s is %q again.", c.Cgroup, name, before))
	}
	return done, forget(file)
}

// current returns the present settings, if the wanted ones are among them and can be set.
func current(cgroup string, wanted []Setting) (all []Setting, err error) {
	info, err := os.Stat(cgroup)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no cgroup %s; make it with \"mkdir %s\", or name another one", cgroup, cgroup)
	case err != nil:
		return nil, refused(cgroup, err)
	case !info.IsDir():
		return nil, fmt.Errorf("%s is no directory; a cgroup is one, such as /sys/fs/cgroup/batch", cgroup)
	}
	if _, err := os.Stat(filepath.Join(cgroup, "cgroup.procs")); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is no cgroup: it has no file cgroup.procs", cgroup)
	}
	for _, name := range settingFiles {
		switch value, err := read(cgroup, name); {
		case err == nil:
			all = append(all, Setting{name, value})
		case errors.Is(err, fs.ErrNotExist) && valueOf(wanted, name) == "":
		default:
			return nil, err
		}
	}
	if idle := valueOf(wanted, "cpu.idle"); valueOf(wanted, "cpu.weight") != "" && (idle == "1" || idle == "" && valueOf(all, "cpu.idle") == "1") {
		return nil, fmt.Errorf("%s is or becomes idle (cpu.idle is 1), and the kernel writes no cpu.weight then; set cpu.idle to 0 first", cgroup)
	}
	return all, nil
}

func valueOf(settings []Setting, file string) string {
	i := slices.IndexFunc(settings, func(s Setting) bool { return s.File == file })
	if i < 0 {
		return ""
	}
	return settings[i].Value
}

func read(cgroup, name string) (string, error) {
	at := filepath.Join(cgroup, name)
	text, err := os.ReadFile(at)
	if err != nil {
		return "", missing(cgroup, name, err)
	}
	return strings.TrimSpace(string(text)), nil
}

// write writes to an existing file in one go, as the kernel demands.
func write(cgroup string, s Setting) error {
	at := filepath.Join(cgroup, s.File)
	f, err := os.OpenFile(at, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return missing(cgroup, s.File, err)
	}
	_, err = f.WriteString(s.Value)
	if err = errors.Join(err, f.Close()); err != nil {
		if errors.Is(err, syscall.EINVAL) {
			return fmt.Errorf("the kernel does not take %q for %s; is it Linux 5.15 or later, and is the value allowed here?", s.Value, at)
		}
		return refused(at, err)
	}
	return nil
}

// missing explains that a file of a cgroup does not exist or cannot be read.
func missing(cgroup, name string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return refused(filepath.Join(cgroup, name), err)
	}
	parent := filepath.Dir(cgroup)
	controllers, known := os.ReadFile(filepath.Join(cgroup, "cgroup.controllers"))
	if known == nil && !slices.Contains(strings.Fields(string(controllers)), "cpu") {
		return fmt.Errorf("%s has no %s, because the cpu controller is not given to it: \"echo +cpu > %s\" does that, unless version 1 of cgroups has the controller (see /proc/cgroups): %w", cgroup, name, filepath.Join(parent, "cgroup.subtree_control"), err)
	}
	if name == "cpu.idle" {
		return fmt.Errorf("%s has no cpu.idle; it needs Linux 5.15 or later, and the root of all cgroups has none: %w", cgroup, err)
	}
	return fmt.Errorf("%s has no %s: %w", cgroup, name, err)
}

// refused explains what to do about a cgroup that this agent may not write.
func refused(at string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("this agent may not use %s; run it as root, or give the cgroup to its user (%q): %w", at, fmt.Sprintf("chown %d %s/cpu.* %s/cgroup.procs", os.Getuid(), filepath.Dir(at), filepath.Dir(at)), err)
	}
	if errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%s cannot be written: cgroups are mounted for reading here; under systemd the agent's unit needs ProtectControlGroups=no: %w", at, err)
	}
	return fmt.Errorf("use the cgroup: %w", err)
}
