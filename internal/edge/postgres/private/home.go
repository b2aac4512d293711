package private

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Our names in a data directory, which may hold other things. A cluster is created under a name with the prefix
// making and renamed when it is whole, so half a cluster is known by its name.
const (
	clusterFolder = "postgres"
	makingPrefix  = "postgres.making-"
	lockFile      = "postgres.lock" // held while a process runs the cluster; contains its number
)

// longestSocketPath is the kernel's limit of a socket's name, without the final zero.
const longestSocketPath = 107

// home is a data directory locked by this process.
type home struct {
	dir       string
	cluster   string
	version   string // the major version of the cluster in it; "" without one
	as        account
	lock      *os.File
	temporary string   // a folder for the socket, to be removed; "" if the socket is in the cluster
	made      []string // the directory and those above it, as far as they were missing
	once      sync.Once
}

// account is the user of Postgres.
type account struct {
	name     string
	uid, gid int
	other    bool // not the user we are
}

func (a account) credential() *syscall.Credential {
	if !a.other {
		return nil
	}
	return &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
}

// openHome creates a missing data directory, locks it, and looks for a cluster.
func openHome(dir string) (_ *home, err error) {
	if dir == "" {
		return nil, errors.New("the private database needs a data directory; give one with --data-dir")
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	if strings.ContainsAny(dir, "\n\r") {
		return nil, fmt.Errorf("the name of the data directory %q has a line break; choose another --data-dir", dir)
	}
	if _, err := os.Stat(filepath.Join(dir, "PG_VERSION")); err == nil {
		return nil, fmt.Errorf("%s is the data directory of some Postgres itself; choose another --data-dir, in which Headroom makes a cluster of its own", dir)
	}
	mode := fs.FileMode(0o700)
	if os.Geteuid() == 0 {
		mode = 0o711 // lets the user of Postgres pass
	}
	var missing []string
	for above := dir; ; above = filepath.Dir(above) {
		if _, err := os.Lstat(above); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing = append(missing, above)
	}
	if err := os.MkdirAll(dir, mode); err != nil {
		return nil, unusable(dir, err)
	}
	h := &home{dir: dir, cluster: filepath.Join(dir, clusterFolder), made: missing}
	if err := h.takeLock(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			h.close()
		}
	}()
	if err := h.clearHalves(); err != nil {
		return nil, err
	}
	if err := h.look(); err != nil {
		return nil, err
	}
	if h.as.other { // lets this user start it alone another time
		if err := h.lock.Chown(h.as.uid, h.as.gid); err != nil {
			return nil, unusable(dir, err)
		}
	}
	return h, nil
}

func (h *home) takeLock() error {
	// Links are not followed: anyone with write access to the directory could have root write to another's file.
	file, err := os.OpenFile(filepath.Join(h.dir, lockFile), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return fmt.Errorf("%s is a link, where a file of headroom's own belongs; remove it, or choose another --data-dir", filepath.Join(h.dir, lockFile))
	}
	if err != nil {
		return unusable(h.dir, err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer file.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return unusable(h.dir, err)
		}
		number := make([]byte, 20)
		n, _ := file.Read(number)
		who := strings.TrimSpace(string(number[:n]))
		if who == "" { // it has only just taken the lock
			who = "unknown"
		}
		return fmt.Errorf("another headroom (process %s) keeps its database in %s; stop it first, or choose another --data-dir", who, h.dir)
	}
	// Whoever had it may have removed it since we opened it; another could then lock a new file of the same name.
	if ours, err := file.Stat(); err == nil {
		if there, err := os.Lstat(file.Name()); err != nil || !os.SameFile(ours, there) {
			file.Close()
			return h.takeLock()
		}
	}
	err = file.Truncate(0)
	if err == nil {
		_, err = file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		file.Close()
		return unusable(h.dir, err)
	}
	h.lock = file
	return nil
}

