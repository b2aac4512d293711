package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/auth"
)

// signInCommand makes a sign-in link for the server of the data directory, as its start does.
func signInCommand() *cobra.Command {
	var at keyPlace
	c := &cobra.Command{
		Use: "sign-in", Short: "Make a link that signs a browser in, once",
		Long: "Makes a link that signs a browser in as an administrator of the server that runs on this machine. It works once,\n" +
			"within " + fmt.Sprint(int(auth.LinkLife.Minutes())) + " minutes. Elsewhere people sign in with a key, or at an issuer.",
		Example: "  headroom server sign-in", Args: cobra.NoArgs,
	}
	c.Flags().StringVar(&at.server.DataDir, "data-dir", "", "the data `directory` of the server (default HEADROOM_DATA_DIR)")
	return shell.Command(c, func(c *cobra.Command, _ []string) (err error) {
		local, _, err := (&remote.Connection{DataDir: at.server.DataDir}).Local()
		if err != nil {
			return err
		}
		database, stop, err := at.private(c.Context(), false)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
		return openKeys(c.Context(), postgres.Config{URL: database, MaxConns: 4, SkipMigrations: true}, func(ctx context.Context, d databaseKeys) error {
			link, err := d.NewSignInLink(ctx)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s/sign-in#%s\n", local.URL, link)
			return err
		})
	})
}
