package words

import (
	"strings"
	"testing"

	"example.org/headroom/internal/core/money"
)

// The parts of a sum add up to it as they are written.
func TestPartsAddUp(t *testing.T) {
	for name, c := range map[string]struct{ sum, parts, want string }{
		"rounded they lack a cent":         {"38522.10", "5912.0648 31955.9748 654.0604", "5912.07 31955.97 654.06"},
		"rounded they are a cent too much": {"31955.97", "5028.276 26927.697", "5028.27 26927.70"},
		"rounded they add up":              {"3.00", "1.006 1.994", "1.01 1.99"},
		"a part that is nothing":           {"1.00", "0 0.996", "0.00 1.00"},
		"equal remainders go in order":     {"0.99", "0.333 0.333 0.333", "0.33 0.33 0.33"},
		"the first of equals":              {"1.00", "0.333 0.333 0.333", "0.34 0.33 0.33"},
		"they are no parts of it":          {"9.00", "1.006 1.994", "1.01 1.99"},
		"a part below a cent":              {"1.00", "0.004 0.996", "0.004 1.00"},
		"a sum with more places":           {"1.0004", "0.5 0.5004", "0.50 0.50"},
		"no sum":                           {"–", "1.006", "1.01"},
	} {
		var parts []money.Amount
		for text := range strings.FieldsSeq(c.parts) {
			m, err := money.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, m)
		}
		if got := strings.Join(PartsOf(c.sum, parts...), " "); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}
