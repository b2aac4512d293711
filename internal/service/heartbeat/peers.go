package heartbeat

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"log/slog"
	"slices"
	"sync"
	"time"

	"example.org/headroom/internal/service/auth"
)

// Server is one of several that serve the same database.
type Server struct {
	Address string // with its port, for the others
	Hash    string // of the token that it shows them, in hexadecimal digits
}

// Servers lists the servers of a database that others can reach.
type Servers interface {
	// RenewServer lists a server for a while from now (0: no more), by the database's clock, and returns the others.
	RenewServer(ctx context.Context, self Server, lasts time.Duration) (others []Server, err error)
}

// Peers knows the servers of a database, and the one among them that owns a live cluster: all changes are sent there,
// so its memory stays right and nobody else reads the state. No answer rests on it. Servers that disagree only read
// more: whoever changes a cluster locks it and compares its stamp.
type Peers struct {
	store Servers
	self  Server
	token string
	log   *slog.Logger

	mu     sync.Mutex
	others []*Peer
}

// Peer is another server.
type Peer struct {
	Server
	Listed context.Context // ends when it is listed no more
	end    context.CancelFunc
	away   time.Time // it is passed over until then
}

// A server renews its row every renewal. Without that the others forget it after listedFor.
const (
	renewal   = 2 * time.Second
	listedFor = 3 * renewal
	passOver  = 10 * time.Second // for a server that could not be reached
)

// NewPeers returns the peers of a server with an address for them. It knows none before Start.
func NewPeers(store Servers, address string, log *slog.Logger) *Peers {
	token, hash := auth.NewToken(auth.PeerPrefix)
	return &Peers{store: store, self: Server{address, hex.EncodeToString(hash[:])}, token: token, log: log}
}

// Start lists the server until the context ends, and closes the channel when it is listed no more. The desk keeps no cluster in
// memory that has moved to another server.
func (p *Peers) Start(ctx context.Context, desk *Desk) (ended <-chan struct{}) {
	left := make(chan struct{})
	known := p.renew(ctx, true)
	go func() {
		defer close(left)
		again := time.NewTicker(renewal)
		defer again.Stop()
		for {
			select {
			case <-again.C:
				known = p.renew(ctx, known)
				desk.Leave(func(cluster string) bool { return p.Owner(cluster) == nil })
			case <-ctx.Done():
				leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
				defer cancel()
				_, _ = p.store.RenewServer(leaving, p.self, 0) // otherwise the others forget it a little later
				return
			}
		}
	}()
	return left
}

// renew lists the server for another while, and takes in the others. While the database is away it keeps the ones it
// knows.
func (p *Peers) renew(ctx context.Context, before bool) (ok bool) {
	listed, err := p.store.RenewServer(ctx, p.self, listedFor)
	if err != nil {
		if before && ctx.Err() == nil {
			p.log.Warn("the list of servers cannot be renewed", "error", err.Error())
		}
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.others = slices.DeleteFunc(p.others, func(o *Peer) bool {
		i := slices.Index(listed, o.Server)
		if i < 0 {
			o.end()
			return true
		}
		listed = slices.Delete(listed, i, i+1)
		return false
	})
	for _, s := range listed {
		o := &Peer{Server: s}
		o.Listed, o.end = context.WithCancel(context.Background())
		p.others = append(p.others, o)
	}
	return true
}

// Owner returns the server that owns a live cluster; nil is this one. Servers with the same list agree, and where one
// comes or goes only its own clusters move (rendezvous hashing).
func (p *Peers) Owner(cluster string) (owner *Peer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.others) == 0 {
		return nil
	}
	now, most := time.Now(), weight(p.self.Address, cluster)
	for _, o := range p.others {
		if w := weight(o.Address, cluster); w > most && now.After(o.away) {
			owner, most = o, w
		}
	}
	return owner
}

func weight(address, cluster string) uint64 {
	sum := sha256.Sum256([]byte(address + " " + cluster))
	return binary.BigEndian.Uint64(sum[:])
}

// PassOver makes others own a server's clusters for a while: it could not be reached.
func (p *Peers) PassOver(o *Peer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o.away = time.Now().Add(passOver)
}

// Token returns what the server shows the others.
func (p *Peers) Token() string { return p.token }

// Knows reports whether one of the other servers shows this token.
func (p *Peers) Knows(token string) bool {
	hash := auth.HashOf(token)
	shown := hex.EncodeToString(hash[:])
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.others, func(o *Peer) bool { return o.Hash == shown })
}

// Count returns the number of other servers.
func (p *Peers) Count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.others)
}
