package fetch

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

// AllowedHost is a host that an admin allows the server to send to and read from. All others are out of reach.
type AllowedHost struct {
	ID   string `json:"id,omitzero"`
	Host string `json:"host"` // one exact name (or address), never a pattern
	Port int64  `json:"port"`
	HTTP bool   `json:"http"` // plain HTTP is allowed as well as HTTPS
	// Networks are the only addresses that the name may resolve to. Without any, only public ones are allowed.
	Networks  []string  `json:"networks"`
	CreatedAt time.Time `json:"created_at,omitzero"`
	CreatedBy string    `json:"created_by,omitzero"`
}

// Limits of allowed hosts.
const (
	// No entry opens a network wider than these: a whole family of addresses would be no list.
	widestIPv4 = 8
	widestIPv6 = 16
)

// UnmarshalJSON fills in defaults.
func (h *AllowedHost) UnmarshalJSON(text []byte) error {
	type members AllowedHost
	var m members
	err := json.Unmarshal(text, &m)
	if m.Port == 0 {
		m.Port = 443
		if m.HTTP {
			m.Port = 80
		}
	}
	if m.Networks == nil {
		m.Networks = []string{}
	}
	*h = AllowedHost(m)
	return err
}

func portOfTarget(scheme string) int64 {
	if scheme == "http" {
		return 80
	}
	return 443
}

// Label returns the host with its port, as people write it.
func (h AllowedHost) Label() string { return hostPort(h.Host, h.Port) }

func hostPort(host string, port int64) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.FormatInt(port, 10)
}

// Validate checks what the contract's rules for an entry leave open.
func (h AllowedHost) Validate() error {
	return strict.Check(func(k *strict.Checker) {
		if detail, better := hostFault(h.Host); detail != "" {
			var hint *fault.Hint
			if better != "" {
				hint = k.Hint("host", better, "Write %q.", better)
			}
			k.Found("host", "text", detail, hint)
		}
		if a, err := netip.ParseAddr(h.Host); err == nil && len(h.Networks) == 0 && !public(a) {
			k.Refuse("networks", "missing", "%s is not a public address, so nothing would be sent there; list a network that it is in, such as %q (--network).",
				a, netip.PrefixFrom(a, a.BitLen()))
		}
		k.Enter("networks")
		for i, text := range h.Networks {
			k.Element(i)
			checkNetwork(k, text)
			k.Leave()
		}
		k.Leave()
	})
}

func checkNetwork(c *strict.Checker, text string) {
	n, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		c.Refuse("", "text", "%q is no network; write one such as \"10.1.0.0/16\" or \"fd00:1::/32\".", fault.Clip(text))
	case n.Addr().Is4In6():
		c.Refuse("", "text", "%q is a network of IPv4 written as IPv6; write it as IPv4.", fault.Clip(text))
	case n != n.Masked() || n.String() != text:
		c.Found("", "text", fmt.Sprintf("%q is not written as networks are.", fault.Clip(text)), c.Hint("", n.Masked().String(), "Write %q.", n.Masked().String()))
	case n.Addr().Is4() && n.Bits() < widestIPv4, n.Addr().Is6() && n.Bits() < widestIPv6:
		c.Refuse("", "range", "The network %s is too wide; list /%d or narrower ones (IPv6: /%d).", text, widestIPv4, widestIPv6)
	}
}

// Target holds the parts of an address to send to or read from.
type Target struct {
	URL    string
	Scheme string // http or https
	Host   string // as allowed hosts write it
	Port   int64
}

// Label returns the host with its port, as people write it. The rest of an address may be a secret.
func (t Target) Label() string { return hostPort(t.Host, t.Port) }

const longestURL = 2000

// ParseTarget reads an address, which has only one valid form. It refuses every text that two readers could take for
// different hosts; fault is then a sentence with the reason.
func ParseTarget(text string) (t Target, wrong string) {
	refuse := func(sentence string, values ...any) (Target, string) {
		return Target{}, fmt.Sprintf(sentence, values...)
	}
	if len(text) > longestURL {
		return refuse("The address has %d characters; at most %d are kept.", len(text), longestURL)
	}
	for _, r := range text {
		switch {
		case r > '~':
			return refuse("The address has %q in it; write names of other alphabets in their xn-- form, and escape such characters in a path with %%.", r)
		case r <= ' ' || r == '\\':
			return refuse("The address has %q in it, which no address has.", r)
		}
	}
	u, err := url.Parse(text)
	if err != nil {
		return refuse("The address cannot be read; write one such as https://hooks.example.com/headroom.")
	}
	scheme, rest, _ := strings.Cut(text, "://")
	switch {
	case u.Scheme != "https" && u.Scheme != "http", u.Opaque != "", u.Host == "":
		return refuse("The address must begin with https:// and a host, such as https://hooks.example.com/headroom.")
	case u.User != nil || strings.Contains(authority(rest), "@"):
		return refuse("The address has a user or password in it; leave it out: signatures say who sends.")
	case u.Fragment != "" || strings.Contains(text, "#"):
		return refuse("The address has a fragment (#…), which is never sent; leave it out.")
	case scheme != u.Scheme:
		return refuse("Write %s:// in small letters.", u.Scheme)
	}
	t = Target{URL: text, Scheme: u.Scheme, Host: u.Hostname(), Port: portOfTarget(u.Scheme)}
	if detail, better := hostFault(t.Host); detail != "" {
		if better != "" {
			detail += fmt.Sprintf(" Write %q.", better)
		}
		return refuse("%s", detail)
	}
	given := t.Host
	if strings.Contains(given, ":") {
		given = "[" + given + "]"
	}
	if port := u.Port(); port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
			return refuse("The address has the port %q; a port is a number from 1 to 65535.", fault.Clip(port))
		}
		t.Port = int64(n)
		given += ":" + port
	}
	if authority(rest) != given {
		return refuse("The host in the address cannot be read as it is written; write it like https://hooks.example.com:443/headroom.")
	}
	return t, ""
}

