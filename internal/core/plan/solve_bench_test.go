package plan

import (
	"context"
	"fmt"
	"testing"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/capacity"
)

// A whole solve, from a problem in memory to a plan that is explained and checked.
func BenchmarkSolve(b *testing.B) {
	for _, family := range []string{"table2", "mixed", "hard"} {
		for _, integrality := range []capacity.Integrality{capacity.Integer, capacity.Executable} {
			for _, n := range []int{10, 100, 1000, 10_000} {
				b.Run(fmt.Sprintf("%s/%s/n=%d", family, integrality, n), func(b *testing.B) {
					drawn, err := study.Generate(family, n, 1)
					if err != nil {
						b.Fatal(err)
					}
					p, err := drawn.Profiled()
					if err != nil {
						b.Fatal(err)
					}
					p.Options.Engine, p.Options.Integrality = capacity.EngineExact, integrality
					for b.Loop() {
						if _, err := Solve(context.Background(), p, nil); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
