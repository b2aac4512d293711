package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"headroom/internal/core/fault"
	"headroom/internal/data/fetch"
	"headroom/internal/service/auth"
	"headroom/internal/service/hooks"
)

// DeliveryWork makes a server look at a delivery.
type DeliveryWork struct {
	ID string `json:"id"`
}

func (DeliveryWork) Kind() string      { return "delivery" }
func (DeliveryWork) Queue() string     { return "webhooks" }
func (DeliveryWork) MostAttempts() int { return 1 } // the delivery's row keeps count

// Webhooks is what the store keeps of webhooks and of what they are sent. Deliveries are made in the
// transaction of what they tell. Their leases and moments are judged by the database's clock.
type Webhooks interface {
	AllowedHosts(ctx context.Context, page Page) (Listed[fetch.AllowedHost], error) // by host and port
	AllowHost(ctx context.Context, h fetch.AllowedHost) (fetch.AllowedHost, error)
	DenyHost(ctx context.Context, id string) error
	// HostOf is the entry for a host and a port; NotFound where there is none.
	HostOf(ctx context.Context, host string, port int64) (fetch.AllowedHost, error)

	Webhooks(ctx context.Context, page Page) (Listed[hooks.Webhook], error) // by name
	Webhook(ctx context.Context, id string) (hooks.Webhook, error)
	CreateWebhook(ctx context.Context, w hooks.Webhook, secret string) (hooks.Webhook, error)
	ReplaceWebhook(ctx context.Context, version int64, w hooks.Webhook) (hooks.Webhook, error)
	DeleteWebhook(ctx context.Context, id string, version int64) error
	// RotateSecret makes another secret the one that counts. The one before goes on signing for a while.
	RotateSecret(ctx context.Context, id, secret string, grace time.Duration) (until time.Time, err error)

	// Deliveries lists the newest first.
	Deliveries(ctx context.Context, webhook string, page Page) (Listed[hooks.Delivery], error)
	// PingWebhook sends a ping, also to a webhook that did not ask for any event. A disabled one is a
	// Conflict, here and below.
	PingWebhook(ctx context.Context, id string) (hooks.Delivery, error)
	// RetryDelivery sends again, at once.
	RetryDelivery(ctx context.Context, webhook, id string) (hooks.Delivery, error)

	// ClaimDelivery takes a delivery that is due, for as long as lease; nil says that there is nothing
	// to do. Where the webhook has most in flight already the delivery is put off.
	ClaimDelivery(ctx context.Context, id string, most int, lease time.Duration) (*DeliveryClaim, error)
	// SettleDelivery says what came of a claimed delivery. ErrClaimLost says that it is somebody else's,
	// or deleted.
	SettleDelivery(ctx context.Context, c DeliveryClaim, o DeliveryOutcome) error
	// SweepDeliveries hands out again what servers have left that are gone.
	SweepDeliveries(ctx context.Context) error
	// ForgetDeliveries deletes those that were made longer ago than that.
	ForgetDeliveries(ctx context.Context, after time.Duration) (int64, error)
}

// DeliveryClaim is a delivery that this process sends.
type DeliveryClaim struct {
	ID, Token, EventID string
	Webhook            string // its id
	URL                string
	Body               string
	Secrets            []string // that sign it, the newest first
	Tries              int64    // failed ones
	FailingSince       *time.Time
	Now                time.Time // the database's
}

// DeliveryOutcome is what came of sending.
type DeliveryOutcome struct {
	Attempt hooks.DeliveryAttempt
	State   hooks.DeliveryState
	After   time.Duration // where it is pending: until the next attempt
	Detail  string        // where it failed for good: why
	Disable string        // why the webhook is disabled; "" leaves it as it is
	Spare   bool          // nothing was sent because the server stops: the attempt does not count
}

// AllowHost lets the server send to a host.
func (a *App) AllowHost(ctx context.Context, h fetch.AllowedHost) (fetch.AllowedHost, error) {
	if err := firstError(forAllClusters(ctx), h.Validate()); err != nil {
		return h, err
	}
	return a.Stores.Webhooks.AllowHost(ctx, h)
}

