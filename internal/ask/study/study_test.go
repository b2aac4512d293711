package study

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.org/headroom/internal/core/fault"
)

func TestStreamIsSplitMix64(t *testing.T) {
	s := &Stream{State: 1234567}
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431} {
		if got := s.next(); got != want {
			t.Errorf("number %d: got %d, want %d", i, got, want)
		}
	}
}

// A seed names an instance for ever: stored results and other programs rely on it.
func TestInstancesNeverChange(t *testing.T) {
	want := map[string]string{
		"table2":         "36c58cd10567f6b4",
		"mixed":          "4aaf23623ba390ec",
		"hard":           "b05cec2a86c539f3",
		"strong":         "29c3af4aa6c23813",
		"inverse-strong": "3cc39d1c45a3ebb5",
		"subset":         "a8cded1323a17571",
		"evenodd":        "7da6da9258ec691b",
		"sevenths":       "703712751d5a04b8",
		"spiky":          "11aa7933b0c4e8a2",
		"twolevel":       "00fd90b4d2738172",
		"steps":          "a6c728adfcb9500b",

		"binary-spiky":     "02bd6a0b361487c7",
		"huge":             "42260231f16d9858",
		"lognormal":        "f14ddf0cf6afcf6b",
		"lognormal-strong": "cf4b67921a842b88",
		"concave":          "3edccbb4f33f6a1a",
		"circle":           "f8204d1d940efbd8",
	}
	for _, name := range Names() {
		in := generate(t, name, 50, 1)
		if got := fingerprint(in); got != want[name] {
			t.Errorf("%s, 50 classes, seed 1: got fingerprint %s, want %s", name, got, want[name])
		}
	}
	if got, want := fingerprint(Small(7)), "d84addca5688d9aa"; got != want {
		t.Errorf("small, seed 7: got fingerprint %s, want %s", got, want)
	}
}

