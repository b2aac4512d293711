package main

import (
	"bufio"
	"io"
	"strconv"

	"example.org/headroom/internal/ask/study"
)

// The columns of every peer's program: first one per tier of supply, then one per class.
func tierColumn(k int) string  { return "r" + strconv.Itoa(k) }
func classColumn(i int) string { return "h" + strconv.Itoa(i) }

// writeMPS writes the instance as the paper's integer program in free MPS. Every number has enough digits to read
// back as the same float64. The word FREE is for CBC, which would otherwise read short lines in the fixed form.
func writeMPS(out io.Writer, in study.Instance) error {
	w := bufio.NewWriterSize(out, 1<<16)
	line := func(words ...string) {
		for _, word := range words {
			w.WriteByte(' ')
			w.WriteString(word)
		}
		w.WriteByte('\n')
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	count := func(x int64) string { return strconv.FormatInt(x, 10) }

	w.WriteString("NAME p2 FREE\nROWS\n")
	line("N", "cost")
	line("L", "load")
	w.WriteString("COLUMNS\n")
	line("M1", "'MARKER'", "'INTORG'")
	for k, t := range in.Supply {
		line(tierColumn(k), "cost", number(t.Price), "load", "-1")
	}
	for i := range in.Gamma {
		line(classColumn(i), "cost", number(-in.Penalty[i]), "load", number(in.Gamma[i]))
	}
	line("M2", "'MARKER'", "'INTEND'")
	w.WriteString("RHS\n")
	line("RHS", "load", "0")
	w.WriteString("BOUNDS\n")
	for k, t := range in.Supply {
		if t.VMs == study.Unlimited {
			line("PL", "B", tierColumn(k))
			continue
		}
		line("UP", "B", tierColumn(k), count(t.VMs))
	}
	for i := range in.Gamma {
		line("LO", "B", classColumn(i), count(in.Low[i]))
		line("UP", "B", classColumn(i), count(in.High[i]))
	}
	w.WriteString("ENDATA\n")
	return w.Flush()
}
