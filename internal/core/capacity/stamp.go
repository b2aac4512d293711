package capacity

import (
	"time"
)

// Stamp says which state of a stored thing this is. Version counts its changes and is its ETag.
type Stamp struct {
	Version   int64     `json:"version,omitzero"`
	CreatedAt time.Time `json:"created_at,omitzero"`
	UpdatedAt time.Time `json:"updated_at,omitzero"`
}
