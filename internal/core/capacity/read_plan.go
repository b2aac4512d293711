package capacity

import (
	"slices"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

// ReadPlan reads a plan as Headroom writes it, strictly: every member that all plans have, each of them once, and
// no others. Faults come as one *InputError with its pointers. It does not check the decisions of the plan (see
// package proof).
func ReadPlan(data []byte) (Plan, error) {
	return readPlan(data, func(r *planReader, p *Plan) { r.readPlan(p) })
}

// ReadPlanOrRecord reads a plan, or the record of a stored one, whose other members are passed over.
func ReadPlanOrRecord(data []byte) (Plan, error) {
	p, err := ReadPlan(data)
	if err != nil && slices.Contains(membersOf(data), "plan") {
		return readPlan(data, (*planReader).record)
	}
	return p, err
}

func readPlan(data []byte, read func(*planReader, *Plan)) (p Plan, err error) {
	r := &planReader{Reader: strict.NewReader(data)}
	read(r, &p)
	r.End()
	if r.Failure == nil && len(r.Findings) > 0 {
		if m := membersOf(data); slices.Contains(m, "supply") && slices.Contains(m, "classes") && !slices.Contains(m, "cost") {
			return Plan{}, &fault.InputError{Findings: []fault.Finding{{Code: "other_document", Detail: "This is a problem, and a plan is needed here: what \"headroom solve -o json\" makes of the problem."}}}
		}
	}
	if err = r.Result(func(*strict.Checker) {}); err != nil {
		return Plan{}, err
	}
	return p, nil
}

// record reads the plan in a record.
func (r *planReader) record(p *Plan) {
	seen := map[string]bool{}
	r.Members("the record of a plan", func(key []byte) {
		name := string(key)
		r.Enter(name)
		switch {
		case seen[name]:
			r.Twice(name)
			r.Skip()
		case name == "plan":
			r.readPlan(p)
		default:
			r.Value()
		}
		seen[name] = true
		r.Leave()
	})
}

// membersOf is the names of a document's members; none where it is no object.
func membersOf(data []byte) (names []string) {
	r := strict.NewReader(data)
	if r.Space() != '{' {
		return nil
	}
	r.Members("a document", func(key []byte) {
		names = append(names, string(key))
		r.Skip()
	})
	return names
}

// ReadNear reads of a stored plan what the next one should be near to. It passes over all the rest, also over members
// that a newer release has stored and this one does not know.
func ReadNear(plan []byte) (Near, error) {
	near := Near{Jobs: map[string]float64{}}
	r := strict.NewReader(plan)
	r.Members("a plan", func(key []byte) {
		switch string(key) {
		case "vms":
			r.Members("what is rented", func(key []byte) {
				if string(key) == "total" {
					r.Float(&near.VMs)
				} else {
					r.Skip()
				}
			})
		case "classes":
			if r.Sees("null") {
				r.Skip()
				return
			}
			r.Array("the classes", func(int) {
				var name string
				var admitted float64
				r.Members("a class's part", func(key []byte) {
					switch string(key) {
					case "name":
						name, _ = r.Text()
					case "admitted":
						r.Float(&admitted)
					default:
						r.Skip()
					}
				})
				near.Jobs[name] = admitted
			})
		default:
			r.Skip()
		}
	})
	r.End()
	return near, r.Result(func(*strict.Checker) {})
}
