package whatif

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/strict"
)

// SweepQuestion is a problem whose figures take several values, one parameter or a grid of two.
type SweepQuestion struct {
	Problem capacity.Problem `json:"problem"`
	Vary    []Vary           `json:"vary"`
	Curve   bool             `json:"curve"` // the linear program's cost as well, with its breakpoints
}

// ClusterSweepQuestion is about a problem of a cluster, with changes laid over it.
type ClusterSweepQuestion struct {
	About
	Changes []ScenarioChange `json:"changes,omitempty"`
	Vary    []Vary           `json:"vary"`
	Curve   bool             `json:"curve"`
}

// Vary is a change of a scenario whose number takes several values: those of a list, or Steps ones from
// From to To, both included.
type Vary struct {
	What     What              `json:"what"`
	Class    string            `json:"class,omitempty"`
	VMType   string            `json:"vm_type,omitempty"`
	Contract string            `json:"contract,omitempty"`
	Purchase capacity.Purchase `json:"purchase,omitempty"`
	By       Measure           `json:"by,omitempty"` // whether the numbers multiply what there is (the default) or take its place
	From     *money.Amount     `json:"from,omitempty"`
	To       *money.Amount     `json:"to,omitempty"`
	Steps    int64             `json:"steps,omitempty"`
	Spacing  Spacing           `json:"spacing,omitempty"`
	Values   []money.Amount    `json:"values,omitempty"`
}

// Measure says which member of a change a number is.
type Measure string

const (
	ByFactor Measure = "factor"
	ByValue  Measure = "value"
)

// Spacing says how the numbers of a range lie.
type Spacing string

const (
	Linear    Spacing = "linear"    // equal differences, the default
	Geometric Spacing = "geometric" // equal ratios
)

// The most points of a sweep, and the most classes of all its points together.
const (
	maxSweepPoints     = 10_000
	maxSweepParameters = 2
	maxSweepLoad       = 20_000_000
)

var (
	measures = []Measure{ByFactor, ByValue}
	spacings = []Spacing{Linear, Geometric}
	// varied lists the changes with a number that can take several values.
	varied = func() (all []What) {
		for _, k := range kindsOfChange {
			if k.may&numberMember != 0 {
				all = append(all, k.what)
			}
		}
		return all
	}()
	// counted lists the changes of whole numbers.
	counted = []What{ChangeDemand, ChangePromised, ChangeQuota, ChangeContract}
	// curved lists the changes that a curve can follow; see plan.NewCurve.
	curved = []What{ChangeContract, ChangePrice, ChangeBudget, ChangePenalty, ChangeDeadline}
)

// Change is the scenario's change at one number.
func (v *Vary) Change(number money.Amount) ScenarioChange {
	ch := ScenarioChange{What: v.What, Class: v.Class, VMType: v.VMType, Contract: v.Contract, Purchase: v.Purchase}
	if v.By == ByValue {
		ch.Value = &number
	} else {
		factor := number.Float()
		ch.Factor = &factor
	}
	return ch
}

// Numbers is the values in their order. A range of whole things is rounded to such, each once.
func (v *Vary) Numbers() []money.Amount {
	if v.Values != nil {
		return v.Values
	}
	numbers := make([]money.Amount, 0, v.Steps)
	for k := range v.Steps {
		x := v.between(k)
		if v.By == ByValue && slices.Contains(counted, v.What) {
			x = x.Round(0)
		}
		if n := len(numbers); n == 0 || !numbers[n-1].Equal(x) {
			numbers = append(numbers, money.Amount{Decimal: x})
		}
	}
	return numbers
}

// between is number k of the range, to the last place that money has.
func (v *Vary) between(k int64) decimal.Decimal {
	switch {
	case k == 0:
		return v.From.Decimal
	case k == v.Steps-1:
		return v.To.Decimal
	case v.Spacing == Geometric:
		from, to := v.From.Float(), v.To.Float()
		return money.Round(from * math.Pow(to/from, float64(k)/float64(v.Steps-1))).Decimal
	}
	span := v.To.Sub(v.From.Decimal).Mul(decimal.NewFromInt(k))
	return v.From.Add(span.DivRound(decimal.NewFromInt(v.Steps-1), money.Places))
}

// count returns the maximum number of values.
func (v *Vary) count() int64 {
	if v.Values != nil {
		return int64(len(v.Values))
	}
	return v.Steps
}

var (
	sweepShape        = strict.NewShape("a sweep", []string{"problem", "vary"}, "curve")
	clusterSweepShape = strict.NewShape("a sweep", []string{"vary"}, "at", "plan", "changes", "curve")
	varyShape         = strict.NewShape("a parameter", []string{"what"}, "class", "vm_type", "contract", "purchase", "by", "from", "to", "steps", "spacing", "values")
)

