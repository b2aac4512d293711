package worker

import (
	"errors"
	"fmt"
	"io"

	"example.org/headroom/internal/core/lp"
)

// Engine holds the solver that a process answers with.
type Engine struct {
	Version string // such as "cbc 2.10.8, clp 1.17.6"
	// Solve solves one program; another variation asks for a second opinion with other settings.
	Solve func(p *lp.Program, o lp.Options, variation int) (lp.Solution, error)
}

// Serve runs the solver process's side: it reads programs from in and writes solutions to out, one at a time, until
// in ends. Then it returns at once, even in the middle of a solve, because nothing in C++ can be cancelled. The
// caller must then end the process.
func Serve(in io.Reader, out io.Writer, engine Engine) error {
	e := encoder{newFrame(128)}
	e.text(engine.Version)
	if err := writeFrame(out, hello, e.frame); err != nil {
		return fmt.Errorf("greet the caller: %w", err)
	}
	questions := make(chan []byte, 1) // one may come while the last answer is still being sent
	defer close(questions)
	go func() { // not waited for: see above
		for payload := range questions {
			if k, frame := respond(payload, engine); writeFrame(out, k, frame) != nil {
				return // the caller is gone, and so is the other end of in
			}
		}
	}()
	for {
		k, payload, err := readFrame(in, maxPayload)
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("read a program: %w", err)
		case k != question:
			return fmt.Errorf("read a program: %w: a frame of kind %d", errFrame, k)
		}
		select {
		case questions <- payload:
		default:
			return errors.New("read a program: more came before the first was answered")
		}
	}
}

func respond(payload []byte, engine Engine) (kind, []byte) {
	q, err := decodeRequest(payload)
	if err == nil {
		err = q.program.Validate()
	}
	var s lp.Solution
	if err == nil {
		s, err = engine.Solve(q.program, q.options, q.variation)
	}
	if err != nil {
		e := encoder{newFrame(maxText + 4)}
		e.text(err.Error())
		return failure, e.frame
	}
	return answer, encodeSolution(s)
}
