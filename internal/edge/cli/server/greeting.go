package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/plans"
)

// greeting holds the first words of a server, and a function that takes them back.
type greeting struct {
	text  string
	leave func()
}

// introduce says where the server is and how to get in. With a private database on this machine it
// gives browsers a link that works once, and the other verbs a key that lives as long as the server.
func introduce(ctx context.Context, a *app.App, settings config, beyond bool, address net.Addr, plan *plans.PlanRecord) (greeting, error) {
	g := greeting{leave: func() {}}
	base := "http://" + address.String()
	var text strings.Builder
	fmt.Fprintf(&text, "Headroom serves on %s\n", base)
	if settings.DatabaseURL == "" && !beyond {
		link, err := a.Auth.NewSignInLink(ctx)
		away := errors.Is(err, fault.Busy)
		if err != nil && !away {
			return g, err
		}
		token, hash := auth.NewToken(auth.KeyPrefix)
		a.Auth.Ring.AddLocal(auth.Key{ID: auth.LocalID, Name: "this machine", Role: auth.Admin, Hash: hash})
		file := filepath.Join(settings.DataDir, remote.ClientFile)
		if err := remote.WriteClientAccess(file, remote.ClientAccess{URL: base, Key: token}); err != nil {
			return g, err
		}
		g.leave = func() { _ = os.Remove(file) }
		if !away {
			fmt.Fprintf(&text, "\nSign in with a browser (once, within %d minutes):\n  %s/sign-in#%s\n", int(auth.LinkLife.Minutes()), base, link)
		}
	}
	if plan != nil {
		fmt.Fprintf(&text, "\nThe cluster %q has a plan: %s for %s %s an hour, and refused jobs valued at %s, %s.\n", plan.Cluster, shell.Counted(int64(plan.VMs), "VM"),
			plan.Bill, plan.Currency, plan.Penalties, provedWord(plan.Status))
		verbs, to, key := clientLine(settings, beyond, base)
		text.WriteString(key)
		for _, verb := range tour(shellWord(plan.Cluster)) {
			fmt.Fprintf(&text, "  %s %s%s\n", verbs, verb, to)
		}
		fmt.Fprintf(&text, "Nodes and jobs whose names begin with \"simulated\" are played by this server.\n")
	}
	fmt.Fprintf(&text, "\nDocumentation: %s/docs/about/readme\n", base)
	g.text = text.String()
	return g, nil
}

// tour returns commands that show what the demonstration has, one for each kind of question.
func tour(cluster string) []string {
	return []string{
		"plan get " + cluster,
		"plan explain " + cluster,
		"plan compare " + cluster,
		"whatif --cluster " + cluster + " --deadline nightly-etl=3600",
		"whatif months --cluster " + cluster,
		"whatif purchase --cluster " + cluster,
		"history calibration get " + cluster + " nightly-etl",
		"batch pack --cluster " + cluster + " --classes all --machines 6 --disks 2",
		"live node list " + cluster,
		"cluster list",
	}
}

// clientLine returns the parts of a command line that reaches this server from any directory: the program, the flags that
// name the server, and a line about the key.
func clientLine(settings config, beyond bool, base string) (program, to, key string) {
	program = shellWord(startedAs())
	if settings.DatabaseURL != "" || beyond {
		return program, " --server " + shellWord(base), "With a key in HEADROOM_API_KEY:\n"
	}
	dir := settings.DataDir
	if whole, err := filepath.Abs(dir); err == nil {
		dir = whole
	}
	return program, " --data-dir " + shellWord(dir), ""
}

// startedAs is the path of this program as it was started; links stay links.
func startedAs() string {
	if path, err := exec.LookPath(os.Args[0]); err == nil {
		if path, err = filepath.Abs(path); err == nil {
			return path
		}
	}
	if path, err := os.Executable(); err == nil {
		return path
	}
	return os.Args[0]
}

// shellWord is a text as one word of a shell.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+,:@%", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func provedWord(s capacity.Status) string {
	if s == capacity.Optimal {
		return "proved optimal"
	}
	return "with a proved gap"
}
