package agent

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// For any content of /proc, figures are within their bounds or unknown.
func FuzzMachines(f *testing.F) {
	f.Add(machine["proc/stat"], machine["proc/diskstats"], machine["proc/net/dev"], machine["proc/meminfo"])
	f.Add("cpu  9 9 9 9\ncpu0 1\n", "8 0 sda", "eth0:", "MemTotal: 1 kB\nMemAvailable: 2 kB")
	f.Fuzz(func(t *testing.T, stat, disks, net, memory string) {
		root := made(t, machine)
		h := NewHost(root)
		if _, err := h.Read(time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"stat": stat, "diskstats": disks, "net/dev": net, "meminfo": memory} {
			if err := os.WriteFile(filepath.Join(root, "proc", name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		l, _ := h.Read(time.Unix(2, 0))
		for what, figure := range map[string]struct {
			x    *float64
			most float64
		}{"cpu": {l.CPUPercent, 100}, "memory": {l.MemoryPercent, 100}, "disk": {l.DiskMBPerS, 1e300}, "net": {l.NetMBPerS, 1e300}} {
			if figure.x != nil && !(*figure.x >= 0 && *figure.x <= figure.most) {
				t.Errorf("%s is %v", what, *figure.x)
			}
		}
	})
}

// Every answer of a server is either valid for this heartbeat, with distinct tasks, or an error.
func FuzzAnswers(f *testing.F) {
	f.Add(200, `{"seq":3,"assignments":[{"assignment":1,"job":1,"job_name":"a","kind":"map","task":0,"attempt":1}],"stop":[{"assignment":2}],"notes":[],"heartbeat_s":5}`)
	f.Add(409, `{"title":"Conflict","detail":"No.","code":"x"}`)
	f.Fuzz(func(t *testing.T, status int, text string) {
		a, err := readAnswer(says(status, text), 3)
		if err == nil && (status != http.StatusOK || a.Seq != 3) {
			t.Errorf("%d %q is an answer", status, text)
		}
		if err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Errorf("%d %q is no answer, and nothing says why", status, text)
		}
	})
}

// An accepted file of commands has programs that can be run.
func FuzzCommands(f *testing.F) {
	f.Add(`{"jobs":{"a*":{"command":["/bin/true"],"limit_s":1}}}`)
	f.Add(`{"jobs":{"a":{"command":["/"],"environment":{"A":"b"}}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := readCommands([]byte(text))
		if err != nil {
			return
		}
		for name, command := range c.Jobs {
			if err := runnable(command.Command[0]); err != nil || command.limit() < 0 || command.grace() < 0 {
				t.Errorf("%q: %v", name, err)
			}
		}
	})
}
