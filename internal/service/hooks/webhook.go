package hooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"headroom/internal/core/capacity"
	"headroom/internal/core/fault"
	"headroom/internal/core/money"
	"headroom/internal/core/strict"
	"headroom/internal/data/fetch"
	"headroom/internal/data/inputs"
	"headroom/internal/service/plans"
	"headroom/internal/service/runs"
)

// Webhook is an address that is told when something happens.
type Webhook struct {
	ID       string   `json:"id,omitzero"`
	Name     string   `json:"name"`
	URL      string   `json:"url"`
	Events   []Event  `json:"events"`
	Clusters []string `json:"clusters"` // nil is all
	Enabled  bool     `json:"enabled"`
	// DisabledReason is why the server disabled it by itself; "" where it did not.
	DisabledReason string     `json:"disabled_reason,omitzero"`
	FailingSince   *time.Time `json:"failing_since"` // nothing was delivered since; nil where the last try was
	capacity.Stamp
}

// Event is what a webhook can be told of.
type Event string

// The events. Ping comes only when it is asked for.
const (
	PlanChanged Event = "plan.changed"
	PlanFailed  Event = "plan.failed"
	RunFinished Event = "run.finished"
	ReportMade  Event = "report.made"
	Ping        Event = "ping"
)

// Events are those that a webhook can ask for.
var Events = []Event{PlanChanged, PlanFailed, RunFinished, ReportMade}

// The words of the audit log. Of a secret it says only that it was changed.
const (
	WebhookKind       = "webhook"
	WebhookSecretKind = "webhook_secret"
	HostKind          = "allowed_host"
)

// UnmarshalJSON fills in what is left out.
func (w *Webhook) UnmarshalJSON(text []byte) error {
	type members Webhook
	m := members{Enabled: true}
	err := json.Unmarshal(text, &m)
	*w = Webhook(m)
	return err
}

// MaxWebhooks is how many there can be: each costs every event a row.
const MaxWebhooks = 200

// Validate says what is wrong with the webhook on its own; whether its host is allowed the list says.
func (w Webhook) Validate() error {
	return strict.Check(func(k *strict.Checker) {
		k.StoredName(w.Name)
		if _, fault := fetch.ParseTarget(w.URL); fault != "" {
			k.Refuse("url", "text", "%s", fault)
		}
		if len(w.Events) == 0 {
			k.Refuse("events", "missing", "The list of events is empty, so that nothing would be sent; name some of %s.", strings.Join(fault.Words(Events), ", "))
		}
		k.Enter("events")
		for i, e := range w.Events {
			k.Element(i)
			strict.OneOf(k, "", e, Events)
			if slices.Contains(w.Events[:i], e) {
				k.Refuse("", "duplicate", "The event %q is listed twice.", fault.Clip(string(e)))
			}
			k.Leave()
		}
		k.Leave()
		if w.Clusters != nil && len(w.Clusters) == 0 {
			k.Refuse("clusters", "missing", "The list of clusters is empty, so that nothing would be sent; name clusters, or give null for all.")
		}
		k.Enter("clusters")
		for i, name := range w.Clusters {
			k.Element(i)
			if detail := inputs.ClusterNameFault(name); detail != "" {
				k.Refuse("", "text", "%s", detail)
			} else if slices.Contains(w.Clusters[:i], name) {
				k.Refuse("", "duplicate", "The cluster %q is listed twice.", name)
			}
			k.Leave()
		}
		k.Leave()
	})
}

// Secrets of webhooks, as the Standard Webhooks specification has them.
const (
	SecretPrefix   = "whsec_"
	shortestSecret = 24
	longestSecret  = 64
	// SecretGrace is how long a secret goes on signing beside the one that took its place.
	SecretGrace = 24 * time.Hour
)

// NewSecret writes drawn bytes as a secret.
func NewSecret(drawn []byte) string {
	return SecretPrefix + base64.StdEncoding.EncodeToString(drawn)
}

// CheckSecret says what is wrong with a secret that somebody chose. Its value is not repeated.
func CheckSecret(secret string) error {
	return strict.Check(func(k *strict.Checker) {
		key, err := secretKey(secret)
		if err != nil || len(key) < shortestSecret || len(key) > longestSecret {
			k.Refuse("secret", "text", "The secret must be %q and %d to %d random bytes in base64; leave it out and one is made.", SecretPrefix, shortestSecret, longestSecret)
		}
	})
}

func secretKey(secret string) ([]byte, error) {
	text, ok := strings.CutPrefix(secret, SecretPrefix)
	if !ok {
		return nil, fmt.Errorf("a secret begins with %q", SecretPrefix)
	}
	return base64.StdEncoding.Strict().DecodeString(text)
}

// Sign is the header webhook-signature of a message: one signature a secret, the newest first.
func Sign(secrets []string, id string, at time.Time, body string) (string, error) {
	signatures := make([]string, len(secrets))
	for i, s := range secrets {
		key, err := secretKey(s)
		if err != nil {
			return "", err
		}
		sum := hmac.New(sha256.New, key)
		sum.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "." + body))
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(sum.Sum(nil))
	}
	return strings.Join(signatures, " "), nil
}

