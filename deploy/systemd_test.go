package deploy_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// readUnit returns "Section.Name" → values, in their order.
func readUnit(t *testing.T, file string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	unit, section := map[string][]string{}, ""
	lines := bufio.NewScanner(strings.NewReader(string(text)))
	for number := 1; lines.Scan(); number++ {
		line := lines.Text()
		switch name, value, isSetting := strings.Cut(line, "="); {
		case line == "", line[0] == '#':
		case line[0] == '[' && line[len(line)-1] == ']':
			section = line[1 : len(line)-1]
		case !isSetting, section == "", strings.TrimSpace(name) != name, strings.HasSuffix(line, "\\"), strings.Contains(value, " #"):
			t.Errorf("%s:%d: %q cannot be read as systemd reads it", file, number, line)
		default:
			unit[section+"."+name] = append(unit[section+"."+name], value)
		}
	}
	return unit
}

func TestSystemdUnit(t *testing.T) {
	t.Parallel()
	unit := readUnit(t, "systemd/headroom.service")
	for name, want := range map[string]string{
		"Service.Type": "notify", "Service.NotifyAccess": "main", "Service.ExecStart": "/usr/local/bin/headroom serve",
		"Service.KillMode":    "mixed", // otherwise SIGTERM also ends the private Postgres while requests are answered
		"Service.DynamicUser": "yes", "Service.StateDirectory": "headroom", "Service.StateDirectoryMode": "0700",
		"Service.ProtectSystem": "strict", "Service.ProtectHome": "yes", "Service.PrivateTmp": "yes", "Service.NoNewPrivileges": "yes", "Service.CapabilityBoundingSet": "",
		"Service.RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX", "Service.Restart": "on-failure", "Install.WantedBy": "multi-user.target",
	} {
		if got := unit[name]; len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	settings := settingsOfTheServer(t)
	data := ""
	for _, line := range unit["Service.Environment"] {
		for _, pair := range strings.Fields(line) {
			name, value, _ := strings.Cut(pair, "=")
			if known, ok := settings[name]; !ok || known.secret {
				t.Errorf("%s is a secret or no setting of the server", name)
			}
			if name == "HEADROOM_DATA_DIR" {
				data = value
			}
		}
	}
	// systemd makes the state directory below /var/lib, or links it from there.
	if want := "/var/lib/" + unit["Service.StateDirectory"][0]; data != want {
		t.Errorf("the data is in %q, where it may not write; want %q", data, want)
	}
	if socket := data + "/postgres/.s.PGSQL.5432"; len(socket) > 107 {
		t.Errorf("the socket %s is too long for the kernel", socket)
	}
	if stop, err := time.ParseDuration(unit["Service.TimeoutStopSec"][0]); err != nil || stop < 20*time.Second {
		t.Errorf("TimeoutStopSec: got %v, %v; the server takes up to 8 s and its Postgres 5 s", stop, err)
	}
}

func TestSystemdUnitOfTheAgent(t *testing.T) {
	t.Parallel()
	unit := readUnit(t, "systemd/headroom-agent.service")
	for name, want := range map[string]string{
		"Service.Type": "notify", "Service.NotifyAccess": "main", "Service.ExecStart": "/usr/local/bin/headroom live agent $AGENT_ARGUMENTS",
		"Service.KillMode":    "mixed", // otherwise SIGTERM also ends the tasks, which must be awaited
		"Service.DynamicUser": "yes", "Service.StateDirectory": "headroom-agent", "Service.StateDirectoryMode": "0700",
		"Service.ProtectSystem": "strict", "Service.ProtectHome": "yes", "Service.PrivateTmp": "yes", "Service.NoNewPrivileges": "yes", "Service.CapabilityBoundingSet": "",
		"Service.Restart": "on-failure", "Service.RestartPreventExitStatus": "2", "Install.WantedBy": "multi-user.target",
	} {
		if got := unit[name]; len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	// Tasks are awaited for 30 s, ended within 10 s as a rule, and reported within 10 s.
	if stop, err := time.ParseDuration(unit["Service.TimeoutStopSec"][0]); err != nil || stop < 50*time.Second {
		t.Errorf("TimeoutStopSec: got %v, %v", stop, err)
	}
	// The server's protections hold for the agent too, except for tasks that make code while they run.
	for name := range readUnit(t, "systemd/headroom.service") {
		protects := strings.HasPrefix(name, "Service.Protect") || strings.HasPrefix(name, "Service.Restrict") || strings.HasPrefix(name, "Service.Private") || strings.HasPrefix(name, "Service.SystemCall")
		if _, there := unit[name]; protects && !there {
			t.Errorf("the agent's unit has no %s", name)
		}
	}
}

// If systemd is installed, it reads the units itself and rates them.
func TestSystemdReadsTheUnit(t *testing.T) {
	t.Parallel()
	for unit, command := range map[string]string{"headroom": "/usr/local/bin/headroom serve", "headroom-agent": "/usr/local/bin/headroom live agent $AGENT_ARGUMENTS",
		"headroom-drive-slurm":   "/usr/local/bin/headroom drive slurm $DRIVE_ARGUMENTS",
		"headroom-drive-yarn":    "/usr/local/bin/headroom drive yarn $DRIVE_ARGUMENTS",
		"headroom-history-watch": "/usr/local/bin/headroom history watch $WATCH_ARGUMENTS"} {
		t.Run(unit, func(t *testing.T) {
			t.Parallel()
			readBySystemd(t, unit+".service", command)
		})
	}
}

func readBySystemd(t *testing.T, unit, command string) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Log("systemd-analyze is not installed: the unit is checked by our own reading alone")
		return
	}
	text, err := os.ReadFile("systemd/" + unit)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), unit)
	runnable := strings.Replace(string(text), command, "/bin/true", 1) // an existing program
	if err := os.WriteFile(file, []byte(runnable), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(analyze, "verify", "--man=no", file).CombinedOutput(); err != nil || strings.Contains(string(out), file) {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	if out, err := exec.Command(analyze, "security", "--offline=yes", "--threshold=20", "--no-pager", file).CombinedOutput(); err != nil {
		t.Errorf("systemd-analyze security: %v\n%s", err, out)
	}
}

func TestSysusers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("systemd/headroom.sysusers")
	if err != nil {
		t.Fatal(err)
	}
	user := readUnit(t, "systemd/headroom.service")["Service.User"]
	if len(user) != 1 || !strings.Contains(string(text), fmt.Sprintf("\nu %s - ", user[0])) {
		t.Errorf("the unit runs as %v, whom the file does not make:\n%s", user, text)
	}
}
