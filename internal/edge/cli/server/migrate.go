package server

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/edge/postgres/schema"
	tables "example.org/headroom/internal/service/report"
)

func migrateCommand() *cobra.Command {
	var address string
	c := &cobra.Command{
		Use:   "migrate",
		Short: "Bring a database of yours up to this release, or say where it stands",
		Long: `Brings the tables of a database of yours up to this release, or says where they stand.
The server does the same when it starts; this is for those who want it done before, or by another user.

The database is the one of --database-url, MIGRATE_DATABASE_URL, DATABASE_DIRECT_URL or DATABASE_URL, whichever
comes first.
A private database needs none of this.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("say what to do: \"headroom server migrate\" and one of up, status")
		},
	}
	c.PersistentFlags().StringVar(&address, "database-url", "",
		"the Postgres to work on; `URL` without a password, which belongs into MIGRATE_DATABASE_URL")
	c.AddCommand(migrateUpCommand(&address), migrateStatusCommand(&address))
	return c
}

func migrateUpCommand(address *string) *cobra.Command {
	return shell.Command(&cobra.Command{
		Use:   "up",
		Short: "Bring the database up to this release",
		Args:  cobra.NoArgs,
	}, func(c *cobra.Command, args []string) error {
		url, err := databaseToMigrate(*address)
		if err != nil {
			return err
		}
		before, err := schema.StatusOf(c.Context(), url)
		if err != nil {
			return err
		}
		if err := schema.Migrate(c.Context(), url); err != nil {
			return err
		}
		after, err := schema.StatusOf(c.Context(), url)
		if err != nil {
			return err
		}
		if before.Have == after.Have {
			_, err = fmt.Fprintln(c.OutOrStdout(), schemaOf(after).Summary)
		} else {
			_, err = fmt.Fprintf(c.OutOrStdout(), "The schema was brought from version %d to %d.\n", before.Have, after.Have)
		}
		return err
	})
}

func migrateStatusCommand(address *string) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{
		Use:   "status",
		Short: "Say where the database's schema stands, and change nothing",
		Args:  cobra.NoArgs,
	}
	out.AddFlags(c, "table", "json")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		url, err := databaseToMigrate(*address)
		if err != nil {
			return err
		}
		status, err := schema.StatusOf(c.Context(), url)
		if err != nil {
			return err
		}
		s := schemaOf(status)
		return out.Write(c, map[string]shell.Form{
			"table": func(w io.Writer) error {
				if err := s.table().Text(w); err != nil {
					return err
				}
				_, err := fmt.Fprintln(w, "\n"+s.Summary)
				return err
			},
			"json": shell.AsJSON(s),
		})
	})
}

// databaseToMigrate is the database named first. It may hold a password and is never shown.
func databaseToMigrate(flag string) (string, error) {
	for _, address := range []string{flag, os.Getenv("MIGRATE_DATABASE_URL"), os.Getenv("DATABASE_DIRECT_URL"), os.Getenv("DATABASE_URL")} {
		if address != "" {
			return address, nil
		}
	}
	return "", shell.Fail(shell.ExitUsage, errors.New("there is no database to work on; name one with DATABASE_URL, MIGRATE_DATABASE_URL "+
		"or --database-url (a private one is brought up by \"headroom serve\")"))
}

// schemaState describes the state of a database's tables, for people and programs.
type schemaState struct {
	State       string `json:"state"` // empty, behind, current or newer
	Version     int64  `json:"version"`
	Known       int64  `json:"known"` // the newest version this release has
	Postgres    int    `json:"postgres"`
	ServiceRole bool   `json:"service_role"` // the server works as a role that cannot change plans
	Summary     string `json:"summary"`
}

func schemaOf(s schema.Status) schemaState {
	out := schemaState{Version: s.Have, Known: s.Known, Postgres: s.Server, ServiceRole: s.Role}
	switch {
	case s.Have == 0:
		out.State, out.Summary = "empty", "The database has no tables of Headroom's yet; \"headroom server migrate up\" or the next \"headroom "+
			"serve\" makes them."
	case s.Have == s.Known && s.Behind():
		out.State, out.Summary = "behind", fmt.Sprintf("The tables of background runs have version %d of %d; \"headroom server migrate up\" or the "+
			"next \"headroom serve\" brings them up.", s.River, s.KnownRiver)
	case s.Have < s.Known:
		out.State, out.Summary = "behind", fmt.Sprintf("The schema has version %d of %d; \"headroom server migrate up\" or the next \"headroom "+
			"serve\" brings it up.", s.Have, s.Known)
	case s.Have > s.Known:
		out.State, out.Summary = "newer", fmt.Sprintf("The schema has version %d, which is newer than this release (%d); it is left as it is.",
			s.Have, s.Known)
	default:
		out.State, out.Summary = "current", fmt.Sprintf("The schema is up to date (version %d).", s.Have)
	}
	return out
}

func (s schemaState) table() tables.Table {
	role := "no: plans are guarded by triggers alone"
	if s.ServiceRole {
		role = "yes: " + schema.Role
	}
	return tables.Table{
		Columns: []string{"State", "Version", "Known", "Postgres", "Role without rights to change plans"},
		Rows: [][]tables.Cell{{
			{Text: s.State}, {Text: strconv.FormatInt(s.Version, 10), Number: true}, {Text: strconv.FormatInt(s.Known, 10), Number: true},
			{Text: strconv.Itoa(s.Postgres), Number: true}, {Text: role},
		}},
	}
}
