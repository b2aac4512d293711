package lp

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

var inf = math.Inf(1)

// planted returns a random program around a feasible point, with that point and its objective. Numbers
// have two decimals, so that rows can be met exactly in decimals and missed by a hundredth.
func planted(random *rand.Rand, whole bool) (*Program, []float64, float64) {
	p := new(Program)
	rows, columns := 1+random.IntN(6), 1+random.IntN(12)
	hundredths := func(n int) float64 { return float64(random.IntN(2*n+1)-n) / 100 }
	x := make([]float64, columns)
	entries := make([][]Entry, columns)
	sums := make([]decimalSum, rows)
	var objective decimalSum
	costs := make([]float64, columns)
	for j := range x {
		x[j] = float64(random.IntN(21) - 5)
		if !whole {
			x[j] += hundredths(100)
		}
		costs[j] = hundredths(5000)
		objective.add(costs[j], x[j])
		for i := range rows {
			if random.IntN(4) > 0 {
				a := hundredths(2000)
				entries[j] = append(entries[j], Entry{i, a})
				sums[i].add(a, x[j])
			}
		}
	}
	for i := range sums {
		exact := value(&sums[i])
		switch random.IntN(4) {
		case 0:
			p.Row(math.Inf(-1), exact) // tight
		case 1:
			p.Row(exact, inf)
		case 2:
			p.Row(exact, exact)
		default:
			p.Row(exact-1, exact+1)
		}
	}
	for j := range x {
		p.Column(costs[j], x[j]-float64(random.IntN(3)), x[j]+float64(random.IntN(3)), whole, entries[j]...)
	}
	return p, x, value(&objective)
}

// value returns the float64 whose shortest decimal is the sum, computed by way of text.
func value(s *decimalSum) float64 {
	total := new(big.Rat)
	for power, digits := range s.powers {
		term, _ := new(big.Rat).SetString(digits.String() + "e" + strconv.Itoa(power))
		total.Add(total, term)
	}
	v, err := strconv.ParseFloat(total.FloatString(6), 64)
	if err != nil {
		panic(err)
	}
	return v + 0
}

func TestPlantedSolutionsPass(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for n := range 2000 {
		p, x, objective := planted(random, n%2 == 0)
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		if err := Check(p, x, objective); err != nil {
			t.Errorf("program %d: %v", n, err)
		}
		if err := CheckAdvice(p, x, objective); err != nil {
			t.Errorf("program %d as advice: %v", n, err)
		}
	}
}

func TestCorruptedSolutionsAreRefused(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	counts := make(map[string]int)
	for n := range 4000 {
		p, x, objective := planted(random, n%2 == 0)
		j := random.IntN(len(x))
		kind := ""
		switch random.IntN(7) {
		case 0:
			kind, x[j] = "above its bound", p.Upper[j]+1
		case 1:
			kind, x[j] = "below its bound", p.Lower[j]-1
		case 2:
			kind, objective = "objective", objective+2e-6*max(1, math.Abs(objective))*sign(random)*100
		case 3:
			kind, x[j] = "no number", math.NaN()
		case 4:
			kind, objective = "no objective", math.Inf(1)
		case 5:
			if p.Whole == nil {
				continue
			}
			kind, x[j] = "not whole", x[j]+0.5*sign(random)
			p.Lower[j], p.Upper[j] = math.Inf(-1), inf
		case 6:
			i := random.IntN(p.Rows())
			kind = "row missed by a hundredth"
			if p.RowUpper[i] == inf || random.IntN(2) == 0 && !math.IsInf(p.RowLower[i], -1) {
				p.RowLower[i] = activity(p, x, i) + 0.01
				p.RowUpper[i] = inf
			} else {
				p.RowUpper[i] = activity(p, x, i) - 0.01
				p.RowLower[i] = math.Inf(-1)
			}
		}
		counts[kind]++
		if Check(p, x, objective) == nil {
			t.Errorf("program %d passes although corrupted: %s", n, kind)
		}
		if CheckAdvice(p, x, objective) == nil {
			t.Errorf("program %d passes as advice although corrupted: %s", n, kind)
		}
	}
	if len(counts) != 7 {
		t.Errorf("only %v were tried", counts)
	}
}

func sign(random *rand.Rand) float64 { return float64(2*random.IntN(2) - 1) }

