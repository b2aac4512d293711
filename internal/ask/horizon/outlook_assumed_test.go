package horizon

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
)

// What follows the forecasts is as if it had been forecast: the jobs of the hours that repeat, at the prices on record for
// the later time.
func TestAnAssumedWeekIsAsIfForecast(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 7))
	const known, all = 9 * 24, 9*24 + 19*24
	for drawn := range 40 {
		o := drawOutlook(r, all)
		for i := range o.Series {
			s := &o.Series[i]
			s.Hours, s.Jobs, s.Arrives = nil, nil, drawn%2 == 1
			for h := range known {
				if i > 0 || drawn%4 > 1 {
					s.Hours, s.Jobs = append(s.Hours, at(float64(h)).Unix()/3600), append(s.Jobs, float64(r.IntN(5))/2)
				}
			}
		}
		for i := range o.Classes {
			o.Classes[i].DeadlineSeconds = 1800
		}
		forecast := o
		forecast.Series = slices.Clone(o.Series)
		for i := range forecast.Series {
			s := &forecast.Series[i]
			s.Hours, s.Jobs = slices.Clone(s.Hours), slices.Clone(s.Jobs)
			for h := known; h < all && len(s.Hours) > 0; h++ {
				s.Hours, s.Jobs = append(s.Hours, at(float64(h)).Unix()/3600), append(s.Jobs, s.Jobs[h-7*24])
			}
		}
		if err := o.EndAssuming(LastWeekRepeats); err != nil {
			t.Fatal(err)
		}
		got, warnings, err := o.Horizon()
		if err != nil || !slices.ContainsFunc(warnings, func(w capacity.Warning) bool { return w.Code == "assumed" }) {
			t.Fatal(err, warnings)
		}
		want, _, err := forecast.Horizon()
		if err != nil {
			t.Fatal(err)
		}
		got, want = got.Carried(), want.Carried()
		if !got.End().Equal(want.End()) || got.Validate() != nil {
			t.Fatalf("case %d ends at %s, want %s (%v)", drawn, got.End(), want.End(), got.Validate())
		}
		for half := range 2 * all {
			moment := at(float64(half)/2 + 0.1)
			i, j := got.periodAt(moment), want.periodAt(moment)
			if a, b := got.Periods[i].PriceKey(), want.Periods[j].PriceKey(); a != b {
				t.Fatalf("case %d at %s: the prices are %q, want %q", drawn, moment, a, b)
			}
			for k := range got.Problem.Classes {
				if a, b := got.JobsIn(i, k), want.JobsIn(j, k); a != b {
					t.Fatalf("case %d at %s: class %d has %+v, want %+v", drawn, moment, k, a, b)
				}
			}
		}
	}
}

// periodAt finds the period of a moment.
func (h *Horizon) periodAt(moment time.Time) int {
	return slices.IndexFunc(h.Periods, func(p HorizonPeriod) bool { return !p.Start.After(moment) && p.End().After(moment) })
}

// An assumption without a forecast, or with one that is shorter than what repeats, is refused with a cure.
func TestWhatCannotFollowIsRefused(t *testing.T) {
	o := drawOutlook(rand.New(rand.NewPCG(9, 9)), 24*9)
	for i := range o.Series {
		o.Series[i] = ForecastSeries{Class: o.Series[i].Class, Hours: []int64{at(3).Unix() / 3600}, Jobs: []float64{1}}
	}
	early := o
	if err := early.EndAssuming(LastWeekRepeats); err != nil {
		t.Fatal(err)
	}
	_, _, err := early.Horizon()
	refuses(t, err, "/assume", "needs 168 hours of them. Assume \"flat\", or give longer forecasts.")
	late := o
	late.From = at(5)
	refuses(t, late.EndAssuming(FlatDemand), "/assume", "Begin before the forecasts end")
	o.Prices = slices.DeleteFunc(o.Prices, func(p inputs.PricePeriod) bool { return p.From.After(at(24 * 4)) })
	if err := o.EndAssuming(DemandEnds); err != nil {
		t.Fatal(err)
	}
	_, _, err = o.Horizon()
	refuses(t, err, "/prices", "give price periods that cover them")
}

// refuses demands an error about a member that says what to change.
func refuses(t *testing.T, err error, pointer, says string) {
	t.Helper()
	var input *fault.InputError
	if !errors.As(err, &input) || input.Findings[0].Pointer != pointer || !strings.Contains(input.Findings[0].Detail, says) {
		t.Errorf("got %v, want %q at %s", err, says, pointer)
	}
}
