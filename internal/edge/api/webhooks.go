package api

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"example.org/headroom/internal/data/fetch"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/hooks"
	"example.org/headroom/internal/service/report"
)

// newWebhook is the request for a webhook; createdWebhook is the answer. Nothing else contains a secret.
type (
	newWebhook struct {
		hooks.Webhook
		Secret string `json:"secret"`
	}
	createdWebhook struct {
		hooks.Webhook
		Secret string `json:"secret,omitempty"`
	}
	secretRequest struct {
		Secret string `json:"secret"`
	}
	newSecret struct {
		Secret string    `json:"secret,omitempty"`
		Until  time.Time `json:"previous_until"` // until then the one before signs, too
	}
)

// UnmarshalJSON reads the secret beside the webhook, which reads itself.
func (n *newWebhook) UnmarshalJSON(text []byte) error {
	var s secretRequest
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	n.Secret = s.Secret
	return json.Unmarshal(text, &n.Webhook)
}

func (s *server) ListAllowedHosts(ctx context.Context, r ListAllowedHostsRequest) (reply[AllowedHostList], error) {
	return listed(ctx, s, paging(r.Params), "allowed-hosts", hostTable, s.app.Stores.Webhooks.AllowedHosts)
}

func (s *server) CreateAllowedHost(ctx context.Context, r CreateAllowedHostRequest) (reply[AllowedHost], error) {
	h, err := s.app.Hooks.AllowHost(ctx, *r.Body)
	return reply[AllowedHost]{body: h, created: h.ID}, err
}

func (s *server) DeleteAllowedHost(ctx context.Context, r DeleteAllowedHostRequest) (reply[nothing], error) {
	return done(s.app.Stores.Webhooks.DenyHost(ctx, r.Id))
}

func (s *server) ListWebhooks(ctx context.Context, r ListWebhooksRequest) (reply[WebhookList], error) {
	return listed(ctx, s, paging(r.Params), "webhooks", webhookTable, s.app.Stores.Webhooks.Webhooks)
}

func (s *server) CreateWebhook(ctx context.Context, r CreateWebhookRequest) (reply[CreatedWebhook], error) {
	w, secret, err := s.app.Hooks.Create(ctx, r.Body.Webhook, r.Body.Secret)
	return reply[CreatedWebhook]{body: createdWebhook{w, secret}, created: w.ID, etag: etagOf(w.Version), repeat: &createdWebhook{Webhook: w}}, err
}

func (s *server) GetWebhook(ctx context.Context, r GetWebhookRequest) (reply[Webhook], error) {
	w, err := s.app.Stores.Webhooks.Webhook(ctx, r.Id)
	return versioned(w, w.Version, err)
}

func (s *server) ReplaceWebhook(ctx context.Context, r ReplaceWebhookRequest) (reply[Webhook], error) {
	version, err := seenVersion(r.Params.IfMatch)
	if err != nil {
		return reply[Webhook]{}, err
	}
	r.Body.ID = r.Id
	w, err := s.app.Hooks.Replace(ctx, version, *r.Body)
	return versioned(w, w.Version, err)
}

func (s *server) DeleteWebhook(ctx context.Context, r DeleteWebhookRequest) (reply[nothing], error) {
	version, err := seenVersion(r.Params.IfMatch)
	if err != nil {
		return done(err)
	}
	return done(s.app.Stores.Webhooks.DeleteWebhook(ctx, r.Id, version))
}

func (s *server) RotateWebhookSecret(ctx context.Context, r RotateWebhookSecretRequest) (reply[NewSecret], error) {
	secret, until, err := s.app.Hooks.RotateSecret(ctx, r.Id, r.Body.Secret)
	return reply[NewSecret]{body: newSecret{secret, until}, repeat: &newSecret{Until: until}}, err
}

func (s *server) TestWebhook(ctx context.Context, r TestWebhookRequest) (reply[Delivery], error) {
	return plain(s.app.Stores.Webhooks.PingWebhook(ctx, r.Id))
}

func (s *server) ListDeliveries(ctx context.Context, r ListDeliveriesRequest) (reply[DeliveryList], error) {
	return listed(ctx, s, paging(r.Params), "deliveries", deliveryTable, func(ctx context.Context, p storage.Page) (storage.Listed[hooks.Delivery], error) {
		return s.app.Stores.Webhooks.Deliveries(ctx, r.Id, p)
	})
}

func (s *server) RetryDelivery(ctx context.Context, r RetryDeliveryRequest) (reply[Delivery], error) {
	return plain(s.app.Stores.Webhooks.RetryDelivery(ctx, r.Id, r.Delivery))
}

func hostTable(hosts []fetch.AllowedHost) report.Table {
	t := report.Table{Columns: []string{"id", "host", "port", "http", "networks", "created_at", "created_by"}}
	for _, h := range hosts {
		t.Rows = append(t.Rows, []report.Cell{
			report.Text(h.ID), report.Text(h.Host), whole(h.Port), yes(h.HTTP), report.Names(h.Networks),
			report.Time(h.CreatedAt), report.Text(h.CreatedBy),
		})
	}
	return t
}

func webhookTable(webhooks []hooks.Webhook) report.Table {
	t := report.Table{Columns: []string{"id", "name", "url", "events", "clusters", "enabled", "disabled_reason", "failing_since", "version", "created_at", "updated_at"}}
	for _, w := range webhooks {
		events := make([]string, len(w.Events))
		for i, e := range w.Events {
			events[i] = string(e)
		}
		t.Rows = append(t.Rows, []report.Cell{
			report.Text(w.ID), report.Text(w.Name), report.Text(w.URL), report.Text(strings.Join(events, " ")), report.Names(w.Clusters), yes(w.Enabled),
			report.Text(w.DisabledReason), report.MaybeTime(w.FailingSince), whole(w.Version), report.Time(w.CreatedAt), report.Time(w.UpdatedAt),
		})
	}
	return t
}

func deliveryTable(deliveries []hooks.Delivery) report.Table {
	t := report.Table{Columns: []string{"id", "event_id", "event", "cluster", "at", "state", "detail", "attempts", "last_status", "last_error", "next_at", "delivered_at"}}
	for _, d := range deliveries {
		var last hooks.DeliveryAttempt
		if n := len(d.Attempts); n > 0 {
			last = d.Attempts[n-1]
		}
		t.Rows = append(t.Rows, []report.Cell{
			report.Text(d.ID), report.Text(d.EventID), report.Text(string(d.Event)), report.Text(d.Cluster), report.Time(d.At), report.Text(string(d.State)), report.Text(d.Detail),
			whole(int64(len(d.Attempts))), whole(last.Status), report.Text(last.Error), report.MaybeTime(d.NextAt), report.MaybeTime(d.Delivered),
		})
	}
	return t
}

func whole(n int64) report.Cell { return report.Cell{Text: strconv.FormatInt(n, 10), Number: true} }
func yes(b bool) report.Cell    { return report.Text(strconv.FormatBool(b)) }
