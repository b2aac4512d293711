package inputs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	desk "example.org/headroom/internal/service/clusters"
	tables "example.org/headroom/internal/service/report"
	"example.org/headroom/openapi"
)

func priceImportCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var ask priceImportFlags
	var async bool
	c := &cobra.Command{
		Use: "import CLUSTER FILE|-|URL", Short: "Import a price sheet",
		Long: `Takes over a price sheet: AWS's offer file for EC2 (JSON or CSV) or a CSV with the columns vm_type and
price_per_hour, plain or packed with gzip, from a file or from an address that the server fetches it
from (whose host an admin has allowed). All that is selected is taken over, or nothing.

VM types that are missing are made, not in use. An on-demand price begins at --from and ends the price
there is; reserved offers become offers ("headroom supply offer list"). The same sheet again changes nothing.`,
		Example: "  headroom supply price import shop index.json --region eu-central-1 --instance 'm5.*' --dry-run\n" +
			"  headroom supply price import shop prices.csv --as m5.xlarge=worker\n" +
			"  headroom supply price import shop https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonEC2/current/eu-central-1/index.json " +
			"--instance m5.xlarge",
		Args: cobra.ExactArgs(2),
	}
	out.AddFlags(c, "table", "json", "csv")
	ask.add(c)
	c.Flags().BoolVar(&async, "async", false, "of an address: start a run and do not wait for it")
	c.PreRunE = func(_ *cobra.Command, args []string) error {
		ask.cluster = args[0]
		if async && !remote.IsAddress(args[1]) {
			return errors.New("--async is for an address; a file is sent while you wait")
		}
		return ask.check()
	}
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		var a remote.Answer
		var err error
		if remote.IsAddress(args[1]) {
			a, err = ask.fetch(c, s, args[1], async)
		} else {
			a, err = ask.send(c, s, args[1])
		}
		if err != nil || a.Body == nil {
			return err
		}
		var made desk.PriceImport
		if err := a.Into(&made); err != nil {
			return err
		}
		return out.Write(c, map[string]shell.Form{
			"table": func(w io.Writer) error { return priceImportText(w, ask.cluster, made) },
			"json":  remote.Indented(a.Body), "csv": importedTable(made).CSV,
		})
	})
}

// priceImportFlags say what of a sheet is imported.
type priceImportFlags struct {
	cluster, region, from       string
	instances, as               []string
	onDemandOnly, zeros, dryRun bool
	selection                   desk.PriceSelection // of the flags, once they are checked
}

func (f *priceImportFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.region, "region", "", "take the instances of this `region`, such as eu-central-1")
	c.Flags().StringArrayVar(&f.instances, "instance", nil,
		"take this `instance`, those like 'm5.*', or all but '!m5.metal'; give it again for each")
	c.Flags().StringArrayVar(&f.as, "as", nil, "which VM type an instance is, as `INSTANCE=TYPE`; give it again for each")
	c.Flags().StringVar(&f.from, "from", "", "the `time` the prices begin, such as 2026-01-01; left out, at the beginning of this hour")
	c.Flags().BoolVar(&f.onDemandOnly, "on-demand-only", false, "leave reserved offers out")
	c.Flags().BoolVar(&f.zeros, "zero-prices", false, "take a price of 0 for one and not for a mistake")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would change, and change nothing")
}

func (f *priceImportFlags) check() error {
	f.selection = desk.PriceSelection{Region: f.region, Instances: f.instances, OnDemandOnly: f.onDemandOnly, ZeroPrices: f.zeros,
		DryRun: f.dryRun}
	for _, text := range f.as {
		instance, vmType, ok := strings.Cut(text, "=")
		if !ok {
			instance, vmType, ok = strings.Cut(text, ":")
		}
		if !ok || instance == "" || vmType == "" {
			return fmt.Errorf("--as %s does not say which VM type an instance is; write it like --as m5.xlarge=worker", text)
		}
		if f.selection.As == nil {
			f.selection.As = map[string]string{}
		}
		f.selection.As[instance] = vmType
	}
	if f.from != "" {
		for _, layout := range []string{time.RFC3339, "2006-01-02"} {
			if t, err := time.Parse(layout, f.from); err == nil {
				f.selection.From = &t
			}
		}
		if f.selection.From == nil {
			return fmt.Errorf("--from %s is no time; write one like 2026-01-01 or 2026-01-01T06:00:00Z", f.from)
		}
	}
	return nil
}

