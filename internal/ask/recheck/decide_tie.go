package recheck

import (
	"slices"

	"example.org/headroom/internal/slots/dispatch"
)

// rival is a job or task that may come first, with what it is compared by: its key, and then more.
type rival struct {
	*contender
	kind int
	keys []float64
}

// further names what falls ties after the key; what it does not name falls by submission.
type further []dispatch.Tie

// ties returns what may be said to have decided between a choice and those with the same key. It is more than one
// answer only where keys are too near to tell.
func (f further) ties(chosen rival, all []rival) (may []dispatch.Tie) {
	for _, same := range []func(x, y float64) bool{func(x, y float64) bool { return x == y }, nearly} {
		var next *rival
		for i := range all {
			if x := &all[i]; (x.contender != chosen.contender || x.kind != chosen.kind) && same(x.keys[0], chosen.keys[0]) {
				if next == nil || f.before(x, next, same) {
					next = x
				}
			}
		}
		if tie := dispatch.Tie(""); next != nil {
			tie, _ = f.decides(&chosen, next, same)
			may = append(may, tie)
		} else {
			may = append(may, tie)
		}
	}
	return slices.Compact(may)
}

// decides returns what tells two rivals apart, and whether the first comes first by it.
func (f further) decides(a, b *rival, same func(x, y float64) bool) (dispatch.Tie, bool) {
	for i, tie := range f {
		if x, y := a.keys[i+1], b.keys[i+1]; !same(x, y) {
			return tie, x < y
		}
	}
	switch {
	case a.SubmittedSeconds != b.SubmittedSeconds:
		return dispatch.TieOrder, a.SubmittedSeconds < b.SubmittedSeconds
	case a.kind != b.kind:
		return dispatch.TieKind, a.kind < b.kind
	case a.Name != b.Name:
		return dispatch.TieName, a.Name < b.Name
	}
	return dispatch.TieNumber, a.at < b.at
}

func (f further) before(a, b *rival, same func(x, y float64) bool) bool {
	_, first := f.decides(a, b, same)
	return first
}

// rivals are jobs with their keys.
func rivals(jobs []*contender, keys func(*contender) []float64) (all []rival) {
	for _, j := range jobs {
		all = append(all, rival{contender: j, keys: keys(j)})
	}
	return all
}

// tied returns how a tie for a job among others with these keys may have fallen.
func tied(j *contender, among []*contender, keys func(*contender) []float64, f ...dispatch.Tie) []dispatch.Tie {
	return further(f).ties(rival{contender: j, keys: keys(j)}, rivals(among, keys))
}
