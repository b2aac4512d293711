package horizon

import (
	"fmt"
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/words"
)

// EndAssuming ends the outlook with the forecasts, and has the assumed demand follow until the end it had. It refuses an
// outlook without a forecast.
func (o *Outlook) EndAssuming(a Assumption) error {
	if end := o.forecastEnd(); !end.After(o.From) {
		return fault.At("/assume", "no_forecast", fmt.Sprintf("There is no forecast from %s until %s that a demand could follow. "+
			"Begin before the forecasts end, or give forecasts of that time.", words.Moment(o.From), words.Moment(o.Until)))
	}
	o.Assume, o.AssumeUntil = a, o.Until
	o.EndWithForecasts()
	return nil
}

// assumed is a horizon with the assumed demand after the forecasts, at the prices on record for that time.
func (o *Outlook) assumed(h Horizon, lists []priceList, typed bool) (Horizon, error) {
	if o.Assume.tooLong(&h) {
		return h, fault.At("/assume", "range", fmt.Sprintf("The forecasts from %s on last %s, and %q needs %s of them. Assume %q, or give longer forecasts.",
			words.Moment(o.From), words.Hours(h.End().Sub(h.Start()).Hours()), o.Assume, words.Hours(o.Assume.cycle().Hours()), FlatDemand))
	}
	known := len(h.Periods)
	h = h.extended(o.AssumeUntil, o.Assume)
	after := h.Periods[known:]
	h.Periods = slices.Clip(h.Periods[:known])
	lists, cuts := slices.Clone(lists), priceCuts(lists)
	for _, p := range after {
		for at := p.Start; at.Before(p.End()); {
			for len(cuts) > 0 && !cuts[0].After(at) {
				cuts = cuts[1:]
			}
			end := p.End()
			if len(cuts) > 0 {
				end = minTime(end, cuts[0])
			}
			piece := p.part(at, end)
			piece.Prices = nil
			setPrices(&piece, lists, at, typed)
			if last := &h.Periods[len(h.Periods)-1]; len(h.Periods) > known && last.goesOn(&piece) {
				*last = last.part(last.Start, end)
			} else {
				h.Periods = append(h.Periods, piece)
			}
			at = end
		}
	}
	if n := len(h.Periods); n > MaxPeriods || n*len(h.Problem.Classes) > MaxHorizonLoad {
		fit := min(MaxPeriods, MaxHorizonLoad/len(h.Problem.Classes))
		return h, o.tooLong(fit, h.Periods[fit].Start, len(h.Problem.Classes))
	}
	return h, nil
}

// goesOn reports whether the next period has the same demand and prices.
func (p *HorizonPeriod) goesOn(next *HorizonPeriod) bool {
	rate := func(p *HorizonPeriod) []float64 { return times(p.Arrivals, 1/float64(p.Length())) }
	return p.Unforecast == next.Unforecast && p.PriceKey() == next.PriceKey() && slices.Equal(p.Jobs, next.Jobs) && (p.Jobs == nil) == (next.Jobs == nil) &&
		slices.Equal(rate(p), rate(next))
}

// tooLong reports whether what repeats is longer than the horizon.
func (a Assumption) tooLong(h *Horizon) bool { return h.End().Sub(h.Start()) < a.cycle() }

// tellAssumed says which time rests on what is assumed.
func (o *Outlook) tellAssumed() capacity.Warning {
	hours := o.AssumeUntil.Sub(o.Until).Hours()
	return capacity.Warning{Code: "assumed", Pointer: "/assume", Detail: fmt.Sprintf("From %s on, where the forecasts end, it is assumed that %s: %d of %s rest on that.",
		words.Moment(o.Until), o.Assume.words(), int64(math.Round(hours)), fault.Plural(int64(math.Round(o.AssumeUntil.Sub(o.From).Hours())), "hour"))}
}
