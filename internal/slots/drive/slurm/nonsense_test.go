package slurm

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/slots/drive"
)

// programs puts programs of these texts on the path, alone and in the place of Slurm's.
func programs(t *testing.T, scripts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
}

const sensible = `case "$*" in
*licenses) echo "LicenseName=etl Total=10 Used=0 Free=10 Reserved=4 Remote=no" ;;
*reservations) echo "ReservationName=headroom-etl StartTime=2026-11-27T15:28:10 EndTime=2027-11-27T15:28:10 Licenses=etl:4 State=ACTIVE" ;;
esac`

// Slurm's commands look for slurm.conf for a minute. That it is missing is told at once.
func TestMissingConfigurationIsToldAtOnce(t *testing.T) {
	programs(t, map[string]string{"scontrol": `echo "scontrol: error: s_p_parse_file: unable to status file /etc/slurm/slurm.conf: No such file or directory, retrying in 1sec up to 60sec" >&2
while :; do :; done`})
	began := time.Now()
	_, err := run(t.Context(), "scontrol", "show", "licenses")
	if err == nil || !strings.Contains(err.Error(), "unable to status file /etc/slurm/slurm.conf: No such file or directory") || !strings.HasSuffix(err.Error(), "or name its slurm.conf in SLURM_CONF") {
		t.Errorf("got %v", err)
	}
	if took := time.Since(began); took > patience/2 {
		t.Errorf("that was told after %v", took)
	}
}

// An engine that is missing, refuses or answers nonsense is told of in a sentence.
func TestNonsenseIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		scripts map[string]string
		says    string
	}{
		"missing":      {nil, "scontrol is not installed here"},
		"refuses":      {map[string]string{"scontrol": "echo slurm_load_licenses error: Unable to contact slurm controller >&2; exit 1"}, "Unable to contact slurm controller"},
		"user":         {map[string]string{"scontrol": "echo Invalid user id >&2; exit 1"}, "Invalid user id; run the driver as root, as SlurmUser or as an operator"},
		"total":        {map[string]string{"scontrol": `echo "LicenseName=etl Total=many"`}, `what scontrol show licenses says cannot be read: "LicenseName=etl Total=many\n"`},
		"reservations": {map[string]string{"scontrol": strings.Replace(sensible, "Licenses=etl:4", "Licenses=sql:4", 1)}, "what scontrol show reservations says cannot be read"},
		"jobs":         {map[string]string{"scontrol": sensible, "squeue": "echo '<html>'"}, "what squeue --json says cannot be read"},
		"no licences":  {map[string]string{"scontrol": "echo '<html>'"}, `what scontrol show licenses says cannot be read: "<html>\n"`},
		"silent": {map[string]string{"scontrol": `case "$*" in *licenses) echo "LicenseName=etl Total=10 Used=0 Free=10 Reserved=4 Remote=no" ;; esac`},
			`what scontrol show reservations says cannot be read: ""`},
		"no jobs":  {map[string]string{"scontrol": sensible, "squeue": `echo '{"errors": [{"error": "busy"}]}'`}, "what squeue --json says cannot be read"},
		"no state": {map[string]string{"scontrol": sensible, "squeue": `echo '{"jobs": [{"job_id": 7, "licenses": "etl:1"}]}'`}, `what squeue --json says cannot be read: "job 7 is \"\""`},
		"old": {map[string]string{"scontrol": sensible, "squeue": `echo "squeue: unrecognized option '--json'" >&2; exit 1`},
			"squeue --json: squeue: unrecognized option '--json'; is it Slurm 22.05 or newer?"},
		"no list": {map[string]string{"scontrol": sensible, "squeue": `echo '{"jobs": {"job_id": 1}}'`}, "what squeue --json says cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			programs(t, c.scripts)
			if _, err := new(Slurm).Observe(t.Context(), drive.Plan{Places: map[string]int64{"etl": 1}}); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it says %v, want %q", err, c.says)
			}
		})
	}
}

