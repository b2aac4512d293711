package words

import (
	"strings"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// Facts holds what an answer says, in the order of its sentences.
type Facts []capacity.Fact

// Say adds a fact with its sentence.
func (f *Facts) Say(kind, subject, claim string, figures ...capacity.Figure) {
	if figures == nil {
		figures = []capacity.Figure{}
	}
	*f = append(*f, capacity.Fact{Kind: kind, Subject: subject, Figures: figures, Claim: claim})
}

// Text joins the sentences to a paragraph.
func (f Facts) Text() string {
	if len(f) == 1 {
		return f[0].Claim
	}
	var b strings.Builder
	for i := range f {
		if b.Len() > 0 && f[i].Claim != "" {
			b.WriteByte(' ')
		}
		b.WriteString(f[i].Claim)
	}
	return b.String()
}

// Money is a figure of money.
func Money(name string, x money.Amount, unit string) capacity.Figure {
	return capacity.Figure{Name: name, Value: x.String(), Unit: unit}
}

// Count is a figure that is no money.
func Count(name string, x float64, unit string) capacity.Figure {
	return capacity.Figure{Name: name, Value: Decimal(x), Unit: unit}
}

// FigureOf is the value of a fact's figure; "" where it has none of that name.
func FigureOf(f *capacity.Fact, name string) string {
	for i := range f.Figures {
		if f.Figures[i].Name == name {
			return f.Figures[i].Value
		}
	}
	return ""
}
