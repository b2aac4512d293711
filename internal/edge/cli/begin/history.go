package begin

import (
	"context"
	"fmt"
	"math"
	"slices"

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
	b.leaveOut(imported.Refused, of.LeftOut)
	if len(of.Classes) == 0 {
		return b.nothingMade(imported.Executions > 0)
	}
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
	known := map[string]bool{} // jobs and runs that were told of
	for {
		a, err := b.send(ctx, openapi.ClassesFromHistory(b.cluster), clusters.ClassesFromHistory{Slots: b.slots})
		if err != nil {
			return all, err
		}
		var made clusters.ClassesMade
		if err := a.Into(&made); err != nil {
			return all, err
		}
		if len(known) > 0 { // what was made before is left out now
			made.LeftOut.First = slices.DeleteFunc(made.LeftOut.First, func(r past.Refusal) bool { return known[r.Where] })
			made.LeftOut.Count = int64(len(made.LeftOut.First))
		}
		for _, class := range made.Classes {
			known[class.Job] = true
		}
		for _, r := range made.LeftOut.First {
			known[r.Where] = true
		}
		all.Classes, all.Assumed = append(all.Classes, made.Classes...), made.Assumed
		all.LeftOut.Count, all.LeftOut.First = all.LeftOut.Count+made.LeftOut.Count, append(all.LeftOut.First, made.LeftOut.First...)
		if made.MoreJobs == 0 || len(made.Classes) == 0 {
			return all, nil
		}
	}
}

// So many lines tell what was left out.
const mostLeft = 5

// leaveOut notes what was left out.
func (b *beginning) leaveOut(all ...clusters.Refusals) {
	count := int64(0)
	for _, some := range all {
		count += some.Count
		for _, r := range some.First {
			b.left = append(b.left, r.Where+": "+r.Detail)
		}
	}
	if count > mostLeft {
		b.left = append(b.left[:mostLeft-1], fmt.Sprintf("%d more; headroom history list %s tells them", count-mostLeft+1, b.cluster))
	}
}

// nothingMade says why there is no class, and what to do.
func (b *beginning) nothingMade(ran bool) error {
	why := "there is no past run in " + shell.Listed(b.history) + "."
	if ran {
		why = "no past run there tells how long its tasks take."
	}
	if len(b.left) > 0 {
		why += " " + b.left[0]
	}
	price := "--price " + b.price
	if b.sheet != "" {
		price = "--prices " + shell.QuotedText(b.sheet)
	}
	return fmt.Errorf("%s Name files or directories with runs that succeeded, or guess: "+
		"headroom init %s --takes 45m --on 10 --a-day 20 --instance %s %s", why, b.cluster, b.instance, price)
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
	return "headroom class forecast"
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
