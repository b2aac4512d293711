package server

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	tables "example.org/headroom/internal/service/report"
)

// ContextCommand returns the commands that give servers names.
func ContextCommand() *cobra.Command {
	return shell.Group("context", "Give servers names, and say which one commands ask", `

A context is the address of a server and the file with a key for it. The one in use is asked where neither --server,
--data-dir nor HEADROOM_URL names another; --context names one for a single command.`,
		contextCreateCommand(), contextListCommand(), contextUseCommand(), contextDeleteCommand())
}

func contextCreateCommand() *cobra.Command {
	var made remote.Context
	var use bool
	c := &cobra.Command{
		Use: "create NAME", Short: "Name a server and the file with a key for it",
		Example: "  headroom context create prod --server https://headroom.example.com --key-file ~/.headroom-prod --use",
		Args:    cobra.ExactArgs(1),
	}
	c.Flags().StringVar(&made.Server, "server", "", "the server's `address`, such as https://headroom.example.com")
	c.Flags().StringVar(&made.KeyFile, "key-file", "", "the `file` with a key for it")
	shell.Require(c, "server", "key-file")
	c.Flags().BoolVar(&use, "use", false, "ask this server from now on")
	c.PreRunE = func(c *cobra.Command, args []string) (err error) {
		if err := remote.CheckAddress(made.Server, "--server"); err != nil {
			return err
		}
		if made.KeyFile == "" {
			return errors.New("say with --key-file where the key for it is; \"headroom server key create\" makes keys")
		}
		if args[0] == "" {
			return errors.New("a context has a name of at least one character, such as prod")
		}
		made.Name = args[0]
		made.KeyFile, err = filepath.Abs(made.KeyFile)
		return err
	}
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		if _, err := os.Stat(made.KeyFile); err != nil {
			return errors.New(shell.FileTrouble(made.KeyFile, err))
		}
		all, err := remote.ReadContexts()
		if err != nil {
			return err
		}
		if _, err := all.Find(made.Name); err == nil {
			return fmt.Errorf("there is a context %q already; delete it first, or take another name", shell.Clipped(made.Name))
		}
		all.Contexts = append(all.Contexts, made)
		said := fmt.Sprintf("Created the context %q.", made.Name)
		if use {
			all.Current, said = made.Name, said+" Commands ask its server from now on."
		}
		return changeContexts(c, all, said)
	})
}

// changeContexts keeps contexts and says what changed.
func changeContexts(c *cobra.Command, all remote.Contexts, said string) error {
	if err := all.Write(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(c.OutOrStdout(), shell.Shown(said))
	return err
}

func contextListCommand() *cobra.Command {
	var out shell.Output
	c := &cobra.Command{Use: "list", Short: "List the contexts, and say which one is in use", Args: cobra.NoArgs}
	out.AddFlags(c, "table", "json", "csv")
	return shell.Command(c, func(c *cobra.Command, _ []string) error {
		all, err := remote.ReadContexts()
		if err != nil {
			return err
		}
		t := tables.Table{Columns: []string{"name", "server", "key_file", "in_use"}}
		for _, one := range all.Contexts {
			used := ""
			if one.Name == all.Current {
				used = "yes"
			}
			t.Rows = append(t.Rows, []tables.Cell{{Text: one.Name}, {Text: one.Server}, {Text: one.KeyFile}, {Text: used}})
		}
		return out.Write(c, map[string]shell.Form{
			"table": func(w io.Writer) error {
				if len(t.Rows) == 0 {
					_, err := fmt.Fprintln(w, "There are no contexts; \"headroom context create\" makes one.")
					return err
				}
				return remote.Titled(t).Text(w)
			},
			"json": shell.AsJSON(all), "csv": t.CSV,
		})
	})
}

func contextUseCommand() *cobra.Command {
	c := &cobra.Command{Use: "use NAME", Short: "Ask the server of a context from now on", Args: cobra.ExactArgs(1), Example: "  headroom context use prod"}
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		all, err := remote.ReadContexts()
		if err != nil {
			return err
		}
		found, err := all.Find(args[0])
		if err != nil {
			return err
		}
		all.Current = found.Name
		return changeContexts(c, all, fmt.Sprintf("Commands ask %s from now on.", found.Server))
	})
}

func contextDeleteCommand() *cobra.Command {
	c := &cobra.Command{Use: "delete NAME", Short: "Forget a context; the key in its file stays", Args: cobra.ExactArgs(1), Example: "  headroom context delete prod"}
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		all, err := remote.ReadContexts()
		if err != nil {
			return err
		}
		found, err := all.Find(args[0])
		if err != nil {
			return err
		}
		all.Contexts = slices.DeleteFunc(all.Contexts, func(one remote.Context) bool { return one == found })
		said := fmt.Sprintf("Deleted the context %q.", found.Name)
		if all.Current == found.Name {
			all.Current, said = "", said+" It was in use; none is now."
		}
		return changeContexts(c, all, said)
	})
}