// authority returns the part between :// and the path.
func authority(rest string) string {
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		return rest[:i]
	}
	return rest
}

var hostName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
})

// hostFault returns the fault of a host's name and, if known, the right spelling. Some readers take a name whose last
// label begins like a number for an address.
func hostFault(host string) (detail, better string) {
	if a, err := netip.ParseAddr(host); err == nil {
		switch {
		case a.Zone() != "":
			return fmt.Sprintf("The address %q has a zone, which means something on one machine only; leave it out.", fault.Clip(host)), ""
		case a.Is4In6():
			return fmt.Sprintf("%q is an IPv4 address written as IPv6.", fault.Clip(host)), a.Unmap().String()
		case a.String() != host:
			return fmt.Sprintf("%q is not written as addresses are.", fault.Clip(host)), a.String()
		}
		return "", ""
	}
	small := strings.ToLower(host)
	bare := strings.TrimSuffix(small, ".")
	last := bare[strings.LastIndexByte(bare, '.')+1:]
	switch {
	case host == "":
		return "The host is empty; give a name such as \"hooks.example.com\".", ""
	case strings.Contains(host, "*"):
		return fmt.Sprintf("%q is a pattern; give every host by its own name.", fault.Clip(host)), ""
	case len(bare) > 253 || !hostName().MatchString(bare):
		return fmt.Sprintf("%q is no host's name; write one such as \"hooks.example.com\", without a scheme, a port or a path.", fault.Clip(host)), ""
	case last[0] >= '0' && last[0] <= '9':
		return fmt.Sprintf("%q is neither a name nor an address as it is usually written; an IPv4 address has four decimal numbers.", fault.Clip(host)), ""
	case host != bare:
		return fmt.Sprintf("The host %q has capital letters or a dot at its end.", fault.Clip(host)), bare
	}
	return "", ""
}

// Allows explains why an entry does not allow a target; it returns "" if it does.
func (h AllowedHost) Allows(t Target) (fault string) {
	switch {
	case h.Host != t.Host || h.Port != t.Port:
		return t.NotAllowed()
	case t.Scheme == "http" && !h.HTTP:
		return fmt.Sprintf("The list of allowed hosts has %s for HTTPS only; write https://, or have an admin deny that host and allow it with plain HTTP (\"headroom server host allow %s --http\").", h.Label(), h.Label())
	}
	return ""
}

// NotAllowed returns the refusal of a target that no entry names.
func (t Target) NotAllowed() string {
	needs := ""
	if t.Scheme == "http" {
		needs = " --http"
	}
	if a, err := netip.ParseAddr(t.Host); err == nil && !public(a) {
		needs += " --network " + netip.PrefixFrom(a, a.BitLen()).String()
	}
	return fmt.Sprintf("%s is not on the list of allowed hosts; an admin adds it (\"headroom server host allow %s%s\").", t.Label(), t.Label(), needs)
}

// reaches explains why the entry does not allow connections to an address; it returns "" if it does.
func (h AllowedHost) reaches(a netip.Addr) (fault string) {
	a = a.Unmap()
	if len(h.Networks) == 0 {
		if !public(a) {
			return fmt.Sprintf("%s stands for %s, which is not a public address; list its network with the allowed host if that is meant.", h.Host, a)
		}
		return ""
	}
	for _, text := range h.Networks {
		if n, err := netip.ParsePrefix(text); err == nil && a.Zone() == "" && n.Contains(a) {
			return ""
		}
	}
	return fmt.Sprintf("%s stands for %s, which is in none of the networks listed with the allowed host.", h.Host, a)
}

// public reports whether an address belongs to the open internet, not to this machine or its surroundings. Addresses
// that are translated (NAT64, 6to4, Teredo) do not count, because their real targets cannot be checked.
func public(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	if a.Is6() && !globalIPv6.Contains(a) {
		return false
	}
	for _, n := range special {
		if n.Contains(a) {
			return false
		}
	}
	return true
}

// globalIPv6 is the allocated part of IPv6. Outside of it are loopback, link-local, unique local, multicast, mapped
// and translated (64:ff9b::/96) addresses.
var globalIPv6 = netip.MustParsePrefix("2000::/3")

// special lists the networks of IANA's registries of special-purpose addresses.
var special = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
	"224.0.0.0/4", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
)

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, t := range texts {
		all = append(all, netip.MustParsePrefix(t))
	}
	return all
}
