package plans

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/plans/solving"
)

// Settings of looking ahead.
const (
	LongestLead = 24 * time.Hour   // that autoscalers may ask for
	lookAhead   = 25 * time.Hour   // moments are planned so far ahead, again when only LongestLead is left
	aheadWait   = 2 * time.Second  // of a poll, for moments that are not planned yet
	mostLooks   = 300              // plans in a row for one cluster
	lookAgain   = 5 * time.Second  // after a failure,
	lookOn      = 10 * time.Minute // and after so many plans
	unasked     = time.Hour        // what nobody asks for is forgotten
)

// Moment is a time ahead from which another plan holds, as a price, a contract or a forecast changes.
type Moment struct {
	At   time.Time
	Plan capacity.Plan // its figures
}

// Outlook holds the moments ahead of a cluster. Those after Until are of earlier inputs, or missing.
type Outlook struct {
	Moments []Moment
	Until   time.Time
	Problem string // why the moment Until cannot be planned
}

// Whole reports whether an outlook reaches as far as autoscalers may ask.
func (o Outlook) Whole(now time.Time) bool {
	return o.Problem != "" || o.complete(now)
}

func (o Outlook) complete(now time.Time) bool { return !o.Until.Before(now.Add(LongestLead)) }

// foresight keeps the outlooks of clusters that autoscalers ask about.
type foresight struct {
	mu sync.Mutex
	of map[string]*ahead
}

// ahead is one cluster's. An outlook belongs to the inputs and the current plan of its time: what runs is a part of what
// comes.
type ahead struct {
	Outlook
	inputs       int64
	plan         string    // its id
	before       []Moment  // of earlier inputs, until there are newer ones
	asked, rests time.Time // it rests until then
	looking      bool
	grown        chan struct{} // closed when something was added, or nobody looks any more
}

// Ahead returns what comes within a lead. It waits a moment at most for what is not planned yet.
func (d *Desk) Ahead(ctx context.Context, shown *Shown, lead time.Duration) Outlook {
	until := d.now().Add(lead)
	patience := time.NewTimer(aheadWait)
	defer patience.Stop()
	for {
		known, grown := d.glance(shown)
		if grown == nil || known.Problem != "" || !known.Until.Before(until) {
			return known
		}
		select {
		case <-grown:
		case <-patience.C:
			return known
		case <-ctx.Done():
			return known
		}
	}
}

// AdmitsMore returns the first moment known ahead from which more jobs of a class than so many are admitted, and how many; the
// zero time where none is. It waits for nothing, so that the first question of a while finds nothing yet.
func (d *Desk) AdmitsMore(cluster, class string, than int64) (at time.Time, jobs int64) {
	shown := d.Board.Find(cluster)
	if shown == nil {
		return at, 0
	}
	known, _ := d.glance(shown)
	return known.admitsMore(class, than)
}

// admitsMore looks no further than Until: moments beyond it are of earlier inputs, and nobody is promised those.
func (o Outlook) admitsMore(class string, than int64) (at time.Time, jobs int64) {
	for _, m := range o.Moments {
		if m.At.After(o.Until) {
			break
		}
		for _, c := range m.Plan.Classes {
			if n := capacity.Places(c.Admitted); c.Name == class && n > than {
				return m.At, n
			}
		}
	}
	return at, 0
}

// glance returns what is known. It lets somebody look for more where that is worth it; grown is nil if nobody looks.
func (d *Desk) glance(shown *Shown) (known Outlook, grown <-chan struct{}) {
	now, f := d.now(), &d.ahead
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, a := range f.of {
		if now.Sub(a.asked) > unasked {
			delete(f.of, name)
		}
	}
	a := f.of[shown.Record.Cluster]
	if a == nil {
		a = &ahead{}
		if f.of == nil {
			f.of = map[string]*ahead{}
		}
		f.of[shown.Record.Cluster] = a
	}
	a.asked = now
	if a.inputs != shown.InputsVersion || a.plan != shown.Record.ID {
		if !a.looking {
			a.before = a.all()
			a.Outlook = Outlook{Until: later(shown.planned(), now)}
			a.inputs, a.plan, a.rests = shown.InputsVersion, shown.Record.ID, time.Time{}
		}
	}
	a.Moments = slices.DeleteFunc(slices.Clone(a.Moments), func(m Moment) bool { return !m.At.After(shown.planned()) })
	ready := !a.Whole(now) && time.Now().After(a.rests)
	if ready && !a.looking {
		a.looking, a.grown = true, make(chan struct{})
		go d.explore(shown, a)
	}
	if a.looking {
		grown = a.grown
	}
	return Outlook{a.all(), a.Until, a.Problem}, grown
}

