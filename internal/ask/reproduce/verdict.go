package reproduce

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

// Claim is a statement of a paper with its protocol. The row of its figure has the verdict.
type Claim struct {
	Name string `json:"name"` // of the claim in its experiment, for ever
	Says string `json:"says"`
	// Least and Most are the paper's own printed range; nil: open.
	Least         *float64 `json:"paper_least"`
	Most          *float64 `json:"paper_most"`
	PaperProtocol string   `json:"paper_protocol"`
	OurProtocol   string   `json:"our_protocol"`
	Recorded      Verdict  `json:"recorded"` // the known verdict; empty: none
	Reason        string   `json:"reason"`   // of any verdict but confirmed
}

// Verdict is a verdict on a claim of a paper.
type Verdict string

const (
	// Confirmed says that our figure lies inside the printed range, under the printed protocol.
	Confirmed Verdict = "confirmed"
	// Different says that our figure lies outside the printed range, on the claimed side.
	Different Verdict = "different"
	// Refuted says that the opposite of the claim comes out.
	Refuted Verdict = "refuted"
	// NotComparable says that our figure has to do with another protocol.
	NotComparable Verdict = "not comparable"
	Unknown       Verdict = "not known" // no instance covers it

	noClaim Verdict = "no claim"
)

// printed holds a claim as its paper prints it.
type printed struct {
	name, says  string
	least, most float64 // the printed range; infinite: open
	// direction is the side of the range that the claim is about; outside it the opposite comes out. Empty: the range.
	direction *[2]float64
	protocol  string // the paper's
	ours      string // our protocol, where it departs from the paper's
	// departs tells why a figure inside the range confirms nothing. Empty: the protocol is the paper's.
	departs string
	// reason explains a figure outside the range.
	reason string
	// apart marks a figure that cannot be held against the paper's at all, wherever it lies.
	apart bool
}

// anywhere is the direction of a bare figure, which has no opposite.
var anywhere = &[2]float64{-noLimit, noLimit}

// above returns the direction of a claim that a figure is above x.
func above(x float64) *[2]float64 { return &[2]float64{x, noLimit} }

// judge gives a check its claim and the verdict. The verdict follows from the figure, the range and the protocol alone.
func (b *bench) judge(c *Check, p printed) {
	ours := p.ours
	if ours == "" {
		ours = "the paper's"
	}
	c.Claim = &Claim{Name: p.name, Says: p.says, Least: finite(p.least), Most: finite(p.most), PaperProtocol: p.protocol, OurProtocol: ours,
		Recorded: recorded()[b.Name+" "+p.name]}
	direction := [2]float64{p.least, p.most}
	if p.direction != nil {
		direction = *p.direction
	}
	switch x := c.Ours; {
	case x == nil:
		c.Verdict, c.Claim.Reason = Unknown, c.Remark
	case p.apart:
		c.Verdict, c.Claim.Reason = NotComparable, p.departs
	case *x < direction[0] || *x > direction[1]:
		c.Verdict, c.Claim.Reason = Refuted, p.reason
	case *x < p.least || *x > p.most:
		c.Verdict, c.Claim.Reason = Different, p.reason
	case p.departs != "":
		c.Verdict, c.Claim.Reason = NotComparable, p.departs
	default:
		c.Verdict = Confirmed
	}
}

// verdicts holds the known verdicts: experiment, claim and verdict in a line.
//
//go:embed verdicts.txt
var verdicts string

// recorded holds the known verdicts by experiment and claim, with a space between.
var recorded = sync.OnceValue(func() map[string]Verdict { return readVerdicts(verdicts) })

func readVerdicts(text string) map[string]Verdict {
	known := map[string]Verdict{}
	for line := range strings.Lines(text) {
		if f := strings.SplitN(strings.TrimSpace(line), " ", 3); len(f) == 3 && f[0] != "#" {
			known[f[0]+" "+f[1]] = Verdict(f[2])
		}
	}
	return known
}

// Changed reports whether the verdict on a claim is not the recorded one.
func (c Check) Changed() bool { return c.Claim != nil && c.Verdict != c.Claim.Recorded }

// conclude counts verdicts and figures in words.
func (b *bench) conclude() {
	b.Holds = true
	count, outside, uncertain, claims, changed := map[Verdict]int{}, 0, 0, 0, 0
	for _, c := range b.Checks {
		switch c.Band {
		case Outside:
			outside++
		case Uncertain:
			uncertain++
		}
		if c.Claim != nil {
			claims++
			count[c.Verdict]++
		}
		if c.Changed() {
			changed++
		}
	}
	b.Holds = outside+uncertain+changed == 0
	var verdicts []string
	for _, v := range []Verdict{Confirmed, Different, Refuted, NotComparable, Unknown} {
		if count[v] > 0 {
			verdicts = append(verdicts, fmt.Sprintf("%d %s", count[v], v))
		}
	}
	b.Verdict = fmt.Sprintf("Of %s: %s.", counted(claims, "claim"), strings.Join(verdicts, ", "))
	if changed > 0 {
		b.Verdict += fmt.Sprintf(" %s not as recorded.", counted(changed, "verdict"))
	} else {
		b.Verdict += " All verdicts are as recorded."
	}
	switch {
	case outside > 0:
		b.Verdict += fmt.Sprintf(" %s outside our own band.", counted(outside, "figure"))
	case uncertain > 0:
		b.Verdict += " There are too few instances for all figures; ask for more."
	default:
		b.Verdict += " All figures are inside our own bands."
	}
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
