package auth

import (
	"bytes"
	"crypto/subtle"
	"slices"
	"strings"
	"sync"
	"time"
)

// Keyring is the keys that open the service, in memory, so that no request waits for the database to
// know who asks. Whoever stores keys refreshes it. It is safe for concurrent use.
type Keyring struct {
	mu     sync.RWMutex
	stored map[Hash]Key
	local  map[Hash]Key // keys that live with the process and are stored nowhere

	asking sync.Mutex // held while Ask runs
	asked  time.Time
}

// NewKeyring holds no key.
func NewKeyring() *Keyring {
	return &Keyring{stored: map[Hash]Key{}, local: map[Hash]Key{}}
}

// Replace puts these keys in the place of all stored ones.
func (r *Keyring) Replace(keys []Key) {
	stored := make(map[Hash]Key, len(keys))
	for _, k := range keys {
		stored[k.Hash] = k
	}
	r.mu.Lock()
	r.stored = stored
	r.mu.Unlock()
}

// Stored are all stored keys, always in the same order.
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

// HasLocal says whether there is a key that lives with the process and has this mark.
func (r *Keyring) HasLocal(mark string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for hash := range r.local {
		if hash.Mark() == mark {
			return true
		}
	}
	return false
}

// Len is how many keys there are that are neither revoked nor over.
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

// Find is the key that a token belongs to. Every token that opens nothing is refused alike: only its
// hash is looked up, whatever it looks like.
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

// Principal is whom a token belongs to.
func (r *Keyring) Principal(token string, now time.Time) (Principal, bool) {
	k, ok := r.Find(token, now)
	return k.Principal(), ok
}

// Ask runs what reads the stored keys anew, unless another caller does so now or has within a while.
func (r *Keyring) Ask(every time.Duration, anew func()) {
	if !r.asking.TryLock() {
		return
	}
	defer r.asking.Unlock()
	if time.Since(r.asked) >= every {
		anew()
		r.asked = time.Now()
	}
}
