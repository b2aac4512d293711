package capacity

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
)

// anyProblem draws valid problems of every kind.
func anyProblem(t *rapid.T) Problem {
	name := rapid.StringMatching(`[a-zA-Zäß水😀"\\/<&~ ]{1,12}`)
	amount := rapid.Custom(func(t *rapid.T) money.Amount {
		return money.Amount{Decimal: decimal.New(rapid.Int64Range(0, 1e15).Draw(t, "digits"), -int32(rapid.IntRange(6, 9).Draw(t, "places")))}
	})
	integrality := rapid.SampledFrom(integralities).Draw(t, "integrality")
	p := Problem{
		Currency: rapid.StringMatching(`[A-Z]{3}`).Draw(t, "currency"), PeriodSeconds: rapid.Int64Range(1, MaxPeriodSeconds).Draw(t, "period"),
		Options: Options{
			Integrality: integrality, Bound: rapid.SampledFrom(Bounds).Draw(t, "bound"), Engine: rapid.SampledFrom(engines).Draw(t, "engine"),
			Gap: rapid.Float64Range(0, MaxGap).Draw(t, "gap"), MaxSolveMs: rapid.Int64Range(1, MaxSolveMs).Draw(t, "ms"),
			OneSlotPerJob: rapid.Bool().Draw(t, "floors"), Sharing: rapid.SampledFrom(sharings).Draw(t, "sharing"),
		},
	}
	contracts := rapid.SliceOfNDistinct(name, 0, 6, rapid.ID).Draw(t, "contracts")
	types := rapid.SliceOfNDistinct(name, 0, 3, rapid.ID).Draw(t, "types")
	for range max(1, len(types)) {
		var own VMTypeSupply
		for range rapid.IntRange(0, len(contracts)).Draw(t, "how many") {
			own.Contracts = append(own.Contracts, Contract{contracts[0], int64(len(contracts)) * 100, amount.Draw(t, "price"), rapid.SampledFrom(Billings).Draw(t, "billing")})
			contracts = contracts[1:]
		}
		own.OnDemand.Price = amount.Draw(t, "price")
		if rapid.Bool().Draw(t, "limited") {
			quota := rapid.Int64Range(0, MaxVMs).Draw(t, "quota")
			own.OnDemand.Quota = &quota
		}
		if rapid.Bool().Draw(t, "spot") {
			own.Spot = &Spot{amount.Draw(t, "price"), rapid.Float64Range(0, 1).Draw(t, "share")}
		}
		if len(types) == 0 {
			p.Supply = Supply{Contracts: own.Contracts, OnDemand: own.OnDemand, Spot: own.Spot}
			break
		}
		own.Name = types[len(p.Supply.VMTypes)]
		p.Supply.VMTypes = append(p.Supply.VMTypes, own)
	}
	for _, n := range rapid.SliceOfNDistinct(name, 1, 4, rapid.ID).Draw(t, "classes") {
		p.Classes = append(p.Classes, anyClass(t, n, integrality, amount.Draw(t, "penalty")))
		if len(types) > 0 {
			byType(t, &p.Classes[len(p.Classes)-1], types)
		}
	}
	if rapid.Bool().Draw(t, "budget") {
		p.Budget = &Budget{}
		for _, limit := range []**money.Amount{&p.Budget.VMCost, &p.Budget.Total} {
			if rapid.Bool().Draw(t, "limited") {
				amount := amount.Draw(t, "amount")
				*limit = &amount
			}
		}
	}
	if rapid.Bool().Draw(t, "near") {
		p.Options.Near = &Near{VMs: rapid.Float64Range(0, 1e6).Draw(t, "vms"), Jobs: map[string]float64{p.Classes[0].Name: 2.5}}
	}
	return p
}

// byType makes a class that may run differently on each type, and runs on the first.
func byType(t *rapid.T, c *Class, types []string) {
	if !c.SlotsPerVM.IsZero() && rapid.Bool().Draw(t, "slots by type") {
		slots := map[string]SlotsPerVM{types[0]: c.SlotsPerVM}
		for _, vmType := range types[1:] {
			if rapid.Bool().Draw(t, "runs") {
				slots[vmType] = SlotsPerVM{Map: rapid.Int64Range(1, MaxSlotsPerVM).Draw(t, "map"), Reduce: rapid.Int64Range(1, MaxSlotsPerVM).Draw(t, "reduce")}
			}
		}
		c.SlotsPerVM = SlotsPerVM{ByType: slots}
	}
	if rapid.Bool().Draw(t, "speed by type") {
		c.Speed = Speed{types[0]: rapid.Float64Range(MinSpeed, MaxSpeed).Draw(t, "speed")}
		for _, vmType := range types[1:] {
			c.Speed[vmType] = rapid.SampledFrom([]float64{0, 0.5, 1, 1.25, MaxSpeed}).Draw(t, "speed")
		}
		if c.VMsPerJob != nil && c.Speed[types[0]] < 1 {
			c.Speed[types[0]] = 1
		}
	}
}

