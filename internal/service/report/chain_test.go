package report

import (
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/data/inputs"
)

// Tables show chains and calibrations. A profile of stages has no figures of maps and reduces there.
func TestTablesOfChainsAndCalibrations(t *testing.T) {
	csv := func(table Table) string {
		t.Helper()
		var b strings.Builder
		if err := table.CSV(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	at := time.Unix(0, 0)
	sales := capacity.Profile{OverheadSeconds: 11, Stages: []capacity.Stage{{Tasks: 200, AvgSeconds: 6.5, MaxSeconds: 21}, {Tasks: 64, AvgSeconds: 12, MaxSeconds: 30}}}
	got := csv(Profiles([]inputs.ProfileVersion{{Name: "maps", Version: 1, Profile: capacity.Profile{MapTasks: 3, MapAvgSeconds: 1, MapMaxSeconds: 2}, CreatedAt: at}, {Name: "sales", Version: 2, Profile: sales, CreatedAt: at}}))
	want := `name,version,note,map_tasks,reduce_tasks,map_avg_s,map_max_s,first_shuffle_avg_s,first_shuffle_max_s,shuffle_avg_s,shuffle_max_s,reduce_avg_s,reduce_max_s,overhead_s,stages,stage_tasks,stage_work_s,created_at
maps,1,,3,0,1,2,0,0,0,0,0,0,0,,,,1970-01-01T00:00:00Z
sales,2,,,,,,,,,,,,11,2,264,2068,1970-01-01T00:00:00Z
`
	if strings.ReplaceAll(got, "\r\n", "\n") != want {
		t.Errorf("profiles:\n%s\nwant\n%s", got, want)
	}
	calibration := &capacity.Calibration{Bound: capacity.UpperBound, Factor: 0.9}
	got = csv(PlannedClasses([]inputs.PlannedClass{{Name: "a", Profile: &inputs.ProfileRef{Name: "sales", Version: 2}, Calibration: calibration}, {Name: "b", VMsPerJob: nil}}))
	if !strings.Contains(got, "speed,calibration_bound,calibration_factor,due_s,target,confidence,promise_factor,jobs_all,due,version") || !strings.Contains(got, ",upper,0.9,") {
		t.Errorf("classes:\n%s", got)
	}
	low, average, high, calibrated := 1.0, 2.0, 3.0, 2.7
	p := capacity.Problem{Currency: "USD", Options: capacity.Options{Bound: capacity.CalibratedBound}, Classes: []capacity.Class{{Name: "a", DeadlineSeconds: 9}, {Name: "b", DeadlineSeconds: 9}}}
	pl := capacity.Plan{Classes: []capacity.ClassPlan{{Name: "a", Time: &capacity.Times{Lower: &low, Average: &average, Upper: &high, Calibrated: &calibrated}}, {Name: "b", Time: &capacity.Times{Lower: &low, Average: &average, Upper: &high}}}}
	if got = csv(Classes(p, pl)); strings.Contains(got, "calibrated") {
		t.Errorf("a column of nothing:\n%s", got)
	}
	p.Classes[0].Calibration = calibration
	if got = csv(Classes(p, pl)); !strings.Contains(got, ",currency,time_calibrated_s") || !strings.Contains(got, ",USD,2.7") {
		t.Errorf("a plan's classes:\n%s", got)
	}
	var b strings.Builder
	if err := classTable(p, pl).Text(&b); err != nil || !strings.Contains(b.String(), "Time (calibrated)") || !strings.Contains(b.String(), "2.7 s") || !strings.Contains(b.String(), "2.0 s (average)") || strings.Contains(b.String(), "2.7 s (") {
		t.Errorf("for people (%v):\n%s", err, b.String())
	}
}
