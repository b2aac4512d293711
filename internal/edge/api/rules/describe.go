package rules

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-playground/validator/v10"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
)

// validate applies the rules of values. Its own rules serve for numbers and lengths; these are for the rest.
var validate = sync.OnceValue(func() *validator.Validate {
	v := validator.New()
	for name, rule := range map[string]validator.Func{
		"whole": func(f validator.FieldLevel) bool { x := f.Field().Float(); return x == math.Trunc(x) },
		"int64": func(f validator.FieldLevel) bool {
			x := f.Field().Float()
			return x >= math.MinInt64 && x <= math.MaxInt64
		},
		"moment":  func(f validator.FieldLevel) bool { return ReadableTime(f.Field().String()) == nil },
		"matches": func(f validator.FieldLevel) bool { return pattern(f.Param()).MatchString(f.Field().String()) },
	} {
		if err := v.RegisterValidation(name, rule); err != nil {
			panic(err) // a name that the package reserves
		}
	}
	return v
})

// patterns holds the compiled patterns by their text.
var patterns sync.Map

func pattern(text string) *regexp.Regexp {
	if compiled, known := patterns.Load(text); known {
		return compiled.(*regexp.Regexp)
	}
	compiled := regexp.MustCompile(text)
	patterns.Store(text, compiled)
	return compiled
}

// ReadableTime returns an error for text that is no time, and for the first moment of the year 1. Go takes that for no
// time at all, and it would become now.
func ReadableTime(text string) error {
	var t time.Time
	if err := t.UnmarshalText([]byte(text)); err != nil {
		return err
	}
	if _, err := t.MarshalText(); err != nil { // such as one in the zone +24:00, which can only be read
		return err
	}
	if year := t.UTC().Year(); t.IsZero() || year < 1 || year > 9999 { // which could not be written again
		return errors.New("no time")
	}
	return nil
}

// otherwise is the finding about what no other sentence describes.
var otherwise = fault.Finding{Code: "type", Detail: "The value is not what can stand here; /docs describes it."}

// rules applies the rules of a shape to a value of the right kind.
func (c *checker) rules(s *Shape, value any) {
	if s.Rules == "" {
		return
	}
	err := validate().Var(value, s.Rules)
	if broken := (validator.ValidationErrors)(nil); errors.As(err, &broken) {
		c.add(describe(s, broken[0].Tag(), value))
	}
}

// param returns the parameter of a rule, or "" if the tag has no such rule.
func param(rules, name string) string {
	for rule := range strings.SplitSeq(rules, ",") {
		if param, ok := strings.CutPrefix(rule, name+"="); ok {
			return strings.NewReplacer("0x2C", ",", "0x7C", "|").Replace(param)
		}
	}
	return ""
}

// describe returns the finding about a value that breaks a rule.
func describe(s *Shape, rule string, value any) fault.Finding {
	limit := param(s.Rules, rule)
	switch rule {
	case "whole":
		return fault.Finding{Code: "not_whole", Detail: fmt.Sprintf("%s is not a whole number.", shown(value))}
	case "int64":
		return fault.Finding{Code: "range", Detail: fmt.Sprintf("%s is too large for a whole number.", shown(value))}
	case "gt":
		return fault.Finding{Code: "range", Detail: fmt.Sprintf("%s is too small; it must be more than %s.", shown(value), plain(limit))}
	case "gte", "lte":
		return outOfRange(s, limit, value)
	case "oneof":
		return noWord(s.words(), value)
	case "matches":
		about := s.About
		if about == "" {
			about = "It must look like " + limit + "."
		}
		return fault.Finding{Code: "text", Detail: fmt.Sprintf("%s cannot stand here. %s", shown(value), about)}
	case "moment":
		return fault.Finding{Code: "time", Detail: fmt.Sprintf("%s is no time; give one such as \"2026-03-01T22:00:00Z\".", shown(value))}
	}
	return wrongLength(rule, limit, value)
}

func outOfRange(s *Shape, limit string, value any) fault.Finding {
	low, high := param(s.Rules, "gte")+param(s.Rules, "gt"), param(s.Rules, "lte")
	detail := fmt.Sprintf("%s is too large; it can be %s at most.", shown(value), plain(high))
	switch {
	case low != "" && high != "":
		detail = fmt.Sprintf("%s is out of range; it must be from %s to %s.", shown(value), plain(low), plain(high))
	case low != "":
		detail = fmt.Sprintf("%s is too small; it must be at least %s.", shown(value), plain(low))
	}
	nearest := json.Number(plain(limit))
	return fault.Finding{Code: "range", Detail: detail, Hint: &fault.Hint{Detail: fmt.Sprintf("The nearest is %v.", nearest), Value: nearest}}
}

