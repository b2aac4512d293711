// Package slurmtest starts a Slurm of four nodes on this machine, without systemd and without accounting.
package slurmtest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"headroom/internal/test/await"
)

// Slurm is a Slurm that runs for a test. Its commands find it by SLURM_CONF, which is set for the test.
type Slurm struct {
	dir        string
	controller *exec.Cmd
	daemons    []*exec.Cmd
}

const nodes = 4

// Start starts a Slurm with licences such as "etl:10,sql:4", and with a job_submit plug-in if its text is given. Where
// Slurm is not installed the test is skipped, unless HEADROOM_ENGINES demands it.
func Start(t *testing.T, licences, plugin string) *Slurm {
	t.Helper()
	for _, program := range []string{"munged", "slurmctld", "slurmd", "sbatch"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("HEADROOM_ENGINES") != "" {
				t.Fatalf("%s is missing: scripts/setup engines installs Slurm", program)
			}
			t.Skipf("%s is not installed: scripts/setup engines installs Slurm", program)
		}
	}
	s := &Slurm{dir: t.TempDir()}
	host, err := os.Hostname()
	who, whoErr := user.Current()
	if err != nil || whoErr != nil {
		t.Fatal(err, whoErr)
	}
	host, _, _ = strings.Cut(host, ".")
	socket, ports := s.path("munge.socket"), freePorts(t, 2+nodes)
	submit := ""
	if plugin != "" {
		s.write(t, "job_submit.lua", plugin, 0o644)
		submit = "JobSubmitPlugins=lua\n"
	}
	s.write(t, "munge.key", strings.Repeat("0123456789abcdef", 8), 0o400)
	s.write(t, "slurm.conf", fmt.Sprintf(`ClusterName=test
SlurmctldHost=%s(127.0.0.1)
SlurmctldPort=%d
SlurmdPort=%d
SlurmUser=%s
SlurmdUser=%s
AuthType=auth/munge
AuthInfo=socket=%s
StateSaveLocation=%s
SlurmdSpoolDir=%s/spool-%%n
SlurmctldPidFile=%s/slurmctld.pid
SlurmdPidFile=%s/slurmd-%%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/filetxt
JobCompLoc=%s/ended
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
SlurmdParameters=config_overrides
SchedulerParameters=sched_min_interval=100000,bf_interval=5,sched_interval=5
Licenses=%s
NodeName=n[1-%d] NodeHostname=%s NodeAddr=127.0.0.1 Port=[%d-%d] CPUs=16 RealMemory=1000
PartitionName=main Nodes=n[1-%d] Default=YES MaxTime=INFINITE State=UP
PartitionName=etl Nodes=n[1-%d] MaxTime=INFINITE State=UP
%s`, host, ports, ports+1, who.Username, who.Username, socket, s.path("state"), s.dir, s.dir, s.dir, s.dir, licences, nodes, host, ports+2, ports+1+nodes, nodes, nodes, submit), 0o644)
	t.Setenv("SLURM_CONF", s.path("slurm.conf"))
	t.Cleanup(func() { s.end(t, who.Username) })
	s.daemon(t, "munged", "--foreground", "--force", "--key-file="+s.path("munge.key"), "--socket="+socket, "--pid-file="+s.path("munge.pid"),
		"--log-file="+s.path("munge.log"), "--seed-file="+s.path("munge.seed"))
	until(t, "munged answers", func() bool { _, err := os.Stat(socket); return err == nil })
	s.controller = s.daemon(t, "slurmctld", "-D")
	for n := range nodes {
		s.daemon(t, "slurmd", "-D", "-N", fmt.Sprintf("n%d", n+1))
	}
	until(t, "all nodes are idle", func() bool {
		out, _ := exec.Command("sinfo", "-h", "-t", "idle", "-o", "%D").Output()
		return strings.TrimSpace(string(out)) == fmt.Sprint(nodes)
	})
	return s
}

// end ends the jobs, whose steps outlive the daemons, and then these. Of a test that failed it shows the logs.
func (s *Slurm) end(t *testing.T, user string) {
	_ = exec.Command("scancel", "--user="+user).Run()
	until(t, "all jobs have ended", func() bool {
		out, err := exec.Command("squeue", "-h").Output()
		return err == nil && len(out) == 0 || s.controller == nil
	})
	for _, d := range s.daemons {
		_ = d.Process.Signal(syscall.SIGTERM)
	}
	for _, d := range s.daemons {
		_ = d.Wait() // an error of one that was killed
	}
	if !t.Failed() {
		return
	}
	for _, name := range []string{"slurmctld.log", "slurmdn1.log"} {
		text, _ := os.ReadFile(s.path(name))
		t.Logf("%s ends with\n%s", name, text[max(0, len(text)-3000):])
	}
}

func (s *Slurm) path(name string) string { return filepath.Join(s.dir, name) }

func (s *Slurm) write(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(s.path(name), []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// daemon starts a daemon, which end ends.
func (s *Slurm) daemon(t *testing.T, program string, args ...string) *exec.Cmd {
	t.Helper()
	name := program
	if program == "slurmd" {
		name += args[len(args)-1]
	}
	log, err := os.OpenFile(s.path(name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	c := exec.Command(program, args...)
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	s.daemons = append(s.daemons, c)
	return c
}

// Kill ends slurmctld with SIGKILL and starts another. What it did last it would forget: it writes its state down every
// five seconds, and nothing says that it has.
func (s *Slurm) Kill(t *testing.T) {
	t.Helper()
	time.Sleep(6 * time.Second)
	_ = s.controller.Process.Kill()
	_ = s.controller.Wait()
	s.controller = s.daemon(t, "slurmctld", "-D")
	until(t, "slurmctld answers again", func() bool { return exec.Command("scontrol", "ping").Run() == nil })
}

// Output returns where a job may write to.
func (s *Slurm) Output() string { return s.path("job-%j.out") }

// Run runs one of Slurm's commands, and returns what it says.
func (s *Slurm) Run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

// Ended is a job that has ended, in seconds of the clock.
type Ended struct {
	ID, Name, State string
	Start, End      time.Time
}

// Ended returns the jobs that have ended.
func (s *Slurm) Ended(t *testing.T) (all []Ended) {
	t.Helper()
	text, err := os.ReadFile(s.path("ended"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		of := map[string]string{}
		for _, word := range strings.Fields(line) {
			name, value, _ := strings.Cut(word, "=")
			of[name] = value
		}
		j := Ended{ID: of["JobId"], Name: of["Name"], State: of["JobState"]}
		j.Start, _ = time.ParseInLocation("2006-01-02T15:04:05", of["StartTime"], time.Local) // Unknown of one that never ran
		j.End, _ = time.ParseInLocation("2006-01-02T15:04:05", of["EndTime"], time.Local)
		all = append(all, j)
	}
	return all
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for last := range await.Tries(time.Minute) {
		if is() {
			return
		}
		if last {
			t.Fatalf("after a minute it is not so that %s", what)
		}
	}
}

// freePorts returns the first of so many free ports in a row, below those that the kernel gives out.
func freePorts(t *testing.T, n int) int {
	t.Helper()
	for first := 16000 + os.Getpid()%500*20; first < 32000; first += n {
		free := true
		for p := first; p < first+n && free; p++ {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", p))
			if free = err == nil; free {
				_ = l.Close()
			}
		}
		if free {
			return first
		}
	}
	t.Fatal("no ports are free")
	return 0
}
