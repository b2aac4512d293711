package heartbeat

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
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/plans/solving"
	"example.org/headroom/internal/service/telemetry"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/slots/live"
)

// Desk decides for live clusters. Each cluster that this process has seen has a queue, and stays in memory with the
// stamp of its stored state. A change locks it in the store, and reads it again if another process has changed it.
type Desk struct {
	store      Store
	admissions Admissions
	fits       JobFits
	ahead      Ahead
	solver     *solving.Desk
	telemetry  *telemetry.Telemetry
	now        func() time.Time

	mu     sync.Mutex
	queues map[string]*clusterQueue
}

// Config configures a Desk.
type Config struct {
	Store      Store
	Admissions Admissions
	Fits       JobFits
	Ahead      Ahead
	Solver     *solving.Desk
	Telemetry  *telemetry.Telemetry // optional
	Now        func() time.Time
}

// Ahead knows the plans that are expected.
type Ahead interface {
	// AdmitsMore returns the first moment known from which more jobs of a class than so many are admitted, and how many;
	// the zero time where none is.
	AdmitsMore(cluster, class string, than int64) (at time.Time, jobs int64)
}

// JobFits gives the fits of jobs that were measured.
type JobFits interface {
	// LatestFits returns the latest versions of a kind, for those jobs that have one.
	LatestFits(ctx context.Context, cluster string, kind perf.FitKind, jobs []string) (map[string]perf.JobFit, error)
}

// New makes a desk that has no cluster in memory yet.
func New(c Config) *Desk {
	return &Desk{store: c.Store, admissions: c.Admissions, fits: c.Fits, ahead: c.Ahead, solver: c.Solver, telemetry: c.Telemetry, now: c.Now,
		queues: map[string]*clusterQueue{}}
}

// clusterQueue serialises the changes of a cluster. Heartbeats that wait meanwhile are decided together, in one
// transaction.
type clusterQueue struct {
	mu      sync.Mutex
	busy    bool
	waiting []*request

	// Owned by the change in progress.
	cluster *live.Cluster // nil: to be read
	stamp   Stamp
}

// request is a waiting change of a cluster.
type request struct {
	ctx   context.Context
	do    changeFunc
	alone bool // its change is a transaction of its own
	bulk  bool // it may take long
	ahead *dispatch.Ahead
	done  chan struct{} // closed when it is done
	lead  chan struct{} // closed when it must decide for all waiting ones
	err   error
}

// changeFunc changes a cluster, and adds further data to store that the cluster does not know of.
type changeFunc func(ctx context.Context, c *live.Cluster, now float64, w *Work) error

// maxBatch is the maximum number of heartbeats decided in one transaction.
const maxBatch = 64

func (d *Desk) queue(cluster string) *clusterQueue {
	d.mu.Lock()
	defer d.mu.Unlock()
	q := d.queues[cluster]
	if q == nil {
		q = &clusterQueue{}
		d.queues[cluster] = q
	}
	return q
}

// forget removes a cluster from memory.
func (d *Desk) forget(cluster string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.queues, cluster)
}

// Leave removes the clusters from memory that are another server's, but for those that are being changed: their owner would find
// another stamp at the next change.
func (d *Desk) Leave(owned func(cluster string) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for cluster, q := range d.queues {
		q.mu.Lock()
		if !q.busy && !owned(cluster) {
			delete(d.queues, cluster)
		}
		q.mu.Unlock()
	}
}

// Held counts the clusters in memory of which something is true.
func (d *Desk) Held(of func(cluster string) bool) (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for cluster := range d.queues {
		if of(cluster) {
			n++
		}
	}
	return n
}

// change lets do change a cluster. The change is stored when change returns no error.
func (d *Desk) change(ctx context.Context, cluster string, do changeFunc) error {
	return d.enqueue(ctx, cluster, request{ctx: ctx, do: do, alone: true})
}

