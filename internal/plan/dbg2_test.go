package plan
import ("testing";"fmt";"sort";"math/rand/v2";"headroom/internal/capacity";"encoding/json")
func TestDbg2(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var times []float64
	open := 0
	for trial := range 150 {
		p := drawFleet(r, fleetKind{types: 3, spot: true, quota: trial%2 == 0, contracts: true, spreads: true}, 1, 1)
		d := sample{classes: 6, width: 6, slots: 4, integrality: p.Options.Integrality, sharing: p.Options.Sharing}
		p.Classes = nil
		one := capacity.Problem{PeriodSeconds: p.PeriodSeconds, Supply: capacity.Supply{OnDemand: p.Supply.VMTypes[0].OnDemand}, Options: p.Options}
		for i := range 6 { c := d.class(r, i, one); c.Jobs.Max = 10; c.Jobs.Min = min(c.Jobs.Min, 2); p.Classes = append(p.Classes, c) }
		begin := cpu()
		pl, err := Solve(t.Context(), p, nil)
		took := cpu()-begin
		if err != nil { fmt.Println(err); open++; continue }
		times = append(times, took)
		if pl.Status == capacity.Feasible { open++; text, _ := json.Marshal(p); fmt.Println(trial, pl.Proof.Gap, took, len(text)) }
	}
	sort.Float64s(times)
	fmt.Println("open", open, times[len(times)/2], times[len(times)*9/10], times[len(times)-1])
}
