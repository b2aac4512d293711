package begin

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/cli/shell"
)

// missing reports whether flags leave open what a beginning needs.
func (b *beginning) missing() bool {
	return b.instance == "" || b.price == "" && b.sheet == "" || len(b.history) == 0 && (b.takes == 0 || b.on == 0 || b.aDay == 0)
}

// ask asks on a terminal for what is missing, and checks all of it.
func (b *beginning) ask(c *cobra.Command) error {
	guessed := b.takes != 0 || b.on != 0 || b.aDay != 0
	for _, q := range []struct {
		open     func() bool
		question string
		read     func(answer string) error
	}{
		{func() bool { return b.instance == "" }, "Which type of VM do you rent, such as m5.xlarge?", word(&b.instance)},
		{func() bool { return b.slots == 0 && b.sheet == "" && inputs.Processors(b.instance) == 0 }, "How many tasks run on one of them at once?", whole(&b.slots)},
		{func() bool { return b.price == "" && b.sheet == "" }, "What does one cost an hour, in " + b.currency + "?", word(&b.price)},
		{func() bool { return len(b.history) == 0 && !guessed },
			"Where are logs of past runs, a file or a folder? Enter alone means none, and then a guess does.", b.readPlace},
		{func() bool { return len(b.history) == 0 && b.takes == 0 }, "How long does a job take, such as 45m?", b.readTime},
		{func() bool { return len(b.history) == 0 && b.on == 0 }, "On how many machines?", whole(&b.on)},
		{func() bool { return len(b.history) == 0 && b.aDay == 0 }, "How many such jobs are there a day?", b.readDaily},
	} {
		for q.open() {
			answer, err := shell.Ask(c, q.question)
			if err != nil {
				return err
			}
			if err := q.read(answer); err != nil {
				fmt.Fprintf(c.ErrOrStderr(), "  %s\n", err)
			} else if answer == "" {
				break
			}
		}
	}
	return b.check()
}

func (b *beginning) readPlace(answer string) error {
	if answer == "" {
		return nil
	}
	if _, err := os.Stat(answer); err != nil {
		return errors.New(shell.FileTrouble(answer, err))
	}
	b.history = []string{answer}
	return nil
}

func (b *beginning) readTime(answer string) (err error) {
	if b.takes, err = time.ParseDuration(answer); err != nil || b.takes <= 0 {
		b.takes = 0
		return errors.New("give a time such as 30s, 45m or 2h")
	}
	return nil
}

func (b *beginning) readDaily(answer string) (err error) {
	if b.aDay, err = strconv.ParseFloat(answer, 64); err != nil || !(b.aDay > 0) {
		b.aDay = 0
		return errors.New("give a number above 0")
	}
	return nil
}

// word reads any answer but none.
func word(to *string) func(string) error {
	return func(answer string) error {
		if *to = answer; answer == "" {
			return errors.New("it is needed")
		}
		return nil
	}
}

// whole reads a whole number.
func whole(to *int64) func(string) error {
	return func(answer string) error {
		n, err := strconv.ParseInt(answer, 10, 64)
		if err != nil || n < 1 {
			return errors.New("give a whole number from 1 on")
		}
		*to = n
		return nil
	}
}
