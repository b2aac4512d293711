// Package hooks is the desk of webhooks: where events go, how they are signed, and which hosts are allowed.
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

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/strict"
	"example.org/headroom/internal/data/fetch"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/service/runs"
)

// Webhook is an address that receives events.
type Webhook struct {
	ID       string   `json:"id,omitzero"`
	Name     string   `json:"name"`
	URL      string   `json:"url"`
	Events   []Event  `json:"events"`
	Clusters []string `json:"clusters"` // nil is all
	Enabled  bool     `json:"enabled"`
	// DisabledReason is the reason why the server disabled it by itself; "" if it did not.
	DisabledReason string     `json:"disabled_reason,omitzero"`
	FailingSince   *time.Time `json:"failing_since"` // nothing was delivered since; nil if the last try was
	capacity.Stamp
}

// Event names an event that webhooks can receive.
type Event string

// The events. Ping is sent only on request.
const (
	PlanChanged Event = "plan.changed"
	PlanFailed  Event = "plan.failed"
	RunFinished Event = "run.finished"
	ReportMade  Event = "report.made"
	Ping        Event = "ping"
)

// Names in the audit log, which records only that a secret was changed.
const (
	WebhookKind       = "webhook"
	WebhookSecretKind = "webhook_secret"
	HostKind          = "allowed_host"
)

// UnmarshalJSON fills in defaults.
func (w *Webhook) UnmarshalJSON(text []byte) error {
	type members Webhook
	*w = Webhook{Enabled: true}
	return json.Unmarshal(text, (*members)(w))
}

// MaxWebhooks is the maximum number of webhooks: each costs every event a row.
const MaxWebhooks = 200

// Validate checks what the contract's rules for a webhook leave open; the list of allowed hosts decides on its host.
func (w Webhook) Validate() error {
	return strict.Check(func(k *strict.Checker) {
		k.StoredName(w.Name)
		if _, fault := fetch.ParseTarget(w.URL); fault != "" {
			k.Refuse("url", "text", "%s", fault)
		}
		k.Enter("events")
		for i, e := range w.Events {
			k.Element(i)
			if slices.Contains(w.Events[:i], e) {
				k.Refuse("", "duplicate", "The event %q is listed twice.", fault.Clip(string(e)))
			}
			k.Leave()
		}
		k.Leave()
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
	// secretGrace is the time in which a replaced secret still signs beside the new one.
	secretGrace = 24 * time.Hour
)

// NewSecret writes drawn bytes as a secret.
func NewSecret(drawn []byte) string {
	return SecretPrefix + base64.StdEncoding.EncodeToString(drawn)
}

// checkSecret checks a secret that somebody chose. Its value is not repeated.
func checkSecret(secret string) error {
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

// Sign returns the header webhook-signature of a message: one signature a secret, the newest first.
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

// DeliveryState names a stage of a delivery.
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
	Cluster   string            `json:"cluster"` // "" without one
	At        time.Time         `json:"at"`
	State     DeliveryState     `json:"state"`
	Detail    string            `json:"detail"` // the reason why it was given up
	Attempts  []DeliveryAttempt `json:"attempts"`
	NextAt    *time.Time        `json:"next_at"` // of the next attempt; null without one
	Delivered *time.Time        `json:"delivered_at"`
}

// DeliveryAttempt records one attempt.
type DeliveryAttempt struct {
	At              time.Time `json:"at"`
	Status          int64     `json:"status"` // of the answer; 0 without one
	DurationSeconds float64   `json:"duration_s"`
	Error           string    `json:"error"`    // "" if delivered
	Response        string    `json:"response"` // the beginning of the answer's body, as text
}

// The pauses after the first, second, … failed attempt; after the last pause there is one more attempt. A webhook
// whose every delivery has failed for that long is disabled.
var deliveryPauses = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour}

// Bounds of deliveries.
const (
	WebhookPatience  = 3 * 24 * time.Hour
	MaxAttemptsKept  = 20 // of a delivery that is retried by hand again and again
	longestAfterHint = 8 * time.Hour
	LongestPause     = 10 * time.Hour // no pause between attempts is longer
)

// NextPause returns the pause after a number of failed attempts, and whether to try again at all. asked is the
// target's wish (Retry-After), and luck in [0, 1) spreads deliveries that failed together.
func NextPause(failed int, asked time.Duration, luck float64) (pause time.Duration, again bool) {
	if failed < 1 || failed > len(deliveryPauses) {
		return 0, false
	}
	pause = deliveryPauses[failed-1]
	pause += time.Duration(luck * 0.2 * float64(pause))
	return max(pause, min(asked, longestAfterHint)), true
}

// The bodies of events. Every one begins alike.

// EventHead holds the common members of all events' bodies.
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
	CostPerHour money.Amount    `json:"cost_per_hour"` // bill and value refused together, as the plan's cost.per_hour
	VMsPerHour  money.Amount    `json:"vms_per_hour"`  // the bill
	Bill        money.Amount    `json:"bill_per_hour"`
	Value       money.Amount    `json:"value_refused_per_hour"`
	Currency    string          `json:"currency"`
}

// EventVMs counts the VMs that a plan rents.
type EventVMs struct {
	Total    float64 `json:"total"`
	Reserved float64 `json:"reserved"`
	OnDemand float64 `json:"on_demand"`
	Spot     float64 `json:"spot,omitempty"`
}

// PlanChangedEvent announces that another plan is a cluster's current one.
type PlanChangedEvent struct {
	EventHead
	Plan     EventPlan  `json:"plan"`
	Previous *EventPlan `json:"previous"` // null for the first one
}

// PlanFailedEvent announces that a cluster could not be planned again and keeps its last plan.
type PlanFailedEvent struct {
	EventHead
	PlanNumber int64  `json:"plan_number"` // the current plan's
	Reason     string `json:"reason"`
}

// RunFinishedEvent announces the end of a background run.
type RunFinishedEvent struct {
	EventHead
	Run EventRun `json:"run"`
}

// EventRun is a run in an event.
type EventRun struct {
	ID    string        `json:"id"`
	Kind  string        `json:"kind"`
	State runs.RunState `json:"state"`
	Error string        `json:"error"` // the reason of a failure; "" otherwise
}

// PingEvent is sent to try a webhook.
type PingEvent struct {
	EventHead
	Webhook string `json:"webhook"` // its name
}

// EventOf returns a plan's figures for events.
func EventOf(s plans.PlanSummary) EventPlan {
	perHour := func(cost decimal.Decimal) money.Amount {
		return money.Amount{Decimal: cost.Mul(decimal.NewFromInt(3600)).DivRound(decimal.NewFromInt(max(1, s.PeriodSeconds)), money.Places)}
	}
	bill := perHour(s.TotalCost.Sub(s.Penalties.Decimal))
	return EventPlan{
		Number: s.Number, ID: s.ID, Status: s.Status, Currency: s.Currency,
		VMs:         EventVMs{Total: s.VMs, Reserved: s.VMsReserved, OnDemand: s.VMsOnDemand, Spot: s.VMsSpot},
		CostPerHour: perHour(s.TotalCost.Decimal), VMsPerHour: bill, Bill: bill, Value: perHour(s.Penalties.Decimal),
	}
}
