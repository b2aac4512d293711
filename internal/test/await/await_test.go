package await

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestTriesGoOnUntilTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, turns := time.Now(), 0
		for last := range Tries(time.Second) {
			turns++
			if took := time.Since(began); last != (took >= time.Second) || took > time.Second+longest {
				t.Errorf("turn %d after %v: last is %t", turns, took, last)
			}
		}
		if turns < 50 || turns > 60 {
			t.Errorf("%d turns within a second", turns)
		}
	})
}

func TestUntilEndsWithTheCondition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		Until(t, time.Minute, "half a second passes", func() bool { return time.Since(began) >= 500*time.Millisecond })
		if took := time.Since(began); took > 500*time.Millisecond+longest {
			t.Errorf("it took %v", took)
		}
		Until(t, 0, "it holds at once", func() bool { return true })
	})
}
