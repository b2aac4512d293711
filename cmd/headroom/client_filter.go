package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// forecastFilter is the flags that choose rows.
type forecastFilter struct{ class, from, until string }

func (f *forecastFilter) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&f.class, "class", "", "rows of this `class` only")
	c.Flags().StringVar(&f.from, "from", "", "rows from this `time` on, such as 2026-01-31 or 2026-01-31T06:00:00Z")
	c.Flags().StringVar(&f.until, "until", "", "rows before this `time`")
}

// check turns dates into moments.
func (f *forecastFilter) check() error {
	for _, flag := range []struct {
		name  string
		value *string
	}{{"from", &f.from}, {"until", &f.until}} {
		if *flag.value == "" {
			continue
		}
		moment, ok := momentOf(*flag.value)
		if !ok {
			return fmt.Errorf("--%s is %q; write a time like 2026-01-31T06:00:00Z or 2026-01-31", flag.name, *flag.value)
		}
		*flag.value = moment
	}
	return nil
}
