package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Marks in a file around the short table.
const (
	tableBegins = "<!-- make bench writes from here -->\n"
	tableEnds   = "<!-- to here -->\n"
)

// writeTable writes the short table of a run into the file, between its marks.
func writeTable(s settings, peers []peer, all []comparison) error {
	text, err := os.ReadFile(s.table)
	if err != nil {
		return err
	}
	before, rest, found := bytes.Cut(text, []byte(tableBegins))
	_, after, ends := bytes.Cut(rest, []byte(tableEnds))
	if !found || !ends {
		return errors.New(s.table + " has no marks for the table; it stands between the lines " + strings.TrimSpace(tableBegins) + " and " + strings.TrimSpace(tableEnds))
	}
	return os.WriteFile(s.table, []byte(string(before)+tableBegins+short(s, peers, all)+tableEnds+string(after)), 0o644)
}

// short returns the table for readers of the product's pages, with the kinds that have goals.
func short(s settings, peers []peer, all []comparison) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CPU milliseconds, median of %d instances, on two cores, in one run, limit %s. The column Headroom is measured in a process that already runs. "+
		"The command lines of cbc and glpsol also pay for their start and for reading the file. The column "+asProgram+" is Headroom's own command line, counted in the same way. "+
		"GLPK is measured without and with --cuts (glpsol, glpsol-cuts). In brackets: the time divided by Headroom's, then divided by "+asProgram+"'s.\n\n", s.seeds, s.limit)
	b.WriteString("| family | classes | gap | Headroom |")
	for _, p := range peers {
		b.WriteString(" " + p.name + " |")
	}
	b.WriteString("\n|---|---|---|---|" + strings.Repeat("---|", len(peers)) + "\n")
	for _, c := range all {
		if c.goal == (goal{}) {
			continue
		}
		mine := median(c.ours)
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
		fmt.Fprintf(&b, "| %s | %d | %s | %s", c.family, c.size, gap, ms(mine))
		if open > 0 {
			fmt.Fprintf(&b, ", %d open", open)
		}
		b.WriteString(" |")
		for _, p := range peers {
			file := 0.0
			if own := c.theirs[asProgram]; p.program && p.name != asProgram && len(own) > 0 {
				file = float64(median(own))
			}
			b.WriteString(" " + shortCell(c.theirs[p.name], float64(mine), file, c.gap) + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// shortCell shows a peer's median, its ratio to ours in process and, unless file is 0, as a program, and whether it
// called a worse plan optimal.
func shortCell(results []result, mine, file, gap float64) string {
	if len(results) == 0 {
		return "–"
	}
	out, wrong := 0, false
	for _, r := range results {
		if r.outcome != optimal {
			out++
		}
		wrong = wrong || r.outcome == optimal && r.worse > gap+proofNoise
	}
	text := "limit"
	if out <= len(results)/2 {
		theirs := median(results)
		text = fmt.Sprintf("%s (×%s", ms(theirs), figures(float64(theirs)/mine))
		if file > 0 {
			text += "; ×" + figures(float64(theirs)/file)
		}
		text += ")"
	}
	if wrong {
		text += ", wrong"
	}
	return text
}
