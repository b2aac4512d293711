package hooks

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/service/plans"
)

func TestWebhooksThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		situation string
		change    func(*Webhook)
		words     string
	}{
		{"no name", func(w *Webhook) { w.Name = "" }, "/name: "},
		{"an address", func(w *Webhook) { w.URL = "https://u:p@hooks.example.com/" }, "/url: "},
		{"an event twice", func(w *Webhook) { w.Events = []Event{PlanChanged, PlanChanged} }, "/events/1: "},
		{"no cluster's name", func(w *Webhook) { w.Clusters = []string{"shop", "No Cluster"} }, "/clusters/1: "},
		{"a cluster twice", func(w *Webhook) { w.Clusters = []string{"shop", "shop"} }, "/clusters/1: "},
	} {
		w := Webhook{Name: "pager", URL: "https://hooks.example.com/a", Events: []Event{PlanChanged}, Enabled: true}
		if err := w.Validate(); err != nil {
			t.Fatal(err)
		}
		c.change(&w)
		if err := w.Validate(); err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: got %v, want %q", c.situation, err, c.words)
		}
	}
	var w Webhook
	if err := json.Unmarshal([]byte(`{"name":"a"}`), &w); err != nil || !w.Enabled || w.Clusters != nil {
		t.Errorf("got %+v, %v", w, err)
	}
}

func TestSecrets(t *testing.T) {
	for _, secret := range []string{"", "whsec_", "whsec_c2hvcnQ=", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_not base64!not base64!not base64!", "whsec_" + strings.Repeat("AAAA", 30)} {
		if err := checkSecret(secret); err == nil || len(secret) > 10 && strings.Contains(err.Error(), secret) {
			t.Errorf("%q: got %v", secret, err)
		}
	}
	if err := checkSecret(NewSecret(make([]byte, 24))); err != nil {
		t.Error(err)
	}
}

// The example of the Standard Webhooks specification's own libraries.
func TestSignatureIsTheStandards(t *testing.T) {
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	got, err := Sign([]string{secret}, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), `{"test": 2432232314}`)
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if two, err := Sign([]string{secret, NewSecret(make([]byte, 32))}, "a", time.Unix(0, 0), "b"); err != nil || len(strings.Fields(two)) != 2 {
		t.Errorf("got %q, %v", two, err)
	}
}

func TestPausesGrow(t *testing.T) {
	var before, all time.Duration
	for failed := 1; failed <= 9; failed++ {
		pause, again := NextPause(failed, 0, 0)
		late, _ := NextPause(failed, 0, 0.999)
		if !again || pause <= before || late < pause || late > pause*12/10 {
			t.Errorf("after %d attempts: got %s to %s, %v", failed, pause, late, again)
		}
		before, all = pause, all+pause
	}
	if all < 15*time.Hour || all > 17*time.Hour {
		t.Errorf("all pauses take %s", all)
	}
	if _, again := NextPause(10, 0, 0); again {
		t.Error("after ten attempts there is another one")
	}
	if pause, _ := NextPause(1, time.Minute, 0); pause != time.Minute {
		t.Errorf("asked for a minute: got %s", pause)
	}
	if pause, _ := NextPause(1, 1000*time.Hour, 0); pause != 8*time.Hour {
		t.Errorf("asked for a thousand hours: got %s", pause)
	}
}

func TestPlansInEventsCostAnHour(t *testing.T) {
	money := func(s string) money.Amount {
		m, err := money.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	got := EventOf(plans.PlanSummary{Number: 3, TotalCost: money("150"), Penalties: money("50"), PeriodSeconds: 7200, Currency: "EUR", VMs: 6, VMsReserved: 2, VMsOnDemand: 3, VMsSpot: 1})
	if !got.CostPerHour.Equal(money("75").Decimal) || !got.VMsPerHour.Equal(money("50").Decimal) || got.VMs != (EventVMs{6, 2, 3, 1}) {
		t.Errorf("got %+v", got)
	}
}
