package app

import (
	"fmt"

	"headroom/internal/capacity"
)

// VersionError is a change of something that somebody else has changed since the caller read it. It
// is of kind Conflict.
type VersionError struct {
	Have int64 // the version that is there now
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("somebody else changed it in the meantime: it has version %d now; read it again and repeat your change", e.Have)
}

// Is makes a VersionError an error of kind Conflict.
func (e *VersionError) Is(target error) bool { return target == capacity.Conflict }