// Nodes are not switched, and nothing is measured, by answers that nobody can read.
func TestNonsenseIsNotMeasured(t *testing.T) {
	const nodes = `*"show nodes") echo "NodeName=c1 State=IDLE+CLOUD CPUAlloc=0" ;;
`
	const jobs = `echo '{"jobs": []}'`
	show := func(cases string) string { return strings.Replace(sensible, "*licenses)", cases+"*licenses)", 1) }
	config := func(text string) string {
		return nodes + `*"partition cloud") echo "Nodes=c1" ;; *hostnames*) echo c1 ;; ` + "*config) echo '" + text + "' ;;\n"
	}
	for name, c := range map[string]struct {
		scripts map[string]string
		says    string
	}{
		"node":         {map[string]string{"scontrol": show(`*"show nodes") echo "NodeName=c1 State=IDLE" ;; `)}, "what scontrol show nodes says cannot be read"},
		"no partition": {map[string]string{"scontrol": show(nodes + `*"partition cloud") echo "PartitionName=cloud Nodes=(null)" ;; `)}, `the partition "cloud" of the VM type "m" has no nodes`},
		"unknown": {map[string]string{"scontrol": show(nodes + `*"partition cloud") echo "Partition cloud not found"; exit 1 ;; `)},
			`Slurm has no partition "cloud" (--nodes m=cloud)`},
		"ordinary": {map[string]string{"scontrol": show(strings.Replace(nodes, "+CLOUD", "", 1) + `*"partition cloud") echo "Nodes=c1" ;; *hostnames*) echo c1 ;; `)},
			`the nodes of "cloud" are not elastic (State=CLOUD), so they cannot follow the plan`},
		"no settings": {map[string]string{"scontrol": show(config("<html>"))}, "what scontrol show config says cannot be read"},
		"ended":       {map[string]string{"scontrol": show(config("ClusterName = north")), "squeue": "echo 7; echo '7|etl'"}, "what a list of jobs says cannot be read"},
		"sacct": {map[string]string{"scontrol": show(config("ClusterName = north\nAccountingStorageType = accounting_storage/slurmdbd")), "squeue": "echo 7",
			"env": "echo '7|etl|COMPLETED'"}, "what a list of jobs says cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.scripts["squeue"] == "" {
				c.scripts["squeue"] = jobs
			}
			if c.scripts["env"] == "" {
				c.scripts["env"] = `shift; exec "$@"`
			}
			programs(t, c.scripts)
			s := &Slurm{Partitions: map[string]string{"m": "cloud"}}
			_, err := s.power(t.Context())
			if err == nil {
				_, err = s.Measure(t.Context(), []string{"etl"}, time.Now().Add(-time.Hour), time.Now())
			}
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it says %v, want %q", err, c.says)
			}
		})
	}
}

// Slurm writes a job's state as a word, and from 23.11 on as a list.
func TestStatesOfEachVersion(t *testing.T) {
	for _, state := range []string{`"RUNNING"`, `["RUNNING"]`, `["RUNNING", "POWERING_UP_NODE"]`} {
		programs(t, map[string]string{"scontrol": sensible, "squeue": `echo '{"jobs": [{"job_id": 7, "job_state": ` + state + `, "state_reason": "None", "licenses": "etl:2", "comment": ""}]}'`})
		s, err := new(Slurm).Observe(t.Context(), drive.Plan{Places: map[string]int64{"etl": 1}})
		if err != nil || s.Running["etl"] != 2 || s.Limits["etl"].Places != 6 || s.Limits["etl"].Most != 10 {
			t.Errorf("of the state %s it makes %+v (%v)", state, s, err)
		}
	}
}

// A job whose class has no place left is told so, whichever of its reasons Slurm names. One that is held or waits for another
// is not.
func TestReasonsOfJobsThatWait(t *testing.T) {
	for reason, waits := range map[string]int64{"Licenses": 2, "None": 2, "Priority": 2, "Resources": 2, "JobHeldUser": 0, "Dependency": 0, "BeginTime": 0} {
		programs(t, map[string]string{"scontrol": sensible, "squeue": `echo '{"jobs": [{"job_id": 7, "job_state": "PENDING", "state_reason": "` + reason + `", "licenses": "etl:2", "comment": ""}]}'`})
		s, err := new(Slurm).Observe(t.Context(), drive.Plan{Places: map[string]int64{"etl": 1}})
		if err != nil || len(s.Jobs) != int(min(waits, 1)) || waits > 0 && s.Jobs[0].Waits != waits {
			t.Errorf("of the reason %s it makes %+v (%v)", reason, s.Jobs, err)
		}
	}
}

// Two classes with one licence are refused, as one of them would go unheld.
func TestClassesHaveLicencesOfTheirOwn(t *testing.T) {
	programs(t, map[string]string{"scontrol": sensible})
	s := Slurm{Licences: map[string]string{"other": "etl"}}
	_, err := s.Observe(t.Context(), drive.Plan{Places: map[string]int64{"etl": 1, "other": 1}})
	if err == nil || !strings.Contains(err.Error(), `the classes "etl" and "other" have the same licence "etl"`) {
		t.Errorf("it says %v", err)
	}
}

// A command that does not answer in time has its own words told.
func TestLateCommandsHaveTheirWords(t *testing.T) {
	programs(t, map[string]string{"scontrol": "echo cannot stat file /nope >&2; exec /bin/sleep 60"})
	ctx, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	if _, err := new(Slurm).Observe(ctx, drive.Plan{}); err == nil || !strings.Contains(err.Error(), "did not answer in time, and says: cannot stat file /nope") {
		t.Errorf("it says %v", err)
	}
}
