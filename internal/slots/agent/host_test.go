package agent

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// made returns a root directory with these files.
func made(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		at := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

var machine = map[string]string{
	"proc/loadavg": "1.25 2.00 3.00 2/345 6789\n",
	"proc/meminfo": "MemTotal:       16000000 kB\nMemFree:         1000000 kB\nMemAvailable:   12000000 kB\n",
	"proc/stat":    "cpu  1000 100 400 8000 300 0 100 100 50 0\ncpu0 500 50 200 4000 150 0 50 50 25 0\ncpu1 500 50 200 4000 150 0 50 50 25 0\nintr 5\nctxt 7\n",
	"proc/diskstats": "   7       0 loop0 5 0 999 0 5 0 999 0 0 0 0\n   8       0 sda 10 0 2000 5 10 0 4000 5 0 5 10\n   8       1 sda1 10 0 2000 5 10 0 4000 5 0 5 10\n" +
		" 259       0 nvme0n1 1 0 1000 0 1 0 1000 0 0 0 0\n 259       1 nvme0n1p1 1 0 1000 0 1 0 1000 0 0 0 0\n 253       0 dm-0 1 0 9999 0 1 0 9999 0 0 0 0\n",
	"proc/net/dev": "Inter-|   Receive      |  Transmit\n face |bytes packets errs drop fifo frame compressed multicast|bytes packets\n    lo: 9000000 1 0 0 0 0 0 0 9000000 1 0 0 0 0 0 0\n  eth0:1000000 1 0 0 0 0 0 0 2000000 1 0 0 0 0 0 0\nveth12: 500 1 0 0 0 0 0 0 500 1 0 0 0 0 0 0\n",
}

func TestLoadOfAMachine(t *testing.T) {
	root := made(t, machine)
	h := NewHost(root)
	now := time.Unix(1000, 0)
	first, err := h.Read(now)
	if err != nil || *first.Load1 != 1.25 || *first.MemoryPercent != 25 || first.CPUPercent != nil || first.DiskMBPerS != nil || first.NetMBPerS != nil {
		t.Fatalf("the first reading is %+v, %v", first, err)
	}
	if cores, err := h.Cores(); err != nil || cores != 2 {
		t.Errorf("%d cores, %v", cores, err)
	}
	// In 10 s: 2000 ticks, 500 of them busy; 4 MB on disks; 30 MB over the network.
	later := map[string]string{
		"stat":      "cpu  1200 100 600 9400 400 0 150 150 60 0\ncpu0 1 0 0 0\ncpu1 1 0 0 0\n",
		"diskstats": strings.NewReplacer("2000 5 10 0 4000", "4000 5 10 0 6000", "1000 0 1 0 1000", "3000 0 1 0 2812").Replace(machine["proc/diskstats"]),
		"net/dev":   strings.NewReplacer("eth0:1000000", "eth0: 21000000", " 2000000 1", " 12000000 1").Replace(machine["proc/net/dev"]),
	}
	for name, text := range later {
		if err := os.WriteFile(filepath.Join(root, "proc", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l, err := h.Read(now.Add(10 * time.Second))
	if err != nil {
		t.Fatal(err)
	}
	for what, figures := range map[string][2]float64{"busy": {*l.CPUPercent, 25}, "cores": {l.BusyCores, 0.5}, "disk": {*l.DiskMBPerS, (2000 + 2000 + 2000 + 1812) * 512 / 1e6 / 10}, "net": {*l.NetMBPerS, 3}} {
		if math.Abs(figures[0]-figures[1]) > 1e-9 {
			t.Errorf("%s: got %g, want %g", what, figures[0], figures[1])
		}
	}
	// A device that has gone takes its bytes along: the rate is unknown until the next reading.
	if err := os.WriteFile(filepath.Join(root, "proc/net/dev"), []byte(machine["proc/net/dev"]), 0o644); err != nil {
		t.Fatal(err)
	}
	if l, err = h.Read(now.Add(20 * time.Second)); err != nil || l.NetMBPerS != nil {
		t.Errorf("counters went back, and the network moves %v MB/s, %v", l.NetMBPerS, err)
	}
}

func TestOddMachinesAreNotBelieved(t *testing.T) {
	for name, text := range map[string]string{"proc/loadavg": "much\n", "proc/meminfo": "MemTotal: 0 kB\n", "proc/stat": "cpu  a b c d\ncpu0 1 1 1 1\n",
		"proc/diskstats": "8 0 sda 1 1 x 1 1 1 y 1\n", "proc/net/dev": "eth0: x 1 0 0 0 0 0 0 y 1 0 0 0 0 0 0\n"} {
		files := map[string]string{}
		for n, text := range machine {
			files[n] = text
		}
		files[name] = text
		if l, err := NewHost(made(t, files)).Read(time.Unix(1, 0)); err == nil || !strings.Contains(err.Error(), filepath.Base(name)) {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
		delete(files, name)
		if _, err := NewHost(made(t, files)).Read(time.Unix(1, 0)); err == nil || !strings.Contains(err.Error(), "is not there") {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

// This machine itself, under the user of the tests.
func TestLoadOfThisMachine(t *testing.T) {
	h := NewHost("/")
	if _, err := h.Read(time.Now()); err != nil {
		t.Fatal(err)
	}
	cores, err := h.Cores()
	if err != nil || cores < 1 || cores < runtime.NumCPU() { // the runtime may be held to fewer
		t.Fatalf("%d cores, %v; the runtime knows %d", cores, err, runtime.NumCPU())
	}
	// A process of its own group keeps a core busy for a while, which both readings show.
	command := exec.Command("/bin/sh", "-c", "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done")
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	groups := map[int]bool{command.Process.Pid: true}
	seen := 0.0
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	for running := true; running; {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			running = false
		case <-time.After(5 * time.Millisecond):
			seen = max(seen, h.busySeconds(groups))
		}
	}
	used := (command.ProcessState.UserTime() + command.ProcessState.SystemTime()).Seconds()
	if seen > used+0.05 || seen < used/3 {
		t.Errorf("its group was seen to use %.2f s, and it used %.2f", seen, used)
	}
	l, err := h.Read(time.Now())
	if err != nil || l.CPUPercent == nil || *l.CPUPercent <= 0 || l.BusyCores*l.Seconds < used/2 {
		t.Errorf("%+v, %v; a process used %.2f s", l, err, used)
	}
}
