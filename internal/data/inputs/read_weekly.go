package inputs

import (
	"fmt"
	"math"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

// WeeklyForecast makes hourly rows of a class from a week and growth.
type WeeklyForecast struct {
	Class          string    `json:"class"`
	From           time.Time `json:"from"` // whole hours of UTC, [From, Until)
	Until          time.Time `json:"until"`
	Week           Week      `json:"week"`                      // on the clocks of the cluster's time zone
	Counts         Counts    `json:"counts,omitempty"`          // of the week's numbers
	GrowthPerYear  float64   `json:"growth_per_year,omitzero"`  // 0.2 is a fifth more after HoursPerYear, smoothly
	GrowthPerMonth float64   `json:"growth_per_month,omitzero"` // the same after HoursPerMonth
	DryRun         bool      `json:"dry_run,omitzero"`
}

// maxGrowth bounds the yearly or monthly growth, as a multiple of the current jobs.
const maxGrowth = 1000

var weeklyShape = strict.NewShape("a weekly forecast", []string{"class", "from", "until", "week"}, "counts", "growth_per_year", "growth_per_month", "dry_run")

// ReadWeekly reads a body, strictly. The week is 168 numbers, an object with 24 for each day, or a text
// that ParseWeek reads.
func ReadWeekly(data []byte) (w WeeklyForecast, err error) {
	r := strict.NewReader(data)
	given := r.Object(weeklyShape, func(name string) {
		switch name {
		case "class":
			readForecastClass(r, &w.Class)
		case "week":
			readWeek(r, &w.Week)
		case "counts":
			strict.Word(r, &w.Counts, countsWords)
		default:
			r.Field(&w, name)
		}
	})
	r.End()
	return w, r.Result(func(k *strict.Checker) { w.check(k, given) })
}

func readWeek(r *strict.Reader, w *Week) {
	switch r.Space() {
	case '"':
		text, ok := r.Text()
		if !ok {
			return
		}
		var err error
		if *w, err = ParseWeek(text); err != nil {
			r.Found("week", fault.Capital(err.Error())+".", nil)
		}
	case '{':
		r.Object(weekShape, func(name string) {
			day := dayOf(name)
			readNumbers(r, w[24*day:24*day+24], "a day has 24 of them, from 0:00 on")
		})
	default:
		readNumbers(r, w[:], "a week has 168 of them, from Monday 0:00 on")
	}
}

var weekShape = strict.NewShape("a week", weekdays)

// readNumbers reads a list of exactly so many.
func readNumbers(r *strict.Reader, into []float64, which string) {
	n := 0
	if r.Array("numbers of jobs; "+which, func(i int) {
		if n++; i < len(into) {
			if r.Float(&into[i]); into[i] < 0 || into[i] > capacity.MaxJobs {
				r.Found("range", fmt.Sprintf("%s jobs are out of range; there can be 0 to %d.", fault.Plain(into[i]), capacity.MaxJobs), nil)
			}
		} else {
			r.Skip()
		}
	}) && n != len(into) {
		r.Found("week", fmt.Sprintf("Here are %d numbers; %s.", n, which), nil)
	}
}

// Check checks a forecast that was not read from JSON.
func (w *WeeklyForecast) Check() error {
	return strict.Check(func(k *strict.Checker) { w.check(k, 0) })
}

func (w *WeeklyForecast) check(k *strict.Checker, given strict.Given) {
	if w.Counts != "" {
		strict.OneOf(k, "counts", w.Counts, countsWords)
	}
	if w.Class == "" {
		k.Refuse("class", "missing", "The class is empty; name the one that is forecast.")
	}
	whole := k.Moment("from", w.From)
	whole = k.Moment("until", w.Until) && whole
	for _, m := range []struct {
		member string
		t      time.Time
	}{{"from", w.From}, {"until", w.Until}} {
		if begins := m.t.UTC().Truncate(time.Hour); whole && !m.t.Equal(begins) {
			k.Found(m.member, "not_whole", fmt.Sprintf("%s is not a whole hour of UTC.", m.t.Format(time.RFC3339)), k.Hint(m.member, begins, "The hour it lies in began at %s.", begins.Format(time.RFC3339)))
		}
	}
	if whole {
		if hours := w.Until.Sub(w.From) / time.Hour; !w.Until.After(w.From) {
			k.Term("The forecast", w.From, w.Until)
		} else if hours > maxForecastRows {
			k.Refuse("until", "too_many", "From %s there are %d hours until then; %d are made at once.", w.From.UTC().Format(time.RFC3339), hours, maxForecastRows)
		}
	}
	growth := func(member string, x float64) {
		switch {
		case !k.Finite(member, "The growth", x):
		case x <= -1:
			k.Refuse(member, "range", "The growth is %s; below -1 nothing is left to shrink. 0.2 is a fifth more, -0.2 a fifth less.", fault.Plain(x))
		case x > maxGrowth:
			k.Refuse(member, "range", "The growth is %s; it can be %d at most. 0.2 is a fifth more.", fault.Plain(x), maxGrowth)
		}
	}
	growth("growth_per_year", w.GrowthPerYear)
	growth("growth_per_month", w.GrowthPerMonth)
	if given.Has(weeklyShape, "growth_per_year") && given.Has(weeklyShape, "growth_per_month") {
		k.Refuse("growth_per_month", "one_of", "Give growth_per_year or growth_per_month, not both.")
	}
}

// Series makes the rows: the week on the clocks of a zone, times the growth since From. The hour skipped in spring is
// left out, and the one repeated in autumn comes twice.
func (w *WeeklyForecast) Series(zone *time.Location) (Series, error) {
	rate := math.Log1p(w.GrowthPerYear) / HoursPerYear
	if w.GrowthPerMonth != 0 {
		rate = math.Log1p(w.GrowthPerMonth) / capacity.HoursPerMonth
	}
	from, until := HourOf(w.From), HourOf(w.Until)
	s := Series{Class: w.Class, Rows: make([]SeriesRow, 0, until-from), At: "/class"}
	for hour := from; hour < until; hour++ {
		jobs := w.Week.In(hour, zone)
		if rate != 0 {
			jobs *= math.Exp(rate * float64(hour-from))
		}
		if !(jobs <= capacity.MaxJobs) {
			return s, strict.Check(func(k *strict.Checker) {
				member := "growth_per_year"
				if w.GrowthPerMonth != 0 {
					member = "growth_per_month"
				}
				k.Refuse(member, "range", "At %s it comes to %s jobs at once; there can be %d at most. Let it grow less, or end earlier.", TimeOf(hour).Format(time.RFC3339), fault.Plain(math.Round(jobs)), capacity.MaxJobs)
			})
		}
		s.Rows = append(s.Rows, SeriesRow{Hour: hour, Jobs: jobs, Arrives: w.Counts == CountsArrivals})
	}
	return s, nil
}
