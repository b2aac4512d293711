package postgres_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/test/pgtest"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := somebody(t)
	soon, past := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond), time.Now().Add(-time.Hour)
	var made []auth.Key
	for i, name := range hostile {
		_, hash := auth.NewToken(auth.KeyPrefix)
		k := auth.Key{Name: name, Role: auth.Roles[i%len(auth.Roles)], Hash: hash}
		if i%2 == 0 {
			k.Clusters, k.ExpiresAt = []string{"c1", name}, &soon
		}
		key := must(s.CreateKey(ctx, k))(t)
		if key.ID == "" || key.CreatedBy != "Ada" || key.CreatedAt.IsZero() {
			t.Errorf("a new key is %+v", key)
		}
		k.ID, k.CreatedBy, k.CreatedAt = key.ID, "Ada", key.CreatedAt
		same(t, key, k)
		made = append(made, key)
	}
	list := pages(t, 3, func(p storage.Page) (storage.Listed[auth.Key], error) { return s.Keys(ctx, p) })
	for i := range list {
		same(t, list[i], made[len(made)-1-i])
	}
	check(t, s.RevokeKey(ctx, made[0].ID))
	check(t, s.RevokeKey(ctx, made[0].ID))
	_, hash := auth.NewToken(auth.KeyPrefix)
	must(s.CreateKey(ctx, auth.Key{Name: "over", Role: auth.Viewer, Hash: hash, ExpiresAt: &past}))(t)
	same(t, must(s.AllKeys(ctx))(t), made[1:])
	if revoked := must(s.Keys(ctx, storage.Page{}))(t).Items; revoked[len(revoked)-1].RevokedAt == nil {
		t.Error("a revoked key is listed as if it were not")
	}
	for _, unknown := range []string{"", "x", "\x00", "0198c0de-0000-7000-8000-000000000000"} {
		kindOf(t, s.RevokeKey(ctx, unknown), fault.NotFound, "no key")
	}
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := somebody(t)
	open := func(life time.Duration, keyID string) auth.Hash {
		_, hash := auth.NewToken(auth.SessionPrefix)
		check(t, s.CreateSession(ctx, auth.Session{Hash: hash, KeyID: keyID, ExpiresAt: time.Now().Add(life),
			Principal: auth.Principal{ID: "p", Name: hostile[0], Role: auth.Planner, Clusters: []string{"c1"}}}))
		return hash
	}
	over := func(hash auth.Hash) {
		t.Helper()
		_, err := s.Session(ctx, hash)
		kindOf(t, err, fault.NotFound, "sign in again")
	}
	mine := open(time.Hour, "")
	got := must(s.Session(ctx, mine))(t)
	same(t, got.Principal, auth.Principal{ID: "p", Name: hostile[0], Role: auth.Planner, Clusters: []string{"c1"}})
	if got.Hash != mine || got.KeyID != "" || time.Until(got.ExpiresAt) < time.Minute {
		t.Errorf("session %+v", got)
	}
	over(open(-time.Second, ""))
	over(auth.HashOf("unknown"))
	check(t, s.DeleteSession(ctx, mine))
	check(t, s.DeleteSession(ctx, mine))
	over(mine)

	_, hash := auth.NewToken(auth.KeyPrefix)
	key := must(s.CreateKey(ctx, auth.Key{Name: "k", Role: auth.Viewer, Hash: hash}))(t)
	ofKey, other := open(time.Hour, key.ID), open(time.Hour, "")
	if got := must(s.Session(ctx, ofKey))(t); got.KeyID != key.ID {
		t.Errorf("the session's key is %q", got.KeyID)
	}
	check(t, s.RevokeKey(ctx, key.ID))
	over(ofKey)
	must(s.Session(ctx, other))(t)
}

func TestASignInLinkWorksOnce(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := somebody(t)
	_, hash := auth.NewToken(auth.LinkPrefix)
	check(t, s.CreateLink(ctx, hash, time.Now().Add(time.Minute)))
	const takers = 8
	taken := make(chan error, takers)
	for range takers {
		go func() { taken <- s.TakeLink(ctx, hash, time.Now().Add(time.Hour)) }()
	}
	worked := 0
	for range takers {
		if err := <-taken; err == nil {
			worked++
		} else {
			kindOf(t, err, fault.NotFound, "used up")
		}
	}
	if worked != 1 {
		t.Errorf("the link worked %d times", worked)
	}
	check(t, s.CreateLink(ctx, auth.HashOf("old"), time.Now().Add(-time.Second)))
	kindOf(t, s.TakeLink(ctx, auth.HashOf("old"), time.Now().Add(time.Hour)), fault.NotFound)
	kindOf(t, s.TakeLink(ctx, auth.HashOf("unknown"), time.Now().Add(time.Hour)), fault.NotFound)
}

func TestKeyChangesAreHeard(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := somebody(t)
	heard := make(chan struct{}, 10)
	listening, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.Listen(listening, auth.KeysChannel, func(string) { heard <- struct{}{} }) }()
	hears := func(what string, does func() error) {
		t.Helper()
		for len(heard) > 0 {
			<-heard
		}
		check(t, does())
		select {
		case <-heard:
		case <-time.After(10 * time.Second):
			t.Fatalf("%s was not heard", what)
		}
	}
	var key auth.Key
	n := 0
	create := func() (err error) {
		n++
		key, err = s.CreateKey(ctx, auth.Key{Name: "k", Role: auth.Viewer, Hash: auth.HashOf(fmt.Sprint(n))})
		return err
	}
	eventually(t, "somebody listens", func() bool { check(t, create()); return len(heard) > 0 })
	hears("a new key", create)
	hears("a revoked key", func() error { return s.RevokeKey(ctx, key.ID) })
	stop()
	if err := <-ended; err != context.Canceled {
		t.Errorf("listening ended with %v", err)
	}
}
