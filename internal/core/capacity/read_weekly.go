package capacity

import (
	"fmt"
	"math"
	"time"
)

// WeeklyForecast makes hourly rows of a class from a week and growth.
type WeeklyForecast struct {
	Class          string    `json:"class"`
	From           time.Time `json:"from"` // whole hours of UTC, [From, Until)
	Until          time.Time `json:"until"`
	Week           Week      `json:"week"`                      // on the clocks of the cluster's time zone
	GrowthPerYear  float64   `json:"growth_per_year,omitzero"`  // 0.2 is a fifth more after HoursPerYear, smoothly
	GrowthPerMonth float64   `json:"growth_per_month,omitzero"` // the same after HoursPerMonth
	DryRun         bool      `json:"dry_run,omitzero"`
}

// MaxGrowth bounds how many times as much there is to come in a year or month besides what there is.
const MaxGrowth = 1000

var weeklyShape = newShape("a weekly forecast", []string{"class", "from", "until", "week"}, "growth_per_year", "growth_per_month", "dry_run")

// ReadWeekly reads a body, strictly. The week is 168 numbers, an object with 24 for each day, or a text
// that ParseWeek reads.
func ReadWeekly(data []byte) (w WeeklyForecast, err error) {
	r := &reader{data: data, path: make(path, 0, 8)}
	r.start()
	given := r.object(weeklyShape, func(name string) {
		switch name {
		case "class":
			r.forecastClass(&w.Class)
		case "from":
			r.moment(&w.From)
		case "until":
			r.moment(&w.Until)
		case "week":
			r.week(&w.Week)
		case "growth_per_year":
			r.float(&w.GrowthPerYear)
		case "growth_per_month":
			r.float(&w.GrowthPerMonth)
		case "dry_run":
			r.flag(&w.DryRun)
		}
	})
	r.end()
	return w, r.result(func(k *checker) { w.check(k, given) })
}

func (r *reader) week(w *Week) {
	switch r.space() {
	case '"':
		text, ok := r.text()
		if !ok {
			return
		}
		var err error
		if *w, err = ParseWeek(text); err != nil {
			r.found("week", capital(err.Error())+".", nil)
		}
	case '{':
		r.object(weekShape, func(name string) {
			day := dayOf(name)
			r.numbers(w[24*day:24*day+24], "a day has 24 of them, from 0:00 on")
		})
	default:
		r.numbers(w[:], "a week has 168 of them, from Monday 0:00 on")
	}
}

var weekShape = newShape("a week", weekdays)

// numbers reads a list of exactly so many.
func (r *reader) numbers(into []float64, which string) {
	n := 0
	if r.array("numbers of jobs; "+which, func(i int) {
		if n++; i < len(into) {
			if r.float(&into[i]); into[i] < 0 || into[i] > MaxJobs {
				r.found("range", fmt.Sprintf("%s jobs are out of range; there can be 0 to %d.", plain(into[i]), MaxJobs), nil)
			}
		} else {
			r.skip()
		}
	}) && n != len(into) {
		r.found("week", fmt.Sprintf("Here are %d numbers; %s.", n, which), nil)
	}
}

// Check says what is wrong with one that was not read.
func (w *WeeklyForecast) Check() error {
	return findingsOf(func(k *checker) { w.check(k, 0) })
}

func (w *WeeklyForecast) check(k *checker, given given) {
	if w.Class == "" {
		k.refuse("class", "missing", "The class is empty; name the one that is forecast.")
	}
	whole := k.moment("from", w.From)
	whole = k.moment("until", w.Until) && whole
	for _, m := range []struct {
		member string
		t      time.Time
	}{{"from", w.From}, {"until", w.Until}} {
		if begins := m.t.UTC().Truncate(time.Hour); whole && !m.t.Equal(begins) {
			k.found(m.member, "not_whole", fmt.Sprintf("%s is not a whole hour of UTC.", m.t.Format(time.RFC3339)), k.hint(m.member, begins, "The hour it lies in began at %s.", begins.Format(time.RFC3339)))
		}
	}
	if whole {
		if hours := w.Until.Sub(w.From) / time.Hour; !w.Until.After(w.From) {
			k.term("The forecast", w.From, w.Until)
		} else if hours > MaxForecastRows {
			k.refuse("until", "too_many", "From %s there are %d hours until then; %d are made at once.", w.From.UTC().Format(time.RFC3339), hours, MaxForecastRows)
		}
	}
	growth := func(member string, x float64) {
		switch {
		case !k.finite(member, "The growth", x):
		case x <= -1:
			k.refuse(member, "range", "The growth is %s; below -1 nothing is left to shrink. 0.2 is a fifth more, -0.2 a fifth less.", plain(x))
		case x > MaxGrowth:
			k.refuse(member, "range", "The growth is %s; it can be %d at most. 0.2 is a fifth more.", plain(x), MaxGrowth)
		}
	}
	growth("growth_per_year", w.GrowthPerYear)
	growth("growth_per_month", w.GrowthPerMonth)
	if given.has(weeklyShape, "growth_per_year") && given.has(weeklyShape, "growth_per_month") {
		k.refuse("growth_per_month", "one_of", "Give growth_per_year or growth_per_month, not both.")
	}
}

// Series makes the rows: the week by the clocks of a zone, so that the hour skipped in spring is left
// out and the one repeated in autumn comes twice, times the growth since From.
func (w *WeeklyForecast) Series(zone *time.Location) (Series, error) {
	rate := math.Log1p(w.GrowthPerYear) / HoursPerYear
	if w.GrowthPerMonth != 0 {
		rate = math.Log1p(w.GrowthPerMonth) / HoursPerMonth
	}
	from, until := HourOf(w.From), HourOf(w.Until)
	s := Series{Class: w.Class, Rows: make([]SeriesRow, 0, until-from), At: "/class"}
	for hour := from; hour < until; hour++ {
		jobs := w.Week.In(hour, zone)
		if rate != 0 {
			jobs *= math.Exp(rate * float64(hour-from))
		}
		if !(jobs <= MaxJobs) {
			return s, findingsOf(func(k *checker) {
				member := "growth_per_year"
				if w.GrowthPerMonth != 0 {
					member = "growth_per_month"
				}
				k.refuse(member, "range", "At %s it comes to %s jobs at once; there can be %d at most. Let it grow less, or end earlier.", TimeOf(hour).Format(time.RFC3339), plain(math.Round(jobs)), MaxJobs)
			})
		}
		s.Rows = append(s.Rows, SeriesRow{Hour: hour, Jobs: jobs})
	}
	return s, nil
}
