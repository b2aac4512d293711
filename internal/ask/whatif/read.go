package whatif

import (
	"fmt"
	"slices"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/strict"
)

// Detail says how much is answered about each scenario.
type Detail string

const (
	DetailFull    Detail = "full"    // plans, and what happens to each class
	DetailClasses Detail = "classes" // jobs, VMs and reason of each class; of clusters alone
	DetailSummary Detail = "summary" // costs, VMs and jobs in all
)

var (
	details        = []Detail{DetailFull, DetailSummary}
	clusterDetails = []Detail{DetailFull, DetailClasses, DetailSummary}
)

// The most scenarios that are answered at once, and the most classes in all of them together.
const (
	maxScenarios      = 1000
	MaxFullScenarios  = 4
	maxScenarioLoad   = 1_000_000
	reservedByAddress = "compare" // an address below scenarios that is no scenario's
)

// WhatIfQuestion is a problem and the scenarios laid over it.
type WhatIfQuestion struct {
	Problem   capacity.Problem `json:"problem"`
	Detail    Detail           `json:"detail"`
	Scenarios []AskedScenario  `json:"scenarios"`
}

// About names a problem of a cluster: that of a moment, where zero is now, or that of a stored plan.
type About struct {
	At   time.Time `json:"at,omitzero"`
	Plan int64     `json:"plan,omitempty"` // its number
}

// read reads a member of a question that says what it is about.
func (a *About) read(r *strict.Reader, name string) {
	if name == "plan" {
		if r.Whole(&a.Plan); a.Plan < 1 {
			r.Found("range", "Plans are numbered from 1.", nil)
		}
		return
	}
	r.Moment(&a.At)
}

func (a *About) check(c *strict.Checker) {
	if a.Plan != 0 && !a.At.IsZero() {
		c.Found("plan", "order", "A stored plan has a moment of its own: give `plan` or `at`.", nil)
	}
}

// ClusterWhatIfQuestion is about a problem of a cluster.
type ClusterWhatIfQuestion struct {
	About
	Detail    Detail          `json:"detail"`
	Scenarios []AskedScenario `json:"scenarios"`
}

// AskedScenario is a scenario given in a question, or the name of one that its cluster has saved.
type AskedScenario struct {
	Name    string           `json:"name,omitempty"`
	Note    string           `json:"note,omitempty"`
	Changes []ScenarioChange `json:"changes,omitempty"`
	Saved   string           `json:"saved,omitempty"`
}

// Scenario returns the given scenario.
func (a AskedScenario) Scenario() Scenario {
	return Scenario{Name: a.Name, Note: a.Note, Changes: a.Changes}
}

// RefuseDue refuses a scenario that changes how long jobs may wait, where none does.
func (a AskedScenario) RefuseDue() error {
	i := slices.IndexFunc(a.Changes, func(ch ScenarioChange) bool { return ch.What == ChangeDue })
	if i < 0 {
		return nil
	}
	return a.Place(fault.At(fmt.Sprintf("/changes/%d/what", i), "not_taken", "How long jobs may wait changes nothing here, where they count as they arrive. Ask with waiting too."))
}

// Place makes findings about the scenario lead into a question that has it as its member scenario.
func (a AskedScenario) Place(err error) error {
	if a.Saved != "" {
		return fault.Move(err, func(string) string { return "/scenario/saved" })
	}
	return fault.Move(err, fault.Under("/scenario"))
}

var (
	whatIfShape        = strict.NewShape("a question", []string{"problem", "scenarios"}, "detail")
	clusterWhatIfShape = strict.NewShape("a question", []string{"scenarios"}, "at", "plan", "detail")
	ScenarioShape      = strict.NewShape("a scenario", []string{"changes"}, "name", "note")
	AskedScenarioShape = strict.NewShape("a scenario", nil, "changes", "name", "note", "saved")
	changeShape        = strict.NewShape("a change", []string{"what"}, "class", "vm_type", "contract", "purchase", "bound", "factor", "value", "add")
	addedShape         = strict.NewShape("what is added", nil, "contract", "vm_type", "slots_per_vm", "speed")
)

// ReadWhatIf reads a question that brings its problem along, as strictly as ReadProblem. Where the
// problem names no engine, it is auto.
func ReadWhatIf(data []byte, limits capacity.Limits) (WhatIfQuestion, error) {
	q := WhatIfQuestion{Problem: capacity.Problem{PeriodSeconds: 3600, Options: capacity.DefaultOptions()}}
	q.Problem.Options.Engine = capacity.EngineAuto
	r := strict.NewReader(data)
	r.Object(whatIfShape, func(name string) {
		switch name {
		case "problem":
			capacity.ReadProblemInto(r, &q.Problem, limits)
		case "scenarios":
			q.Scenarios = readScenarios(r, ScenarioShape)
		case "detail":
			strict.Word(r, &q.Detail, details)
		}
	})
	r.End()
	if err := r.Result(func(c *strict.Checker) {
		c.Enter("problem")
		q.Problem.Check(c)
		c.Leave()
		checkAsked(c, &q.Detail, q.Scenarios)
	}); err != nil {
		return WhatIfQuestion{}, err
	}
	return q, ScenarioLoad(len(q.Scenarios), len(q.Problem.Classes))
}

// ReadClusterWhatIf reads a question about a cluster.
func ReadClusterWhatIf(data []byte) (ClusterWhatIfQuestion, error) {
	var q ClusterWhatIfQuestion
	r := strict.NewReader(data)
	r.Object(clusterWhatIfShape, func(name string) {
		switch name {
		case "scenarios":
			q.Scenarios = readScenarios(r, AskedScenarioShape)
		case "detail":
			strict.Word(r, &q.Detail, clusterDetails)
		default:
			q.read(r, name)
		}
	})
	r.End()
	if err := r.Result(func(c *strict.Checker) {
		q.check(c)
		checkAsked(c, &q.Detail, q.Scenarios)
	}); err != nil {
		return ClusterWhatIfQuestion{}, err
	}
	return q, nil
}

