package auth

import (
	"bytes"
	"crypto/subtle"
	"slices"
	"strings"
	"sync"
	"time"
)

// Keyring holds the valid keys in memory, so that no request waits for the database to identify its caller. The owner
// of the store refreshes it. It is safe for concurrent use.
type Keyring struct {
	mu     sync.RWMutex
	stored map[Hash]Key
	local  map[Hash]Key // keys that live with the process and are not stored

	asking  sync.Mutex // held while Ask runs
	lastAsk time.Time
}

// NewKeyring returns an empty keyring.
func NewKeyring() *Keyring {
	return &Keyring{stored: map[Hash]Key{}, local: map[Hash]Key{}}
}

// Replace replaces all stored keys.
func (r *Keyring) Replace(keys []Key) {
	stored := make(map[Hash]Key, len(keys))
	for _, k := range keys {
		stored[k.Hash] = k
	}
	r.mu.Lock()
	r.stored = stored
	r.mu.Unlock()
}

// Stored returns all stored keys, always in the same order.
func (r *Keyring) Stored() []Key {
	r.mu.RLock()
	keys := make([]Key, 0, len(r.stored))
	for _, k := range r.stored {
		keys = append(keys, k)
	}
	r.mu.RUnlock()
	slices.SortFunc(keys, func(a, b Key) int { return bytes.Compare(a.Hash[:], b.Hash[:]) })
	return keys
}

// AddLocal adds a key that lives with the process.
func (r *Keyring) AddLocal(k Key) {
	r.mu.Lock()
	r.local[k.Hash] = k
	r.mu.Unlock()
}

// hasLocal reports whether a key of the process has this mark.
func (r *Keyring) hasLocal(mark string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for hash := range r.local {
		if hash.Mark() == mark {
			return true
		}
	}
	return false
}

// Len returns the number of valid keys.
func (r *Keyring) Len(now time.Time) (n int) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, of := range []map[Hash]Key{r.stored, r.local} {
		for _, k := range of {
			if k.Valid(now) {
				n++
			}
		}
	}
	return n
}

// Find returns the key of a token. All tokens without a key are refused alike: only their hash is looked up, whatever
// they look like.
func (r *Keyring) Find(token string, now time.Time) (Key, bool) {
	const longest = 128
	if len(token) > longest || !strings.HasPrefix(token, KeyPrefix) {
		token = ""
	}
	hash := HashOf(token)
	r.mu.RLock()
	k, ok := r.stored[hash]
	if !ok {
		k, ok = r.local[hash]
	}
	r.mu.RUnlock()
	if subtle.ConstantTimeCompare(k.Hash[:], hash[:]) != 1 || !ok || !k.Valid(now) {
		return Key{}, false
	}
	return k, true
}

// Principal returns the principal of a token.
func (r *Keyring) Principal(token string, now time.Time) (Principal, bool) {
	k, ok := r.Find(token, now)
	return k.Principal(), ok
}

// Ask calls anew to read the stored keys, unless another caller does so now or has done so within every.
func (r *Keyring) Ask(every time.Duration, anew func()) {
	if !r.asking.TryLock() {
		return
	}
	defer r.asking.Unlock()
	if time.Since(r.lastAsk) >= every {
		anew()
		r.lastAsk = time.Now()
	}
}
