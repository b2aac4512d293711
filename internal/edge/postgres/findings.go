package postgres

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
)

// Faults of a thing in relation to others. The pointers are into the thing.

func vmTypeOf(item any) string {
	switch x := item.(type) {
	case inputs.PricePeriod:
		return x.VMType
	case inputs.SignedContract:
		return x.VMType
	case inputs.StandingOffer:
		return x.VMType
	}
	return ""
}

// unknownVMType refuses a reference to a type that does not exist.
func unknownVMType(name string, types []inputs.VMType) *fault.Finding {
	known := make([]string, 0, len(types))
	for _, v := range types {
		known = append(known, v.Name)
	}
	return unknown("/vm_type", name, "VM type", "VM types", known)
}

// unknownTypesOf refuses the unknown VM types that a class names.
func unknownTypesOf(c inputs.PlannedClass, types []inputs.VMType) (findings []*fault.Finding) {
	known := make([]string, 0, len(types))
	for _, v := range types {
		known = append(known, v.Name)
	}
	add := func(member string, names iter.Seq[string]) {
		for _, name := range slices.Sorted(names) {
			if f := unknown(member, name, "VM type", "VM types", known); f != nil {
				f.Pointer, f.Hint = member+"/"+pointerEscapes.Replace(name), nil
				if near := fault.Nearest(name, known); near != "" {
					f.Hint = &fault.Hint{Detail: fmt.Sprintf("Did you mean %q?", near)}
				}
				findings = append(findings, f)
			}
		}
	}
	add("/slots_per_vm", maps.Keys(c.SlotsPerVM.ByType))
	add("/speed", maps.Keys(c.Speed))
	return findings
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func unknown(pointer, name, one, many string, known []string) *fault.Finding {
	if slices.Contains(known, name) {
		return nil
	}
	f := &fault.Finding{Pointer: pointer, Code: "unknown_name", Detail: fmt.Sprintf("There is no %s %q. %s", one, name, among(known, one, many))}
	if len(known) == 1 {
		f.Hint = &fault.Hint{Detail: "Name that one.", Pointer: pointer, Value: known[0]}
	}
	return f
}

// among lists the existing names.
func among(known []string, one, many string) string {
	const most = 10
	slices.Sort(known)
	quoted := make([]string, 0, most)
	for _, name := range known[:min(len(known), most)] {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	switch {
	case len(known) == 0:
		return "There is none yet; create one first."
	case len(known) == 1:
		return "The only " + one + " is " + quoted[0] + "."
	case len(known) > most:
		return fmt.Sprintf("There are %d %s; the first are %s.", len(known), many, strings.Join(quoted, ", "))
	}
	return "The " + many + " are " + strings.Join(quoted, ", ") + "."
}

// overlap refuses a price period that overlaps another one of its type.
func overlap(p inputs.PricePeriod, periods []inputs.PricePeriod) *fault.Finding {
	slices.SortFunc(periods, func(a, b inputs.PricePeriod) int { return a.From.Compare(b.From) })
	for _, other := range periods {
		mine := other.ID == p.ID && p.ID != ""
		if mine || other.VMType != p.VMType || (other.Purchase == capacity.PurchaseSpot) != (p.Purchase == capacity.PurchaseSpot) || !before(p.From, other.Until) || !before(other.From, p.Until) {
			continue
		}
		f := &fault.Finding{Pointer: "/from", Code: "overlap", Detail: fmt.Sprintf("The period overlaps another one of the VM type %q, %s at %s.", p.VMType, span(other), other.Price)}
		switch {
		case other.Until != nil && before(*other.Until, p.Until):
			f.Hint = &fault.Hint{Detail: fmt.Sprintf("It could start at %s, when that one ends.", clock(*other.Until)), Pointer: "/from", Value: *other.Until}
		case p.From.Before(other.From):
			f.Pointer = "/until"
			f.Hint = &fault.Hint{Detail: fmt.Sprintf("It could end at %s, when that one starts.", clock(other.From)), Pointer: "/until", Value: other.From}
		case p.From.After(other.From):
			f.Hint = &fault.Hint{Detail: fmt.Sprintf("End that one at %s first.", clock(p.From))}
		default:
			f.Hint = &fault.Hint{Detail: "Change that one instead, or delete it first."}
		}
		return f
	}
	return nil
}

// before compares with an end that may be open.
func before(t time.Time, end *time.Time) bool { return end == nil || t.Before(*end) }

func span(p inputs.PricePeriod) string {
	if p.Until == nil {
		return "from " + clock(p.From) + " on"
	}
	return "from " + clock(p.From) + " until " + clock(*p.Until)
}

func clock(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// unknownProfile refuses a reference to a profile or a version that does not exist.
func unknownProfile(ref inputs.ProfileRef, latest map[string]int64) *fault.Finding {
	last, known := latest[ref.Name]
	switch {
	case !known:
		return unknown("/profile/name", ref.Name, "profile", "profiles", slices.Collect(maps.Keys(latest)))
	case ref.Version <= last && ref.Version >= 0:
		return nil
	}
	versions := "its only version is 1"
	if last > 1 {
		versions = fmt.Sprintf("its versions are 1 to %d", last)
	}
	return &fault.Finding{Pointer: "/profile/version", Code: "unknown_version", Detail: fmt.Sprintf("The profile %q has no version %d; %s.", ref.Name, ref.Version, versions),
		Hint: &fault.Hint{Detail: fmt.Sprintf("Use %d, the latest.", last), Pointer: "/profile/version", Value: last}}
}

// unknownClasses refuses forecasts of classes that do not exist.
func unknownClasses(rows []inputs.Forecast, known []inputs.PlannedClass) (findings []*fault.Finding) {
	is := make(map[string]bool, len(known))
	all := make([]string, 0, len(known))
	for _, c := range known {
		is[c.Name] = true
		all = append(all, c.Name)
	}
	for i, row := range rows {
		if !is[row.Class] && len(findings) < fault.MaxFindings {
			findings = append(findings, unknown(fmt.Sprintf("/%d/class", i), row.Class, "class", "classes", all))
		}
	}
	return findings
}
