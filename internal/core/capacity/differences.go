package capacity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"example.org/headroom/internal/core/strict"
)

// DifferentMembers returns the members that differ in the JSON of two values. Lists of named things are compared by
// name, in any order. A missing member is nil.
func DifferentMembers(before, after any) []FieldChange {
	var fields []FieldChange
	collectDifferences(&fields, "", generic(before), generic(after))
	return fields
}

func generic(x any) (value any) {
	text, err := json.Marshal(x)
	if err != nil {
		return fmt.Sprint(x) // nothing of ours cannot be written; say what it is all the same
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	_ = d.Decode(&value)
	return value
}

func collectDifferences(fields *[]FieldChange, pointer string, before, after any) {
	b, isMap := before.(map[string]any)
	a, areMaps := after.(map[string]any)
	if !isMap || !areMaps {
		b, isMap = byName(before)
		a, areMaps = byName(after)
	}
	if !isMap || !areMaps {
		x, _ := json.Marshal(before)
		y, _ := json.Marshal(after)
		if !bytes.Equal(x, y) {
			*fields = append(*fields, FieldChange{Pointer: pointer, Before: before, After: after})
		}
		return
	}
	names := slices.Collect(maps.Keys(b))
	for name := range a {
		if _, known := b[name]; !known {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		collectDifferences(fields, pointer+"/"+strict.PointerEscapes.Replace(name), b[name], a[name])
	}
}

// FieldChange is one member before and after, as JSON values.
type FieldChange struct {
	Pointer string `json:"pointer"` // inside the thing changed
	Before  any    `json:"before"`
	After   any    `json:"after"`
}

// byName is a list of things that all have a name of their own, as a map.
func byName(list any) (map[string]any, bool) {
	items, ok := list.([]any)
	if !ok {
		return nil, false
	}
	named := make(map[string]any, len(items))
	for _, item := range items {
		members, _ := item.(map[string]any)
		name, ok := members["name"].(string)
		if _, twice := named[name]; !ok || twice {
			return nil, false
		}
		named[name] = item
	}
	return named, true
}
