package words

import (
	"math"
	"time"
)

// Moment is a time as people write it, in UTC.
func Moment(t time.Time) string {
	if t = t.UTC(); t.Hour() == 0 && t.Minute() == 0 && t.Second() == 0 {
		return t.Format("2006-01-02")
	}
	if t.Second() != 0 {
		return t.Format("2006-01-02 15:04:05") + " UTC"
	}
	return t.Format("2006-01-02 15:04") + " UTC"
}

// Hours is a length of time in hours, told in seconds where hours would round it away.
func Hours(x float64) string {
	switch {
	case x == 1:
		return "1 hour"
	case x < 0.1 && x > 0:
		return Number(math.Round(x*3600)) + " s"
	}
	return Number(Rounded(x, 2)) + " hours"
}

// Length is a length of time in seconds, told in hours or minutes where those are whole.
func Length(seconds float64) string {
	switch whole := seconds > 0 && seconds == math.Trunc(seconds); {
	case whole && math.Mod(seconds, 3600) == 0:
		return Counted(Number(seconds/3600), "hour")
	case whole && math.Mod(seconds, 60) == 0:
		return Counted(Number(seconds/60), "minute")
	}
	return Number(Rounded(seconds, 3)) + " s"
}
