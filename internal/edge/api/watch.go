package api

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"example.org/headroom/internal/service/auth"
)

// watchers bounds the requests that wait for changes.
type watchers struct {
	mu    sync.Mutex
	of    map[string]int // by key
	total int
}

// A watcher costs a connection and about 30 kB.
const (
	watchersOfKey = 4_000
	watchersInAll = 20_000
)

// enter takes a place, which leave returns; nil means that none is free.
func (l *watchers) enter(key string) (leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of[key] >= watchersOfKey || l.total >= watchersInAll {
		return nil
	}
	if l.of == nil {
		l.of = map[string]int{}
	}
	l.of[key]++
	l.total++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.total--
		if l.of[key]--; l.of[key] == 0 {
			delete(l.of, key)
		}
	}
}

// tooManyWatchers answers a request that found no place to wait.
func tooManyWatchers(w http.ResponseWriter) refusal {
	w.Header().Set("Retry-After", "10")
	return refusal{tooMany("Too many requests wait for changes already. End some of them, or ask without waiting.")}
}

// waitForChange waits until a cluster's current plan is none of the known ones, the time is up, the server stops or
// the caller may no longer see it. It returns the plan at that moment.
func (s *server) waitForChange(w http.ResponseWriter, r *http.Request, cluster string, known []string, wait time.Duration) (found, error) {
	a := askedOf(r.Context())
	leave := s.watchers.enter(a.principal.ID)
	if leave == nil {
		return found{}, tooManyWatchers(w)
	}
	defer leave()
	defer func(began time.Time) { a.waited = time.Since(began) }(time.Now())
	up := time.NewTimer(wait)
	defer up.Stop()
	for {
		_, changed := s.app.Plans.Board.Watch(cluster)
		shown, err := s.current(r.Context(), cluster)
		if err != nil || !matches(known, shown.etag(s.app.Now())) {
			return shown, err
		}
		select {
		case <-changed:
		case <-up.C:
			return s.stillSeen(r, shown)
		case <-s.config.Stopping:
			return s.stillSeen(r, shown)
		case <-r.Context().Done():
			return found{}, r.Context().Err()
		}
		if _, err := s.stillSeen(r, shown); err != nil {
			return found{}, err
		}
	}
}

// stillSeen refuses a caller who may no longer see a plan.
func (s *server) stillSeen(r *http.Request, shown found) (found, error) {
	if !s.stillMay(r) {
		return found{}, refusal{unauthorized("The key or session has ended while the request waited.")}
	}
	shown.stale = shown.stale || !s.reachable() // since then
	return shown, nil
}

// stillMay reports whether the key or session of a request still has its rights. While the database is away, callers
// that it would have to look up may stay.
func (s *server) stillMay(r *http.Request) bool {
	a := askedOf(r.Context())
	who := a.principal
	if token, sent := sentToken(r); sent {
		if strings.HasPrefix(who.ID, auth.IssuedID) { // nobody can end it before its time
			return s.app.Now().Before(*a.expires)
		}
		key, ok := s.app.Auth.Ring.Find(token, s.app.Now())
		return ok && sameSight(key.Principal(), who)
	}
	_, err := s.findSession(r, s.sessionToken(r))
	return problemOf(err).Status != http.StatusUnauthorized || err == nil
}

func sameSight(now, before auth.Principal) bool { return now.ID == before.ID }
