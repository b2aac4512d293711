package question

import (
	"context"
	"fmt"
	"io"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/report"
)

// AskedPurchase holds a question about offers, and notes on its source.
type AskedPurchase struct {
	horizon.PurchaseQuestion
	Warnings []capacity.Warning    `json:"warnings"`
	Whole    *horizon.WholeCluster `json:"whole,omitempty"` // the question's, which runs keep as well
}

// Purchase asks how many VMs of each offer to buy for a horizon.
var Purchase = known(&Kind[AskedPurchase, horizon.PurchaseAnswer]{
	Run: "purchase", Unit: "steps", Name: "purchase", Formats: []string{"csv", "xlsx", "focus"},
	From: map[string]Source[AskedPurchase]{
		"/v1/purchases": ofBody(func(r Request) (AskedPurchase, error) {
			q, err := horizon.ReadPurchase(r.Body, r.Limits)
			if err == nil {
				err = r.fitDetail(&q.Horizon, &q.Detail, purchaseDetail(r.View()))
			}
			return AskedPurchase{PurchaseQuestion: q, Warnings: []capacity.Warning{}}, err
		}),
		"/v1/clusters/{cluster}/purchases": ofCluster(horizon.ReadClusterPurchase, func(ctx context.Context, d *Desk, r Request,
			q horizon.ClusterPurchaseQuestion) (AskedPurchase, error) {
			form := purchaseDetail(r.View())
			q.Detail = detailFor(q.Detail, form)
			asked, err := d.clusterPurchase(ctx, r.Cluster, q)
			return asked, inForm(form, err)
		}),
	},
	Work: workPurchase,
	Show: func(asked *AskedPurchase, a *horizon.PurchaseAnswer) any { a.Horizon.Show(asked.Detail); return a },
	Forms: func(asked AskedPurchase, a horizon.PurchaseAnswer, v View) Forms {
		asked.PurchaseQuestion.Whole = asked.Whole
		return Forms{
			"table": func(w io.Writer) error { return report.PurchaseText(w, a) },
			"csv":   func(w io.Writer) error { return report.Purchase(a).CSV(w) },
			"xlsx":  func(w io.Writer) error { return report.PurchaseWorkbook(w, asked.PurchaseQuestion, a) },
			"focus": func(w io.Writer) error {
				return report.Focus(w, a.Bought(&asked.PurchaseQuestion), a.Horizon, report.FocusNames{SubAccountID: v.Cluster})
			},
		}
	},
	Lacks: func(_ AskedPurchase, a horizon.PurchaseAnswer, v View) error {
		return lacks("purchases", "What to buy is here already: format=csv.", a.Horizon.Detail, purchaseDetail(v), v)
	},
	Status: func(a *horizon.PurchaseAnswer) capacity.Status { return a.Status },
	Warned: func(a *horizon.PurchaseAnswer) []capacity.Warning { return a.Warnings },
})

// clusterPurchase returns the question about purchases for a cluster.
func (d *Desk) clusterPurchase(ctx context.Context, cluster string, q horizon.ClusterPurchaseQuestion) (AskedPurchase, error) {
	o, notes, err := d.outlook(ctx, cluster, q.Span, q.Assume != "")
	if err != nil {
		return AskedPurchase{}, err
	}
	if o.Scenario, err = d.askedScenario(ctx, cluster, q.Scenario); err != nil {
		return AskedPurchase{}, err
	}
	if q.VMType, err = o.TypeToBuy(q.VMType); err != nil {
		return AskedPurchase{}, err
	}
	if q.Offers == nil {
		if q.Offers, err = d.standingOffers(ctx, &o, q); err != nil {
			return AskedPurchase{}, err
		}
	}
	if q.Assume != "" { // which says what follows the forecasts
		o.EndWithForecasts()
	}
	question, warnings, err := o.Purchase(q)
	if err != nil {
		return AskedPurchase{}, err
	}
	weighed := question.Weighed()
	if q.Assume != "" && !q.Until.IsZero() && !q.Until.Equal(weighed.End()) {
		notes = append(notes, capacity.Warning{Code: "ends_with_terms", Pointer: "/until", Detail: fmt.Sprintf(
			"Offers are weighed until %s, when the longest term on offer ends, and not until %s: where demand is assumed after the forecasts, the end only leaves out what is forecast after it.",
			weighed.End().Format(time.RFC3339), q.Until.UTC().Format(time.RFC3339))})
	}
	if weighed.End().After(question.End()) {
		later, err := d.Inputs.Outlook(ctx, cluster, question.Start(), weighed.End())
		if err != nil {
			return AskedPurchase{}, err
		}
		o.Contracts = later.Contracts // also those that begin after the forecasts
		if question, _, err = o.Purchase(q); err != nil {
			return AskedPurchase{}, err
		}
	}
	compared(&question.Problem)
	asked := AskedPurchase{question, append(notes, warnings...), question.Whole}
	return asked, asked.Check()
}

// standingOffers returns the cluster's own offers of the type, the named ones or all.
func (d *Desk) standingOffers(ctx context.Context, o *horizon.Outlook, q horizon.ClusterPurchaseQuestion) ([]capacity.Offer, error) {
	var all []inputs.StandingOffer
	for page := (storage.Page{Limit: 500}); ; {
		list, err := d.Inputs.Offers().List(ctx, o.Cluster.Name, page)
		if err != nil {
			return nil, err
		}
		for _, offer := range list.Items {
			if offer.VMType == q.VMType {
				all = append(all, offer)
			}
		}
		if page.After = list.Next; list.Next == "" {
			return o.Standing(all, q)
		}
	}
}

// workPurchase weighs offers. Of work that is ended before, a recommendation that is known and priced is worth
// something.
func workPurchase(ctx context.Context, b *Bench, asked AskedPurchase) (*horizon.PurchaseAnswer, error) {
	asked.Horizon, asked.PurchaseQuestion.Whole = asked.Carried(), asked.Whole
	solve, err := b.PlanLike(asked.Problem)
	if err != nil {
		return nil, err
	}
	crew, leave := b.Crew(ctx, manyPieces)
	defer leave()
	answer, worked := horizon.Weigh(ctx, asked.PurchaseQuestion, solve, crew, func(done, total int) { b.Tell(int64(done), int64(total)) })
	if worked != nil && answer.Status == "" {
		return nil, worked
	}
	answer.Warnings = append(answer.Warnings, asked.Warnings...)
	return &answer, worked
}
