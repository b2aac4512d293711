// Package slurmtest starts a Slurm of four nodes on this machine, without systemd.
package slurmtest

import (
	"bytes"
	_ "embed"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/headroom/internal/test/await"
)

// Slurm is a Slurm that runs for a test. Its commands find it by SLURM_CONF, which is set for the test.
type Slurm struct {
	dir        string
	accounting bool
	controller *exec.Cmd
	daemons    []*exec.Cmd
}

const nodes = 4

// Setup says what a Slurm has.
type Setup struct {
	Licences   string // such as "etl:10,sql:4"
	Plugin     string // the text of a job_submit plug-in, if any
	Accounting bool   // by slurmdbd and a MariaDB
	Cloud      int    // nodes c1, c2, …, in the partition cloud, whose power is only noted: see Powered
}

// Start starts a Slurm. Where Slurm is not installed the test is skipped, unless HEADROOM_ENGINES demands it.
func Start(t *testing.T, setup Setup) *Slurm {
	t.Helper()
	programs := []string{"munged", "slurmctld", "slurmd", "sbatch", "perl"}
	if setup.Accounting {
		programs = append(programs, "slurmdbd", "sacct", "mariadbd", "mariadb-install-db")
	}
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("HEADROOM_ENGINES") != "" {
				t.Fatalf("%s is missing: scripts/setup engines installs Slurm", program)
			}
			t.Skipf("%s is not installed: scripts/setup engines installs Slurm", program)
		}
	}
	s := &Slurm{dir: t.TempDir(), accounting: setup.Accounting}
	if err := os.Chmod(filepath.Dir(s.dir), 0o755); err != nil { // users of the test's Slurm read its settings
		t.Fatal(err)
	}
	host, err := os.Hostname()
	who, whoErr := user.Current()
	if err != nil || whoErr != nil {
		t.Fatal(err, whoErr)
	}
	host, _, _ = strings.Cut(host, ".")
	socket, ports := s.path("munge.socket"), freePorts(t, 4+nodes+setup.Cloud)
	more := ""
	if setup.Plugin != "" {
		s.write(t, "job_submit.lua", setup.Plugin, 0o644)
		more = "JobSubmitPlugins=lua\n"
	}
	if setup.Accounting {
		more += fmt.Sprintf("AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=127.0.0.1\nAccountingStoragePort=%d\n"+
			"AccountingStoragePass=%s\nAccountingStorageTRES=%s\n", ports+2, socket, trackedLicences(setup.Licences))
	} else {
		more += "JobCompType=jobcomp/filetxt\nJobCompLoc=" + s.path("ended") + "\n"
	}
	if n := setup.Cloud; n > 0 {
		first := ports + 4 + nodes
		for word, patience := range map[string]int{"Suspend": 3, "Resume": 60} {
			s.write(t, word, "#!/bin/sh\necho "+word+" \"$1\" >> "+s.path("power")+"\n", 0o755)
			more += fmt.Sprintf("%sProgram=%s\n%sTimeout=%d\n", word, s.path(word), word, patience)
		}
		more += fmt.Sprintf("SuspendTime=86400\nNodeName=c[1-%d] NodeHostname=%s NodeAddr=127.0.0.1 Port=[%d-%d] CPUs=2 RealMemory=1000 State=CLOUD\n"+
			"PartitionName=cloud Nodes=c[1-%d] MaxTime=INFINITE State=UP\n", n, host, first, first+n-1, n)
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
%s`, host, ports, ports+1, who.Username, who.Username, socket, s.path("state"), s.dir, s.dir, s.dir, setup.Licences, nodes, host, ports+4, ports+3+nodes, nodes, nodes, more), 0o644)
	t.Setenv("SLURM_CONF", s.path("slurm.conf"))
	t.Cleanup(func() { s.end(t, who.Username) })
	s.daemon(t, "munged", "--foreground", "--force", "--key-file="+s.path("munge.key"), "--socket="+socket, "--pid-file="+s.path("munge.pid"),
		"--log-file="+s.path("munge.log"), "--seed-file="+s.path("munge.seed"))
	until(t, "munged answers", func() bool { _, err := os.Stat(socket); return err == nil })
	if setup.Accounting {
		s.account(t, host, who.Username, socket, ports+2)
	}
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

// trackedLicences names the licences as resources whose use is written down.
func trackedLicences(licences string) string {
	var names []string
	for each := range strings.SplitSeq(licences, ",") {
		name, _, _ := strings.Cut(each, ":")
		names = append(names, "license/"+name)
	}
	return strings.Join(names, ",")
}

// account starts a MariaDB and slurmdbd.
func (s *Slurm) account(t *testing.T, host, user, socket string, port int) {
	t.Helper()
	s.write(t, "init.sql", "CREATE USER IF NOT EXISTS slurm@'127.0.0.1' IDENTIFIED BY 'test';\nGRANT ALL ON slurm.* TO slurm@'127.0.0.1';\n", 0o600)
	s.Run(t, "mariadb-install-db", "--no-defaults", "--datadir="+s.path("db"), "--user="+user, "--skip-test-db")
	s.daemon(t, "mariadbd", "--no-defaults", "--user="+user, "--datadir="+s.path("db"), "--socket="+s.path("db.socket"), fmt.Sprint("--port=", port+1),
		"--bind-address=127.0.0.1", "--pid-file="+s.path("db.pid"), "--init-file="+s.path("init.sql"), "--skip-log-bin", "--innodb-flush-log-at-trx-commit=0")
	until(t, "MariaDB answers", func() bool {
		c, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", port+1))
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	s.write(t, "slurmdbd.conf", fmt.Sprintf("AuthType=auth/munge\nAuthInfo=socket=%s\nDbdHost=%s\nDbdAddr=127.0.0.1\nDbdPort=%d\nSlurmUser=%s\nPidFile=%s\n"+
		"StorageType=accounting_storage/mysql\nStorageHost=127.0.0.1\nStoragePort=%d\nStorageUser=slurm\nStoragePass=test\nStorageLoc=slurm\n",
		socket, host, port, user, s.path("slurmdbd.pid"), port+1), 0o600)
	s.daemon(t, "slurmdbd", "-D")
	until(t, "slurmdbd answers", func() bool { return exec.Command("sacctmgr", "-i", "show", "cluster").Run() == nil })
}

// Powered returns what was asked of the cloud's nodes, such as "Resume c[1-2]", in order.
func (s *Slurm) Powered(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(s.path("power"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}

// Boot starts the daemon of a node of the cloud, as if the node had been switched on.
func (s *Slurm) Boot(t *testing.T, node string) {
	t.Helper()
	time.Sleep(1500 * time.Millisecond) // slurmctld passes over a node that began in the second in which it was asked for
	s.daemon(t, "slurmd", "-b", "-D", "-N", node)
}

// end ends the jobs, whose steps outlive the daemons, and then these. Of a test that failed it shows the logs.
func (s *Slurm) end(t *testing.T, user string) {
	_ = exec.Command("scancel", "--user="+user).Run()
	until(t, "all jobs have ended", func() bool {
		out, err := exec.Command("squeue", "-h").Output()
		return err == nil && len(out) == 0 || s.controller == nil
	})
	for _, d := range slices.Backward(s.daemons) { // the database last
		_ = d.Process.Signal(syscall.SIGTERM)
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

// Use lets Run and the commands that the test starts speak to this Slurm, where the test has several.
func (s *Slurm) Use(t *testing.T) {
	t.Helper()
	t.Setenv("SLURM_CONF", s.path("slurm.conf"))
}

//go:embed testdata/submit.pl
var submit string

// Load submits jobs at even distances from one process, to the partition etl. It returns in milliseconds, sorted, how long
// each took, and how long slurmctld says that it took for one in the mean.
func (s *Slurm) Load(t *testing.T, jobs, perSecond int) (took []float64, own float64) {
	t.Helper()
	s.Run(t, "sdiag", "-r")
	c := exec.Command("perl", "-", fmt.Sprint(jobs), fmt.Sprint(perSecond))
	c.Stdin = strings.NewReader(submit)
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &said)
	}
	for line := range strings.FieldsSeq(out.String()) {
		ms, err := strconv.ParseFloat(line, 64)
		if err != nil {
			t.Fatal(err)
		}
		took = append(took, ms)
	}
	slices.Sort(took)
	var rate, micros float64
	if _, err := fmt.Sscan(said.String(), &rate); err != nil || len(took) != jobs {
		t.Fatalf("%d jobs were submitted: %s", len(took), &said)
	}
	if rate < 0.95*float64(perSecond) {
		t.Logf("only %g jobs a second were submitted", rate)
	}
	_, text, _ := strings.Cut(s.Run(t, "sdiag"), "REQUEST_SUBMIT_BATCH_JOB")
	if _, text, _ = strings.Cut(text, "ave_time:"); text != "" {
		_, _ = fmt.Sscan(text, &micros) // 0 is seen below
	}
	if micros <= 0 {
		t.Fatalf("sdiag says %q", text)
	}
	return took, micros / 1000
}

// Ended is a job that has ended, in seconds of the clock.
type Ended struct {
	ID, Name, State string
	Start, End      time.Time
}

// Ended returns the jobs that have ended: what sacct tells, or without accounting what slurmctld wrote down.
func (s *Slurm) Ended(t *testing.T) (all []Ended) {
	t.Helper()
	if s.accounting {
		return s.accounted(t)
	}
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

func (s *Slurm) accounted(t *testing.T) (all []Ended) {
	t.Helper()
	text := s.Run(t, "env", "SLURM_TIME_FORMAT=%s", "sacct", "-aXPn", "-S", "now-1days", "--format=JobIDRaw,State,Start,End,JobName")
	for line := range strings.Lines(text) {
		f := strings.SplitN(strings.TrimSpace(line), "|", 5)
		if len(f) != 5 {
			t.Fatalf("sacct says %q", line)
		}
		state, _, _ := strings.Cut(f[1], " ") // as in "CANCELLED by 0"
		if state == "PENDING" || state == "RUNNING" || state == "REQUEUED" || state == "SUSPENDED" {
			continue
		}
		start, startErr := strconv.ParseInt(f[2], 10, 64) // Unknown of one that never ran
		end, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil {
			t.Fatalf("sacct says %q", line)
		}
		j := Ended{ID: f[0], Name: f[4], State: state, End: time.Unix(end, 0)}
		if startErr == nil {
			j.Start = time.Unix(start, 0)
		}
		all = append(all, j)
	}
	return all
}

// Places returns, by class, the licences in use, and the jobs that have one and run or just end.
func (s *Slurm) Places(t *testing.T) (used, taken map[string]int64) {
	t.Helper()
	used, taken = map[string]int64{}, map[string]int64{}
	text := s.Run(t, "squeue", "-h", "-t", "running,completing,suspended", "-o", "%W") // first: what ends between is free then
	for line := range strings.Lines(s.Run(t, "scontrol", "-o", "show", "licenses")) {
		var name string
		for _, word := range strings.Fields(line) {
			switch key, value, _ := strings.Cut(word, "="); key {
			case "LicenseName":
				name = value
			case "Used":
				used[name], _ = strconv.ParseInt(value, 10, 64) // it is a number
			}
		}
	}
	for licence := range strings.FieldsSeq(text) {
		name, _, _ := strings.Cut(licence, ":")
		taken[name]++
	}
	return used, taken
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
