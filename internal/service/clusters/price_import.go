package clusters

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/prices"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/runs"
)

// PriceImportRun is the kind of run that fetches a price sheet and imports it.
const PriceImportRun = "price-import"

// Limits of imports.
const (
	importBytes = 8 << 30 // of a sheet, also unpacked, by default
	importsRead = 2       // sheets that are sent along and read at once
	// maxImported is the maximum number of instances of one import.
	maxImported = 1000
)

// PriceSelection selects the part of a price sheet to import, and names it.
type PriceSelection struct {
	Region    string            `json:"region,omitempty"`    // "": the sheet has one region alone
	Instances []string          `json:"instances,omitempty"` // names and patterns; none is all
	As        map[string]string `json:"as,omitempty"`        // the names of VM types, by instance; default: that of the instance
	// From is the moment from which the sheet's prices apply; earlier prices stay. Null is the beginning of the
	// present hour.
	From         *time.Time `json:"from,omitempty"`
	OnDemandOnly bool       `json:"on_demand_only,omitempty"` // no offers
	ZeroPrices   bool       `json:"zero_prices,omitempty"`    // accepts prices of 0
	DryRun       bool       `json:"dry_run,omitempty"`        // only returns the changes
}

// PriceImport is the result of an import of a sheet, real or as a dry run.
type PriceImport struct {
	DryRun  bool               `json:"dry_run"`
	From    time.Time          `json:"from"`
	Sheet   ImportedSheet      `json:"sheet"`
	VMTypes ImportCount        `json:"vm_types"`
	Prices  ImportCount        `json:"prices"`
	Offers  ImportCount        `json:"offers"`
	Items   []ImportedInstance `json:"items"`
	Changes []inputs.Change    `json:"changes"`
	Version int64              `json:"inputs_version"` // afterwards (of a dry run: now)
}

// ImportedSheet describes the source of prices.
type ImportedSheet struct {
	Format    prices.Format    `json:"format"`
	Version   string           `json:"version"`   // the publisher's; "" if the sheet has none
	Published *time.Time       `json:"published"` // null if unknown
	Currency  string           `json:"currency"`
	Skipped   map[string]int64 `json:"skipped"` // omitted products or rows, by reason
}

// ImportCount counts the things of a kind that an import creates, changes and finds unchanged.
type ImportCount struct {
	Created   int64 `json:"created"`
	Updated   int64 `json:"updated"`
	Unchanged int64 `json:"unchanged"`
}

// ImportedInstance is an instance of a sheet as a VM type.
type ImportedInstance struct {
	Instance string          `json:"instance"`
	Region   string          `json:"region"`
	VMType   string          `json:"vm_type"`
	OnDemand *money.Amount   `json:"on_demand"` // the first one from the import's From on; null without one
	Offers   []ImportedOffer `json:"offers"`
}

// ImportedOffer is a reserved offer of an instance.
type ImportedOffer struct {
	Name      string           `json:"name"`
	TermYears int64            `json:"term_years"`
	Price     money.Amount     `json:"price"`
	Upfront   money.Amount     `json:"upfront"`
	Billing   capacity.Billing `json:"billing"`
	// EffectivePrice is the price of an hour if every hour is used: price + upfront/(8760 · years), rounded once,
	// half to even.
	EffectivePrice money.Amount `json:"effective_price"`
}

// Validate checks the selection on its own.
func (o PriceSelection) Validate() error {
	var e fault.InputError
	for instance, vmType := range o.As {
		if err := (inputs.VMType{Name: vmType}).Validate(); err != nil {
			e.Findings = append(e.Findings, importFindings(err, "/as/"+pointerPart(instance), "")...)
		}
	}
	if o.From != nil {
		open := inputs.PricePeriod{VMType: "any", From: *o.From}
		if err := open.Validate(); err != nil {
			e.Findings = append(e.Findings, importFindings(err, "/from", "")...)
		}
	}
	if e.Findings != nil {
		return &e
	}
	return nil
}

