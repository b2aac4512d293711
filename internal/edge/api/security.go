package api

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

const noStore = "no-store"

// Content security policies. Answers that are no page may load nothing at all; pages load only their own files.
const (
	policyOfData  = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
	policyOfPages = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
	// policyOfGuides lets the documentation's search ask this server.
	policyOfGuides = "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)

// secureNames lists headers of every answer, in the form of http.Header.
var (
	secureNames  = []string{"Content-Security-Policy", "X-Content-Type-Options", "X-Frame-Options", "Referrer-Policy", "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy", "Cache-Control"}
	secureValues = []string{policyOfData, "nosniff", "DENY", "no-referrer", "same-origin", "same-origin", noStore}
)

// secureHeaders sets the headers of every answer; handlers may set others afterwards.
func (s *server) secureHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		for i, name := range secureNames {
			h[name] = secureValues[i : i+1 : i+1] // shared by all answers; a handler that sets another one replaces it
		}
		next.ServeHTTP(w, r)
	})
}

// checkHost refuses foreign host names, so that a hostile page cannot reach the server by pointing a name of its own
// here. Addresses and loopback names cannot be made to do that.
func (s *server) checkHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.knowsHost(r.Host) {
			name := hostName(r.Host)
			s.refuse(w, r, misdirected(fmt.Sprintf("This server does not answer to the name %.100q. If it should, add the name to HEADROOM_HOSTS and start the server again; otherwise ask for it by its address or as localhost.", name)))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// page answers addresses of the page, which everybody may load: its data needs a key.
func (s *server) page(next http.Handler) http.Handler {
	if s.config.Page == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.config.Page(w, r) {
			next.ServeHTTP(w, r)
		}
	})
}

// knowsHost reports whether a Host header is one of ours. Browsers always send one; a request of HTTP/1.0 without one
// is harmless.
func (s *server) knowsHost(host string) bool {
	name := hostName(host)
	if name == "" || name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return slices.ContainsFunc(s.config.Hosts, func(known string) bool { return hostName(known) == name })
}

// hostName returns a host without its port, brackets and final dot, in lower case.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

func safe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// sameOrigin refuses changes that a browser sends on behalf of another site. Programs send neither
// Origin nor cookies and pass.
func (s *server) sameOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if detail := s.crossOrigin(r); detail != "" {
			s.refuse(w, r, foreignOrigin(detail))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// crossOrigin explains why a request may come from another site's page; "" means that it does not.
func (s *server) crossOrigin(r *http.Request) string {
	if safe(r.Method) {
		return ""
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return "Another site's page sent this request; only pages of this server may."
	}
	want := "http://" + r.Host
	if r.TLS != nil || s.config.SecureCookies {
		want = "https://" + r.Host
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		if askedOf(r.Context()).cookie && r.Header.Get("Sec-Fetch-Site") != "same-origin" {
			return "A session's cookie alone may not change anything: the request lacks the header Origin, which browsers send. Programs send a key in the header Authorization instead."
		}
		return ""
	}
	if len(origins) == 1 && strings.EqualFold(origins[0], want) {
		return ""
	}
	return fmt.Sprintf("The request comes from a page of %.200q, not of %q. Behind a proxy with TLS set HEADROOM_SECURE_COOKIES=true and let the proxy pass the header Host on.", strings.Join(origins, ", "), want)
}
