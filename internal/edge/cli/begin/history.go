package begin

import (
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/words"
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
	a, err := b.send(c.Context(), openapi.ClassesFromHistory(b.cluster), clusters.ClassesFromHistory{Slots: b.slots})
	if err != nil {
		return err
	}
	var of clusters.ClassesMade
	if err := a.Into(&of); err != nil {
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
		return "headroom class edit --jobs-min"
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
