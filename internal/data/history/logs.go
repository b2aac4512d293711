package history

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// Log is a history in a directory that others write: a file, or the directory of a rolled event log of Spark.
type Log struct {
	Name    string
	Rolled  bool
	Written bool   // Spark has not ended it
	Stamp   string // differs after each change
}

// Logs lists the histories below the root of a file system, by name. What cannot be looked at is refused, and links
// are not followed.
func Logs(files fs.FS, refused func(Refusal)) (all []Log, err error) {
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			refused(Refusal{Where: name, Detail: fmt.Sprintf("It cannot be opened: %v.", err)})
		case entry.IsDir():
			if log, is := rolledLog(files, name); is {
				all = append(all, log)
				return fs.SkipDir
			}
		case !isAside(path.Base(name)) && entry.Type().IsRegular():
			if info, err := entry.Info(); err == nil { // else it has just been renamed or removed
				all = append(all, Log{Name: name, Written: strings.HasSuffix(name, inProgress), Stamp: stamp(info)})
			}
		}
		return nil
	})
	return all, err
}

// rolledLog describes the rolled event log in a directory, if there is one.
func rolledLog(files fs.FS, dir string) (log Log, is bool) {
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return log, false // the walk meets it as well
	}
	log = Log{Name: dir, Rolled: true, Written: true}
	for _, entry := range entries {
		name := entry.Name()
		switch {
		case strings.HasPrefix(name, "events_"):
			is = true
			if info, err := entry.Info(); err == nil {
				log.Stamp += stamp(info) + " "
			}
		case strings.HasPrefix(name, "appstatus_"):
			log.Written = strings.HasSuffix(name, inProgress)
		}
	}
	return log, is
}

func stamp(info fs.FileInfo) string {
	return fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
}

// Read reads the log.
func (l Log) Read(files fs.FS, o Options, to Sink) error {
	in := &heard{}
	if !l.Rolled {
		return readFile(files, l.Name, o, in, to)
	}
	err := readRolled(files, l.Name, o, in, to)
	if err == fs.SkipDir { // its parts are read
		return nil
	}
	return err
}
