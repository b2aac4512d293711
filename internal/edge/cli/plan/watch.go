package plan

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/openapi"
)

func planWatchCommand(to *remote.Connection) *cobra.Command {
	var format string
	var once bool
	var until int64
	c := &cobra.Command{
		Use: "watch [CLUSTER]", Short: "Print every plan that becomes current, a line each",
		Long: `Prints the current plan, and every other one when it becomes current, until it is interrupted. Changes are
against the plan printed before. A connection that is lost is made again, and plans that came meanwhile are
printed then. CLUSTER can be left out where there is only one.`,
		Example: "  headroom plan watch shop\n  headroom plan watch shop -o json | jq .vms\n  headroom plan watch shop --until-number 7",
		Args:    cobra.MaximumNArgs(1),
		ValidArgsFunction: func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return remote.ClusterNames(c, begun), cobra.ShellCompDirectiveNoFileComp
		},
	}
	format = "table"
	shell.AddChoice(c, &format, "output", "o", "format", "table", "json")
	c.Flags().BoolVar(&once, "once", false, "end after the first plan")
	c.Flags().Int64Var(&until, "until-number", 0, "end after a plan with this `number` or a higher one")
	c.PreRunE = func(*cobra.Command, []string) error {
		if until < 0 || c.Flags().Changed("until-number") && until == 0 {
			return fmt.Errorf("--until-number is %d; plans are numbered from 1", until)
		}
		return nil
	}
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		asking, err := to.Open()
		if err != nil {
			return err
		}
		endless := *to
		endless.Timeout = 0 // of a stream; silence is noticed in another way
		following, err := endless.Open()
		if err != nil {
			return err
		}
		following.Timeout = longestSilence // as errors say it
		cluster := ""
		if len(args) > 0 {
			cluster = args[0]
		} else if cluster, err = onlyCluster(asking, c.Context()); err != nil {
			return err
		}
		shell.OutliveReaders() // who have seen enough
		w := planWatch{asking: asking, following: following, cluster: cluster, format: format, once: once, until: until, out: c.OutOrStdout(),
			notes: c.ErrOrStderr()}
		return w.follow(c.Context())
	})
}

// onlyCluster is the cluster's name where there is one alone.
func onlyCluster(s *remote.Service, ctx context.Context) (string, error) {
	a, err := s.Call(ctx, openapi.ListClusters().Request)
	if err != nil {
		return "", err
	}
	var list struct{ Items []inputs.Cluster }
	if err := a.Into(&list); err != nil {
		return "", err
	}
	switch len(list.Items) {
	case 0:
		return "", errors.New("there is no cluster to watch yet")
	case 1:
		return list.Items[0].Name, nil
	}
	return "", shell.Fail(shell.ExitUsage, fmt.Errorf("there are several clusters; say which one, such as \"headroom plan watch %s\"",
		shell.Shown(list.Items[0].Name)))
}

// planWatch follows a cluster's plans.
type planWatch struct {
	asking    *remote.Service
	following *remote.Service
	cluster   string
	format    string
	once      bool
	until     int64
	out       io.Writer
	notes     io.Writer

	begun  bool              // a stream was had,
	had    bool              // also the last time
	last   int64             // the number of the last plan, as the server is told
	before plans.PlanSummary // what was printed last; without an id nothing was
	retry  time.Duration     // what the server said last of when to come back
}

const (
	longestSilence = 45 * time.Second // the server speaks every 15 s
	firstRetry     = 500 * time.Millisecond
	longestRetry   = 10 * time.Second
	longestEvent   = 1 << 20 // of a stream
)

// errEnough is that everything that was asked for has been printed, or nobody reads on.
var (
	errEnough = errors.New("that is all")
	errSilent = fmt.Errorf("the server said nothing for %s", longestSilence)
)

// follow prints plans until it is interrupted or has enough.
func (w *planWatch) follow(ctx context.Context) error {
	tries, lost := 0, false
	for {
		w.had = false
		err := w.stream(ctx)
		var p *remote.Problem
		switch {
		case ctx.Err() != nil, errors.Is(err, errEnough): // an interrupt ends it
			return nil
		case errors.As(err, &p) && p.Status < 500 && p.Status != http.StatusTooManyRequests, !w.begun:
			return err
		}
		if w.had {
			tries, lost = 0, false
		}
		if err != nil && !lost {
			lost = true
			fmt.Fprintf(w.notes, "headroom: %s; trying again.\n", strings.TrimSuffix(shell.Shown(strings.ReplaceAll(err.Error(), "\n", " ")), "."))
		}
		pause := min(firstRetry<<min(tries, 10), longestRetry)
		if w.retry > 0 && tries == 0 {
			pause, w.retry = w.retry, 0
		}
		tries++
		select {
		case <-time.After(pause/2 + rand.N(pause)/2): // not all who lost the same server at once
		case <-ctx.Done():
			return nil
		}
	}
}

