package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"example.org/headroom/internal/core/trace"
	"example.org/headroom/internal/data/fetch"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/hooks"
)

// messenger is the principal that sends deliveries and disables failing webhooks.
var messenger = auth.Principal{ID: "webhooks", Name: "webhooks", Role: auth.Admin}

const (
	deliveriesAtOnce  = 32 // of a server
	deliveriesAtATime = 2  // to one webhook, so that a hanging one delays no other
	deliveryLease     = 30 * time.Second
	forgetDelivery    = 30 * 24 * time.Hour
)

// deliver sends a delivery if it is due.
func (r *Runner) deliver(ctx context.Context, work hooks.DeliveryWork) error {
	ctx = auth.With(ctx, messenger)
	claim, err := r.app.Stores.Webhooks.ClaimDelivery(ctx, work.ID, deliveriesAtATime, deliveryLease)
	if err != nil {
		r.log.Warn("a delivery was not begun; it is tried again", "delivery", work.ID, "error", err.Error())
		return nil // the sweep hands it out again
	}
	if claim == nil {
		return nil // over, put off, taken or deleted
	}
	ctx, span := r.tracer().Root(ctx, "deliver to a webhook", trace.Consumer, "")
	defer span.End()
	began := time.Now()
	o, err := r.post(ctx, *claim)
	if err != nil {
		r.log.Warn("a delivery had no answer yet; it is sent again", "delivery", claim.ID, "webhook", claim.Webhook, "error", err.Error())
		o = hooks.DeliveryOutcome{State: hooks.DeliveryPending, Spare: true}
		if ctx.Err() == nil {
			o.After = unknownAgain
		}
	} else {
		r.countDelivery(*claim, o, time.Since(began))
	}
	settling, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleQuick)
	defer cancel()
	if err := r.app.Stores.Webhooks.SettleDelivery(settling, *claim, o); err != nil && !errors.Is(err, storage.ErrClaimLost) {
		r.log.Warn("what came of a delivery was not stored; it is sent again", "delivery", claim.ID, "webhook", claim.Webhook, "error", err.Error())
	}
	return nil
}

// post sends once. An error is the service's own and says nothing about the target.
func (r *Runner) post(ctx context.Context, c hooks.DeliveryClaim) (o hooks.DeliveryOutcome, err error) {
	signature, err := hooks.Sign(c.Secrets, c.EventID, c.Now, c.Body)
	if err != nil {
		return o, errors.New("its secret cannot be used")
	}
	header := http.Header{}
	header.Set("Content-Type", "application/json")
	header.Set("webhook-id", c.EventID)
	header.Set("webhook-timestamp", strconv.FormatInt(c.Now.Unix(), 10))
	header.Set("webhook-signature", signature)
	ctx, span := trace.Begin(ctx, "POST", trace.Client)
	defer span.End()
	if span != nil {
		header.Set("traceparent", span.Parent())
	}
	began := time.Now()
	answer, err := r.config.Fetch.Post(ctx, c.URL, header, c.Body)
	if err != nil {
		span.Fail()
	}
	span.Count("http.response.status_code", int64(answer.Status))
	o.Attempt = hooks.DeliveryAttempt{At: c.Now, DurationSeconds: time.Since(began).Seconds(), Status: int64(answer.Status), Response: answer.Excerpt}
	var refused *fetch.Error
	switch {
	case errors.As(err, &refused):
		o.Attempt.Error = refused.Sentence
	case err != nil:
		return o, err
	case answer.Status >= 200 && answer.Status < 300:
		o.State = hooks.DeliveryDelivered
		return o, nil
	case answer.Status >= 300 && answer.Status < 400:
		o.Attempt.Error = fmt.Sprintf("The target answers %d, a redirect, which is not followed; give the webhook the address itself.", answer.Status)
	default:
		o.Attempt.Error = fmt.Sprintf("The target answers %d; it must answer 200 to 299 once it has the event.", answer.Status)
	}
	var retryAfter time.Duration
	if answer.Status == http.StatusTooManyRequests || answer.Status == http.StatusServiceUnavailable {
		retryAfter = answer.RetryAfter
	}
	pause, again := hooks.NextPause(int(c.Tries)+1, retryAfter, rand.Float64())
	switch {
	case answer.Status == http.StatusGone:
		again, o.Disable = false, "The target answered 410: it is gone and wants no more."
	case c.FailingSince != nil && c.Now.Sub(*c.FailingSince) >= hooks.WebhookPatience:
		again, o.Disable = false, fmt.Sprintf("Nothing was delivered since %s; the last error was: %s", c.FailingSince.UTC().Format(time.RFC3339), o.Attempt.Error)
	}
	o.State, o.After = hooks.DeliveryPending, pause
	if !again {
		o.State, o.After, o.Detail = hooks.DeliveryFailed, 0, o.Disable
		if o.Detail == "" {
			o.Detail = fmt.Sprintf("It was tried %d times; the last error was: %s", c.Tries+1, o.Attempt.Error)
		}
	}
	return o, nil
}

func (r *Runner) countDelivery(c hooks.DeliveryClaim, o hooks.DeliveryOutcome, took time.Duration) {
	if t := r.config.Telemetry; t != nil {
		outcome := string(o.State)
		if o.State == hooks.DeliveryPending {
			outcome = "again"
		}
		t.Delivery(outcome, took)
	}
	if o.Disable != "" {
		r.log.Warn("a webhook was disabled", "webhook", c.Webhook, "reason", o.Disable)
	} else if o.State == hooks.DeliveryFailed {
		r.log.Warn("a delivery was given up", "delivery", c.ID, "webhook", c.Webhook, "error", o.Attempt.Error)
	}
}
