package capacity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/strict"
)

//go:generate sh -c "go run example.org/headroom/scripts/planjson . > planjson_gen.go"

var (
	findingShape = strict.NewShape("a conflict", []string{"pointer", "detail", "code"}, "line", "column", "hint")
	hintShape    = strict.NewShape("a hint", []string{"detail"}, "pointer", "value")

	allStatus  = []Status{Optimal, Feasible, InfeasibleStatus}
	allVerdict = []Verdict{VerdictImpossible, VerdictFull, VerdictNone, VerdictMinimum, VerdictPartial}
	allCutoff  = []Cutoff{ClockCutoff}
)

// planReader reads a plan, a multiple faster than encoding/json and more strictly.
type planReader struct {
	*strict.Reader
	planRooms
	figures  room[float64]
	amounts  room[money.Amount]
	unbilled bool // the plan's cost has no bill
}

// room holds values that are pointed at, many to an allocation.
type room[T any] []T

func (r *room[T]) next() *T {
	if len(*r) == 0 {
		*r = make([]T, 256)
	}
	x := &(*r)[0]
	*r = (*r)[1:]
	return x
}

// complete checks the members that depend on one another.
func (r *planReader) complete(p *Plan, _ strict.Given) {
	if r.unbilled && len(p.Facts) > 0 {
		r.Enter("cost")
		r.Found("missing", `The member "bill" is missing; a plan that lists facts has it.`, nil)
		r.Leave()
	}
}

// billed works out the bill of a plan that was stored before there was this member, and before it listed facts.
func (r *planReader) billed(c *Cost, given strict.Given) {
	if !given.Has(planCostShape, "bill") {
		r.unbilled = true
		c.Bill.Decimal = c.Total.Sub(c.Penalties.Decimal)
	}
}

// listOrNull reads an array, which need not be there.
func listOrNull[T any](r *strict.Reader, read func(*T)) []T {
	if r.Null() {
		return nil
	}
	return strict.Elements(r, read)
}

// orNull reads what may be null into a place of its own.
func orNull[T any](r *planReader, places *room[T], read func(*T)) *T {
	if r.Null() {
		return nil
	}
	into := places.next()
	read(into)
	return into
}

func (r *planReader) optionalFloat() *float64 {
	if r.Null() {
		return nil
	}
	x := r.figures.next()
	r.Float(x)
	return x
}

func (r *planReader) optionalMoney() *money.Amount {
	if r.Null() {
		return nil
	}
	m := r.amounts.next()
	money.Read(r.Reader, m)
	return m
}

func (r *planReader) string(into *string) { *into, _ = r.Text() }

func (r *planReader) money(into *money.Amount) { money.Read(r.Reader, into) }

// plainWhole reads a whole number that is written as one.
func (r *planReader) plainWhole(into *int64) {
	from := r.At
	if r.Whole(into); bytes.ContainsAny(r.Since(from), ".eE") {
		r.Found("not_whole", "Whole numbers of a plan are written without a point.", nil)
	}
}

func (r *planReader) finding(f *fault.Finding) {
	r.Object(findingShape, func(name string) {
		switch name {
		case "pointer":
			r.string(&f.Pointer)
		case "detail":
			r.string(&f.Detail)
		case "code":
			r.string(&f.Code)
		case "line":
			r.position(&f.Line)
		case "column":
			r.position(&f.Column)
		case "hint":
			f.Hint = orNull(r, &room[fault.Hint]{}, r.hint)
		}
	})
}

func (r *planReader) position(into *int) {
	var n int64
	r.plainWhole(&n)
	*into = int(n)
}

func (r *planReader) hint(h *fault.Hint) {
	r.Object(hintShape, func(name string) {
		switch name {
		case "detail":
			r.string(&h.Detail)
		case "pointer":
			r.string(&h.Pointer)
		case "value": // of any type
			from := r.At
			if r.Value(); r.Failure != nil || len(r.Findings) > 0 {
				return
			}
			if err := json.Unmarshal(r.Since(from), &h.Value); err != nil {
				r.Found("type", "This value cannot be read.", nil)
			}
		}
	})
}

// known reads one of a few words; any other is a finding.
func known[T ~string](r *strict.Reader, into *T, what string, words []T) {
	if r.Space() != '"' {
		r.WrongType("a string")
		return
	}
	b, ok := r.Quoted()
	if !ok {
		return
	}
	for _, w := range words {
		if string(b) == string(w) {
			*into = w
			return
		}
	}
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	r.Found("choice", fmt.Sprintf("%q is no %s; there are %s.", fault.Clip(string(b)), what, strings.Join(list, ", ")), fault.DidYouMean(string(b), list))
}
