package begin

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/words"
	past "example.org/headroom/internal/data/history"
	"example.org/headroom/internal/edge/cli/history"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/openapi"
)

// fromHistory has the server make a class of each job that has runs to plan by.
func (b *beginning) fromHistory(c *cobra.Command) error {
	imported, err := history.Import(c, b.s, b.cluster, b.history, b.zoned)
	if err != nil {
		return err
	}
	of, err := b.makeClasses(c.Context())
	if err != nil {
		return err
	}
	if len(of.Classes) == 0 {
		return b.nothingMade(imported.Executions > 0, append(imported.Refused.First, of.LeftOut.First...))
	}
	b.leaveOut(imported.Refused, of.LeftOut)
	for _, class := range of.Classes {
		b.classes = append(b.classes, made{class.Class.Name, aboutRuns(class)})
		for _, said := range class.Assumed {
			b.assume(b.changes(said.About, class.Class.Name), "%s", said.Detail)
		}
	}
	for _, said := range of.Assumed {
		b.assume(b.changes(said.About, ""), "%s", said.Detail)
	}
	return nil
}

// makeClasses has the server make classes until no job waits for one.
func (b *beginning) makeClasses(ctx context.Context) (all clusters.ClassesMade, err error) {
	q := clusters.ClassesFromHistory{Slots: b.slots}
	if !b.end.IsZero() {
		q.Until = &b.end
	}
	for {
		a, err := b.send(ctx, openapi.ClassesFromHistory(b.cluster), q)
		if err != nil {
			return all, origins.Say(err)
		}
		var made clusters.ClassesMade
		if err := a.Into(&made); err != nil {
			return all, err
		}
		if len(made.Classes) > 0 {
			all.Assumed = made.Assumed
		}
		all.Classes = append(all.Classes, made.Classes...)
		all.LeftOut.Count, all.LeftOut.First = all.LeftOut.Count+made.LeftOut.Count, append(all.LeftOut.First, made.LeftOut.First...)
		if q.After = made.Next; q.After == "" {
			return all, nil
		}
	}
}

// So many lines tell what was left out.
const mostLeft = 5

// leaveOut notes what was left out: files that are no histories in one line, and of runs that were left out for the same
// reason the first.
func (b *beginning) leaveOut(all ...clusters.Refusals) {
	var foreign, reasons []string
	first, alike := map[string]string{}, map[string]int{}
	told, count := 0, int64(0)
	for _, some := range all {
		count += some.Count
		for _, r := range some.First {
			for _, dir := range b.history {
				r.Where = strings.TrimPrefix(r.Where, strings.TrimSuffix(dir, "/")+"/")
			}
			if r.Foreign {
				foreign = append(foreign, strings.TrimSuffix(r.Where, ", the file"))
				count--
				continue
			}
			reason := past.Brief(r.Detail)
			if reason == past.Nameless {
				reason += " \"headroom history import\" takes it with --job NAME."
			}
			if alike[reason]++; alike[reason] == 1 {
				reasons, first[reason] = append(reasons, reason), r.Where
			}
		}
	}
	if n := int64(len(foreign)); n > 0 {
		are := "is no log of past runs"
		if n > 1 {
			are = "are no logs of past runs"
		}
		b.left = append(b.left, fmt.Sprintf("%s %s: %s", shell.Counted(n, "file"), are, firstOf(foreign)))
	}
	for _, reason := range reasons[:min(len(reasons), mostLeft)] {
		told += alike[reason]
		if alike[reason] == 1 {
			b.left = append(b.left, fmt.Sprintf("left out: %s: %s", first[reason], reason))
		} else {
			b.left = append(b.left, fmt.Sprintf("left out %d, such as %s: %s", alike[reason], first[reason], reason))
		}
	}
	if more := count - int64(told); more > 0 {
		b.left = append(b.left, fmt.Sprintf("left out %d more; headroom history list %s tells them", more, b.cluster))
	}
}

// firstOf lists the first of some names.
func firstOf(names []string) string {
	const few = 5
	if more := len(names) - few; more > 0 {
		names = append(slices.Clone(names[:few]), fmt.Sprintf("%d more", more))
	}
	return words.List(names)
}

// nothingMade says why there is no class, and what to do.
func (b *beginning) nothingMade(ran bool, left []past.Refusal) error {
	why := "there is no past run in " + shell.Listed(b.history) + "."
	if ran {
		why = "no past run there tells how long its tasks take."
	}
	for _, r := range left[:min(len(left), 3)] {
		why += "\n  " + r.Where + ": " + past.Brief(r.Detail)
	}
	if more := len(left) - 3; more > 0 {
		why += fmt.Sprintf("\n  and %d more", more)
	}
	price := "--price " + b.price
	if b.sheet != "" {
		price = "--prices " + shell.QuotedText(b.sheet)
	}
	return fmt.Errorf("%s\nName files or directories with runs that succeeded, or guess:\n"+
		"  headroom init %s --takes 45m --on 10 --a-day 20 --instance %s %s", why, b.cluster, b.instance, price)
}

// changes names the flag or the command that changes what was assumed, of a class or of all.
func (b *beginning) changes(about, class string) string {
	switch about {
	case clusters.AboutDeadline:
		return fmt.Sprintf("headroom class edit %s %s --deadline-s", b.cluster, shell.QuotedText(class))
	case clusters.AboutCalibration:
		return fmt.Sprintf("headroom history calibration get %s %s", b.cluster, shell.QuotedText(class))
	case clusters.AboutSlots:
		return "--slots"
	case clusters.AboutRuns:
		return "--from-history"
	case clusters.AboutMachines:
		return "--instance"
	case clusters.AboutJobs:
		return "headroom class edit --jobs-all"
	}
	return "--until, or headroom class forecast"
}

// aboutRuns tells how many runs a class was made of, how long they took, and how they came.
func aboutRuns(c clusters.ClassMade) string {
	switch {
	case c.MedianSeconds == nil:
		return fmt.Sprintf("%s; %s", shell.Counted(c.Runs, "run"), c.Arrivals)
	case c.Runs == 1:
		return fmt.Sprintf("1 run of %s; %s", words.Seconds(math.Round(*c.MedianSeconds)), c.Arrivals)
	}
	return fmt.Sprintf("%s, %s in the median; %s", shell.Counted(c.Runs, "run"), words.Seconds(math.Round(*c.MedianSeconds)), c.Arrivals)
}
