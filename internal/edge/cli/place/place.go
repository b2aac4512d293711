// Package place asks for places of jobs and runs commands in them, for every command that does so.
package place

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/slots/live"
	"example.org/headroom/openapi"
)

// exitRefused is the exit code where a job may not start now; like no plan, it is an answer.
const exitRefused = shell.ExitInfeasible

// Lease holds the flags of a request for a lease.
type Lease struct {
	TTL           time.Duration
	holder        string
	deadline      time.Duration
	maps, reduces int64
}

// AddFlags adds the flags; holder says whose name stands in the lease where none is given.
func (f *Lease) AddFlags(c *cobra.Command, holder string) {
	f.AddTTL(c, live.DefaultLeaseSeconds*time.Second)
	c.Flags().StringVar(&f.holder, "holder", "", "the job's own `id`, for people who look at the list (default "+holder+")")
	c.Flags().DurationVar(&f.deadline, "deadline", 0, "admit it only if it can be done so long from now, and every other promised job in time")
	c.Flags().Int64Var(&f.maps, "maps", 0, "how many maps it has, with --deadline (default those of the class's profile)")
	c.Flags().Int64Var(&f.reduces, "reduces", 0, "how many reduces, with --maps")
}

// AddTTL adds the flag --ttl alone; 0 as the usual one leaves it to the server.
func (f *Lease) AddTTL(c *cobra.Command, usual time.Duration) {
	word := "as long as it was asked for last"
	if usual > 0 {
		word = usual.String()
	}
	c.Flags().DurationVar(&f.TTL, "ttl", 0, "how long the lease lives without a heartbeat, from 10s to 1h (default "+word+")")
	c.PreRunE = func(*cobra.Command, []string) error {
		if c.Flags().Changed("ttl") && (f.TTL < live.ShortestLease*time.Second || f.TTL > live.LongestLease*time.Second) {
			return fmt.Errorf("--ttl is %s; a lease lives from %ds to %s", f.TTL, live.ShortestLease, live.LongestLease*time.Second)
		}
		if c.Flags().Changed("deadline") && f.deadline <= 0 {
			return fmt.Errorf("--deadline is %s; it is how long from now the job must be done, as 30m", f.deadline)
		}
		if f.TTL == 0 {
			f.TTL = usual
		}
		return nil
	}
}

// Ask asks for a place once.
func (f *Lease) Ask(s *remote.Service, c *cobra.Command, cluster, class string) (a live.Admission, text []byte, err error) {
	request := map[string]any{"class": class, "holder": f.holder, "ttl_s": f.TTL.Seconds()}
	if f.deadline > 0 {
		request["deadline_s"] = f.deadline.Seconds()
	}
	if c.Flags().Changed("maps") {
		request["maps"] = f.maps
	}
	if c.Flags().Changed("reduces") {
		request["reduces"] = f.reduces
	}
	said, err := s.Call(c.Context(), openapi.CreateAdmission(cluster), remote.JSONOf(request))
	if err == nil {
		err = said.Into(&a)
	}
	return a, said.Body, err
}

// Refusal is a refused job as an error with its exit code.
func Refusal(a live.Admission) error {
	return shell.Fail(exitRefused, fmt.Errorf("not admitted: %s Ask again in %d s", shell.Shown(a.Reason), a.RetryAfterSeconds))
}

// leaseOver says whether the server answered that a lease has ended or expired.
func leaseOver(err error) bool {
	var p *remote.Problem
	return errors.As(err, &p) && p.Status == http.StatusGone
}

// ourselves is a holder's name for people: this machine and process, and what it runs.
func ourselves(program string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	name := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, fmt.Sprintf("%s %d %s", host, os.Getpid(), program))
	if letters := []rune(name); len(letters) > 200 {
		name = string(letters[:200])
	}
	return name
}
