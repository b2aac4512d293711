package shell

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"
)

// TestIndentedAsTheStandardLibraryDoes: whatever pieces the text comes in.
func TestIndentedAsTheStandardLibraryDoes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var value func(depth int) any
	value = func(depth int) any {
		switch k := r.IntN(9); {
		case k == 0:
			return nil
		case k == 1:
			return r.IntN(2) == 0
		case k == 2:
			return r.Float64() * 1e6
		case k < 5 || depth == 0:
			return []string{"", `"`, `\`, `\"}`, "{[,:]}", "a b", "ä\u2028\n", `\\`}[r.IntN(8)]
		case k < 7:
			list := make([]any, r.IntN(4))
			for i := range list {
				list[i] = value(depth - 1)
			}
			return list
		default:
			object := map[string]any{}
			for range r.IntN(4) {
				object[[]string{"a", `b"`, `c\`, "", "d:e"}[r.IntN(5)]] = value(depth - 1)
			}
			return object
		}
	}
	for range 3000 {
		compact, err := json.Marshal(value(6))
		if err != nil {
			t.Fatal(err)
		}
		var want, got bytes.Buffer
		if err := json.Indent(&want, compact, "", "  "); err != nil {
			t.Fatal(err)
		}
		n := indenter{out: &got}
		for rest := compact; len(rest) > 0; {
			piece := 1 + r.IntN(min(len(rest), 1+r.IntN(40)))
			if _, err := n.Write(rest[:piece]); err != nil {
				t.Fatal(err)
			}
			rest = rest[piece:]
		}
		if err := n.flush(); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Fatalf("%s\ngot  %s\nwant %s", compact, &got, &want)
		}
	}
}
