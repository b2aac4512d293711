package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"headroom/internal/core/capacity"
	"headroom/openapi"
)

// resource is a kind of stored things. All kinds are edited alike, by the same five verbs.
type resource struct {
	word, words string // for people: contract, contracts
	verb        string // on the command line, where that is another word
	short       string
	id          string       // what names one in arguments: NAME or ID
	as          reflect.Type // of one
	columns     []string     // of a list for people, by the names of leaves
	flags       []memberFlag // members that can be given without a file
	example     string       // for create

	// What the server is asked. For clusters themselves the name is the cluster's and cluster is "".
	list                 func(cluster string) openapi.List
	create               func(cluster string) openapi.Request
	get, replace, delete func(cluster, name string) openapi.Request
	version              func(cluster, name string, version int64) openapi.Request // nil where the number is the ETag
}

// named is what a thing is called in sentences: cluster "shop" or class "etl" of cluster "shop".
func (k *resource) named(cluster, name string) string {
	s := fmt.Sprintf("%s %q", k.word, name)
	if cluster != "" {
		s += fmt.Sprintf(" of cluster %q", cluster)
	}
	return shown(s)
}

// arguments takes the cluster (which clusters do not have) and the rest from arguments.
func (k *resource) arguments(args []string) (cluster string, rest []string) {
	if k.inCluster() {
		return args[0], args[1:]
	}
	return "", args
}

func (k *resource) inCluster() bool { return k.word != "cluster" }

// usage is a verb's arguments, such as "get CLUSTER NAME".
func (k *resource) usage(verb string, rest ...string) string {
	words := []string{verb}
	if k.inCluster() {
		words = append(words, "CLUSTER")
	}
	return strings.Join(append(words, rest...), " ")
}

// count is how many arguments a verb takes besides the cluster.
func (k *resource) count(least, most int) cobra.PositionalArgs {
	if k.inCluster() {
		least, most = least+1, most+1
	}
	return cobra.RangeArgs(least, most)
}

// command is the verb with the five verbs below it, and others of its own.
func (k *resource) command(others ...func(*connection) *cobra.Command) *cobra.Command {
	verb := k.word
	if k.verb != "" {
		verb = k.verb
	}
	c := group(verb, k.short, "")
	var to connection
	to.addFlags(c)
	for _, make := range []func(*connection) *cobra.Command{k.listCommand, k.getCommand, k.createCommand, k.replaceCommand, k.deleteCommand} {
		if sub := make(&to); sub != nil {
			c.AddCommand(sub)
		}
	}
	for _, make := range others {
		c.AddCommand(make(&to))
	}
	return c
}

// group is a verb that only has others below it.
func group(use, short, long string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: short + "." + long + connectionHelp,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, args []string) error {
			var words []string
			for _, sub := range c.Commands() {
				if sub.IsAvailableCommand() {
					words = append(words, sub.Name())
				}
			}
			return fmt.Errorf("say what to do: \"headroom %s\" and one of %s", use, strings.Join(words, ", "))
		},
	}
}

func (k *resource) listCommand(to *connection) *cobra.Command {
	var out output
	c := &cobra.Command{Use: k.usage("list"), Short: "List all " + k.words, Args: k.count(0, 0)}
	out.addFlags(c, "table", "json", "csv")
	return command(c, func(c *cobra.Command, args []string) error {
		s, err := to.open()
		if err != nil {
			return err
		}
		cluster, _ := k.arguments(args)
		return writeList(c, s, out, list{as: k.as, columns: k.columns, none: "There are no " + k.words + "."},
			k.list(cluster))
	})
}

func (k *resource) getCommand(to *connection) *cobra.Command {
	var out output
	c := &cobra.Command{Use: k.usage("get", k.id), Short: "Show one " + k.word, Args: k.count(1, 1)}
	versioned := k.replace == nil // a profile, of which every version is kept
	if versioned {
		c.Use, c.Args = c.Use+" [VERSION]", k.count(1, 2)
	}
	out.addFlags(c, "table", "json", "csv")
	return command(c, func(c *cobra.Command, args []string) error {
		s, err := to.open()
		if err != nil {
			return err
		}
		cluster, rest := k.arguments(args)
		var a answer
		if len(rest) > 1 {
			a, err = k.getVersion(c.Context(), s, cluster, rest[0], rest[1])
		} else {
			a, err = s.call(c.Context(), k.get(cluster, rest[0]))
		}
		if err != nil {
			return err
		}
		return out.write(c, itemForms(k.as, a.body, ""))
	})
}

