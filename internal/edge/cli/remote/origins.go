package remote

import (
	"strconv"
	"strings"
)

// Origins lists the flags and arguments that the members of a question come from.
type Origins []Origin

// Origin names the flag that gives a member, with everything in that member. Where each use of the flag gives one element
// of a list, Each has the words of every use.
type Origin struct {
	Pointer string // such as /vm_type
	Flag    string // such as --vm-type, or "the address" for an argument
	Each    []string
}

// FlagOrigins lists flags that give the members of their own names, such as /dry_run for dry-run.
func FlagOrigins(names ...string) (all Origins) {
	for _, name := range names {
		all = append(all, Origin{Pointer: "/" + strings.ReplaceAll(name, "-", "_"), Flag: "--" + name})
	}
	return all
}

// Under returns the same flags for members of the object at a pointer.
func (all Origins) Under(pointer string) Origins {
	moved := make(Origins, len(all))
	for i, o := range all {
		o.Pointer = pointer + o.Pointer
		moved[i] = o
	}
	return moved
}

// Of returns the flag that gives the member at a pointer, "" where none does.
func (all Origins) Of(pointer string) string {
	for _, o := range all {
		rest, inside := strings.CutPrefix(pointer, o.Pointer)
		if !inside || rest != "" && rest[0] != '/' {
			continue
		}
		if o.Each == nil {
			return o.Flag
		}
		step, _, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
		if n, err := strconv.Atoi(step); err == nil && n >= 0 && n < len(o.Each) {
			return o.Each[n]
		}
	}
	return ""
}

// Say makes the findings of an error name the flags they are about.
func (all Origins) Say(err error) error { return Placed(err, all.Of) }
