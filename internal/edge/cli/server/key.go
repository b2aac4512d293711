package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/edge/postgres/private"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/clusters"
	tables "example.org/headroom/internal/service/report"
	"example.org/headroom/openapi"
)

func keyCommand() *cobra.Command {
	c := shell.Group("key", "Make, list and revoke keys", `

With --server or --context, or with HEADROOM_URL, these commands ask a server, with the key of an admin. Else they work on
the database itself, which is how the first key is made: the private one in the data directory, whether its server runs
or not. A database that --database-url or DATABASE_URL names comes before HEADROOM_URL, and so does --data-dir.`)
	var at keyPlace
	c.PersistentFlags().StringVar(&at.url, "database-url", "", "the database's `URL` without a password, which belongs into DATABASE_URL")
	at.server.AddFlags(c)
	c.PersistentFlags().Lookup("data-dir").Usage = "the data `directory` with the private database (default HEADROOM_DATA_DIR)"
	c.AddCommand(keyCreateCommand(&at), keyListCommand(&at), keyRevokeCommand(&at), keyDrawCommand())
	return c
}

// keyPlace names the database of the keys, or a server that has one.
type keyPlace struct {
	url    string
	server remote.Connection
	made   string // the data directory, where using it made the database
}

// keyDesk makes, lists and revokes keys: those of a database, or of a server.
type keyDesk interface {
	CreateKey(ctx context.Context, key auth.Key) (made auth.Key, token string, err error)
	keys(ctx context.Context) ([]auth.Key, error)
	RevokeKey(ctx context.Context, id string) error
	lacks(ctx context.Context, cluster string) bool // false as well where that cannot be said
}

type databaseKeys struct {
	*auth.Desk
	store  auth.Store
	inputs clusters.Store
}

func (d databaseKeys) lacks(ctx context.Context, cluster string) bool {
	_, err := d.inputs.Cluster(ctx, cluster)
	return errors.Is(err, fault.NotFound)
}

func (d databaseKeys) keys(ctx context.Context) (keys []auth.Key, err error) {
	for page := (storage.Page{Limit: remote.LargestPage}); ; {
		listed, err := d.store.Keys(ctx, page)
		if err != nil {
			return nil, err
		}
		keys = append(keys, listed.Items...)
		if page.After = listed.Next; page.After == "" {
			return keys, nil
		}
	}
}

type serverKeys struct{ *remote.Service }

func (s serverKeys) CreateKey(ctx context.Context, key auth.Key) (auth.Key, string, error) {
	var made struct {
		auth.Key
		Token string `json:"token"`
	}
	a, err := s.Call(ctx, openapi.CreateKey(), remote.JSONOf(map[string]any{
		"name": key.Name, "role": key.Role, "clusters": key.Clusters, "expires_at": key.ExpiresAt}))
	if err == nil {
		err = a.Into(&made)
	}
	return made.Key, made.Token, err
}

func (s serverKeys) keys(ctx context.Context) ([]auth.Key, error) {
	texts, err := s.Items(ctx, 0, openapi.ListKeys())
	if err != nil {
		return nil, err
	}
	keys := make([]auth.Key, len(texts))
	for i, text := range texts {
		if err := json.Unmarshal(text, &keys[i]); err != nil {
			return nil, fmt.Errorf("the server's answer cannot be read (%w); is it of another version?", err)
		}
	}
	return keys, nil
}

func (s serverKeys) RevokeKey(ctx context.Context, id string) error {
	_, err := s.Call(ctx, openapi.RevokeKey(id))
	return err
}

func (s serverKeys) lacks(ctx context.Context, cluster string) bool {
	_, err := s.Call(ctx, openapi.GetCluster(cluster))
	return errors.Is(err, fault.NotFound)
}

// asksServer reports whether a server is asked rather than a database.
func (d *keyPlace) asksServer() bool {
	if d.server.Server != "" || d.server.Context != "" {
		return true
	}
	return d.url == "" && os.Getenv("DATABASE_URL") == "" && d.server.DataDir == "" && os.Getenv("HEADROOM_URL") != ""
}

