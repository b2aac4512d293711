package inputs

import (
	"fmt"
	"unicode/utf8"

	"example.org/headroom/internal/core/strict"
)

var (
	rowsShape     = strict.NewShape("a body of forecasts", []string{"rows"})
	forecastShape = strict.NewShape("a forecast", []string{"class", "hour"}, "jobs", "arrivals")
)

// ReadForecasts reads {"rows": […]} with up to maxForecastRows rows, strictly and in one pass. ValidateForecasts
// checks their values.
func ReadForecasts(data []byte) (rows []Forecast, err error) {
	r := strict.NewReader(data)
	r.Object(rowsShape, func(string) {
		before := len(r.Findings)
		if rows = strict.List(r, "of forecasts", maxForecastRows, readForecast); len(rows) == 0 && len(r.Findings) == before {
			r.Found("missing", "There is no row; give at least one.", nil)
		}
	})
	r.End()
	if err := r.Result(func(*strict.Checker) {}); err != nil {
		return nil, err
	}
	return rows, nil
}

// readForecastClass reads the class that a forecast is of.
func readForecastClass(r *strict.Reader, into *string) {
	*into, _ = r.Text()
	if utf8.RuneCountInString(*into) > strict.MaxNameLength {
		r.Found("too_long", fmt.Sprintf("The name is too long; it can have %d characters at most.", strict.MaxNameLength), nil)
	}
	r.CheckText([]byte(*into))
}

func readForecast(r *strict.Reader, f *Forecast) {
	given := r.Object(forecastShape, func(name string) {
		switch name {
		case "class":
			readForecastClass(r, &f.Class)
		case "hour":
			r.Moment(&f.Hour)
		case "jobs":
			r.Float(&f.Jobs)
		case "arrivals":
			f.Arrivals = new(float64)
			r.Float(f.Arrivals)
		}
	})
	switch jobs, arrivals := given.Has(forecastShape, "jobs"), given.Has(forecastShape, "arrivals"); {
	case given == 0:
	case jobs && arrivals:
		r.Enter("jobs")
		r.Found("one_of", "Here are jobs that run at once, and beside them \"arrivals\" of the same hour; give one of the two.", nil)
		r.Leave()
	case !jobs && !arrivals:
		r.Missing("jobs", "a forecast that has no arrivals")
	}
}
