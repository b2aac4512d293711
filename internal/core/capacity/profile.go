package capacity

import "encoding/json"

// MarshalJSON writes the figures that the profile has: those of maps and reduces, or its stages.
func (p Profile) MarshalJSON() ([]byte, error) {
	if p.Stages == nil {
		type figures Profile
		return json.Marshal(figures(p))
	}
	return json.Marshal(struct {
		Stages          []Stage `json:"stages"`
		OverheadSeconds float64 `json:"overhead_s"`
	}{p.Stages, p.OverheadSeconds})
}