func anyClass(t *rapid.T, name string, integrality Integrality, penalty money.Amount) Class {
	seconds := rapid.Float64Range(0, 1000)
	c := Class{Name: name, Penalty: penalty, DeadlineSeconds: rapid.Float64Range(1, MaxSeconds).Draw(t, "deadline"),
		SlotsPerVM: SlotsPerVM{Map: rapid.Int64Range(1, 8).Draw(t, "map"), Reduce: rapid.Int64Range(1, 8).Draw(t, "reduce")}}
	c.Jobs.Max = rapid.Float64Range(0, 100).Draw(t, "max")
	c.Jobs.Min = c.Jobs.Max * rapid.Float64Range(0, 1).Draw(t, "min")
	if integrality != Relaxed {
		c.Jobs.Min, c.Jobs.Max = math.Floor(c.Jobs.Min), math.Floor(c.Jobs.Max)
	}
	figures := func(n int64) (mean, longest float64) {
		mean = seconds.Draw(t, "mean")
		return mean, mean * rapid.Float64Range(1, float64(n)).Draw(t, "spread")
	}
	switch rapid.IntRange(0, 3).Draw(t, "need") {
	case 0:
		p := &Profile{MapTasks: rapid.Int64Range(1, 500).Draw(t, "maps"), ReduceTasks: rapid.Int64Range(0, 50).Draw(t, "reduces"), OverheadSeconds: seconds.Draw(t, "overhead")}
		p.MapAvgSeconds, p.MapMaxSeconds = figures(p.MapTasks)
		if p.ReduceTasks > 0 {
			p.FirstShuffleAvgSeconds, p.FirstShuffleMaxSeconds = figures(p.ReduceTasks)
			p.ShuffleAvgSeconds, p.ShuffleMaxSeconds = figures(p.ReduceTasks)
			p.ReduceAvgSeconds, p.ReduceMaxSeconds = figures(p.ReduceTasks)
		}
		c.Profile = p
	case 1:
		c.Profile = &Profile{OverheadSeconds: seconds.Draw(t, "overhead")}
		for range rapid.IntRange(1, 5).Draw(t, "stages") {
			s := Stage{Name: rapid.StringMatching(`[a-z<é ]{0,4}`).Draw(t, "stage"), Tasks: rapid.Int64Range(1, 50).Draw(t, "tasks")}
			s.AvgSeconds, s.MaxSeconds = figures(s.Tasks)
			c.Profile.Stages = append(c.Profile.Stages, s)
		}
	case 2:
		c.Demand = &Demand{seconds.Draw(t, "a"), seconds.Draw(t, "b"), seconds.Draw(t, "c") - 500}
	default:
		gamma := decimal.New(rapid.Int64Range(0, 1e12).Draw(t, "gamma"), -9)
		c.VMsPerJob = &gamma
		if rapid.Bool().Draw(t, "bare") {
			c.DeadlineSeconds, c.SlotsPerVM = 0, SlotsPerVM{}
		}
	}
	if c.Profile != nil && rapid.Bool().Draw(t, "calibrated") {
		c.Calibration = &Calibration{rapid.SampledFrom(formulas).Draw(t, "formula"), rapid.Float64Range(MinCalibration, MaxCalibration).Draw(t, "factor")}
	}
	return c
}

// equal compares problems; decimals by value.
func equal(a, b Problem) string { return cmp.Diff(a, b) }

// TestReadProblemAgreesWithTheStandardLibrary: what encoding/json writes is read back, as it reads it.
func TestReadProblemAgreesWithTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyProblem(t)
		if err := p.Validate(); err != nil {
			t.Fatalf("%v", err)
		}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadProblem(text, Limits{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if diff := equal(p, got); diff != "" {
			t.Errorf("written and read (-want +got):\n%s", diff)
		}
		var theirs Problem
		if err := json.Unmarshal(text, &theirs); err != nil {
			t.Fatal(err)
		}
		if diff := equal(theirs, got); diff != "" {
			t.Errorf("encoding/json against ours:\n%s", diff)
		}
	})
}