// query is the flags as parameters.
func (f *priceImportFlags) query() *openapi.ImportPricesQuery {
	query := openapi.ImportPricesQuery{
		Region: f.region, Instance: f.instances, OnDemandOnly: f.onDemandOnly, ZeroPrices: f.zeros, DryRun: f.dryRun,
	}
	if f.selection.From != nil {
		query.From = f.selection.From.Format(time.RFC3339)
	}
	for instance, vmType := range f.selection.As {
		query.As = append(query.As, instance+":"+vmType)
	}
	return &query
}

// send sends a file, however long that takes, with a bar on a terminal.
func (f *priceImportFlags) send(c *cobra.Command, s *remote.Service, name string) (remote.Answer, error) {
	in, label, err := shell.Open(name, c.InOrStdin(), c.ErrOrStderr())
	if err != nil {
		return remote.Answer{}, err
	}
	defer in.Close()
	size := int64(-1)
	if file, ok := in.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			size = info.Size()
		}
	}
	sent := &remote.Sending{In: in}
	if bar := remote.BytesBar(c, size, "Sending"); bar != nil {
		defer func() { _ = bar.Finish() }()
		sent.Show = func(n int) { _ = bar.Add(n) }
	}
	// The same sheet again changes nothing.
	a, err := s.WithoutTimeout().Call(c.Context(), openapi.ImportPrices(f.cluster, f.query()), remote.Upload(sent, size))
	if sent.Err != nil {
		return remote.Answer{}, errors.New(shell.FileTrouble(label, sent.Err))
	}
	return a, f.said(label, err)
}

// ImportPrices imports the price and the offers of an instance from a sheet in a file.
func ImportPrices(c *cobra.Command, s *remote.Service, cluster, name, region, instance string) (made desk.PriceImport, err error) {
	f := priceImportFlags{cluster: cluster, region: region, instances: []string{instance}}
	if err := f.check(); err != nil {
		return made, err
	}
	a, err := f.send(c, s, name)
	if err != nil {
		return made, err
	}
	return made, a.Into(&made)
}

// said says what is wrong with a sheet by its name, and with the selection by the flags.
func (f *priceImportFlags) said(label string, err error) error {
	var p *remote.Problem
	if !errors.As(err, &p) {
		return err
	}
	for i, e := range p.Errors {
		switch {
		case e.Parameter != "":
			p.Errors[i].Where = "--" + e.Parameter
		case e.Pointer != nil:
			p.Errors[i].Where = priceOrigins.Of(*e.Pointer)
			if p.Errors[i].Where == "" {
				p.Errors[i].Where = strings.TrimSpace(label + " " + *e.Pointer)
			}
		}
	}
	return err
}

// priceOrigins lists what gives the members of a question about a sheet.
var priceOrigins = append(remote.FlagOrigins("region", "as", "from"),
	remote.Origin{Pointer: "/instances", Flag: "--instance"}, remote.Origin{Pointer: "/url", Flag: "the address"})

