package auth

import (
	"strings"
	"testing"
	"time"
)

// may lists the rights of each role.
var may = map[Role]string{
	Viewer:   "viewer",
	Planner:  "viewer planner",
	Operator: "viewer planner operator",
	Admin:    "viewer planner operator admin agent",
	Agent:    "agent",
	"":       "",
	"root":   "",
}

func TestRoles(t *testing.T) {
	for role, allowed := range may {
		for _, need := range append(Roles, "", "root") {
			want := need != "" && strings.Contains(" "+allowed+" ", " "+string(need)+" ")
			if got := role.May(need); got != want {
				t.Errorf("%q for what needs %q: got %v, want %v", role, need, got, want)
			}
		}
	}
}

func TestPrincipalsSeeTheirClusters(t *testing.T) {
	all, two, none := Principal{}, Principal{Clusters: []string{"a", "b"}}, Principal{Clusters: []string{}}
	for name, want := range map[string][3]bool{"a": {true, true, false}, "c": {true, false, false}, "": {true, false, false}} {
		if got := [3]bool{all.Sees(name), two.Sees(name), none.Sees(name)}; got != want {
			t.Errorf("cluster %q: got %v, want %v", name, got, want)
		}
	}
	if From(t.Context()).Role.May(Viewer) {
		t.Error("nobody may read")
	}
}

func TestTokens(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		token, hash := NewToken(KeyPrefix)
		if seen[token] || len(token) != len(KeyPrefix)+43 || !strings.HasPrefix(token, KeyPrefix) || HashOf(token) != hash {
			t.Fatalf("got %q", token)
		}
		seen[token] = true
	}
}

func TestKeyring(t *testing.T) {
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	later := now.Add(time.Hour)
	ring := NewKeyring()
	token, hash := NewToken(KeyPrefix)
	local, localHash := NewToken(KeyPrefix)
	link, linkHash := NewToken(LinkPrefix)
	opens := func(token string, at time.Time) bool { _, ok := ring.Principal(token, at); return ok }

	if opens(token, now) || opens("", now) || ring.Len(now) != 0 {
		t.Error("an empty ring opens")
	}
	ring.AddLocal(Key{ID: LocalID, Hash: localHash, Role: Admin})
	ring.AddLocal(Key{ID: LocalID, Hash: linkHash, Role: Admin})
	ring.Replace([]Key{{ID: "k", Name: "n", Hash: hash, Role: Viewer, Clusters: []string{"c"}, ExpiresAt: &later}})
	if who, ok := ring.Principal(token, now); !ok || who.ID != "k" || who.Name != "n" || who.Role != Viewer || !who.Sees("c") || who.Sees("d") {
		t.Errorf("got %+v, %v", who, ok)
	}
	if opens(token, later) {
		t.Error("the key opens when it is over")
	}
	for _, bad := range []string{"", token[1:], token + "x", strings.ToUpper(token), token[:len(token)-1], " " + token, KeyPrefix, link, KeyPrefix + strings.Repeat("x", 1<<20)} {
		if opens(bad, now) {
			t.Errorf("%.60q opens", bad)
		}
	}
	ring.Replace([]Key{{ID: "k", Hash: hash, RevokedAt: &now}})
	if opens(token, now) || !opens(local, now) || ring.Len(now) != 2 {
		t.Errorf("after revoking: %v, %v, %d", opens(token, now), opens(local, now), ring.Len(now))
	}
	if _, ok := ring.Find(local, later); !ok {
		t.Error("a local key ends")
	}
}
