package money

import (
	"math"
)

// Sum adds any number of floats and loses no more than a few additions would (Neumaier): whoever adds them exactly
// comes to the same.
type Sum struct{ sum, lost float64 }

// Add adds a number.
func (s *Sum) Add(x float64) {
	t := s.sum + x
	if math.Abs(s.sum) >= math.Abs(x) {
		s.lost += (s.sum - t) + x
	} else {
		s.lost += (x - t) + s.sum
	}
	s.sum = t
}

// Value is the sum of what was added.
func (s *Sum) Value() float64 { return s.sum + s.lost }
