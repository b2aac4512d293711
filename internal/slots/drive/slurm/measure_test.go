package slurm

import (
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/engines/slurmtest"
)

// Both sources tell alike of jobs that ended, with their class. There are tasks of an array, one that failed, two that were
// cancelled, waiting and running, and one that was stopped for a while. One that waits again is not told.
func TestSlurmTellsWhatEnded(t *testing.T) {
	for name, setup := range map[string]slurmtest.Setup{
		"sacct": {Licences: "etl:100,sql:50", Accounting: true}, "slurmctld": {Licences: "etl:100,sql:50"},
	} {
		t.Run(name, func(t *testing.T) {
			s := slurmtest.Start(t, setup)
			job := func(args ...string) string {
				return strings.TrimSpace(s.Run(t, append([]string{"sbatch", "--parsable", "-o", s.Output()}, args...)...))
			}
			state := func(id, want string) {
				t.Helper()
				for last := range await.Tries(30 * time.Second) {
					if got := strings.Fields(s.Run(t, "squeue", "-h", "-j", id, "-t", "all", "-o", "%T")); len(got) > 0 && got[0] == want {
						return
					}
					if last {
						t.Fatalf("job %s is not %s\n%s", id, want, s.Run(t, "squeue", "-t", "all"))
					}
				}
			}
			two := job("-J", "a|b", "-L", "etl:2", "-n", "3", "--wrap", "sleep 2")
			array := job("-L", "sql", "-a", "1-2", "--wrap", "sleep 1")
			bad := job("-L", "etl", "--wrap", "false")
			never := job("-L", "etl", "-H", "--wrap", "true")
			again := job("-L", "etl", "--wrap", "sleep 600")
			gone := job("-L", "etl", "--wrap", "sleep 600")
			stopped := job("-L", "etl", "--wrap", "sleep 2")
			other := job("--wrap", "true") // of no class
			state(again, "RUNNING")
			state(gone, "RUNNING")
			state(stopped, "RUNNING")
			s.Run(t, "scontrol", "suspend", stopped)
			s.Run(t, "scancel", never)
			s.Run(t, "scancel", gone)
			s.Run(t, "scontrol", "requeue", again)
			state(two, "COMPLETED")
			state(bad, "FAILED")
			state(other, "COMPLETED")
			s.Run(t, "scontrol", "resume", stopped)
			state(stopped, "COMPLETED")
			state(gone, "CANCELLED")
			want := []string{two + " ad hoc 3 COMPLETED", array + "_1 sql 1 COMPLETED", array + "_2 sql 1 COMPLETED", bad + " ad hoc 1 FAILED",
				never + " ad hoc 1 CANCELLED", gone + " ad hoc 1 CANCELLED", stopped + " ad hoc 1 COMPLETED"}
			slices.Sort(want)
			engine := &Slurm{Licences: map[string]string{"ad hoc": "etl"}}
			for last := range await.Tries(30 * time.Second) {
				m, err := engine.Measure(t.Context(), []string{"ad hoc", "sql"}, time.Now().Add(-time.Hour), time.Now())
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, line := range m.Ended {
					f := strings.Split(strings.TrimSpace(line), "|")
					cpus := f[3]
					if cpus == "0" {
						cpus = "1" // sacct's of one that never ran
					}
					got = append(got, f[0]+" "+f[10]+" "+cpus+" "+strings.Fields(f[7])[0])
					if f[9] != "test" {
						t.Errorf("the Slurm is called %q", f[9])
					}
				}
				slices.Sort(got)
				if slices.Equal(got, want) && m.Nodes == 4 {
					break
				}
				if last {
					t.Fatalf("%d nodes run, and it tells\n%s\nwant\n%s", m.Nodes, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
		})
	}
}