// use opens the database, or a server, for as long as do takes. Only who makes something new may find a database without
// a schema, or not there at all.
func (d *keyPlace) use(ctx context.Context, fresh bool, do func(context.Context, keyDesk) error) (err error) {
	if d.asksServer() {
		s, err := d.server.Open()
		if err != nil {
			return err
		}
		return do(ctx, serverKeys{s})
	}
	config := postgres.Config{URL: d.url, MaxConns: 4}
	if config.URL == "" {
		config.URL = os.Getenv("DATABASE_URL")
	}
	if config.URL != "" {
		config.DirectURL, config.MigrateURL, config.SkipMigrations = os.Getenv("DATABASE_DIRECT_URL"), os.Getenv("MIGRATE_DATABASE_URL"), !fresh
	} else {
		url, stop, err := d.private(ctx, fresh)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
		config.URL = url
	}
	return openKeys(ctx, config, func(ctx context.Context, keys databaseKeys) error { return do(ctx, keys) })
}

// openKeys opens a database for as long as do takes.
func openKeys(ctx context.Context, config postgres.Config, do func(context.Context, databaseKeys) error) error {
	store, err := postgres.Open(ctx, config)
	if err != nil {
		return err
	}
	defer store.Close()
	who := auth.Principal{ID: auth.LocalID, Name: "headroom server key", Role: auth.Admin}
	a := app.New(store.Stores(), auth.NewKeyring(), app.Config{})
	return do(auth.With(ctx, who), databaseKeys{a.Auth, a.Stores.Access, a.Stores.Inputs})
}

// private is the address of the data directory's own database: of the running server's, or of one
// started for the moment.
func (d *keyPlace) private(ctx context.Context, fresh bool) (url string, stop func() error, err error) {
	dir := d.server.DataDir
	if dir == "" {
		dir = remote.DefaultDataDir()
	}
	if dir == "" {
		return "", nil, errors.New("there is no data directory (no home directory); give --data-dir, or a database of yours with DATABASE_URL")
	}
	entries, err := os.ReadDir(dir)
	absent := errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0
	if absent && !fresh {
		return "", nil, fmt.Errorf("there is no database in %s yet, and so there are no keys; \"headroom server key create\" or \"headroom serve\" makes it", dir)
	}
	url, running, err := private.Attach(dir)
	if err != nil || running {
		return url, func() error { return nil }, err
	}
	own, err := private.Start(ctx, private.Config{Dir: dir})
	if err != nil {
		return "", nil, err
	}
	if absent {
		d.made = dir
	}
	return own.URL(""), func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		return own.Stop(ctx)
	}, nil
}

func keyCreateCommand(at *keyPlace) *cobra.Command {
	var out shell.Output
	var role auth.Role
	var clusters []string
	var expires string
	var quiet bool
	c := &cobra.Command{
		Use: "create NAME", Short: "Make a key and print it, this once",
		Long: `Makes a key and prints it on standard output. Only its hash is kept: it cannot be shown again. The name
says who holds it. A viewer reads, a planner also solves and plans, an operator also edits inputs, an
admin also manages keys and reads the audit log. An agent is a program beside the jobs, such as a driver: it asks
for places, says what runs and what ran, and reads the plan.`,
		Example: "  headroom server key create dashboard --role viewer --cluster shop --expires 90d\n" +
			"  HEADROOM_API_KEY=$(headroom server key create me --role admin -q) headroom cluster list",
		Args: cobra.ExactArgs(1),
	}
	out.AddFlags(c, "table", "json", "csv")
	shell.AddChoice(c, &role, "role", "", "what it may do", auth.Roles...)
	shell.Require(c, "role")
	c.Flags().StringArrayVar(&clusters, "cluster", nil, "the only `cluster` it may see; say it again for more (default all)")
	c.Flags().StringVar(&expires, "expires", "",
		"when it ends: after a `time` such as 90d or 12h, or at one such as 2027-01-01 (default never)")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "print the key alone")
	var end *time.Time
	c.PreRunE = func(*cobra.Command, []string) (err error) {
		if role == "" {
			return errors.New("say what the key may do: --role viewer, planner, operator, admin or agent")
		}
		end, err = shell.EndOf(expires, time.Now())
		return err
	}
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		return at.use(c.Context(), true, func(ctx context.Context, desk keyDesk) error {
			key, token, err := desk.CreateKey(ctx, auth.Key{Name: args[0], Role: role, Clusters: clusters, ExpiresAt: end})
			if err != nil {
				return err
			}
			if at.made != "" {
				fmt.Fprintf(c.ErrOrStderr(), "headroom: There was no database in %s; one was made there, and the key is for it. A server elsewhere "+
					"is meant by --data-dir, --database-url or DATABASE_URL.\n", shell.Shown(at.made))
			}
			for _, name := range key.Clusters {
				if desk.lacks(ctx, name) {
					fmt.Fprintf(c.ErrOrStderr(), "headroom: Warning: There is no cluster %q yet. The key is made all the same.\n", name)
				}
			}
			if !quiet && out.Format == "table" {
				fmt.Fprintf(c.ErrOrStderr(), "headroom: %s\n"+
					"headroom: Keep it now: it is shown this once. To use it, set HEADROOM_API_KEY to it, or keep it in a file for --key-file.\n",
					shell.Shown(fmt.Sprintf("This key of %s (%s, %s, %s) has the id %s.", key.Name, key.Role, scopeOf(key), endWord(key), key.ID)))
			}
			withToken := struct {
				auth.Key
				Token string `json:"token"`
			}{key, token}
			return out.Write(c, map[string]shell.Form{
				"table": func(w io.Writer) error { _, err := fmt.Fprintln(w, token); return err },
				"json":  shell.AsJSON(withToken),
				"csv": func(w io.Writer) error {
					t := keyTable([]auth.Key{key}, time.Now())
					t.Columns, t.Rows[0] = append(t.Columns, "token"), append(t.Rows[0], tables.Cell{Text: token})
					return t.CSV(w)
				},
			})
		})
	})
}

