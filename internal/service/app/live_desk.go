package app

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"sync"

	"headroom/internal/core/fault"
	"headroom/internal/core/perf"
	"headroom/internal/data/inputs"
	"headroom/internal/data/storage"
	"headroom/internal/service/auth"
	"headroom/internal/slots/dispatch"
	"headroom/internal/slots/live"
)

// liveDesk holds a queue for each live cluster that this process has seen. A cluster stays in memory with the stamp
// of its stored state. A change locks it in the store, and reads it again if another process has changed it.
type liveDesk struct {
	mu    sync.Mutex
	seats map[string]*liveSeat
}

// liveSeat serialises the changes of a cluster. Heartbeats that wait meanwhile are decided together, in one
// transaction.
type liveSeat struct {
	mu      sync.Mutex
	busy    bool
	waiting []*liveAsk

	// Owned by the change in progress.
	cluster *live.Cluster // nil: to be read
	stamp   LiveStamp
}

// liveAsk is a waiting change of a cluster.
type liveAsk struct {
	ctx   context.Context
	do    liveChange
	alone bool // its change is a transaction of its own
	bulk  bool // it may take long
	ahead *dispatch.Ahead
	done  chan struct{} // closed when it is done
	lead  chan struct{} // closed when it must decide for all waiting ones
	err   error
}

// liveChange changes a cluster, and adds further data to store that the cluster does not know of.
type liveChange func(ctx context.Context, c *live.Cluster, now float64, w *LiveWork) error

// liveAtOnce is the maximum number of heartbeats decided in one transaction.
const liveAtOnce = 64

func (d *liveDesk) seat(cluster string) *liveSeat {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seats == nil {
		d.seats = map[string]*liveSeat{}
	}
	s := d.seats[cluster]
	if s == nil {
		s = &liveSeat{}
		d.seats[cluster] = s
	}
	return s
}

// forget gives the memory of a cluster back that is not there.
func (d *liveDesk) forget(cluster string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.seats, cluster)
}

// changeLive lets do change a cluster. The change is stored when changeLive returns no error.
func (a *App) changeLive(ctx context.Context, cluster string, do liveChange) error {
	return a.askLive(ctx, cluster, liveAsk{ctx: ctx, do: do, alone: true})
}

func (a *App) askLive(ctx context.Context, cluster string, asked liveAsk) error {
	ask := &asked
	if a.Stores.Live.InOnce(ctx) { // its effect is that of the transaction, which may still fail: memory is not used
		a.decideLive(ctx, cluster, new(liveSeat), []*liveAsk{ask})
		return ask.err
	}
	seat := a.lives.seat(cluster)
	ask.done, ask.lead = make(chan struct{}), make(chan struct{})
	seat.mu.Lock()
	seat.waiting = append(seat.waiting, ask)
	lead := !seat.busy
	seat.busy = true
	seat.mu.Unlock()
	if !lead {
		select {
		case <-ask.done:
			return ask.err
		case <-ask.lead:
		case <-ctx.Done():
			if seat.leave(ask) {
				return ctx.Err()
			}
			select { // it was taken already
			case <-ask.done:
				return ask.err
			case <-ask.lead:
			}
		}
	}
	a.leadLive(ctx, cluster, seat)
	return ask.err
}

// leadLive decides for the requests waiting at a seat, and leaves the rest to the next one.
func (a *App) leadLive(ctx context.Context, cluster string, seat *liveSeat) {
	some := seat.take()
	defer func() { // also if a decision panics
		if seat.cluster == nil {
			a.lives.forget(cluster)
		}
		seat.pass()
		for _, ask := range some {
			close(ask.done)
		}
	}()
	for _, ask := range some {
		ask.err = errUndecided
	}
	a.decideLive(ctx, cluster, seat, some)
}

// errUndecided is the error for requests whose decision was aborted.
var errUndecided = errors.New("the decision has broken off")

// leave removes a waiting request, or returns false if it was already taken.
func (s *liveSeat) leave(ask *liveAsk) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.waiting, ask)
	if i < 0 {
		return false
	}
	select {
	case <-ask.lead: // others rely on it
		return false
	default:
	}
	s.waiting = slices.Delete(s.waiting, i, i+1)
	return true
}

