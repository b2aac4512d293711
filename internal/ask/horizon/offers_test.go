package horizon

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/strict"
	"example.org/headroom/internal/data/inputs"
)

func TestOffersAreCheckedAsThoseOfQuestions(t *testing.T) {
	good := inputs.StandingOffer{Name: "1y", VMType: "small", Billing: capacity.BilledAlways, TermYears: 1, Max: 3}
	for name, test := range map[string]struct {
		change func(*inputs.StandingOffer)
		want   string
	}{
		"one that is right":    {func(*inputs.StandingOffer) {}, ""},
		"hours":                {func(o *inputs.StandingOffer) { o.TermYears, o.TermHours = 0, 8760 }, ""},
		"no term":              {func(o *inputs.StandingOffer) { o.TermYears = 0 }, "/term_years missing"},
		"two terms":            {func(o *inputs.StandingOffer) { o.TermHours = 1 }, "/term_years one_of"},
		"eleven years":         {func(o *inputs.StandingOffer) { o.TermYears = 11 }, "/term_years range"},
		"no type":              {func(o *inputs.StandingOffer) { o.VMType = "" }, "/vm_type missing"},
		"no billing":           {func(o *inputs.StandingOffer) { o.Billing = "" }, "/billing choice"},
		"an odd billing":       {func(o *inputs.StandingOffer) { o.Billing = "alwys" }, "/billing choice"},
		"fewer than none":      {func(o *inputs.StandingOffer) { o.Max = -1 }, "/max range"},
		"a negative upfront":   {func(o *inputs.StandingOffer) { o.Upfront = money.Round(-1) }, "/upfront range"},
		"a name of two dots":   {func(o *inputs.StandingOffer) { o.Name = ".." }, "/name text"},
		"a note that is long":  {func(o *inputs.StandingOffer) { o.Note = strings.Repeat("x", strict.MaxDescription+1) }, "/note too_long"},
		"a price beyond money": {func(o *inputs.StandingOffer) { o.Price = money.Round(1e12) }, "/price range"},
	} {
		t.Run(name, func(t *testing.T) {
			o := good
			test.change(&o)
			var input *fault.InputError
			got := ""
			if errors.As(o.Validate(), &input) {
				got = input.Findings[0].Pointer + " " + input.Findings[0].Code
			}
			if got != test.want {
				t.Errorf("got %q, want %q (%v)", got, test.want, input)
			}
			// Within a question, the verdict is the same.
			q := PurchaseQuestion{Horizon: smallHorizon(), Offers: []capacity.Offer{o.Offer(nil)}}
			if err := q.Validate(); (err == nil) != (got == "" || strings.HasPrefix(got, "/name") || strings.HasPrefix(got, "/note") || strings.HasPrefix(got, "/vm_type")) {
				t.Errorf("the offer: %v, in a question: %v", input, err)
			}
		})
	}
	var o inputs.StandingOffer
	if err := json.Unmarshal([]byte(`{"name":"x","vm_type":"small","price":"0.1","term_years":1}`), &o); err != nil || o.Billing != capacity.BilledUsed || o.Max != capacity.MaxOfferVMs {
		t.Errorf("got %+v (%v)", o, err)
	}
}

func smallHorizon() Horizon {
	return Horizon{
		Problem: capacity.Problem{Currency: "USD", PeriodSeconds: 3600, Options: capacity.DefaultOptions(), Classes: []capacity.Class{{Name: "a", VMsPerJob: new(decimal.NewFromInt(1)), Jobs: capacity.JobRange{Max: 1}}}},
		Periods: []HorizonPeriod{{Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Hours: 1}},
	}
}
