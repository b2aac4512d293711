package server

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// brokenRule says what the value of a setting must be by the first rule of its tag that it breaks, or returns "". Rules
// stand in the tag validate, separated by commas; those of a list are about each of its values. Values are not repeated:
// some are secret.
func brokenRule(value reflect.Value, rules string) string {
	if value.Kind() == reflect.Slice {
		for i := range value.Len() {
			if must := brokenRule(value.Index(i), rules); must != "" {
				return must
			}
		}
		return ""
	}
	for rule := range strings.SplitSeq(rules, ",") {
		name, limit, _ := strings.Cut(rule, "=")
		if name == "omitempty" && value.IsZero() {
			return ""
		}
		if must := broken(value, name, limit); must != "" {
			return must
		}
	}
	return ""
}

func broken(value reflect.Value, rule, limit string) string {
	ok, must, unit := true, "", ""
	if value.Kind() == reflect.String {
		unit = " characters long"
	}
	switch rule {
	case "hostport":
		ok, must = isHostPort(value.String()), "must be an address and a port, such as 127.0.0.1:8080"
	case "startswith":
		ok, must = strings.HasPrefix(value.String(), limit), "must begin with "+limit+"://"
		if limit == "hrk_" {
			must = "must be a key such as headroom server key draw makes: hrk_ and 43 letters and digits"
		}
	case "min":
		ok, must = amount(value) >= number(limit), "must be at least "+limit+unit
	case "max":
		ok, must = amount(value) <= number(limit), "can be "+limit+unit+" at most"
	case "oneof":
		words := strings.Fields(limit)
		ok, must = slices.Contains(words, value.String()), "must be one of "+strings.Join(words, ", ")
	case "network":
		_, single := netip.ParseAddr(value.String())
		_, network := netip.ParsePrefix(value.String())
		ok, must = single == nil || network == nil, "must be addresses or networks such as 10.0.0.0/8, separated by commas"
	case "host":
		ok, must = isHost(value.String()), "must be host names without a port, separated by commas"
	case "url":
		u, err := url.Parse(value.String())
		ok, must = err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https"), "must be an address such as http://127.0.0.1:4318"
	}
	if ok {
		return ""
	}
	return must
}

// amount returns a number, or the length of a text.
func amount(v reflect.Value) float64 {
	switch v.Kind() {
	case reflect.String:
		return float64(utf8.RuneCountInString(v.String()))
	case reflect.Float64:
		return v.Float()
	}
	return float64(v.Int())
}

// number reads a limit of a tag.
func number(text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Sprintf("the limit %q of a setting is no number", text))
	}
	return x
}

// isHost reports whether a text is a host name.
func isHost(text string) bool {
	matched, _ := regexp.MatchString(`^[a-zA-Z0-9][a-zA-Z0-9-]{0,62}(\.[a-zA-Z0-9][a-zA-Z0-9-]{0,62})*\.?$`, text) // it compiles
	return matched
}

// isHostPort reports whether a text is an address and a port to listen on. Without an address it is every one.
func isHostPort(text string) bool {
	host, port, err := net.SplitHostPort(text)
	n, noNumber := strconv.ParseUint(port, 10, 16)
	return err == nil && noNumber == nil && n > 0 && (host == "" || net.ParseIP(host) != nil || isHost(host))
}
