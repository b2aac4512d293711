package plans

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"example.org/headroom/internal/service/auth"
)

// Copy holds the data with which a server can answer polls without its store: the current plans and the valid keys.
// Servers keep one in a file, for a start while the store is away. A key that was revoked after it was written lives
// until the store is back.
type Copy struct {
	Of        string       `json:"of"` // the store it is a copy of
	WrittenAt time.Time    `json:"written_at"`
	Keys      []copiedKey  `json:"keys"`
	Plans     []packedPlan `json:"plans"` // by cluster
}

// packedPlan is a current plan whose text is packed.
type packedPlan struct {
	Current
	Packed []byte `json:"packed"`
}

type copiedKey struct {
	Key  auth.Key `json:"key"`
	Hash []byte   `json:"hash"`
}

const (
	copyEvery = 2 * time.Second // a change is on disk after this
	// maxCopy bounds the file; plans beyond it are omitted.
	maxCopy = 64 << 20
	// copyForm begins the file, followed by the sum of the rest. It changes with the format of the rest.
	copyForm = "headroom copy 2 "
	// copyPattern names files that are being written.
	copyPattern = ".headroom-copy-*"
)

// ReadCopy reads a copy of a store from a file. It refuses an incomplete file, one of another store or format, and
// one that another user may have written.
func ReadCopy(file, of string) (Copy, error) {
	text, err := readOwn(file)
	if err != nil {
		return Copy{}, fmt.Errorf("read the copy of the last plans: %w", err)
	}
	var c Copy
	sum, rest, whole := strings.Cut(strings.TrimPrefix(string(text), copyForm), "\n")
	switch {
	case !bytes.HasPrefix(text, []byte(copyForm)):
		return c, fmt.Errorf("%s is no copy of plans that this release can read", file)
	case !whole || sum != sumOf([]byte(rest)):
		return c, fmt.Errorf("the copy of the last plans in %s is damaged", file)
	}
	if err := json.Unmarshal([]byte(rest), &c); err != nil {
		return Copy{}, fmt.Errorf("the copy of the last plans in %s cannot be read: %w", file, err)
	}
	for _, k := range c.Keys {
		if len(k.Hash) != len(auth.Hash{}) {
			return Copy{}, fmt.Errorf("the copy of the last plans in %s has a key that is none", file)
		}
	}
	if c.Of != of {
		return Copy{}, fmt.Errorf("the copy of the last plans in %s is of another database", file)
	}
	return c, nil
}

func sumOf(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

// readOwn reads a file that belongs to this user alone, and is of a size that was written here.
func readOwn(file string) ([]byte, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", file)
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s is open to other users (mode %04o, not 0600), who may have changed it", file, info.Mode().Perm())
	case !known || int(owner.Uid) != os.Geteuid():
		return nil, fmt.Errorf("%s belongs to another user", file)
	case info.Size() > maxCopy:
		return nil, fmt.Errorf("%s is larger than a copy can be", file)
	}
	return io.ReadAll(io.LimitReader(f, maxCopy))
}

// ShowCopy shows the plans of a copy, all as old, and accepts its keys. It serves an App whose store is away; hide
// withdraws its metrics, so that another App can have them.
func (d *Desk) ShowCopy(c Copy) (hide func(), err error) {
	keys := make([]auth.Key, len(c.Keys))
	for i, k := range c.Keys {
		keys[i] = k.Key
		keys[i].Hash = auth.Hash(k.Hash)
	}
	d.ring.Replace(keys)
	for _, one := range c.Plans {
		current, err := (&Shown{Current: one.Current, packed: one.Packed}).Whole()
		if err == nil {
			err = d.Board.take(current, 0, nil)
		}
		if err != nil {
			return nil, err
		}
	}
	d.Board.mu.Lock()
	d.Board.running, d.Board.away = true, true
	d.Board.mu.Unlock()
	t := d.telemetry
	if t == nil {
		return func() {}, nil
	}
	metrics := boardMetrics{d.Board}
	return func() { t.Registry.Unregister(metrics) }, t.Registry.Register(metrics)
}

