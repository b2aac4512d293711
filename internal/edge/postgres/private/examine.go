package private

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// minSpace is the recommended free space on a data directory's disk: a new cluster and its log take 40 MB, a busy
// one's log up to 256 MB more.
const minSpace = 300 << 20

// Place holds the findings of Examine.
type Place struct {
	Dir     string
	Version string // the major version of the database there; "" without one
	User    string // the user of Postgres
	Free    uint64 // bytes left on its disk
	Running bool
	URL     string // if it runs
}

// Examine checks whether a private cluster can live in a data directory. It changes nothing there.
func Examine(ctx context.Context, dir string) (Place, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Place{}, err
	}
	place := Place{Dir: dir}
	there := dir // or the nearest directory above it
	for {
		if _, err := os.Stat(there); err == nil || there == "/" {
			break
		} else if !os.IsNotExist(err) {
			return place, unusable(dir, err)
		}
		there = filepath.Dir(there)
	}
	if err := unix.Access(there, unix.W_OK|unix.X_OK); err != nil {
		return place, unusable(dir, &os.PathError{Op: "write to", Path: there, Err: err})
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(there, &disk); err != nil {
		return place, unusable(dir, err)
	}
	place.Free = disk.Bavail * uint64(disk.Bsize)

	h := &home{dir: dir, cluster: filepath.Join(dir, clusterFolder)}
	if err := h.look(); err != nil {
		return place, err
	}
	place.Version, place.User = h.version, h.as.name
	programs, err := findPrograms(os.Getenv("PATH"), programFolders, h.version)
	if err != nil {
		return place, err
	}
	if h.as.other && !h.wouldOpen(ctx, programs, there) {
		return place, h.unreachable()
	}
	if place.URL, place.Running, err = Attach(dir); err != nil {
		return place, err
	}
	if place.Free < minSpace {
		return place, fmt.Errorf("only %d MB are left on the disk of %s; a database needs %d MB to work in", place.Free>>20, dir, minSpace>>20)
	}
	return place, nil
}

// wouldOpen reports whether the user of Postgres can reach a directory, or could once a start has opened it.
func (h *home) wouldOpen(ctx context.Context, p programs, there string) bool {
	if h.opens(ctx, p, there) == nil {
		return true
	}
	entries, err := os.ReadDir(there)
	return err == nil && there == h.dir && onlyLock(entries) && h.opens(ctx, p, filepath.Dir(there)) == nil
}
