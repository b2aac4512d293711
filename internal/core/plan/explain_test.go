package plan

import (
	"strings"
	"testing"

	"headroom/internal/core/capacity"
)

// A refused job's reason says how many VMs are missing, not how many it takes.
func TestReasonCountsTheVMsThatAreMissing(t *testing.T) {
	for _, c := range []struct{ problem, want string }{
		{`{"currency":"USD","supply":{"on_demand":{"price":"0.5","quota":9}},"classes":[{"name":"a","vms_per_job":"2.5","jobs":{"min":0,"max":4},"penalty":"2.6"}]}`, "One more job cannot be served within the limits: beside what is promised it needs 1 VM more than there are."},
		{`{"currency":"USD","supply":{"on_demand":{"price":"0.01","quota":6}},"classes":[{"name":"a","vms_per_job":"7","jobs":{"min":0,"max":1},"penalty":"1"}]}`, "One more job cannot be served within the limits: beside what is promised it needs 1 VM more than there are."},
		{`{"currency":"USD","supply":{"on_demand":{"price":"0.01","quota":5}},"classes":[{"name":"a","vms_per_job":"7","jobs":{"min":0,"max":1},"penalty":"1"}]}`, "One more job cannot be served within the limits: beside what is promised it needs 2 VMs more than there are."},
		{`{"currency":"USD","supply":{"on_demand":{"price":"1","quota":null}},"classes":[{"name":"a","vms_per_job":"2.5","jobs":{"min":0,"max":4},"penalty":"2"}]}`, "One more job costs 3.00 an hour in VMs; refused, it is valued at 2.00."},
		// Ties in whole VMs say that they are, those of the relaxation do not, and amounts that two places do not tell apart have more.
		{`{"currency":"USD","supply":{"on_demand":{"price":"0.3","quota":null}},"classes":[{"name":"a","vms_per_job":"2","jobs":{"min":0,"max":1},"penalty":"0.6"}]}`, "One more job takes 0.60 an hour (1.20 in VMs, less a value of 0.60 of jobs that come along), as much as it is valued at when refused: a tie."},
		{`{"currency":"USD","supply":{"on_demand":{"price":"0.3","quota":null}},"classes":[{"name":"a","vms_per_job":"2","jobs":{"min":1,"max":1},"penalty":"0.6"}]}`, "One more job costs 0.60 an hour in VMs; refused, it is valued at 0.60."},
		{`{"currency":"USD","supply":{"on_demand":{"price":"0.301","quota":null}},"classes":[{"name":"a","vms_per_job":"2","jobs":{"min":0,"max":1},"penalty":"0.6"}]}`, "One more job costs 0.602 an hour in VMs; refused, it is valued at 0.600."},
		{`{"currency":"USD","supply":{"vm_types":[{"name":"x","on_demand":{"price":"0.3","quota":null}},{"name":"y","on_demand":{"price":"0.4","quota":null}}]},"classes":[{"name":"a","vms_per_job":"2","jobs":{"min":0,"max":1},"penalty":"0.6"}]}`, "One more job takes 0.60 an hour in VMs, as much as it is valued at when refused: a tie."},
		{`{"currency":"USD","supply":{"vm_types":[{"name":"x","on_demand":{"price":"0.3","quota":null}},{"name":"y","on_demand":{"price":"0.4","quota":null}}]},"classes":[{"name":"a","vms_per_job":"2","jobs":{"min":0,"max":1},"penalty":"0.6004"}]}`, "One more job costs 0.6000 an hour in VMs; refused, it is valued at 0.6004."},
	} {
		p, err := capacity.ReadProblem([]byte(c.problem), capacity.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		p.Options.Engine = capacity.EngineExact
		pl, err := Solve(t.Context(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := pl.Classes[0].Reason; !strings.Contains(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
