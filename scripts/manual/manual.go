// Package manual writes the command line down: as a page in Markdown, and as pages for man.
package manual

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.org/headroom/internal/edge/cli/root"
)

// Commands returns the command line as it is on every machine: help tells no directory of this one.
func Commands() (*cobra.Command, error) {
	if err := os.Setenv("HEADROOM_DATA_DIR", "~/.local/share/headroom, for root /var/lib/headroom"); err != nil {
		return nil, err
	}
	return root.Command(), nil
}

// flag is one flag as a person reads it.
type flag struct{ name, value, usage, standard string }

// flags returns the flags of a set by name. Every command has --help, which is left out.
func flags(set *pflag.FlagSet) (list []flag) {
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		one := flag{name: "--" + f.Name, value: value, usage: usage}
		if f.Shorthand != "" {
			one.name = "-" + f.Shorthand + ", " + one.name
		}
		if f.Value.Type() == "bool" {
			one.value = ""
		}
		told := strings.Contains(usage, "(default") || slices.Contains([]string{"", "0", "false", "[]", "0s"}, f.DefValue)
		if !told {
			one.standard = f.DefValue
		}
		list = append(list, one)
	})
	return list
}

// connection returns the flags that name the server, which all commands that ask one have alike; nil for other commands.
func connection(c *cobra.Command) []flag {
	for ; c != nil; c = c.Parent() {
		if c.PersistentFlags().Lookup("server") != nil {
			return flags(c.PersistentFlags())
		}
	}
	return nil
}

// theServer begins the paragraph by which commands say which server they ask.
const theServer = "\n\nThe server is the one that --server"

// about returns what a command is for, as sentences. Which server it asks stands in one place for all.
func about(c *cobra.Command) string {
	if c.Long == "" {
		return c.Short + "."
	}
	text, _, _ := strings.Cut(c.Long, theServer)
	return text
}

// whichServer returns how the server is found that a command asks.
func whichServer(c *cobra.Command) string {
	_, text, _ := strings.Cut(c.Long, theServer)
	return strings.TrimPrefix(theServer, "\n\n") + text
}

// usage returns the arguments of a command.
func usage(c *cobra.Command) string { return strings.TrimSuffix(c.UseLine(), " [flags]") }

// walk calls do for a command and all below it.
func walk(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			walk(sub, do)
		}
	}
}