// getVersion asks for one version.
func (k *resource) getVersion(ctx context.Context, s *service, cluster, name, version string) (answer, error) {
	number, err := strconv.ParseInt(version, 10, 64)
	if err != nil || number < 1 {
		return answer{}, fail(exitUsage, fmt.Errorf("%q is no version; versions are 1, 2 and so on", version))
	}
	return s.call(ctx, k.version(cluster, name, number))
}

// members adds the flags that give members; set puts those that were given into a tree.
func (k *resource) members(c *cobra.Command) (set func(tree *node)) {
	values := make([]string, len(k.flags))
	for i, f := range k.flags {
		c.Flags().StringVar(&values[i], f.name, "", f.usage)
	}
	return func(tree *node) {
		for i, f := range k.flags {
			if c.Flags().Changed(f.name) {
				tree.set(f, values[i])
			}
		}
	}
}

// anyMember says whether a flag gives a member.
func (k *resource) anyMember(c *cobra.Command) bool {
	for _, f := range k.flags {
		if c.Flags().Changed(f.name) {
			return true
		}
	}
	return false
}

// fileOrFlags checks that what is to be written comes from a file or from flags, not from both.
func (k *resource) fileOrFlags(c *cobra.Command, file bool) error {
	switch given := k.anyMember(c); {
	case file && given:
		return errors.New("give the " + k.word + " in a file or by flags, not both")
	case !file && !given:
		return errors.New("say what the " + k.word + " is: name a file, or - for standard input" + map[bool]string{true: ", or use the flags"}[len(k.flags) > 0])
	}
	return nil
}

// write sends a tree and answers what the server made of it.
func (k *resource) write(ctx context.Context, s *service, tree *node, label string, r openapi.Request, options ...option) (answer, error) {
	body, err := bind(tree, k.as)
	if err != nil {
		return answer{}, ofFile(label, err)
	}
	a, err := s.call(ctx, r, append(options, jsonBody(body))...)
	return a, ofFile(label, located(tree, err))
}

// changed prints what became of a thing: a sentence for people and its warnings.
func (k *resource) changed(c *cobra.Command, out output, a answer, cluster, done string) error {
	var item struct {
		Name     string             `json:"name"`
		ID       string             `json:"id"`
		Version  int64              `json:"version"`
		Warnings []capacity.Warning `json:"warnings"`
	}
	if err := a.into(&item); err != nil {
		return err
	}
	name := item.Name
	if k.id == "ID" {
		name = item.ID
	}
	for _, w := range item.Warnings {
		fmt.Fprintln(c.ErrOrStderr(), "headroom: "+shown("Warning: "+sentence(w.Detail)))
	}
	return out.write(c, itemForms(k.as, a.body, fmt.Sprintf("%s %s (version %d).", done, k.named(cluster, name), item.Version)))
}

func (k *resource) createCommand(to *connection) *cobra.Command {
	var out output
	use := "FILE|-"
	if len(k.flags) > 0 {
		use = "[FILE|-]"
	}
	c := &cobra.Command{
		Use: k.usage("create", use), Short: "Create one " + k.word + ", described by a file (JSON or YAML)" + map[bool]string{true: " or by flags"}[len(k.flags) > 0],
		Example: k.example, Args: k.count(0, 1),
	}
	out.addFlags(c, "table", "json", "csv")
	set := k.members(c)
	c.PreRunE = func(c *cobra.Command, args []string) error {
		_, rest := k.arguments(args)
		return k.fileOrFlags(c, len(rest) > 0)
	}
	return command(c, func(c *cobra.Command, args []string) (err error) {
		s, err := to.open()
		if err != nil {
			return err
		}
		cluster, rest := k.arguments(args)
		tree, label := &node{kind: objectNode}, ""
		if len(rest) > 0 {
			if tree, label, err = readTree(c, rest[0]); err != nil {
				return err
			}
		}
		set(tree)
		a, err := k.write(c.Context(), s, tree, label, k.create(cluster))
		if err != nil {
			return err
		}
		return k.changed(c, out, a, cluster, "Created")
	})
}

