package postgres

import (
	"testing"
	"time"
)

// A cursor from outside is one that a list could have returned, or refused. A cursor from a list is read as written.
func FuzzCursors(f *testing.F) {
	f.Add("", "", int64(0))
	f.Add("WyJhIiwiMjAyNi0wMS0wMVQwMDowMDowMFoiLDFd", "a", int64(1))
	f.Add(writeCursor("a\x00", time.Unix(1<<40, 0), 1), "é", int64(-1))
	f.Fuzz(func(t *testing.T, cursor, name string, number int64) {
		var at time.Time
		var readName string
		var readNumber int64
		if readCursor(cursor, &readName, &at, &readNumber) == nil && cursor != "" {
			again := writeCursor(readName, at, readNumber)
			var name string
			var moment time.Time
			var number int64
			if err := readCursor(again, &name, &moment, &number); err != nil || name != readName || !moment.Equal(at) || number != readNumber {
				t.Errorf("%q is read as %q %v %d, and that as %q %v %d (%v)", cursor, readName, at, readNumber, name, moment, number, err)
			}
		}
		if unstorable(name) {
			return
		}
		moment := time.Unix(number%1e9, 0).UTC()
		if err := readCursor(writeCursor(name, moment, number), &readName, &at, &readNumber); err != nil || readName != name || !at.Equal(moment) || readNumber != number {
			t.Errorf("%q %v %d comes back as %q %v %d (%v)", name, moment, number, readName, at, readNumber, err)
		}
	})
}
