package fetch

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

func TestAddressesThatAreRefused(t *testing.T) {
	for _, c := range []struct{ situation, address, words string }{
		{"empty", "", "must begin with https://"},
		{"no scheme", "hooks.example.com/a", "must begin with https://"},
		{"another scheme", "ftp://hooks.example.com/", "must begin with https://"},
		{"a file", "file:///etc/passwd", "must begin with https://"},
		{"opaque", "https:hooks.example.com", "must begin with https://"},
		{"no host", "https:///a", "must begin with https://"},
		{"a port alone", "https://:443/", "empty"},
		{"capital letters of a scheme", "HTTPS://hooks.example.com/", "small letters"},
		{"capital letters", "https://Hooks.Example.com/", `Write "hooks.example.com"`},
		{"a dot at the end", "https://hooks.example.com./", `Write "hooks.example.com"`},
		{"user", "https://me@hooks.example.com/", "user or password"},
		{"user and password", "https://hooks.example.com:x@127.0.0.1/", "user or password"},
		{"an empty user", "https://@hooks.example.com/", "user or password"},
		{"fragment", "https://hooks.example.com/#@127.0.0.1", "fragment"},
		{"an empty fragment", "https://hooks.example.com/#", "fragment"},
		{"backslash", `https://hooks.example.com\@127.0.0.1/`, "which no address has"},
		{"a line end", "https://hooks.example.com/\r\nHost: a", "which no address has"},
		{"a space", "https://hooks.example.com/ a", "which no address has"},
		{"decimal IPv4", "https://2130706433/", "four decimal numbers"},
		{"octal IPv4", "https://0177.0.0.1/", "four decimal numbers"},
		{"octal in one", "https://017700000001/", "four decimal numbers"},
		{"hexadecimal IPv4", "https://0x7f000001/", "four decimal numbers"},
		{"hexadecimal part", "https://127.0.0.0x1/", "four decimal numbers"},
		{"a short IPv4", "https://127.1/", "four decimal numbers"},
		{"leading zeros", "https://127.000.000.001/", "four decimal numbers"},
		{"IPv4 and a dot", "https://127.0.0.1./", "four decimal numbers"},
		{"full-width digits", "https://127.0.0.１/", "xn--"},
		{"a look-alike", "https://hооks.example.com/", "xn--"}, // Cyrillic о
		{"an ideographic dot", "https://hooks。example.com/", "xn--"},
		{"mapped IPv6", "https://[::ffff:127.0.0.1]/", "IPv4 address written as IPv6"},
		{"mapped IPv6 in hexadecimal", "https://[::ffff:7f00:1]/", "IPv4 address written as IPv6"},
		{"long IPv6", "https://[0:0:0:0:0:0:0:1]/", `Write "::1"`},
		{"zone", "https://[fe80::1%25eth0]/", "zone"},
		{"IPv6 without brackets", "https://::1/", ""},
		{"an escaped host", "https://hooks%2eexample.com/", ""},
		{"no port", "https://hooks.example.com:/", "cannot be read as it is written"},
		{"port 0", "https://hooks.example.com:0/", "1 to 65535"},
		{"a port with zeros", "https://hooks.example.com:00443/", "1 to 65535"},
		{"a large port", "https://hooks.example.com:65979/", "1 to 65535"},
		{"a pattern", "https://*.example.com/", "pattern"},
		{"a label that begins with a hyphen", "https://-a.example.com/", "no host's name"},
		{"an empty label", "https://a..example.com/", "no host's name"},
		{"a long label", "https://" + strings.Repeat("a", 64) + ".com/", "no host's name"},
		{"a long address", "https://hooks.example.com/" + strings.Repeat("a", 2000), "at most 2000"},
	} {
		got, fault := ParseTarget(c.address)
		if fault == "" || !strings.Contains(fault, c.words) || !strings.HasSuffix(fault, ".") {
			t.Errorf("%s: %q: got %+v, %q, want a sentence with %q", c.situation, c.address, got, fault, c.words)
		}
	}
	for address, want := range map[string]Target{
		"https://hooks.example.com":                    {Scheme: "https", Host: "hooks.example.com", Port: 443},
		"https://hooks.example.com:443/a?b=c%20d":      {Scheme: "https", Host: "hooks.example.com", Port: 443},
		"http://receiver:8080/":                        {Scheme: "http", Host: "receiver", Port: 8080},
		"http://10.1.2.3/a":                            {Scheme: "http", Host: "10.1.2.3", Port: 80},
		"https://[2001:db8::1]:8443/a":                 {Scheme: "https", Host: "2001:db8::1", Port: 8443},
		"https://xn--bcher-kva.example/":               {Scheme: "https", Host: "xn--bcher-kva.example", Port: 443},
		"https://my_receiver.example.com/a@b:c/$x;y=1": {Scheme: "https", Host: "my_receiver.example.com", Port: 443},
	} {
		want.URL = address
		if got, fault := ParseTarget(address); fault != "" || got != want {
			t.Errorf("%s: got %+v, %q", address, got, fault)
		}
	}
}

