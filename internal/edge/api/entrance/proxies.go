package entrance

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies lists networks whose word about the addresses of their clients is taken.
type Proxies []netip.Prefix

func (p Proxies) has(a netip.Addr) bool {
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(a) })
}

// AddressOf returns the origin of a request. Listed proxies say it; the headers of others are ignored, because anybody
// can send them.
func (p Proxies) AddressOf(r *http.Request) string {
	from, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	peer, err := netip.ParseAddr(from)
	if len(p) == 0 || err != nil || !p.has(peer.Unmap()) {
		return from
	}
	for _, text := range slices.Backward(forwarded(r.Header)) {
		a, err := netip.ParseAddr(text)
		if err != nil {
			break
		}
		if from = a.Unmap().WithZone("").String(); !p.has(a.Unmap()) {
			break
		}
	}
	return from
}

// forwarded lists the addresses that a request went through, by X-Forwarded-For or else by Forwarded (RFC 7239). With both
// it is unclear which one the proxy has written, and which one its client.
func forwarded(h http.Header) (all []string) {
	elements := h.Values("X-Forwarded-For")
	if standard := h.Values("Forwarded"); len(standard) > 0 {
		if len(elements) > 0 {
			return nil
		}
		elements = standard
	}
	for element := range strings.SplitSeq(strings.Join(elements, ","), ",") {
		for pair := range strings.SplitSeq(element, ";") {
			name, value, named := strings.Cut(pair, "=")
			if !named {
				name, value = "for", pair
			}
			if strings.EqualFold(strings.TrimSpace(name), "for") {
				all = append(all, withoutPort(strings.Trim(strings.TrimSpace(value), `"`)))
			}
		}
	}
	return all
}

// withoutPort returns an address such as 192.0.2.1:80 or [2001:db8::1] without its port and brackets.
func withoutPort(text string) string {
	if host, _, err := net.SplitHostPort(text); err == nil {
		return host
	}
	return strings.Trim(text, "[]")
}
