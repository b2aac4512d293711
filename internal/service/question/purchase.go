package question

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/plans/solving"
	"example.org/headroom/internal/service/report"
)

// AskedPurchase holds a question about offers, and notes on its source.
type AskedPurchase struct {
	horizon.PurchaseQuestion
	Warnings []capacity.Warning    `json:"warnings"`
	Whole    *horizon.WholeCluster `json:"whole,omitempty"` // the question's, which runs keep as well
	// Waiting asks about schedules of the same time; nil asks nothing.
	Waiting *timetable.Buying `json:"waiting,omitempty"`
}

// ReadPurchase reads the question of a file.
func ReadPurchase(data []byte, limits capacity.Limits, overrides ...func(*capacity.Options)) (asked AskedPurchase, err error) {
	asked.Warnings = []capacity.Warning{}
	if asked.PurchaseQuestion, err = horizon.ReadPurchase(data, limits, overrides...); err != nil || !asked.PurchaseQuestion.WithWaiting {
		return asked, err
	}
	b, err := timetable.BuyingOf(&asked.PurchaseQuestion)
	asked.Waiting = &b
	return asked, err
}

// Purchase asks how many VMs of each offer to buy for a horizon.
var Purchase = known(&Kind[AskedPurchase, horizon.PurchaseAnswer]{
	Run: "purchase", Unit: "steps", Name: "purchase", Formats: []string{"csv", "xlsx", "focus"},
	From: map[string]Source[AskedPurchase]{
		"/v1/purchases": ofBody(func(r Request) (AskedPurchase, error) {
			asked, err := ReadPurchase(r.Body, r.Limits)
			if err == nil {
				err = r.fitDetail(&asked.Horizon, &asked.Detail, purchaseDetail(r.View()))
			}
			return asked, err
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
	if !q.WithWaiting {
		if err := o.Scenario.RefuseDue(); err != nil {
			return AskedPurchase{}, err
		}
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
	asked := AskedPurchase{PurchaseQuestion: question, Warnings: append(notes, warnings...), Whole: question.Whole}
	if asked.PurchaseQuestion.WithWaiting = q.WithWaiting; q.WithWaiting {
		if err := asked.Check(); err != nil {
			return AskedPurchase{}, err
		}
		return asked, d.askBuying(ctx, cluster, &asked, &o, &q)
	}
	return asked, asked.Check()
}

// askBuying adds the question about schedules of the time until the forecasts end.
func (d *Desk) askBuying(ctx context.Context, cluster string, asked *AskedPurchase, o *horizon.Outlook, q *horizon.ClusterPurchaseQuestion) (err error) {
	of := *o
	of.Until = asked.Horizon.End()
	b := timetable.Buying{Offers: asked.Offers, End: of.Until}
	if b.Question, asked.Warnings, err = d.waitingUntil(ctx, cluster, &of, q.Scenario, true, asked.Warnings); err != nil {
		return err
	}
	b.OnType(q.VMType)
	b.WithoutSpot()
	if b.Question.Problem.Budget != nil {
		b.Question.Problem.Budget = nil
		asked.Warnings = append(asked.Warnings, capacity.Warning{Code: "budget_left_out", Detail: "Purchases where jobs wait keep to no budget, and the cluster has one."})
	}
	asked.Waiting = &b
	return nil
}

// wait sets what purchases come to where jobs wait beside the answer. Each part of the work has the time of a plan.
func (asked *AskedPurchase) wait(ctx context.Context, b *Bench, answer *horizon.PurchaseAnswer) error {
	var atOnce []int64
	for i := range answer.Offers {
		atOnce = append(atOnce, answer.Offers[i].VMs)
	}
	buyer := timetable.NewBuyer(*asked.Waiting, atOnce)
	for more, done := true, 0; more && done <= timetable.Steps; done++ {
		in, leave, err := b.Turn(ctx)
		if err != nil {
			return err
		}
		err = b.Budgeted(in, asked.Waiting.Question.Problem.Options.MaxSolveMs, func(ctx context.Context, engine lp.Solver) error {
			more = buyer.Step(ctx, engine)
			return nil
		})
		if leave(); err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
	w, err := buyer.Answer()
	var infeasible *fault.InfeasibleError
	switch {
	case errors.As(err, &infeasible):
		answer.Warnings = append(answer.Warnings, withoutSchedule(infeasible))
		return nil
	case err != nil:
		return err
	}
	if err := solving.CheckBuying(*asked.Waiting, &w); err != nil {
		return err
	}
	answer.Wait(w)
	return nil
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
	if worked == nil && asked.Waiting != nil && answer.Status != capacity.InfeasibleStatus {
		worked = asked.wait(ctx, b, &answer)
	}
	return &answer, worked
}