// ReadSweep reads a sweep that brings its problem along, as strictly as ReadProblem. Where the problem
// names no engine, it is auto.
func ReadSweep(data []byte, limits capacity.Limits) (SweepQuestion, error) {
	q := SweepQuestion{Problem: capacity.Problem{PeriodSeconds: 3600, Options: capacity.DefaultOptions()}}
	q.Problem.Options.Engine = capacity.EngineAuto
	r := strict.NewReader(data)
	r.Object(sweepShape, func(name string) {
		if name == "problem" {
			capacity.ReadProblemInto(r, &q.Problem, limits)
		} else {
			readSweepMember(r, name, &q.Vary, &q.Curve)
		}
	})
	r.End()
	if err := r.Result(func(c *strict.Checker) {
		c.Enter("problem")
		q.Problem.Check(c)
		c.Leave()
		checkVaried(c, q.Vary, q.Curve)
	}); err != nil {
		return SweepQuestion{}, err
	}
	return q, q.Check()
}

// ReadClusterSweep reads a sweep of a cluster.
func ReadClusterSweep(data []byte) (ClusterSweepQuestion, error) {
	var q ClusterSweepQuestion
	r := strict.NewReader(data)
	r.Object(clusterSweepShape, func(name string) {
		switch name {
		case "at", "plan":
			q.read(r, name)
		case "changes":
			q.Changes = strict.List(r, "of changes", maxScenarioChanges, readChange)
		default:
			readSweepMember(r, name, &q.Vary, &q.Curve)
		}
	})
	r.End()
	if err := r.Result(func(c *strict.Checker) {
		q.check(c)
		(&Scenario{Changes: q.Changes}).check(c)
		checkVaried(c, q.Vary, q.Curve)
	}); err != nil {
		return ClusterSweepQuestion{}, err
	}
	return q, nil
}

func readSweepMember(r *strict.Reader, name string, vary *[]Vary, curve *bool) {
	if name == "curve" {
		r.Flag(curve)
		return
	}
	ReadVaried(r, vary)
}

// ReadVaried reads the parameters of a sweep.
func ReadVaried(r *strict.Reader, vary *[]Vary) {
	before := len(r.Findings)
	*vary = strict.List(r, "of parameters", maxSweepParameters, readVary)
	if len(*vary) == 0 && len(r.Findings) == before {
		r.Found("missing", "Nothing is varied; name one parameter, or two for a grid.", nil)
	}
}

func readVary(r *strict.Reader, v *Vary) {
	amount := func(into **money.Amount) {
		*into = new(money.Amount)
		money.Read(r, *into)
	}
	r.Object(varyShape, func(name string) {
		switch name {
		case "what":
			strict.Word(r, &v.What, varied)
		case "class":
			v.Class, _ = r.Text()
		case "vm_type":
			v.VMType, _ = r.Text()
		case "contract":
			v.Contract, _ = r.Text()
		case "purchase":
			strict.Word(r, &v.Purchase, capacity.Purchases)
		case "by":
			strict.Word(r, &v.By, measures)
		case "from":
			amount(&v.From)
		case "to":
			amount(&v.To)
		case "steps":
			r.Whole(&v.Steps)
		case "spacing":
			strict.Word(r, &v.Spacing, spacings)
		case "values":
			before := len(r.Findings)
			v.Values = strict.List(r, "of values", maxSweepPoints, money.Read)
			if len(v.Values) == 0 && len(r.Findings) == before {
				r.Found("missing", "The list is empty; give at least one value.", nil)
			}
		}
	})
}

// CheckVaried finds the faults of the parameters of a sweep on their own.
func CheckVaried(vary []Vary, curve bool) error {
	return strict.Check(func(c *strict.Checker) { checkVaried(c, vary, curve) })
}

func checkVaried(c *strict.Checker, vary []Vary, curve bool) {
	if len(vary) > maxSweepParameters {
		c.Refuse("vary", "too_many", "Here are %d parameters; a sweep varies one or two.", len(vary))
		return
	}
	before := len(c.Findings)
	c.Enter("vary")
	for i := range vary {
		c.Element(i)
		vary[i].check(c)
		if i == 1 && vary[0].same(&vary[1]) {
			c.Refuse("what", "duplicate_name", "Both parameters are the same; vary another one, or drop this.")
		}
		c.Leave()
	}
	if len(c.Findings) == before {
		checkPoints(c, vary)
	}
	c.Leave()
	if curve && len(vary) > 0 {
		checkCurve(c, vary)
	}
}

