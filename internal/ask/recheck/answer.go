package recheck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"time"

	"example.org/headroom/internal/ask/goal"
	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/ask/trial"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/core/strict"
	"example.org/headroom/internal/slots/dispatch"
)

// The names of the checks of answers.
const (
	DocumentCheck    = "document"    // every member is there once, and none is unknown
	SumsCheck        = "sums"        // every sum follows from the counts and prices
	PlansCheck       = "plans"       // the plans exist, and none is cheaper by more than their gaps
	CostsCheck       = "costs"       // the costs of a purchase and of others
	SavingsCheck     = "savings"     // what a purchase saves, by month and in all
	CurvesCheck      = "curves"      // other numbers of VMs
	RegretCheck      = "regret"      // other demands
	BoundCheck       = "bound"       // no purchase costs less than the bound
	DifferenceCheck  = "difference"  // what changes from one plan to the other
	DeadlinesCheck   = "deadlines"   // the rows of deadlines
	TermsCheck       = "terms"       // what is bought commits to, over whole terms
	EndingsCheck     = "demand ends" // demands that end early
	AssumptionsCheck = "assumptions" // other demands after the forecast
	FactsCheck       = "facts"       // the figures that are listed
	ChoicesCheck     = "choices"     // who gets a slot
	PromiseCheck     = "promise"     // whether a deadline is kept
	FitsCheck        = "fits"        // what measurements come to
	ExecutionsCheck  = "executions"  // what executions took, among the bounds on their slots
	AdoptionCheck    = "adoption"    // the data behind a calibration in use, and its drift
	FactorsCheck     = "factors"     // the factors with which bounds hold
	TestedCheck      = "tested"      // what recommendations were worth for later executions
	CuresCheck       = "cures"       // what would turn a refusal into a promise
	SentencesCheck   = "sentences"   // the sentences and their facts say the figures that were checked
)

// Options limits the work on an answer.
type Options struct {
	Limits capacity.Limits
	Looks  int    // most searches for plans; 0 stands for 20,000
	Pause  func() // called between searches; may be nil
}

const defaultLooks = 20_000

// UnreadError says that the answer cannot be read; other errors speak of the question.
type UnreadError struct{ Err error }

func (e *UnreadError) Error() string { return "read the answer: " + e.Err.Error() }

// Unwrap returns what is wrong with the answer.
func (e *UnreadError) Unwrap() error { return e.Err }

// IsQuestion reports whether a document is a question that Answer knows, and not the problem of a plan.
func IsQuestion(question, answer []byte) bool { return kindOf(question, answer) != "" }

// Answer checks the answer to a question about months, a purchase, scenarios, a sweep, a goal, targets, a slot, a promise,
// measurements or executions against its question.
// It shares no code with what made it: it cuts time, adds up and changes problems itself, and asks proof for plans. An
// error says that the question or the answer cannot be read.
func Answer(question, answer []byte, o Options) (proof.Report, error) {
	if o.Looks == 0 {
		o.Looks = defaultLooks
	}
	return check(question, answer, o, map[string]proof.Least{})
}

// check is Answer with brackets that are known.
func check(question, answer []byte, o Options, known map[string]proof.Least) (report proof.Report, err error) {
	defer func() {
		if x := recover(); x != nil { // answers come from anybody, and figures that nobody foresaw divide by zero
			report, err = proof.Report{}, &UnreadError{&fault.InputError{Findings: []fault.Finding{{Code: "unchecked",
				Detail: fmt.Sprintf("The check broke off, at a figure that is missing or makes no sense: %v.", x)}}}}
		}
	}()
	c := &checking{Report: &proof.Report{Outcome: proof.OK}, options: o, looks: o.Looks, known: known}
	if err := strict.CheckSyntax(answer); err != nil {
		return *c.Report, &UnreadError{err}
	}
	switch kindOf(question, answer) {
	case "months":
		q, wrong := horizon.ReadHorizon(without(question, "offers", "factors"), o.Limits)
		err = checkWith(c, q, wrong, answer, c.months)
	case "waiting":
		q, wrong := timetable.ReadSweep(varying(question, answer), o.Limits)
		err = checkWith(c, q, wrong, answer, c.waitingSweep)
	case "schedule":
		q, wrong := timetable.Read(question, o.Limits)
		err = checkWith(c, q, wrong, answer, c.schedule)
	case "purchase":
		q, wrong := horizon.ReadPurchase(question, o.Limits)
		err = checkWith(c, q, wrong, answer, c.purchase)
	case "what-if":
		q, wrong := whatif.ReadWhatIf(question, o.Limits)
		err = checkWith(c, q, wrong, answer, c.whatIf)
	case "sweep":
		q, wrong := whatif.ReadSweep(question, o.Limits)
		err = checkWith(c, q, wrong, answer, c.sweep)
	case "goal":
		q, wrong := goal.ReadQuestion(question, o.Limits)
		err = checkWith(c, q, wrong, answer, c.goal)
	case "decide":
		q, wrong := dispatch.ReadDecide(question)
		err = checkWith(c, q, wrong, answer, c.decisions)
	case "judge":
		q, wrong := dispatch.ReadJudge(question)
		err = checkWith(c, q, wrong, answer, c.judgement)
	case "fit":
		q, wrong := perf.ReadFit(question)
		err = checkWith(c, q, wrong, answer, c.fits)
	case "calibration":
		var q perf.CalibrationQuestion
		if q, err = perf.ReadCalibration(question); err == nil {
			rest, ofClass := ofExecutions(answer)
			if ofClass {
				c.NotChecked = classNotChecked
			}
			err = checkAs(c, rest, func(a perf.Calibration, got any) {
				if ofClass {
					c.adoption(&q, answer)
				}
				c.calibration(q, a, got)
			})
		}
	case "targets":
		q, wrong := trial.ReadTarget(ofProblem(question, answer), o.Limits)
		err = checkWith(c, q, wrong, answer, c.targets)
	default:
		err = &fault.InputError{Findings: []fault.Finding{{Code: "unknown_member",
			Detail: "This is no question that can be checked: it has neither periods, offers, scenarios, vary, question, slot, job, measurements nor executions, and is none about targets."}}}
	}
	return *c.Report, err
}

