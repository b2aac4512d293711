package server

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
)

// The unit of systemd reads its settings from a file, and keeps its data where the shell of an operator may not look.
const (
	unitFile    = "/etc/headroom/headroom.env"
	unitDataDir = "/var/lib/headroom"
)

// surroundings are the variables that settings are read from.
type surroundings struct {
	values   map[string]string
	file     string          // whose values come before those of the shell; "" for none
	fromFile map[string]bool // the names in it
}

// environment is the variables of this process.
func environment() map[string]string {
	all := map[string]string{}
	for _, e := range os.Environ() {
		name, value, _ := strings.Cut(e, "=")
		all[name] = value
	}
	return all
}

// envFileFlag lets a command look at the settings of a server that was not started from this shell.
func envFileFlag(c *cobra.Command) {
	c.Flags().String("env-file", "", "read the settings of this `file`, as systemd does (default "+unitFile+
		", where it is there and neither flags nor the environment name a database or a data directory)")
}

// surroundingsOf returns the shell's variables, with those of a file before them. unit is the file of the unit.
func surroundingsOf(c *cobra.Command, unit string) (surroundings, error) {
	s := surroundings{values: environment(), fromFile: map[string]bool{}}
	file := c.Flags().Lookup("env-file").Value.String()
	if file == "" {
		named := c.Flags().Changed("data-dir") || c.Flags().Changed("database-url") || s.values["DATABASE_URL"] != "" || s.values["HEADROOM_DATA_DIR"] != ""
		if _, err := os.Stat(unit); named || errors.Is(err, fs.ErrNotExist) {
			return s, nil
		}
		file = unit
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return s, errors.New(shell.FileTrouble(file, err))
	}
	s.file = file
	for name, value := range parseEnvFile(string(text)) {
		s.values[name], s.fromFile[name] = value, true
	}
	if s.values["HEADROOM_DATA_DIR"] == "" && file == unit {
		s.values["HEADROOM_DATA_DIR"], s.fromFile["HEADROOM_DATA_DIR"] = unitDataDir, true // the unit says so
	}
	return s, nil
}

// parseEnvFile reads lines NAME=value as systemd's EnvironmentFile does: comments begin with # or ;, values may stand in
// quotes. What is no such line is passed over, as there.
func parseEnvFile(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", "")) {
		line = strings.TrimSpace(line)
		name, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		value = strings.TrimSpace(value)
		if n := len(value); n > 1 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			value = value[1 : n-1]
		}
		all[strings.TrimSpace(name)] = value
	}
	return all
}

// from says where a variable comes from.
func (s surroundings) from(name string) string {
	if s.fromFile[name] {
		return s.file
	}
	return "environment"
}

// about says which configuration was read, and what of it names the database.
func (s surroundings) about(c *cobra.Command, settings config) string {
	read := "the variables of this shell"
	if s.file != "" {
		read = s.file + " before " + read
	}
	switch {
	case c.Flags().Changed("database-url"):
		return read + "; the database is that of --database-url"
	case settings.DatabaseURL != "" && s.fromFile["DATABASE_URL"]:
		return read + "; the database is that of DATABASE_URL in the file"
	case settings.DatabaseURL != "":
		return read + "; the database is that of DATABASE_URL"
	}
	return read + "; they name no DATABASE_URL, so that the database is the private one in " + cmp.Or(settings.DataDir, "no directory")
}

// noSettings are variables of commands and of tasks.
var noSettings = []string{"HEADROOM_URL", "HEADROOM_API_KEY", "HEADROOM_SOLVER", "HEADROOM_CLUSTER", "HEADROOM_NODE", "HEADROOM_JOB", "HEADROOM_CLASS",
	"HEADROOM_JOB_NUMBER", "HEADROOM_TASK", "HEADROOM_TASK_KIND", "HEADROOM_ATTEMPT", "HEADROOM_ASSIGNMENT", "HEADROOM_AGENT"}

// mistyped names variables that look like settings and are none, each with the setting that was probably meant.
func mistyped(environ map[string]string) (said []string) {
	const prefix = "HEADROOM_" // which every name has: it says nothing of what is meant
	var names []string
	for field := range reflect.TypeFor[config]().Fields() {
		if rest, ok := strings.CutPrefix(field.Tag.Get("env"), prefix); ok {
			names = append(names, rest)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(environ)) {
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok || slices.Contains(names, rest) || slices.Contains(noSettings, name) {
			continue
		}
		if meant := fault.Nearest(rest, names); meant != "" {
			said = append(said, fmt.Sprintf("%s is no setting; did you mean %s?", name, prefix+meant))
		}
	}
	return said
}

// serverAddress returns where a server of these settings on this machine answers.
func (s config) serverAddress() (string, error) {
	local := remote.Connection{DataDir: s.DataDir}
	if found, _, err := local.Local(); err == nil {
		return found.URL, nil
	}
	return listeningHere(s.Listen)
}
