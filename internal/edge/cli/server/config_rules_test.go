package server

import (
	"slices"
	"testing"

	"github.com/caarlos0/env/v11"
)

// Each rule refuses what breaks it, and says what must stand there.
func TestSettingsKeepTheirRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, value, wrong string }{
		{"DATABASE_URL", "postgres://a/b", ""},
		{"DATABASE_URL", "mysql://a/b", "must begin with postgres://"},
		{"HEADROOM_CONNECTIONS", "4", ""},
		{"HEADROOM_CONNECTIONS", "3", "must be at least 4"},
		{"HEADROOM_CONNECTIONS", "1001", "can be 1000 at most"},
		{"HEADROOM_ADMIN_KEY", "hrk_" + "1234567890123456789012345678901234567890", ""},
		{"HEADROOM_ADMIN_KEY", "key_1", "must be a key such as headroom server key draw makes: hrk_ and 43 letters and digits"},
		{"HEADROOM_ADMIN_KEY", "hrk_é", "must be at least 40 characters long"},
		{"HEADROOM_OIDC_ISSUER", "https://issuer.example", ""},
		{"HEADROOM_HOSTS", "plan.example.com,plan,1a.b-c.example.", ""},
		{"HEADROOM_HOSTS", "plan,a b", "must be host names without a port, separated by commas"},
		{"HEADROOM_HOSTS", "plan:80", "must be host names without a port, separated by commas"},
		{"HEADROOM_HOSTS", "-plan", "must be host names without a port, separated by commas"},
		{"HEADROOM_PROXIES", "10.0.0.0/8,::1,fd00::/8", ""},
		{"HEADROOM_PROXIES", "10.0.0.0/33", "must be addresses or networks such as 10.0.0.0/8, separated by commas"},
		{"HEADROOM_METRICS_LISTEN", "127.0.0.1:9", ""},
		{"HEADROOM_METRICS_LISTEN", "127.0.0.1", "must be an address and a port, such as 127.0.0.1:8080"},
		{"HEADROOM_IMPORT_MAX_BYTES", "1048575", "must be at least 1048576"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "HTTPS://collector:4318", ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318", "must be an address such as http://127.0.0.1:4318"},
		{"OTEL_TRACES_SAMPLER", "parentbased_always_off", ""},
		{"OTEL_TRACES_SAMPLER", "some", "must be one of always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio"},
		{"OTEL_TRACES_SAMPLER_ARG", "1", ""},
		{"OTEL_TRACES_SAMPLER_ARG", "1.01", "can be 1 at most"},
		{"OTEL_TRACES_SAMPLER_ARG", "NaN", "must be at least 0"},
		{"HEADROOM_LOG_LEVEL", "loud", "must be one of debug, info, warn, error"},
	} {
		settings, err := env.ParseAsWithOptions[config](env.Options{Environment: map[string]string{c.name: c.value}})
		if err != nil {
			t.Fatal(err)
		}
		var want, got []string
		if c.wrong != "" {
			want = []string{c.name + " is wrong: it " + c.wrong}
		}
		if c.name == "HEADROOM_OIDC_ISSUER" { // needs another setting
			want = []string{"HEADROOM_OIDC_AUDIENCE is wrong: it is needed with HEADROOM_OIDC_ISSUER: a token for somebody else must not open this server"}
		}
		for _, m := range checkRules(settings) {
			got = append(got, m.Error())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s=%s: got %q, want %q", c.name, c.value, got, want)
		}
	}
}
