package app

import (
	"context"
	"encoding/json"
	"fmt"

	"headroom/internal/ask/horizon"
	"headroom/internal/core/capacity"
	"headroom/internal/data/inputs"
	"headroom/internal/data/storage"
	"headroom/internal/service/plans/solving"
	"headroom/internal/service/runs"
)

// PurchaseRun is the kind of run that weighs offers.
const PurchaseRun = "purchase"

// AskedPurchase holds a question about offers, and notes on its source.
type AskedPurchase struct {
	horizon.PurchaseQuestion
	Warnings []capacity.Warning `json:"warnings"`
}

// AnsweredPurchase holds the question and its answer, with all data for exports.
type AnsweredPurchase struct {
	Question horizon.PurchaseQuestion
	Answer   horizon.PurchaseAnswer
}

// Purchase answers a question about offers that includes its problem, or starts a run.
func (a *App) Purchase(ctx context.Context, background bool, read func() (horizon.PurchaseQuestion, error)) (*AnsweredPurchase, runs.Run, error) {
	return answerOrRun(ctx, a, runs.NewRun{Kind: PurchaseRun}, background, func() (AskedPurchase, error) {
		q, err := read()
		return AskedPurchase{q, []capacity.Warning{}}, err
	}, a.purchaseAtOnce)
}

// PurchaseForCluster is Purchase for a cluster's forecasts, prices and contracts.
func (a *App) PurchaseForCluster(ctx context.Context, cluster string, q horizon.ClusterPurchaseQuestion, background bool) (*AnsweredPurchase, runs.Run, error) {
	asked, err := a.ClusterPurchase(ctx, cluster, q)
	if err != nil {
		return nil, runs.Run{}, err
	}
	return answerOrRun(ctx, a, runs.NewRun{Kind: PurchaseRun, Cluster: cluster}, background, known(asked), a.purchaseAtOnce)
}

// ClusterPurchase returns the purchase question of one about a cluster.
func (a *App) ClusterPurchase(ctx context.Context, cluster string, q horizon.ClusterPurchaseQuestion) (AskedPurchase, error) {
	o, notes, err := a.outlook(ctx, cluster, q.Span)
	if err != nil {
		return AskedPurchase{}, err
	}
	if q.VMType, err = o.TypeToBuy(q.VMType); err != nil {
		return AskedPurchase{}, err
	}
	if q.Offers == nil {
		if q.Offers, err = a.standingOffers(ctx, &o, q); err != nil {
			return AskedPurchase{}, err
		}
	}
	question, warnings, err := o.Purchase(q)
	if err != nil {
		return AskedPurchase{}, err
	}
	question.Problem.Options.Engine = comparing(question.Problem.Options.Engine)
	asked := AskedPurchase{question, append(notes, warnings...)}
	return asked, asked.Check()
}

// standingOffers returns the cluster's own offers of the type, the named ones or all.
func (a *App) standingOffers(ctx context.Context, o *horizon.Outlook, q horizon.ClusterPurchaseQuestion) ([]capacity.Offer, error) {
	var all []inputs.StandingOffer
	for page := (storage.Page{Limit: 500}); ; {
		list, err := a.Stores.Inputs.Offers().List(ctx, o.Cluster.Name, page)
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

func (a *App) purchaseAtOnce(ctx context.Context, asked AskedPurchase) (*AnsweredPurchase, error) {
	var answer horizon.PurchaseAnswer
	err := solving.Judged(ctx, func(ctx context.Context, tell func(done, total int64)) (err error) {
		crew, leave := a.Solver.Crew(ctx, a.Solver.Places())
		defer leave()
		answer, err = horizon.Weigh(ctx, asked.PurchaseQuestion, a.Solver.PlanLike(asked.Problem), crew, func(done, total int) { tell(int64(done), int64(total)) })
		return err
	})
	if err != nil {
		return nil, err
	}
	answer.Warnings = append(answer.Warnings, asked.Warnings...)
	return &AnsweredPurchase{asked.PurchaseQuestion, answer}, nil
}

// PurchaseForRun weighs the offers of a run, a turn for each piece of work. If it is cancelled once the
// recommendation is known and priced, that comes with the error.
func (a *App) PurchaseForRun(ctx context.Context, claim runs.Claim, report func(runs.Progress)) (runs.Result, error) {
	var asked AskedPurchase
	if err := json.Unmarshal(claim.Input, &asked); err != nil {
		return runs.Result{}, fmt.Errorf("read the input of run %s: %w", claim.ID, err)
	}
	answer, worked := horizon.Weigh(ctx, asked.PurchaseQuestion, a.Solver.PlanLike(asked.Problem), horizon.Crew{Workers: a.Solver.Places(), Turn: a.Solver.Turn}, func(done, total int) {
		report(runs.Progress{Done: int64(done), Total: int64(total), Unit: "steps"})
	})
	if worked != nil && answer.Status == "" {
		return runs.Result{}, worked
	}
	answer.Warnings = append(answer.Warnings, asked.Warnings...)
	answer.Horizon.Show(asked.Detail)
	return jsonResult(claim, answer, worked)
}
