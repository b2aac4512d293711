package plan

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/service/report"
	"example.org/headroom/openapi"
)

// waitingShown bounds the classes of which a plan says when their jobs start.
const waitingShown = 5

// writeWaiting says of classes without jobs in a plan when jobs of theirs start that wait.
func writeWaiting(w io.Writer, s *remote.Service, ctx context.Context, r record) error {
	idle := map[string]bool{}
	for _, c := range r.Plan.Classes {
		if c.Admitted+c.Refused == 0 {
			idle[c.Name] = true
		}
	}
	if len(idle) == 0 {
		return nil
	}
	a, err := s.Call(ctx, openapi.GetFollowedSchedule(r.Cluster))
	var f plans.Following
	if err == nil {
		err = a.Into(&f)
	}
	if err != nil || f.Question == nil || !f.Question.Start().Equal(r.At.UTC().Truncate(time.Hour)) {
		return nil // the plan itself is whole, and of another hour nothing is known
	}
	followed, shown := timetable.Followed{Question: *f.Question, Answer: *f.Answer}, 0
	for _, c := range followed.Outlook() {
		if !idle[c.Name] || c.NextJobs == 0 || shown == waitingShown {
			continue
		}
		shown++
		start := "start"
		if c.NextJobs == 1 {
			start = "starts"
		}
		if _, err := fmt.Fprintln(w, shell.Shown(fmt.Sprintf("Jobs of %s may wait: %d %s at %s.", c.Name, c.NextJobs, start, c.NextStart.UTC().Format("2006-01-02 15:04 UTC")))); err != nil {
			return err
		}
	}
	return nil
}

func planScheduleCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{
		Use: "schedule CLUSTER", Short: "Show when jobs start that may wait",
		Long: `Shows the schedule that the plans of a cluster follow. Where classes have "due_s", their jobs may wait for a cheaper
hour. The schedule is made anew with every hour and every change, and the current plan is its first hour.`,
		Example: "  headroom plan schedule shop\n  headroom plan schedule shop -o csv",
		Args:    cobra.ExactArgs(1),
	}
	out.AddFlags(c, "table", "csv", "json")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		s, err := to.Open()
		if err != nil {
			return err
		}
		a, err := s.Call(c.Context(), openapi.GetFollowedSchedule(args[0]))
		if err != nil {
			return err
		}
		var f plans.Following
		if err := a.Into(&f); err != nil {
			return err
		}
		if f.Question == nil || f.Answer == nil {
			f.Answer, f.Question = &timetable.Answer{}, nil
		}
		return out.Write(c, map[string]shell.Form{
			"table": func(w io.Writer) error {
				if f.Question == nil {
					_, err := fmt.Fprintln(w, shell.Shown(fmt.Sprintf("The plans of %s follow no schedule: %s", args[0], f.Without)))
					return err
				}
				return report.FollowedText(w, timetable.Followed{Question: *f.Question, Answer: *f.Answer})
			},
			"csv":  func(w io.Writer) error { return report.ScheduleStarts(*f.Answer).CSV(w) },
			"json": remote.Indented(a.Body),
		})
	})
}
