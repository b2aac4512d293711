package heartbeat

import (
	"context"
	"time"
)

// Drivers stores which driver alone acts in an engine, by the database's clock.
type Drivers interface {
	// HoldDriver makes the holder the driver of an engine for a while from now (0: no more), unless another is.
	HoldDriver(ctx context.Context, cluster, engine string, claim DriverClaim) (Driver, error)
}

// DriverClaim is a driver's wish to act alone.
type DriverClaim struct {
	Holder     string  `json:"holder"`
	TTLSeconds float64 `json:"ttl_s"`
}

// Driver is the driver of an engine.
type Driver struct {
	Engine    string    `json:"engine"`
	Holder    string    `json:"holder"`
	Held      bool      `json:"held"` // the asker is the holder
	ExpiresAt time.Time `json:"expires_at"`
}