func pointerPart(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// ImportPrices reads a price sheet to its end and imports the selected part into a cluster: all of it or, if anything
// is wrong, nothing. The same sheet again changes nothing.
func (d *Desk) ImportPrices(ctx context.Context, cluster string, o PriceSelection, sheet io.Reader) (PriceImport, error) {
	of, err := d.importable(ctx, cluster, &o)
	if err != nil {
		return PriceImport{}, err
	}
	select {
	case d.sheets <- struct{}{}:
		defer func() { <-d.sheets }()
	default:
		return PriceImport{}, fmt.Errorf("%d price sheets are being read already; send yours when one of them is done: %w", importsRead, fault.Busy)
	}
	read, err := d.readSheet(of, o, sheet)
	if err != nil {
		return PriceImport{}, err
	}
	return d.takeOver(ctx, cluster, o, read)
}

// importable fills in the start of the prices, and refuses an import before the sheet is read, if possible.
func (d *Desk) importable(ctx context.Context, cluster string, o *PriceSelection) (inputs.Cluster, error) {
	if err := o.Validate(); err != nil {
		return inputs.Cluster{}, err
	}
	if o.From == nil {
		o.From = new(d.now().Truncate(time.Hour))
	}
	return d.inputs.Cluster(ctx, cluster)
}

func (d *Desk) readSheet(of inputs.Cluster, o PriceSelection, sheet io.Reader) (prices.Sheet, error) {
	selection := prices.Selection{Instances: o.Instances, Currency: of.Currency, OnDemandOnly: o.OnDemandOnly, ZeroPrices: o.ZeroPrices, MaxBytes: d.importBytes}
	if o.Region != "" {
		selection.Regions = []string{o.Region}
	}
	read, err := prices.Read(sheet, selection, nil)
	return read, fault.Move(err, func(pointer string) string { // callers know one region
		if pointer == "/regions/0" || pointer == "/regions" {
			return "/region"
		}
		return pointer
	})
}

// takeOver writes a sheet's data into a cluster, in one transaction.
func (d *Desk) takeOver(ctx context.Context, cluster string, o PriceSelection, sheet prices.Sheet) (made PriceImport, err error) {
	if !o.DryRun {
		defer d.plans.Changing(ctx, cluster)()
	}
	done, err := d.inputs.Revise(ctx, cluster, func(before inputs.Document) (after inputs.Document, err error) {
		after, made, err = importSheet(before, sheet, o)
		return after, err
	}, o.DryRun)
	if err != nil {
		return PriceImport{}, err
	}
	made.Changes, made.Version = done.Changes, done.Version
	for _, c := range done.Changes {
		counts := map[string]*ImportCount{inputs.VMTypeKind: &made.VMTypes, inputs.PriceKind: &made.Prices, inputs.OfferKind: &made.Offers}[c.Kind]
		if c.Action == inputs.Create {
			counts.Created++
		} else {
			counts.Updated++
		}
	}
	return made, nil
}

// priceImportInput is the input of an import's run.
type priceImportInput struct {
	URL       string         `json:"url"`
	Selection PriceSelection `json:"selection"`
}

// StartPriceImport imports the sheet at an address, in the background: the run's result is the PriceImport.
func (d *Desk) StartPriceImport(ctx context.Context, cluster, address string, o PriceSelection) (runs.Run, error) {
	if _, err := d.importable(ctx, cluster, &o); err != nil {
		return runs.Run{}, err
	}
	if err := d.hosts.CheckAddress(ctx, address); err != nil {
		return runs.Run{}, err
	}
	return d.runs.StartRun(ctx, runs.NewRun{Kind: PriceImportRun, Cluster: cluster, Role: auth.Operator, Input: priceImportInput{address, o}})
}

// Download is a file that is being fetched.
type Download struct {
	io.ReadCloser
	Size int64 // -1: not known
}

// PriceImportForRun fetches and reads the sheet of a run. take writes its data into the cluster and returns the
// report.
func (d *Desk) PriceImportForRun(ctx context.Context, claim runs.Claim, open func(ctx context.Context, address string, most int64) (Download, error), report func(runs.Progress)) (take func(context.Context) (runs.Result, error), err error) {
	var in priceImportInput
	if err := json.Unmarshal(claim.Input, &in); err != nil {
		return nil, fmt.Errorf("read the input of run %s: %w", claim.ID, err)
	}
	of, err := d.inputs.Cluster(ctx, claim.Cluster)
	if err != nil {
		return nil, err
	}
	file, err := open(ctx, in.URL, d.importBytes)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	sheet, err := d.readSheet(of, in.Selection, &counted{file: file, report: report})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (runs.Result, error) {
		made, err := d.takeOver(ctx, claim.Cluster, in.Selection, sheet)
		if err != nil {
			return runs.Result{}, err
		}
		text, err := json.Marshal(made)
		return runs.Result{Type: "application/json", Body: text}, err
	}, nil
}

// counted reports how much of a file has come.
type counted struct {
	file   Download
	done   int64
	report func(runs.Progress)
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.file.Read(p)
	c.done += int64(n)
	c.report(runs.Progress{Done: c.done, Total: max(c.file.Size, 0), Unit: "bytes"})
	return n, err
}
