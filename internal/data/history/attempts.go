package history

import (
	"encoding/binary"
	"iter"
)

// Attempts lists the attempts of an execution, in the order of their addition. There may be millions, so they are
// stored as differences, of some ten bytes each, and read in sequence.
type Attempts struct {
	chunks [][]byte
	count  int
	last   Attempt
}

// attemptsOf returns a list of these attempts.
func attemptsOf(all ...Attempt) (list Attempts) {
	list.Add(all...)
	return list
}

// Len returns their number.
func (l *Attempts) Len() int { return l.count }

// The first byte of a record: its kind in two bits, its outcome in two, and these flags.
const (
	isSpare = 1 << (4 + iota)
	isAgain
	isNextTask  // its task follows that of the one before
	isSameStage // as the one before
)

const (
	chunkBytes  = 64 << 10
	recordBytes = 1 + 6*binary.MaxVarintLen64 // at most
)

// Add adds attempts.
func (l *Attempts) Add(all ...Attempt) {
	for _, a := range all {
		if n := len(l.chunks); n == 0 || len(l.chunks[n-1])+recordBytes > chunkBytes {
			l.chunks = append(l.chunks, nil)
		}
		chunk := &l.chunks[len(l.chunks)-1]
		*chunk = a.write(*chunk, l.last)
		l.count, l.last = l.count+1, a
	}
}

// Join adds the attempts of another list.
func (l *Attempts) Join(other *Attempts) {
	for a := range other.All() {
		l.Add(a)
	}
}

// write appends an attempt as its difference from the one before.
func (a Attempt) write(to []byte, last Attempt) []byte {
	first := byte(a.Kind) | byte(a.Outcome)<<2
	if a.Spare {
		first |= isSpare
	}
	if a.Again {
		first |= isAgain
	}
	if a.Task == last.Task+1 {
		first |= isNextTask
	}
	if a.Stage == last.Stage {
		first |= isSameStage
	}
	to = append(to, first)
	if first&isNextTask == 0 {
		to = binary.AppendVarint(to, int64(a.Task)-int64(last.Task))
	}
	if first&isSameStage == 0 {
		to = binary.AppendVarint(to, int64(a.Stage)-int64(last.Stage))
	}
	to = binary.AppendVarint(to, int64(a.Host))
	to = binary.AppendVarint(to, a.Start-last.Start)
	to = binary.AppendVarint(to, a.Finish-a.Start)
	if a.Kind == Reduce {
		to = binary.AppendVarint(to, a.Shuffled-a.Start)
	}
	return to
}

// All yields all attempts in order.
func (l *Attempts) All() iter.Seq[Attempt] {
	return func(yield func(Attempt) bool) {
		var a Attempt
		for _, chunk := range l.chunks {
			next := func() int64 {
				x, n := binary.Varint(chunk)
				chunk = chunk[n:]
				return x
			}
			for len(chunk) > 0 {
				first := chunk[0]
				chunk = chunk[1:]
				a.Kind, a.Outcome, a.Spare, a.Again = Kind(first&3), Outcome(first>>2&3), first&isSpare != 0, first&isAgain != 0
				if first&isNextTask != 0 {
					a.Task++
				} else {
					a.Task += int32(next())
				}
				if first&isSameStage == 0 {
					a.Stage += int32(next())
				}
				a.Host = int32(next())
				a.Start += next()
				a.Finish = a.Start + next()
				if a.Shuffled = 0; a.Kind == Reduce {
					a.Shuffled = a.Start + next()
				}
				if !yield(a) {
					return
				}
			}
		}
	}
}
