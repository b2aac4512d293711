package shell

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.org/headroom/internal/core/fault"
)

// speak makes a command and all below it say in our words what is wrong with how they are used.
func speak(c *cobra.Command) {
	c.SuggestFor = append(c.SuggestFor, otherWords[c.Name()]...)
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error { return wrongArguments(c, args, check(c, args)) }
	}
	for _, sub := range c.Commands() {
		speak(sub)
	}
}

// wrongArguments says what is wrong with the number of arguments, which cobra tells in a text alone.
func wrongArguments(c *cobra.Command, args []string, err error) error {
	if err == nil {
		return nil
	}
	least, most, given := 0, 0, 0
	said := err.Error()
	scans := func(format string, into ...any) bool {
		n, err := fmt.Sscanf(said, format, into...)
		return n == len(into) && err == nil
	}
	switch {
	case scans("accepts %d arg(s), received %d", &most, &given):
		least = most
	case scans("requires at least %d arg(s), only received %d", &least, &given):
	case scans("accepts at most %d arg(s), received %d", &most, &given):
	case scans("accepts between %d and %d arg(s), received %d", &least, &most, &given):
	case strings.HasPrefix(said, "unknown command ") && len(args) > 0 && !c.HasSubCommands():
	default:
		return err
	}
	switch {
	case len(args) < least && len(args) == 0:
		return fmt.Errorf("%q needs %s; give %s", c.CommandPath(), arguments(least), operands(c))
	case len(args) < least:
		return fmt.Errorf("%q needs %s and has %d; give %s", c.CommandPath(), arguments(least), len(args), operands(c))
	case most == 0:
		return fmt.Errorf("%q takes no argument; leave out %q", c.CommandPath(), args[0])
	case len(args) > most:
		return fmt.Errorf("%q takes %s at most, and %d are given; leave out %q", c.CommandPath(), arguments(most), len(args), args[most])
	}
	return err
}

func arguments(n int) string {
	if n == 1 {
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", n)
}

// operands returns the arguments of a command, as its usage line names them.
func operands(c *cobra.Command) string {
	_, rest, _ := strings.Cut(c.Use, " ")
	return rest
}

var (
	apartFlags = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^if any flags in the group \[.*\] are set none of the others can be; \[(.*)\] were all set$`)
	})
	missingFlags  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^required flag\(s\) "(.*)" not set$`) })
	togetherFlags = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^if any flags in the group \[(.*)\] are set they must all be set; missing \[(.*)\]$`)
	})
)

// flagGroup says of flags that exclude one another, or are needed, what cobra tells in a text alone.
func flagGroup(said string) string {
	flags := func(names string) string {
		return Listed(strings.Split("--"+strings.ReplaceAll(names, " ", " --"), " "))
	}
	if m := apartFlags().FindStringSubmatch(said); m != nil {
		return flags(m[1]) + " cannot stand together; give one of them"
	}
	if m := togetherFlags().FindStringSubmatch(said); m != nil {
		return fmt.Sprintf("%s belong together; give %s as well", flags(m[1]), flags(m[2]))
	}
	if m := missingFlags().FindStringSubmatch(said); m != nil {
		return flags(strings.ReplaceAll(m[1], `", "`, " ")) + " must be given"
	}
	return said
}

// wrongFlag says what is wrong with a flag.
func wrongFlag(c *cobra.Command, err error) error {
	unknown, valueless, invalid, syntax := (*pflag.NotExistError)(nil), (*pflag.ValueRequiredError)(nil), (*pflag.InvalidValueError)(nil),
		(*pflag.InvalidSyntaxError)(nil)
	switch {
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if letters := unknown.GetSpecifiedShortnames(); letters != "" {
			return fmt.Errorf("%q has no flag -%s", c.CommandPath(), name)
		}
		said := fmt.Sprintf("%q has no flag --%s", c.CommandPath(), name)
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				known = append(known, f.Name)
			}
		})
		if near := fault.Nearest(name, known); near != "" {
			said += "; did you mean --" + near + "?"
		}
		return errors.New(said)
	case errors.As(err, &valueless):
		return fmt.Errorf("the flag --%s needs a value; write it behind: --%s VALUE", valueless.GetFlag().Name, valueless.GetFlag().Name)
	case errors.As(err, &invalid):
		kinds := map[string]string{"int": "a whole number", "int64": "a whole number", "uint64": "a whole number from 0 on",
			"float64": "a number", "bool": "true or false", "duration": "a duration such as 30s or 5m"}
		if kind := kinds[invalid.GetFlag().Value.Type()]; kind != "" {
			return fmt.Errorf("--%s is %q; give %s", invalid.GetFlag().Name, invalid.GetValue(), kind)
		}
		return fmt.Errorf("--%s is %q: %w", invalid.GetFlag().Name, invalid.GetValue(), invalid.Unwrap())
	case errors.As(err, &syntax):
		return fmt.Errorf("%q is no flag; one begins with two dashes and a letter", syntax.GetSpecifiedFlag())
	}
	return err
}

// Require marks flags in the help of a command that says in a sentence of its own that it needs them.
func Require(c *cobra.Command, names ...string) {
	for _, name := range names {
		c.Flags().Lookup(name).Usage += " (required)"
	}
}
