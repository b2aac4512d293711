package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestTheTableOfAContestIsWritten(t *testing.T) {
	none := math.Inf(1)
	table := contest{about: "Three of them", group: "limit", measured: "something", solvers: []string{"headroom", "other"}}
	for _, group := range []string{"250ms", "1s"} {
		table.add(group, []found{{10, 9.99, 80 * time.Millisecond}, {10 + 1e-6, math.NaN(), time.Second}}, 10, 10)
		table.add(group, []found{{10, 9.98, 90 * time.Millisecond}, {none, math.NaN(), time.Second}}, 10, 10)
		table.add(group, []found{{10.2, 9.97, 100 * time.Millisecond}, {10.1, 9.99, time.Second}}, 10, 10)
	}
	want := `
| headroom | 250ms | 0.0000 % / 2.0000 % | 2 of 3 | 0.2000 % | 90 |
| other | 250ms | 1.0000 % / none | 2 of 3 | none | 1000 |
| headroom | 1s |`
	if got := table.text(); !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant in it\n%s", got, want)
	}
}
