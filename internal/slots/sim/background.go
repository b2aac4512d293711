package sim

import "math"

// begin returns a node's residual at the start and the moment of its next change, infinite if there is none.
func (b *Background) begin(number int, s *stream) (residual, next float64) {
	never := math.Inf(1)
	switch {
	case b == nil:
		return 1, never
	case b.Kind == ConstantBackground:
		return b.Residual[number%len(b.Residual)], never
	case b.Kind == UniformBackground:
		return b.draw(s), b.redrawn(0, s)
	default:
		if b.Steps[0].AtSeconds == 0 {
			return b.Steps[0].Residual, b.moment(1)
		}
		return 1, b.moment(0)
	}
}

// change returns a node's residual after its step-th change (from 0), and the moment of the next change.
func (b *Background) change(step int, now float64, s *stream) (residual, next float64) {
	if b.Kind == UniformBackground {
		return b.draw(s), b.redrawn(now, s)
	}
	if b.Steps[0].AtSeconds == 0 {
		step++ // the first step was the beginning
	}
	return b.Steps[step%len(b.Steps)].Residual, b.moment(step + 1)
}

// moment returns the time of a step, counted through all repetitions.
func (b *Background) moment(step int) float64 {
	round := step / len(b.Steps)
	if round > 0 && b.RepeatSeconds == 0 {
		return math.Inf(1)
	}
	return float64(float64(round)*b.RepeatSeconds) + b.Steps[step%len(b.Steps)].AtSeconds
}

func (b *Background) draw(s *stream) float64 { return b.Low + float64((b.High-b.Low)*s.unit()) }

func (b *Background) redrawn(now float64, s *stream) float64 {
	if b.EverySeconds == 0 {
		return math.Inf(1)
	}
	return now + s.exponential(b.EverySeconds)
}
