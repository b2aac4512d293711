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

// checkRules names every setting that breaks a rule of its tag, by its variable, with the first rule that it breaks.
func checkRules(settings config) (mistakes []error) {
	all := reflect.ValueOf(settings)
	for i := range all.NumField() {
		field, value := all.Type().Field(i), all.Field(i)
		rules := strings.Split(field.Tag.Get("validate"), ",")
		switch rules[0] {
		case "":
			continue
		case "omitempty":
			if value.IsZero() {
				continue
			}
			rules = rules[1:]
		}
		values := []any{value.Interface()}
		if list, ok := values[0].([]string); ok {
			values = nil
			for _, text := range list {
				values = append(values, text)
			}
		}
		for _, v := range values {
			if sentence := brokenRule(settings, rules, v); sentence != "" {
				mistakes = append(mistakes, fmt.Errorf("%s is wrong: it %s", field.Tag.Get("env"), sentence))
			}
		}
	}
	return mistakes
}

// brokenRule says what a value must be by the first rule that it breaks, or nothing. Values are not repeated: some are
// secret.
func brokenRule(settings config, rules []string, value any) string {
	text, unit := fmt.Sprint(value), ""
	number, _ := strconv.ParseFloat(text, 64)
	if _, is := value.(string); is {
		number, unit = float64(utf8.RuneCountInString(text)), " characters long"
	}
	for _, rule := range rules {
		name, limit, _ := strings.Cut(rule, "=")
		amount, _ := strconv.ParseFloat(limit, 64)
		switch {
		case name == "hostport" && !isHostPort(text):
			return "must be an address and a port, such as 127.0.0.1:8080"
		case name == "with_issuer" && settings.Issuer != "" && text == "":
			return "is needed with HEADROOM_OIDC_ISSUER: a token for somebody else must not open this server"
		case name == "http_url" && !isHTTPAddress(text):
			return "must be an address such as http://127.0.0.1:4318"
		case name == "key" && !strings.HasPrefix(text, "hrk_"):
			return "must be a key such as headroom server key draw makes: hrk_ and 43 letters and digits"
		case name == "postgres" && !strings.HasPrefix(text, name):
			return "must begin with postgres://"
		case name == "min" && !(number >= amount): // written this way so that NaN fails too
			return "must be at least " + limit + unit
		case name == "max" && !(number <= amount):
			return "can be " + limit + unit + " at most"
		case name == "oneof" && !slices.Contains(strings.Fields(limit), text):
			return "must be one of " + strings.ReplaceAll(limit, " ", ", ")
		case name == "network" && !isNetwork(text):
			return "must be addresses or networks such as 10.0.0.0/8, separated by commas"
		case name == "host" && !isHost(strings.TrimSuffix(text, ".")):
			return "must be host names without a port, separated by commas"
		}
	}
	return ""
}

// isHostPort reports whether a text is an address and a port to listen on, such as [::1]:8080. Without an address it
// is every one.
func isHostPort(text string) bool {
	host, port, err := net.SplitHostPort(text)
	n, noNumber := strconv.ParseUint(port, 10, 16)
	return err == nil && noNumber == nil && n > 0 && (host == "" || net.ParseIP(host) != nil || isHost(host))
}

// isHost reports whether a text is a host name after RFC 1123.
func isHost(text string) bool {
	const part = `[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?`
	is, _ := regexp.MatchString(`^`+part+`(\.`+part+`)*$`, text) // the pattern is right
	return is && len(text) <= 253
}

func isHTTPAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

func isNetwork(text string) bool {
	_, noAddress := netip.ParseAddr(text)
	_, noNetwork := netip.ParsePrefix(text)
	return noAddress == nil || noNetwork == nil
}
