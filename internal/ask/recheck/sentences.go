package recheck

import (
	"time"

	"example.org/headroom/internal/ask/goal"
	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/core/words"
)

// tells says that the figures hold of which sentences are made. Others may lack what a sentence needs.
func (c *checking) tells() bool {
	if c.Outcome != proof.Failed && len(c.faults) == 0 {
		return true
	}
	c.doubt("", "the sentences were not told again, for figures are wrong")
	return false
}

// toldMonths compares the sentences of a horizon's answer with those that its checked figures make.
func (c *checking) toldMonths(at string, h *horizon.Horizon, a *horizon.Answer, got any) {
	if !c.tells() {
		return
	}
	told := a.Retold(ends(h))
	c.differ(at, got, map[string]any{"explanation": told.Explanation, "facts": tree(marshalled(told.Facts))})
}

// ends are the moments between which a horizon lies.
func ends(h *horizon.Horizon) (start, end time.Time) {
	start = h.Periods[0].Start
	end = start
	for i := range h.Periods {
		end = end.Add(time.Duration(3600*h.Periods[i].Hours+h.Periods[i].Seconds) * time.Second)
	}
	return start, end
}

// told compares the sentences about a purchase with those that its checked figures make.
func (b *buying) told() {
	b.listed(b.a.Facts, b.owing())
	if !b.tells() {
		b.end(SentencesCheck, "")
		return
	}
	told := b.a.Retold(&b.q)
	curves := []any{}
	for i := range told.Curves {
		curves = append(curves, map[string]any{"means": told.Curves[i].Means})
	}
	b.differ("", b.got, map[string]any{"answer": told.Answer, "explanation": told.Explanation,
		"facts": tree(marshalled(told.Facts)), "curves": curves})
	b.unwarned("", b.a.Warnings)
	b.unwarned("/horizon", b.a.Horizon.Warnings)
	b.end(SentencesCheck, "The sentences and %d facts say the figures of the answer.", len(told.Facts))
}

// toldScenarios compares the sentences of scenarios with those that their checked figures make.
func (c *checking) toldScenarios(q *whatif.WhatIfQuestion, a *whatif.Comparison, scenarios []any) {
	for i := range a.Scenarios {
		if !c.tells() {
			break
		}
		fact := whatif.Tell(q.Scenarios[i].Scenario(), a.Base, &a.Scenarios[i])
		c.differ(at(i, "scenarios"), scenarios[i], map[string]any{"sentence": fact.Claim, "facts": tree(marshalled(words.Facts{fact}))})
	}
	c.end(SentencesCheck, "The sentences of %d scenarios say the figures of the answer.", len(a.Scenarios))
}

// toldGoal compares the sentences about a goal with those that its checked figures make.
func (c *checking) toldGoal(q *goal.ProblemQuestion, a *goal.Answer, got any) {
	if !c.tells() {
		c.end(SentencesCheck, "")
		return
	}
	told := a.Retold(q)
	c.differ("", got, map[string]any{"answer": told.Answer, "explanation": told.Explanation, "facts": tree(marshalled(told.Facts)),
		"conflicts": tree(marshalled(told.Conflicts))})
	c.end(SentencesCheck, "The sentences and %d facts say the figures of the answer.", len(told.Facts))
}

// toldSweep compares the sentences about a range with those that its checked figures make.
func (c *checking) toldSweep(q *whatif.SweepQuestion, a *whatif.SweepAnswer, got any) {
	if !c.tells() {
		c.end(SentencesCheck, "")
		return
	}
	of := *a
	of.Vary = q.Vary // which has been compared
	told := of.Retold(q)
	c.differ("", got, map[string]any{"explanation": told.Explanation, "facts": tree(marshalled(told.Facts))})
	c.end(SentencesCheck, "The sentences and %d facts say the figures of the answer.", len(told.Facts))
}
