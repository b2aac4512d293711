package sim

import "math/bits"

// slotSet is an ordered set of slots.
type slotSet struct{ words []uint64 }

func (s *slotSet) add(i int)    { s.words[i/64] |= 1 << (i % 64) }
func (s *slotSet) remove(i int) { s.words[i/64] &^= 1 << (i % 64) }

// next returns the first slot from i on, or -1.
func (s *slotSet) next(i int) int {
	w := i / 64
	if w >= len(s.words) {
		return -1
	}
	word := s.words[w] >> (i % 64) << (i % 64)
	for word == 0 {
		if w++; w == len(s.words) {
			return -1
		}
		word = s.words[w]
	}
	return 64*w + bits.TrailingZeros64(word)
}
