package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"example.org/headroom/internal/core/perf"
)

// table holds the rows to print: ours first, then one column per peer.
type table struct {
	settings settings
	peers    []peer
	head     []string
	rows     [][]string
}

func newTable(s settings, peers []peer) *table {
	t := &table{settings: s, peers: peers, head: []string{"family", "classes", "gap", "headroom", "proven gap"}}
	for _, p := range peers {
		t.head = append(t.head, p.name)
	}
	t.head = append(t.head, "goal")
	return t
}

func (t *table) add(c comparison) {
	mine := median(c.ours)
	widest, open := 0.0, 0
	for _, r := range c.ours {
		widest = max(widest, r.gap)
		if r.outcome != optimal {
			open++
		}
	}
	own := ms(mine)
	if open > 0 {
		own += fmt.Sprintf(", %d of %d open", open, len(c.ours))
		mine = 0 // nothing to be proud of, hence no ratios
	}
	row := []string{c.family, fmt.Sprint(c.size), fmt.Sprint(c.gap), own, fmt.Sprintf("%.1g", widest)}
	for _, p := range t.peers {
		row = append(row, cell(c.theirs[p.name], mine, c.gap))
	}
	t.rows = append(t.rows, append(row, c.goal.judge(c, mine)))
}

// cell shows a peer's median, its ratio to ours (unless ours is 0: not proved), and further facts.
func cell(results []result, mine time.Duration, gap float64) string {
	if len(results) == 0 {
		return "–"
	}
	outOfTime, broken, wrong, worse := 0, 0, 0.0, 0.0
	for _, r := range results {
		switch {
		case r.outcome == limited:
			outOfTime++
			worse = max(worse, r.worse)
		case r.outcome == failed:
			broken++
		case r.worse > gap+proofNoise: // it claimed optimal
			wrong = max(wrong, r.worse)
		}
	}
	theirs := median(results)
	text, ratio := ms(theirs), " ×"
	if outOfTime > len(results)/2 {
		text, ratio = "limit", " ×>"
	}
	if mine > 0 {
		text += ratio + figures(float64(theirs)/float64(mine))
	}
	if outOfTime > 0 {
		text += fmt.Sprintf(", %d of %d out of time", outOfTime, len(results))
	}
	if broken > 0 {
		text += fmt.Sprintf(", %d of %d failed", broken, len(results))
	}
	if worse > proofNoise {
		text += fmt.Sprintf(" and worse by %.1g", worse)
	}
	if wrong > 0 {
		text += fmt.Sprintf(", \"optimal\" but worse by %.1g", wrong)
	}
	return text
}

func median(results []result) time.Duration {
	return medianOf(results, func(r result) time.Duration { return r.took })
}

func medianOf(results []result, of func(r result) time.Duration) time.Duration {
	times := make([]time.Duration, len(results))
	for i, r := range results {
		times[i] = of(r)
	}
	slices.Sort(times)
	return perf.Median(times)
}

// ms returns a time in milliseconds with two significant figures, or whole.
func ms(d time.Duration) string { return figures(float64(d) / float64(time.Millisecond)) }

func figures(x float64) string {
	if x <= 0 {
		return "0"
	}
	if digits := 1 - int(math.Floor(math.Log10(x))); digits > 0 {
		return fmt.Sprintf("%.*f", digits, x)
	}
	return fmt.Sprintf("%.0f", x)
}

func (t *table) print(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "CPU milliseconds, median of %d seeds; × says how many times Headroom's. Time limit %s.\n"+
		"Headroom runs in process; the peers' times are without start and reading, "+asProgram+"'s with them.\n", t.settings.seeds, t.settings.limit)
	for _, p := range t.peers {
		fmt.Fprintf(&b, "%s: %s.\n", p.name, p.about)
	}
	b.WriteString("Every plan is priced anew from its admitted jobs; \"worse\" is relative to Headroom's objective.\n" +
		"Where Headroom leaves seeds open (proven gap above the one asked for) no ratios are given.\n\n")
	widths := make([]int, len(t.head))
	for _, row := range slices.Concat([][]string{t.head}, t.rows) {
		for i, text := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(text))
		}
	}
	line := func(row []string) {
		for i, text := range row {
			padding := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text))
			switch {
			case t.settings.markdown:
				b.WriteString("| " + text + padding + " ")
			case i == len(row)-1:
				b.WriteString(text)
			default:
				b.WriteString(text + padding + "  ")
			}
		}
		if t.settings.markdown {
			b.WriteString("|")
		}
		b.WriteByte('\n')
	}
	line(t.head)
	if t.settings.markdown {
		for _, w := range widths {
			b.WriteString("|" + strings.Repeat("-", w+2))
		}
		b.WriteString("|\n")
	}
	for _, row := range t.rows {
		line(row)
	}
	_, err := io.WriteString(out, b.String())
	return err
}
