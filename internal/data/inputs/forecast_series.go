package inputs

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Series is the forecast rows of one class that are written together, in the order of their hours.
type Series struct {
	Class string
	Rows  []SeriesRow
	Clear []HourSpan // hours in which no row is left
	At    string     // a pointer to where the class is named; "" is the whole input
}

// SeriesRow is one hour. There may be a million of them in memory.
type SeriesRow struct {
	Hour int32 // since 1970, see HourOf
	Line int32 // where it was read; 0 when it was not
	Jobs float64
}

// HourSpan is the hours [From, Until).
type HourSpan struct{ From, Until int32 }

// HourOf is how many hours after the beginning of 1970 a moment is.
func HourOf(t time.Time) int32 { return int32(t.Unix() / 3600) }

// TimeOf is the moment an hour begins.
func TimeOf(hour int32) time.Time { return time.Unix(int64(hour)*3600, 0).UTC() }

// Written is what a write of forecasts did, or would do.
type Written struct {
	Written      int64 `json:"written"`                 // rows given
	Added        int64 `json:"added"`                   // of them for hours that had none
	Changed      int64 `json:"changed"`                 // of them with another number than before
	Deleted      int64 `json:"deleted"`                 // rows of hours that have none now
	FromArrivals int64 `json:"from_arrivals,omitempty"` // rows made of arrivals per hour
	DryRun       bool  `json:"dry_run,omitempty"`       // nothing was written
}

// SeriesOf is valid rows by class, the classes in the order they come in.
func SeriesOf(rows []Forecast) []Series {
	var all []Series
	index := map[string]int{}
	for i, f := range rows {
		at, known := index[f.Class]
		if !known {
			at = len(all)
			index[f.Class] = at
			all = append(all, Series{Class: f.Class, At: fmt.Sprintf("/rows/%d/class", i)})
		}
		all[at].Rows = append(all[at].Rows, SeriesRow{Hour: HourOf(f.Hour), Jobs: f.Jobs})
	}
	for _, s := range all {
		s.sort()
	}
	return all
}

func (s *Series) sort() {
	order := func(a, b SeriesRow) int { return cmp.Or(cmp.Compare(a.Hour, b.Hour), cmp.Compare(a.Line, b.Line)) }
	if !slices.IsSortedFunc(s.Rows, order) {
		slices.SortFunc(s.Rows, order)
	}
}

// Holes says what hours between the first and the last row of a class mean that have no row.
type Holes string

const (
	HolesRefuse Holes = "refuse" // they are a mistake
	HolesOwn    Holes = "own"    // the class's own jobs.max holds there: rows stored for them are deleted
	HolesKeep   Holes = "keep"   // what is stored for them stays
)

// HolesWords are all of them.
var HolesWords = []string{string(HolesRefuse), string(HolesOwn), string(HolesKeep)}

// holes are the hours between rows, which are sorted and of different hours.
func (s *Series) holes(each func(after, before SeriesRow)) {
	for i := 1; i < len(s.Rows); i++ {
		if s.Rows[i].Hour > s.Rows[i-1].Hour+1 {
			each(s.Rows[i-1], s.Rows[i])
		}
	}
}
