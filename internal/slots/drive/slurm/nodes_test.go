package slurm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/slots/drive"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/engines/slurmtest"
)

// Nodes follow the plan's VMs: those that are missing are asked for, and those without a job are given back. A node with a
// job stays until it has ended, and nothing is given back while it is not known what comes.
func TestSlurmSwitchesNodes(t *testing.T) {
	s := slurmtest.Start(t, slurmtest.Setup{Licences: "etl:100", Cloud: 4})
	plan := drive.Plan{Places: map[string]int64{}, VMs: map[string]int64{"m": 2}}
	var did, said []string
	d := drive.Driver{
		Plan: func(context.Context) (drive.Plan, error) { return plan, nil }, Engine: &Slurm{Partitions: map[string]string{"m": "cloud"}}, DryRun: true,
		Did:      func(s drive.Step, _ bool) { did = append(did, fmt.Sprint(s.From, s.To, s.Nodes)) },
		Warn:     func(sentence string, err error) { said = append(said, fmt.Sprint(sentence, " ", err)) },
		Ended:    func(context.Context, string) error { return nil },
		Observed: func(context.Context, int64, int64) error { return nil },
	}
	turn := func(want string) {
		t.Helper()
		did = nil
		if err := d.Turn(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(did, "; "); got != want {
			t.Errorf("it does %q, want %q", got, want)
		}
	}
	wait := func(what string, is func() bool) {
		t.Helper()
		for last := range await.Tries(30 * time.Second) {
			if is() {
				return
			}
			if last {
				t.Fatalf("it is not so that %s\n%s\n%s", what, s.Run(t, "scontrol", "-o", "show", "nodes"), s.Powered(t))
			}
		}
	}
	asked := func(want ...string) {
		t.Helper()
		wait(fmt.Sprintf("the programs got %q", want), func() bool { return slices.Equal(s.Powered(t), want) })
	}
	idle := func(n int) {
		t.Helper()
		wait(fmt.Sprint(n, " nodes of the cloud are idle"), func() bool {
			return strings.Count(s.Run(t, "scontrol", "-o", "show", "nodes"), "State=IDLE+CLOUD ") == n
		})
	}

	turn("0 2 [c1 c2]")
	asked() // a dry run
	d.DryRun = false
	turn("0 2 [c1 c2]")
	asked("Resume c[1-2]")
	turn("") // those that start count
	s.Boot(t, "c1")
	s.Boot(t, "c2")
	idle(2)
	turn("")

	plan.VMs["m"] = 6
	turn("2 6 [c3 c4]")
	asked("Resume c[1-2]", "Resume c[3-4]")
	if want := `The plan has 6 VMs of the type "m", and the engine can have 4 nodes of it. <nil>`; !slices.Contains(said, want) {
		t.Errorf("it says %q", said)
	}
	s.Boot(t, "c3")
	s.Boot(t, "c4")
	idle(4)

	id := strings.TrimSpace(s.Run(t, "sbatch", "--parsable", "-p", "cloud", "-w", "c4", "-o", s.Output(), "--wrap", "sleep 20"))
	wait("the job runs", func() bool { return s.Run(t, "squeue", "-h", "-j", id, "-o", "%T") == "RUNNING\n" })
	plan.VMs["m"], plan.Unsure = 2, errors.New("a price is missing")
	turn("")
	if !slices.ContainsFunc(said, func(sentence string) bool {
		return strings.Contains(sentence, "no node is given back: a price is missing")
	}) {
		t.Errorf("it says %q", said)
	}
	plan.Unsure = nil
	turn("4 2 [c2 c3]")
	asked("Resume c[1-2]", "Resume c[3-4]", "Suspend c[2-3]")
	plan.VMs["m"] = 0
	turn("2 0 [c1]")
	turn("") // the other has a job
	if got := s.Run(t, "squeue", "-h", "-j", id, "-o", "%T"); got != "RUNNING\n" {
		t.Errorf("the job is %s", got)
	}
	wait("the job has ended", func() bool { return s.Run(t, "squeue", "-h", "-j", id, "-t", "all", "-o", "%T") == "COMPLETED\n" })
	turn("1 0 [c4]")
	wait("nodes that are off can be asked for again", func() bool {
		n, err := (&Slurm{Partitions: map[string]string{"m": "cloud"}}).power(t.Context())
		return err == nil && len(n["m"].Off) == 4 && n["m"].Run == 0
	})

	d.Engine = &Slurm{Partitions: map[string]string{"m": "main"}}
	if err := d.Turn(t.Context()); err == nil || !strings.Contains(err.Error(), `the nodes of "main" are not elastic`) {
		t.Errorf("of ordinary nodes it says %v", err)
	}
	d.Engine = &Slurm{Partitions: map[string]string{"m": "nowhere"}}
	if err := d.Turn(t.Context()); err == nil || !strings.Contains(err.Error(), `Slurm has no partition "nowhere" (--nodes m=nowhere)`) {
		t.Errorf("of a partition that is not there it says %v", err)
	}
}

// A job that slips onto a node while it is given back ends well.
func TestSlurmEndsNoJobForANode(t *testing.T) {
	s := slurmtest.Start(t, slurmtest.Setup{Licences: "etl:100", Cloud: 1})
	engine := &Slurm{}
	if err := engine.Power(t.Context(), []string{"c1"}, true); err != nil {
		t.Fatal(err)
	}
	s.Boot(t, "c1")
	id := strings.TrimSpace(s.Run(t, "sbatch", "--parsable", "-p", "cloud", "-o", s.Output(), "--wrap", "sleep 5"))
	state := func(want string) {
		t.Helper()
		for last := range await.Tries(30 * time.Second) {
			if got := s.Run(t, "squeue", "-h", "-j", id, "-t", "all", "-o", "%T"); got == want+"\n" {
				return
			} else if last {
				t.Fatalf("the job is %s, want %s", got, want)
			}
		}
	}
	state("RUNNING")
	if err := engine.Power(t.Context(), []string{"c1"}, false); err != nil {
		t.Fatal(err)
	}
	state("COMPLETED")
}