func TestWhichAddressesAreReached(t *testing.T) {
	anywhere := AllowedHost{Host: "hooks.example.com", Port: 443}
	refused := []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1", "172.31.255.255",
		"192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.7", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::8.8.8.8", "64:ff9b:1::1", "100::1",
		"2001::1", "2001:2::1", "2001:db8::1", "2002:7f00:1::1", "2002:808:808::1", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1",
	}
	for _, a := range refused {
		if fault := anywhere.reaches(netip.MustParseAddr(a)); !strings.Contains(fault, "not a public address") {
			t.Errorf("%s: got %q", a, fault)
		}
	}
	for _, a := range []string{"8.8.8.8", "1.1.1.1", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1", "192.0.1.1", "198.17.255.255", "223.255.255.255", "2606:4700::1111", "::ffff:8.8.8.8"} {
		if fault := anywhere.reaches(netip.MustParseAddr(a)); fault != "" {
			t.Errorf("%s: got %q", a, fault)
		}
	}
	inside := AllowedHost{Host: "hooks.example.com", Port: 443, Networks: []string{"10.1.0.0/16", "fd00:1::/32"}}
	for a, want := range map[string]bool{"10.1.2.3": true, "::ffff:10.1.2.3": true, "fd00:1::5": true, "10.2.0.1": false, "8.8.8.8": false, "::1": false, "fe80::1%eth0": false} {
		if got := inside.reaches(netip.MustParseAddr(a)) == ""; got != want {
			t.Errorf("%s: got %v", a, got)
		}
	}
	t.Attr("S6", fmt.Sprintf("%d forms of addresses that are not public refused", len(refused)))
}

func TestAllowedHosts(t *testing.T) {
	var h AllowedHost
	if err := json.Unmarshal([]byte(`{"host":"a.example","http":true}`), &h); err != nil || h.Port != 80 || h.Networks == nil {
		t.Errorf("got %+v, %v", h, err)
	}
	h = AllowedHost{}
	if err := json.Unmarshal([]byte(`{"host":"a.example"}`), &h); err != nil || h.Port != 443 || h.Validate() != nil {
		t.Errorf("got %+v, %v", h, err)
	}
	for _, c := range []struct {
		situation string
		change    func(*AllowedHost)
		words     string
	}{
		{"a pattern", func(h *AllowedHost) { h.Host = "*.example.com" }, "/host: \"*.example.com\" is a pattern"},
		{"capital letters", func(h *AllowedHost) { h.Host = "A.example" }, `Write "a.example"`},
		{"a port in the host", func(h *AllowedHost) { h.Host = "a.example:443" }, "no host's name"},
		{"an address", func(h *AllowedHost) { h.Host = "https://a.example/" }, "no host's name"},
		{"no host", func(h *AllowedHost) { h.Host = "" }, "empty"},
		{"a network", func(h *AllowedHost) { h.Networks = []string{"10.1.0.0"} }, "/networks/0: "},
		{"bits of the host", func(h *AllowedHost) { h.Networks = []string{"10.1.2.3/16"} }, `Write "10.1.0.0/16"`},
		{"everything", func(h *AllowedHost) { h.Networks = []string{"10.1.0.0/16", "0.0.0.0/0"} }, "/networks/1: The network 0.0.0.0/0 is too wide"},
		{"every IPv6", func(h *AllowedHost) { h.Networks = []string{"::/0"} }, "too wide"},
		{"a mapped network", func(h *AllowedHost) { h.Networks = []string{"::ffff:10.0.0.0/104"} }, "write it as IPv4"},
	} {
		h := AllowedHost{Host: "a.example", Port: 443}
		c.change(&h)
		if err := h.Validate(); err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: got %v, want %q", c.situation, err, c.words)
		}
	}
	target, _ := ParseTarget("http://a.example:443/")
	if fault := (AllowedHost{Host: "a.example", Port: 443}).Allows(target); !strings.Contains(fault, "HTTPS only") {
		t.Errorf("got %q", fault)
	}
	if fault := (AllowedHost{Host: "a.example", Port: 443, HTTP: true}).Allows(target); fault != "" {
		t.Errorf("got %q", fault)
	}
	if fault := (AllowedHost{Host: "b.example", Port: 443, HTTP: true}).Allows(target); !strings.Contains(fault, "host allow a.example:443") {
		t.Errorf("got %q", fault)
	}
}

// The remedy in the refusal of an address makes the address reachable.
func TestRefusalsSayWhatToAllow(t *testing.T) {
	for address, want := range map[string]string{
		"https://a.example/x":    `"headroom server host allow a.example:443"`,
		"http://a.example/x":     `"headroom server host allow a.example:80 --http"`,
		"http://127.0.0.1:8099/": `"headroom server host allow 127.0.0.1:8099 --http --network 127.0.0.1/32"`,
		"https://[fd00::1]/":     `"headroom server host allow [fd00::1]:443 --network fd00::1/128"`,
		"https://9.9.9.9/":       `"headroom server host allow 9.9.9.9:443"`,
	} {
		target, fault := ParseTarget(address)
		if fault != "" {
			t.Fatal(address, fault)
		}
		if got := target.NotAllowed(); !strings.Contains(got, want) {
			t.Errorf("%s: got %s", address, got)
		}
	}
}
