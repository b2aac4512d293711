package storage

import (
	"fmt"

	"example.org/headroom/internal/core/fault"
)

// SameName refuses to rename a stored thing: its name is its address.
func SameName(pointer, stored, given string) error {
	if given == stored {
		return nil
	}
	return &fault.InputError{Findings: []fault.Finding{{Pointer: pointer, Code: "other_name",
		Detail: fmt.Sprintf("A name never changes, and this one is %.60q, not %.60q; create another thing and delete this one.", stored, given),
		Hint:   &fault.Hint{Detail: fmt.Sprintf("Keep %q.", stored), Pointer: pointer, Value: stored}}}}
}