// activity returns a row's value to the hundredth.
func activity(p *Program, x []float64, row int) float64 {
	var s decimalSum
	for j, v := range x {
		for k := p.Start[j]; k < p.Start[j+1]; k++ {
			if p.RowIndex[k] == row {
				s.add(p.Coefficient[k], v)
			}
		}
	}
	return value(&s)
}

// These rows are decided by the last digit, where float64 sums are wrong.
func TestRowsAreExactInDecimals(t *testing.T) {
	for _, c := range []struct {
		name         string
		coefficients []float64
		x            []float64
		upper        float64
		ok           bool
	}{
		// 0.1+0.2 is above 0.3 in float64, and 0.3-0.1 below 0.2.
		{"met exactly", []float64{0.1, 0.2}, []float64{1, 1}, 0.3, true},
		{"ten times a tenth", []float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 1, true},
		{"missed in the 16th digit", []float64{0.1, 0.2000000000000001}, []float64{1, 1}, 0.3, false},
		{"missed by less than float64 can add", []float64{1e15, 0.3, -1e15}, []float64{1, 1, 1}, 0.29, false},
		{"met where float64 loses it", []float64{1e15, 0.3, -1e15}, []float64{1, 1, 1}, 0.3, true},
		{"seventeen digits", []float64{4.0315204817364091}, []float64{10}, 40.315204817364091, true},
		{"tiny coefficients", []float64{1e-300, 1}, []float64{1, 1}, 1, false},
		{"huge whole values", []float64{1, -1}, []float64{1 << 53, 1<<53 - 1}, 1, true},
		{"negative", []float64{-0.1, -0.2}, []float64{1, 1}, -0.3, true},
		{"negative, missed", []float64{-0.1, -0.19999999999999998}, []float64{1, 1}, -0.3, false},
	} {
		p := new(Program)
		p.Row(math.Inf(-1), c.upper)
		for _, a := range c.coefficients {
			p.Column(0, math.Inf(-1), inf, true, Entry{0, a})
		}
		if err := Check(p, c.x, 0); (err == nil) != c.ok {
			t.Errorf("%s: got %v, want ok %v", c.name, err, c.ok)
		}
		if err := CheckAdvice(p, c.x, 0); err != nil && c.name != "missed by less than float64 can add" {
			t.Errorf("%s as advice: %v", c.name, err)
		}
	}
}

// The exact sum, against big.Rat on the shortest decimals.
func TestDecimalSumAgainstRationals(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for range 500 {
		var s decimalSum
		want := new(big.Rat)
		for range 1 + random.IntN(20) {
			a, x := number(random), number(random)
			s.add(a, x)
			want.Add(want, new(big.Rat).Mul(rational(a), rational(x)))
		}
		limit := number(random)
		if random.IntN(2) == 0 {
			limit, _ = want.Float64()
		}
		if got, want := s.minus(limit), want.Cmp(rational(limit)); got != want {
			t.Errorf("compared with %g: got %d, want %d", limit, got, want)
		}
	}
}

func number(random *rand.Rand) float64 {
	switch random.IntN(4) {
	case 0:
		return float64(random.IntN(2000) - 1000)
	case 1:
		return float64(random.IntN(200000)-100000) / 1000
	case 2:
		return (random.Float64() - 0.5) * math.Pow(10, float64(random.IntN(40)-20))
	default:
		return math.Ldexp(random.Float64()-0.5, random.IntN(60))
	}
}

func rational(v float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(v, 'g', -1, 64))
	if !ok {
		panic(v)
	}
	return r
}

func TestContinuousRowsHaveTheNamedTolerance(t *testing.T) {
	p := new(Program)
	p.Row(math.Inf(-1), 1)
	p.Column(1, 0, inf, false, Entry{0, 1})
	for _, c := range []struct {
		x          float64
		ok, advice bool
	}{{1, true, true}, {1 + 0.9e-7, true, true}, {1 + 1.1e-7, false, true}, {1 + 1.1e-6, false, false}} {
		if err := Check(p, []float64{c.x}, c.x); (err == nil) != c.ok {
			t.Errorf("%.9f: got %v, want ok %v", c.x, err, c.ok)
		}
		if err := CheckAdvice(p, []float64{c.x}, c.x); (err == nil) != c.advice {
			t.Errorf("%.9f as advice: got %v, want ok %v", c.x, err, c.advice)
		}
	}
}

