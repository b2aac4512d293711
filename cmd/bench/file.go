package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"
)

// tableBegins and tableEnds are the marks in a file around the table of a part.
func tableBegins(part string) string { return "<!-- make bench writes " + part + " from here -->\n" }

const tableEnds = "<!-- to here -->\n"

// writeTable writes the table of a part of a run into the file, between its marks.
func writeTable(file, part, table string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, begins := bytes.Cut(text, []byte(tableBegins(part)))
	_, after, ends := bytes.Cut(rest, []byte(tableEnds))
	if !begins || !ends {
		return errors.New(file + " has no marks for the table; it stands between the lines " + strings.TrimSpace(tableBegins(part)) + " and " + strings.TrimSpace(tableEnds))
	}
	return os.WriteFile(file, []byte(string(before)+tableBegins(part)+table+tableEnds+string(after)), 0o644)
}

// short returns the table for readers of the product's pages, with the kinds that have goals.
func short(s settings, peers []peer, all []comparison) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CPU milliseconds, median of %d instances, on two cores, in one run, limit %s. All times but "+asProgram+"'s are without start and reading. "+
		"In brackets: the time divided by Headroom's, then the time of the whole process, start and reading included. The last column is the fastest peer's time divided by Headroom's.\n\n", s.seeds, s.limit)
	b.WriteString("| family | classes | gap | Headroom |")
	for _, p := range peers {
		b.WriteString(" " + p.name + " |")
	}
	b.WriteString(" fastest |\n|---|---|---|---|" + strings.Repeat("---|", len(peers)+1) + "\n")
	for _, c := range all {
		if c.goal == (goal{}) {
			continue
		}
		mine := float64(median(c.ours))
		open := 0
		for _, r := range c.ours {
			if r.outcome != optimal {
				open++
			}
		}
		gap := fmt.Sprint(c.gap)
		if c.gap == 0 {
			gap = "1e-9"
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s", c.family, c.size, gap, ms(median(c.ours)))
		if open > 0 {
			fmt.Fprintf(&b, ", %d open", open)
		}
		b.WriteString(" |")
		fastest := math.Inf(1)
		for _, p := range peers {
			results := c.theirs[p.name]
			b.WriteString(" " + shortCell(results, mine, c.gap) + " |")
			if p.name != asProgram && proves(results) {
				fastest = min(fastest, float64(median(results)))
			}
		}
		if math.IsInf(fastest, 1) {
			b.WriteString(" – |\n")
			continue
		}
		b.WriteString(" ×" + figures(fastest/mine) + " |\n")
	}
	return b.String()
}

// proves says whether a peer proved most instances.
func proves(results []result) bool {
	out := 0
	for _, r := range results {
		if r.outcome != optimal {
			out++
		}
	}
	return 2*out < len(results)
}

// shortCell shows a peer's median, its ratio to ours, its median as a whole process, and whether it called a worse
// plan optimal.
func shortCell(results []result, mine, gap float64) string {
	if len(results) == 0 {
		return "–"
	}
	text := "limit"
	if proves(results) {
		text = fmt.Sprintf("%s (×%s", ms(median(results)), figures(float64(median(results))/mine))
		if whole := medianOf(results, func(r result) time.Duration { return r.whole }); whole > 0 && whole != median(results) {
			text += "; " + ms(whole)
		}
		text += ")"
	}
	for _, r := range results {
		if r.outcome == optimal && r.worse > gap+proofNoise {
			return text + ", wrong"
		}
	}
	return text
}
