package plan

import (
	"os"
	"path/filepath"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/test/plantest"
)

// Problems from files on which planning was wrong once: each is solved as it should be, and the
// independent checker agrees.
func TestProblemFilesThatWereSolvedWrongly(t *testing.T) {
	want := map[string]string{
		"elevenths-quota":             "-5400000.00", // 1,100,000 jobs of 1/11 VM are 100,000 VMs
		"elevenths":                   "-5400000.00",
		"thirteenths":                 "-6400.00",
		"thirteenths-of-slots":        "-6400.00",
		"late-by-tolerance":           "-20000.00", // whole slots may be late by a billionth
		"late-by-tolerance-integer":   "-1200.00",
		"late-by-tolerance-dedicated": "4000.00",
		"lattice-period-small":        "-5154.82716", // a period of the lattice overflowed
		"lattice-period-large":        "-158086419.04",
		"sixteen-digits":              "-987654328.00",
		"sixteen-digits-short":        "-987654328.00",
		"sixteen-digits-quota":        "",                // infeasible by a hair
		"slots-of-millions-fleet":     "-1800.000000005", // half a VM of 25 million was rounded away, slot by slot
		"million-jobs":                "0.00",            // took 40 s of the 0.1 s allowed
		"billionth-saved":             "0.00",            // three VMs of a third cost a billionth less than a job is valued at
	}
	if plantest.Trials(0, 1) == 0 {
		delete(want, "lattice-period-large") // takes ten seconds; the small one is of its kind
	}
	for name, objective := range want {
		data, err := os.ReadFile(filepath.Join("testdata", "found", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := capacity.ReadProblem(data, capacity.DefaultLimits())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p.Options.Engine = capacity.EngineExact
		pl, err := Solve(t.Context(), p, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if report := proof.Verify(p, pl, proof.Options{}); !report.Accepted() {
			t.Errorf("%s:\n%s", name, report)
		}
		switch {
		case objective == "":
			if pl.Status != capacity.InfeasibleStatus {
				t.Errorf("%s: got %s, want infeasible", name, pl.Status)
			}
		case pl.Status != capacity.Optimal || pl.Objective.String() != objective:
			t.Errorf("%s: got %s, %s, want optimal, %s", name, pl.Status, pl.Objective, objective)
		}
	}
}