// DeliveryState is how far a delivery has come.
type DeliveryState string

// The states.
const (
	DeliveryPending   DeliveryState = "pending"
	DeliveryDelivered DeliveryState = "delivered"
	DeliveryFailed    DeliveryState = "failed" // given up, or the webhook was disabled
)

// Delivery is an event on its way to a webhook.
type Delivery struct {
	ID        string            `json:"id"`       // UUID version 7
	EventID   string            `json:"event_id"` // the header webhook-id, the same at every attempt
	Event     Event             `json:"event"`
	Cluster   string            `json:"cluster"` // "" where it is about none
	At        time.Time         `json:"at"`
	State     DeliveryState     `json:"state"`
	Detail    string            `json:"detail"` // why it was given up
	Attempts  []DeliveryAttempt `json:"attempts"`
	NextAt    *time.Time        `json:"next_at"` // of the next attempt; null where there is none
	Delivered *time.Time        `json:"delivered_at"`
}

// DeliveryAttempt is what came of sending once.
type DeliveryAttempt struct {
	At              time.Time `json:"at"`
	Status          int64     `json:"status"` // of the answer; 0 where there was none
	DurationSeconds float64   `json:"duration_s"`
	Error           string    `json:"error"`    // "" where it was delivered
	Response        string    `json:"response"` // the beginning of the answer's body, as text
}

// The pauses after the first, second, … attempt that failed; after the last pause there is one more
// attempt. A webhook that has failed in everything for so long is disabled.
var deliveryPauses = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour}

// Bounds of deliveries.
const (
	WebhookPatience  = 3 * 24 * time.Hour
	MaxAttemptsKept  = 20 // of a delivery that is retried by hand again and again
	longestAfterHint = 8 * time.Hour
	LongestPause     = 10 * time.Hour // no pause between attempts is longer
)

// NextPause is how long to wait after so many failed attempts, and whether to try again at all. asked
// is what the target said (Retry-After), and luck in [0, 1) spreads what failed together.
func NextPause(failed int, asked time.Duration, luck float64) (pause time.Duration, again bool) {
	if failed < 1 || failed > len(deliveryPauses) {
		return 0, false
	}
	pause = deliveryPauses[failed-1]
	pause += time.Duration(luck * 0.2 * float64(pause))
	return max(pause, min(asked, longestAfterHint)), true
}

// The bodies of events. Every one begins alike.

// EventHead is what every event's body has.
type EventHead struct {
	ID      string    `json:"id"` // the header webhook-id
	Type    Event     `json:"type"`
	At      time.Time `json:"at"`
	Cluster string    `json:"cluster,omitempty"`
}

// EventPlan is a plan in an event.
type EventPlan struct {
	Number      int64           `json:"number"` // later plans have higher numbers, in whichever order events come
	ID          string          `json:"id"`
	Status      capacity.Status `json:"status"`
	VMs         EventVMs        `json:"vms"`
	CostPerHour money.Amount    `json:"cost_per_hour"` // in all, as the plan's cost.per_hour
	VMsPerHour  money.Amount    `json:"vms_per_hour"`  // of it what the VMs cost; the rest are penalties
	Currency    string          `json:"currency"`
}

// EventVMs is how many VMs a plan rents.
type EventVMs struct {
	Total    float64 `json:"total"`
	Reserved float64 `json:"reserved"`
	OnDemand float64 `json:"on_demand"`
	Spot     float64 `json:"spot,omitempty"`
}

// PlanChangedEvent says that another plan is a cluster's current one.
type PlanChangedEvent struct {
	EventHead
	Plan     EventPlan  `json:"plan"`
	Previous *EventPlan `json:"previous"` // null where it is the first
}

// PlanFailedEvent says that a cluster could not be planned anew and its last plan stays.
type PlanFailedEvent struct {
	EventHead
	PlanNumber int64  `json:"plan_number"` // the current plan's
	Reason     string `json:"reason"`
}

// RunFinishedEvent says that a background run is over.
type RunFinishedEvent struct {
	EventHead
	Run EventRun `json:"run"`
}

// EventRun is a run in an event.
type EventRun struct {
	ID    string        `json:"id"`
	Kind  string        `json:"kind"`
	State runs.RunState `json:"state"`
	Error string        `json:"error"` // why it failed; "" where it did not
}

// PingEvent is sent to try a webhook.
type PingEvent struct {
	EventHead
	Webhook string `json:"webhook"` // its name
}

// EventOf is a plan as events tell it.
func EventOf(s plans.PlanSummary) EventPlan {
	perHour := func(cost decimal.Decimal) money.Amount {
		return money.Amount{Decimal: cost.Mul(decimal.NewFromInt(3600)).DivRound(decimal.NewFromInt(max(1, s.PeriodSeconds)), money.Places)}
	}
	return EventPlan{
		Number: s.Number, ID: s.ID, Status: s.Status, Currency: s.Currency,
		VMs:         EventVMs{Total: s.VMs, Reserved: s.VMsReserved, OnDemand: s.VMsOnDemand, Spot: s.VMsSpot},
		CostPerHour: perHour(s.TotalCost.Decimal), VMsPerHour: perHour(s.TotalCost.Sub(s.Penalties.Decimal)),
	}
}
