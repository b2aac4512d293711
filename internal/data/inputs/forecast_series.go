package inputs

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Series holds the forecast rows of one class that are written together, in the order of their hours.
type Series struct {
	Class string
	Rows  []SeriesRow
	Clear []HourSpan // hours that keep no row
	At    string     // pointer to the name of the class; "" is the whole input
}

// SeriesRow holds one hour. Memory may hold a million of them.
type SeriesRow struct {
	Hour    int32 // since 1970, see HourOf
	Line    int32 // its line in the file; 0 without a file
	Jobs    float64
	Arrives bool // Jobs arrive in the hour; otherwise they run at once
}

// HourSpan holds the hours [From, Until).
type HourSpan struct{ From, Until int32 }

// HourOf returns the whole hours from the beginning of 1970 to a moment.
func HourOf(t time.Time) int32 { return int32(t.Unix() / 3600) }

// TimeOf returns the beginning of an hour.
func TimeOf(hour int32) time.Time { return time.Unix(int64(hour)*3600, 0).UTC() }

// Written counts the rows that a write of forecasts changed, or would change.
type Written struct {
	Written      int64 `json:"written"`                 // rows given
	Added        int64 `json:"added"`                   // of them, for hours without a row
	Changed      int64 `json:"changed"`                 // of them, with another number than before
	Deleted      int64 `json:"deleted"`                 // rows of hours that have none now
	FromArrivals int64 `json:"from_arrivals,omitempty"` // rows that tell arrivals
	DryRun       bool  `json:"dry_run,omitempty"`       // nothing was written
}

// SeriesOf groups valid rows by class, the classes in the order of their first rows.
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
		all[at].Rows = append(all[at].Rows, f.row())
	}
	for _, s := range all {
		s.sort()
	}
	return all
}

func (f Forecast) row() SeriesRow {
	if f.Arrivals != nil {
		return SeriesRow{Hour: HourOf(f.Hour), Jobs: *f.Arrivals, Arrives: true}
	}
	return SeriesRow{Hour: HourOf(f.Hour), Jobs: f.Jobs}
}

func (s *Series) sort() {
	order := func(a, b SeriesRow) int { return cmp.Or(cmp.Compare(a.Hour, b.Hour), cmp.Compare(a.Line, b.Line)) }
	if !slices.IsSortedFunc(s.Rows, order) {
		slices.SortFunc(s.Rows, order)
	}
}

// Holes names the treatment of hours without a row between the first and the last row of a class.
type Holes string

const (
	HolesRefuse Holes = "refuse" // they are a mistake
	HolesOwn    Holes = "own"    // the class's own jobs.max holds there: rows stored for them are deleted
	HolesKeep   Holes = "keep"   // the stored rows stay
)

// holes returns the hours without a row between rows, which are sorted by different hours.
func (s *Series) holes(each func(after, before SeriesRow)) {
	for i := 1; i < len(s.Rows); i++ {
		if s.Rows[i].Hour > s.Rows[i-1].Hour+1 {
			each(s.Rows[i-1], s.Rows[i])
		}
	}
}

// Counts names what the numbers of a forecast count.
type Counts string

const (
	CountsArrivals Counts = "arrivals" // the executions that arrive in an hour
	CountsRunning  Counts = "running"  // the jobs that run at once; so do numbers of which nothing is said
)

var countsWords = []Counts{CountsArrivals, CountsRunning}