// clearHalves removes the remains of an interrupted first start.
func (h *home) clearHalves() error {
	halves, err := filepath.Glob(filepath.Join(escapeGlob(h.dir), makingPrefix+"*"))
	if err != nil {
		return unusable(h.dir, err)
	}
	for _, half := range halves {
		if err := os.RemoveAll(half); err != nil {
			return unusable(h.dir, err)
		}
	}
	return nil
}

// look finds the cluster and the user who must run it. It changes nothing.
func (h *home) look() error {
	owner := -1
	info, err := os.Stat(h.cluster)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return unusable(h.dir, err)
	default:
		stat := info.Sys().(*syscall.Stat_t)
		h.as = account{name: userName(int(stat.Uid)), uid: int(stat.Uid), gid: int(stat.Gid)}
		owner = h.as.uid
		if err := h.readVersion(); err != nil {
			return err
		}
	}
	me := os.Geteuid()
	switch {
	case me != 0:
		if owner != -1 && owner != me {
			return fmt.Errorf("the database in %s belongs to the user %s; start headroom as that user or as root, or choose another --data-dir", h.dir, h.as.name)
		}
		h.as = account{name: userName(me), uid: me, gid: os.Getegid()}
	case owner > 0 && h.version != "":
		h.as.other = true // the cluster stays with its owner
	default:
		if h.as, err = unprivileged(); err != nil {
			return err
		}
	}
	return nil
}

func (h *home) readVersion() error {
	text, err := os.ReadFile(filepath.Join(h.cluster, "PG_VERSION"))
	switch {
	case err == nil:
		h.version = strings.TrimSpace(string(text))
		return nil
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("the database in %s belongs to the user %s; start headroom as that user or as root, or choose another --data-dir", h.dir, h.as.name)
	case !errors.Is(err, fs.ErrNotExist):
		return unusable(h.dir, err)
	}
	files, err := os.ReadDir(h.cluster)
	if err != nil {
		return unusable(h.dir, err)
	}
	if len(files) > 0 {
		return fmt.Errorf("%s holds files but no database of Postgres (PG_VERSION is missing), and is left as it is; move it away, or choose another --data-dir", h.cluster)
	}
	return nil
}

// unprivileged returns the user that root switches to: Postgres refuses to run as root.
func unprivileged() (account, error) {
	for _, name := range []string{"postgres", "nobody"} {
		known, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(known.Uid)
		if err != nil || uid == 0 {
			continue
		}
		gid, err := strconv.Atoi(known.Gid)
		if err != nil {
			continue
		}
		return account{name: name, uid: uid, gid: gid, other: true}, nil
	}
	return account{}, errors.New("root cannot run Postgres itself, and this machine has no user postgres or nobody who could; start headroom as an ordinary user")
}

func userName(uid int) string {
	if known, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return known.Username
	}
	return "number " + strconv.Itoa(uid)
}

// checkAccess lets the kernel check whether the user of Postgres can run it and reach the directory.
func (h *home) checkAccess(ctx context.Context, p programs) error {
	if !h.as.other {
		return nil
	}
	if err := h.opens(ctx, p, "/"); err != nil {
		return fmt.Errorf("run %s as the user %s: %w", p.path("postgres"), h.as.name, err)
	}
	if h.opens(ctx, p, h.dir) == nil {
		return nil
	}
	// A directory newly made for us (mktemp -d) is opened for passing through; others are not ours to open.
	if entries, err := os.ReadDir(h.dir); err == nil && onlyLock(entries) {
		if info, err := os.Stat(h.dir); err == nil && os.Chmod(h.dir, info.Mode().Perm()|0o011) == nil && h.opens(ctx, p, h.dir) == nil {
			return nil
		}
	}
	return h.unreachable()
}

// onlyLock reports whether a directory is empty but for our lock.
func onlyLock(entries []fs.DirEntry) bool {
	return len(entries) == 0 || len(entries) == 1 && entries[0].Name() == lockFile
}

func (h *home) unreachable() error {
	return fmt.Errorf("started by root, Postgres runs as the user %s, who cannot reach %s (%s is closed to others); "+
		"choose --data-dir under /var/lib or /tmp, or start headroom as an ordinary user", h.as.name, h.dir, cmp.Or(closedParent(h.dir), h.dir))
}

