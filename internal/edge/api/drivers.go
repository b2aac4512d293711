package api

import "context"

func (s *server) HoldDriver(ctx context.Context, r HoldDriverRequest) (reply[Driver], error) {
	return plain(s.app.Stores.Drivers.HoldDriver(ctx, r.Cluster, r.Engine, *r.Body))
}