// KeepCopy keeps a file in step with the board and the keyring, until the context ends; of is the store of both. A
// file that cannot be written is only a warning: polls need none as long as the server runs.
func (d *Desk) KeepCopy(ctx context.Context, file, of string) (done <-chan struct{}) {
	ended := make(chan struct{})
	k := copyKeeper{desk: d, file: file, of: of}
	go func() {
		defer close(ended)
		k.clear()
		tick := time.NewTicker(copyEvery)
		defer tick.Stop()
		for {
			k.keep()
			if ctx.Err() != nil {
				return
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	}()
	return ended
}

// copyKeeper writes copies.
type copyKeeper struct {
	desk     *Desk
	file, of string
	written  string // the mark of the file's contents
	trouble  string // the last message
}

// clear removes the remains of a server that died while it wrote.
func (k *copyKeeper) clear() {
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(k.file), copyPattern)) // the pattern is a good one
	for _, file := range left {
		if info, err := os.Lstat(file); err == nil && time.Since(info.ModTime()) > time.Minute { // another server may be writing just now
			_ = os.Remove(file)
		}
	}
}

// keep writes the file again after a change.
func (k *copyKeeper) keep() {
	shown, keys := k.desk.Board.All(), k.desk.ring.Stored()
	mark := markOf(shown, keys)
	if mark == k.written {
		return
	}
	var left int
	err := writeOwn(k.file, func(w io.Writer) (err error) {
		left, err = k.write(w, shown, keys)
		return err
	})
	trouble := ""
	switch {
	case err != nil:
		trouble = err.Error()
	case left > 0:
		trouble = fmt.Sprintf("the plans of %d clusters are left out, because a copy has at most %d MiB", left, maxCopy>>20)
		fallthrough
	default:
		k.written = mark
	}
	if t := k.desk.telemetry; t != nil && trouble != "" && trouble != k.trouble {
		t.Log.Warn("the copy of the last plans is not what it should be; polls go on from memory", "file", k.file, "error", trouble)
	}
	k.trouble = trouble
}

// markOf changes whenever a copy would.
func markOf(shown map[string]*Shown, keys []auth.Key) string {
	sum := sha256.New()
	for _, cluster := range sorted(shown) {
		s := shown[cluster]
		fmt.Fprintf(sum, "%q %s %d %d\n", cluster, s.Tag(), s.HoldSeconds, len(s.Past))
	}
	for _, k := range keys {
		sum.Write(k.Hash[:])
	}
	return string(sum.Sum(nil))
}

func sorted(shown map[string]*Shown) []string {
	names := make([]string, 0, len(shown))
	for name := range shown {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// write writes the copy one plan after the other, and returns the number of plans omitted from it.
func (k *copyKeeper) write(w io.Writer, shown map[string]*Shown, keys []auth.Key) (left int, err error) {
	c := Copy{Of: k.of, WrittenAt: k.desk.now(), Plans: []packedPlan{}, Keys: make([]copiedKey, len(keys))}
	for i, key := range keys {
		c.Keys[i] = copiedKey{key, key.Hash[:]}
	}
	text, err := json.Marshal(c)
	if err != nil {
		return 0, fmt.Errorf("write the keys as JSON: %w", err)
	}
	text = bytes.TrimSuffix(text, []byte("]}"))
	if _, err := w.Write(text); err != nil {
		return 0, err
	}
	size := len(text)
	for _, cluster := range sorted(shown) {
		s := shown[cluster]
		one, err := json.Marshal(packedPlan{s.Current, s.packed})
		if err != nil {
			return 0, fmt.Errorf("write the last plans as JSON: %w", err)
		}
		if size+len(one) > maxCopy-1000 {
			left++
			continue
		}
		if size > len(text) {
			one = append([]byte(","), one...)
		}
		size += len(one)
		if _, err := w.Write(one); err != nil {
			return 0, err
		}
	}
	_, err = io.WriteString(w, "]}")
	return left, err
}

// writeOwn writes a file whole or not at all, for this user alone.
func writeOwn(file string, write func(io.Writer) error) (err error) {
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(dir, copyPattern) // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temporary.Name())
		}
	}()
	sum, out := sha256.New(), bufio.NewWriter(temporary)
	head := func() string { return fmt.Sprintf("%s%x\n", copyForm, sum.Sum(nil)) }
	_, err = out.WriteString(head()) // until the sum is known
	if err == nil {
		err = write(io.MultiWriter(sum, out))
	}
	if err == nil {
		err = out.Flush()
	}
	if err == nil {
		_, err = temporary.WriteAt([]byte(head()), 0)
	}
	if err == nil {
		err = temporary.Sync()
	}
	if err = errors.Join(err, temporary.Close()); err != nil {
		return err
	}
	if err := os.Rename(temporary.Name(), file); err != nil {
		return err
	}
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := folder.Sync(); err != nil && !errors.Is(err, fs.ErrInvalid) && !errors.Is(err, syscall.EINVAL) { // some disks cannot
		return err
	}
	return nil
}
