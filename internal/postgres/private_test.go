package postgres

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func TestPrivateQuick(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "headroom-private-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for i := range 3 {
		began := time.Now()
		p, err := StartPrivate(t.Context(), PrivateConfig{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("start %d: %v %s", i, time.Since(began), p.URL(""))
		c, err := pgx.Connect(t.Context(), p.URL(""))
		if err != nil {
			t.Fatal(err)
		}
		var one string
		if err := c.QueryRow(t.Context(), "select current_user||version()").Scan(&one); err != nil {
			t.Fatal(err)
		}
		u, running, err := AttachPrivate(dir)
		t.Log(one, u, running, err)
		_, err = StartPrivate(t.Context(), PrivateConfig{Dir: dir})
		t.Log(err)
		began = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := p.Stop(ctx); err != nil {
			t.Fatal(err)
		}
		t.Log("stop", time.Since(began))
	}
}
