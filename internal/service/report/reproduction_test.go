package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/ask/reproduce"
)

func TestSignificantDigits(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 1: "1", 0.47114: "0.4711", 6.1893: "6.189", 16505.67: "16506", 1e6: "1000000", 12.30: "12.3", -3.14159: "-3.142",
		0.00008592: "0.00008592", 0.000000754: "7.54e-07", 0.99996: "1", 9.9999: "10", 2.5e-24: "2.5e-24",
	} {
		if got := significant(x); got != want {
			t.Errorf("%g: got %q, want %q", x, got, want)
		}
	}
}

func TestReproductionText(t *testing.T) {
	r := reproduce.Reproduction{
		Experiment: reproduce.Experiment{Name: "tea", About: "how hot it is", Source: "a paper", Claim: "Hot.", Method: "It is drunk. Then it is gone."},
		Setting:    reproduce.Setting{Seed: 7, Instances: 3, Quick: true},
		Columns:    []string{"cup", "drunk", "degrees", "spilt"},
		Rows:       [][]any{{"blue", 1, 61.23456, nil}, {"red", 20, 5.0, nil}},
		Checks: []reproduce.Check{
			{Figure: "mean", Paper: "> 60", Ours: new(61.23456), Unit: "°C", Least: new(60.0), Band: reproduce.Inside, Verdict: reproduce.Different,
				Claim: &reproduce.Claim{Name: "hot", Says: "Tea is hot.", PaperProtocol: "Cups.", OurProtocol: "Glasses.",
					Recorded: reproduce.Confirmed, Reason: "Glass cools."}},
			{Figure: "most", Ours: new(5.0), Most: new(4.5), Least: new(0.0), Band: reproduce.Outside},
			{Figure: "range", Ours: new(5.0), Most: new(6.0), Least: new(4.0), Band: reproduce.Inside, Remark: "in cups"},
			{Figure: "none", Band: reproduce.Uncertain},
		},
		Notes:   []string{"Tea cools."},
		Verdict: "It does not hold.",
	}
	var b strings.Builder
	if err := ReproductionText(&b, r); err != nil {
		t.Fatal(err)
	}
	want := `tea: how hot it is

Source: a paper
Claim:  Hot.
Ours:   It is drunk.
        Then it is gone.
        First seed 7, the quick version, instances a point: 3.

cup   drunk  degrees  spilt
blue      1    61.23
red      20        5

Claim  Paper      Ours  Verdict
hot    > 60   61.23 °C  different, recorded: confirmed

hot: Tea is hot.
  The paper's protocol: Cups.
  Ours: Glasses.
  Reason: Glass cools.

Our figure      Ours        Our band  In it
mean        61.23 °C  at least 60 °C  inside
most               5     at most 4.5  outside
range              5          4 to 6  inside: in cups
none            none                  not known

Tea cools.

Verdict: It does not hold.
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	b.Reset()
	if err := Measured(r).CSV(&b); err != nil || b.String() != "cup,drunk,degrees,spilt\nblue,1,61.23456,\nred,20,5,\n" {
		t.Errorf("got %q, %v", &b, err)
	}
}
