package capacity

import (
	"fmt"
	"time"
)

// Detail is how much is answered about each scenario.
type Detail string

const (
	DetailFull    Detail = "full"    // plans, and what happens to each class
	DetailSummary Detail = "summary" // costs, VMs and jobs in all
)

var details = []Detail{DetailFull, DetailSummary}

// The most scenarios that are answered at once, and the most classes in all of them together.
const (
	MaxScenarios      = 1000
	MaxFullScenarios  = 4
	MaxScenarioLoad   = 1_000_000
	reservedByAddress = "compare" // an address below scenarios that is no scenario's
)

// WhatIfQuestion is a problem and the scenarios laid over it.
type WhatIfQuestion struct {
	Problem   Problem         `json:"problem"`
	Detail    Detail          `json:"detail"`
	Scenarios []AskedScenario `json:"scenarios"`
}

// ClusterWhatIfQuestion is about the problem of a cluster at a moment; zero is now.
type ClusterWhatIfQuestion struct {
	At        time.Time       `json:"at,omitzero"`
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

// Scenario is what was given.
func (a AskedScenario) Scenario() Scenario {
	return Scenario{Name: a.Name, Note: a.Note, Changes: a.Changes}
}

var (
	whatIfShape        = newShape("a question", []string{"problem", "scenarios"}, "detail")
	clusterWhatIfShape = newShape("a question", []string{"scenarios"}, "at", "detail")
	scenarioShape      = newShape("a scenario", []string{"changes"}, "name", "note")
	askedScenarioShape = newShape("a scenario", nil, "changes", "name", "note", "saved")
	changeShape        = newShape("a change", []string{"what"}, "class", "vm_type", "contract", "purchase", "bound", "factor", "value", "add")
	addedShape         = newShape("what is added", nil, "contract", "vm_type", "slots_per_vm", "speed")
)

// ReadWhatIf reads a question that brings its problem along, as strictly as ReadProblem. Where the
// problem names no engine, it is auto.
func ReadWhatIf(data []byte, limits Limits) (WhatIfQuestion, error) {
	q := WhatIfQuestion{Problem: Problem{PeriodSeconds: 3600, Options: DefaultOptions()}}
	q.Problem.Options.Engine = EngineAuto
	r := &reader{data: data, path: make(path, 0, 8)}
	r.start()
	r.object(whatIfShape, func(name string) {
		switch name {
		case "problem":
			r.problem(&q.Problem, limits)
		case "scenarios":
			q.Scenarios = r.scenarios(scenarioShape)
		case "detail":
			word(r, &q.Detail, details)
		}
	})
	r.end()
	if err := r.result(func(c *checker) {
		c.enter("problem")
		q.Problem.check(c)
		c.leave()
		checkAsked(c, &q.Detail, q.Scenarios)
	}); err != nil {
		return WhatIfQuestion{}, err
	}
	return q, ScenarioLoad(len(q.Scenarios), len(q.Problem.Classes))
}

// ReadClusterWhatIf reads a question about a cluster.
func ReadClusterWhatIf(data []byte) (ClusterWhatIfQuestion, error) {
	var q ClusterWhatIfQuestion
	r := &reader{data: data, path: make(path, 0, 8)}
	r.start()
	r.object(clusterWhatIfShape, func(name string) {
		switch name {
		case "at":
			r.moment(&q.At)
		case "scenarios":
			q.Scenarios = r.scenarios(askedScenarioShape)
		case "detail":
			word(r, &q.Detail, details)
		}
	})
	r.end()
	if err := r.result(func(c *checker) { checkAsked(c, &q.Detail, q.Scenarios) }); err != nil {
		return ClusterWhatIfQuestion{}, err
	}
	return q, nil
}

// ReadScenario reads a scenario as a file has it.
func ReadScenario(data []byte) (Scenario, error) {
	r := &reader{data: data, path: make(path, 0, 8)}
	r.start()
	var s AskedScenario
	r.scenario(&s, scenarioShape)
	r.end()
	if err := r.result(s.check); err != nil {
		return Scenario{}, err
	}
	return s.Scenario(), nil
}

func (r *reader) scenarios(s *shape) []AskedScenario {
	before := len(r.findings)
	all := list(r, "of scenarios", MaxScenarios, func(a *AskedScenario) { r.scenario(a, s) })
	if len(all) == 0 && len(r.findings) == before {
		r.found("missing", "There is no scenario; give at least one.", nil)
	}
	return all
}

func (r *reader) scenario(a *AskedScenario, s *shape) {
	had := r.object(s, func(name string) {
		switch name {
		case "name":
			a.Name, _ = r.text()
		case "note":
			a.Note, _ = r.text()
		case "saved":
			a.Saved, _ = r.text()
		case "changes":
			a.Changes = list(r, "of changes", MaxScenarioChanges, r.change)
		}
	})
	if s == askedScenarioShape && had != 0 && had.has(s, "changes") == had.has(s, "saved") {
		r.found("one_of", `A scenario gives either its "changes" or the name of a "saved" one.`, nil)
	} else if s == askedScenarioShape && had == 0 {
		r.missing("changes", "a scenario that is not saved")
	}
}

func (r *reader) change(ch *ScenarioChange) {
	r.object(changeShape, func(name string) {
		switch name {
		case "what":
			word(r, &ch.What, whatWords)
		case "class":
			ch.Class, _ = r.text()
		case "vm_type":
			ch.VMType, _ = r.text()
		case "contract":
			ch.Contract, _ = r.text()
		case "purchase":
			word(r, &ch.Purchase, purchases)
		case "bound":
			word(r, &ch.Bound, bounds)
		case "factor":
			ch.Factor = new(float64)
			r.float(ch.Factor)
		case "value":
			ch.Value = new(Money)
			r.money(ch.Value)
		case "add":
			ch.Add = new(AddedSupply)
			r.addedSupply(ch.Add)
		}
	})
}

func (r *reader) addedSupply(a *AddedSupply) {
	r.object(addedShape, func(name string) {
		switch name {
		case "contract":
			a.Contract = new(Contract)
			r.contract(a.Contract)
		case "vm_type":
			a.VMType = new(VMTypeSupply)
			r.vmType(a.VMType, DefaultLimits())
		case "slots_per_vm":
			a.SlotsPerVM = named(r, "of slots per VM by class", "class", DefaultLimits().Classes, r.slotsOnVM)
		case "speed":
			a.Speed = named(r, "of speeds by class", "class", DefaultLimits().Classes, r.float)
		}
	})
}

// ScenarioLoad is what is wrong with asking for so many scenarios of so many classes at once; nil where
// it may be.
func ScenarioLoad(scenarios, classes int) error {
	load := scenarios * classes
	if load <= MaxScenarioLoad {
		return nil
	}
	return &InputError{[]Finding{{Pointer: "/scenarios", Code: "too_many",
		Detail: fmt.Sprintf("Here are %d scenarios of %d classes, which are %d classes to plan; at most %d are planned at once. Ask in parts.", scenarios, classes, load, MaxScenarioLoad)}}}
}

// checkAsked looks at scenarios by themselves, and says how much is answered where nobody has said.
func checkAsked(c *checker, detail *Detail, scenarios []AskedScenario) {
	if *detail == "" {
		if *detail = DetailFull; len(scenarios) > MaxFullScenarios {
			*detail = DetailSummary
		}
	}
	if *detail == DetailFull && len(scenarios) > MaxFullScenarios {
		c.found("detail", "too_many", fmt.Sprintf("Here are %d scenarios; with full plans at most %d are answered at once.", len(scenarios), MaxFullScenarios),
			c.hint("detail", DetailSummary, "Ask for a summary of each."))
	}
	c.enter("scenarios")
	for i := range scenarios {
		c.element(i)
		scenarios[i].check(c)
		c.leave()
	}
	c.leave()
}

func (a *AskedScenario) check(c *checker) {
	if a.Name != "" {
		c.name(a.Name)
	}
	c.description("note", a.Note)
	a.Scenario().check(c)
}
