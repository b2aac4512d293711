package api

import (
	"encoding/json"
	"fmt"
	"testing"

	"example.org/headroom/internal/ask/horizon"
)

// The contract and the reader take the same scenarios of questions: changes or a saved one, never neither or both.
func TestAskedScenariosAsTheContractSays(t *testing.T) {
	schema := contract(t).Components.Schemas["AskedScenario"].Value
	for text, fine := range map[string]bool{
		`{}`:                            false,
		`{"name": "x"}`:                 false,
		`{"changes": []}`:               true,
		`{"saved": "x"}`:                true,
		`{"saved": "x", "name": "y"}`:   true,
		`{"saved": "x", "changes": []}`: false,
		`{"changes": [], "note": "z"}`:  true,
		`{"changes": [], "more": 1}`:    false,
		`{"changes": [{"what": "price", "factor": 2}]}`: true,
	} {
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		_, err := horizon.ReadClusterHorizon(fmt.Appendf(nil, `{"scenario": %s}`, text))
		if matches := matchesSchema(schema, value); matches != fine || (err == nil) != fine {
			t.Errorf("%s: the contract says %v, the reader %v; want %v", text, matches, err, fine)
		}
	}
}
