package server

import (
	"strings"
	"testing"

	"github.com/caarlos0/env/v11"
)

// A server listens on a name or an address, also one of IPv6, and a port.
func TestAddressesToListenOn(t *testing.T) {
	t.Parallel()
	for address, good := range map[string]bool{
		"127.0.0.1:8080": true, ":8080": true, "[::1]:8080": true, "plan.example.com:8080": true, "plan:65535": true,
		"127.0.0.1": false, "127.0.0.1:0": false, "127.0.0.1:65536": false, "a b:80": false, "::1:80:": false, "x:http": false,
	} {
		settings, err := env.ParseAsWithOptions[config](env.Options{Environment: map[string]string{"HEADROOM_LISTEN": address, "HEADROOM_DATA_DIR": t.TempDir()}})
		if err != nil {
			t.Fatal(err)
		}
		wrong := ""
		for _, m := range check(settings) {
			wrong += m.Error() + "\n"
		}
		if refused := strings.Contains(wrong, "HEADROOM_LISTEN is wrong: it must be an address and a port"); refused == good || good && wrong != "" {
			t.Errorf("%q: %q", address, wrong)
		}
	}
}
