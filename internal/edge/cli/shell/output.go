package shell

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/strict"
)

// choice is a flag that takes one of a few words.
type choice[T ~string] struct {
	value   *T
	allowed []T
}

var _ pflag.Value = choice[string]{}

func (c choice[T]) String() string {
	if c.value == nil {
		return ""
	}
	return string(*c.value)
}

func (c choice[T]) Type() string { return "word" }

func (c choice[T]) Set(s string) error {
	for _, word := range c.allowed {
		if s == string(word) {
			*c.value = word
			return nil
		}
	}
	return fmt.Errorf("it must be %s", c.words("or"))
}

func (c choice[T]) words(or string) string {
	words := make([]string, len(c.allowed))
	for i, word := range c.allowed {
		words[i] = string(word)
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + or + " " + words[last]
}

// AddChoice defines a flag that takes one of a few words, and completes them.
func AddChoice[T ~string](c *cobra.Command, value *T, name, short, usage string, allowed ...T) {
	flag := choice[T]{value, allowed}
	c.Flags().VarP(flag, name, short, usage+": "+flag.words("or"))
	var words []string
	for _, word := range allowed {
		words = append(words, string(word))
	}
	// It fails only for a flag that does not exist or is completed already.
	_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// Output says where a command writes its answer, and in which format.
type Output struct {
	Format string // table, json or csv
	File   string // "": standard output
}

func (o *Output) AddFlags(c *cobra.Command, formats ...string) {
	o.Format = formats[0]
	AddChoice(c, &o.Format, "output", "o", "format", formats...)
	c.Flags().StringVarP(&o.File, "output-file", "f", "", "write to this `file`, wholly or not at all, instead of standard output")
}

// Form is an answer in one format.
type Form = func(io.Writer) error

// Write writes an answer in the chosen format: wholly, or not at all.
func (o *Output) Write(c *cobra.Command, forms map[string]Form) error {
	var b bytes.Buffer
	if err := forms[o.Format](&b); err != nil {
		return err
	}
	return o.Deliver(c.OutOrStdout(), func(w io.Writer) error {
		_, err := w.Write(b.Bytes())
		return err
	})
}

// Stream writes an answer in the chosen format as it is put into words: for forms that nothing but the writing can
// end halfway, of answers that may be as long as anything.
func (o *Output) Stream(c *cobra.Command, forms map[string]Form) error {
	return o.Deliver(c.OutOrStdout(), func(w io.Writer) error {
		b := bufio.NewWriterSize(w, indentedPiece)
		if err := forms[o.Format](b); err != nil {
			return err
		}
		return b.Flush()
	})
}

// Deliver lets fill write the output. A file gets its name once all of it is on disk, so that nobody
// ever reads half of it.
func (o *Output) Deliver(stdout io.Writer, fill func(io.Writer) error) (err error) {
	if o.File == "" {
		if err := fill(stdout); err != nil {
			return fmt.Errorf("write the answer: %w", err)
		}
		return nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", o.File, err)
		}
	}()
	target := o.File
	if info, err := os.Stat(target); err == nil { // it is there: a link is followed, a device never replaced
		if !info.Mode().IsRegular() {
			return errors.New("this is no regular file; leave out --output-file and redirect the output instead")
		}
		if target, err = filepath.EvalSymlinks(target); err != nil {
			return err
		}
	}
	file, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*")
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("there is no folder %s; make it first", filepath.Dir(target))
	}
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // fails once the file has its name
	err = fill(file)
	if err == nil {
		err = file.Chmod(0o644)
	}
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), target)
}

// AsJSON writes a value as people read JSON.
func AsJSON(value any) Form {
	return func(w io.Writer) error {
		if plan, ok := value.(capacity.Plan); ok { // in a fraction of the time, and of the memory
			indented := indenter{out: w}
			if err := capacity.WritePlan(&indented, plan); err != nil {
				return err
			}
			indented.line = append(indented.line, '\n')
			return indented.flush()
		}
		return encode(w, value, "  ")
	}
}

// AsLine writes a value as one line of JSON.
func AsLine(value any) Form {
	return func(w io.Writer) error {
		if plan, ok := value.(capacity.Plan); ok { // the bulk of a stream, written in a third of the time
			_, err := w.Write(append(capacity.AppendPlan(nil, plan), '\n'))
			return err
		}
		return encode(w, value, "")
	}
}

func encode(w io.Writer, value any, indent string) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	_, err := w.Write(strict.WithoutMinusZero(text.Bytes()))
	return err
}

// CheckSheet keeps a spreadsheet off a terminal.
func (o *Output) CheckSheet(c *cobra.Command) error {
	if o.Format == "xlsx" && o.File == "" && IsTerminal(c.OutOrStdout()) {
		return errors.New("a spreadsheet is nothing for a terminal; name a file with --output-file")
	}
	return nil
}

// SayIt prints one sentence.
func SayIt(format string, values ...any) Form {
	return func(w io.Writer) error {
		_, err := fmt.Fprintf(w, format+"\n", values...)
		return err
	}
}
