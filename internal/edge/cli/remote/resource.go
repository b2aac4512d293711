package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/edge/cli/document"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/openapi"
)

// Resource is a kind of stored things. All kinds are edited alike, by the same five verbs.
type Resource struct {
	Word, Words string // for people: contract, contracts
	Verb        string // on the command line, where that is another word
	Short       string
	ID          string                // what names one in arguments: NAME or ID
	As          reflect.Type          // of one
	Columns     []string              // of a list for people, by the names of leaves
	Flags       []document.MemberFlag // members that can be given without a file
	Example     string                // for create
	First       string                // says how to make one, where a list has none

	// What the server is asked. For clusters themselves the name is the cluster's and cluster is "".
	List                 func(cluster string) openapi.List
	Beside               *Beside // nil for most
	Create               func(cluster string) openapi.Request
	Get, Replace, Delete func(cluster, name string) openapi.Request
	Version              func(cluster, name string, version int64) openapi.Request // nil where the number is the ETag
}

// named names a thing in sentences: cluster "shop" or class "etl" of cluster "shop".
func (k *Resource) named(cluster, name string) string {
	s := fmt.Sprintf("%s %q", k.Word, name)
	if cluster != "" {
		s += fmt.Sprintf(" of cluster %q", cluster)
	}
	return shell.Shown(s)
}

// arguments takes the cluster (which clusters do not have) and the rest from arguments.
func (k *Resource) arguments(args []string) (cluster string, rest []string) {
	if k.inCluster() {
		return args[0], args[1:]
	}
	return "", args
}

func (k *Resource) inCluster() bool { return k.Word != "cluster" }

// usage is a verb's arguments, such as "get CLUSTER NAME".
func (k *Resource) usage(verb string, rest ...string) string {
	words := []string{verb}
	if k.inCluster() {
		words = append(words, "CLUSTER")
	}
	return strings.Join(append(words, rest...), " ")
}

// count bounds the arguments of a verb besides the cluster.
func (k *Resource) count(least, most int) cobra.PositionalArgs {
	if k.inCluster() {
		least, most = least+1, most+1
	}
	return cobra.RangeArgs(least, most)
}

// Command is the verb with the five verbs below it, and others of its own.
func (k *Resource) Command(others ...func(*Connection) *cobra.Command) *cobra.Command {
	verb := k.Word
	if k.Verb != "" {
		verb = k.Verb
	}
	c := Group(verb, k.Short, "")
	var to Connection
	to.AddFlags(c)
	for _, make := range []func(*Connection) *cobra.Command{k.listCommand, k.getCommand, k.createCommand, k.replaceCommand, k.deleteCommand} {
		if sub := make(&to); sub != nil {
			c.AddCommand(sub)
		}
	}
	for _, make := range others {
		c.AddCommand(make(&to))
	}
	return c
}

// Group is a verb that only has others below it, which ask a server.
func Group(use, short, long string, commands ...*cobra.Command) *cobra.Command {
	return shell.Group(use, short, long+ConnectionHelp, commands...)
}

func (k *Resource) listCommand(to *Connection) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{Use: k.usage("list"), Short: "List all " + k.Words, Args: k.count(0, 0)}
	out.AddFlags(c, "table", "json", "csv")
	return to.Command(c, func(c *cobra.Command, s *Service, args []string) error {
		cluster, _ := k.arguments(args)
		return WriteList(c, s, out, List{As: k.As, Columns: k.Columns, None: strings.TrimSpace("There are no " + k.Words + ". " + k.First), Beside: k.Beside},
			k.List(cluster))
	})
}

func (k *Resource) getCommand(to *Connection) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{Use: k.usage("get", k.ID), Short: "Show one " + k.Word, Args: k.count(1, 1)}
	versioned := k.Replace == nil // a profile, of which every version is kept
	if versioned {
		c.Use, c.Args = c.Use+" [VERSION]", k.count(1, 2)
	}
	out.AddFlags(c, "table", "json", "csv")
	return to.Command(c, func(c *cobra.Command, s *Service, args []string) error {
		cluster, rest := k.arguments(args)
		var a Answer
		var err error
		if len(rest) > 1 {
			a, err = k.getVersion(c.Context(), s, cluster, rest[0], rest[1])
		} else {
			a, err = s.Call(c.Context(), k.Get(cluster, rest[0]))
		}
		if err != nil {
			return err
		}
		return out.Write(c, ItemForms(k.As, a.Body, ""))
	})
}

