package telemetry

import (
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
)

// Nobody should log a secret. These match the ones that an error text may still contain: our tokens and those of
// issuers, secrets of webhooks, and passwords in addresses and settings of databases.
var (
	tokens = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(hr[klps]_[A-Za-z0-9_-]{8,}|whsec_[A-Za-z0-9+/=]{8,}|eyJ[A-Za-z0-9_-]{8,}(\.[A-Za-z0-9_-]*)*)`)
	})
	userinfo  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(://[^\s/:@]*):[^\s/@]+@`) })
	passwords = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\b(password\s*=\s*)('[^']*'|\S+)`) })
)

func mask(_ []string, a slog.Attr) slog.Attr {
	switch a.Value.Kind() {
	case slog.KindString:
		if s := a.Value.String(); suspicious(s) {
			a.Value = slog.StringValue(masked(s))
		}
	case slog.KindAny: // an error, a list, a struct: its printed form
		if s := fmt.Sprint(a.Value.Any()); suspicious(s) {
			a.Value = slog.StringValue(masked(s))
		}
	}
	return a
}

// suspicious is a quick test that spares most texts the expressions.
func suspicious(s string) bool {
	return strings.Contains(s, "hr") || strings.Contains(s, "eyJ") || strings.Contains(s, "whsec_") || strings.Contains(s, "://") || strings.Contains(s, "=")
}

func masked(s string) string {
	s = tokens().ReplaceAllString(s, "***")
	s = userinfo().ReplaceAllString(s, "$1:***@")
	return passwords().ReplaceAllString(s, "$1***")
}
