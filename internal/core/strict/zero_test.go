package strict_test

import (
	"math"
	"testing"

	"example.org/headroom/internal/core/strict"
)

func TestWithoutMinusZero(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`-0`:                     `0`,
		`[-0,-0, -0 ,1]`:         `[0,0, 0 ,1]`,
		`{"a":-0,"b":-0.5}`:      `{"a":0,"b":-0.5}`,
		`{"a":"-0","b":"\"-0,"}`: `{"a":"-0","b":"\"-0,"}`,
		`{"a":"-0,","b":-0}`:     `{"a":"-0,","b":0}`,
		`{"a":"x\\","b":-0}`:     `{"a":"x\\","b":0}`,
		`["2026-01-01",1e-07]`:   `["2026-01-01",1e-07]`,
		`[1e-0,-0]`:              `[1e-0,0]`,
		`{"at":"2026-11-0"}`:     `{"at":"2026-11-0"}`,
		`{}`:                     `{}`,
		``:                       ``,
	} {
		if got := string(strict.WithoutMinusZero([]byte(text))); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestNumbersHaveNoMinusZero(t *testing.T) {
	t.Parallel()
	if got := string(strict.AppendNumber(nil, math.Copysign(0, -1))); got != "0" {
		t.Errorf("got %s, want 0", got)
	}
}
