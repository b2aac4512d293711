package api

import "time"

// minPassed is the part of a body or of an answer that must pass within a time.
const minPassed = 256 << 10

// pace holds a peer to a least rate: minPassed in each time of waiting for it. Work between counts for nobody.
type pace struct {
	within time.Duration
	passed int64         // of the part
	waited time.Duration // for it
}

// until returns the moment by which the peer must have taken or sent something.
func (p *pace) until(now time.Time) time.Time { return now.Add(p.within - p.waited) }

// note counts what has passed since a moment.
func (p *pace) note(n int, since time.Time) {
	p.passed += int64(n)
	p.waited += time.Since(since)
	if p.passed >= minPassed {
		p.passed, p.waited = 0, 0
	}
}
