package postgres_test

import (
	"context"
	"fmt"
	"testing"

	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/heartbeat"
	"example.org/headroom/internal/slots/live"
	"example.org/headroom/internal/test/pgtest"
)

func TestAHeartbeatTakesTwoRoundTrips(t *testing.T) {
	t.Parallel()
	var line silencer
	s := pgtest.OpenWith(t, postgres.Config{URL: line.between(t, pgtest.Database(t))})
	ctx := filled(t, s)
	var c *live.Cluster
	var stamp heartbeat.Stamp
	change := func(do func(w *heartbeat.Work) error) {
		t.Helper()
		stamp = must(s.ChangeLive(ctx, night, stamp, false, func(_ context.Context, stored *live.State, judged live.Judged) (w heartbeat.Work, err error) {
			if stored != nil {
				if c, err = live.Load(*stored, judged); err != nil {
					return w, err
				}
			}
			if err = do(&w); err == nil {
				w.Changes, err = c.Changes()
			}
			return w, err
		}))(t)
	}
	change(func(*heartbeat.Work) error {
		if _, _, err := c.PutNode(1, live.LiveNode{Name: "a", Type: "x", Cores: 1, Slots: live.NodeSlots{Map: 1}}); err != nil {
			return err
		}
		_, err := c.Submit(1, live.LiveJobRequest{Name: "job", Maps: 100, MaxAttempts: 1, Weight: 1}, "test")
		return err
	})
	fewest := int64(100)
	for seq := int64(1); seq <= 20; seq++ { // the first ones prepare statements, and a sweep may run
		before := line.trips.Load()
		change(func(w *heartbeat.Work) error {
			h := live.Heartbeat{Seq: seq}
			if seq > 1 {
				h.Finished = []live.FinishedTask{{Assignment: seq - 1}}
			}
			answer, err := c.Heartbeat(float64(seq), "a", h, fmt.Sprint(seq))
			w.Heartbeats = []heartbeat.KeptHeartbeat{{At: live.Moment(c.Clock), Node: "a", Body: "{}", Answer: string(answer.Text)}}
			return err
		})
		fewest = min(fewest, line.trips.Load()-before)
	}
	if fewest != 2 {
		t.Errorf("a heartbeat takes %d round trips", fewest)
	}
	if j := must(s.LiveJob(ctx, night, 1, live.Moment(20)))(t); j.Maps.Done != 19 || j.Maps.Running != 1 {
		t.Errorf("got %+v", j.Maps)
	}
}
