package storage

import (
	"fmt"
	"time"

	"example.org/headroom/internal/core/fault"
)

// VersionError refuses a change of a thing that somebody else has changed since the caller read it. It is of kind
// Conflict.
type VersionError struct {
	Have int64       // the version that is there now
	Last *LastChange // nil if not on record
}

// LastChange names the author of the last change or deletion.
type LastChange struct {
	At   time.Time `json:"at"`
	By   string    `json:"by"`   // the name of the key
	Kind string    `json:"kind"` // of the changed thing: class, …
	Name string    `json:"name"`
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("somebody else changed it in the meantime: it has version %d now; read it again and repeat your change", e.Have)
}

// Is makes a VersionError an error of kind Conflict.
func (e *VersionError) Is(target error) bool { return target == fault.Conflict }

// DeletedError reports a cluster that somebody has deleted. It is of kind NotFound.
type DeletedError struct {
	Cluster string
	LastChange
}

func (e *DeletedError) Error() string {
	return fmt.Sprintf("there is no cluster %q any more: key %q deleted it at %s", e.Cluster, e.By, e.At.UTC().Format(time.RFC3339))
}

// Is makes a DeletedError an error of kind NotFound.
func (e *DeletedError) Is(target error) bool { return target == fault.NotFound }