func (k *resource) replaceCommand(to *connection) *cobra.Command {
	if k.replace == nil {
		return nil
	}
	var out output
	var version int64
	c := &cobra.Command{
		Use: k.usage("replace", k.id, "[FILE|-]"), Short: "Replace one " + k.word + " by what a file describes (JSON or YAML), or change what flags say",
		Long: "Replace one " + k.word + ` by what a file describes (JSON or YAML): what the file leaves out gets its default.
With flags instead of a file only what they say changes. If somebody else changes it at the same moment
nothing is replaced.`,
		Args: k.count(1, 2),
	}
	out.addFlags(c, "table", "json", "csv")
	c.Flags().Int64Var(&version, "if-match", 0, "replace this `version` only (default: the one there is)")
	set := k.members(c)
	c.PreRunE = func(c *cobra.Command, args []string) error {
		_, rest := k.arguments(args)
		return k.fileOrFlags(c, len(rest) > 1)
	}
	return command(c, func(c *cobra.Command, args []string) (err error) {
		s, err := to.open()
		if err != nil {
			return err
		}
		cluster, rest := k.arguments(args)
		var tree *node
		label, etag := "", fmt.Sprint(version)
		if len(rest) > 1 {
			if tree, label, err = readTree(c, rest[1]); err != nil {
				return err
			}
		}
		if tree == nil || version == 0 {
			now, err := s.call(c.Context(), k.get(cluster, rest[0]))
			if err != nil {
				return err
			}
			if version == 0 {
				etag = now.etag
			}
			if tree == nil {
				if tree, err = readJSONTree(now.body); err != nil {
					return err
				}
				forgetPlaces(tree)
			}
		}
		if k.id == "NAME" {
			tree.named(rest[0])
		}
		set(tree)
		a, err := k.write(c.Context(), s, tree, label, k.replace(cluster, rest[0]), ifMatch(etag))
		if err != nil {
			return err
		}
		return k.changed(c, out, a, cluster, "Replaced")
	})
}

func (k *resource) deleteCommand(to *connection) *cobra.Command {
	var yes bool
	var version int64
	c := &cobra.Command{Use: k.usage("delete", k.id), Short: "Delete one " + k.word + ", after asking", Args: k.count(1, 1)}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	c.Flags().Int64Var(&version, "if-match", 0, "delete this `version` only (default: the one there is)")
	return command(c, func(c *cobra.Command, args []string) error {
		s, err := to.open()
		if err != nil {
			return err
		}
		cluster, rest := k.arguments(args)
		what := k.named(cluster, rest[0])
		etag := fmt.Sprint(version)
		if version == 0 || k.version != nil {
			request := k.get(cluster, rest[0])
			if version != 0 {
				request = k.version(cluster, rest[0], version)
			}
			now, err := s.call(c.Context(), request)
			if err != nil {
				return err
			}
			etag = now.etag
		}
		question := "Delete " + what + "?"
		if !k.inCluster() {
			question = "Delete " + what + " with everything in it (its plans stay on record)?"
		}
		if err := confirm(c, yes, question); err != nil {
			return err
		}
		if _, err := s.call(c.Context(), k.delete(cluster, rest[0]), ifMatch(etag)); err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "Deleted %s.\n", what)
		return err
	})
}

// deletion makes a command that deletes, after asking, what its flags choose of a cluster's, and says how many there
// were. The question has a place for the cluster's name.
func deletion(c *cobra.Command, to *connection, thing, question string, request func(cluster string) openapi.Request) *cobra.Command {
	var out output
	var yes bool
	c.Args = cobra.ExactArgs(1)
	out.addFlags(c, "table", "json")
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return command(c, func(c *cobra.Command, args []string) error {
		s, err := to.open()
		if err != nil {
			return err
		}
		if err := confirm(c, yes, fmt.Sprintf(question, args[0])); err != nil {
			return err
		}
		a, err := s.call(c.Context(), request(args[0]))
		if err != nil {
			return err
		}
		var done struct{ Deleted int64 }
		if err := a.into(&done); err != nil {
			return err
		}
		return out.write(c, map[string]form{
			"table": func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "Deleted %s.\n", counted(done.Deleted, thing))
				return err
			},
			"json": indented(a.body),
		})
	})
}