// fetch has the server fetch a sheet, and waits for the run.
func (f *priceImportFlags) fetch(c *cobra.Command, s *remote.Service, address string, async bool) (remote.Answer, error) {
	body, err := json.Marshal(struct {
		URL string `json:"url"`
		desk.PriceSelection
	}{address, f.selection})
	if err != nil {
		return remote.Answer{}, err
	}
	run, _, err := remote.ReadRun(s.Call(c.Context(), openapi.FetchPrices(f.cluster), remote.JSONBody(body)))
	if err != nil {
		return remote.Answer{}, f.said("", err)
	}
	if async {
		_, err := fmt.Fprintln(c.OutOrStdout(), run.ID)
		return remote.Answer{}, err
	}
	if run, _, err = s.WatchRun(c.Context(), c.ErrOrStderr(), run.ID); err != nil {
		return remote.Answer{}, err
	}
	if err := remote.HowItEnded(run); err != nil {
		return remote.Answer{}, err
	}
	return s.Call(c.Context(), openapi.GetRunResult(run.ID, nil))
}

// importedTable is one row a price of an instance.
func importedTable(made desk.PriceImport) tables.Table {
	t := tables.Table{Columns: []string{"instance", "region", "vm_type", "offer", "term_years", "price", "upfront", "effective_price"}}
	for _, x := range made.Items {
		start := []tables.Cell{{Text: x.Instance}, {Text: x.Region}, {Text: x.VMType}}
		if x.OnDemand != nil {
			price := tables.Cell{Text: x.OnDemand.String(), Number: true}
			t.Rows = append(t.Rows, append(start[:3:3], tables.Cell{Text: "on demand"}, tables.Cell{Number: true}, price,
				tables.Cell{Number: true}, price))
		}
		for _, o := range x.Offers {
			t.Rows = append(t.Rows, append(start[:3:3], tables.Cell{Text: o.Name}, tables.Cell{Text: fmt.Sprint(o.TermYears), Number: true},
				tables.Cell{Text: o.Price.String(), Number: true}, tables.Cell{Text: o.Upfront.String(), Number: true},
				tables.Cell{Text: o.EffectivePrice.String(), Number: true}))
		}
	}
	return t
}

// priceImportText says what an import made, and lists the prices.
func priceImportText(w io.Writer, cluster string, made desk.PriceImport) error {
	var b bytes.Buffer
	t := importedTable(made)
	t.Columns = []string{"Instance", "Region", "VM type", "Offer", "Years", "Per hour", "Upfront", "Effective"}
	more := len(t.Rows) - remote.MostImportedRows
	if more > 0 {
		t.Rows = t.Rows[:remote.MostImportedRows]
	}
	for i := range t.Rows {
		for k := range t.Rows[i] {
			t.Rows[i][k].Text = shell.Shown(t.Rows[i][k].Text)
		}
	}
	if err := t.Text(&b); err != nil {
		return err
	}
	if more > 0 {
		fmt.Fprintf(&b, "… and %d more; -o csv has them all.\n", more)
	}
	b.WriteByte('\n')
	sheet := "a price sheet"
	if made.Sheet.Version != "" {
		sheet = "the price sheet " + shell.Shown(made.Sheet.Version)
	}
	what := "Took over " + sheet
	switch {
	case made.DryRun:
		what = "A dry run, which changes nothing, of " + sheet
	case len(made.Changes) == 0:
		what = "Nothing changes by " + sheet
	}
	fmt.Fprintf(&b, "%s: cluster %s, prices in %s from %s on.\n", what, shell.Shown(cluster), shell.Shown(made.Sheet.Currency),
		made.From.UTC().Format(time.RFC3339))
	for _, of := range []struct {
		words string
		count desk.ImportCount
	}{{"VM types", made.VMTypes}, {"Prices", made.Prices}, {"Offers", made.Offers}} {
		fmt.Fprintf(&b, "%s: %d created, %d updated, %d unchanged.\n", of.words, of.count.Created, of.count.Updated, of.count.Unchanged)
	}
	if made.VMTypes.Created > 0 && !made.DryRun {
		fmt.Fprintf(&b, "New VM types are not in use; plans rent one after \"headroom supply vm-type edit %s NAME --in-use true\".\n",
			shell.Shown(cluster))
	}
	_, err := w.Write(b.Bytes())
	return err
}