// ReadScenario reads a scenario as a file has it.
func ReadScenario(data []byte) (Scenario, error) {
	r := strict.NewReader(data)
	var s AskedScenario
	ReadScenarioInto(r, &s, ScenarioShape)
	r.End()
	if err := r.Result(s.Check); err != nil {
		return Scenario{}, err
	}
	return s.Scenario(), nil
}

func readScenarios(r *strict.Reader, s *strict.Shape) []AskedScenario {
	before := len(r.Findings)
	all := strict.List(r, "of scenarios", maxScenarios, func(r *strict.Reader, a *AskedScenario) { ReadScenarioInto(r, a, s) })
	if len(all) == 0 && len(r.Findings) == before {
		r.Found("missing", "There is no scenario; give at least one.", nil)
	}
	return all
}

// ReadAskedScenario reads a scenario that is laid over a question, with the members of a shape.
func ReadAskedScenario(r *strict.Reader, shape *strict.Shape) *AskedScenario {
	s := new(AskedScenario)
	ReadScenarioInto(r, s, shape)
	return s
}

// CheckAskedScenario checks a scenario that is laid over a question; there may be none.
func CheckAskedScenario(c *strict.Checker, s *AskedScenario) {
	if s != nil {
		c.Enter("scenario")
		s.Check(c)
		c.Leave()
	}
}

// ReadScenarioInto reads a scenario that somebody has, with the members of a shape.
func ReadScenarioInto(r *strict.Reader, a *AskedScenario, s *strict.Shape) {
	had := r.Object(s, func(name string) {
		switch name {
		case "name":
			a.Name, _ = r.Text()
		case "note":
			a.Note, _ = r.Text()
		case "saved":
			a.Saved, _ = r.Text()
		case "changes":
			a.Changes = strict.List(r, "of changes", maxScenarioChanges, readChange)
		}
	})
	if s == AskedScenarioShape && had != 0 && had.Has(s, "changes") == had.Has(s, "saved") {
		r.Found("one_of", `A scenario gives either its "changes" or the name of a "saved" one.`, nil)
	} else if s == AskedScenarioShape && had == 0 {
		r.Missing("changes", "a scenario that is not saved")
	}
}

func readChange(r *strict.Reader, ch *ScenarioChange) {
	r.Object(changeShape, func(name string) {
		switch name {
		case "what":
			strict.Word(r, &ch.What, whatWords)
		case "class":
			ch.Class, _ = r.Text()
		case "vm_type":
			ch.VMType, _ = r.Text()
		case "contract":
			ch.Contract, _ = r.Text()
		case "purchase":
			strict.Word(r, &ch.Purchase, capacity.Purchases)
		case "bound":
			strict.Word(r, &ch.Bound, capacity.Bounds)
		case "factor":
			ch.Factor = new(float64)
			r.Float(ch.Factor)
		case "value":
			ch.Value = new(money.Amount)
			money.Read(r, ch.Value)
		case "add":
			ch.Add = new(AddedSupply)
			readAddedSupply(r, ch.Add)
		}
	})
}

func readAddedSupply(r *strict.Reader, a *AddedSupply) {
	r.Object(addedShape, func(name string) {
		switch name {
		case "contract":
			a.Contract = new(capacity.Contract)
			capacity.ReadContract(r, a.Contract)
		case "vm_type":
			a.VMType = new(capacity.VMTypeSupply)
			capacity.ReadVMType(r, a.VMType, capacity.DefaultLimits())
		case "slots_per_vm":
			a.SlotsPerVM = strict.Named(r, "of slots per VM by class", "class", capacity.DefaultLimits().Classes, capacity.ReadSlotsOnVM)
		case "speed":
			a.Speed = strict.Named(r, "of speeds by class", "class", capacity.DefaultLimits().Classes, (*strict.Reader).Float)
		}
	})
}

// ScenarioLoad refuses too many scenarios, or too many classes in all of them together.
func ScenarioLoad(scenarios, classes int) error {
	load := scenarios * classes
	if load <= maxScenarioLoad {
		return nil
	}
	return &fault.InputError{Findings: []fault.Finding{{Pointer: "/scenarios", Code: "too_many",
		Detail: fmt.Sprintf("Here are %d scenarios of %d classes, which are %d classes to plan; at most %d are planned at once. Ask in parts.", scenarios, classes, load, maxScenarioLoad)}}}
}

// checkAsked looks at scenarios by themselves, and says how much is answered where nobody has said.
func checkAsked(c *strict.Checker, detail *Detail, scenarios []AskedScenario) {
	if *detail == "" {
		if *detail = DetailFull; len(scenarios) > MaxFullScenarios {
			*detail = DetailSummary
		}
	}
	if *detail != DetailSummary && len(scenarios) > MaxFullScenarios {
		c.Found("detail", "too_many", fmt.Sprintf("Here are %d scenarios; with plans or classes at most %d are answered at once.", len(scenarios), MaxFullScenarios),
			c.Hint("detail", DetailSummary, "Ask for a summary of each."))
	}
	c.Enter("scenarios")
	for i := range scenarios {
		c.Element(i)
		scenarios[i].Check(c)
		c.Leave()
	}
	c.Leave()
}

func (a *AskedScenario) Check(c *strict.Checker) {
	if a.Name != "" {
		c.Name(a.Name)
	}
	c.Description("note", a.Note)
	a.Scenario().check(c)
}
