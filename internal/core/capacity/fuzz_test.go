package capacity

import "testing"

func FuzzReadPlan(f *testing.F) {
	f.Add([]byte(`{"status":"optimal","vms":1,"classes":[]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := ReadPlan(text)
		if err != nil {
			return
		}
		if _, err := ReadPlan(AppendPlan(nil, p)); err != nil {
			t.Errorf("its own writing is refused: %v", err)
		}
	})
}