func (d *Desk) enqueue(ctx context.Context, cluster string, asked request) error {
	ask := &asked
	if d.store.InOnce(ctx) { // its effect is that of the transaction, which may still fail: memory is not used
		d.decide(ctx, cluster, new(clusterQueue), []*request{ask})
		return ask.err
	}
	queue := d.queue(cluster)
	ask.done, ask.lead = make(chan struct{}), make(chan struct{})
	queue.mu.Lock()
	queue.waiting = append(queue.waiting, ask)
	lead := !queue.busy
	queue.busy = true
	queue.mu.Unlock()
	if !lead {
		select {
		case <-ask.done:
			return ask.err
		case <-ask.lead:
		case <-ctx.Done():
			if queue.leave(ask) {
				return ctx.Err()
			}
			select { // it was taken already
			case <-ask.done:
				return ask.err
			case <-ask.lead:
			}
		}
	}
	d.runBatch(ctx, cluster, queue)
	return ask.err
}

// runBatch decides for the first requests of a queue, and leaves the rest to the next one.
func (d *Desk) runBatch(ctx context.Context, cluster string, queue *clusterQueue) {
	some := queue.nextBatch()
	defer func() { // also if a decision panics
		if queue.cluster == nil {
			d.forget(cluster)
		}
		queue.wakeNext()
		for _, ask := range some {
			close(ask.done)
		}
	}()
	for _, ask := range some {
		ask.err = errUndecided
	}
	d.decide(ctx, cluster, queue, some)
}

// errUndecided is the error for requests whose decision was aborted.
var errUndecided = errors.New("the decision has broken off")

// leave removes a waiting request, or returns false if it was already taken.
func (q *clusterQueue) leave(ask *request) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, ask)
	if i < 0 {
		return false
	}
	select {
	case <-ask.lead: // others rely on it
		return false
	default:
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	return true
}

// nextBatch returns the requests that are decided together: the first waiting one, and others unless one of them must be
// alone.
func (q *clusterQueue) nextBatch() []*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 1
	for !q.waiting[0].alone && n < len(q.waiting) && n < maxBatch && !q.waiting[n].alone {
		n++
	}
	some := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	return some
}

// wakeNext lets the next request decide.
func (q *clusterQueue) wakeNext() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.busy = false
		return
	}
	close(q.waiting[0].lead)
}

