package api

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"strconv"
	"strings"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/service/plans"
)

// Many programs poll the current plan. It is answered from memory, outside of the layer that checks requests against
// openapi.yaml: requests are checked here.

// found is a cluster's current plan, and whether this server may have missed a newer one.
type found struct {
	*plans.Shown
	stale bool
}

// current returns a cluster's current plan.
func (s *server) current(ctx context.Context, cluster string) (found, error) {
	shown, old, err := s.app.Plans.Shown(ctx, cluster)
	return found{shown, old || !s.reachable()}, err
}

// etag changes with the plan and with all members of its freshness.
func (f found) etag(now time.Time) string {
	if f.stale || f.Stale(now) {
		return quoted(f.Tag() + "-stale")
	}
	return quoted(f.Tag())
}

// text returns an answer about the plan. Answers with and without the stale mark are cached apart.
func (f found) text(question string, now time.Time, write func() ([]byte, string, error)) (plans.Text, error) {
	if f.stale {
		question += " stale"
	}
	return f.Text(question, now.Unix(), write)
}

// reachable reports whether the shown plan can be trusted to be the newest.
func (s *server) reachable() bool { return !s.app.Plans.Board.Running() || s.app.Plans.Board.InTouch() }

// currentPlan answers the current plan with how fresh it is. A caller that knows it already may wait
// for the next one: "Prefer: wait=30".
func (s *server) currentPlan(w http.ResponseWriter, r *http.Request) {
	wait, err := s.checkCurrent(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	cluster, known := pathValue(r, "cluster"), r.Header.Values("If-None-Match")
	if format := formatOf(r); r.URL.RawQuery != "" && format != "" {
		file, err := s.planFile(r.Context(), cluster, plans.PlanRef{}, format)
		if err == nil {
			err = file.write(w, r)
		}
		if err != nil {
			s.fail(w, r, err)
		}
		return
	}
	shown, err := s.current(r.Context(), cluster)
	if err == nil && wait > 0 {
		w.Header().Set("Preference-Applied", "wait="+strconv.Itoa(int(wait/time.Second)))
		if matches(known, shown.etag(s.app.Now())) {
			shown, err = s.waitForChange(w, r, cluster, known, wait)
		}
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	now, h := s.app.Now(), w.Header()
	etag := shown.etag(now)
	h["Etag"] = []string{etag}
	if len(known) > 0 && matches(known, etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	text, err := shown.text("/", now, func() ([]byte, string, error) { return currentText(shown, now) })
	if err != nil {
		s.fail(w, r, err)
		return
	}
	answerText(w, r, text)
}

var jsonType = []string{"application/json"}

// minZipped is the smallest size of a text that is also cached compressed. Shorter ones are served a tenth faster
// uncompressed: two more headers cost more than a smaller packet saves.
const minZipped = 4 << 10

// answerText answers a cached text; its ETag is already set.
func answerText(w http.ResponseWriter, r *http.Request, text plans.Text) {
	h := w.Header()
	if len(text.Body) >= minZipped && acceptsGzip(r) {
		text = text.Zipped()
		h["Content-Encoding"], h["Etag"] = gzipCoding, []string{ofZipped(h["Etag"][0])}
	}
	h["Content-Type"], h["Content-Length"] = jsonType, text.Length
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(text.Body) // a client that is gone needs no error
}

// currentText returns a stored plan's text with its freshness.
func currentText(shown found, now time.Time) ([]byte, string, error) {
	f := shown.Freshness(now)
	f.Stale = f.Stale || shown.stale
	freshness, err := json.Marshal(f)
	if err != nil {
		return nil, "", fmt.Errorf("write how fresh a plan is: %w", err)
	}
	whole, err := shown.Whole()
	if err != nil {
		return nil, "", err
	}
	record := recordText(whole.Record)
	text := append(record[:len(record)-2], `,"freshness":`...) // without its }\n
	return append(append(text, freshness...), '}', '\n'), "", nil
}

// checkCurrent reads the parameters and headers.
func (s *server) checkCurrent(r *http.Request) (wait time.Duration, err error) {
	if r.URL.RawQuery != "" {
		if err := s.operationOf(r).checkParameters(r); err != nil {
			return 0, err
		}
	}
	if prefer := r.Header.Get("Prefer"); prefer != "" {
		wait = preferredWait(prefer)
	}
	return wait, nil
}

// longestWait is the longest wait that a request may ask for.
const longestWait = time.Minute

// preferredWait reads "wait=30" among preferences (RFC 7240). As in that RFC, unreadable preferences are ignored; a
// wait that is too long is shortened.
func preferredWait(prefer string) time.Duration {
	for one := range strings.SplitSeq(prefer, ",") {
		one, _, _ = strings.Cut(one, ";")
		name, value, _ := strings.Cut(one, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "wait") {
			continue
		}
		n, err := strconv.ParseUint(strings.Trim(strings.TrimSpace(value), `"`), 10, 31)
		if err != nil {
			return 0
		}
		return min(time.Duration(n)*time.Second, longestWait)
	}
	return 0
}

func quoted(tag string) string { return `"` + tag + `"` }

// scaling answers the targets for autoscalers: always 200 if there is a plan, so that no error is taken for a wish to
// scale down.
func (s *server) scaling(w http.ResponseWriter, r *http.Request) {
	shown, err := s.current(r.Context(), pathValue(r, "cluster"))
	if err != nil {
		if _, wrong := s.scalingOptions(r); wrong != nil { // unreadable parameters are reported first: waiting does not cure them
			err = wrong
		} else {
			err = s.noPlanYet(r.Context(), pathValue(r, "cluster"), err)
		}
		s.fail(w, r, err)
		return
	}
	now := s.app.Now()
	var ahead plans.Outlook
	question := r.URL.RawQuery
	if lead := leadOf(r); lead > 0 {
		ahead = s.app.Plans.Ahead(r.Context(), shown.Shown, lead)
		question += fmt.Sprint(" ", ahead.Until.Unix(), len(ahead.Moments))
	}
	text, err := shown.text(question, now, func() ([]byte, string, error) { return s.scalingText(r, shown, ahead, now) })
	if err != nil {
		s.fail(w, r, err)
		return
	}
	h := w.Header()
	h["Etag"] = text.ETag
	if known := r.Header["If-None-Match"]; len(known) > 0 && matches(known, strings.TrimPrefix(text.ETag[0], "W/")) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	answerText(w, r, text)
}

// scalingText writes the requested document. Its ETag is weak: only the age differs between two with the same one.
func (s *server) scalingText(r *http.Request, shown found, ahead plans.Outlook, now time.Time) ([]byte, string, error) {
	o, err := s.scalingOptions(r)
	if err != nil {
		return nil, "", err
	}
	o.Ahead = ahead
	document, known := shown.ScalingAt(now, o)
	if !known {
		return nil, "", refusal{notFound.problem(fmt.Sprintf("The plan has no class %.200q; leave the parameter \"class\" out to see which there are.", o.Class))}
	}
	document.Stale = document.Stale || shown.stale
	text, err := json.Marshal(document)
	if err != nil {
		return nil, "", fmt.Errorf("write the scaling document: %w", err)
	}
	document.AgeSeconds = 0
	sum := fnv.New64a()
	_ = json.NewEncoder(sum).Encode(document) // written above
	return append(text, '\n'), fmt.Sprintf(`W/"%s-%x"`, shown.Tag(), sum.Sum64()), nil
}

// leadOf returns how far ahead an autoscaler asks. What cannot be read is refused with the other parameters.
func leadOf(r *http.Request) time.Duration {
	if !strings.Contains(r.URL.RawQuery, "lead=") {
		return 0
	}
	seconds, _ := strconv.ParseInt(r.URL.Query().Get("lead"), 10, 32)
	return min(max(0, time.Duration(seconds)*time.Second), plans.LongestLead)
}

// scalingOptions checks and reads the query.
func (s *server) scalingOptions(r *http.Request) (o plans.ScalingOptions, err error) {
	if err := s.operationOf(r).checkParameters(r); err != nil {
		return o, err
	}
	query := r.URL.Query()
	o.Class = query.Get("class")
	if text := query.Get("headroom"); text != "" {
		o.Headroom, err = strconv.ParseFloat(text, 64)
		if err != nil || !(o.Headroom >= 0.1 && o.Headroom <= 10) {
			return o, refusal{aboutParameter("headroom", "range", fmt.Sprintf("%.60q is no factor from 0.1 to 10, such as 1.1 for a tenth more VMs.", text), nil)}
		}
	}
	o.Lead = leadOf(r)
	o.Min, _ = strconv.ParseInt(query.Get("min"), 10, 64)
	o.Max, _ = strconv.ParseInt(query.Get("max"), 10, 64)
	if query.Get("max") != "" && o.Min > o.Max {
		return o, refusal{aboutParameter("min", "range", fmt.Sprintf("min is %d and max is %d; min must not be above max.", o.Min, o.Max), nil)}
	}
	return o, nil
}

// noPlanYet returns the error for a cluster without a plan. A cluster that has never had a plan will get one, so it
// is unavailable rather than unknown.
func (s *server) noPlanYet(ctx context.Context, cluster string, err error) error {
	if p := problemOf(err); p.Status != http.StatusNotFound {
		return err
	}
	if _, unknown := s.app.Stores.Inputs.Cluster(ctx, cluster); unknown != nil {
		return unknown
	}
	return fmt.Errorf("%s: %w", strings.TrimSuffix(sentence(err, fault.NotFound), "."), fault.Busy)
}