// take returns the requests that are decided together: the first waiting one, and others unless one of them must be
// alone.
func (s *liveSeat) take() []*liveAsk {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 1
	for !s.waiting[0].alone && n < len(s.waiting) && n < liveAtOnce && !s.waiting[n].alone {
		n++
	}
	some := slices.Clone(s.waiting[:n])
	s.waiting = slices.Delete(s.waiting, 0, n)
	return some
}

// pass lets the next one decide.
func (s *liveSeat) pass() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		s.busy = false
		return
	}
	close(s.waiting[0].lead)
}

// decideLive decides for some in one transaction; each gets its own error.
func (a *App) decideLive(ctx context.Context, name string, seat *liveSeat, some []*liveAsk) {
	if !a.Stores.Live.InOnce(ctx) {
		ctx = context.WithoutCancel(ctx) // it is not for one of them alone
	}
	if some[0].alone {
		ctx = auth.With(ctx, auth.From(some[0].ctx))
	}
	var decided *live.Cluster
	stamp, err := a.Stores.Live.ChangeLive(ctx, name, seat.known(), some[0].bulk, func(ctx context.Context, stored *live.State, judged live.Judged) (w LiveWork, err error) {
		judged.Ahead = some[0].ahead
		w.judged = judged
		if stored != nil {
			if seat.cluster, err = live.Load(*stored, judged); err != nil {
				return w, fmt.Errorf("read the live cluster %s: %w", name, err)
			}
		}
		// Until the end it is unknown which part will be stored.
		cluster := seat.cluster
		seat.cluster = nil
		now := live.Seconds(a.Now())
		for _, ask := range some {
			ask.err = ask.do(ctx, cluster, now, &w)
			if errors.As(ask.err, new(live.Broken)) {
				return w, ask.err
			}
		}
		if w.Changes, err = cluster.Changes(); err == nil {
			decided = cluster
		}
		return w, err
	})
	if err != nil {
		for _, ask := range some {
			ask.err = err
		}
		return
	}
	seat.cluster, seat.stamp = decided, stamp
}

// known returns the stamp of the seat's state in memory.
func (s *liveSeat) known() LiveStamp {
	if s.cluster == nil {
		return LiveStamp{}
	}
	return s.stamp
}

// Heartbeat handles a node's report and returns its orders, as JSON. text is the heartbeat as received.
func (a *App) Heartbeat(ctx context.Context, cluster, node string, h live.Heartbeat, text []byte) (answer []byte, err error) {
	sum := sha256.Sum256(text)
	digest := base64.RawURLEncoding.EncodeToString(sum[:18])
	err = a.askLive(ctx, cluster, liveAsk{ctx: ctx, do: func(_ context.Context, c *live.Cluster, now float64, w *LiveWork) error {
		known, err := c.Heartbeat(now, node, h, digest)
		if err != nil {
			return err
		}
		if answer = known.Text; !known.Again {
			w.Heartbeats = append(w.Heartbeats, LiveHeartbeat{At: live.Moment(c.Clock), Node: node, Body: string(text), Answer: string(answer)})
		}
		return nil
	}})
	return answer, err
}

// SetLiveSettings changes the way a cluster decides. Zero is the version of a caller that has not read it.
func (a *App) SetLiveSettings(ctx context.Context, cluster string, version int64, s live.LiveSettings) (after live.LiveSettings, err error) {
	if err := s.Validate(); err != nil {
		return after, err
	}
	ahead, err := a.learnAhead(ctx, cluster, func(before dispatch.PolicyConfig) (dispatch.PolicyConfig, bool) {
		return s.Policy, !reflect.DeepEqual(before, s.Policy)
	})
	if err != nil {
		return after, err
	}
	err = a.askLive(ctx, cluster, liveAsk{ctx: ctx, alone: true, bulk: true, ahead: ahead, do: func(_ context.Context, c *live.Cluster, now float64, w *LiveWork) error {
		before := c.Settings()
		if before.Version != version {
			return &storage.VersionError{Have: before.Version}
		}
		if err := c.SetSettings(now, s, w.judged); err != nil {
			return err
		}
		after = c.Settings()
		w.Deeds = append(w.Deeds, Deed{Action: inputs.Update, Kind: live.LiveSettingsKind, Name: cluster, Before: before, After: after})
		return nil
	}})
	return after, err
}

