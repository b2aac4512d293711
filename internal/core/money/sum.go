package money

import (
	"math"
)

// Sum adds floats with compensation (Neumaier): any number of additions loses no more than a few would.
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

// Value returns the sum of the added numbers.
func (s *Sum) Value() float64 { return s.sum + s.lost }
