package dispatch

import (
	"fmt"
	"math"
)

// classifier tells choices that overload a node from those that do not.
type classifier interface {
	// look sets the node's part of the features for the choices that follow.
	look(node []uint8)
	// good returns the probability that a task does not overload that node.
	good(task [usageFeatures]uint8) float64
	// learn takes the outcome of a choice.
	learn(task [usageFeatures]uint8, node []uint8, good bool)
	// counts returns everything learned; recall restores it.
	counts() Counts
	recall(Counts) error
}

// Counts holds everything a classifier has learned. For naive Bayes these are the choices of each outcome by feature
// and range, for a perceptron its weights.
type Counts struct {
	Outcomes [2]int64     `json:"outcomes"` // bad ones, good ones
	Ranges   [][][2]int64 `json:"ranges,omitempty"`
	Weights  []float64    `json:"weights,omitempty"`
	Bias     float64      `json:"bias,omitzero"`
}

func newClassifier(kind ClassifierKind, e *encoding) classifier {
	if kind == Perceptron {
		return newPerceptron(e)
	}
	return newNaiveBayes(e)
}

// isGood reports whether a probability makes a choice a good one. Without experience the probability is a half, which
// counts as good: something must be tried before anything is learned.
func isGood(p float64) bool { return p >= 0.5-tolerance }

// naiveBayes takes features as independent, given the outcome: P(good|F) ~ P(good) · Π P(F_i|good), with one added to
// each count (paper 1, section 4.1). The probability is normed, because P(F), which the paper leaves out, differs
// between jobs.
type naiveBayes struct {
	Counts
	logs  [2][][]float64 // of each count plus one, by outcome, feature and range
	whole [2]float64     // the logarithm of the prior, less those of all denominators
	node  float64        // the node's part: good minus bad
}

func newNaiveBayes(e *encoding) *naiveBayes {
	b := &naiveBayes{}
	for _, bins := range e.bins {
		b.Ranges = append(b.Ranges, make([][2]int64, bins))
		for outcome := range b.logs {
			b.logs[outcome] = append(b.logs[outcome], make([]float64, bins))
		}
	}
	b.prepare()
	return b
}

// prepare computes the logarithms of all counts.
func (b *naiveBayes) prepare() {
	for outcome, logs := range b.logs {
		for f := range logs {
			for bin := range logs[f] {
				logs[f][bin] = math.Log(float64(b.Ranges[f][bin][outcome] + 1))
			}
		}
		b.denominators(outcome)
	}
}

func (b *naiveBayes) denominators(outcome int) {
	n := float64(b.Outcomes[outcome])
	b.whole[outcome] = math.Log(n + 1)
	for _, bins := range b.Ranges {
		b.whole[outcome] -= math.Log(n + float64(len(bins)))
	}
}

func (b *naiveBayes) look(node []uint8) {
	b.node = b.whole[1] - b.whole[0]
	for i, bin := range node {
		b.node += b.logs[1][usageFeatures+i][bin] - b.logs[0][usageFeatures+i][bin]
	}
}

func (b *naiveBayes) good(task [usageFeatures]uint8) float64 {
	x := b.node
	for f, bin := range task {
		x += b.logs[1][f][bin] - b.logs[0][f][bin]
	}
	return logistic(x)
}

func (b *naiveBayes) learn(task [usageFeatures]uint8, node []uint8, good bool) {
	outcome := 0
	if good {
		outcome = 1
	}
	b.Outcomes[outcome]++
	for f, bin := range task {
		b.see(outcome, f, bin)
	}
	for i, bin := range node {
		b.see(outcome, usageFeatures+i, bin)
	}
	b.denominators(outcome)
}

func (b *naiveBayes) see(outcome, feature int, bin uint8) {
	b.Ranges[feature][bin][outcome]++
	b.logs[outcome][feature][bin] = math.Log(float64(b.Ranges[feature][bin][outcome] + 1))
}

func (b *naiveBayes) counts() Counts { return b.Counts }

func (b *naiveBayes) recall(c Counts) error {
	if len(c.Ranges) != len(b.Ranges) {
		return fmt.Errorf("what was learned has %d features, and there are %d", len(c.Ranges), len(b.Ranges))
	}
	for f := range c.Ranges {
		if len(c.Ranges[f]) != len(b.Ranges[f]) {
			return fmt.Errorf("the feature %d has %d ranges in what was learned, and there are %d", f, len(c.Ranges[f]), len(b.Ranges[f]))
		}
	}
	b.Outcomes = c.Outcomes
	for f := range c.Ranges {
		copy(b.Ranges[f], c.Ranges[f])
	}
	b.prepare()
	return nil
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// perceptron weighs features, each from 0 to 1: a choice is good where W·F + b is not negative. A wrong prediction
// moves the weights (paper 1, section 4.2).
type perceptron struct {
	Counts
	first []int // of each feature's weights
	words []bool
	bins  []int
	added int     // from this feature on, one range stands for missing values
	node  float64 // the node's part
}

func newPerceptron(e *encoding) *perceptron {
	p := &perceptron{words: e.words, bins: e.bins, added: ownFeatures}
	weights := 0
	for f, bins := range e.bins {
		p.first = append(p.first, weights)
		if weights++; e.words[f] {
			weights += bins - 1
		}
	}
	p.Weights = make([]float64, weights)
	return p
}

// input returns the index of a feature's weight and its factor. The factor says how far up its range the value is, or
// is 1 for a word, which has a weight of its own.
func (p *perceptron) input(f int, bin uint8) (weight int, x float64) {
	last := p.bins[f] - 1
	switch {
	case p.words[f]:
		return p.first[f] + int(bin), 1
	case f < p.added:
		return p.first[f], float64(bin) / float64(last)
	case int(bin) == last: // missing
		return p.first[f], 0
	default:
		return p.first[f], float64(bin) / float64(last-1)
	}
}

func (p *perceptron) look(node []uint8) {
	p.node = p.Bias
	for i, bin := range node {
		w, x := p.input(usageFeatures+i, bin)
		p.node += p.Weights[w] * x
	}
}

func (p *perceptron) good(task [usageFeatures]uint8) float64 {
	x := p.node
	for f, bin := range task {
		x += p.Weights[f] * (float64(bin) / (usageBins - 1))
	}
	return logistic(x)
}

func (p *perceptron) learn(task [usageFeatures]uint8, node []uint8, good bool) {
	outcome := 0
	if good {
		outcome = 1
	}
	p.Outcomes[outcome]++
	p.look(node)
	if isGood(p.good(task)) == good {
		return
	}
	step := float64(2*outcome - 1)
	p.Bias += step
	for f, bin := range task {
		w, x := p.input(f, bin)
		p.Weights[w] += step * x
	}
	for i, bin := range node {
		w, x := p.input(usageFeatures+i, bin)
		p.Weights[w] += step * x
	}
}

func (p *perceptron) counts() Counts { return p.Counts }

func (p *perceptron) recall(c Counts) error {
	if len(c.Weights) != len(p.Weights) {
		return fmt.Errorf("what was learned has %d weights, and there are %d", len(c.Weights), len(p.Weights))
	}
	copy(p.Weights, c.Weights)
	p.Outcomes, p.Bias = c.Outcomes, c.Bias
	return nil
}
