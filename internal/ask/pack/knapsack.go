package pack

import "slices"

// item is one job that may be chosen at its price, plain or, if special is not 0, as host or guest.
type item struct {
	kind           int
	plain, special int
	price          float64
	jobs           int
}

// maxSingle is the number of alike jobs up to which each is an item of its own.
const maxSingle = 4

// times appends items for count alike jobs. A few are separate; more are bundles of 1, 2, 4 and so on that add up to
// every number, separately as plain and as special. So there may be twice as many, which only weakens bounds.
func (it item) times(count int, items []item) []item {
	it.jobs = 1
	if count <= maxSingle {
		return append(items, slices.Repeat([]item{it}, count)...)
	}
	for size := 1; count > 0; size *= 2 {
		n := min(size, count)
		count -= n
		bundle := item{kind: it.kind, plain: n * it.plain, price: float64(n) * it.price, jobs: n}
		items = append(items, bundle)
		if it.special > 0 {
			bundle.plain, bundle.special = never, n*it.special
			items = append(items, bundle)
		}
	}
	return items
}

// never is more plain VMs than any room has.
const never = 1 << 40

// sack holds the most valuable choice of items for every room: plain VMs, and VMs of the other kind.
type sack struct {
	items []item
	plain int
	other int
	best  []float64 // [plain*(other+1)+other]
	taken []byte    // by item and room: 0 not, 1 plain, 2 special
}

// knapsack fills sacks with up to plain VMs and, beside p of them, up to beside(p) others, which shrinks with p.
func knapsack(items []item, plain, other int, beside func(plain int) int) *sack {
	limits := make([]int, plain+1)
	for p := range limits {
		limits[p] = min(other, beside(p)) + 1
	}
	k := &sack{items: items, plain: plain, other: other, best: make([]float64, (plain+1)*(other+1))}
	width := other + 1
	k.taken = make([]byte, len(items)*len(k.best))
	for n, it := range items {
		taken := k.taken[n*len(k.best) : (n+1)*len(k.best)]
		for p := plain; p >= 0; p-- { // downwards, so that the values read are still without this item
			row, took := k.best[p*width:p*width+limits[p]], taken[p*width:p*width+limits[p]]
			if p < it.plain {
				putSpecial(it, row, took)
				continue
			}
			less := k.best[(p-it.plain)*width : (p-it.plain)*width+limits[p]]
			if it.special == 0 {
				putPlain(it, row, less, took)
			} else {
				putEither(it, row, less, took)
			}
		}
	}
	return k
}

// putPlain puts an item into the plain VMs of a row of rooms. less is the row with as many plain VMs fewer.
func putPlain(it item, row, less []float64, took []byte) {
	for o, w := range less {
		if w += it.price; w > row[o] {
			row[o], took[o] = w, 1
		}
	}
}

// putSpecial puts an item into the other VMs of a row of rooms.
func putSpecial(it item, row []float64, took []byte) {
	for o := len(row) - 1; it.special > 0 && o >= it.special; o-- {
		if w := row[o-it.special] + it.price; w > row[o] {
			row[o], took[o] = w, 2
		}
	}
}

// putEither puts an item into the plain VMs or the other VMs of a row of rooms, whichever is worth more.
func putEither(it item, row, less []float64, took []byte) {
	for o := len(row) - 1; o >= 0; o-- {
		best, how := row[o], byte(0)
		if w := less[o] + it.price; w > best {
			best, how = w, 1
		}
		if o >= it.special {
			if w := row[o-it.special] + it.price; w > best {
				best, how = w, 2
			}
		}
		row[o], took[o] = best, how
	}
}

func (k *sack) worth(plain, other int) float64 { return k.best[plain*(k.other+1)+other] }

// chosen returns the items of the most valuable choice for a room.
func (k *sack) chosen(plain, other int) (items []item) {
	for n := len(k.items) - 1; n >= 0; n-- {
		switch k.taken[n*len(k.best)+plain*(k.other+1)+other] {
		case 1:
			plain -= k.items[n].plain
		case 2:
			other -= k.items[n].special
		default:
			continue
		}
		items = append(items, k.items[n])
	}
	return items
}

// fill returns the most valuable choice of plain VMs alone.
func fill(items []item, plain int) ([]item, float64) {
	k := knapsack(items, plain, 0, func(int) int { return 0 })
	return k.chosen(plain, 0), k.worth(plain, 0)
}

func contentsOfItems(items []item, worth float64) (c contents, w float64) {
	slices.SortStableFunc(items, func(x, y item) int { return x.kind - y.kind })
	for _, it := range items {
		if n := len(c); n > 0 && c[n-1].kind == it.kind {
			c[n-1].count += it.jobs
		} else {
			c = append(c, some{it.kind, it.jobs})
		}
	}
	return c, worth
}
