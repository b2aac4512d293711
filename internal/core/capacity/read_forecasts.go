package capacity

import (
	"fmt"
	"time"
	"unicode/utf8"
)

var (
	rowsShape     = newShape("a body of forecasts", []string{"rows"})
	forecastShape = newShape("a forecast", []string{"class", "hour", "jobs"})
)

// ReadForecasts reads {"rows": […]} with up to MaxForecastRows rows, strictly and in one pass. What
// the rows say is for ValidateForecasts to check.
func ReadForecasts(data []byte) (rows []Forecast, err error) {
	r := &reader{data: data, path: make(path, 0, 8)}
	r.start()
	r.object(rowsShape, func(string) {
		before := len(r.findings)
		if rows = list(r, "of forecasts", MaxForecastRows, r.forecast); len(rows) == 0 && len(r.findings) == before {
			r.found("missing", "There is no row; give at least one.", nil)
		}
	})
	r.end()
	if err := r.result(func(*checker) {}); err != nil {
		return nil, err
	}
	return rows, nil
}

// forecastClass reads the class that a forecast is of.
func (r *reader) forecastClass(into *string) {
	*into, _ = r.text()
	if utf8.RuneCountInString(*into) > MaxNameLength {
		r.found("too_long", fmt.Sprintf("The name is too long; it can have %d characters at most.", MaxNameLength), nil)
	}
	r.checkText([]byte(*into))
}

func (r *reader) forecast(f *Forecast) {
	r.object(forecastShape, func(name string) {
		switch name {
		case "class":
			r.forecastClass(&f.Class)
		case "hour":
			r.moment(&f.Hour)
		case "jobs":
			r.float(&f.Jobs)
		}
	})
}

// moment reads a time as RFC 3339 has it.
func (r *reader) moment(into *time.Time) {
	text, ok := r.text()
	if ok && into.UnmarshalText([]byte(text)) != nil {
		r.found("time", fmt.Sprintf("%q is no time; give one such as \"2026-03-01T22:00:00Z\".", clip(text)), nil)
	}
}
