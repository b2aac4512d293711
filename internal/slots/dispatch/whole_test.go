package dispatch

import "os"

// wholeSamples returns the number of instances: few, or many with HEADROOM_LONG=1.
func wholeSamples(few, many int) int {
	if os.Getenv("HEADROOM_LONG") != "" {
		return many
	}
	return few
}
