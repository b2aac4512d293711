package pack

import (
	"context"

	"headroom/internal/capacity"
	"headroom/internal/lp"
)

func (b *batch) large(ctx context.Context, f *fitter, seed uint64, solver lp.Solver) (found, error) {
	panic("no")
}
func (b *batch) packSwarm(ctx context.Context, f *fitter, o capacity.PackingOptions) (capacity.Packing, error) {
	panic("no")
}