// opens starts the program for a moment in the directory.
func (h *home) opens(ctx context.Context, p programs, dir string) error {
	command := exec.CommandContext(ctx, p.path("postgres"), "--version")
	command.Dir, command.Env = dir, programEnvironment()
	command.SysProcAttr = &syscall.SysProcAttr{Credential: h.as.credential()}
	return command.Run()
}

// closedParent returns the first directory on the way that others may not pass, or "".
func closedParent(dir string) string {
	for at := 1; at <= len(dir); at++ {
		if at < len(dir) && dir[at] != '/' {
			continue
		}
		if info, err := os.Stat(dir[:at]); err == nil && info.Mode()&0o001 == 0 {
			return dir[:at]
		}
	}
	return ""
}

// makeSocketFolder chooses the folder of the socket: the cluster, or a folder under the temporary directory if its
// name would be too long or cannot stand in an address. That folder's name follows from the data directory's, so that
// a crash leaves one folder at most.
func (h *home) makeSocketFolder() (string, error) {
	if socketFits(h.cluster) && !strings.Contains(h.cluster, ",") {
		return h.cluster, nil
	}
	sum := fnv.New64a()
	sum.Write([]byte(h.dir))
	name := fmt.Sprintf("headroom-%d-%x", h.as.uid, sum.Sum64())
	parent := os.TempDir()
	if !socketFits(filepath.Join(parent, name)) || strings.Contains(parent, ",") || h.as.other && closedParent(parent) != "" {
		parent = "/tmp"
	}
	folder := filepath.Join(parent, name)
	err := os.Mkdir(folder, 0o700)
	if errors.Is(err, fs.ErrExist) && !h.owns(folder) { // somebody else was there first, and must not see our socket
		folder, err = os.MkdirTemp(parent, "headroom-")
	} else if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	if err == nil && h.as.other {
		err = os.Lchown(folder, h.as.uid, h.as.gid)
	}
	if err != nil {
		return "", fmt.Errorf("make a folder for the database's socket: %w; choose a shorter --data-dir, which needs none", err)
	}
	h.temporary = folder
	return folder, nil
}

func (h *home) owns(folder string) bool {
	info, err := os.Lstat(folder)
	if err != nil || info.Mode() != fs.ModeDir|0o700 {
		return false
	}
	return int(info.Sys().(*syscall.Stat_t).Uid) == h.as.uid
}

func socketFits(folder string) bool {
	return len(filepath.Join(folder, ".s.PGSQL."+privatePort)) <= longestSocketPath
}

// close gives the data directory back. Where no cluster was made nothing of ours stays.
func (h *home) close() {
	h.once.Do(func() {
		if h.temporary != "" {
			_ = os.RemoveAll(h.temporary) // it is empty, or holds the socket of a dead Postgres
		}
		if _, err := os.Lstat(h.cluster); errors.Is(err, fs.ErrNotExist) {
			_ = os.Remove(h.lock.Name())
			for _, dir := range h.made {
				_ = os.Remove(dir) // fails if somebody else keeps something there
			}
		}
		// Closing alone would leave the lock with a child that is just being started and has a copy.
		_ = syscall.Flock(int(h.lock.Fd()), syscall.LOCK_UN)
		h.lock.Close()
	})
}

// unusable explains why a data directory cannot be used, with a remedy.
func unusable(dir string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return noSpace(dir)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("the data directory %s cannot be used: %w; make it writable, or choose another --data-dir", dir, err)
	}
	return fmt.Errorf("use the data directory %s: %w", dir, err)
}

// noSpaceError reports a full disk. It goes away when somebody makes room.
type noSpaceError struct{ Dir string }

func (e *noSpaceError) Error() string {
	return fmt.Sprintf("no space is left on the disk of %s; make room (a new database takes about 40 MB), or choose another --data-dir", e.Dir)
}

func noSpace(dir string) error { return &noSpaceError{dir} }

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
