package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/hooks"
	"example.org/headroom/openapi"
)

var webhookType = reflect.TypeFor[hooks.Webhook]()

func webhookCommand() *cobra.Command {
	c := remote.Group("webhook", "Have addresses told when plans change, planning fails or runs finish", `

A webhook is named by its name or its id. Its host must be on the list of "headroom server host". Messages are
signed after the Standard Webhooks specification; the secret is printed once, when it is made.`)
	var to remote.Connection
	to.AddFlags(c)
	for _, make := range []func(*remote.Connection) *cobra.Command{webhookListCommand, webhookGetCommand, webhookCreateCommand,
		webhookSetCommand, webhookDeleteCommand,
		webhookTestCommand, webhookDeliveriesCommand, webhookRetryCommand, webhookRotateCommand} {
		c.AddCommand(make(&to))
	}
	return c
}

// webhookOf reads the one with a name or an id, as the server wrote it and with its version.
func webhookOf(s *remote.Service, c *cobra.Command, name string) (w hooks.Webhook, a remote.Answer, err error) {
	id := name
	if uuid.Validate(name) != nil {
		items, err := s.Items(c.Context(), 0, openapi.ListWebhooks())
		if err != nil {
			return w, a, err
		}
		id = ""
		for _, text := range items {
			if err := json.Unmarshal(text, &w); err == nil && w.Name == name {
				id = w.ID
			}
		}
		if id == "" {
			return w, a, fmt.Errorf("there is no webhook %q; \"headroom server webhook list\" shows those there are", shell.Shown(name))
		}
	}
	if a, err = s.Call(c.Context(), openapi.GetWebhook(id)); err != nil {
		return w, a, err
	}
	return w, a, a.Into(&w)
}

func webhookListCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{Use: "list", Short: "List the webhooks", Args: cobra.NoArgs}
	out.AddFlags(c, "table", "json", "csv")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		l := remote.List{As: webhookType, Columns: []string{"name", "url", "enabled", "failing_since", "disabled_reason", "id"},
			None: "There are no webhooks."}
		return remote.WriteList(c, s, out, l, openapi.ListWebhooks())
	})
}

func webhookGetCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{Use: "get WEBHOOK", Short: "Show one webhook", Args: cobra.ExactArgs(1)}
	out.AddFlags(c, "table", "json", "csv")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		_, a, err := webhookOf(s, c, args[0])
		if err != nil {
			return err
		}
		return out.Write(c, remote.ItemForms(webhookType, a.Body, ""))
	})
}

// webhookFlags holds the flags that make a webhook.
type webhookFlags struct {
	name, url        string
	events, clusters []string
	enabled          bool
}

func (f *webhookFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.url, "url", "", "the `address` to send to, such as https://hooks.example.com/headroom")
	c.Flags().StringArrayVar(&f.events, "event", nil,
		"an `event` to tell of: plan.changed, plan.failed, run.finished or report.made; say it again for more")
	c.Flags().StringArrayVar(&f.clusters, "cluster", nil, "the only `cluster` to tell of; say it again for more (default all)")
	c.Flags().BoolVar(&f.enabled, "enabled", true, "whether anything is sent")
}

// putInto changes what flags say.
func (f *webhookFlags) putInto(c *cobra.Command, w *hooks.Webhook) {
	given := c.Flags().Changed
	if given("name") {
		w.Name = f.name
	}
	if given("url") {
		w.URL = f.url
	}
	if given("event") {
		w.Events = nil
		for _, e := range f.events {
			w.Events = append(w.Events, hooks.Event(e))
		}
	}
	if given("cluster") {
		if w.Clusters = f.clusters; len(f.clusters) == 1 && f.clusters[0] == "" {
			w.Clusters = nil
		}
	}
	if given("enabled") {
		w.Enabled = f.enabled
	}
}

// secretFile reads a secret that somebody chose. It is never a flag: everybody on the machine can read
// the arguments of a process.
func secretFile(name string) (*string, error) {
	if name == "" {
		return nil, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, errors.New(shell.FileTrouble(name, err))
	}
	secret := strings.TrimSpace(string(text))
	return &secret, nil
}

const secretFlagHelp = "take the secret from this `file`: whsec_ and 24 to 64 random bytes in base64 (default: one is made)"

// tellSecret prints a secret that was made, alone on standard output.
func tellSecret(c *cobra.Command, out shell.Output, text []byte, said string) error {
	var with struct{ Secret string }
	if err := json.Unmarshal(text, &with); err != nil {
		return fmt.Errorf("the server's answer cannot be read: %w", err)
	}
	if with.Secret == "" {
		return errors.New("the server has done it, and the answer with the secret was lost; make another with \"headroom server webhook rotate\"")
	}
	return out.Write(c, map[string]shell.Form{
		"table": func(w io.Writer) error {
			fmt.Fprintln(c.ErrOrStderr(), "headroom: "+said+" The secret is shown this once:")
			_, err := fmt.Fprintln(w, with.Secret)
			return err
		},
		"json": remote.Indented(text),
	})
}

func webhookCreateCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var f webhookFlags
	var file string
	c := &cobra.Command{
		Use: "create NAME --url ADDRESS --event EVENT", Short: "Create a webhook and print its secret, this once",
		Example: "  headroom server host allow hooks.example.com\n" +
			"  headroom server webhook create pager --url https://hooks.example.com/headroom --event plan.failed > pager.secret",
		Args: cobra.ExactArgs(1),
	}
	out.AddFlags(c, "table", "json")
	f.add(c)
	c.Flags().StringVar(&file, "secret-file", "", secretFlagHelp)
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		if f.url == "" || f.events == nil {
			return errors.New("say where to send to and what to tell of, with --url and --event")
		}
		return nil
	}
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		secret, err := secretFile(file)
		if err != nil {
			return err
		}
		s, err := to.Open()
		if err != nil {
			return err
		}
		body := map[string]any{"name": args[0], "url": f.url, "events": f.events, "enabled": f.enabled}
		if len(f.clusters) > 0 {
			body["clusters"] = f.clusters
		}
		if secret != nil {
			body["secret"] = *secret
		}
		a, err := s.Call(c.Context(), openapi.CreateWebhook(), remote.JSONOf(body))
		if err != nil {
			return err
		}
		return tellSecret(c, out, a.Body, fmt.Sprintf("Created webhook %q.", shell.Shown(args[0])))
	})
}

func webhookSetCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var f webhookFlags
	c := &cobra.Command{
		Use: "edit WEBHOOK", Short: "Change what flags say",
		Long:    "Changes what flags say. --cluster \"\" makes it tell of all clusters; --enabled brings back one that was disabled.",
		Example: "  headroom server webhook edit pager --enabled",
		Args:    cobra.ExactArgs(1),
	}
	out.AddFlags(c, "table", "json", "csv")
	c.Flags().StringVar(&f.name, "name", "", "another `name`")
	f.add(c)
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		for _, flag := range []string{"name", "url", "event", "cluster", "enabled"} {
			if c.Flags().Changed(flag) {
				return nil
			}
		}
		return errors.New("say what to change: --name, --url, --event, --cluster or --enabled")
	}
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		w, now, err := webhookOf(s, c, args[0])
		if err != nil {
			return err
		}
		f.putInto(c, &w)
		body, err := json.Marshal(w)
		if err != nil {
			return err
		}
		a, err := s.Call(c.Context(), openapi.ReplaceWebhook(w.ID), remote.JSONBody(body), remote.IfMatch(now.Etag))
		if err != nil {
			return err
		}
		if err := a.Into(&w); err != nil {
			return err
		}
		return out.Write(c, remote.ItemForms(webhookType, a.Body,
			fmt.Sprintf("Changed webhook %q (version %d).", shell.Shown(w.Name), w.Version)))
	})
}

func webhookDeleteCommand(to *remote.Connection) *cobra.Command {
	var yes bool
	c := &cobra.Command{Use: "delete WEBHOOK", Short: "Delete a webhook with its deliveries, after asking", Args: cobra.ExactArgs(1)}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		w, now, err := webhookOf(s, c, args[0])
		if err != nil {
			return err
		}
		if err := shell.Confirm(c, yes, fmt.Sprintf("Delete webhook %q with its deliveries?", shell.Shown(w.Name))); err != nil {
			return err
		}
		if _, err := s.Call(c.Context(), openapi.DeleteWebhook(w.ID), remote.IfMatch(now.Etag)); err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "Deleted webhook %q.\n", shell.Shown(w.Name))
		return err
	})
}

func webhookRotateCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var file string
	c := &cobra.Command{
		Use: "rotate WEBHOOK", Short: "Give a webhook another secret and print it, this once",
		Long: "Gives a webhook another secret and prints it. The one before signs, too, for 24 hours more.", Args: cobra.ExactArgs(1),
	}
	out.AddFlags(c, "table", "json")
	c.Flags().StringVar(&file, "secret-file", "", secretFlagHelp)
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		secret, err := secretFile(file)
		if err != nil {
			return err
		}
		s, err := to.Open()
		if err != nil {
			return err
		}
		w, _, err := webhookOf(s, c, args[0])
		if err != nil {
			return err
		}
		body := map[string]any{}
		if secret != nil {
			body["secret"] = *secret
		}
		a, err := s.Call(c.Context(), openapi.RotateWebhookSecret(w.ID), remote.JSONOf(body))
		if err != nil {
			return err
		}
		var until struct {
			At time.Time `json:"previous_until"`
		}
		if err := a.Into(&until); err != nil {
			return err
		}
		return tellSecret(c, out, a.Body, fmt.Sprintf("Webhook %q has another secret; the one before signs, too, until %s.",
			shell.Shown(w.Name), until.At.UTC().Format(time.RFC3339)))
	})
}

func webhookTestCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var wait time.Duration
	c := &cobra.Command{
		Use: "test WEBHOOK", Short: "Send a ping and say what came of it",
		Long: "Sends the event ping and waits for what comes of it. Exit code 1: it was not delivered at once.", Args: cobra.ExactArgs(1),
	}
	out.AddFlags(c, "table", "json")
	c.Flags().DurationVar(&wait, "wait", 15*time.Second, "how long to wait for the first attempt")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		w, _, err := webhookOf(s, c, args[0])
		if err != nil {
			return err
		}
		a, err := s.Call(c.Context(), openapi.TestWebhook(w.ID), remote.JSONBody([]byte("{}")))
		if err != nil {
			return err
		}
		return follow(s, c, out, w, a, wait)
	})
}

func webhookRetryCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{Use: "retry WEBHOOK DELIVERY", Short: "Send a delivery again, now", Args: cobra.ExactArgs(2)}
	out.AddFlags(c, "table", "json")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		w, _, err := webhookOf(s, c, args[0])
		if err != nil {
			return err
		}
		a, err := s.Call(c.Context(), openapi.RetryDelivery(w.ID, args[1]))
		if err != nil {
			return err
		}
		return out.Write(c, remote.ItemForms(reflect.TypeFor[hooks.Delivery](), a.Body, "It is sent again."))
	})
}

// follow waits for the first attempt at a delivery.
func follow(s *remote.Service, c *cobra.Command, out shell.Output, w hooks.Webhook, a remote.Answer, wait time.Duration) error {
	var d hooks.Delivery
	if err := a.Into(&d); err != nil {
		return err
	}
	text := json.RawMessage(a.Body)
	waiting, cancel := context.WithTimeout(c.Context(), wait)
	defer cancel()
	for len(d.Attempts) == 0 && d.State == hooks.DeliveryPending {
		select {
		case <-waiting.Done():
			return fmt.Errorf("the ping %s is not sent after %s; \"headroom server webhook deliveries\" shows it later", shell.Shown(d.ID), wait)
		case <-time.After(100 * time.Millisecond):
		}
		items, err := s.Items(c.Context(), 100, openapi.ListDeliveries(w.ID))
		if err != nil {
			return err
		}
		for _, item := range items {
			var of hooks.Delivery
			if err := json.Unmarshal(item, &of); err == nil && of.ID == d.ID {
				d, text = of, item
			}
		}
	}
	if d.State != hooks.DeliveryDelivered {
		reason := d.Detail
		if n := len(d.Attempts); n > 0 {
			reason = d.Attempts[n-1].Error
		}
		return fmt.Errorf("not delivered: %s", shell.Shown(reason))
	}
	last := d.Attempts[len(d.Attempts)-1]
	return out.Write(c, map[string]shell.Form{
		"table": func(to io.Writer) error {
			_, err := fmt.Fprintf(to, "Delivered: the target answered %d after %.3f s.\n", last.Status, last.DurationSeconds)
			return err
		},
		"json": remote.Indented(text),
	})
}

func webhookDeliveriesCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var most int
	c := &cobra.Command{Use: "deliveries WEBHOOK", Short: "List what was sent, the newest first, and what came of it",
		Args: cobra.ExactArgs(1)}
	out.AddFlags(c, "table", "json", "csv")
	c.Flags().IntVar(&most, "limit", 50, "how many at most; 0 is all")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		w, _, err := webhookOf(s, c, args[0])
		if err != nil {
			return err
		}
		l := remote.List{As: reflect.TypeFor[hooks.Delivery](), Columns: []string{"at", "event", "cluster", "state", "next_at", "detail", "id"},
			Most: most, None: "Nothing was sent yet.", Told: lastError}
		return remote.WriteList(c, s, out, l, openapi.ListDeliveries(w.ID))
	})
}

// lastError puts the error of the last attempt into the detail of a delivery that is tried again: only one that was given
// up has a detail of its own.
func lastError(item json.RawMessage) json.RawMessage {
	var d hooks.Delivery
	if err := json.Unmarshal(item, &d); err != nil || d.State != hooks.DeliveryPending || d.Detail != "" || len(d.Attempts) == 0 {
		return item
	}
	d.Detail = d.Attempts[len(d.Attempts)-1].Error
	text, err := json.Marshal(d)
	if err != nil {
		return item
	}
	return text
}