// CreateWebhook makes a webhook and answers its secret, which is never shown again; "" draws one.
func (a *App) CreateWebhook(ctx context.Context, w hooks.Webhook, secret string) (hooks.Webhook, string, error) {
	secret, err := secretOf(secret)
	if err := firstError(forAllClusters(ctx), err, a.checkWebhook(ctx, w), a.checkClusters(ctx, w.Clusters, nil)); err != nil {
		return w, "", err
	}
	w, err = a.Stores.Webhooks.CreateWebhook(ctx, w, secret)
	return w, secret, err
}

// ReplaceWebhook changes a webhook. Enabling it forgets that it failed.
func (a *App) ReplaceWebhook(ctx context.Context, version int64, w hooks.Webhook) (hooks.Webhook, error) {
	before, err := a.Stores.Webhooks.Webhook(ctx, w.ID)
	if err := firstError(forAllClusters(ctx), err, a.checkWebhook(ctx, w), a.checkClusters(ctx, w.Clusters, before.Clusters)); err != nil {
		return w, err
	}
	return a.Stores.Webhooks.ReplaceWebhook(ctx, version, w)
}

// RotateSecret gives a webhook another secret and answers it with the moment until which the one
// before signs, too.
func (a *App) RotateSecret(ctx context.Context, id, secret string) (string, time.Time, error) {
	secret, err := secretOf(secret)
	if err := firstError(forAllClusters(ctx), err); err != nil {
		return "", time.Time{}, err
	}
	until, err := a.Stores.Webhooks.RotateSecret(ctx, id, secret, hooks.SecretGrace)
	return secret, until, err
}

func firstError(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// forAllClusters refuses principals that see some clusters alone: webhooks reach beyond them.
func forAllClusters(ctx context.Context) error {
	if auth.From(ctx).Clusters == nil {
		return nil
	}
	return fmt.Errorf("webhooks and allowed hosts are managed with an admin key that is not limited to clusters: %w", fault.Forbidden)
}

func secretOf(chosen string) (string, error) {
	if chosen != "" {
		return chosen, hooks.CheckSecret(chosen)
	}
	drawn := make([]byte, 32)
	_, _ = rand.Read(drawn) // never fails
	return hooks.NewSecret(drawn), nil
}

// checkClusters refuses names of clusters that there are not: a webhook with a slip in one would be
// silent for ever. Those that it has already may have been deleted since.
func (a *App) checkClusters(ctx context.Context, names, had []string) error {
	var input fault.InputError
	for i, name := range names {
		if slices.Contains(had, name) {
			continue
		}
		_, err := a.Stores.Inputs.Cluster(ctx, name)
		if err != nil && !errors.Is(err, fault.NotFound) {
			return err
		}
		if err == nil {
			continue
		}
		known, err := a.Stores.Inputs.Clusters(ctx, nil, Page{Limit: 1000}) // enough to find what was meant
		if err != nil {
			return err
		}
		all := make([]string, len(known.Items))
		for k, c := range known.Items {
			all[k] = c.Name
		}
		f := fault.Finding{Pointer: fmt.Sprintf("/clusters/%d", i), Code: "unknown", Detail: fmt.Sprintf("There is no cluster %q; make it first, or leave it out.", name)}
		if best := fault.Nearest(name, all); best != "" {
			f.Hint = &fault.Hint{Detail: fmt.Sprintf("Did you mean %q?", best), Pointer: f.Pointer, Value: best}
		}
		if input.Findings = append(input.Findings, f); len(input.Findings) == fault.MaxFindings {
			break
		}
	}
	if input.Findings != nil {
		return &input
	}
	return nil
}

// checkWebhook refuses what makes no sense, and addresses of hosts that are not on the list.
func (a *App) checkWebhook(ctx context.Context, w hooks.Webhook) error {
	if err := w.Validate(); err != nil {
		return err
	}
	return a.checkAddress(ctx, w.URL)
}
