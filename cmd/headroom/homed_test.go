package main

import (
	"bytes"
	"strings"
	"testing"

	"example.org/headroom/internal/edge/cli/shell"
)

// homed is a server that keeps its data and its address, however often it is started.
type homed struct {
	server  *served
	dir     string // of its data
	address string
}

func startHomed(t *testing.T) homed {
	t.Helper()
	h := homed{dir: madeDirectory(t), address: testPort(t)}
	h.serve(t)
	return h
}

// serve starts the server.
func (h *homed) serve(t *testing.T) {
	t.Helper()
	h.server = launch(t, h.dir, nil, "--listen", h.address)
	h.server.address = h.address
	h.server.await(t)
}

// agentKey makes a key of the role agent, as programs beside the jobs have.
func (h *homed) agentKey(t *testing.T, flags ...string) string {
	t.Helper()
	return strings.TrimSpace(h.verb(t, append([]string{"server", "key", "create", t.Name(), "--role", "agent", "-q"}, flags...)...))
}

// verb asks the server by a command of this program.
func (h *homed) verb(t *testing.T, args ...string) string {
	t.Helper()
	var out, trouble bytes.Buffer
	if code := run(t.Context(), append(args, "--data-dir", h.dir), strings.NewReader(""), &out, &trouble); code != shell.ExitOK {
		t.Fatalf("%v: exit code %d: %s", args, code, &trouble)
	}
	return out.String()
}
