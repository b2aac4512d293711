package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/postgres/connection"
	"example.org/headroom/internal/edge/postgres/private"
	"example.org/headroom/internal/edge/postgres/schema"
)

const (
	cureSettings = "\"headroom server config\" shows every setting."
	cureDatabase = "The server needs a database, solving without one does not."
	cureUnread   = "Run it as root (sudo), or name the settings with --env-file or in the environment."
	cureServer   = "Its log says why; the checks above say what is found from here."
)

// databaseFlags say which database is looked at.
func databaseFlags(c *cobra.Command) {
	c.Flags().String("data-dir", "", "look at the private database in this `directory` (default "+dataDirHelp()+")")
	c.Flags().String("database-url", "", "look at this Postgres; `URL` without a password, which belongs into DATABASE_URL")
}

// examineSettings says what is wrong with the settings a server would start with.
func (d *diagnosis) examineSettings(mistakes error) {
	if mistakes != nil {
		mistakes = errors.New(strings.ReplaceAll(mistakes.Error(), "\n", "; "))
	}
	d.add("settings", "they make sense", cureSettings, mistakes)
}

// examineDatabase adds to a diagnosis whether the database of the settings can be used.
func (d *diagnosis) examineDatabase(ctx context.Context, settings config) {
	ctx, cancel := context.WithTimeout(ctx, longestExamination)
	defer cancel()
	if settings.DatabaseURL == "" {
		d.examinePrivate(ctx, settings.DataDir)
		return
	}
	began := time.Now()
	detail, err := examineSchema(ctx, cmp.Or(settings.DirectURL, settings.DatabaseURL))
	d.add("database", fmt.Sprintf("%s It answered in %d ms.", detail, time.Since(began).Milliseconds()), cureDatabase, err)
	if err != nil {
		return
	}
	detail = "DATABASE_URL leads to the database itself, or through a pooler that keeps sessions"
	pooled, err := connection.Pooled(ctx, settings.DatabaseURL)
	err = connection.Located(settings.DatabaseURL, err)
	if pooled {
		detail = "DATABASE_URL leads through a pooler that shares sessions; what needs one goes to DATABASE_DIRECT_URL"
	}
	d.add("pooler", detail, cureDatabase, err)
}

// examinePrivate looks at what a private database needs, and at one that runs.
func (d *diagnosis) examinePrivate(ctx context.Context, dir string) {
	folder, version, err := private.Installed()
	d.add("postgres programs", fmt.Sprintf("postgres %s in %s", version, folder), cureDatabase, err)
	if err != nil {
		return
	}
	place, err := private.Examine(ctx, dir)
	detail := fmt.Sprintf("%s, %d MB free, run by %s: ", place.Dir, place.Free>>20, place.User)
	switch {
	case place.Running:
		detail += "the private database runs"
	case place.Version != "":
		detail += "a private database of Postgres " + place.Version + " is there and does not run"
	default:
		detail += "a private database can be made here"
	}
	d.add("data directory", detail, cureDatabase, err)
	if err == nil && place.Running {
		detail, err := examineSchema(ctx, place.URL)
		d.add("database", detail, cureDatabase, err)
	}
}

// examineServer asks the server of the settings whether it reaches its database. That none answers is no fault: it may not
// have been started yet.
func (d *diagnosis) examineServer(ctx context.Context, settings config) {
	address, err := settings.serverAddress()
	if err != nil {
		return // HEADROOM_LISTEN is one of the settings' mistakes
	}
	ctx, cancel := context.WithTimeout(ctx, longestAnswer)
	defer cancel()
	status, err := health(ctx, address+"/readyz")
	var unreached *net.OpError
	switch {
	case errors.As(err, &unreached) && unreached.Op == "dial":
		d.add("server", "none answers at "+address+" ("+unreached.Error()+")", "", nil)
	case err == nil && status == "":
		d.add("server", "", cureServer, fmt.Errorf("what answers at %s is no server of Headroom", address))
	case err == nil && status != "ok":
		d.add("server", "", cureServer, fmt.Errorf("the one at %s is not in touch with its database; it says: %s", address, status))
	default:
		d.add("server", "the one at "+address+" is in touch with its database", cureServer, err)
	}
}

// longestAnswer is the time that a server has to say whether it is ready.
const longestAnswer = 5 * time.Second

func examineSchema(ctx context.Context, url string) (string, error) {
	status, err := schema.StatusOf(ctx, url)
	if err != nil {
		return "", connection.Located(url, err)
	}
	detail := fmt.Sprintf("PostgreSQL %d. %s", status.Server, schemaOf(status).Summary)
	if len(status.Peers) > 0 {
		detail += fmt.Sprintf(" Servers that share live clusters: %s.", strings.Join(status.Peers, ", "))
	}
	return detail, nil
}
