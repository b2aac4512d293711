package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"

	"example.org/headroom/internal/core/lp"
)

// columnName names a column in every peer's program.
func columnName(j int) string { return "x" + strconv.Itoa(j) }

// writeMPS writes a program in whole numbers as free MPS. Every number has enough digits to read back as the same
// float64. The word FREE is for CBC, which would otherwise read short lines in the fixed form.
func writeMPS(out io.Writer, p *lp.Program) error {
	w := bufio.NewWriterSize(out, 1<<16)
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	fmt.Fprint(w, "NAME program FREE\nROWS\n N cost\n")
	sides := make([]float64, p.Rows())
	for i, upper := range p.RowUpper {
		kind := "L"
		switch sides[i] = upper; {
		case math.IsInf(upper, 1):
			kind, sides[i] = "G", p.RowLower[i]
		case upper == p.RowLower[i]:
			kind = "E"
		}
		fmt.Fprintf(w, " %s r%d\n", kind, i)
	}
	fmt.Fprint(w, "COLUMNS\n M1 'MARKER' 'INTORG'\n")
	for j := range p.Cost {
		fmt.Fprintf(w, " %s cost %s\n", columnName(j), number(p.Cost[j]))
		for k := p.Start[j]; k < p.Start[j+1]; k++ {
			fmt.Fprintf(w, " %s r%d %s\n", columnName(j), p.RowIndex[k], number(p.Coefficient[k]))
		}
	}
	fmt.Fprint(w, " M2 'MARKER' 'INTEND'\nRHS\n")
	for i, side := range sides {
		fmt.Fprintf(w, " RHS r%d %s\n", i, number(side))
	}
	fmt.Fprint(w, "RANGES\n")
	for i, lower := range p.RowLower {
		if upper := p.RowUpper[i]; !math.IsInf(lower, -1) && !math.IsInf(upper, 1) && lower != upper {
			fmt.Fprintf(w, " RNG r%d %s\n", i, number(upper-lower))
		}
	}
	fmt.Fprint(w, "BOUNDS\n")
	for j, upper := range p.Upper {
		if p.Lower[j] != 0 {
			fmt.Fprintf(w, " LO B %s %s\n", columnName(j), number(p.Lower[j]))
		}
		if math.IsInf(upper, 1) {
			fmt.Fprintf(w, " PL B %s\n", columnName(j))
		} else {
			fmt.Fprintf(w, " UP B %s %s\n", columnName(j), number(upper))
		}
	}
	fmt.Fprint(w, "ENDATA\n")
	return w.Flush()
}