// wrongLength is about texts and arrays that are too short or too long.
func wrongLength(rule, limit string, value any) fault.Finding {
	_, text := value.(string)
	_, array := value.([]any)
	switch {
	case text && rule == "min" && limit == "1":
		return fault.Finding{Code: "text", Detail: "The text is empty; give one."}
	case text && rule == "min":
		return fault.Finding{Code: "text", Detail: fmt.Sprintf("The text %s is too short; it has at least %s characters.", shown(value), limit)}
	case text:
		return fault.Finding{Code: "too_long", Detail: fmt.Sprintf("The text is too long; it can have %s characters at most.", limit)}
	case array && rule == "min":
		return fault.Finding{Code: "missing", Detail: fmt.Sprintf("The list is too short; give at least %s.", limit)}
	case array:
		return fault.Finding{Code: "too_many", Detail: fmt.Sprintf("The list is too long; it can have %s at most.", limit)}
	}
	return otherwise
}

func noWord(words []string, value any) fault.Finding {
	list := strings.Join(words, ", ")
	switch value.(type) {
	case map[string]any, []any:
		return fault.Finding{Code: "type", Detail: fmt.Sprintf("Here one of the words %s is needed, not %s.", list, given(value))}
	case nil:
		return fault.Finding{Code: "null", Detail: fmt.Sprintf("Here one of the words %s is needed, not null; leave the member out where it has no value.", list)}
	}
	f := fault.Finding{Code: "choice", Detail: fmt.Sprintf("%s is none of the words that can stand here: %s.", shown(value), list)}
	if best := fault.Nearest(fmt.Sprint(value), words); best != "" {
		f.Hint = &fault.Hint{Detail: fmt.Sprintf("Did you mean %q?", best), Value: best}
	}
	return f
}

func unknownMember(s *Shape, name string) fault.Finding {
	return fault.Finding{Code: "unknown_member", Detail: fmt.Sprintf("There is no member %.60q here.", name), Hint: fault.DidYouMean(name, s.names())}
}

func wrongKind(s *Shape, value any) fault.Finding {
	return fault.Finding{Code: "type", Detail: fmt.Sprintf("Here %s is needed, not %s.", s.wanted(), given(value))}
}

// notWritten is about a whole number in a form such as 1e3.
func notWritten(number json.Number) fault.Finding {
	f := fault.Finding{Code: "not_whole", Detail: fmt.Sprintf("%.60s is not written as a whole number.", number)}
	if n, err := number.Float64(); err == nil && n > -1<<53 && n < 1<<53 {
		f.Hint = &fault.Hint{Detail: fmt.Sprintf("Write %d.", int64(n)), Value: int64(n)}
	}
	return f
}

func noAmount(value any) fault.Finding {
	if f := amountFault(value, false); f != nil {
		return *f
	}
	return fault.Finding{Code: "type", Detail: "Here a decimal such as \"0.10\" is needed, as a string or a number."}
}

// amountFault returns the fault of a decimal that may be a string or a number, or nil. fits reports whether the value
// fits its shape.
func amountFault(value any, fits bool) *fault.Finding {
	var text string
	switch x := value.(type) {
	case string:
		text = x
	case json.Number:
		text = x.String()
	default:
		return &fault.Finding{Code: "type", Detail: fmt.Sprintf("Here a decimal such as \"0.10\" is needed, as a string or a number, not %s.", given(value))}
	}
	_, err := money.Parse(text)
	switch {
	case err != nil:
		f := &fault.Finding{Code: "type", Detail: err.Error() + "."}
		if point := strings.Replace(strings.TrimSpace(text), ",", ".", 1); point != text {
			if _, err := money.Parse(point); err == nil {
				f.Hint = &fault.Hint{Detail: fmt.Sprintf("Write %q.", point), Value: point}
			}
		}
		return f
	case text[0] == '-': // -0 as well
		return &fault.Finding{Code: "range", Detail: fmt.Sprintf("%.60s cannot be negative.", text)}
	case !fits:
		return &fault.Finding{Code: "range", Detail: fmt.Sprintf("%.60s is too large or too long.", text)}
	}
	return nil
}

func (s *Shape) wanted() string {
	if s.Kind == "" {
		return Text
	}
	return s.Kind
}

func given(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return Bool
	case string:
		return Text
	case []any:
		return Array
	case map[string]any:
		return Object
	}
	return Number
}

// shown returns a value for a sentence.
func shown(value any) string {
	switch x := value.(type) {
	case string:
		return fmt.Sprintf("%.60q", x)
	case float64:
		return plainNumber(x)
	}
	return fmt.Sprintf("%.60s", fmt.Sprint(value))
}

// plain writes the limit of a rule for people.
func plain(limit string) string {
	x, err := strconv.ParseFloat(limit, 64)
	if err != nil {
		return limit
	}
	return plainNumber(x)
}

func plainNumber(x float64) string {
	if size := math.Abs(x); x != 0 && size < 1e-6 || size >= 1e21 {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}