func (v *Vary) same(w *Vary) bool {
	return v.What == w.What && v.Class == w.Class && v.VMType == w.VMType && v.Contract == w.Contract && cmp.Or(v.Purchase, capacity.PurchaseOnDemand) == cmp.Or(w.Purchase, capacity.PurchaseOnDemand)
}

// check looks at one parameter by itself.
func (v *Vary) check(c *strict.Checker) {
	if !slices.Contains(varied, v.What) {
		strict.OneOf(c, "what", v.What, varied)
		return
	}
	if v.By == "" {
		v.By = ByFactor
	}
	if v.Spacing == "" && v.Values == nil {
		v.Spacing = Linear
	}
	strict.OneOf(c, "by", v.By, measures)
	if v.Spacing != "" {
		strict.OneOf(c, "spacing", v.Spacing, spacings)
	}
	sample := v.Change(money.Amount{Decimal: decimal.NewFromInt(1)})
	sample.check(c)
	switch {
	case v.Values != nil && (v.From != nil || v.To != nil || v.Steps != 0 || v.Spacing != ""):
		c.Refuse("values", "one_of", `Here are a list and a range; give "values" alone, or "from", "to" and "steps".`)
		return
	case v.Values != nil:
		c.Enter("values")
		for i, x := range v.Values {
			c.Element(i)
			v.checkNumber(c, "", x)
			if v.By == ByValue && slices.Contains([]What{ChangeQuota, ChangeContract}, v.What) && !x.IsInteger() {
				c.Refuse("", "not_whole", "This is %s VMs; give a whole number.", x.Decimal)
			}
			c.Leave()
		}
		c.Leave()
		return
	case v.From == nil || v.To == nil:
		missing := "from"
		if v.From != nil {
			missing = "to"
		}
		c.Refuse(missing, "missing", `The member %q is missing; a parameter takes "from", "to" and "steps", or a list of "values".`, missing)
		return
	}
	v.checkNumber(c, "from", *v.From)
	v.checkNumber(c, "to", *v.To)
	if v.Steps < 2 {
		c.Found("steps", "range", fmt.Sprintf("A range has 2 points or more, its two ends among them; here are %d.", max(v.Steps, 0)), c.Hint("steps", 11, "Give 11, for instance."))
	}
	if v.Spacing == Geometric && (v.From.Sign() <= 0 || v.To.Sign() <= 0) {
		c.Found("spacing", "range", "Equal ratios need a range above 0.", c.Hint("spacing", Linear, "Space the points linearly, or begin above 0."))
	}
}

func (v *Vary) checkNumber(c *strict.Checker, member string, x money.Amount) {
	if v.By == ByFactor && x.Float() > maxFactor {
		c.Refuse(member, "range", `The factor is %s; it can be %d at most. If these are the new figures themselves, say "by": "value".`, x.Decimal, maxFactor)
		return
	}
	money.Check(c, member, "The number", x)
}

// checkPoints refuses more points than are planned at once; the parameter that has more of them is to
// give way.
func checkPoints(c *strict.Checker, vary []Vary) {
	points, most := int64(1), 0
	for i := range vary {
		if vary[i].count() > vary[most].count() {
			most = i
		}
		if n := vary[i].count(); n > maxSweepPoints {
			points = math.MaxInt64
		} else if points < math.MaxInt64 {
			points *= n
		}
	}
	if points <= maxSweepPoints {
		return
	}
	room, shown := int64(maxSweepPoints), fmt.Sprint(vary[0].count())
	if len(vary) == 2 {
		shown = fmt.Sprintf("%d times %d", vary[0].count(), vary[1].count())
		if least := vary[1-most].count(); least <= maxSweepPoints/2 {
			room = maxSweepPoints / least
		} else {
			room = 100
		}
	}
	member := "steps"
	if vary[most].Values != nil {
		member = "values"
	}
	c.Element(most)
	detail := fmt.Sprintf("These are %s points; a sweep has %d at most.", shown, maxSweepPoints)
	if hint := c.Hint(member, room, "Give %d steps at most.", room); member == "steps" {
		c.Found(member, "too_many", detail, hint)
	} else {
		c.Found(member, "too_many", detail, &fault.Hint{Detail: fmt.Sprintf("Give %d values at most.", room)})
	}
	c.Leave()
}

