package capacity

import "headroom/internal/core/strict"

// Fact is one statement of an answer. Its claim is the sentence that people read; kind, subject and figures say the
// same to programs, and alone decide the sentence.
type Fact struct {
	Kind    string   `json:"kind"`              // a stable word
	Subject string   `json:"subject,omitempty"` // a class, a contract, an offer, a VM type, a point
	Figures []Figure `json:"figures"`
	Claim   string   `json:"claim,omitempty"` // none where the answer says nothing of it in words
}

// Figure is one number of a fact.
type Figure struct {
	Name  string `json:"name"`
	Value string `json:"value"` // a decimal number, a month or a name
	Unit  string `json:"unit"`
}

// MaxFacts is the number of classes up to which a plan has a fact for each. Plans of more classes have facts for those
// whose changes were worked out.
const MaxFacts = 120

func appendFact(dst []byte, f *Fact) []byte {
	dst = strict.AppendText(append(dst, `{"kind":`...), f.Kind)
	if f.Subject != "" {
		dst = strict.AppendText(append(dst, `,"subject":`...), f.Subject)
	}
	dst = appendList(append(dst, `,"figures":`...), f.Figures, func(dst []byte, x *Figure) []byte {
		dst = strict.AppendText(append(dst, `{"name":`...), x.Name)
		dst = strict.AppendText(append(dst, `,"value":`...), x.Value)
		return append(strict.AppendText(append(dst, `,"unit":`...), x.Unit), '}')
	})
	if f.Claim != "" {
		dst = strict.AppendText(append(dst, `,"claim":`...), f.Claim)
	}
	return append(dst, '}')
}

var (
	factShape   = strict.NewShape("a fact", []string{"kind", "figures"}, "subject", "claim")
	figureShape = strict.NewShape("a figure", []string{"name", "value", "unit"})
)

func (r *planReader) fact(f *Fact) {
	r.Object(factShape, func(name string) {
		switch name {
		case "kind":
			r.string(&f.Kind)
		case "subject":
			r.string(&f.Subject)
		case "figures":
			f.Figures = listOrNull(r.Reader, r.figure)
		case "claim":
			r.string(&f.Claim)
		}
	})
}

func (r *planReader) figure(x *Figure) {
	r.Object(figureShape, func(name string) {
		switch name {
		case "name":
			r.string(&x.Name)
		case "value":
			r.string(&x.Value)
		case "unit":
			r.string(&x.Unit)
		}
	})
}
