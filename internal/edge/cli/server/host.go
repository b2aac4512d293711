package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/words"
	"example.org/headroom/internal/data/fetch"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/openapi"
)

func hostCommand() *cobra.Command {
	c := remote.Group("host", "Say where the server may send to", `

Webhooks reach the hosts on this list and no others. A host is one exact name with a port; what the name
stands for must be a public address, unless --network says in which networks it may be.`)
	var to remote.Connection
	to.AddFlags(c)
	c.AddCommand(hostListCommand(&to), hostAllowCommand(&to), hostDenyCommand(&to))
	return c
}

func hostListCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{Use: "list", Short: "List the hosts that the server may send to", Args: cobra.NoArgs}
	out.AddFlags(c, "table", "json", "csv")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		l := remote.List{As: reflect.TypeFor[fetch.AllowedHost](), Columns: []string{"host", "port", "http", "created_by", "created_at", "id"},
			None: "No host is allowed."}
		return remote.WriteList(c, s, out, l, openapi.ListAllowedHosts())
	})
}

// splitHost takes a port from the end of a host, where there is one; 0 is none.
func splitHost(text string) (host string, port int64, err error) {
	at := strings.LastIndexByte(text, ':')
	if at < 0 || strings.HasSuffix(text, "]") || strings.Count(text, ":") > 1 && !strings.HasPrefix(text, "[") {
		return strings.Trim(text, "[]"), 0, nil
	}
	port, err = strconv.ParseInt(text[at+1:], 10, 64)
	if err != nil || port < 1 || port > 65535 {
		return "", 0, shell.Fail(shell.ExitUsage, fmt.Errorf("%q ends in no port; write a host such as hooks.example.com or "+
			"hooks.example.com:8443", shell.Clipped(text)))
	}
	return strings.Trim(text[:at], "[]"), port, nil
}

func hostAllowCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var plain bool
	var networks []string
	c := &cobra.Command{
		Use: "allow HOST[:PORT]", Short: "Let the server send to a host",
		Example: "  headroom server host allow hooks.example.com\n  headroom server host allow receiver.internal:8080 --http --network 10.1.0.0/16",
		Args:    cobra.ExactArgs(1),
	}
	out.AddFlags(c, "table", "json", "csv")
	c.Flags().BoolVar(&plain, "http", false, "plain HTTP is allowed as well as HTTPS")
	c.Flags().StringArrayVar(&networks, "network", nil,
		"the only `network` that its addresses may be in, such as 10.1.0.0/16; say it again for more (default all public addresses)")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		host, port, err := splitHost(args[0])
		if err != nil {
			return err
		}
		s, err := to.Open()
		if err != nil {
			return err
		}
		body := map[string]any{"host": host, "http": plain}
		if port != 0 {
			body["port"] = port
		}
		if len(networks) > 0 {
			body["networks"] = networks
		}
		a, err := s.Call(c.Context(), openapi.CreateAllowedHost(), remote.JSONOf(body))
		if err != nil {
			return err
		}
		var h fetch.AllowedHost
		if err := a.Into(&h); err != nil {
			return err
		}
		return out.Write(c, remote.ItemForms(reflect.TypeFor[fetch.AllowedHost](), a.Body, "The server may send to "+shell.Shown(h.Label())+where(h)+"."))
	})
}

// where says which addresses an allowed host may stand for.
func where(h fetch.AllowedHost) string {
	switch _, err := netip.ParseAddr(h.Host); {
	case len(h.Networks) > 0:
		return ", where that is in " + shell.Shown(words.List(h.Networks))
	case err == nil:
		return ""
	}
	return ", where that is a public address; for another, deny it and allow it with --network"
}

func hostDenyCommand(to *remote.Connection) *cobra.Command {
	var yes bool
	c := &cobra.Command{Use: "deny HOST[:PORT]", Short: "Take a host off the list, after asking", Args: cobra.ExactArgs(1)}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		host, port, err := splitHost(args[0])
		if err != nil {
			return err
		}
		s, err := to.Open()
		if err != nil {
			return err
		}
		items, err := s.Items(c.Context(), 0, openapi.ListAllowedHosts())
		if err != nil {
			return err
		}
		var found []fetch.AllowedHost
		for _, text := range items {
			var h fetch.AllowedHost
			if err := json.Unmarshal(text, &h); err != nil {
				return err
			}
			if h.Host == host && (port == 0 || h.Port == port) {
				found = append(found, h)
			}
		}
		switch {
		case len(found) == 0:
			return fmt.Errorf("%s is not on the list; \"headroom server host list\" shows it", shell.Shown(args[0]))
		case len(found) > 1:
			return errors.New("the host is on the list with several ports; say which, such as " + shell.Shown(found[0].Label()))
		}
		if err := shell.Confirm(c, yes, "Let nothing be sent to "+shell.Shown(found[0].Label())+" any more?"); err != nil {
			return err
		}
		if _, err := s.Call(c.Context(), openapi.DeleteAllowedHost(found[0].ID)); err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "Nothing is sent to %s any more.\n", shell.Shown(found[0].Label()))
		return err
	})
}