func scopeOf(k auth.Key) string {
	if k.Clusters == nil {
		return "all clusters"
	}
	return strings.Join(k.Clusters, " ")
}

func endWord(k auth.Key) string {
	if k.ExpiresAt == nil {
		return "never ends"
	}
	return "until " + k.ExpiresAt.UTC().Format(time.RFC3339)
}

func keyListCommand(at *keyPlace) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{Use: "list", Short: "List all keys, the newest first", Args: cobra.NoArgs}
	out.AddFlags(c, "table", "json", "csv")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		return at.use(c.Context(), false, func(ctx context.Context, desk keyDesk) error {
			keys, err := desk.keys(ctx)
			if err != nil {
				return err
			}
			return out.Write(c, map[string]shell.Form{
				"table": func(w io.Writer) error {
					if len(keys) == 0 {
						_, err := fmt.Fprintln(w, "There are no keys; \"headroom server key create NAME --role admin\" makes one.")
						return err
					}
					return remote.Titled(keyTable(keys, time.Now())).Text(w)
				},
				"json": shell.AsJSON(map[string]any{"items": append([]auth.Key{}, keys...)}),
				"csv":  keyTable(keys, time.Now()).CSV,
			})
		})
	})
}

func keyTable(keys []auth.Key, now time.Time) tables.Table {
	t := tables.Table{Columns: []string{"id", "name", "role", "clusters", "created_at", "created_by", "expires_at", "revoked_at", "state"}}
	moment := func(at *time.Time) tables.Cell {
		if at == nil {
			return tables.Cell{}
		}
		return tables.Cell{Text: at.UTC().Format(time.RFC3339)}
	}
	for _, k := range keys {
		state := "valid"
		switch {
		case k.RevokedAt != nil:
			state = "revoked"
		case !k.Valid(now):
			state = "over"
		}
		t.Rows = append(t.Rows, []tables.Cell{{Text: k.ID}, {Text: k.Name}, {Text: string(k.Role)}, {Text: scopeOf(k)},
			moment(&k.CreatedAt), {Text: k.CreatedBy}, moment(k.ExpiresAt), moment(k.RevokedAt), {Text: state}})
	}
	return t
}

func keyRevokeCommand(at *keyPlace) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "revoke ID", Short: "End a key, for ever, after asking", Args: cobra.ExactArgs(1),
		Long: "Ends a key, for ever: servers stop taking it at once. \"headroom server key list\" shows the ids.",
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		return at.use(c.Context(), false, func(ctx context.Context, desk keyDesk) error {
			if err := shell.Confirm(c, yes, fmt.Sprintf("Revoke key %s for ever?", shell.Shown(args[0]))); err != nil {
				return err
			}
			if err := desk.RevokeKey(ctx, args[0]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.OutOrStdout(), "Revoked key %s.\n", shell.Shown(args[0]))
			return err
		})
	})
}

func keyDrawCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "draw", Short: "Draw a key for HEADROOM_ADMIN_KEY; it is kept nowhere", Args: cobra.NoArgs,
		Example: "  HEADROOM_ADMIN_KEY=$(headroom server key draw)",
	}
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		token, _ := auth.NewToken(auth.KeyPrefix)
		_, err := fmt.Fprintln(c.OutOrStdout(), token)
		return err
	})
}