// Relearn makes the policy learned learn everything again from its choices, and returns its knowledge.
func (a *App) Relearn(ctx context.Context, cluster string) (dispatch.Knowledge, error) {
	ahead, err := a.learnAhead(ctx, cluster, func(before dispatch.PolicyConfig) (dispatch.PolicyConfig, bool) { return before, true })
	if err != nil {
		return dispatch.Knowledge{}, err
	}
	err = a.askLive(ctx, cluster, liveAsk{ctx: ctx, alone: true, bulk: true, ahead: ahead, do: func(_ context.Context, c *live.Cluster, now float64, w *LiveWork) error {
		err := c.Relearn(now, w.judged)
		if err == nil {
			w.Deeds = append(w.Deeds, Deed{Action: inputs.Update, Kind: live.KnowledgeKind, Name: cluster})
		}
		return err
	}})
	if err != nil {
		return dispatch.Knowledge{}, err
	}
	return a.Stores.Live.Classifier(ctx, cluster)
}

// learnAhead learns the knowledge of a policy again, beside the heartbeats; their additions are learned while they
// wait. policy returns the policy for the present one, and whether it must learn again.
func (a *App) learnAhead(ctx context.Context, cluster string, policy func(now dispatch.PolicyConfig) (dispatch.PolicyConfig, bool)) (*dispatch.Ahead, error) {
	now, err := a.Stores.Live.LiveSettings(ctx, cluster)
	if err != nil {
		return nil, err
	}
	p, needs := policy(now.Policy)
	if !needs || p.Kind != dispatch.PolicyLearned {
		return nil, nil
	}
	known, err := a.Stores.Live.Classifier(ctx, cluster)
	if errors.Is(err, fault.NotFound) { // there is nothing to learn from
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return dispatch.LearnAhead(p, known.Versions, a.Stores.Live.JudgedChoices(ctx, cluster))
}

// PutLiveNode declares a node, or changes its declaration.
func (a *App) PutLiveNode(ctx context.Context, cluster string, declared live.LiveNode) (n live.LiveNode, err error) {
	if err := declared.Validate(); err != nil {
		return n, err
	}
	err = a.changeLive(ctx, cluster, func(_ context.Context, c *live.Cluster, now float64, w *LiveWork) error {
		after, before, err := c.PutNode(now, declared)
		if err != nil {
			return err
		}
		n = after
		switch {
		case before == nil:
			w.Deeds = append(w.Deeds, Deed{Action: inputs.Create, Kind: live.LiveNodeKind, Name: n.Name, After: n})
		case before.UpdatedAt != after.UpdatedAt:
			w.Deeds = append(w.Deeds, Deed{Action: inputs.Update, Kind: live.LiveNodeKind, Name: n.Name, Before: before, After: n})
		}
		return nil
	})
	return n, err
}

// RemoveLiveNode takes a node out; its tasks are handed out again.
func (a *App) RemoveLiveNode(ctx context.Context, cluster, name string) error {
	return a.changeLive(ctx, cluster, func(_ context.Context, c *live.Cluster, now float64, w *LiveWork) error {
		before, err := c.RemoveNode(now, name)
		if err == nil {
			w.Deeds = append(w.Deeds, Deed{Action: inputs.Delete, Kind: live.LiveNodeKind, Name: name, Before: before})
		}
		return err
	})
}

// SubmitLiveJob accepts a job, whose tasks are assigned from now on.
func (a *App) SubmitLiveJob(ctx context.Context, cluster string, r live.LiveJobRequest) (j live.LiveJob, err error) {
	if err := r.Validate(a.Now()); err != nil {
		return j, err
	}
	if err := a.estimateUsage(ctx, cluster, &r); err != nil {
		return j, err
	}
	err = a.changeLive(ctx, cluster, func(ctx context.Context, c *live.Cluster, now float64, w *LiveWork) error {
		place, err := a.placeForJob(ctx, cluster, c, now, r)
		if err != nil {
			return err
		}
		if place != nil && !place.Admitted {
			j = live.Refused(r, c.Clock, place)
			return nil
		}
		kept, err := c.Submit(now, r, auth.From(ctx).Name)
		if err != nil && place != nil {
			return errors.Join(err, a.Stores.Admissions.Unadmit(ctx, place.ID))
		}
		j = kept.View(c.Clock)
		j.Admission = place
		return err
	})
	if err == nil && j.Admission != nil {
		a.countAdmission(*j.Admission)
	}
	return j, err
}

// estimateUsage fills in the measured usage of a job's class if the job gives none.
func (a *App) estimateUsage(ctx context.Context, cluster string, r *live.LiveJobRequest) error {
	if r.Usage != (live.TasksUsage{}) || r.UsageFrom != "" {
		return nil
	}
	fits, err := a.Stores.Fits.LatestFits(ctx, cluster, perf.UsageFits, []string{r.Class})
	if f := fits[r.Class]; err == nil && f.Usage != nil {
		of := f.Usage.OfTask()
		r.Usage = live.TasksUsage{Map: of, Reduce: of}
		r.UsageFrom = fmt.Sprintf("version %d of the fit of the class's usage, measured on %d VMs %d times", f.Version, f.Usage.ProfiledAtVM, f.Usage.Points)
	}
	return err
}

// KillLiveJob ends a job before its time; its nodes are ordered to stop its tasks.
func (a *App) KillLiveJob(ctx context.Context, cluster string, number int64) error {
	return a.changeLive(ctx, cluster, func(_ context.Context, c *live.Cluster, now float64, w *LiveWork) error {
		before, after, err := c.Kill(now, number, auth.From(ctx).Name)
		if err == nil {
			w.Deeds = append(w.Deeds, Deed{Action: inputs.Update, Kind: live.LiveJobKind, Name: strconv.FormatInt(number, 10), Before: before.View(c.Clock), After: after.View(c.Clock)})
		}
		return err
	})
}

// settleLive applies changes that come by time alone: nodes that have been silent for too long are dead. So readers
// see it even if no heartbeat has come since.
func (a *App) settleLive(ctx context.Context, cluster string) error {
	overdue, err := a.Stores.Live.OverdueNodes(ctx, cluster, a.Now())
	if err != nil || !overdue {
		return err
	}
	return a.changeLive(ctx, cluster, func(_ context.Context, c *live.Cluster, now float64, _ *LiveWork) error {
		c.Advance(now)
		return nil
	})
}

// LiveNodes lists the nodes of a cluster as they are now.
func (a *App) LiveNodes(ctx context.Context, cluster string, page storage.Page) (l storage.Listed[live.LiveNode], err error) {
	if err := a.settleLive(ctx, cluster); err != nil {
		return l, err
	}
	return a.Stores.Live.LiveNodes(ctx, cluster, page)
}

// LiveNode returns the present state of a node.
func (a *App) LiveNode(ctx context.Context, cluster, name string) (n live.LiveNode, err error) {
	if err := a.settleLive(ctx, cluster); err != nil {
		return n, err
	}
	return a.Stores.Live.LiveNode(ctx, cluster, name)
}

// LiveJobs lists the jobs of a cluster as they are now.
func (a *App) LiveJobs(ctx context.Context, cluster string, of LiveJobFilter, page storage.Page) (l storage.Listed[live.LiveJob], err error) {
	if err := a.settleLive(ctx, cluster); err != nil {
		return l, err
	}
	return a.Stores.Live.LiveJobs(ctx, cluster, of, a.Now(), page)
}

// LiveJob returns the present state of a job, with predictions of its tasks' ends.
func (a *App) LiveJob(ctx context.Context, cluster string, number int64) (j live.LiveJob, err error) {
	if err := a.settleLive(ctx, cluster); err != nil {
		return j, err
	}
	if j, err = a.Stores.Live.LiveJob(ctx, cluster, number, a.Now()); err != nil || j.State != live.JobActive {
		return j, err
	}
	known, err := a.knownTimes(ctx, cluster, []string{j.Class})
	if err != nil {
		return j, err
	}
	err = a.changeLive(ctx, cluster, func(_ context.Context, c *live.Cluster, now float64, _ *LiveWork) error {
		j.Predictions = c.Predictions(now, number, known)
		return nil
	})
	return j, err
}

// LiveDecisions lists the decisions of a cluster as they are now.
func (a *App) LiveDecisions(ctx context.Context, cluster string, of LiveDecisionFilter, page storage.Page) (l storage.Listed[live.LiveDecision], err error) {
	if err := a.settleLive(ctx, cluster); err != nil {
		return l, err
	}
	return a.Stores.Live.LiveDecisions(ctx, cluster, of, page)
}