// stream prints what one connection brings. Its regular end is no error.
func (w *planWatch) stream(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(longestSilence, func() { cancel(errSilent) })
	defer silence.Stop()
	options := []remote.Option{remote.Header("Accept", "text/event-stream, application/problem+json")}
	if w.last > 0 {
		options = append(options, remote.Header("Last-Event-ID", strconv.FormatInt(w.last, 10)))
	}
	response, err := w.following.Send(ctx, openapi.WatchPlans(w.cluster, nil), options...)
	if err != nil || response.StatusCode != http.StatusOK {
		_, err = w.following.ReadReply(response, err)
		return silent(ctx, err)
	}
	defer response.Body.Close()
	if kind := response.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/event-stream") {
		return shell.Fail(remote.ExitConnection,
			fmt.Errorf("%s answers with %q, not with events as a Headroom server does", w.following.URL, shell.Clipped(kind)))
	}
	w.begun, w.had = true, true
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, longestEvent)
	var event, data string
	for lines.Scan() {
		silence.Reset(longestSilence)
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			event = value
		case "data":
			data += value
		case "retry":
			if n, err := strconv.ParseInt(value, 10, 32); err == nil && n > 0 {
				w.retry = min(time.Duration(n)*time.Millisecond, longestRetry)
			}
		case "":
			if lines.Text() != "" { // a comment
				continue
			}
			if err := w.take(ctx, event, data); err != nil {
				return err
			}
			event, data = "", ""
		}
	}
	return silent(ctx, lines.Err())
}

// silent is the error of a stream that was given up because nothing came.
func silent(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause == errSilent {
		return shell.Fail(remote.ExitConnection, cause)
	}
	return err
}

// take prints an event.
func (w *planWatch) take(ctx context.Context, event, data string) error {
	switch event {
	case "reset":
		if w.before.ID != "" {
			fmt.Fprintln(w.notes, "headroom: Plans may have come that are not printed here; the server does not know them any longer.")
		}
		return nil
	case "plan":
	default:
		return nil
	}
	var p plans.PlanSummary
	if err := json.Unmarshal([]byte(data), &p); err != nil || p.Number < 1 {
		return shell.Fail(remote.ExitConnection, fmt.Errorf("an event of %s cannot be read; is the server of another version?", w.following.URL))
	}
	w.last = p.Number
	if p.ID == w.before.ID {
		return nil
	}
	line := data
	if w.format == "table" {
		line = w.row(p, w.stale(ctx, p))
	}
	if _, err := fmt.Fprintln(w.out, line); errors.Is(err, syscall.EPIPE) {
		return errEnough
	} else if err != nil {
		return shell.Fail(shell.ExitError, fmt.Errorf("write the plan: %w", err))
	}
	w.before = p
	if w.once || w.until > 0 && p.Number >= w.until {
		return errEnough
	}
	return nil
}

// row is a plan as a line, under a heading the first time.
func (w *planWatch) row(p plans.PlanSummary, stale string) string {
	const form = "%-20s %6s %10s %9s %14s %13s  %s"
	vms, cost, heading := "", "", ""
	if b := w.before; b.ID != "" {
		vms, cost = more(number(p.VMs-b.VMs)), signed(billChange(b, p))
	} else {
		heading = fmt.Sprintf(form, "Made", "Plan", "VMs", "+/-", "VM bill", "+/-", "Status") + "\n"
	}
	return heading + fmt.Sprintf(form, p.CreatedAt.UTC().Format(time.RFC3339), strconv.FormatInt(p.Number, 10), number(p.VMs), vms,
		p.Bill.String()+" "+shell.Shown(p.Currency), cost, shell.Shown(string(p.Status))+stale)
}

// billChange returns by how much a plan's bill is more than an earlier one's for the same time; nil where currencies differ
// or a server tells no time.
func billChange(from, to plans.PlanSummary) *money.Amount {
	switch {
	case from.Currency != to.Currency:
		return nil
	case from.PeriodSeconds == to.PeriodSeconds:
		return &money.Amount{Decimal: to.Bill.Sub(from.Bill.Decimal)}
	case from.PeriodSeconds <= 0 || to.PeriodSeconds <= 0:
		return nil
	}
	return &money.Amount{Decimal: to.Bill.Sub(from.Bill.Over(to.PeriodSeconds, from.PeriodSeconds).Decimal)}
}

// number is a figure without what float64 adds to it.
func number(x float64) string {
	text := strconv.FormatFloat(x, 'f', 6, 64)
	text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	if text == "-0" {
		return "0"
	}
	return text
}

// more is a difference with its sign.
func more(difference string) string {
	if strings.HasPrefix(difference, "-") {
		return difference
	}
	return "+" + difference
}

// stale says whether a plan should be taken with care, where it is still the current one.
func (w *planWatch) stale(ctx context.Context, p plans.PlanSummary) string {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second) // a plan is worth printing without it
	defer cancel()
	a, err := w.asking.Call(ctx, openapi.GetCurrentPlan(w.cluster, nil))
	var current struct {
		ID        string
		Freshness plans.Freshness
	}
	if err == nil && a.Into(&current) == nil && current.ID == p.ID && current.Freshness.Stale {
		return ", stale"
	}
	return ""
}