// checkWith checks an answer to a question that was read, unless that is wrong.
func checkWith[Q, A any](c *checking, q Q, wrong error, answer []byte, check func(Q, A, any)) error {
	if wrong != nil {
		return wrong
	}
	return checkAs(c, answer, func(a A, got any) { check(q, a, got) })
}

// kindOf tells questions apart by their members. A question about a purchase is one about months as well.
func kindOf(question, answer []byte) string {
	q, a := members(question), members(answer)
	switch {
	case q["offers"] && (a == nil || a["recommended"]):
		return "purchase"
	case a["as_planned"]: // a simulation
		return ""
	case q["periods"] && (q["vary"] || a["vary"]):
		return "waiting"
	case q["periods"] && a["schedule"]:
		return "schedule"
	case q["periods"]:
		return "months"
	case q["scenarios"]:
		return "what-if"
	case q["vary"]:
		return "sweep"
	case q["question"]:
		return "goal"
	case q["slot"]:
		return "decide"
	case q["job"] && q["nodes"]:
		return "judge"
	case q["measurements"]:
		return "fit"
	case q["executions"]:
		return "calibration"
	case a["searched_seed"]:
		return "targets"
	}
	return ""
}

// members returns the names of an object's members; nil if the document is no JSON, or none of an object.
func members(document []byte) map[string]bool {
	names := map[string]bool{}
	r := strict.NewReader(document)
	if whole := r.Members("", func(key []byte) { names[string(key)] = true; r.Skip() }); !whole {
		return nil
	}
	if r.End(); r.Failure != nil || len(r.Findings) > 0 {
		return nil
	}
	return names
}

// ofProblem returns a question about targets. One that is a bare problem has the options that the answer names.
func ofProblem(question, answer []byte) []byte {
	var q, a map[string]json.RawMessage
	_, _ = json.Unmarshal(question, &q), json.Unmarshal(answer, &a)
	if q["problem"] != nil || a["options"] == nil {
		return question
	}
	return fmt.Appendf(nil, `{"problem": %s, "options": %s}`, question, a["options"])
}

func without(document []byte, members ...string) []byte {
	var all map[string]json.RawMessage
	if json.Unmarshal(document, &all) != nil || all["offers"] == nil {
		return document // the strict reader says what is wrong
	}
	for _, name := range members {
		delete(all, name)
	}
	rest, err := json.Marshal(all)
	if err != nil {
		return document
	}
	return rest
}

// checkAs reads an answer of a type and checks it, if it has just the members of its type.
func checkAs[T any](c *checking, answer []byte, check func(a T, got any)) error {
	var a T
	if err := json.Unmarshal(answer, &a); err != nil {
		return &UnreadError{&fault.InputError{Findings: []fault.Finding{{Code: "type", Detail: "This is no such answer: " + err.Error() + "."}}}}
	}
	again, err := json.Marshal(a)
	if err != nil {
		return err
	}
	got := tree(answer)
	c.members("", got, tree(again))
	if sound := len(c.faults) == 0; !sound {
		c.end(DocumentCheck, "")
		return nil
	}
	c.end(DocumentCheck, "Every member is there once, and none is unknown.")
	check(a, got)
	return nil
}

// tree reads a document as it stands, with its numbers as they are written.
func tree(data []byte) (x any) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	_ = d.Decode(&x) // the syntax has been checked
	return x
}

// members compares the members of two documents.
func (c *checking) members(at string, got, want any) {
	switch want := want.(type) {
	case map[string]any:
		got, _ := got.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(got)) {
			if w, known := want[name]; known {
				c.members(at+"/"+name, got[name], w)
			} else {
				c.wrong(at+"/"+name, "is no member of such an answer")
			}
		}
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if _, there := got[name]; !there {
				c.wrong(at+"/"+name, "is missing")
			}
		}
	case []any:
		got, _ := got.([]any)
		for i := range min(len(got), len(want)) {
			c.members(fmt.Sprintf("%s/%d", at, i), got[i], want[i])
		}
	default:
		if got == nil && want != nil {
			c.wrong(at, "is null, and never is")
		}
	}
}

