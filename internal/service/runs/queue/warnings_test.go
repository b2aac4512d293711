package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// River's errors about the database are logged in one line, without names and addresses.
func TestWhatRiverSays(t *testing.T) {
	t.Parallel()
	away := errors.New("failed to connect to `user=ada database=shop`:\n\t10.1.2.3:5432 (db.example.com): dial error")
	for _, c := range []struct {
		err  error
		want string
	}{
		{away, "kind=away"},
		{fmt.Errorf("fetch: %w", context.DeadlineExceeded), "kind=away"},
		{errors.New("conn closed"), "kind=closed"},
		{errors.New("FATAL: terminating connection due to administrator command (SQLSTATE 57P01)"), "kind=closed"},
		{errors.New("ERROR: permission denied for ada (SQLSTATE 42501)"), "kind=other"},
		{fmt.Errorf("fetch: %w", context.Canceled), ""},
		{errors.New("underlying driver pool is closed"), ""},
	} {
		for _, log := range []func(*slog.Logger){
			func(l *slog.Logger) { l.Error("producer: Error fetching jobs", "err", c.err) },
			func(l *slog.Logger) { l.Warn("elector: Error", slog.String("err", c.err.Error())) },
			func(l *slog.Logger) { l.Error("Error: "+c.err.Error(), "err", c.err.Error()) },
		} {
			var text bytes.Buffer
			log(slog.New(warnings{slog.NewTextHandler(&text, nil)}))
			got := text.String()
			if c.want == "" && got != "" || c.want != "" && (!strings.Contains(got, "background work had trouble with the database; it is tried again") || !strings.Contains(got, c.want) || strings.Count(got, "\n") != 1) {
				t.Errorf("%v: got %q, want %q", c.err, got, c.want)
			}
			for _, secret := range []string{"ada", "shop", "10.1.2.3", "example.com", "SQLSTATE"} {
				if strings.Contains(got, secret) {
					t.Errorf("it has %q: %s", secret, got)
				}
			}
		}
	}
	var text bytes.Buffer
	slog.New(warnings{slog.NewTextHandler(&text, nil)}).Warn("queue is paused", "queue", "upkeep")
	if !strings.Contains(text.String(), "queue is paused") {
		t.Errorf("got %q", text.String())
	}
}
