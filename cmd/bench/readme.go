package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
)

// The marks in a file between which the short table stands.
const (
	tableBegins = "<!-- make bench writes from here -->\n"
	tableEnds   = "<!-- to here -->\n"
)

// writeReadme writes the short table of a run into the file.
func writeReadme(s settings, peers []peer, all []comparison) error {
	text, err := os.ReadFile(s.readme)
	if err != nil {
		return err
	}
	before, rest, found := bytes.Cut(text, []byte(tableBegins))
	_, after, ends := bytes.Cut(rest, []byte(tableEnds))
	if !found || !ends {
		return errors.New(s.readme + " has no marks for the table; it stands between the lines " + strings.TrimSpace(tableBegins) + " and " + strings.TrimSpace(tableEnds))
	}
	return os.WriteFile(s.readme, []byte(string(before)+tableBegins+short(s, peers, all)+tableEnds+string(after)), 0o644)
}

// short is the table of those who read about the product: of the kinds for which goals are set.
func short(s settings, peers []peer, all []comparison) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CPU milliseconds, median of %d instances, on two cores; in brackets how many times as long as Headroom a solver took on the same files in the same run, limit %s.\n\n", s.seeds, s.limit)
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
			b.WriteString(" " + shortCell(c.theirs[p.name], float64(mine), c.gap) + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// shortCell says a peer's median, how many times ours that is, and whether it called a worse plan optimal.
func shortCell(results []result, mine, gap float64) string {
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
		text = fmt.Sprintf("%s (×%s)", ms(theirs), figures(float64(theirs)/mine))
	}
	if wrong {
		text += ", wrong"
	}
	return text
}