// getVersion asks for one version.
func (k *Resource) getVersion(ctx context.Context, s *Service, cluster, name, version string) (Answer, error) {
	number, err := strconv.ParseInt(version, 10, 64)
	if err != nil || number < 1 {
		return Answer{}, shell.Fail(shell.ExitUsage, fmt.Errorf("%q is no version; versions are 1, 2 and so on", version))
	}
	return s.Call(ctx, k.Version(cluster, name, number))
}

// members adds the flags that give members; set puts those that were given into a tree. It refuses one that would end what
// another says, unless that is given too.
func (k *Resource) members(c *cobra.Command) (set func(tree *document.Node) error) {
	values := make([]string, len(k.Flags))
	for i, f := range k.Flags {
		c.Flags().StringVar(&values[i], f.Name, "", f.Usage)
	}
	return func(tree *document.Node) error {
		for i, f := range k.Flags {
			if !c.Flags().Changed(f.Name) {
				continue
			}
			for _, other := range k.Flags {
				if other.Name == f.Against && !c.Flags().Changed(other.Name) && tree.True(other) {
					return shell.Fail(shell.ExitUsage, fmt.Errorf("--%s would end what --%s says of this %s; say --%[2]s=false too if it is meant",
						f.Name, other.Name, k.Word))
				}
			}
			tree.Set(f, values[i])
		}
		return nil
	}
}

// anyMember says whether a flag gives a member.
func (k *Resource) anyMember(c *cobra.Command) bool {
	for _, f := range k.Flags {
		if c.Flags().Changed(f.Name) {
			return true
		}
	}
	return false
}

// fileOrFlags checks that what is to be written comes from a file or from flags, not from both.
func (k *Resource) fileOrFlags(c *cobra.Command, file bool) error {
	switch given := k.anyMember(c); {
	case file && given && c.Flags().Lookup("name") != nil: // the word may be meant as a name
		return errors.New("give the " + k.Word + " in a file or by flags, not both; --name gives its name")
	case file && given:
		return errors.New("give the " + k.Word + " in a file or by flags, not both")
	case !file && !given:
		return errors.New("say what the " + k.Word + " is: name a file, or - for standard input" +
			map[bool]string{true: ", or use the flags"}[len(k.Flags) > 0])
	}
	return nil
}

// Write sends a tree and answers what the server made of it.
func (k *Resource) Write(ctx context.Context, s *Service, tree *document.Node, label string, r openapi.Request,
	options ...Option) (Answer, error) {
	body, err := document.Bind(tree, k.As)
	if err != nil {
		return Answer{}, document.OfFile(label, err)
	}
	a, err := s.Call(ctx, r, append(options, JSONBody(body))...)
	return a, document.OfFile(label, Located(tree, err))
}

// Changed prints what became of a thing: a sentence for people and its warnings.
func (k *Resource) Changed(c *cobra.Command, out shell.Output, a Answer, cluster, done string) error {
	var item struct {
		Name     string             `json:"name"`
		ID       string             `json:"id"`
		Version  int64              `json:"version"`
		Warnings []capacity.Warning `json:"warnings"`
	}
	if err := a.Into(&item); err != nil {
		return err
	}
	name := item.Name
	if k.ID == "ID" {
		name = item.ID
	}
	for _, w := range item.Warnings {
		fmt.Fprintln(c.ErrOrStderr(), "headroom: "+shell.Shown("Warning: "+shell.Sentence(w.Detail)))
	}
	return out.Write(c, ItemForms(k.As, a.Body, fmt.Sprintf("%s %s (version %d).", done, k.named(cluster, name), item.Version)))
}

func (k *Resource) createCommand(to *Connection) *cobra.Command {
	var out shell.Output
	use := "FILE|-"
	if len(k.Flags) > 0 {
		use = "[FILE|-]"
	}
	c := &cobra.Command{
		Use: k.usage("create", use), Short: "Create one " + k.Word + ", described by a file (JSON or YAML)" +
			map[bool]string{true: " or by flags"}[len(k.Flags) > 0],
		Example: k.Example, Args: k.count(0, 1),
	}
	out.AddFlags(c, "table", "json", "csv")
	set := k.members(c)
	c.PreRunE = func(c *cobra.Command, args []string) error {
		_, rest := k.arguments(args)
		return k.fileOrFlags(c, len(rest) > 0)
	}
	return to.Command(c, func(c *cobra.Command, s *Service, args []string) (err error) {
		cluster, rest := k.arguments(args)
		tree, label := &document.Node{Kind: document.ObjectNode}, ""
		if len(rest) > 0 {
			if tree, label, err = document.ReadTree(c, rest[0]); err != nil {
				return err
			}
		}
		if err := set(tree); err != nil {
			return err
		}
		tree.Complete(k.Flags)
		a, err := k.Write(c.Context(), s, tree, label, k.Create(cluster))
		if err != nil {
			return err
		}
		return k.Changed(c, out, a, cluster, "Created")
	})
}

