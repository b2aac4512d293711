package entrance

import (
	"net/http"
	"net/netip"
	"testing"
)

// Listed proxies say for whom they ask; the word of others counts for nothing.
func TestForwardedAddresses(t *testing.T) {
	t.Parallel()
	proxies := Proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8"), netip.MustParsePrefix("192.0.2.7/32")}
	for _, c := range []struct{ peer, via, standard, want string }{
		{"198.51.100.1:9", "203.0.113.5", "", "198.51.100.1"},
		{"198.51.100.1:9", "", "for=203.0.113.5", "198.51.100.1"},
		{"10.0.0.1:9", "", "", "10.0.0.1"},
		{"10.0.0.1:9", "203.0.113.5", "", "203.0.113.5"},
		{"10.0.0.1:9", "1.1.1.1, 203.0.113.5, 10.9.9.9", "", "203.0.113.5"},
		{"10.0.0.1:9", "203.0.113.5:4711", "", "203.0.113.5"},
		{"[fd00::1]:9", "2001:db8::5", "", "2001:db8::5"},
		{"[::ffff:10.0.0.1]:9", "203.0.113.5", "", "203.0.113.5"},
		{"192.0.2.7:9", "", `for=1.1.1.1, For="[2001:db8:cafe::17]:4711";proto=https;by=10.0.0.1`, "2001:db8:cafe::17"},
		{"10.0.0.1:9", "", "for=unknown", "10.0.0.1"},
		{"10.0.0.1:9", "203.0.113.5, _hidden, 10.9.9.9", "", "10.9.9.9"},
		{"10.0.0.1:9", "203.0.113.5", "for=1.1.1.1", "10.0.0.1"},
		{"10.0.0.1:9", "10.1.1.1, 10.2.2.2", "", "10.1.1.1"},
		{"10.0.0.1:9", ", ,", "", "10.0.0.1"},
		{"10.0.0.1:9", "fe80::1%eth0", "", "fe80::1"},
		{"@", "203.0.113.5", "", "@"},
	} {
		r := &http.Request{RemoteAddr: c.peer, Header: http.Header{}}
		if c.via != "" {
			r.Header.Add("X-Forwarded-For", c.via)
		}
		if c.standard != "" {
			r.Header.Add("Forwarded", c.standard)
		}
		if got := proxies.AddressOf(r); got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}
