package server

import (
	"log/slog"
	"net/url"
	"strings"
	"time"
	"unicode"

	"example.org/headroom/internal/core/trace"
	"example.org/headroom/internal/edge/cli/shell"
)

// flushTime bounds the time for the collector to take the last spans.
const flushTime = 500 * time.Millisecond

// tracer tells the collector of the settings what took how long; nil where there is none.
func (s config) tracer(log *slog.Logger) *trace.Tracer {
	if s.TraceEndpoint == "" {
		return nil
	}
	headers, _ := pairs(s.TraceHeaders)
	resource, _ := pairs(s.TraceResource)
	resource["service.name"], resource["service.version"] = s.TraceService, shell.Version
	c := trace.Config{Endpoint: s.TraceEndpoint, Headers: headers, Resource: resource, Version: shell.Version, Log: log,
		IgnoreAskers: !strings.HasPrefix(s.TraceSampler, "parentbased_")}
	switch {
	case strings.HasSuffix(s.TraceSampler, "always_on"):
		c.Ratio = 1
	case strings.HasSuffix(s.TraceSampler, "traceidratio"):
		c.Ratio = s.TraceRatio
	}
	return trace.New(c)
}

// pairs reads name=value, with commas between several, as OpenTelemetry's variables have them.
func pairs(text string) (all map[string]string, ok bool) {
	all = map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, there := strings.Cut(part, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !there || err != nil || !isToken(name) || strings.ContainsFunc(value, unicode.IsControl) {
			return nil, false
		}
		all[name] = value
	}
	return all, true
}

// isToken says whether a text can be a header's name.
func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r > '~' || r <= ' ' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}
