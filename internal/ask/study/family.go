package study

import (
	"fmt"
	"math"
	"strings"

	"example.org/headroom/internal/core/fault"
)

// market holds the prices of an instance: reserved < middle < on-demand, per VM-hour. A class whose penalty per VM
// lies between the two prices is worth a reserved VM but not an on-demand one, so admission has a real choice.
type market struct{ reserved, middle, OnDemand float64 }

// family is a rule that makes an instance's classes from drawn figures.
type family struct {
	name  string
	about string
	// promised: nine tenths of each class's jobs must be admitted; otherwise none.
	promised bool
	// profiled: gamma is the drawn profile's own, so that the instance can be stated with profiles.
	profiled bool
	// class returns gamma and the penalty of class i.
	class func(m market, f Figures, i int) (gamma, penalty float64)
	// odd: the number of reserved VMs is made odd.
	odd bool
	// single: a class has one job, which is admitted or not.
	single bool
}

// Decimal places of figures. Penalties computed from a gamma and a price of two places each are exact with four.
const (
	pricePlaces   = 2
	gammaPlaces   = 2
	exactPlaces   = 4
	PenaltyPlaces = 6
)

// families lists every family, in the order shown to people.
var families = []family{
	{
		name: "table2", promised: true, profiled: true,
		about: "the paper's Table 2, penalty 10·δ·γ: nothing is ever refused",
		class: func(m market, f Figures, _ int) (float64, float64) {
			gamma := f.VmsPerJob()
			return gamma, Places(10*m.OnDemand*gamma, PenaltyPlaces)
		},
	},
	{
		name: "mixed", promised: true, profiled: true,
		about: "penalties per VM spread over 0.3·ρ .. 1.7·δ: admission is real",
		class: func(m market, f Figures, _ int) (float64, float64) {
			gamma := f.VmsPerJob()
			perVM := 0.3*m.reserved + float64((1.7*m.OnDemand-0.3*m.reserved)*f.u)
			return gamma, Places(perVM*gamma, PenaltyPlaces)
		},
	},
	{
		name: "hard", profiled: true,
		about: "penalties per VM spread over ρ .. δ, no promised jobs",
		class: func(m market, f Figures, _ int) (float64, float64) {
			gamma := f.VmsPerJob()
			return gamma, m.between(gamma, f.u)
		},
	},
	{
		name:  "strong",
		about: "penalty k·(γ + 1), γ in hundredths: a strongly correlated knapsack",
		class: func(m market, f Figures, _ int) (float64, float64) {
			gamma := f.hundredths()
			return gamma, Places(m.middle*(gamma+1), exactPlaces)
		},
	},
	{
		name:  "inverse-strong",
		about: "penalty k·(γ - 1), at least 0, γ in hundredths",
		class: func(m market, f Figures, _ int) (float64, float64) {
			gamma := f.hundredths()
			return gamma, Places(max(0, m.middle*(gamma-1)), exactPlaces)
		},
	},
	{
		name:  "subset",
		about: "penalty k·γ, γ in hundredths: every class is worth the same per VM",
		class: func(m market, f Figures, _ int) (float64, float64) {
			gamma := f.hundredths()
			return gamma, Places(m.middle*gamma, exactPlaces)
		},
	},
	{
		name: "evenodd", odd: true,
		about: "penalty k·γ, γ even, the reserved VMs odd: they can never be filled exactly",
		class: func(m market, f Figures, _ int) (float64, float64) {
			gamma := 2 * max(1, math.Round(f.VmsPerJob()/2))
			return gamma, Places(m.middle*gamma, exactPlaces)
		},
	},
	{
		name:  "sevenths",
		about: "penalty k·γ, γ a multiple of 0.7",
		class: func(m market, f Figures, _ int) (float64, float64) {
			gamma := Places(0.7*max(1, math.Round(f.VmsPerJob()/0.7)), 1)
			return gamma, Places(m.middle*gamma, exactPlaces)
		},
	},
	{
		name:  "spiky",
		about: "as hard, and every twentieth class's γ is a thousand times larger",
		class: func(m market, f Figures, i int) (float64, float64) {
			gamma := f.VmsPerJob()
			if i%20 == 0 {
				gamma *= 1000
			}
			return gamma, m.between(gamma, f.u)
		},
	},
	{
		name: "binary-spiky", single: true,
		about: "as spiky, with one job in each class",
		class: func(m market, f Figures, i int) (float64, float64) {
			gamma := f.VmsPerJob()
			if i%20 == 0 {
				gamma *= 1000
			}
			return gamma, m.between(gamma, f.u)
		},
	},
	{
		name:  "huge",
		about: "as hard, and every tenth class's γ is a thousand times larger",
		class: func(m market, f Figures, i int) (float64, float64) {
			gamma := f.VmsPerJob()
			if i%10 == 0 {
				gamma *= 1000
			}
			return gamma, m.between(gamma, f.u)
		},
	},
	{
		name:  "lognormal",
		about: "as hard, with lognormal γ: the median is 8, every sixth class's is above 59",
		class: func(m market, f Figures, _ int) (float64, float64) {
			gamma := f.lognormal(PenaltyPlaces)
			return gamma, m.between(gamma, f.u)
		},
	},
	{
		name:  "lognormal-strong",
		about: "penalty k·(γ + 1), γ lognormal in hundredths",
		class: func(m market, f Figures, _ int) (float64, float64) {
			gamma := f.lognormal(gammaPlaces)
			return gamma, Places(m.middle*(gamma+1), exactPlaces)
		},
	},
	{
		name:  "concave",
		about: "penalty 5·k·√γ: the larger a job, the less it is worth per VM",
		class: func(m market, f Figures, _ int) (float64, float64) {
			gamma := f.hundredths()
			return gamma, Places(5*m.middle*math.Sqrt(gamma), PenaltyPlaces)
		},
	},
	{
		name:  "circle",
		about: "penalty k·√(γ·(200 - γ)/7), at least 0: an arc of a circle over γ",
		class: func(m market, f Figures, _ int) (float64, float64) {
			gamma := f.hundredths()
			return gamma, Places(m.middle*math.Sqrt(gamma*max(0, 200-gamma)/7), PenaltyPlaces)
		},
	},
	{
		name:  "twolevel",
		about: "penalty k·(γ + 3) where γ's hundredths divide by 6, else k·(γ + 2); at most 0.999·δ·γ",
		class: func(m market, f Figures, _ int) (float64, float64) {
			gamma := f.hundredths()
			bonus := 2.0
			if int64(math.Round(gamma*100))%6 == 0 {
				bonus = 3
			}
			worth := Places(m.middle*(gamma+bonus), exactPlaces)
			most := math.Floor(0.999*m.OnDemand*gamma*1e4) / 1e4
			return gamma, min(worth, most)
		},
	},
	{
		name:  "steps",
		about: "penalty 3·k·⌈γ/3⌉, γ in hundredths",
		class: func(m market, f Figures, _ int) (float64, float64) {
			gamma := f.hundredths()
			return gamma, Places(3*m.middle*math.Ceil(gamma/3), exactPlaces)
		},
	},
}

