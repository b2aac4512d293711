package capacity

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"example.org/headroom/internal/core/money"
)

// TestPlansAreReadAsTheStandardLibraryDoes compares the hand-written reader with encoding/json, also on texts that
// were damaged. Nearly every plan must be read by hand.
func TestPlansAreReadAsTheStandardLibraryDoes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 10))
	whole, damaged := 0, 0
	agree := func(text []byte) bool {
		got, err := ReadPlan(text)
		if err != nil {
			return false
		}
		var want Plan
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&want); err != nil {
			t.Fatalf("read by hand, and encoding/json says: %v\n%s", err, text)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("read %s\nas   %s\nwant %s", text, AppendPlan(nil, got), AppendPlan(nil, want))
		}
		return true
	}
	plans := many(1200, 3000)
	for range plans {
		var p Plan
		fill(t, r, reflect.ValueOf(&p).Elem())
		soften(r, reflect.ValueOf(&p).Elem())
		text := AppendPlan(nil, p)
		if agree(text) {
			whole++
			nearAgrees(t, text)
		}
		for range 5 {
			if agree(damage(r, text)) {
				damaged++
			}
		}
	}
	if whole < plans*9/10 {
		t.Errorf("%d of %d plans were read by hand; want nearly all", whole, plans)
	}
	if damaged < plans/10 || damaged > 4*plans {
		t.Errorf("%d of %d damaged texts were read by hand; they are no sample", damaged, 5*plans)
	}
}

// nearAgrees holds what the next plan should be near to against the plan, also where a newer release has added members.
func nearAgrees(t *testing.T, text []byte) {
	t.Helper()
	p, err := ReadPlan(text)
	if err != nil {
		t.Fatal(err)
	}
	want := Near{VMs: p.VMs.Total, Jobs: map[string]float64{}}
	for _, c := range p.Classes {
		want.Jobs[c.Name] = c.Admitted
	}
	for _, text := range [][]byte{text, bytes.Replace(text, []byte(`{`), []byte(`{"later":[{"vms":{"total":-1}}],`), 1)} {
		if got, err := ReadNear(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("of %s\ngot  %+v, %v\nwant %+v", text, got, err, want)
		}
	}
}

// soften puts amounts that a plan can hold in the place of those that only test the writer.
func soften(r *rand.Rand, v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[money.Amount]():
		v.Set(reflect.ValueOf(money.Round(float64(r.IntN(1e6)) / 128)))
	case v.Type() == reflect.TypeFor[Status]():
		v.SetString(string(allStatus[r.IntN(len(allStatus))]))
	case v.Type() == reflect.TypeFor[Cutoff]():
		v.SetString(string(allCutoff[r.IntN(len(allCutoff))]))
	case v.Type() == reflect.TypeFor[Verdict]():
		v.SetString(string(allVerdict[r.IntN(len(allVerdict))]))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			soften(r, v.Field(i))
		}
	case v.Kind() == reflect.Pointer && !v.IsNil():
		soften(r, v.Elem())
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			soften(r, v.Index(i))
		}
	case v.Kind() == reflect.Int64, v.Kind() == reflect.Int:
		v.SetInt(r.Int64N(1e12))
	}
}

// damage changes a text in one place.
func damage(r *rand.Rand, text []byte) []byte {
	at := r.IntN(len(text))
	switch r.IntN(4) {
	case 0:
		return text[:at]
	case 1: // without a byte
		return append(append([]byte{}, text[:at]...), text[at+1:]...)
	case 2:
		const bytes = `"{}[],:.eE-0123456789ntfalse\ `
		return append(append(append([]byte{}, text[:at]...), bytes[r.IntN(len(bytes))]), text[at:]...)
	default: // a value that is not there, or another
		words := []string{"null", "1", `"x"`, "[]", "{}", "1e5", "-0.5", "true", `"5.25"`}
		old := words[r.IntN(len(words))]
		return []byte(strings.Replace(string(text), ":"+old, ":"+words[r.IntN(len(words))], 1+r.IntN(3)))
	}
}
