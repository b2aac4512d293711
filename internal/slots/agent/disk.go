package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// save writes a value so that after a crash the old or the new one is on disk, readable by its owner alone.
func save(file string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	next := file + ".next"
	err = func() error {
		f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		_, err = f.Write(append(text, '\n'))
		if err == nil {
			err = f.Sync()
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		if err := os.Rename(next, file); err != nil {
			return err
		}
		return syncDirectory(filepath.Dir(file))
	}()
	if err != nil {
		return fmt.Errorf("keep what must outlive the agent: %w; the directory needs room and must be the agent's own", err)
	}
	return nil
}

// load reads a value that save wrote; false means there is none.
func load(file string, into any) (bool, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return false, fmt.Errorf("what the agent kept cannot be read: %s: %w; remove it to begin anew", file, err)
	}
	return true, nil
}

// forget removes a saved value.
func forget(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove what is done with: %w", err)
	}
	return syncDirectory(filepath.Dir(file))
}

func syncDirectory(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Own claims the directory of an agent, and locks others out until release.
func Own(dir string) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory in which the agent keeps what must outlive it: %w; give another one with --state-dir", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("use the directory %s: %w; give another one with --state-dir", dir, err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		lock.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("another agent works with the directory %s; end it, or give this one another --state-dir", dir)
		}
		return nil, fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	return func() { lock.Close() }, nil
}