// between returns the penalty of a class whose worth lies a share u of the way from the reserved to the on-demand
// price per VM.
func (m market) between(gamma, u float64) float64 {
	return Places((m.reserved+float64((m.OnDemand-m.reserved)*u))*gamma, PenaltyPlaces)
}

// hundredths returns gamma rounded to two places, never 0.
func (f Figures) hundredths() float64 {
	return max(0.01, Places(f.VmsPerJob(), gammaPlaces))
}

// lognormal returns a gamma whose logarithm is normal, rounded to so many places, never 0.
func (f Figures) lognormal(places int) float64 {
	const median, deviation = 8, 2.0 // deviation of the natural logarithm
	return max(0.01, Places(median*math.Exp(deviation*math.Sqrt2*math.Erfinv(2*f.size-1)), places))
}

// Names lists the families in the order shown to people.
func Names() []string {
	names := make([]string, len(families))
	for i, f := range families {
		names[i] = f.name
	}
	return names
}

// About describes a family in a few words, or returns "" for an unknown name.
func About(name string) string {
	f, err := familyNamed(name)
	if err != nil {
		return ""
	}
	return f.about
}

func familyNamed(name string) (family, error) {
	for _, f := range families {
		if f.name == name {
			return f, nil
		}
	}
	return family{}, fmt.Errorf("there is no family %q; the families are %s: %w",
		name, strings.Join(Names(), ", "), fault.Invalid)
}
