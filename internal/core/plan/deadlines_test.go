package plan

import (
	"strings"
	"testing"

	"example.org/headroom/internal/core/capacity"
)

func TestImpossibleDeadlines(t *testing.T) {
	p, err := capacity.ReadProblem([]byte(`{"currency":"USD","supply":{"on_demand":{"price":"0.1"}},"classes":[
		{"name":"fine","demand":{"map_work_s":100,"reduce_work_s":10,"fixed_s":5},"deadline_s":60,"slots_per_vm":{"map":1,"reduce":1},"jobs":{"min":1,"max":2},"penalty":"1"},
		{"name":"hopeless","demand":{"map_work_s":100,"reduce_work_s":10,"fixed_s":70},"deadline_s":60,"slots_per_vm":{"map":1,"reduce":1},"jobs":{"min":0,"max":2},"penalty":"1"},
		{"name":"promised","demand":{"map_work_s":100,"reduce_work_s":10,"fixed_s":70},"deadline_s":60,"slots_per_vm":{"map":1,"reduce":1},"jobs":{"min":1,"max":2},"penalty":"1"}]}`), capacity.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	findings, warnings, err := ImpossibleDeadlines(p)
	if err != nil || len(findings) != 1 || len(warnings) != 1 {
		t.Fatalf("got %v, %v, %v", findings, warnings, err)
	}
	if f := findings[0]; f.Pointer != "/classes/2/deadline_s" || f.Hint == nil || !(f.Hint.Value.(float64) > 70) {
		t.Errorf("got %+v", f)
	}
	if w := warnings[0]; w.Pointer != "/classes/1/deadline_s" || !strings.Contains(w.Detail, "No job of class \"hopeless\" will be admitted") {
		t.Errorf("got %+v", w)
	}
}

// With several VM types a deadline is impossible only if no type meets it, however fast.
func TestImpossibleDeadlinesOfSeveralTypes(t *testing.T) {
	p, err := capacity.ReadProblem([]byte(`{"currency":"USD","supply":{"vm_types":[
		{"name":"slow","on_demand":{"price":"0.1"}},{"name":"fast","on_demand":{"price":"0.3"}}]},"classes":[
		{"name":"only on fast","demand":{"map_work_s":100,"reduce_work_s":10,"fixed_s":100},"deadline_s":60,"speed":{"fast":2},"slots_per_vm":{"map":1,"reduce":1},"jobs":{"min":1,"max":2},"penalty":"1"},
		{"name":"too slow","demand":{"map_work_s":100,"reduce_work_s":10,"fixed_s":70},"deadline_s":60,"speed":{"slow":0.5,"fast":0},"slots_per_vm":{"map":1,"reduce":1},"jobs":{"min":1,"max":2},"penalty":"1"},
		{"name":"nowhere","demand":{"map_work_s":100,"reduce_work_s":10,"fixed_s":70},"deadline_s":60,"slots_per_vm":{"slow":{"map":1,"reduce":1}},"jobs":{"min":0,"max":2},"penalty":"1"},
		{"name":"by gamma","vms_per_job":"2","speed":{"slow":0},"jobs":{"min":1,"max":2},"penalty":"1"}]}`), capacity.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	findings, warnings, err := ImpossibleDeadlines(p)
	if err != nil || len(findings) != 1 || len(warnings) != 1 {
		t.Fatalf("got %v, %v, %v", findings, warnings, err)
	}
	if f := findings[0]; f.Pointer != "/classes/1/deadline_s" || f.Hint == nil || f.Hint.Value != 141.0 {
		t.Errorf("got %+v", f)
	}
	if w := warnings[0]; w.Pointer != "/classes/2/deadline_s" || !strings.Contains(w.Detail, "Allow 71 s or more.") {
		t.Errorf("got %+v", w)
	}
	p.Classes = p.Classes[:1]
	p.Classes[0].DeadlineSeconds = 50
	pl := solved(t, p)
	if pl.Status != capacity.InfeasibleStatus || pl.Conflicts[0].Hint.Value != 51.0 {
		t.Errorf("got %s with %v", pl.Status, pl.Conflicts)
	}
}
