package shell

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/fault"
)

// longestLine bounds one line of a stream.
const longestLine = 64 << 20

// AddStream adds the flag that makes a verb answer line by line.
func AddStream(c *cobra.Command, lines *bool) {
	c.Flags().BoolVar(lines, "stream", false, "read one question a line and write one answer a line, as JSON")
}

// CheckStream refuses a form that lines are not written in.
func (o *Output) CheckStream(c *cobra.Command, lines bool) error {
	if lines && c.Flags().Changed("output") && o.Format != "json" {
		return fmt.Errorf("--stream writes JSON lines; leave out -o %s", o.Format)
	}
	return nil
}

// line is one line of a stream, read as a question of some kind.
type line[Q any] struct {
	number   int
	bytes    int // of the input, its line end included
	question Q
	err      error
	last     bool // the input ends here, by err if that is not nil
}

// lineError stands in place of an answer.
type lineError struct {
	Error lineTrouble `json:"error"`
}

type lineTrouble struct {
	Line     int             `json:"line"`
	Kind     string          `json:"kind"`
	Detail   string          `json:"detail,omitempty"`
	Findings []fault.Finding `json:"findings,omitempty"`
}

// Stream answers every line: decode reads one and answer answers it. The next line is read and
// decoded while one is answered.
func Stream[Q any](c *cobra.Command, name string, out Output, decode func(text []byte) (Q, error),
	answer func(context.Context, Q) (any, error)) error {
	in, label, err := Open(name, c.InOrStdin(), c.ErrOrStderr())
	if err != nil {
		return err
	}
	defer in.Close()
	ctx, cancel := context.WithCancel(c.Context())
	lines := make(chan line[Q], 1)
	go readLines(ctx, in, decode, lines)
	defer func() { // wait for the reader, which may stand in a read that only its input can end
		cancel()
		if in, ok := in.(*os.File); ok {
			in.Close()
			for range lines {
			}
		}
	}()
	bar := newProgress(c.ErrOrStderr(), in)
	defer bar.finish()

	answered, bad, code := 0, 0, ExitOK
	err = out.Deliver(c.OutOrStdout(), func(w io.Writer) error {
		for {
			var l line[Q]
			select {
			case <-ctx.Done():
				return errors.New("interrupted: the answers written so far are whole")
			case next, more := <-lines:
				if !more { // the reader was interrupted first
					continue
				}
				l = next
			}
			if l.last {
				return l.err
			}
			var said any
			if l.err == nil {
				said, l.err = answer(ctx, l.question)
			}
			if ctx.Err() != nil {
				continue // an answer cut short by the interruption is none
			}
			if l.err != nil {
				bad++
				code = max(code, ExitCode(l.err))
				said = lineError{troubleOf(l.number, l.err)}
			}
			answered++
			var b bytes.Buffer
			if err := AsLine(said)(&b); err != nil {
				return err
			}
			if _, err := w.Write(b.Bytes()); err != nil {
				return err
			}
			bar.add(l.bytes)
		}
	})
	if err != nil {
		return Labelled(label, err)
	}
	if bad > 0 {
		return Fail(code, fmt.Errorf("%s: %d of %s could not be answered; their errors stand in the output", label, bad, Counted(int64(answered), "line")))
	}
	return nil
}

// troubleOf says why a line has no answer.
func troubleOf(number int, err error) lineTrouble {
	trouble := lineTrouble{Line: number, Kind: string(fault.Invalid)}
	var input *fault.InputError
	switch {
	case errors.As(err, &input):
		trouble.Findings = input.Findings
	case ExitCode(err) == ExitSolver:
		trouble.Kind, trouble.Detail = string(fault.Busy), Sentence(err.Error())
	default:
		trouble.Kind, trouble.Detail = "error", Sentence(err.Error())
	}
	return trouble
}

// readLines reads and decodes lines until the input ends or ctx does, and closes lines then. Blank
// lines are passed over.
func readLines[Q any](ctx context.Context, in io.Reader, decode func([]byte) (Q, error), lines chan<- line[Q]) {
	defer close(lines)
	reader := bufio.NewReaderSize(in, 1<<16)
	send := func(l line[Q]) bool {
		select {
		case lines <- l:
			return true
		case <-ctx.Done():
			return false
		}
	}
	for number := 1; ; number++ {
		text, size, err := readLine(reader)
		l := line[Q]{number: number, bytes: size}
		blank := false
		switch {
		case size > longestLine:
			l.err = &fault.InputError{Findings: []fault.Finding{{Code: "too_large",
				Detail: fmt.Sprintf("The line is longer than %d MiB; ask it alone, without --stream.", longestLine>>20)}}}
		case len(bytes.TrimSpace(text)) == 0:
			blank = true
		default:
			l.question, l.err = decode(text)
		}
		if !blank && !send(l) {
			return
		}
		if err != nil {
			if err == io.EOF {
				err = nil
			} else {
				err = errors.New(FileTrouble("the input", err))
			}
			send(line[Q]{last: true, err: err})
			return
		}
	}
}

// readLine reads a line without keeping more of it than may be used; size is its whole length.
func readLine(reader *bufio.Reader) (text []byte, size int, err error) {
	for {
		part, err := reader.ReadSlice('\n')
		size += len(part)
		if size <= longestLine {
			text = append(text, part...)
		}
		if err != bufio.ErrBufferFull {
			return text, size, err
		}
	}
}

// progress is a bar on a terminal, shown when a stream takes more than a moment.
type progress struct {
	bar   *progressbar.ProgressBar
	to    io.Writer
	size  int64
	began time.Time
	bytes int
}

func newProgress(stderr io.Writer, in io.Reader) *progress {
	p := &progress{size: -1, began: time.Now()}
	if !IsTerminal(stderr) {
		return p
	}
	p.to = stderr
	if file, ok := in.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			p.size = info.Size()
		}
	}
	return p
}

func (p *progress) add(bytes int) {
	if p.bytes += bytes; p.to == nil || p.bar == nil && time.Since(p.began) < time.Second {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(p.size, progressbar.OptionSetWriter(p.to), progressbar.OptionShowBytes(true),
			progressbar.OptionSetDescription("answering"), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
	_ = p.bar.Set64(int64(p.bytes)) // a bar that cannot be drawn is no reason to stop
}

func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
