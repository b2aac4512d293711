package api

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestBombs sends bodies that would take a hundred times their size in memory, if they were read
// before they are refused.
func TestBombs(t *testing.T) {
	s := newService(t)
	s.cluster("night")
	many := func(member, value string, size int) string {
		return `{"` + member + `":[` + strings.Repeat(value+",", size/(len(value)+1)) + value + `]}`
	}
	for _, c := range []struct {
		name, token, method, path, body string
		want                            int
	}{
		{"a sign-in by nobody", "", "POST", "/v1/session", many("token", "{}", 1<<20), http.StatusRequestEntityTooLarge},
		{"a key", s.admin, "POST", "/v1/keys", many("clusters", "{}", 1<<20), http.StatusRequestEntityTooLarge},
		{"a key, no larger than may be", s.admin, "POST", "/v1/keys", many("clusters", "{}", 200<<10), http.StatusBadRequest},
		{"a class", s.admin, "POST", "/v1/clusters/night/classes", many("profile", "[]", 1<<20), http.StatusRequestEntityTooLarge},
		{"a plan", s.admin, "POST", "/v1/clusters/night/plans", many("at", "0", 1<<20), http.StatusRequestEntityTooLarge},
		{"a document", s.admin, "PUT", "/v1/clusters/night/document", many("classes", "{}", 7<<20), http.StatusRequestEntityTooLarge},
		{"a document of long text", s.admin, "PUT", "/v1/clusters/night/document", `{"x":"` + strings.Repeat(`\",`, 2<<20) + `"}`, http.StatusBadRequest},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.ask(c.token, c.method, c.path, c.body, "If-Match", `"1"`).want(t, c.want)
		})
	}
}

// Times that no answer could write would be lost, or spoil every list that contains them.
func TestTimesBeyondTheCalendar(t *testing.T) {
	s := newService(t)
	s.cluster("night")
	for _, at := range []string{"9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59", "0000-01-01T00:00:00Z"} {
		s.ask(s.admin, "POST", "/v1/keys", map[string]any{"name": "x", "role": "viewer", "expires_at": at}).want(t, http.StatusBadRequest)
		s.ask(s.admin, "POST", "/v1/clusters/night/plans", map[string]any{"at": at}).want(t, http.StatusBadRequest)
		s.ask(s.admin, "GET", "/v1/clusters/night/problem?at="+url.QueryEscape(at), nil).want(t, http.StatusBadRequest)
	}
}

// A revoked key's sessions end at once on the server that revoked it.
func TestRevokedKeysSessionsEndAtOnce(t *testing.T) {
	s := newService(t)
	var made struct{ ID, Token string }
	s.ask(s.admin, "POST", "/v1/keys", map[string]any{"name": "x", "role": "viewer"}).want(t, http.StatusCreated).into(t, &made)
	signedIn := s.ask("", "POST", "/v1/session", map[string]any{"token": made.Token}).want(t, http.StatusCreated)
	cookie := signedIn.Cookies()[0]
	s.ask("", "GET", "/v1/session", nil, "Cookie", cookie.Name+"="+cookie.Value).want(t, http.StatusOK)
	s.ask(s.admin, "DELETE", "/v1/keys/"+made.ID, nil).want(t, http.StatusNoContent)
	s.ask("", "GET", "/v1/session", nil, "Cookie", cookie.Name+"="+cookie.Value).want(t, http.StatusUnauthorized)
}

func TestValues(t *testing.T) {
	for text, want := range map[string]int{
		`1`: 0, `{}`: 1, `[1,2,3]`: 3, `{"a":1,"b":[{},{}]}`: 6, `{"a,[{":"\",[{\\"}`: 1, `["\\",","]`: 2,
	} {
		if got := values([]byte(text)); got != want {
			t.Errorf("values(%s) = %d, want %d", text, got, want)
		}
	}
}