// decide handles some requests in one transaction; each gets its own error.
func (d *Desk) decide(ctx context.Context, name string, queue *clusterQueue, some []*request) {
	if !d.store.InOnce(ctx) {
		ctx = context.WithoutCancel(ctx) // it is not for one of them alone
	}
	if some[0].alone {
		ctx = auth.With(ctx, auth.From(some[0].ctx))
	}
	var decided *live.Cluster
	stamp, err := d.store.ChangeLive(ctx, name, queue.known(), some[0].bulk, func(ctx context.Context, stored *live.State, judged live.Judged) (w Work, err error) {
		judged.Ahead = some[0].ahead
		w.judged = judged
		if stored != nil {
			if d.telemetry != nil {
				d.telemetry.LiveRead()
			}
			if queue.cluster, err = live.Load(*stored, judged); err != nil {
				return w, fmt.Errorf("read the live cluster %s: %w", name, err)
			}
		}
		// Until the end it is unknown which part will be stored.
		cluster := queue.cluster
		queue.cluster = nil
		now := live.Seconds(d.now())
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
	queue.cluster, queue.stamp = decided, stamp
}

// known returns the stamp of the queue's state in memory.
func (q *clusterQueue) known() Stamp {
	if q.cluster == nil {
		return Stamp{}
	}
	return q.stamp
}

// Heartbeat handles a node's report and returns its orders, as JSON. text is the heartbeat as received.
func (d *Desk) Heartbeat(ctx context.Context, cluster, node string, h live.Heartbeat, text []byte) (answer []byte, err error) {
	sum := sha256.Sum256(text)
	digest := base64.RawURLEncoding.EncodeToString(sum[:18])
	err = d.enqueue(ctx, cluster, request{ctx: ctx, do: func(_ context.Context, c *live.Cluster, now float64, w *Work) error {
		known, err := c.Heartbeat(now, node, h, digest)
		if err != nil {
			return err
		}
		if answer = known.Text; !known.Again {
			w.Heartbeats = append(w.Heartbeats, KeptHeartbeat{At: live.Moment(c.Clock), Node: node, Body: string(text), Answer: string(answer)})
		}
		return nil
	}})
	return answer, err
}

// SetSettings changes the way a cluster decides. Zero is the version of a caller that has not read it.
func (d *Desk) SetSettings(ctx context.Context, cluster string, version int64, s live.LiveSettings) (after live.LiveSettings, err error) {
	if err := s.Validate(); err != nil {
		return after, err
	}
	ahead, err := d.learnAhead(ctx, cluster, func(before dispatch.PolicyConfig) (dispatch.PolicyConfig, bool) {
		return s.Policy, !reflect.DeepEqual(before, s.Policy)
	})
	if err != nil {
		return after, err
	}
	err = d.enqueue(ctx, cluster, request{ctx: ctx, alone: true, bulk: true, ahead: ahead, do: func(_ context.Context, c *live.Cluster, now float64, w *Work) error {
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
func (d *Desk) Relearn(ctx context.Context, cluster string) (dispatch.Knowledge, error) {
	ahead, err := d.learnAhead(ctx, cluster, func(before dispatch.PolicyConfig) (dispatch.PolicyConfig, bool) { return before, true })
	if err != nil {
		return dispatch.Knowledge{}, err
	}
	err = d.enqueue(ctx, cluster, request{ctx: ctx, alone: true, bulk: true, ahead: ahead, do: func(_ context.Context, c *live.Cluster, now float64, w *Work) error {
		err := c.Relearn(now, w.judged)
		if err == nil {
			w.Deeds = append(w.Deeds, Deed{Action: inputs.Update, Kind: live.KnowledgeKind, Name: cluster})
		}
		return err
	}})
	if err != nil {
		return dispatch.Knowledge{}, err
	}
	return d.store.Classifier(ctx, cluster)
}

// learnAhead learns the knowledge of a policy again, beside the heartbeats; their additions are learned while they
// wait. policy returns the policy for the present one, and whether it must learn again.
func (d *Desk) learnAhead(ctx context.Context, cluster string, policy func(now dispatch.PolicyConfig) (dispatch.PolicyConfig, bool)) (*dispatch.Ahead, error) {
	now, err := d.store.LiveSettings(ctx, cluster)
	if err != nil {
		return nil, err
	}
	p, needs := policy(now.Policy)
	if !needs || p.Kind != dispatch.PolicyLearned {
		return nil, nil
	}
	known, err := d.store.Classifier(ctx, cluster)
	if errors.Is(err, fault.NotFound) { // there is nothing to learn from
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return dispatch.LearnAhead(p, known.Versions, d.store.JudgedChoices(ctx, cluster))
}

// PutNode declares a node, or changes its declaration.
func (d *Desk) PutNode(ctx context.Context, cluster string, declared live.LiveNode) (n live.LiveNode, err error) {
	if err := declared.Validate(); err != nil {
		return n, err
	}
	err = d.change(ctx, cluster, func(_ context.Context, c *live.Cluster, now float64, w *Work) error {
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

// RemoveNode takes a node out; its tasks are handed out again.
func (d *Desk) RemoveNode(ctx context.Context, cluster, name string) error {
	return d.change(ctx, cluster, func(_ context.Context, c *live.Cluster, now float64, w *Work) error {
		before, err := c.RemoveNode(now, name)
		if err == nil {
			w.Deeds = append(w.Deeds, Deed{Action: inputs.Delete, Kind: live.LiveNodeKind, Name: name, Before: before})
		}
		return err
	})
}

// SubmitJob accepts a job, whose tasks are assigned from now on.
func (d *Desk) SubmitJob(ctx context.Context, cluster string, r live.LiveJobRequest) (j live.LiveJob, err error) {
	if err := r.Validate(d.now()); err != nil {
		return j, err
	}
	if err := d.estimateUsage(ctx, cluster, &r); err != nil {
		return j, err
	}
	err = d.change(ctx, cluster, func(ctx context.Context, c *live.Cluster, now float64, w *Work) error {
		place, err := d.placeForJob(ctx, cluster, c, now, r)
		if err != nil {
			return err
		}
		if place != nil && !place.Admitted {
			j = live.Refused(r, c.Clock, place)
			return nil
		}
		kept, err := c.Submit(now, r, auth.From(ctx).Name)
		if err != nil && place != nil {
			return errors.Join(err, d.admissions.Unadmit(ctx, place.ID))
		}
		j = kept.View(c.Clock)
		j.Admission = place
		return err
	})
	if err == nil && j.Admission != nil {
		d.countAdmission(*j.Admission)
	}
	return j, err
}

// estimateUsage fills in the measured usage of a job's class if the job gives none.
func (d *Desk) estimateUsage(ctx context.Context, cluster string, r *live.LiveJobRequest) error {
	if r.Usage != (live.TasksUsage{}) || r.UsageFrom != "" {
		return nil
	}
	fits, err := d.fits.LatestFits(ctx, cluster, perf.UsageFits, []string{r.Class})
	if f := fits[r.Class]; err == nil && f.Usage != nil {
		of := f.Usage.OfTask()
		r.Usage = live.TasksUsage{Map: of, Reduce: of}
		r.UsageFrom = fmt.Sprintf("version %d of the fit of the class's usage, measured on %s %s", f.Version, fault.Plural(f.Usage.ProfiledAtVM, "VM"), fault.Plural(int64(f.Usage.Points), "time"))
	}
	return err
}

// KillJob ends a job before its time; its nodes are ordered to stop its tasks.
func (d *Desk) KillJob(ctx context.Context, cluster string, number int64) error {
	return d.change(ctx, cluster, func(_ context.Context, c *live.Cluster, now float64, w *Work) error {
		before, after, err := c.Kill(now, number, auth.From(ctx).Name)
		if err == nil {
			w.Deeds = append(w.Deeds, Deed{Action: inputs.Update, Kind: live.LiveJobKind, Name: strconv.FormatInt(number, 10), Before: before.View(c.Clock), After: after.View(c.Clock)})
		}
		return err
	})
}

// settle applies changes that come by time alone: nodes that have been silent for too long are dead. So readers
// see it even if no heartbeat has come since.
func (d *Desk) settle(ctx context.Context, cluster string) error {
	overdue, err := d.store.OverdueNodes(ctx, cluster, d.now())
	if err != nil || !overdue {
		return err
	}
	return d.change(ctx, cluster, func(_ context.Context, c *live.Cluster, now float64, _ *Work) error {
		c.Advance(now)
		return nil
	})
}

// Nodes lists the nodes of a cluster as they are now.
func (d *Desk) Nodes(ctx context.Context, cluster string, page storage.Page) (l storage.Listed[live.LiveNode], err error) {
	if err := d.settle(ctx, cluster); err != nil {
		return l, err
	}
	return d.store.LiveNodes(ctx, cluster, page)
}

// Node returns the present state of a node.
func (d *Desk) Node(ctx context.Context, cluster, name string) (n live.LiveNode, err error) {
	if err := d.settle(ctx, cluster); err != nil {
		return n, err
	}
	return d.store.LiveNode(ctx, cluster, name)
}

// Jobs lists the jobs of a cluster as they are now.
func (d *Desk) Jobs(ctx context.Context, cluster string, of JobFilter, page storage.Page) (l storage.Listed[live.LiveJob], err error) {
	if err := d.settle(ctx, cluster); err != nil {
		return l, err
	}
	return d.store.LiveJobs(ctx, cluster, of, d.now(), page)
}

// Job returns the present state of a job, with predictions of its tasks' ends.
func (d *Desk) Job(ctx context.Context, cluster string, number int64) (j live.LiveJob, err error) {
	if err := d.settle(ctx, cluster); err != nil {
		return j, err
	}
	if j, err = d.store.LiveJob(ctx, cluster, number, d.now()); err != nil || j.State != live.JobActive {
		return j, err
	}
	known, err := d.knownTimes(ctx, cluster, []string{j.Class})
	if err != nil {
		return j, err
	}
	err = d.change(ctx, cluster, func(_ context.Context, c *live.Cluster, now float64, _ *Work) error {
		j.Predictions = c.Predictions(now, number, known)
		return nil
	})
	return j, err
}

// Decisions lists the decisions of a cluster as they are now.
func (d *Desk) Decisions(ctx context.Context, cluster string, of DecisionFilter, page storage.Page) (l storage.Listed[live.LiveDecision], err error) {
	if err := d.settle(ctx, cluster); err != nil {
		return l, err
	}
	return d.store.LiveDecisions(ctx, cluster, of, page)
}
