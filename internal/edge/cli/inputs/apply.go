package inputs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/cli/document"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	desk "example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/service/plans"
	tables "example.org/headroom/internal/service/report"
	"example.org/headroom/openapi"
)

var documentType = reflect.TypeFor[inputs.Document]()

// ApplyCommand returns the command that makes clusters as a file describes them.
func ApplyCommand() *cobra.Command {
	var to remote.Connection
	var out shell.Output
	var file string
	var yes, dryRun bool
	c := &cobra.Command{
		Use:   "apply -f FILE|-",
		Short: "Make clusters as a file describes them, after showing the difference",
		Long: `Makes clusters as a file describes them (JSON or YAML; several YAML documents are several clusters, applied in
their order). The difference is shown first, then asked about. A list that the file leaves out is left
alone; one that is there is what the cluster has afterwards. "headroom cluster export" writes such a file.` + remote.ConnectionHelp,
		Example: "  headroom cluster export shop -f shop.yaml\n  headroom apply -f shop.yaml --dry-run\n  headroom apply -f shop.yaml --yes",
		Args:    cobra.NoArgs,
	}
	to.AddFlags(c)
	out.Format = "table"
	shell.AddChoice(c, &out.Format, "output", "o", "format of the difference", "table", "json", "csv")
	c.Flags().StringVar(&out.File, "output-file", "", "write the difference to this `file` instead of standard output")
	c.Flags().StringVarP(&file, "file", "f", "", "the `file` that says what the clusters are like; - is standard input")
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only show the difference")
	c.PreRunE = func(*cobra.Command, []string) error {
		if file == "" {
			return errors.New("name the file to apply: -f FILE, or -f - for standard input")
		}
		return nil
	}
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		documents, label, err := readDocuments(c, file)
		if err != nil {
			return err
		}
		changes := 0
		for i := range documents {
			if err := documents[i].compare(c.Context(), s); err != nil {
				return document.OfFile(label, err)
			}
			changes += len(documents[i].applied.Changes)
		}
		if err := out.Write(c, differenceForms(documents)); err != nil {
			return err
		}
		for i := range documents {
			d := &documents[i]
			for _, w := range d.applied.Warnings {
				fmt.Fprintf(c.ErrOrStderr(), "Cluster %s, %s: %s\n", shell.Shown(d.cluster), w.Pointer, shell.Shown(w.Detail))
			}
		}
		if changes == 0 || dryRun {
			return nil
		}
		if err := shell.Confirm(c, yes, "Apply this?"); err != nil {
			return err
		}
		for i := range documents {
			if err := documents[i].apply(c.Context(), s); err != nil {
				if i > 0 {
					err = fmt.Errorf("%w\nThe documents before that of cluster %q were applied", err, documents[i].cluster)
				}
				return document.OfFile(label, err)
			}
		}
		if out.Format == "table" && out.File == "" {
			_, err = fmt.Fprintln(c.OutOrStdout(), "Applied."+refusals(c.Context(), s, documents))
		}
		return err
	})
}

// plannedWithin bounds the wait for the plans of changed clusters. Plans follow changes in half a second.
const plannedWithin = 2 * time.Second

// refusals says which of the changed clusters cannot be planned, and why, as far as that is known within moments.
func refusals(ctx context.Context, s *remote.Service, documents []clusterDocument) (all string) {
	ctx, cancel := context.WithTimeout(ctx, plannedWithin)
	defer cancel()
	for i := range documents {
		d, reason := &documents[i], ""
		for known := len(d.applied.Changes) == 0; !known; {
			said, now := d.refusal(ctx, s)
			if ctx.Err() != nil {
				break
			}
			if reason, known = said, now; !known {
				time.Sleep(100 * time.Millisecond)
			}
		}
		if reason != "" {
			all += fmt.Sprintf("\nCluster %s cannot be planned: %s", shell.Shown(d.cluster), shell.Shown(reason))
		}
	}
	return all
}

// refusal returns why the cluster cannot be planned, "" where it can. It is not known before the server has tried: what it says
// of a cluster that never had a plan may then be true of the inputs before.
func (d *clusterDocument) refusal(ctx context.Context, s *remote.Service) (reason string, known bool) {
	var plan struct {
		InputsVersion int64 `json:"inputs_version"`
		Freshness     plans.Freshness
	}
	a, err := s.Call(ctx, openapi.GetCurrentPlan(d.cluster, nil))
	if err == nil {
		err = a.Into(&plan)
	}
	f := &plan.Freshness
	switch {
	case err == nil && f.LastAttempt != nil && f.LastAttempt.Failed && !f.LastAttempt.At.Before(f.InputsChangedAt):
		if reason = f.LastAttempt.Detail; len(f.LastAttempt.Conflicts) > 0 {
			reason = f.LastAttempt.Conflicts[0].Detail
		}
		return reason + " Its last plan stays.", true
	case err == nil:
		return "", plan.InputsVersion == f.InputsVersion || !f.ConfirmedAt.Before(f.InputsChangedAt)
	}
	var list struct{ Items []plans.Overview }
	if a, err = s.Call(ctx, openapi.GetOverview(&openapi.GetOverviewQuery{Cluster: d.cluster}).Request); err == nil {
		err = a.Into(&list)
	}
	if err != nil || len(list.Items) != 1 || list.Items[0].Failure == nil {
		return "", err != nil
	}
	return *list.Items[0].Failure, d.applied.Created
}

// clusterDocument is one cluster as a file has it, and what applying it changes.
type clusterDocument struct {
	cluster string
	tree    *document.Node
	body    json.RawMessage
	applied desk.Applied
}

