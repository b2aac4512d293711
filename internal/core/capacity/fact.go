package capacity

// Fact is one statement of an answer. Its claim is the sentence that people read; kind, subject and figures say the
// same to programs, and alone decide the sentence.
//
//planjson:shape a fact
type Fact struct {
	Kind    string   `json:"kind"`              // a stable word
	Subject string   `json:"subject,omitempty"` // a class, a contract, an offer, a VM type, a point
	Figures []Figure `json:"figures"`
	Claim   string   `json:"claim,omitempty"` // none where the answer says nothing of it in words
}

// Figure is one number of a fact.
//
//planjson:shape a figure
type Figure struct {
	Name  string `json:"name"`
	Value string `json:"value"` // a decimal number, a month, a moment or a name
	Unit  string `json:"unit"`
}

// MaxFacts is the number of classes up to which a plan has a fact for each. Plans of more classes have facts for those
// whose changes were worked out.
const MaxFacts = 120
