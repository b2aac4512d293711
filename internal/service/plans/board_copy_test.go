package plans

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/telemetry"
)

// copied returns an app that shows a plan and knows a key, and the file with its copy.
func copied(t *testing.T) (a *Desk, token, file string) {
	t.Helper()
	k := newKept()
	k.add(7, 5, began)
	k.past = []PastVMs{{Total: 9, Until: began.Add(-time.Minute)}}
	a = New(Config{Now: func() time.Time { return began }, Ring: auth.NewKeyring()})
	a.Board.source = k
	if err := a.Board.readAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	token, hash := auth.NewToken(auth.KeyPrefix)
	a.ring.Replace([]auth.Key{{ID: "k", Name: "poller", Role: auth.Viewer, Clusters: []string{"c"}, Hash: hash}})
	file = filepath.Join(t.TempDir(), "deep", "copy")
	ctx, stop := context.WithCancel(t.Context())
	stop() // the final state is written
	<-a.KeepCopy(ctx, file, "here")
	return a, token, file
}

// A server that starts while its store is away shows the copy of another one, as old.
func TestCopiesAreShown(t *testing.T) {
	t.Parallel()
	a, token, file := copied(t)
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
		t.Fatalf("got %v, %v; want a file with mode 0600", info, err)
	}
	c, err := ReadCopy(file, "here")
	if err != nil {
		t.Fatal(err)
	}
	b := New(Config{Now: func() time.Time { return began }, Ring: auth.NewKeyring()})
	if _, err := b.ShowCopy(c); err != nil {
		t.Fatal(err)
	}
	want, got := a.Board.All()["c"], b.Board.Find("c")
	if got == nil || got.Tag() != want.Tag() || !bytes.Equal(got.packed, want.packed) || !bytes.Equal(got.Event().Text, want.Event().Text) {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	if diff := cmp.Diff(want.Past, got.Past); diff != "" || len(got.Past) != 1 {
		t.Errorf("what was current before (-want +got):\n%s", diff)
	}
	if b.Board.InTouch() || !b.Board.Running() {
		t.Error("a copy is shown as if the store were there")
	}
	if who, ok := b.ring.Principal(token, began); !ok || who.ID != "k" || who.Role != auth.Viewer || who.Sees("d") {
		t.Errorf("the key opens it as %+v, %t", who, ok)
	}
	if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), token) {
		t.Error("the copy holds a token")
	}
}

// Nothing but a whole copy of this store by this user is used.
func TestOtherCopiesAreNotUsed(t *testing.T) {
	t.Parallel()
	change := func(how func([]byte) []byte) func(t *testing.T, file string) {
		return func(t *testing.T, file string) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, how(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		spoil func(t *testing.T, file string)
		of    string
		says  string
	}{
		"another database": {func(*testing.T, string) {}, "there", "of another database"},
		"missing":          {func(t *testing.T, file string) { must(t, os.Remove(file)) }, "here", "no such file"},
		"empty":            {change(func([]byte) []byte { return nil }), "here", "no copy of plans that this release can read"},
		"cut off":          {change(func(b []byte) []byte { return b[:len(b)/2] }), "here", "damaged"},
		"a bit turned":     {change(func(b []byte) []byte { b[len(b)/2] ^= 1; return b }), "here", "damaged"},
		"grown":            {change(func(b []byte) []byte { return append(b, ' ') }), "here", "damaged"},
		"a later form":     {change(func(b []byte) []byte { return bytes.Replace(b, []byte("copy 2 "), []byte("copy 3 "), 1) }), "here", "this release can read"},
		"no JSON":          {change(func([]byte) []byte { return []byte(copyForm + sumOf([]byte("{\"plans\":3}")) + "\n{\"plans\":3}") }), "here", "cannot be read"},
		"a short key": {change(func([]byte) []byte {
			rest := []byte(`{"of":"here","keys":[{"key":{"id":"k"},"hash":"AAAA"}]}`)
			return append([]byte(copyForm+sumOf(rest)+"\n"), rest...)
		}), "here", "a key that is none"},
		"open to others": {func(t *testing.T, file string) { must(t, os.Chmod(file, 0o640)) }, "here", "open to other users"},
		"a link": {func(t *testing.T, file string) {
			must(t, os.Rename(file, file+".real"))
			must(t, os.Symlink(file+".real", file))
		}, "here", "too many levels of symbolic links"},
		"a folder": {func(t *testing.T, file string) { must(t, os.Remove(file)); must(t, os.Mkdir(file, 0o700)) }, "here", "no regular file"},
		"huge":     {func(t *testing.T, file string) { must(t, os.Truncate(file, maxCopy+1)) }, "here", "larger than a copy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, file := copied(t)
			test.spoil(t, file)
			if c, err := ReadCopy(file, test.of); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v and a copy of %d plans, want %q", err, len(c.Plans), test.says)
			}
		})
	}
}

// A copy is written after a change, and a failure to write is logged once.
func TestCopiesFollow(t *testing.T) {
	t.Parallel()
	k, log := newKept(), &bytes.Buffer{}
	a := New(Config{Now: time.Now, Ring: auth.NewKeyring(), Telemetry: telemetry.New(log, slog.LevelWarn)})
	a.Board.source = k
	dir := t.TempDir()
	keeper := copyKeeper{desk: a, file: filepath.Join(dir, "copy"), of: "here"}
	old := filepath.Join(dir, ".headroom-copy-left")
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	keeper.clear()
	holds := func(want int) {
		t.Helper()
		keeper.keep()
		c, err := ReadCopy(keeper.file, "here")
		if err != nil || len(c.Plans) != want {
			t.Fatalf("got %d plans, %v; want %d", len(c.Plans), err, want)
		}
	}
	read := func() {
		t.Helper()
		if err := a.Board.readAll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	holds(0)
	k.add(1, 5, began)
	read()
	holds(1)
	before, err := os.Stat(keeper.file)
	if err != nil {
		t.Fatal(err)
	}
	keeper.keep()
	if after, err := os.Stat(keeper.file); err != nil || !os.SameFile(before, after) {
		t.Errorf("it was written again though nothing has changed: %v", err)
	}
	k.plans = nil
	read()
	holds(0)
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 1 {
		t.Errorf("the folder holds %v", left)
	}
	keeper.file = filepath.Join(dir, "copy", "below-a-file")
	for range 3 {
		k.add(2, 5, began)
		read()
		keeper.keep()
	}
	if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), "not a directory") {
		t.Errorf("it was said %d times: %s", n, log)
	}
}

// A copy has a maximum size; plans that do not fit are omitted.
func TestCopiesAreBounded(t *testing.T) {
	t.Parallel()
	a := New(Config{Now: time.Now, Ring: auth.NewKeyring()})
	k := copyKeeper{desk: a, of: "here"}
	large := bytes.Repeat([]byte{200}, maxCopy/4) // a third more as text
	shown := map[string]*Shown{}
	for _, name := range []string{"a", "b", "c", "d"} {
		s := &Shown{}
		s.Record.Cluster, s.packed = name, large
		if name == "d" {
			s.packed = []byte(`{}`)
		}
		shown[name] = s
	}
	var text bytes.Buffer
	left, err := k.write(&text, shown, nil)
	if err != nil || left != 1 || text.Len() > maxCopy || !json.Valid(text.Bytes()) {
		t.Errorf("got %d bytes, %d plans left out, %v; want at most %d and 1", text.Len(), left, err, maxCopy)
	}
}
