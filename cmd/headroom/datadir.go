package main

import (
	"os"
	"path/filepath"
)

// defaultDataDir is where the private database and what belongs to it are kept, unless a flag says
// otherwise: HEADROOM_DATA_DIR, or the place the system has for such things. It is "" for an ordinary
// user without a home, who must choose one.
func defaultDataDir() string {
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

// clientFile is the file in the data directory by which a running server tells the client verbs of
// this machine where it is and what opens it.
const clientFile = "client.json"

// clientAccess is what stands in it.
type clientAccess struct {
	URL string `json:"url"`
	Key string `json:"key"`
}
