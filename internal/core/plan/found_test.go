package plan

import (
	"context"
	"testing"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/test/plantest"
)

// Problems on which planning was wrong once.
func TestProblemsThatWereSolvedWrongly(t *testing.T) {
	for _, c := range []struct{ name, want, problem string }{
		{"nobody admitted is cheapest, and loads are rounded", "0.00",
			`{"currency":"USD","period_s":3600,"supply":{"contracts":[{"name":"contract-0","vms":2,"price":"0.45","billing":"used"}],"on_demand":{"price":"0.41","quota":4}},
			"classes":[{"name":"class-0","vms_per_job":"2.32","jobs":{"min":0,"max":3},"penalty":"1.044"},
			{"name":"class-1","demand":{"map_work_s":32.9,"reduce_work_s":0,"fixed_s":97.6},"deadline_s":99.1,"slots_per_vm":{"map":2,"reduce":1},"jobs":{"min":0,"max":7},"penalty":"1.1015"}],
			"options":{"integrality":"integer","engine":"exact","gap":0,"one_slot_per_job":false}}`},
		{"a gamma of 19.5 comes out as 19.500000000000032, and four jobs take 78 VMs", "-271.9948",
			`{"currency":"USD","period_s":3600,"supply":{"on_demand":{"price":"0.14","quota":null}},
			"classes":[{"name":"class-0","profile":{"map_tasks":7,"reduce_tasks":1,"map_avg_s":21.2,"map_max_s":40.9,"first_shuffle_avg_s":4.5,"first_shuffle_max_s":4.5,"shuffle_avg_s":37,"shuffle_max_s":37,"reduce_avg_s":39.5,"reduce_max_s":39.5,"overhead_s":0},
			"deadline_s":166.4,"slots_per_vm":{"map":1,"reduce":1},"jobs":{"min":3,"max":4},"penalty":"70.7287"}],
			"options":{"integrality":"integer","bound":"upper","engine":"exact","gap":0}}`},
		{"three jobs of four thirds take four VMs", "-0.7856",
			`{"currency":"USD","period_s":3600,"supply":{"on_demand":{"price":"0.10","quota":null}},
			"classes":[{"name":"class-1","demand":{"map_work_s":18,"reduce_work_s":4,"fixed_s":3},"deadline_s":33,"slots_per_vm":{"map":1,"reduce":3},"jobs":{"min":2,"max":3},"penalty":"0.3952"}],
			"options":{"integrality":"integer","sharing":"dedicated","engine":"exact","gap":0}}`},
		{"decimals and whole slots fill VMs exactly", "-1.40",
			`{"currency":"USD","period_s":3600,"supply":{"on_demand":{"price":"0.10","quota":null}},
			"classes":[{"name":"class-0","vms_per_job":"2.6","jobs":{"min":0,"max":5},"penalty":"0.50"},
			{"name":"class-1","demand":{"map_work_s":100,"reduce_work_s":0,"fixed_s":0},"deadline_s":100,"slots_per_vm":{"map":3,"reduce":1},"jobs":{"min":3,"max":3},"penalty":"0.10"}],
			"options":{"integrality":"executable","engine":"exact","gap":0}}`},
		{"nothing is worth a VM, up to float noise", "0.00",
			`{"currency":"USD","period_s":3600,"supply":{"contracts":[{"name":"contract-0","vms":11,"price":"0.38","billing":"used"},{"name":"contract-2","vms":2,"price":"0.03","billing":"used"}],"on_demand":{"price":"0.11","quota":null}},
			"classes":[{"name":"class-0","profile":{"map_tasks":60,"reduce_tasks":16,"map_avg_s":20.4,"map_max_s":38,"first_shuffle_avg_s":3.5,"first_shuffle_max_s":6,"shuffle_avg_s":13.1,"shuffle_max_s":27.7,"reduce_avg_s":20,"reduce_max_s":22.2,"overhead_s":2},
			"deadline_s":312.4,"slots_per_vm":{"map":5,"reduce":1},"jobs":{"min":0,"max":7},"penalty":"0.7429"},
			{"name":"class-1","vms_per_job":"0.5","jobs":{"min":0,"max":2},"penalty":"0.0043"}],
			"options":{"integrality":"integer","bound":"upper","engine":"exact","gap":0,"sharing":"dedicated"}}`},
	} {
		p, err := capacity.ReadProblem([]byte(c.problem), capacity.DefaultLimits())
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		best, jobs, _ := plantest.NewBrute(p).Best()
		pl, err := Solve(t.Context(), p, nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := pl.Objective.String(); got != c.want || pl.Status != capacity.Optimal || pl.Proof.Gap != 0 || plantest.Millionths(pl.Objective.Decimal) != best {
			t.Errorf("%s: got %s, %s, gap %g, want optimal, %s with jobs %v (%d millionths)", c.name, pl.Status, got, pl.Proof.Gap, c.want, jobs, best)
		}
	}
}

// An objective of nothing is proved like any other: the automatic engine asks nobody.
func TestProvedAtNothingNeedsNoSolver(t *testing.T) {
	p := study.Small(82).Problem()
	p.Options.Engine = capacity.EngineAuto
	asked := solver(func(context.Context, *lp.Program, lp.Options) (lp.Solution, error) {
		t.Error("the solver was asked")
		return lp.Solution{Status: lp.Stopped}, nil
	})
	pl, err := Solve(t.Context(), p, asked)
	if err != nil || pl.Status != capacity.Optimal || !pl.Objective.IsZero() {
		t.Errorf("got %s, %s, %v, want optimal, 0.00", pl.Status, pl.Objective, err)
	}
}
