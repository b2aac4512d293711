package slurm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/headroom/internal/slots/drive"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/engines/slurmtest"
)

// The limits that the driver sets hold in a real Slurm: of one class to no place, of another to two, and no job fails.
func TestSlurmKeepsLimits(t *testing.T) {
	s := slurmtest.Start(t, slurmtest.Setup{Licences: "etl:100,sql:50"})
	plan := drive.Plan{Number: 7, Places: map[string]int64{"etl": 2, "ad hoc": 0, "ml": 3}}
	var said []string
	d := drive.Driver{
		Plan: func(context.Context) (drive.Plan, error) { return plan, nil }, Engine: &Slurm{Licences: map[string]string{"ad hoc": "sql"}},
		Did:      func(drive.Step, bool) {},
		Warn:     func(sentence string, err error) { said = append(said, sentence) },
		Ended:    func(context.Context, string) error { return nil },
		Observed: func(context.Context, int64, int64) error { return nil },
	}
	turn := func() {
		t.Helper()
		if err := d.Turn(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	defer func() {
		if t.Failed() {
			t.Logf("Slurm's reasons are\n%s", s.Run(t, "squeue", "-o", "%i %j %T %r %W"))
		}
	}()
	counts := func(state string) string {
		return fmt.Sprint(strings.Count(s.Run(t, "squeue", "-h", "-t", state, "-o", "%j"), "etl"), strings.Count(s.Run(t, "squeue", "-h", "-t", state, "-o", "%j"), "sql"))
	}
	wait := func(state, want string) {
		t.Helper()
		for last := range await.Tries(30 * time.Second) {
			if counts(state) == want {
				return
			}
			if last {
				t.Fatalf("%s are %s, want %s (etl sql)\n%s", state, counts(state), want, s.Run(t, "squeue", "-o", "%i %j %T %r %W %k"))
			}
		}
	}
	turn()
	if want := []string{`The engine has no limit for the class "ml", so its jobs are not held to the plan's 3 places.`}; !slices.Equal(said, want) {
		t.Errorf("it says %q", said)
	}
	for range 4 {
		s.Run(t, "sbatch", "-J", "etl", "-L", "etl", "-o", s.Output(), "--wrap", "sleep 600")
	}
	for range 2 {
		s.Run(t, "sbatch", "-J", "sql", "-L", "sql:2", "-o", s.Output(), "--wrap", "sleep 600")
	}
	s.Run(t, "sbatch", "-J", "etl", "-L", "etl", "--comment", "for Ann", "-o", s.Output(), "--wrap", "sleep 600")
	wait("RUNNING", "2 0")
	wait("PENDING", "3 2")
	turn()
	comments := s.Run(t, "squeue", "-h", "-t", "PENDING", "-o", "%j %k")
	for text, want := range map[string]int{"etl Headroom: 2 of 2 places of etl are taken, as many as plan 7 has.": 2, "sql Headroom: plan 7 has no place for the class ad hoc.": 2, "etl for Ann": 1} {
		if got := strings.Count(comments, text); got != want {
			t.Errorf("%d jobs say %q, want %d:\n%s", got, text, want, comments)
		}
	}

	s.Kill(t) // the limits stand without anybody
	wait("RUNNING", "2 0")
	plan = drive.Plan{Number: 8, Places: map[string]int64{"etl": 4, "ad hoc": 3}}
	turn()
	wait("RUNNING", "4 1")
	turn()
	if comments := s.Run(t, "squeue", "-h", "-o", "%j %T %k"); !strings.Contains(comments, "sql PENDING Headroom: plan 8 has 3 places of ad hoc with 1 free, and this job asks for 2.") ||
		strings.Contains(comments, "RUNNING Headroom") {
		t.Errorf("the jobs say\n%s", comments)
	}

	plan.Places["etl"] = 1 // none is ended, and none starts
	turn()
	s.Run(t, "sbatch", "-J", "etl", "-L", "etl", "-o", s.Output(), "--wrap", "sleep 600")
	wait("PENDING", "2 1")
	wait("RUNNING", "4 1")
	plan.Places["etl"] = 1000
	delete(plan.Places, "ad hoc") // its jobs wait, and are told so
	said = nil
	turn()
	if free := s.Run(t, "scontrol", "-o", "show", "licenses", "sql"); !strings.Contains(free, " Reserved=50 ") {
		t.Errorf("of a class that has left the plan %s", free)
	}
	if comments := s.Run(t, "squeue", "-h", "-t", "PENDING", "-o", "%j %k"); !strings.Contains(comments, "sql Headroom: the class ad hoc is no longer in the plan.") {
		t.Errorf("the jobs say\n%s", comments)
	}
	wait("RUNNING", "6 1")
	if want := []string{`The plan has no class "ad hoc" any more, so no further job of it starts.`, `The plan has 1000 places for the class "etl", and the engine's settings allow 100.`}; !slices.Equal(said, want) {
		t.Errorf("it says %q", said)
	}
	s.Run(t, "scontrol", "delete", "ReservationName=headroom-sql") // somebody lets them go
	turn()
	wait("RUNNING", "6 2")
}

// The plug-in of deploy gives jobs the licence of their partition beside others, and leaves that of another class.
func TestSlurmGivesJobsTheLicenceOfTheirPartition(t *testing.T) {
	plugin, err := os.ReadFile("../../../../deploy/slurm/job_submit.lua")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(plugin), "local more_classes = {}", `local more_classes = {"sql"}`, 1)
	s := slurmtest.Start(t, slurmtest.Setup{Licences: "etl:100,main:100,sql:50,matlab:5", Plugin: text})
	want := ""
	for _, c := range []struct{ flags, licences string }{
		{"-p etl", "etl:1"}, {"-p etl -L sql:3", "sql:3"}, {"-p etl -L matlab:2", "matlab:2,etl:1"}, {"-p etl -L main", "main"},
		{"", "main:1"}, {"-p etl,etl", "etl:1"}, {"-p etl,main -L matlab", "matlab,etl:1"},
	} {
		s.Run(t, append(append([]string{"sbatch", "-H", "-o", s.Output()}, strings.Fields(c.flags)...), "--wrap", "true")...)
		want += c.licences + "\n"
	}
	if got := s.Run(t, "squeue", "-h", "-S", "i", "-o", "%W"); got != want {
		t.Errorf("the jobs have\n%s\nwant\n%s", got, want)
	}
	for _, licences := range []string{"etl:0", "matlab:1,sql:0"} {
		out, err := exec.Command("sbatch", "-p", "etl", "-L", licences, "-o", s.Output(), "--wrap", "true").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "holds no place; ask for ") || strings.Contains(string(out), "Unspecified error") {
			t.Errorf("a job with %s: %v %s", licences, err, out)
		}
	}

	// A user cannot take the label off or put another on, and an administrator can. A licence that nobody has is refused.
	as := func(uid uint32, args ...string) (string, error) {
		c := exec.Command(args[0], args[1:]...)
		c.Dir = "/"
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		out, err := c.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	if os.Getuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	const nobody = 65534
	id, err := as(nobody, "sbatch", "--parsable", "-J", "four", "-p", "etl", "-H", "-o", "/dev/null", "--wrap", "true")
	if err != nil {
		t.Fatal(id, err)
	}
	t.Cleanup(func() { s.Run(t, "scancel", id) }) // it is not the test's own
	for _, licences := range []string{"", "sql:1"} {
		if out, err := as(nobody, "scontrol", "update", "JobId="+id, "Licenses="+licences); err == nil || !strings.Contains(out, "Access/permission denied") {
			t.Errorf("a user changes the licence to %q: %s", licences, out)
		}
	}
	if got := s.Run(t, "squeue", "-h", "-j", id, "-o", "%W"); got != "etl:1\n" {
		t.Errorf("after that the job has %s", got)
	}
	s.Run(t, "scontrol", "update", "JobId="+id, "Licenses=sql:1")
	if got := s.Run(t, "squeue", "-h", "-j", id, "-o", "%W"); got != "sql:1\n" {
		t.Errorf("after an administrator's change the job has %s", got)
	}
	if out, err := exec.Command("sbatch", "-L", "lost", "-p", "etl", "-o", s.Output(), "--wrap", "true").CombinedOutput(); err == nil {
		t.Errorf("a licence that nobody has is taken: %s", out)
	}
}

// Each task of an array takes a place, those that wait are told so together, and the driver comes to rest.
func TestSlurmKeepsArraysToLimits(t *testing.T) {
	s := slurmtest.Start(t, slurmtest.Setup{Licences: "etl:100"})
	steps := 0
	d := drive.Driver{
		Plan: func(context.Context) (drive.Plan, error) {
			return drive.Plan{Number: 3, Places: map[string]int64{"etl": 2}}, nil
		},
		Engine: &Slurm{}, Did: func(drive.Step, bool) { steps++ }, Warn: func(sentence string, err error) { t.Error(sentence, err) },
		Ended: func(context.Context, string) error { return nil }, Observed: func(context.Context, int64, int64) error { return nil },
	}
	if err := d.Turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Run(t, "sbatch", "-a", "1-5", "-L", "etl", "-o", s.Output(), "--wrap", "sleep 600")
	said := ""
	for last := range await.Tries(30 * time.Second) {
		steps = 0
		if err := d.Turn(t.Context()); err != nil {
			t.Fatal(err)
		}
		said = s.Run(t, "squeue", "-h", "--array", "-o", "%T %k")
		if steps == 0 && strings.Count(strings.ReplaceAll(said, "(null)", ""), "RUNNING \n") == 2 && strings.Count(said, "PENDING Headroom: 2 of 2 places of etl are taken, as many as plan 3 has.\n") == 3 {
			return
		}
		if last {
			t.Fatalf("%d steps in the last turn, and the tasks say\n%s", steps, said)
		}
	}
}
