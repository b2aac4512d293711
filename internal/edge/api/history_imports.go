package api

import "context"

func (s *server) FetchHistory(ctx context.Context, r FetchHistoryRequest) (reply[Run], error) {
	return startedRun[Run](s.app.StartHistoryImport(ctx, r.Cluster, *r.Body))
}