// planned returns the moment until which a current plan was found to hold.
func (s *Shown) planned() time.Time { return later(s.Record.At, s.ConfirmedAt) }

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// all returns the moments of the newest inputs, and later ones of those before.
func (a *ahead) all() []Moment {
	from, _ := slices.BinarySearchFunc(a.before, a.Until, func(m Moment, t time.Time) int { return m.At.Compare(t.Add(1)) })
	return append(slices.Clip(a.Moments), a.before[from:]...)
}

// sameVMs reports whether two plans have the same VMs, in all and by kind, type and class.
func sameVMs(a, b capacity.Plan) bool {
	return a.VMs.Total == b.VMs.Total && a.VMs.Reserved == b.VMs.Reserved && a.VMs.Spot == b.VMs.Spot && slices.Equal(a.VMs.Types, b.VMs.Types) &&
		slices.EqualFunc(a.Classes, b.Classes, func(a, b capacity.ClassPlan) bool { return a.Name == b.Name && a.VMs == b.VMs })
}

// explore plans moment after moment, the nearest first, as far as autoscalers may ask. It keeps those that change something.
func (d *Desk) explore(shown *Shown, a *ahead) {
	ctx := auth.With(d.solver.Ended, solving.Foresight)
	f, until := &d.ahead, d.now().Add(lookAhead)
	add := func(add func()) {
		f.mu.Lock()
		defer f.mu.Unlock()
		add()
		close(a.grown)
		a.grown = make(chan struct{})
	}
	f.mu.Lock()
	at, last := a.Until, shown.Plan
	if n := len(a.Moments); n > 0 {
		last = a.Moments[n-1].Plan
	}
	f.mu.Unlock()
	var sum []byte
	looks := 0
	first, err := d.inputs.Snapshot(ctx, shown.Record.Cluster, at)
	for turn := ends(first, at); err == nil && looks < mostLooks; looks++ {
		var next *time.Time
		if next, err = d.nextChange(ctx, shown, at, turn); err != nil {
			break
		}
		if next == nil || next.After(until) {
			add(func() { a.Until, a.before = until, nil })
			break
		}
		at = *next
		before := last
		if last, sum, turn, err = d.foresee(ctx, shown, at, last, sum); err != nil {
			break
		}
		add(func() {
			if a.Until = at; !sameVMs(before, last) {
				a.Moments = append(slices.Clip(a.Moments), Moment{at, last})
			}
		})
	}
	add(func() {
		var input *fault.InputError
		var infeasible *fault.InfeasibleError
		a.looking = false
		switch {
		case errors.As(err, &input), errors.As(err, &infeasible):
			a.Problem, a.Until, a.before = err.Error(), at, nil
		case err != nil: // such as a database that is away, or inputs that have changed meanwhile
			a.rests = time.Now().Add(lookAgain)
		case looks == mostLooks:
			a.rests = time.Now().Add(lookOn)
		}
	})
}

// errMeanwhile says that the inputs changed while somebody looked; the next poll looks again.
var errMeanwhile = errors.New("the inputs have changed meanwhile")

// nextChange returns the next moment after another at which something changes; a class has no more work at its turn, if there is
// one. What is pinned stays until the pin ends.
func (d *Desk) nextChange(ctx context.Context, shown *Shown, after time.Time, turn *time.Time) (*time.Time, error) {
	if pin := shown.Pin; pin != nil && after.Before(pin.Until) {
		return &pin.Until, nil
	}
	next, err := d.store.NextChange(ctx, shown.Record.Cluster, after)
	if turn != nil && (next == nil || turn.Before(*next)) {
		next = turn
	}
	return next, err
}

// foresee plans a moment, unless its problem is that of the moment before. It also returns when a class has no more work, if
// that is within the hour.
func (d *Desk) foresee(ctx context.Context, shown *Shown, at time.Time, last capacity.Plan, sum []byte) (capacity.Plan, []byte, *time.Time, error) {
	of, err := d.onRecord(ctx, shown.Record.Cluster, at)
	if err != nil {
		return last, sum, nil, err
	}
	if of.snapshot.Cluster.InputsVersion != shown.InputsVersion {
		return last, sum, nil, errMeanwhile
	}
	turn := ends(of.snapshot, at)
	_, own, err := textOf(of.problem)
	if err != nil || bytes.Equal(own, sum) {
		return last, sum, turn, err
	}
	in, leave, err := d.solver.Turn(ctx)
	if err != nil {
		return last, sum, turn, err
	}
	defer leave()
	plan := func() (answer capacity.Plan, err error) {
		answer, err = d.solver.Plan(in, of.problem)
		if err == nil && answer.Status == capacity.InfeasibleStatus {
			err = &fault.InfeasibleError{Conflicts: answer.Conflicts}
		}
		return answer, err
	}
	answer, err := plan()
	if again, wrong := d.unpromise(&of, at, err); wrong != nil {
		err = wrong
	} else if again {
		answer, err = plan()
	}
	return figuresOf(answer), own, turn, err
}
