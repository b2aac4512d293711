package study

import "math"

// stream is the SplitMix64 generator: the same seed gives the same instances in every program and
// on every machine. Products are converted to float64 before they are added because some
// processors would otherwise fuse the two steps and round differently.
type stream struct{ state uint64 }

func (s *stream) next() uint64 {
	s.state += 0x9E3779B97F4A7C15
	z := s.state
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// unit returns a uniform number in [0, 1).
func (s *stream) unit() float64 { return float64(s.next()>>11) / (1 << 53) }

// between returns a uniform number in [a, b).
func (s *stream) between(a, b float64) float64 { return a + float64((b-a)*s.unit()) }

// whole returns a uniform whole number from a to b.
func (s *stream) whole(a, b int64) int64 {
	return a + int64(math.Floor(s.unit()*float64(b-a+1)))
}

// chance returns true with probability p.
func (s *stream) chance(p float64) bool { return s.unit() < p }

// places rounds x to the float64 nearest to a decimal with this many places. The power is exact and the division
// rounds once, so the shortest decimal that reads back as the result is that decimal.
func places(x float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(x*scale) / scale
}