func checkCurve(c *strict.Checker, vary []Vary) {
	v := &vary[0]
	switch {
	case len(vary) > 1:
		c.Found("curve", "not_taken", "A curve follows one parameter, and here are two.", c.Hint("curve", false, "Ask for the points alone, or drop one parameter."))
	case !slices.Contains(curved, v.What) || v.What == ChangePrice && (v.Contract != "" || v.Purchase == capacity.PurchaseSpot):
		c.Found("curve", "not_taken", "A curve follows a contract's VMs, the price of VMs on demand, the budget for VMs, penalties or deadlines.", c.Hint("curve", false, "Ask for the points alone."))
	case v.Values != nil:
		c.Refuse("curve", "not_taken", `A curve needs a range; give "from", "to" and "steps" instead of a list.`)
	case v.What == ChangePenalty && v.Class == "" && v.By == ByValue:
		c.Found("curve", "not_taken", "Penalties of all classes can be followed by a common factor only.", &fault.Hint{Detail: `Say "by": "factor", or name one class.`})
	}
}

// Check finds the faults of a sweep over this problem: too many points, or a parameter that the problem refuses at
// one of the corners.
func (q SweepQuestion) Check() error {
	points := int64(1)
	numbers := make([][]money.Amount, len(q.Vary))
	for i := range q.Vary {
		numbers[i] = q.Vary[i].Numbers()
		points *= int64(len(numbers[i]))
	}
	if load := points * int64(len(q.Problem.Classes)); load > maxSweepLoad {
		return &fault.InputError{Findings: []fault.Finding{{Pointer: "/vary", Code: "too_many",
			Detail: fmt.Sprintf("Here are %d points of %d classes, which are %d classes to plan; a sweep plans %d at most.", points, len(q.Problem.Classes), load, maxSweepLoad),
			Hint:   &fault.Hint{Detail: fmt.Sprintf("Ask for %d points at most.", max(1, maxSweepLoad/int64(len(q.Problem.Classes))))}}}}
	}
	if q.Curve && (len(q.Problem.Supply.VMTypes) > 0 || q.Problem.Supply.Spot != nil) {
		return &fault.InputError{Findings: []fault.Finding{{Pointer: "/curve", Code: "not_taken", Detail: "A curve is known for one kind of VM without spot alone.",
			Hint: &fault.Hint{Detail: "Ask for the points alone.", Pointer: "/curve", Value: false}}}}
	}
	if q.Curve && q.Vary[0].What == ChangeDeadline && slices.ContainsFunc(q.Problem.Classes, func(c capacity.Class) bool {
		return c.ArrivalsPerHour > 0 && (q.Vary[0].Class == "" || q.Vary[0].Class == c.Name)
	}) {
		return &fault.InputError{Findings: []fault.Finding{{Pointer: "/curve", Code: "not_taken", Detail: "A curve over deadlines is not known where jobs arrive: with another deadline another number of them runs at once.",
			Hint: &fault.Hint{Detail: "Ask for the points alone.", Pointer: "/curve", Value: false}}}}
	}
	if b := q.Problem.Budget; q.Curve && b != nil && (q.Vary[0].What != ChangeBudget || b.Total != nil) {
		return &fault.InputError{Findings: []fault.Finding{{Pointer: "/curve", Code: "not_taken", Detail: "A curve is not known for a problem that has a budget besides the parameter.",
			Hint: &fault.Hint{Detail: "Ask for the points alone, or drop the budget.", Pointer: "/curve", Value: false}}}}
	}
	extremes := make([][]money.Amount, len(numbers))
	for i, all := range numbers {
		least := slices.MinFunc(all, func(a, b money.Amount) int { return a.Cmp(b.Decimal) })
		most := slices.MaxFunc(all, func(a, b money.Amount) int { return a.Cmp(b.Decimal) })
		extremes[i] = []money.Amount{least, most}
	}
	for corner := range 1 << len(extremes) {
		var s Scenario
		for i := range extremes {
			s.Changes = append(s.Changes, q.Vary[i].Change(extremes[i][corner>>i&1]))
		}
		if _, err := s.Apply(q.Problem); err != nil {
			return q.blame(err, corner)
		}
	}
	return nil
}

// blame leads the faults of the changes of a corner back to the parameters.
func (q SweepQuestion) blame(err error, corner int) error {
	return fault.Move(err, func(pointer string) string {
		for i := range q.Vary {
			rest, ours := strings.CutPrefix(pointer, fmt.Sprintf("/changes/%d", i))
			if !ours {
				continue
			}
			if rest == "/factor" || rest == "/value" {
				rest = q.Vary[i].end(corner >> i & 1)
			}
			return fmt.Sprintf("/vary/%d%s", i, rest)
		}
		return pointer
	})
}

// end is the member that has the least (0) or the greatest (1) number.
func (v *Vary) end(greatest int) string {
	switch {
	case v.Values != nil:
		return "/values"
	case v.To.GreaterThanOrEqual(v.From.Decimal) == (greatest == 1):
		return "/to"
	}
	return "/from"
}
