package main

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/lp"
)

func TestMPSKeepsEveryDigit(t *testing.T) {
	var p lp.Program
	load, share, all := p.Row(math.Inf(-1), 0), p.Row(2, math.Inf(1)), p.Row(1, 4)
	one := p.Row(7, 7)
	p.Column(5.25, 0, 12, true, lp.Entry{Row: load, Coefficient: -1}, lp.Entry{Row: share, Coefficient: 1})
	p.Column(-1e-6, 3, math.Inf(1), true, lp.Entry{Row: load, Coefficient: 0.30000000000000004}, lp.Entry{Row: all, Coefficient: 1}, lp.Entry{Row: one, Coefficient: 2})
	want := `NAME program FREE
ROWS
 N cost
 L r0
 G r1
 L r2
 E r3
COLUMNS
 M1 'MARKER' 'INTORG'
 x0 cost 5.25
 x0 r0 -1
 x0 r1 1
 x1 cost -1e-06
 x1 r0 0.30000000000000004
 x1 r2 1
 x1 r3 2
 M2 'MARKER' 'INTEND'
RHS
 RHS r0 0
 RHS r1 2
 RHS r2 4
 RHS r3 7
RANGES
 RNG r2 3
BOUNDS
 UP B x0 12
 LO B x1 3
 PL B x1
ENDATA
`
	var got strings.Builder
	if err := writeMPS(&got, &p); err != nil {
		t.Fatal(err)
	}
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

type solverFunc func(p *lp.Program, o lp.Options) (lp.Solution, error)

func (f solverFunc) Solve(_ context.Context, p *lp.Program, o lp.Options) (lp.Solution, error) {
	return f(p, o)
}

func TestLibraryIsAskedTheSameProgram(t *testing.T) {
	in, err := study.Generate("hard", 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	var program *lp.Program
	solve := library(solverFunc(func(p *lp.Program, o lp.Options) (lp.Solution, error) {
		program = p
		if o.Gap != 1e-4 || o.Seconds != 2 {
			t.Errorf("got options %+v, want gap 1e-4 and 2 s", o)
		}
		return lp.Solution{Status: lp.Optimal, X: []float64{40, 0, 1, 0, 2.9999999}}, nil
	}))
	a, err := solve(t.Context(), question{instance: in, program: in.Program(), gap: 1e-4, limit: 2 * time.Second})
	if err != nil || a.outcome != optimal || !slices.Equal(jobsOf(in, a.x), []int64{1, 0, 3}) {
		t.Errorf("got %+v, %v, want jobs 1, 0, 3", a, err)
	}
	if got, want := program.Cost, []float64{in.Supply[0].Price, in.Supply[1].Price, -in.Penalty[0], -in.Penalty[1], -in.Penalty[2]}; !slices.Equal(got, want) {
		t.Errorf("got costs %v, want %v", got, want)
	}
	if got, want := program.Coefficient, []float64{-1, -1, in.Gamma[0], in.Gamma[1], in.Gamma[2]}; !slices.Equal(got, want) {
		t.Errorf("got coefficients %v, want %v", got, want)
	}
	if !math.IsInf(program.Upper[1], 1) || program.Upper[0] != float64(in.Supply[0].VMs) || program.RowUpper[0] != 0 {
		t.Errorf("got limits %v and row %v", program.Upper, program.RowUpper)
	}

	broken := library(solverFunc(func(*lp.Program, lp.Options) (lp.Solution, error) { return lp.Solution{}, errors.New("crash") }))
	if a, err := broken(t.Context(), question{instance: in, program: in.Program()}); err != nil || a.outcome != failed {
		t.Errorf("a crashing solver: got %+v, %v, want a failed answer", a, err)
	}
}

func TestCellsSayWhatHappened(t *testing.T) {
	at := func(o outcome, ms int, worse float64) result {
		return result{answer: answer{outcome: o, took: time.Duration(ms) * time.Millisecond}, worse: worse}
	}
	for _, c := range []struct {
		situation string
		results   []result
		want      string
	}{
		{"not run", nil, "–"},
		{"all optimal", []result{at(optimal, 30, 0), at(optimal, 10, 0), at(optimal, 20, 5e-5)}, "20 ×10"},
		{"mostly out of time", []result{at(limited, 9000, 3e-6), at(limited, 9500, 0)}, "limit ×>4625, 2 of 2 out of time and worse by 3e-06"},
		{"once out of time", []result{at(limited, 9000, 0), at(optimal, 10, 0), at(optimal, 20, 0)}, "20 ×10, 1 of 3 out of time"},
		{"wrong", []result{at(optimal, 20, 3e-3)}, "20 ×10, \"optimal\" but worse by 0.003"},
		{"broken", []result{at(failed, 20, 0)}, "20 ×10, 1 of 1 failed"},
	} {
		t.Run(c.situation, func(t *testing.T) {
			if got := cell(c.results, 2*time.Millisecond, 1e-4); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestNoRatiosWhereHeadroomProvesNothing(t *testing.T) {
	table := newTable(settings{}, []peer{{name: "other"}})
	mine := result{answer: answer{outcome: limited, took: time.Millisecond, gap: 7e-6}}
	theirs := result{answer: answer{outcome: optimal, took: 5 * time.Millisecond}}
	table.add(comparison{work: work{family: "strong", size: 9, gap: 1e-6, goal: goal{ms: 2}}, ours: []result{mine}, theirs: map[string][]result{"other": {theirs}}})
	want := []string{"strong", "9", "1e-06", "1.0, 1 of 1 open", "7e-06", "5.0", "≤ 2 ms: missed"}
	if got := table.rows[0]; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRunMeasuresHeadroomAlone(t *testing.T) {
	var out strings.Builder
	err := run(t.Context(), strings.Fields("-families hard,table2 -sizes 20 -large 200 -gaps 1e-6 -seeds 1 -only p2 -markdown -peers ,"), &out, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "| hard") || strings.HasPrefix(line, "| table2") {
			rows++
		}
	}
	if rows != 4 {
		t.Errorf("got %d rows, want 4:\n%s", rows, out.String())
	}
}

func TestSettingsAreRefusedWithAReason(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-peers cplex", `there is no peer "cplex"; the peers are headroom-file, cbc-library, cbc`},
		{"-sizes many", "many"},
		{"-seeds 0", "at least one seed"},
		{"-only all", `there is no part "all" to measure; the parts are p2, fleets, horizons, packing, product`},
		{"-horizons -1", "a number of problems is negative"},
		{"hard", `do not know what "hard" is`},
		{"-families hrad -sizes 5 -peers ,", `there is no family "hrad"`},
	} {
		err := run(t.Context(), strings.Fields(c.args), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("bench %s: got %v, want %q", c.args, err, c.want)
		}
	}
}
