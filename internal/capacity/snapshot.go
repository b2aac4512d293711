package capacity

// Snapshot is a cluster's inputs, read in one transaction.
type Snapshot struct {
	Cluster   Cluster
	VMTypes   []VMType
	Prices    []PricePeriod    // of the type in use, those that touch the moments asked for
	Contracts []SignedContract // likewise
	Classes   []PlannedClass   // by name
	Profiles  map[ProfileRef]Profile
	Forecasts []Forecast // likewise
	Previous  *Plan      // the current plan, if there is one
}