func TestValidateNamesWhatIsMalformed(t *testing.T) {
	good := func() *Program {
		p, _, _ := planted(rand.New(rand.NewPCG(4, 4)), true)
		return p
	}
	if err := good().Validate(); err != nil {
		t.Fatal(err)
	}
	if err := new(Program).Validate(); err != nil {
		t.Errorf("the empty program: %v", err)
	}
	for _, c := range []struct {
		want  string
		spoil func(p *Program)
	}{
		{"Lower has", func(p *Program) { p.Lower = p.Lower[1:] }},
		{"Upper has", func(p *Program) { p.Upper = append(p.Upper, 1) }},
		{"RowUpper has", func(p *Program) { p.RowUpper = nil }},
		{"the list Whole has", func(p *Program) { p.Whole = p.Whole[1:] }},
		{"Coefficient has", func(p *Program) { p.Coefficient = p.Coefficient[1:] }},
		{"the list Start has", func(p *Program) { p.Start = p.Start[1:] }},
		{"the list Start runs", func(p *Program) { p.Start[0] = 1 }},
		{"the list Start runs", func(p *Program) { p.Start[len(p.Start)-1]++ }},
		{"entries of column", func(p *Program) { p.Start[1] = len(p.RowIndex) + 5 }},
		{"entries of column", func(p *Program) { p.Start[1] = -1 }},
		{"has an entry in row -1", func(p *Program) { p.RowIndex[0] = -1 }},
		{"has an entry in row", func(p *Program) { p.RowIndex[0] = p.Rows() }},
		{"two entries", func(p *Program) { p.RowIndex[1] = p.RowIndex[0] }},
		{"cost of column", func(p *Program) { p.Cost[0] = math.NaN() }},
		{"cost of column", func(p *Program) { p.Cost[0] = inf }},
		{"coefficient of column", func(p *Program) { p.Coefficient[0] = 1e21 }},
		{"must be infinite or a number", func(p *Program) { p.Lower[0] = math.NaN() }},
		{"must be infinite or a number", func(p *Program) { p.Upper[0] = 1e300 }},
		{"nothing lies between", func(p *Program) { p.Lower[0], p.Upper[0] = 2, 1 }},
		{"nothing lies between", func(p *Program) { p.Lower[0], p.Upper[0] = inf, inf }},
		{"row 0", func(p *Program) { p.RowUpper[0] = math.Inf(-1) }},
	} {
		p := good()
		c.spoil(p)
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want something about %q", err, c.want)
		}
	}
}

func TestDualBound(t *testing.T) {
	// min 2x, x ≥ 5: a price y proves 5y for y ≤ 2, and nothing above (x has no upper bound).
	p := new(Program)
	row := p.Row(5, inf)
	p.Column(2, 0, inf, false, Entry{row, 1})
	for _, c := range []struct{ y, want float64 }{{2, 10}, {1, 5}, {0, 0}, {-1, 0}, {3, math.Inf(-1)}, {math.NaN(), math.Inf(-1)}} {
		if got := DualBound(p, []float64{c.y}); got != c.want {
			t.Errorf("price %g: got %g, want %g", c.y, got, c.want)
		}
	}
	if got := DualBound(p, nil); !math.IsInf(got, -1) {
		t.Errorf("no prices: got %g, want -Inf", got)
	}
	random := rand.New(rand.NewPCG(5, 5))
	for n := range 1000 { // for any prices, never above a feasible point's objective
		p, _, objective := planted(random, n%2 == 0)
		y := make([]float64, p.Rows())
		for i := range y {
			y[i] = random.NormFloat64() * 10
		}
		if bound := DualBound(p, y); bound > objective+1e-9*max(1, math.Abs(objective)) {
			t.Errorf("program %d: bound %g above the objective %g", n, bound, objective)
		}
	}
}

func BenchmarkCheck1000(b *testing.B) {
	random := rand.New(rand.NewPCG(6, 6))
	p := new(Program)
	row := p.Row(math.Inf(-1), inf)
	var x []float64
	var cost decimalSum
	for range 1000 {
		gamma := float64(random.IntN(1000)) / 100
		p.Column(-gamma, 0, 20, true, Entry{row, gamma})
		x = append(x, float64(random.IntN(21)))
		cost.add(-gamma, x[len(x)-1])
	}
	for _, c := range []struct {
		name  string
		spare float64
	}{{"far from its limit", 1}, {"at its limit", 0}} { // only exact sums can tell
		p.RowUpper[0] = activity(p, x, 0) + c.spare
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if err := Check(p, x, value(&cost)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