func (k *Resource) replaceCommand(to *Connection) *cobra.Command {
	if k.Replace == nil {
		return nil
	}
	var out shell.Output
	var version int64
	c := &cobra.Command{
		Use: k.usage("edit", k.ID, "[FILE|-]"), Short: "Replace one " + k.Word +
			" by what a file describes (JSON or YAML), or change what flags say",
		Long: "Replace one " + k.Word + ` by what a file describes (JSON or YAML): what the file leaves out gets its default.
With flags instead of a file only what they say changes. If somebody else changes it at the same moment
nothing is replaced.`,
		Args: k.count(1, 2),
	}
	out.AddFlags(c, "table", "json", "csv")
	c.Flags().Int64Var(&version, "if-match", 0, "replace this `version` only (default: the one there is)")
	set := k.members(c)
	c.PreRunE = func(c *cobra.Command, args []string) error {
		_, rest := k.arguments(args)
		return k.fileOrFlags(c, len(rest) > 1)
	}
	return to.Command(c, func(c *cobra.Command, s *Service, args []string) (err error) {
		cluster, rest := k.arguments(args)
		var tree *document.Node
		label, etag := "", fmt.Sprint(version)
		if len(rest) > 1 {
			if tree, label, err = document.ReadTree(c, rest[1]); err != nil {
				return err
			}
		}
		if tree == nil || version == 0 {
			now, err := s.Call(c.Context(), k.Get(cluster, rest[0]))
			if err != nil {
				return err
			}
			if version == 0 {
				etag = now.Etag
			}
			if tree == nil {
				if tree, err = document.ReadJSONTree(now.Body); err != nil {
					return err
				}
				document.ForgetPlaces(tree)
			}
		}
		if k.ID == "NAME" {
			tree.Named(rest[0])
		}
		if err := set(tree); err != nil {
			return err
		}
		a, err := k.Write(c.Context(), s, tree, label, k.Replace(cluster, rest[0]), IfMatch(etag))
		if err != nil {
			return err
		}
		return k.Changed(c, out, a, cluster, "Replaced")
	})
}

func (k *Resource) deleteCommand(to *Connection) *cobra.Command {
	var yes bool
	var version int64
	c := &cobra.Command{Use: k.usage("delete", k.ID), Short: "Delete one " + k.Word + ", after asking", Args: k.count(1, 1)}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	c.Flags().Int64Var(&version, "if-match", 0, "delete this `version` only (default: the one there is)")
	return to.Command(c, func(c *cobra.Command, s *Service, args []string) error {
		cluster, rest := k.arguments(args)
		what := k.named(cluster, rest[0])
		etag := fmt.Sprint(version)
		if version == 0 || k.Version != nil {
			request := k.Get(cluster, rest[0])
			if version != 0 {
				request = k.Version(cluster, rest[0], version)
			}
			now, err := s.Call(c.Context(), request)
			if err != nil {
				return err
			}
			etag = now.Etag
		}
		question := "Delete " + what + "?"
		if !k.inCluster() {
			question = "Delete " + what + " with everything in it (its plans stay on record)?"
		}
		if err := shell.Confirm(c, yes, question); err != nil {
			return err
		}
		if _, err := s.Call(c.Context(), k.Delete(cluster, rest[0]), IfMatch(etag)); err != nil {
			return err
		}
		_, err := fmt.Fprintf(c.OutOrStdout(), "Deleted %s.\n", what)
		return err
	})
}

// Deletion makes a command that deletes, after asking, what its flags choose of a cluster's, and says how many there
// were. The question has a place for the cluster's name.
func Deletion(c *cobra.Command, to *Connection, thing, question string, request func(cluster string) openapi.Request) *cobra.Command {
	var out shell.Output
	var yes bool
	c.Args = cobra.ExactArgs(1)
	out.AddFlags(c, "table", "json")
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return to.Command(c, func(c *cobra.Command, s *Service, args []string) error {
		if err := shell.Confirm(c, yes, fmt.Sprintf(question, args[0])); err != nil {
			return err
		}
		a, err := s.Call(c.Context(), request(args[0]))
		if err != nil {
			return err
		}
		var done struct{ Deleted int64 }
		if err := a.Into(&done); err != nil {
			return err
		}
		return out.Write(c, map[string]shell.Form{
			"table": func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "Deleted %s.\n", shell.Counted(done.Deleted, thing))
				return err
			},
			"json": Indented(a.Body),
		})
	})
}
