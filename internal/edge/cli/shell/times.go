package shell

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

func MomentOf(s string) (string, bool) {
	if _, err := time.Parse(time.DateOnly, s); err == nil {
		s += "T00:00:00Z"
	}
	_, err := time.Parse(time.RFC3339Nano, s)
	return s, err == nil
}

// EndOf reads when a key ends: after so many days, hours or minutes, or at a time.
func EndOf(s string, now time.Time) (*time.Time, error) {
	if s == "" {
		return nil, nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n <= 36_500 {
			end := now.UTC().AddDate(0, 0, n)
			return &end, nil
		}
	} else if d, err := time.ParseDuration(s); err == nil && d > 0 {
		end := now.UTC().Add(d)
		return &end, nil
	} else if moment, ok := MomentOf(s); ok {
		end, err := time.Parse(time.RFC3339, moment)
		return &end, err
	}
	return nil, fmt.Errorf("--expires is %q; write days or hours such as 90d or 12h, or a time such as 2027-01-01", s)
}