// readDocuments reads every document of a file and refuses all of them where one makes no sense.
func readDocuments(c *cobra.Command, file string) (documents []clusterDocument, label string, err error) {
	trees, label, err := document.ReadFile(c, file)
	if err != nil {
		return nil, label, err
	}
	seen := map[string]bool{}
	for _, tree := range trees {
		d := clusterDocument{tree: tree}
		if d.body, err = document.Bind(tree, documentType); err != nil {
			return nil, label, shell.Labelled(label, err)
		}
		of := tree.Member("cluster")
		if of == nil || of.Kind != document.ObjectNode || of.Member("name") == nil || of.Member("name").Text == "" {
			return nil, label, shell.Labelled(label,
				tree.Refuse("missing", "The document does not say which cluster it is: give cluster and in it name."))
		}
		d.cluster = of.Member("name").Text
		if seen[d.cluster] {
			return nil, label, shell.Labelled(label, of.Member("name").Refuse("duplicate",
				"The cluster %q is in this file already; make one document of both.", d.cluster))
		}
		seen[d.cluster] = true
		documents = append(documents, d)
	}
	return documents, label, nil
}

// compare asks the server what applying the document would change.
func (d *clusterDocument) compare(ctx context.Context, s *remote.Service) error {
	a, err := s.Call(ctx, openapi.ApplyDocument(d.cluster, &openapi.ApplyDocumentQuery{DryRun: true}), remote.JSONBody(d.body))
	if err != nil {
		return remote.Located(d.tree, err)
	}
	return a.Into(&d.applied)
}

// apply makes the cluster like the document, if nobody has changed it since it was compared.
func (d *clusterDocument) apply(ctx context.Context, s *remote.Service) error {
	if len(d.applied.Changes) == 0 {
		return nil
	}
	condition := remote.Header("If-Match", fmt.Sprintf(`"%d"`, d.applied.Version))
	if d.applied.Created {
		condition = remote.Header("If-None-Match", "*")
	}
	_, err := s.Call(ctx, openapi.ApplyDocument(d.cluster, nil), remote.JSONBody(d.body), condition)
	if errors.Is(err, fault.Conflict) {
		return fmt.Errorf("somebody changed the cluster %q since the difference was shown; nothing of its document was applied. Run this "+
			"again to see the difference now: %w", d.cluster, fault.Conflict)
	}
	return remote.Located(d.tree, err)
}

// differenceForms are the forms of what applying some documents changes.
func differenceForms(documents []clusterDocument) map[string]shell.Form {
	return map[string]shell.Form{
		"table": func(w io.Writer) error { return differenceText(w, documents) },
		"json": func(w io.Writer) error {
			type difference struct {
				Cluster string `json:"cluster"`
				desk.Applied
			}
			all := make([]difference, len(documents))
			for i, d := range documents {
				all[i] = difference{d.cluster, d.applied}
				if d.applied.Changes == nil {
					all[i].Changes = []inputs.Change{}
				}
			}
			return shell.AsJSON(map[string]any{"items": all})(w)
		},
		"csv": func(w io.Writer) error { return differenceTable(documents).CSV(w) },
	}
}

// differenceTable is one row a member that changes, and one a thing that comes or goes.
func differenceTable(documents []clusterDocument) tables.Table {
	t := tables.Table{Columns: []string{"cluster", "action", "kind", "name", "member", "before", "after"}}
	for _, d := range documents {
		for _, change := range d.applied.Changes {
			row := []tables.Cell{{Text: d.cluster}, {Text: change.Action}, {Text: change.Kind}, {Text: change.Name}}
			if len(change.Fields) == 0 {
				t.Rows = append(t.Rows, append(row, tables.Cell{}, tables.Cell{}, tables.Cell{}))
			}
			for _, f := range change.Fields {
				t.Rows = append(t.Rows, append(row[:4:4], tables.Cell{Text: f.Pointer}, tables.Cell{Text: shell.JSONText(f.Before)},
					tables.Cell{Text: shell.JSONText(f.After)}))
			}
		}
	}
	return t
}

// differenceText says the changes one a line, the members of updates below them, and how many there are.
func differenceText(w io.Writer, documents []clusterDocument) error {
	var b strings.Builder
	counts := map[string]int{}
	for _, d := range documents {
		if len(d.applied.Changes) == 0 {
			fmt.Fprintf(&b, "Cluster %s is as the file says; nothing changes.\n", d.cluster)
			continue
		}
		state := ""
		if d.applied.Created {
			state = " (new)"
		}
		fmt.Fprintf(&b, "Cluster %s%s\n", d.cluster, state)
		changesText(&b, d.applied.Changes)
		for _, change := range d.applied.Changes {
			counts[change.Action]++
		}
	}
	if total := counts["create"] + counts["update"] + counts["delete"]; total > 0 {
		fmt.Fprintf(&b, "%d to create, %d to update, %d to delete.\n", counts["create"], counts["update"], counts["delete"])
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// changesText aligns the changes of one cluster.
func changesText(b *strings.Builder, changes []inputs.Change) {
	kinds, members := 0, 0
	for _, change := range changes {
		kinds = max(kinds, len(kindName(change.Kind)))
		for _, f := range change.Fields {
			members = max(members, min(len([]rune(shell.MemberWord(f.Pointer))), 32))
		}
	}
	for _, change := range changes {
		fmt.Fprintf(b, "  %s %-*s  %s\n", change.Action, kinds, kindName(change.Kind), shell.Shown(change.Name))
		for _, f := range change.Fields {
			before, after := shell.ValueWord(f.Before), shell.ValueWord(f.After)
			fmt.Fprintf(b, "    %-*s  %s → %s\n", members, shell.MemberWord(f.Pointer), before, after)
		}
	}
}

func kindName(kind string) string { return strings.ReplaceAll(shell.Shown(kind), "_", " ") }
