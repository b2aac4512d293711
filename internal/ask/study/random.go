package study

import (
	"math"
)

// Stream is the SplitMix64 generator: the same seed gives the same instances in every program and
// on every machine. Products are converted to float64 before they are added because some
// processors would otherwise fuse the two steps and round differently.
type Stream struct{ State uint64 }

func (s *Stream) next() uint64 {
	s.State += 0x9E3779B97F4A7C15
	z := s.State
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// Unit returns a uniform number in [0, 1).
func (s *Stream) Unit() float64 { return float64(s.next()>>11) / (1 << 53) }

// Between returns a uniform number in [a, b).
func (s *Stream) Between(a, b float64) float64 { return a + float64((b-a)*s.Unit()) }

// Whole returns a uniform whole number from a to b.
func (s *Stream) Whole(a, b int64) int64 {
	return a + int64(math.Floor(s.Unit()*float64(b-a+1)))
}

// chance returns true with probability p.
func (s *Stream) chance(p float64) bool { return s.Unit() < p }

// Places rounds x to the float64 nearest to a decimal with this many places. The power is exact and the division
// rounds once, so the shortest decimal that reads back as the result is that decimal.
func Places(x float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(x*scale) / scale
}

// Normal draws from the standard normal distribution.
func (s *Stream) Normal() float64 {
	r := math.Sqrt(-2 * math.Log1p(-s.Unit()))
	return float64(r * math.Cos(2*math.Pi*s.Unit()))
}
