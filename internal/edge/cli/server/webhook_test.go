package server

import (
	"encoding/json"
	"reflect"
	"testing"

	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/service/hooks"
)

// The table says why a delivery that is tried again was not taken: its detail is empty until it is given up.
func TestDeliveriesThatAreTriedAgainSayWhy(t *testing.T) {
	t.Parallel()
	for item, want := range map[string]string{
		`{"state":"pending","attempts":[{"error":"The target answers 500."},{"error":"The target answers 502."}]}`: "The target answers 502.",
		`{"state":"pending","attempts":[]}`: "–",
		`{"state":"failed","detail":"The webhook was disabled.","attempts":[{"error":"The target answers 500."}]}`: "The webhook was disabled.",
		`{"state":"delivered","attempts":[{"error":"The target answers 500."},{"error":""}]}`:                      "–",
	} {
		table, err := remote.Rows(reflect.TypeFor[hooks.Delivery](), []json.RawMessage{lastError(json.RawMessage(item))}, []string{"state", "detail"})
		if err != nil || table.Rows[0][1].Text != want {
			t.Errorf("%s: got %+v, %v, want the detail %q", item, table.Rows, err, want)
		}
	}
}
