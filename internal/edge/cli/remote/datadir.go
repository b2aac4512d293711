package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// DefaultDataDir returns the directory of the private database and its files, unless a flag gives one: HEADROOM_DATA_DIR,
// or the usual place of the system. It returns "" for an ordinary user without a home, who must choose one.
func DefaultDataDir() string {
	if dir := os.Getenv("HEADROOM_DATA_DIR"); dir != "" {
		return dir
	}
	if os.Geteuid() == 0 {
		return "/var/lib/headroom"
	}
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) { // others are to be ignored, its specification says
		return filepath.Join(dir, "headroom")
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".local", "share", "headroom")
	}
	return ""
}

// ClientFile is the file in the data directory by which a running server tells the client verbs of
// this machine where it is and what opens it.
const ClientFile = "client.json"

// ClientAccess is its content.
type ClientAccess struct {
	URL string `json:"url"`
	Key string `json:"key"`
}

// WriteClientAccess writes the file whole or not at all, readable by its owner alone.
func WriteClientAccess(file string, access ClientAccess) error { return writeWhole(file, access) }

// writeWhole writes a value as JSON into a file, whole or not at all, readable by its owner alone.
func writeWhole(file string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(file), ".client-*") // mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	_, err = temporary.Write(append(text, '\n'))
	err = errors.Join(err, temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), file)
	}
	if err != nil {
		_ = os.Remove(temporary.Name())
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}
