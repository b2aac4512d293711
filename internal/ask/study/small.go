package study

import (
	"math"
)

// Small draws an instance small enough to be solved by trying everything: two to four classes, at most 2,401 choices
// of jobs, and up to three contracts. Sometimes it has a quota, which may leave no plan at all. It deliberately
// includes close cases: equal prices, free contracts, classes worth exactly a price or as much as each other per VM,
// loads that fill whole VMs exactly. Prices and gammas have at most two decimals and penalties at most four.
func Small(seed uint64) Instance {
	s := &Stream{State: seed}
	in := Instance{Family: "small", Seed: seed}
	classes := s.Whole(2, 4)
	widest := []int64{2: 12, 3: 8, 4: 7}[classes]
	grain := smallGrains[s.Whole(0, int64(len(smallGrains))-1)]
	top := s.Between(0.2, 2)
	for k := s.Whole(0, 3); k > 0; k-- {
		t := Tier{VMs: s.Whole(0, 40), Price: Places(s.Between(0, top), 2)}
		switch n := len(in.Supply); {
		case n > 0 && s.chance(0.2):
			t.Price = in.Supply[n-1].Price
		case s.chance(0.1):
			t.Price = 0
		}
		in.Supply = append(in.Supply, t)
	}
	onDemand := Tier{VMs: Unlimited, Price: max(0.01, Places(top, 2))}
	switch n := len(in.Supply); {
	case n > 0 && s.chance(0.15):
		onDemand.Price = in.Supply[n-1].Price
	case s.chance(0.1): // on-demand may be the cheapest
		onDemand.Price = max(0.01, Places(s.Between(0, top), 2))
	}
	if s.chance(0.25) {
		onDemand.VMs = s.Whole(0, 60)
	}
	in.Supply = append(in.Supply, onDemand)

	for range classes {
		gamma := max(grain, Places(grain*math.Round(s.Between(0, 5)/grain), 2))
		low := s.Whole(0, 6)
		if s.chance(0.5) {
			low = 0
		}
		in.Gamma = append(in.Gamma, gamma)
		in.Penalty = append(in.Penalty, smallPenalty(s, in, gamma, top))
		in.Low = append(in.Low, low)
		in.High = append(in.High, low+s.Whole(0, widest-1))
	}
	return in
}

// smallGrains lists the steps of gammas.
var smallGrains = []float64{0.01, 0.01, 0.01, 0.05, 0.1, 0.25, 0.5, 0.7, 1, 2}

// smallPenalty returns a penalty that is free two times in three, otherwise tied: to a price, or to the class before.
func smallPenalty(s *Stream, in Instance, gamma, top float64) float64 {
	free := Places(s.Between(0, 1.8*top)*gamma, 2)
	tie := in.Supply[s.Whole(0, int64(len(in.Supply))-1)].Price
	switch n := len(in.Penalty); {
	case s.chance(0.18):
		return Places(tie*gamma, exactPlaces)
	case n > 0 && s.chance(0.15):
		return Places(in.Penalty[n-1]/in.Gamma[n-1]*gamma, exactPlaces)
	case s.chance(0.03):
		return 0
	}
	return free
}
