package rules

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// broken returns the first of a shape's rules that a value breaks, or "". Numbers have limits, texts and lists have
// lengths.
func (s *Shape) broken(value any) string {
	for rule := range strings.SplitSeq(s.Rules, ",") {
		name, limit, _ := strings.Cut(rule, "=")
		if !s.keeps(name, limit, value) {
			return name
		}
	}
	return ""
}

func (s *Shape) keeps(rule, limit string, value any) bool {
	text, _ := value.(string)
	number, _ := value.(float64)
	switch rule {
	case "whole":
		return number == math.Trunc(number)
	case "int64":
		return number >= math.MinInt64 && number <= math.MaxInt64
	case "gt":
		return number > amount(limit)
	case "gte":
		return number >= amount(limit)
	case "lte":
		return number <= amount(limit)
	case "min":
		return float64(size(value)) >= amount(limit)
	case "max":
		return float64(size(value)) <= amount(limit)
	case "oneof":
		return slices.Contains(s.words(), text)
	case "matches":
		return pattern(param(s.Rules, rule)).MatchString(text)
	case "moment":
		return ReadableTime(text) == nil
	}
	panic(fmt.Sprintf("the rule %q is none of scripts/rules", rule))
}

// size returns the number of characters of a text, or of the elements or members of a value.
func size(value any) int {
	switch x := value.(type) {
	case string:
		return utf8.RuneCountInString(x)
	case []any:
		return len(x)
	case map[string]any:
		return len(x)
	}
	return 0
}

// amount reads the limit of a rule.
func amount(limit string) float64 {
	n, err := strconv.ParseFloat(limit, 64)
	if err != nil {
		panic(fmt.Sprintf("the limit %q is none of scripts/rules", limit))
	}
	return n
}
