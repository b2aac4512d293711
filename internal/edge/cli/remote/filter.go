package remote

import (
	"fmt"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/shell"
)

// ForecastFilter is the flags that choose rows.
type ForecastFilter struct{ Class, From, Until string }

func (f *ForecastFilter) AddFlags(c *cobra.Command) {
	c.Flags().StringVar(&f.Class, "class", "", "rows of this `class` only")
	c.Flags().StringVar(&f.From, "from", "", "rows from this `time` on, such as 2026-01-31 or 2026-01-31T06:00:00Z")
	c.Flags().StringVar(&f.Until, "until", "", "rows before this `time`")
}

// Check turns dates into moments.
func (f *ForecastFilter) Check() error {
	for _, flag := range []struct {
		name  string
		value *string
	}{{"from", &f.From}, {"until", &f.Until}} {
		if *flag.value == "" {
			continue
		}
		moment, ok := shell.MomentOf(*flag.value)
		if !ok {
			return fmt.Errorf("--%s is %q; write a time like 2026-01-31T06:00:00Z or 2026-01-31", flag.name, *flag.value)
		}
		*flag.value = moment
	}
	return nil
}
