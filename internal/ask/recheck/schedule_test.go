package recheck

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"headroom/internal/ask/horizon"
	"headroom/internal/ask/study"
	"headroom/internal/core/capacity"
)


// scheduleOf writes a drawn cluster as a question.
func scheduleOf(c study.Cluster) []byte {
	start := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	type object = map[string]any
	var contracts, classes, periods []object
	for i, t := range c.Contracts {
		billing := "used"
		if t.Always {
			billing = "always"
		}
		contracts = append(contracts, object{"name": fmt.Sprintf("contract %d", i), "vms": t.VMs, "price": fmt.Sprint(t.Price), "billing": billing,
			"from": start.Add(time.Duration(t.From) * time.Hour), "until": start.Add(time.Duration(t.Until) * time.Hour)})
	}
	for k, a := range c.Classes {
		class := object{"name": fmt.Sprintf("class %d", k), "demand": a.Demand, "slots_per_vm": a.Slots, "deadline_s": a.Deadline,
			"jobs": object{"min": 0, "max": 0}, "penalty": fmt.Sprint(study.Places(a.Penalty*3600/a.Deadline, 6))}
		if a.Due > 0 {
			class["due_s"] = a.Due
		}
		if k == 1 {
			delete(class, "demand")
			delete(class, "slots_per_vm")
			class["vms_per_job"] = "0.7"
		}
		classes = append(classes, class)
	}
	for h, price := range c.Prices {
		arrivals := make([]float64, len(c.Classes))
		for k := range c.Classes {
			if h < len(c.Classes[k].Arrivals) {
				arrivals[k] = float64(c.Classes[k].Arrivals[h])
				if k == 2 {
					arrivals[k] = math.Round(40*arrivals[k]+7) / 100
				}
			}
		}
		periods = append(periods, object{"start": start.Add(time.Duration(h) * time.Hour), "hours": 1, "arrivals": arrivals, "on_demand_price": fmt.Sprint(price)})
	}
	supply := object{"on_demand": object{"price": "0.2"}}
	if c.Quota < study.Unlimited {
		supply["on_demand"] = object{"price": "0.2", "quota": c.Quota}
	}
	data, err := json.Marshal(object{"problem": object{"currency": "EUR", "supply": supply, "classes": classes}, "contracts": contracts, "periods": periods})
	if err != nil {
		panic(err)
	}
	return data
}

func readSchedule(t *testing.T, data []byte) horizon.ScheduleQuestion {
	t.Helper()
	q, err := horizon.ReadSchedule(data, capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestSchedulesPassTheirCheck(t *testing.T) {
	for seed := range uint64(12) {
		q := readSchedule(t, scheduleOf(study.DrawCluster(seed, 24+int(seed), 4+int(seed), 20, 8)))
		a, err := horizon.Schedule(t.Context(), q, nil)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for _, f := range Schedule(q, a) {
			t.Errorf("seed %d: %s %s", seed, f.Pointer, f.Detail)
		}
		t.Logf("seed %d: total %s, bound %s, saved %s, checked in %v: %s", seed, a.Cost.Total, a.Proof.Bound, a.Saved, time.Since(began), a.Explanation)
	}
}
