package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/plans"
)

const (
	heartbeatEvery = 15 * time.Second
	lookEvery      = time.Second // check of the key or session behind the stream
	maxMissed      = 500         // plans that are sent to a returning client
)

// planEvents sends every plan that becomes current, as server-sent events. It ends when the caller leaves, may no
// longer see the plan or does not read, or the server stops. A plan that is replaced before it could be sent is
// omitted, so that nothing piles up for slow readers.
func (s *server) planEvents(w http.ResponseWriter, r *http.Request) {
	ctx, cluster := r.Context(), pathValue(r, "cluster")
	if err := s.operationOf(r).checkParameters(r); err != nil {
		s.fail(w, r, err)
		return
	}
	last, err := lastEventID(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if shown, _ := s.app.Plans.Board.Watch(cluster); shown == nil {
		if _, err := s.app.Stores.Inputs.Cluster(ctx, cluster); err != nil {
			s.fail(w, r, err)
			return
		}
	}
	missed, reset, err := s.missedPlans(ctx, cluster, last)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	a := askedOf(ctx)
	leave := s.watchers.enter(a.principal.ID)
	if leave == nil {
		s.fail(w, r, tooManyWatchers(w))
		return
	}
	defer leave()
	defer func(began time.Time) { a.waited = time.Since(began) }(time.Now())
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // proxies that gather answers would keep events back
	if r.Method == http.MethodHead {
		return
	}
	s.stream(stream{w, http.NewResponseController(w), s.config.ReadWithin}, r, cluster, last, missed, reset)
}

// stream is an endless answer.
type stream struct {
	http.ResponseWriter
	control *http.ResponseController
	within  time.Duration // a client that does not read for that long is cut off
}

// send writes and reports whether the client took it in time.
func (w stream) send(text []byte) bool {
	if err := w.control.SetWriteDeadline(time.Now().Add(w.within)); err != nil {
		return false
	}
	if _, err := w.Write(text); err != nil {
		return false
	}
	return w.control.Flush() == nil
}

func (s *server) stream(w stream, r *http.Request, cluster string, last int64, missed []byte, reset bool) {
	hello := []byte("retry: 2000\n\n")
	if reset {
		hello = append(hello, "event: reset\ndata: {}\n\n"...)
	}
	if !w.send(append(hello, missed...)) {
		return
	}
	heartbeat, look := time.NewTicker(heartbeatEvery), time.NewTicker(lookEvery)
	defer heartbeat.Stop()
	defer look.Stop()
	known, ahead, next := heard{}, []byte(nil), r.URL.Query().Get("next") == "true"
	if !reset {
		known.number, known.elsewhere = last, last > 0
	}
	for {
		shown, changed := s.app.Plans.Board.Watch(cluster)
		if known.next(shown) && !w.send(shown.Event().Text) {
			return
		}
		select {
		case <-changed:
			if now, _ := s.app.Plans.Board.Watch(cluster); now == nil && s.gone(r.Context(), cluster) {
				return
			}
		case <-heartbeat.C:
			if !w.send([]byte(":\n\n")) {
				return
			}
		case <-look.C:
			if !s.stillMay(r) {
				return
			}
			if text := s.comes(r, &ahead, shown, next); text != nil && !w.send(text) {
				return
			}
		case <-s.config.Stopping:
			w.send(fmt.Appendf(nil, "retry: %d\n\n", comeBack()))
			return
		case <-r.Context().Done():
			return
		}
	}
}

// gone reports whether a cluster was deleted.
func (s *server) gone(ctx context.Context, cluster string) bool {
	_, err := s.app.Stores.Inputs.Cluster(ctx, cluster)
	return errors.Is(err, fault.NotFound)
}

// heard holds the knowledge of a watcher.
type heard struct {
	number    int64 // of the last plan that it got; 0 without one
	elsewhere bool  // by another server, of a plan that this one may not have heard of yet
}

// comes returns the event about what comes, once that is known for a day and where it differs from the last one.
func (s *server) comes(r *http.Request, last *[]byte, shown *plans.Shown, wanted bool) []byte {
	now := s.app.Now()
	if !wanted || shown == nil {
		return nil
	}
	outlook := s.app.Plans.Ahead(r.Context(), shown, 0)
	if !outlook.Whole(now) {
		return nil
	}
	document, _ := shown.ScalingAt(now, plans.ScalingOptions{Lead: time.Second, Ahead: outlook})
	ahead, err := json.Marshal(map[string]any{"next": document.Next, "next_problem": document.NextProblem})
	if err != nil || bytes.Equal(ahead, *last) {
		return nil
	}
	*last = ahead
	return fmt.Appendf(nil, "event: next\ndata: %s\n\n", ahead)
}

// next reports whether a plan must be sent now, and notes it. A plan older than the last one is news if it is pinned,
// or if the database was restored, but not if this server lags.
func (t *heard) next(shown *plans.Shown) bool {
	if shown == nil || t.elsewhere && shown.Pin == nil && shown.Record.Number < t.number {
		return false
	}
	news := shown.Record.Number != t.number
	t.number, t.elsewhere = shown.Record.Number, false
	return news
}

// comeBack returns the milliseconds after which a watcher of a stopping server should ask another one: soon, but not
// all at the same moment.
func comeBack() int { return 100 + rand.IntN(900) }

// lastEventID returns the number of the last plan that a returning caller has seen; 0 is none.
func lastEventID(r *http.Request) (int64, error) {
	text := r.Header.Get("Last-Event-Id")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, refusal{aboutParameter("Last-Event-ID", "type", fmt.Sprintf("%.60q is no number of a plan; send the id of the last event that you have seen, or leave the header out.", text), nil)}
	}
	return n, nil
}

// missedPlans returns the plans after one as events, the oldest first, except for the current one. reset reports that
// there are too many, or that the last one is unknown here: then the caller must start over.
func (s *server) missedPlans(ctx context.Context, cluster string, last int64) (text []byte, reset bool, err error) {
	if last == 0 {
		return nil, false, nil
	}
	shown, _ := s.app.Plans.Board.Watch(cluster)
	if shown == nil || shown.Record.Number != last {
		s.app.Plans.Board.CatchUp(ctx, cluster)
		shown, _ = s.app.Plans.Board.Watch(cluster)
	}
	switch {
	case shown == nil && !s.app.Plans.Board.Running():
		return nil, false, nil
	case shown == nil:
		return nil, true, nil
	case last == shown.Record.Number:
		return nil, false, nil
	}
	list, err := s.app.Stores.Plans.Plans(ctx, cluster, storage.Page{Limit: maxMissed})
	if errors.Is(err, fault.Busy) {
		return nil, true, nil // only the current plan can be sent at the moment
	}
	if err != nil {
		return nil, false, err
	}
	if len(list.Items) == 0 || last > list.Items[0].Number || last < list.Items[len(list.Items)-1].Number-1 {
		return nil, true, nil
	}
	var missed []plans.PlanSummary
	for _, p := range list.Items {
		later := shown.Pin == nil && p.Number > shown.Record.Number // it will be shown in a moment
		if p.Number > last && p.Number != shown.Record.Number && p.ForNow && !later {
			missed = append(missed, p)
		}
	}
	var events bytes.Buffer
	for i := len(missed) - 1; i >= 0; i-- {
		row, err := json.Marshal(missed[i])
		if err != nil {
			return nil, false, fmt.Errorf("write the summary of a plan: %w", err)
		}
		events.Write(plans.PlanEvent(missed[i].Number, row))
	}
	return events.Bytes(), false, nil
}
