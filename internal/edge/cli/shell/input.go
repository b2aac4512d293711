package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/term"

	"example.org/headroom/internal/core/capacity"
)

// LongestDocument bounds what is read into memory from one file: a million full classes.
const LongestDocument = 1 << 30

// IsTerminal says whether somebody sits at the other end of a reader or writer.
func IsTerminal(x any) bool {
	file, ok := x.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// FileArgument is the file that optional arguments name; "-" is standard input.
func FileArgument(args []string) string {
	if len(args) == 0 {
		return "-"
	}
	return args[len(args)-1]
}

// Open opens a file to read, or standard input; label names it in messages.
func Open(name string, stdin io.Reader, stderr io.Writer) (in io.ReadCloser, label string, err error) {
	if name == "-" {
		if IsTerminal(stdin) {
			fmt.Fprintln(stderr, "headroom: Reading from the keyboard; end the input with Ctrl-D, or name a file.")
		}
		return io.NopCloser(stdin), "standard input", nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, name, errors.New(FileTrouble(name, err))
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		file.Close()
		return nil, name, fmt.Errorf("%s: This is a directory; name a file in it", name)
	}
	return file, name, nil
}

// Read reads a whole document, or as much as shows that it is none. An interruption ends the wait
// for it; the reading itself ends with the program.
func Read(ctx context.Context, name string, stdin io.Reader, stderr io.Writer) (data []byte, label string, err error) {
	return ReadBy(ctx, name, stdin, stderr, readDocument)
}

// ReadBy is read with another way of reading.
func ReadBy(ctx context.Context, name string, stdin io.Reader, stderr io.Writer, by func(io.Reader) ([]byte, error)) (data []byte,
	label string, err error) {
	in, label, err := Open(name, stdin, stderr)
	if err != nil {
		return nil, label, err
	}
	type document struct {
		data []byte
		err  error
	}
	done := make(chan document, 1)
	go func() {
		defer in.Close()
		var d document
		d.data, d.err = by(in)
		done <- d
	}()
	select {
	case <-ctx.Done():
		return nil, label, ctx.Err()
	case d := <-done:
		switch {
		case d.err != nil:
			return nil, label, errors.New(FileTrouble(label, d.err))
		case len(d.data) > LongestDocument:
			return nil, label, fmt.Errorf("%s: The document is larger than %d MiB; split it, or give one problem a line with --stream", label,
				LongestDocument>>20)
		}
		return d.data, label, nil
	}
}

// readDocument reads a beginning and, unless that cannot be JSON, the rest: of a file into one piece of memory.
func readDocument(in io.Reader) ([]byte, error) {
	const beginning = 64 << 10
	var text bytes.Buffer
	_, err := io.CopyN(&text, in, beginning)
	if start := bytes.TrimLeft(text.Bytes(), " \t\r\n"); err != nil || len(start) > 0 && start[0] != '{' {
		if err == io.EOF {
			err = nil
		}
		return text.Bytes(), err
	}
	if file, ok := in.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			text.Grow(int(max(0, min(info.Size(), LongestDocument)-beginning)) + bytes.MinRead)
		}
	}
	_, err = text.ReadFrom(io.LimitReader(in, LongestDocument+1-beginning))
	return text.Bytes(), err
}

// FileTrouble says what the operating system objects to, in our words where it is common.
func FileTrouble(name string, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return name + ": There is no such file."
	case errors.Is(err, fs.ErrPermission):
		return name + ": You may not read this file; check its permissions."
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Sprintf("%s: The file cannot be read: %s.", name, err)
}

// Labelled puts the file's name before each line of an error.
func Labelled(label string, err error) error {
	if err == nil {
		return nil
	}
	return &labelledError{label, err}
}

type labelledError struct {
	label string
	err   error
}

func (e *labelledError) Error() string {
	var b strings.Builder
	for line := range strings.Lines(e.err.Error()) {
		b.WriteString(e.label + ": " + line)
	}
	return b.String()
}

func (e *labelledError) Unwrap() error { return e.err }

// Limits are those of somebody at their own machine: only the document's size is bounded.
var Limits = capacity.Limits{Bytes: LongestDocument}
