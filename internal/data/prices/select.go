package prices

import (
	"fmt"
	"slices"
	"strings"

	"example.org/headroom/internal/core/fault"
)

// filter applies a selection to a sheet. It records what was selected and which names it has met, for advice about
// names that do not exist.
type filter struct {
	Selection
	took      []bool // by Regions, then Instances: the pattern has selected something
	regions   names
	instances names // in selected regions
}

// names holds the first different names, in their order.
type names struct {
	known map[string]bool
	list  []string
}

const maxNames = 2000

func (n *names) add(name string) {
	if name == "" || len(name) > maxField || n.known[name] || len(n.list) == maxNames {
		return
	}
	if n.known == nil {
		n.known = map[string]bool{}
	}
	n.known[name] = true
	n.list = append(n.list, strings.Clone(name))
}

// check refuses a selection without meaning.
func (f *filter) check(found *faults) {
	for _, list := range []struct {
		member  string
		entries []string
	}{{"regions", f.Regions}, {"instances", f.Instances}} {
		for i, entry := range list.entries {
			if strings.TrimPrefix(entry, "!") == "" || strings.TrimSpace(entry) != entry {
				found.first = append(found.first, fault.Finding{Pointer: fmt.Sprintf("/%s/%d", list.member, i), Code: "text",
					Detail: fmt.Sprintf("%q names nothing; leave it out, or give a name such as \"m5.xlarge\" or \"m5.*\".", entry)})
			}
		}
	}
	f.took = make([]bool, len(f.Regions)+len(f.Instances))
}

// inRegion reports whether a region is selected, by its code or its name.
func (f *filter) inRegion(code, name string) bool {
	return len(f.Regions) == 0 || slices.ContainsFunc(f.Regions, func(pattern string) bool { return matches(pattern, code) || name != "" && matches(pattern, name) })
}

// isWanted reports whether an instance is selected by its name.
func (f *filter) isWanted(name string) bool {
	wanted, named := false, false
	for _, pattern := range f.Instances {
		if but, exclude := strings.CutPrefix(pattern, "!"); exclude {
			if matches(but, name) {
				return false
			}
			continue
		}
		named = true
		wanted = wanted || matches(pattern, name)
	}
	return wanted || !named
}

// taken marks the patterns that select an instance of the result.
func (f *filter) taken(name, region, regionName string) {
	for i, pattern := range f.Regions {
		f.took[i] = f.took[i] || matches(pattern, region) || matches(pattern, regionName)
	}
	for i, pattern := range f.Instances {
		at := len(f.Regions) + i
		f.took[at] = f.took[at] || strings.HasPrefix(pattern, "!") || matches(pattern, name)
	}
}

// unmet records the patterns that selected nothing.
func (f *filter) unmet(found *faults) {
	missing := func(member string, i int, pattern string, known names) {
		pointer := fmt.Sprintf("/%s/%d", member, i)
		if slices.ContainsFunc(known.list, func(name string) bool { return matches(pattern, name) }) {
			found.first = append(found.first, fault.Finding{Pointer: pointer, Code: "missing",
				Detail: fmt.Sprintf("The sheet has %q, but no price of it that is selected; leave it out.", clip(pattern))})
			return
		}
		hint := didYouMean(pattern, known.list)
		switch {
		case hint != nil:
			hint.Pointer = pointer
		case len(known.list) == 0:
			hint = &fault.Hint{Detail: "It has no price at all; is it the whole sheet?"}
		default:
			hint = &fault.Hint{Detail: fmt.Sprintf("There is %s.", some(known.list))}
		}
		found.first = append(found.first, fault.Finding{Pointer: pointer, Code: "unknown_name",
			Detail: fmt.Sprintf("The sheet has no price for %q.", clip(pattern)), Hint: hint})
	}
	for i, pattern := range f.Regions {
		if !f.took[i] && len(found.first) < fault.MaxFindings-1 {
			missing("regions", i, pattern, f.regions)
		}
	}
	for i, pattern := range f.Instances {
		if !f.took[len(f.Regions)+i] && !strings.HasPrefix(pattern, "!") && len(found.first) < fault.MaxFindings-1 {
			missing("instances", i, pattern, f.instances)
		}
	}
}

// some returns the first few of a list, for a sentence.
func some(list []string) string {
	const few = 12
	if len(list) <= few {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:few], ", "), len(list)-few)
}

// matches reports whether a name fits a pattern, in which * stands for any letters; case does not matter.
func matches(pattern, name string) bool {
	parts := strings.Split(strings.ToLower(pattern), "*")
	name = strings.ToLower(name)
	last := len(parts) - 1
	if last == 0 {
		return name == parts[0]
	}
	name, ok := strings.CutPrefix(name, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1:last] {
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name = name[i+len(part):]
	}
	return strings.HasSuffix(name, parts[last])
}
