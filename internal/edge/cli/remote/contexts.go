package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"example.org/headroom/internal/edge/cli/shell"
)

// Context names a server and the file with the key for it.
type Context struct {
	Name    string `json:"name"`
	Server  string `json:"server"`
	KeyFile string `json:"key_file"`
}

// Contexts holds the servers that a user has names for, and which one is asked where nothing else names one.
type Contexts struct {
	Current  string    `json:"current"`
	Contexts []Context `json:"contexts"`
}

// contextsFile returns the file in which a user's contexts are kept, or "" for a user without a home.
func contextsFile() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "headroom", "contexts.json")
}

// ReadContexts returns the user's contexts; there are none where there is no file.
func ReadContexts() (all Contexts, err error) {
	file := contextsFile()
	if file == "" {
		return all, nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return all, errors.New(shell.FileTrouble(file, err))
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return all, fmt.Errorf("%s holds no contexts (%w); delete it, and make them again with \"headroom context create\"", file, err)
	}
	return all, nil
}

// Write keeps contexts in place of those before, whole or not at all, readable by the user alone.
func (all Contexts) Write() error {
	file := contextsFile()
	if file == "" {
		return errors.New("there is no home directory to keep contexts in; use --server and --key-file")
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return errors.New(shell.FileTrouble(filepath.Dir(file), err))
	}
	return writeWhole(file, all)
}

// Find returns the context of a name.
func (all Contexts) Find(name string) (Context, error) {
	at := slices.IndexFunc(all.Contexts, func(c Context) bool { return c.Name == name })
	if at < 0 {
		return Context{}, shell.Fail(shell.ExitUsage, fmt.Errorf("there is no context %q; \"headroom context list\" shows them", shell.Clipped(name)))
	}
	return all.Contexts[at], nil
}

// context returns the context that a flag names, or where none does the current one; false without any.
func (o *Connection) context() (c Context, from string, found bool, err error) {
	all, err := ReadContexts()
	if err != nil {
		return c, "", false, err
	}
	name, from := o.Context, "--context"
	if name == "" {
		name, from = all.Current, fmt.Sprintf("the context %q", all.Current)
	}
	if name == "" {
		return c, "", false, nil
	}
	c, err = all.Find(name)
	return c, from, err == nil, err
}