func fingerprint(in Instance) string {
	h := fnv.New64a()
	for _, part := range []any{in.Gamma, in.Penalty, in.Low, in.High, in.Supply} {
		if err := binary.Write(h, binary.LittleEndian, part); err != nil {
			panic(err)
		}
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

func generate(t *testing.T, name string, classes int, seed uint64) Instance {
	t.Helper()
	in, err := Generate(name, classes, seed)
	if err != nil {
		t.Fatalf("generate %s: %v", name, err)
	}
	return in
}

func TestEveryFamilyKeepsTheCommonRanges(t *testing.T) {
	for _, name := range Names() {
		for seed := range uint64(20) {
			in := generate(t, name, 40, seed)
			reserved, onDemand := in.Supply[0], in.Supply[1]
			if !(5 <= reserved.Price && reserved.Price <= 20 && reserved.Price < onDemand.Price && onDemand.Price <= 40) {
				t.Errorf("%s %d: prices %g and %g", name, seed, reserved.Price, onDemand.Price)
			}
			demand, fewest, most := 0.0, int64(10), int64(30)
			if name == "binary-spiky" {
				fewest, most = 1, 1
			}
			for i := range in.Gamma {
				demand += in.Gamma[i] * float64(in.High[i])
				if !(in.Gamma[i] > 0 && in.Penalty[i] >= 0) || in.High[i] < fewest || in.High[i] > most {
					t.Errorf("%s %d class %d: gamma %g, penalty %g, jobs %d", name, seed, i, in.Gamma[i], in.Penalty[i], in.High[i])
				}
				if decimals(in.Penalty[i]) > PenaltyPlaces {
					t.Errorf("%s %d class %d: penalty %v has more than %d decimals", name, seed, i, in.Penalty[i], PenaltyPlaces)
				}
			}
			if off := float64(reserved.VMs) - demand/2; math.Abs(off) > 1 {
				t.Errorf("%s %d: %d reserved VMs for a demand of %g", name, seed, reserved.VMs, demand)
			}
			if onDemand.VMs != Unlimited {
				t.Errorf("%s %d: on-demand is limited to %d", name, seed, onDemand.VMs)
			}
		}
	}
}

func decimals(x float64) int {
	_, fraction, _ := strings.Cut(strconv.FormatFloat(x, 'f', -1, 64), ".")
	return len(fraction)
}

// The defining formula of each family.
func TestFamiliesKeepTheirFormula(t *testing.T) {
	const noise = 1e-5
	type class struct {
		gamma, penalty, rho, delta, middle float64
		low, high                          int64
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= noise }
	correlated := func(worth func(c class) float64) func(class) bool {
		return func(c class) bool {
			return c.low == 0 && decimals(c.gamma) <= 2 && decimals(c.penalty) <= 4 && near(c.penalty, worth(c))
		}
	}
	between := func(c class) bool {
		return c.low == 0 && c.rho*c.gamma-noise <= c.penalty && c.penalty <= c.delta*c.gamma+noise
	}
	holds := map[string]func(c class) bool{
		"table2": func(c class) bool {
			return near(c.penalty, 10*c.delta*c.gamma) && c.low == (9*c.high+9)/10
		},
		"mixed": func(c class) bool {
			return 0.3*c.rho*c.gamma-noise <= c.penalty && c.penalty <= 1.7*c.delta*c.gamma+noise && c.low == (9*c.high+9)/10
		},
		"hard":           between,
		"strong":         correlated(func(c class) float64 { return c.middle * (c.gamma + 1) }),
		"inverse-strong": correlated(func(c class) float64 { return max(0, c.middle*(c.gamma-1)) }),
		"subset":         correlated(func(c class) float64 { return c.middle * c.gamma }),
		"evenodd": func(c class) bool {
			return c.low == 0 && math.Mod(c.gamma, 2) == 0 && near(c.penalty, c.middle*c.gamma)
		},
		"sevenths": func(c class) bool {
			return decimals(c.gamma) <= 1 && int64(math.Round(c.gamma*10))%7 == 0 && near(c.penalty, c.middle*c.gamma)
		},
		"spiky":        between,
		"binary-spiky": between,
		"huge":         between,
		"lognormal":    between,
		"twolevel": func(c class) bool {
			if c.penalty > 0.9991*c.delta*c.gamma {
				return false
			}
			bonus := c.penalty/c.middle - c.gamma
			full := near(bonus, 2) || near(bonus, 3)
			return full || near(c.penalty, 0.999*c.delta*c.gamma) || c.penalty > 0.999*c.delta*c.gamma-2e-4
		},
		"steps":            correlated(func(c class) float64 { return 3 * c.middle * math.Ceil(c.gamma/3) }),
		"lognormal-strong": correlated(func(c class) float64 { return c.middle * (c.gamma + 1) }),
		"concave": func(c class) bool {
			return c.low == 0 && decimals(c.gamma) <= 2 && near(math.Pow(c.penalty/(5*c.middle), 2), c.gamma)
		},
		"circle": func(c class) bool { // of radius 100 about the point 100, 0, drawn to a scale
			height := c.penalty / c.middle * math.Sqrt(7)
			return c.low == 0 && decimals(c.gamma) <= 2 && (c.gamma > 200 && height == 0 || near(math.Hypot(c.gamma-100, height), 100))
		},
	}
	for _, name := range Names() {
		for seed := range uint64(20) {
			in := generate(t, name, 60, seed)
			rho, delta := in.Supply[0].Price, in.Supply[1].Price
			for i := range in.Gamma {
				c := class{in.Gamma[i], in.Penalty[i], rho, delta, Places((rho+delta)/2, 2), in.Low[i], in.High[i]}
				if !holds[name](c) {
					t.Fatalf("%s, seed %d: %+v breaks the family's rule", name, seed, c)
				}
			}
			if name == "evenodd" && in.Supply[0].VMs%2 != 1 {
				t.Errorf("evenodd, seed %d: %d reserved VMs are not odd", seed, in.Supply[0].VMs)
			}
		}
	}
}

func TestSpikesStandOut(t *testing.T) {
	plain := generate(t, "hard", 100, 3)
	for name, want := range map[string]int{"spiky": 5, "binary-spiky": 5, "huge": 10} {
		in, spikes := generate(t, name, 100, 3), 0
		for i := range in.Gamma {
			switch in.Gamma[i] {
			case 1000 * plain.Gamma[i]:
				spikes++
			case plain.Gamma[i]:
			default:
				t.Errorf("%s, class %d: gamma %g is neither %g nor a thousand times that", name, i, in.Gamma[i], plain.Gamma[i])
			}
		}
		if spikes != want {
			t.Errorf("%s: got %d spikes among 100 classes, want %d", name, spikes, want)
		}
	}
}

// The gammas are lognormal: half of them above the median, as many as normal beyond one and two deviations.
func TestLognormalGammas(t *testing.T) {
	for _, name := range []string{"lognormal", "lognormal-strong"} {
		in := generate(t, name, 20_000, 1)
		for deviations, want := range map[float64]float64{-1: 0.8413, 0: 0.5, 1: 0.1587, 2: 0.0228} {
			above := 0.0
			for _, gamma := range in.Gamma {
				if gamma > 8*math.Exp(2*deviations) {
					above++
				}
			}
			if share := above / float64(len(in.Gamma)); math.Abs(share-want) > 0.01 {
				t.Errorf("%s: %.3f of the classes are above %g deviations, want %.3f", name, share, deviations, want)
			}
		}
	}
}

// A longer instance of the same seed starts with the shorter one's classes.
func TestClassesDoNotDependOnTheirNumber(t *testing.T) {
	short, long := generate(t, "mixed", 10, 5), generate(t, "mixed", 300, 5)
	if !slices.Equal(short.Gamma, long.Gamma[:10]) || !slices.Equal(short.Penalty, long.Penalty[:10]) {
		t.Error("the first ten of 300 classes differ from ten classes of the same seed")
	}
}

func TestGenerateRefuses(t *testing.T) {
	for _, bad := range []struct {
		name    string
		classes int
		want    string
	}{
		{"tabel2", 10, `there is no family "tabel2"; the families are table2, mixed, hard`},
		{"hard", 0, "an instance has 1 to 10000000 classes, not 0"},
		{"hard", MostClasses + 1, "not 10000001"},
	} {
		_, err := Generate(bad.name, bad.classes, 1)
		if err == nil || !strings.Contains(err.Error(), bad.want) || !errors.Is(err, fault.Invalid) {
			t.Errorf("Generate(%q, %d): got %v, want an invalid-kind error with %q", bad.name, bad.classes, err, bad.want)
		}
	}
}

func TestProblemStatesTheInstanceExactly(t *testing.T) {
	check := func(in Instance) {
		t.Helper()
		p := in.Problem()
		for i, c := range p.Classes {
			if c.VMsPerJob.InexactFloat64() != in.Gamma[i] || c.Penalty.Float() != in.Penalty[i] ||
				c.Jobs.Min != float64(in.Low[i]) || c.Jobs.Max != float64(in.High[i]) {
				t.Fatalf("%s %d: class %+v is not class %d of the instance", in.Family, in.Seed, c, i)
			}
		}
		if len(p.Supply.Contracts) != len(in.Supply)-1 {
			t.Fatalf("%s %d: got %d contracts, want %d", in.Family, in.Seed, len(p.Supply.Contracts), len(in.Supply)-1)
		}
		for i, c := range p.Supply.Contracts {
			if c.VMs != in.Supply[i].VMs || c.Price.Float() != in.Supply[i].Price {
				t.Errorf("%s %d: contract %+v is not tier %+v", in.Family, in.Seed, c, in.Supply[i])
			}
		}
		last := in.Supply[len(in.Supply)-1]
		if p.Supply.OnDemand.Price.Float() != last.Price || (p.Supply.OnDemand.Quota == nil) != (last.VMs == Unlimited) {
			t.Errorf("%s %d: on-demand %+v is not tier %+v", in.Family, in.Seed, p.Supply.OnDemand, last)
		}
	}
	for _, name := range Names() {
		check(generate(t, name, 30, 2))
	}
	for seed := range uint64(200) {
		check(Small(seed))
	}
}

// The hundred thousand small instances are only useful if the awkward cases are among them.
func TestSmallInstancesCoverTheAwkwardCases(t *testing.T) {
	const seeds = 20000
	seen := map[string]int{}
	for seed := range uint64(seeds) {
		in := Small(seed)
		last := len(in.Supply) - 1
		if n := len(in.Gamma); n < 2 || n > 4 || last > 3 {
			t.Fatalf("seed %d: %d classes and %d contracts", seed, n, last)
		}
		seen[fmt.Sprintf("%d contracts", last)]++
		if in.Supply[last].VMs != Unlimited {
			seen["quota"]++
		}
		choices, smallestLoad := int64(1), 0.0
		for i, gamma := range in.Gamma {
			choices *= in.High[i] - in.Low[i] + 1
			smallestLoad += gamma * float64(in.Low[i])
			if !(gamma > 0) || decimals(gamma) > 2 || decimals(in.Penalty[i]) > 4 || in.Low[i] < 0 || in.High[i] < in.Low[i] {
				t.Fatalf("seed %d class %d: %g, %g, %d..%d", seed, i, gamma, in.Penalty[i], in.Low[i], in.High[i])
			}
			for _, tier := range in.Supply {
				if tier.Price > 0 && math.Abs(in.Penalty[i]-tier.Price*gamma) < 1e-9 {
					seen["class worth a price"]++
				}
			}
			if i > 0 && in.Penalty[i] > 0 && math.Abs(in.Penalty[i]*in.Gamma[i-1]-in.Penalty[i-1]*gamma) < 1e-9 {
				seen["classes worth the same"]++
			}
			if in.Penalty[i] == 0 {
				seen["no penalty"]++
			}
		}
		if choices > 2401 {
			t.Errorf("seed %d: %d choices", seed, choices)
		}
		supply := 0.0
		for k, tier := range in.Supply {
			if decimals(tier.Price) > 2 || tier.VMs < 0 {
				t.Errorf("seed %d: tier %+v", seed, tier)
			}
			if k > 0 && tier.Price == in.Supply[k-1].Price {
				seen["equal prices"]++
			}
			if k < last && tier.Price > in.Supply[last].Price {
				seen["on-demand cheaper than a contract"]++
			}
			supply += float64(tier.VMs)
		}
		if smallestLoad > supply {
			seen["no plan"]++
		}
	}
	for _, situation := range []string{
		"0 contracts", "1 contracts", "2 contracts", "3 contracts", "quota", "class worth a price", "classes worth the same",
		"no penalty", "equal prices", "on-demand cheaper than a contract", "no plan",
	} {
		if seen[situation] < seeds/100 {
			t.Errorf("%s: %d of %d instances, want at least one in a hundred", situation, seen[situation], seeds)
		}
	}
	t.Log(seen)
}
