package drive

import (
	"context"
	"strings"
	"time"
)

// Measured holds what an engine measured.
type Measured struct {
	Nodes      int64    // that run
	Processors int64    // that do work
	Heading    string   // the first line of a list of jobs that an import of histories reads
	Ended      []string // its other lines, one for each job that has ended; a job may come again
}

// Times of what is handed on.
const (
	measureEvery = time.Minute
	pastDays     = 7 * 24 * time.Hour // that a driver looks back when it starts
	day          = 24 * time.Hour     // of which an engine is asked at once
	margin       = time.Hour          // that an engine may take to write down an end
	oneList      = 200                // jobs of a list: their processors together are bounded where it is read
	listsPerTurn = 10
)

// measuring holds what of its engine's measurements a driver has handed on.
type measuring struct {
	next    time.Time       // to look at the engine again
	until   time.Time       // the ends up to then were seen
	heading string          // of unsent
	unsent  []string        // lines
	sent    map[string]bool // lines of which the engine may still tell again
}

// measure hands on what the engine measured: each minute what runs, and which jobs have ended. What could not be handed
// on comes again. A driver that starts begins a week ago: an import takes each job once.
func (d *Driver) measure(ctx context.Context, classes []string, now time.Time) error {
	m := &d.measured
	if len(m.unsent) == 0 && !now.Before(m.next) {
		if m.until.IsZero() {
			m.until, m.sent = now.Add(-pastDays), map[string]bool{}
		}
		from, until := m.until.Add(-margin), m.until.Add(day)
		if until.After(now) {
			until = now
			m.next = now.Add(measureEvery)
		}
		seen, err := d.Engine.Measure(ctx, classes, from, until)
		if err != nil {
			return err
		}
		m.heading, m.until = seen.Heading, until
		still := map[string]bool{}
		for _, line := range seen.Ended {
			if still[line] = m.sent[line]; !m.sent[line] {
				m.unsent = append(m.unsent, line)
			}
		}
		m.sent = still
		if until.Equal(now) {
			if err := d.Observed(ctx, seen.Nodes, seen.Processors); err != nil {
				return err
			}
		}
	}
	for range listsPerTurn {
		if len(m.unsent) == 0 {
			return nil
		}
		n := min(oneList, len(m.unsent))
		if err := d.Ended(ctx, m.heading+strings.Join(m.unsent[:n], "")); err != nil {
			return err
		}
		for _, line := range m.unsent[:n] {
			m.sent[line] = true
		}
		m.unsent = m.unsent[n:]
	}
	return nil
}
