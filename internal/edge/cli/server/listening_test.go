package server

import (
	"testing"
)

func TestListeningHere(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{
		"": "http://127.0.0.1:8080", "127.0.0.1:99": "http://127.0.0.1:99", "0.0.0.0:8080": "http://127.0.0.1:8080",
		":8080": "http://127.0.0.1:8080", "[::]:8080": "http://[::1]:8080", "[::1]:8080": "http://[::1]:8080",
		"localhost:7": "http://localhost:7",
	} {
		if got, err := listeningHere(listen); err != nil || got != want {
			t.Errorf("%q: got %q, %v; want %q", listen, got, err, want)
		}
	}
	if _, err := listeningHere("8080"); err == nil {
		t.Error("an address without a port was taken")
	}
}
