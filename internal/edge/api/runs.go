package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/report"
	"example.org/headroom/internal/service/runs"
)

func runAddress(id string) string { return "/v1/runs/" + id }

// startedRun answers 202 with a run and its address.
func startedRun[T any](run runs.Run, err error) (reply[T], error) {
	return reply[T]{accepted: runAddress(run.ID), text: func() []byte { return runText(run) }}, err
}

func runText(run runs.Run) []byte {
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false)
	if err := out.Encode(run); err != nil {
		panic(fmt.Sprintf("write a run: %v", err)) // it holds plain values, and a result that was looked at
	}
	return text.Bytes()
}

func (s *server) ListRuns(ctx context.Context, r ListRunsRequest) (reply[RunList], error) {
	var of runs.Filter
	if r.Params.Cluster != nil {
		of.Cluster = *r.Params.Cluster
	}
	if r.Params.State != nil {
		of.State = runs.RunState(*r.Params.State)
	}
	if r.Params.Kind != nil {
		of.Kind = *r.Params.Kind
	}
	page := paging{r.Params.Limit, r.Params.Cursor, r.Params.Format}
	return listed(ctx, s, page, "runs", report.Runs, func(ctx context.Context, p storage.Page) (storage.Listed[runs.Run], error) {
		return s.app.Runs.List(ctx, of, p)
	})
}

// CancelRun answers 204 if the run is over, and 202 if a server has been asked to end it.
func (s *server) CancelRun(ctx context.Context, r CancelRunRequest) (reply[Run], error) {
	run, err := s.app.Runs.Cancel(ctx, r.Id)
	if err == nil && run.State.Over() {
		return reply[Run]{empty: true}, nil
	}
	return startedRun[Run](run, err)
}

func (s *server) RetryRun(ctx context.Context, r RetryRunRequest) (reply[Run], error) {
	return startedRun[Run](s.app.Runs.Retry(ctx, r.Id))
}

// preferAsync reads "respond-async" among preferences (RFC 7240).
func preferAsync(prefer *string) bool {
	if prefer == nil {
		return false
	}
	for one := range strings.SplitSeq(*prefer, ",") {
		one, _, _ = strings.Cut(one, ";")
		if strings.EqualFold(strings.TrimSpace(one), "respond-async") {
			return true
		}
	}
	return false
}

// getRun answers a run. A caller that already knows it may wait for a change: "Prefer: wait=30".
func (s *server) getRun(w http.ResponseWriter, r *http.Request) {
	known, wait := r.Header.Values("If-None-Match"), preferredWait(r.Header.Get("Prefer"))
	run, err := s.app.Runs.Run(r.Context(), pathValue(r, "id"))
	if err == nil && wait > 0 {
		w.Header().Set("Preference-Applied", "wait="+strconv.Itoa(int(wait/time.Second)))
		if matches(known, etagOf(run.Version)) {
			run, err = s.waitForRun(w, r, run, wait)
		}
	}
	if err == nil {
		err = reply[Run]{etag: etagOf(run.Version), text: func() []byte { return runText(run) }}.write(w, r)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

// waitForRun waits until a run has changed, the time is up, the server stops or the caller may no
// longer see it, and answers the run as it is then.
func (s *server) waitForRun(w http.ResponseWriter, r *http.Request, known runs.Run, wait time.Duration) (runs.Run, error) {
	a := askedOf(r.Context())
	leave := s.watchers.enter(a.principal.ID)
	if leave == nil {
		return known, tooManyWatchers(w)
	}
	defer leave()
	defer func(began time.Time) { a.waited = time.Since(began) }(time.Now())
	up := time.NewTimer(wait)
	defer up.Stop()
	for over := false; ; {
		changed, forget := s.app.Runs.Watchers.Watch(known.ID) // before it is read, so that no change is missed
		run, err := s.app.Runs.Run(r.Context(), known.ID)
		if err != nil || over || run.Version != known.Version {
			forget()
			return run, err
		}
		select {
		case <-changed:
		case <-up.C:
			over = true
		case <-s.config.Stopping:
			over = true
		case <-r.Context().Done():
			forget()
			return run, r.Context().Err()
		}
		forget()
		if !s.stillMay(r) {
			return run, refusal{unauthorized("The key or session has ended while the request waited.")}
		}
	}
}

// getRunResult answers the result of a run, in its own form.
func (s *server) getRunResult(w http.ResponseWriter, r *http.Request) {
	if formatOf(r) != "" {
		s.runTable(w, r)
		return
	}
	result, err := s.app.Runs.Result(r.Context(), pathValue(r, "id"))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	h, etag := w.Header(), etagOf(result.Version)
	h.Set("ETag", etag)
	if matches(r.Header.Values("If-None-Match"), etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", result.Type)
	h.Set("Content-Length", strconv.Itoa(len(result.Body)))
	if result.Type != "application/json" { // a file, and never a page of this site
		h.Set("Content-Disposition", "attachment")
	}
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(result.Body) // a client that is gone needs no error
}

// watchRun sends a run whenever it changes, as server-sent events. It ends when the run is over, the caller leaves,
// may no longer see it or does not read, or the server stops. Changes that follow each other while one is sent are
// one.
func (s *server) watchRun(w http.ResponseWriter, r *http.Request) {
	last, err := lastRunEvent(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	id := pathValue(r, "id")
	run, err := s.app.Runs.Run(r.Context(), id)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if run.State.Over() && run.Version == last {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	a := askedOf(r.Context())
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
	s.streamRun(stream{w, http.NewResponseController(w), s.config.ReadWithin}, r, id)
}

func (s *server) streamRun(w stream, r *http.Request, id string) {
	if !w.send([]byte("retry: 2000\n\n")) {
		return
	}
	heartbeat, look := time.NewTicker(heartbeatEvery), time.NewTicker(lookEvery)
	defer heartbeat.Stop()
	defer look.Stop()
	sent := int64(0)
	for {
		changed, forget := s.app.Runs.Watchers.Watch(id) // before it is read, so that no change is missed
		run, err := s.app.Runs.Run(r.Context(), id)
		switch {
		case errors.Is(err, fault.Busy): // it comes again
		case err != nil:
			forget()
			return
		case run.Version != sent:
			if !w.send(fmt.Appendf(nil, "id: %d\nevent: run\ndata: %s\n\n", run.Version, bytes.TrimSpace(runText(run)))) || run.State.Over() {
				forget()
				return
			}
			sent = run.Version
		}
		over := false
		for again := false; !again && !over; {
			select {
			case <-changed:
				again = true
			case <-heartbeat.C:
				over = !w.send([]byte(":\n\n"))
			case <-look.C:
				over = !s.stillMay(r)
				again = err != nil
			case <-s.config.Stopping:
				over = true
			case <-r.Context().Done():
				over = true
			}
		}
		forget()
		if over {
			return
		}
	}
}

func lastRunEvent(r *http.Request) (int64, error) {
	text := r.Header.Get("Last-Event-Id")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, refusal{aboutParameter("Last-Event-ID", "type", fmt.Sprintf("%.60q is no id of an event; send the one of the last event that you have seen, or leave the header out.", text), nil)}
	}
	return n, nil
}
