package hooks

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/fetch"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
)

// Store stores webhooks and their deliveries. Deliveries are made in the transaction of their event. The
// database's clock decides on their leases and moments.
type Store interface {
	AllowedHosts(ctx context.Context, page storage.Page) (storage.Listed[fetch.AllowedHost], error) // by host and port
	AllowHost(ctx context.Context, h fetch.AllowedHost) (fetch.AllowedHost, error)
	DenyHost(ctx context.Context, id string) error
	// HostOf returns the entry for a host and a port, or NotFound.
	HostOf(ctx context.Context, host string, port int64) (fetch.AllowedHost, error)

	Webhooks(ctx context.Context, page storage.Page) (storage.Listed[Webhook], error) // by name
	Webhook(ctx context.Context, id string) (Webhook, error)
	CreateWebhook(ctx context.Context, w Webhook, secret string) (Webhook, error)
	ReplaceWebhook(ctx context.Context, version int64, w Webhook) (Webhook, error)
	DeleteWebhook(ctx context.Context, id string, version int64) error
	// RotateSecret replaces the present secret, which still signs for a while.
	RotateSecret(ctx context.Context, id, secret string, grace time.Duration) (until time.Time, err error)

	// Deliveries lists the newest first.
	Deliveries(ctx context.Context, webhook string, page storage.Page) (storage.Listed[Delivery], error)
	// PingWebhook sends a ping, also to a webhook that subscribed to no event. A disabled one is a Conflict, here and
	// below.
	PingWebhook(ctx context.Context, id string) (Delivery, error)
	// RetryDelivery sends again, at once.
	RetryDelivery(ctx context.Context, webhook, id string) (Delivery, error)

	// ClaimDelivery takes a due delivery, for the time of the lease; nil means that there is nothing to do. If the
	// webhook already has most in flight the delivery is postponed.
	ClaimDelivery(ctx context.Context, id string, most int, lease time.Duration) (*DeliveryClaim, error)
	// SettleDelivery stores the outcome of a claimed delivery. ErrClaimLost means that it belongs to somebody else,
	// or is deleted.
	SettleDelivery(ctx context.Context, c DeliveryClaim, o DeliveryOutcome) error
	// SweepDeliveries hands out the deliveries of lost servers again.
	SweepDeliveries(ctx context.Context) error
	// ForgetDeliveries deletes deliveries that were made longer ago than that.
	ForgetDeliveries(ctx context.Context, after time.Duration) (int64, error)
}

// Clusters reads which clusters there are.
type Clusters interface {
	Cluster(ctx context.Context, name string) (inputs.Cluster, error)
	// Clusters lists by name. only, unless nil, names those the caller may see.
	Clusters(ctx context.Context, only []string, page storage.Page) (storage.Listed[inputs.Cluster], error)
}

// Desk checks and keeps webhooks and the hosts that the server may send to.
type Desk struct {
	store    Store
	clusters Clusters
}

func New(store Store, clusters Clusters) *Desk { return &Desk{store, clusters} }

// DeliveryWork makes a server check a delivery.
type DeliveryWork struct {
	ID string `json:"id"`
}

func (DeliveryWork) Kind() string     { return "delivery" }
func (DeliveryWork) Queue() string    { return "webhooks" }
func (DeliveryWork) MaxAttempts() int { return 1 } // the delivery's row keeps count

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

// DeliveryOutcome is the outcome of sending.
type DeliveryOutcome struct {
	Attempt DeliveryAttempt
	State   DeliveryState
	After   time.Duration // while pending: until the next attempt
	Detail  string        // the reason of a final failure
	Disable string        // the reason to disable the webhook; "" leaves it as it is
	Spare   bool          // nothing was sent because the server stops: the attempt does not count
}

// AllowHost allows the server to send to a host.
func (d *Desk) AllowHost(ctx context.Context, h fetch.AllowedHost) (fetch.AllowedHost, error) {
	if err := firstError(forAllClusters(ctx), h.Validate()); err != nil {
		return h, err
	}
	return d.store.AllowHost(ctx, h)
}

// Create creates a webhook and returns its secret, which is never shown again; "" draws one.
func (d *Desk) Create(ctx context.Context, w Webhook, secret string) (Webhook, string, error) {
	secret, err := secretOf(secret)
	if err := firstError(forAllClusters(ctx), err, d.checkWebhook(ctx, w), d.checkClusters(ctx, w.Clusters, nil)); err != nil {
		return w, "", err
	}
	w, err = d.store.CreateWebhook(ctx, w, secret)
	return w, secret, err
}

// Replace changes a webhook. Enabling it forgets that it failed.
func (d *Desk) Replace(ctx context.Context, version int64, w Webhook) (Webhook, error) {
	before, err := d.store.Webhook(ctx, w.ID)
	if err := firstError(forAllClusters(ctx), err, d.checkWebhook(ctx, w), d.checkClusters(ctx, w.Clusters, before.Clusters)); err != nil {
		return w, err
	}
	return d.store.ReplaceWebhook(ctx, version, w)
}

// RotateSecret gives a webhook another secret and returns it with the moment until which the one before signs, too.
func (d *Desk) RotateSecret(ctx context.Context, id, secret string) (string, time.Time, error) {
	secret, err := secretOf(secret)
	if err := firstError(forAllClusters(ctx), err); err != nil {
		return "", time.Time{}, err
	}
	until, err := d.store.RotateSecret(ctx, id, secret, secretGrace)
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
		return chosen, checkSecret(chosen)
	}
	drawn := make([]byte, 32)
	_, _ = rand.Read(drawn) // never fails
	return NewSecret(drawn), nil
}

// checkClusters refuses names of clusters that there are not: a webhook with a slip in one would be
// silent for ever. Those that it has already may have been deleted since.
func (d *Desk) checkClusters(ctx context.Context, names, had []string) error {
	var input fault.InputError
	for i, name := range names {
		if slices.Contains(had, name) {
			continue
		}
		_, err := d.clusters.Cluster(ctx, name)
		if err != nil && !errors.Is(err, fault.NotFound) {
			return err
		}
		if err == nil {
			continue
		}
		known, err := d.clusters.Clusters(ctx, nil, storage.Page{Limit: 1000}) // enough to suggest the intended one
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

// checkWebhook refuses senseless webhooks, and addresses of hosts that are not on the list.
func (d *Desk) checkWebhook(ctx context.Context, w Webhook) error {
	if err := w.Validate(); err != nil {
		return err
	}
	return d.CheckAddress(ctx, w.URL)
}

// CheckAddress refuses addresses of a wrong form or of a host that is not allowed.
func (d *Desk) CheckAddress(ctx context.Context, address string) error {
	target, wrong := fetch.ParseTarget(address)
	if wrong == "" {
		host, err := d.store.HostOf(ctx, target.Host, target.Port)
		switch {
		case errors.Is(err, fault.NotFound):
			wrong = target.NotAllowed()
		case err != nil:
			return err
		default:
			wrong = host.Allows(target)
		}
	}
	if wrong != "" {
		return &fault.InputError{Findings: []fault.Finding{{Pointer: "/url", Code: "not_allowed", Detail: wrong}}}
	}
	return nil
}