// checking collects what is wrong with an answer, check by check.
type checking struct {
	*proof.Report
	options        Options
	faults, doubts []string
	looks          int // searches that may still be made
	passed         int // problems that were not searched
	known          map[string]proof.Least
	carried        *carrying // of a horizon in which jobs arrive
}

func (c *checking) wrong(at, sentence string, values ...any) {
	c.faults = append(c.faults, sentenceAbout(at, sentence, values))
}

func (c *checking) doubt(at, sentence string, values ...any) {
	c.doubts = append(c.doubts, sentenceAbout(at, sentence, values))
}

// sentenceAbout is a sentence about a place, which another sentence may end.
func sentenceAbout(at, sentence string, values []any) string {
	return strings.TrimSpace(at+" "+strings.TrimSuffix(fmt.Sprintf(sentence, values...), ".")) + "."
}

// end closes a check.
func (c *checking) end(name, fine string, values ...any) {
	if c.passed > 0 {
		c.doubt("", "%d problems were not looked at, since there are many", c.passed)
	}
	c.Record(name, c.faults, c.doubts, fmt.Sprintf(fine, values...))
	c.faults, c.doubts, c.passed = nil, nil, 0
}

// differ compares a part of the answer with what follows from the rest. Members that want does not have are not looked
// at; a member that is missing is zero.
func (c *checking) differ(at string, got, want any) {
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok {
			c.wrong(at, "is no object")
			return
		}
		for _, name := range slices.Sorted(maps.Keys(want)) {
			x, stated := got[name]
			if _, number := want[name].(figure); number && stated && x == nil {
				c.wrong(at+"/"+name, "is null, and is a figure")
				continue
			}
			c.differ(at+"/"+name, x, want[name])
		}
	case []any:
		got, _ := got.([]any)
		if len(got) != len(want) {
			c.wrong(at, "has %d entries, and there are %d", len(got), len(want))
			return
		}
		for i := range want {
			c.differ(fmt.Sprintf("%s/%d", at, i), got[i], want[i])
		}
	case figure:
		if x := parsed(got); x == nil || abs(sub(x, want.is)).Cmp(want.off) > 0 {
			c.wrong(at, "is %v, and %s follows from the rest", shown(got), trimmed(want.is))
		}
	case time.Time:
		text, _ := got.(string)
		if t, err := time.Parse(time.RFC3339, text); err != nil || !t.Equal(want) {
			c.wrong(at, "is %v, and %s follows from the rest", shown(got), want.UTC().Format(time.RFC3339))
		}
	default:
		if !reflect.DeepEqual(got, want) {
			c.wrong(at, "is %v, and %v follows from the rest", shown(got), shown(want))
		}
	}
}

func shown(x any) string {
	if x == nil {
		return "null"
	}
	return fault.Clip(fmt.Sprint(x))
}

// figure is a number that follows from others; a stated one may be off by so much.
type figure struct{ is, off *big.Rat }

// exact is an amount that is the same to the last place.
func exact(x *big.Rat) figure { return figure{x, new(big.Rat)} }

// about is a number that went through floating point.
func about(x *big.Rat) figure {
	return figure{x, add(big.NewRat(1, 1e9), mul(big.NewRat(1, 1e9), abs(x)))}
}

func (f *figure) add(x figure) { *f = figure{add(f.is, x.is), add(f.off, x.off)} }

func nothing() figure { return exact(new(big.Rat)) }

// parsed is a number of a document, an amount or not; one that is missing is zero.
func parsed(x any) *big.Rat {
	if x == nil {
		return new(big.Rat)
	}
	text := fmt.Sprint(x)
	if r, ok := new(big.Rat).SetString(text); ok && len(text) < 400 && !strings.Contains(text, "/") {
		return r
	}
	return nil
}

// trimmed is a number for a sentence.
func trimmed(x *big.Rat) string {
	text := x.FloatString(9)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// cents rounds to the places of money, halves away from zero.
func cents(x *big.Rat) *big.Rat {
	r, _ := new(big.Rat).SetString(x.FloatString(9))
	return r
}

func add(x, y *big.Rat) *big.Rat { return new(big.Rat).Add(x, y) }
func sub(x, y *big.Rat) *big.Rat { return new(big.Rat).Sub(x, y) }
func mul(x, y *big.Rat) *big.Rat { return new(big.Rat).Mul(x, y) }
func quo(x, y *big.Rat) *big.Rat { return new(big.Rat).Quo(x, y) }
func abs(x *big.Rat) *big.Rat    { return new(big.Rat).Abs(x) }
func whole(n int64) *big.Rat     { return new(big.Rat).SetInt64(n) }

func least(x, y *big.Rat) *big.Rat {
	if y.Cmp(x) < 0 {
		return y
	}
	return x
}

// number is a float as it is written.
func number(x float64) *big.Rat {
	r, ok := new(big.Rat).SetString(fmt.Sprint(x))
	if !ok {
		return new(big.Rat)
	}
	return r
}