// mutate changes a text in one of the ways a hand, an editor or a bad program does.
func mutate(random *rand.Rand, text []byte) []byte {
	out := append([]byte{}, text...)
	tokens := []string{"null", "NaN", "-Infinity", "1e309", "-0", "{}", "[]", `""`, `"\u0000"`, `"\ud800"`, ",", ":", "}", "]", "{", "[", `"`, "\\", "\x00", "\xff", "1e999999999", "true", `"name":1,`, " ", "00", "-", "."}
	for range 1 + random.IntN(3) {
		i := random.IntN(len(out) + 1)
		j := min(len(out), i+random.IntN(8))
		switch token := tokens[random.IntN(len(tokens))]; random.IntN(5) {
		case 0:
			out = append(out[:i:i], out[j:]...)
		case 1:
			out = append(out[:i:i], append([]byte(token), out[i:]...)...)
		case 2:
			out = append(out[:i:i], append([]byte(token), out[j:]...)...)
		case 3:
			out = append(out[:j:j], out[i:]...) // a piece twice
		default:
			if i < len(out) {
				out[i] ^= 1 << random.IntN(8)
			}
		}
		if len(out) == 0 {
			return out
		}
	}
	return out
}

func TestMutatedProblemsAreReadOrRefusedByPlace(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	texts := [][]byte{[]byte(nightly(t)), []byte(fleetText)}
	read, refused := 0, 0
	for i := range 20_000 {
		mutant := mutate(random, texts[i%2])
		p, err := ReadProblem(mutant, DefaultLimits())
		if err == nil {
			read++
			if err := p.Validate(); err != nil {
				t.Fatalf("read, but invalid: %v\n%s", err, mutant)
			}
			continue
		}
		refused++
		for _, f := range findings(t, err) {
			if f.Detail == "" || f.Code == "" || f.Line == 0 && f.Pointer == "" && !(f.Code == "type" || f.Code == "null") {
				t.Fatalf("the finding %+v names no place\n%s", f, mutant)
			}
		}
	}
	if read < 100 || refused < 5000 {
		t.Errorf("%d mutants were read and %d refused; want a mixture", read, refused)
	}
}

func FuzzReadProblem(f *testing.F) {
	f.Add([]byte(nightly(f)))
	f.Add([]byte(`{"currency":"USD","supply":{"on_demand":{"price":0.2}},"classes":[{"name":"\ud83d\ude00","vms_per_job":"1.5","jobs":{"min":0,"max":1e0},"penalty":1}]}`))
	f.Add([]byte(fleetText))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ReadProblem(data, DefaultLimits())
		if err != nil {
			var input *fault.InputError
			if !errors.As(err, &input) || len(input.Findings) == 0 {
				t.Fatalf("refused with %v, want an InputError", err)
			}
			return
		}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ReadProblem(text, Limits{})
		if err != nil {
			t.Fatalf("its own writing is refused: %v\n%s", err, text)
		}
		if diff := equal(p, again); diff != "" {
			t.Errorf("read twice:\n%s", diff)
		}
	})
}

// bulk is a body of n full classes.
func bulk(n int) []byte {
	p := Problem{Currency: "USD", PeriodSeconds: 3600, Supply: Supply{OnDemand: OnDemand{Price: money.Amount{Decimal: decimal.New(2, -1)}}}, Options: DefaultOptions()}
	for i := range n {
		x := float64(i%97) / 7
		p.Classes = append(p.Classes, Class{
			Name: fmt.Sprintf("class-%06d", i), DeadlineSeconds: 900 + x, SlotsPerVM: SlotsPerVM{Map: 2, Reduce: 4}, Jobs: JobRange{Min: 9, Max: 10}, Penalty: money.Amount{Decimal: decimal.New(int64(i)+100, -2)},
			Profile: &Profile{300, 40, 30 + x, 60 + x, 12 + x, 20 + x, 40 + x, 90 + x, 20 + x, 50 + x, 0, nil},
		})
	}
	text, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	return text
}

func BenchmarkReadProblem(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		text := bulk(n)
		b.Run(fmt.Sprintf("classes=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ReadProblem(text, DefaultLimits()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
