package api

import (
	"bytes"
	"context"

	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/question"
	"example.org/headroom/internal/service/report"
)

func (s *server) ListPackings(ctx context.Context, r ListPackingsRequest) (reply[PackingList], error) {
	page := paging{r.Params.Limit, r.Params.Cursor, r.Params.Format}
	return listed(ctx, s, page, r.Cluster+"-packings", report.KeptPackings, func(ctx context.Context, p storage.Page) (storage.Listed[pack.PackingSummary], error) {
		return s.app.Stores.Packings.Packings(ctx, r.Cluster, p)
	})
}

func (s *server) GetPacking(ctx context.Context, r GetPackingRequest) (reply[KeptPacking], error) {
	kept, err := s.app.Stores.Packings.Packing(ctx, r.Cluster, r.Packing)
	if err != nil || r.Params.Format == nil || *r.Params.Format != "csv" {
		return reply[KeptPacking]{body: kept, hashed: true}, err
	}
	var text bytes.Buffer
	err = question.KeptPacking.Forms(pack.PackingProblem{}, kept, question.View{})["csv"](&text)
	return reply[KeptPacking]{table: &tableReply{name: r.Cluster + "-packing.csv", first: text.Bytes()}}, err
}

func (s *server) DeletePacking(ctx context.Context, r DeletePackingRequest) (reply[nothing], error) {
	return done(s.app.Stores.Packings.DeletePacking(ctx, r.Cluster, r.Packing))
}
