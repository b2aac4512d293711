package server

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/edge/postgres"
	tables "example.org/headroom/internal/service/report"
)

func pruneCommand() *cobra.Command {
	var at keyPlace
	var out shell.Output
	var age string
	var rule postgres.Retention
	c := &cobra.Command{
		Use: "prune", Short: "Remove old plans from the database",
		Long: `Removes plans that are older than you say, from the database itself and by the owner of its tables: the
server may not. Nothing removes plans unless this is called; call it from a timer, beside running servers.

The newest plans of each cluster stay (--keep), and so does every plan that something on record is about:
the current, the newest and a pinned one, those that were current in the last hundred days, those that a
running lease was admitted under, and those that an observation was judged by. A plan whose texts the next
one shares, because both answer the same problem alike, goes after that one. Numbers stay as they are.
Whoever asks for a plan that was removed is told so, with the day; the audit log has what was removed.
Of the plans of a cluster's pool the current one and the newest stay.

The database is that of --database-url, MIGRATE_DATABASE_URL, DATABASE_DIRECT_URL or DATABASE_URL, else the
private one in the data directory, whether its server runs or not.`,
		Example: "  headroom server prune --older-than 400d --dry-run\n  headroom server prune --older-than 400d --keep 1000",
		Args:    cobra.NoArgs,
	}
	c.Flags().StringVar(&age, "older-than", "", "remove plans that were made longer ago than this `time`, such as 400d; at least a day")
	shell.Require(c, "older-than")
	c.Flags().Int64Var(&rule.Keep, "keep", 100, "keep so many of the newest plans of each cluster in any case; at least 1")
	c.Flags().BoolVar(&rule.DryRun, "dry-run", false, "say what would be removed, and remove nothing")
	c.Flags().StringVar(&at.url, "database-url", "", "the database's `URL` without a password, which belongs into MIGRATE_DATABASE_URL")
	c.Flags().StringVar(&at.server.DataDir, "data-dir", "", "the data `directory` with the private database (default HEADROOM_DATA_DIR)")
	out.AddFlags(c, "table", "json")
	c.PreRunE = func(*cobra.Command, []string) error {
		now := time.Now()
		end, err := shell.EndOf(age, now)
		if err != nil || end == nil || end.Sub(now) < 24*time.Hour {
			return errors.New("say how old plans are that may go, at least a day: --older-than 400d")
		}
		if rule.Keep < 1 {
			return errors.New("--keep must be at least 1: the newest plan of a cluster stays")
		}
		rule.OlderThan = end.Sub(now)
		return nil
	}
	return shell.Command(c, func(c *cobra.Command, _ []string) (err error) {
		url, err := databaseToMigrate(at.url)
		if err != nil { // none is named
			private, stop, err := at.private(c.Context(), false)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, stop()) }()
			url = private
		}
		all := []postgres.Pruned{}
		err = postgres.Prune(c.Context(), url, rule, func(p postgres.Pruned) error {
			all = append(all, p)
			return nil
		})
		if err != nil {
			return err
		}
		return out.Write(c, map[string]shell.Form{
			"table": func(w io.Writer) error { return prunedText(w, all, age, rule.DryRun) },
			"json":  shell.AsJSON(map[string]any{"clusters": all, "dry_run": rule.DryRun}),
		})
	})
}

// prunedText writes the removed plans as a table, with a sum.
func prunedText(w io.Writer, all []postgres.Pruned, age string, dryRun bool) error {
	var plans, bytes int64
	table := tables.Table{Columns: []string{"Cluster", "Of", "Plans", "From", "To", "MB"}}
	number := func(text string) tables.Cell { return tables.Cell{Text: text, Number: true} }
	clusters := map[string]bool{}
	for _, p := range all {
		plans, bytes = plans+p.Plans, bytes+p.Bytes
		of := "the cluster"
		if p.Pool {
			of = "its pool"
		}
		clusters[p.Cluster] = true
		table.Rows = append(table.Rows, []tables.Cell{{Text: p.Cluster}, {Text: of}, number(strconv.FormatInt(p.Plans, 10)),
			number(strconv.FormatInt(p.First, 10)), number(strconv.FormatInt(p.Last, 10)), number(fmt.Sprintf("%.1f", float64(p.Bytes)/1e6))})
	}
	if plans == 0 {
		_, err := fmt.Fprintf(w, "No plan is older than %s and free to go.\n", age)
		return err
	}
	if err := table.Text(w); err != nil {
		return err
	}
	said := "removed"
	if dryRun {
		said = "would be removed"
	}
	_, err := fmt.Fprintf(w, "\n%s of %s %s, %.1f MB.\n", shell.Counted(int64(plans), "plan"), shell.Counted(int64(len(clusters)), "cluster"), said, float64(bytes)/1e6)
	return err
}
