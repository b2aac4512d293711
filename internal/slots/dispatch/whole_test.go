package dispatch

import "os"

// wholeSamples is so many instances: few, or with HEADROOM_LONG=1 many.
func wholeSamples(few, many int) int {
	if os.Getenv("HEADROOM_LONG") != "" {
		return many
	}
	return few
}
