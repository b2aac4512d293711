package perf

import (
	"math"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

// The range of power models.
const (
	MinPowerA = 1e-6
	MaxPowerA = 1e9
	MaxPowerB = 5
)

var (
	powerModelShape  = strict.NewShape("a model", []string{"a", "b"})
	measurementShape = strict.NewShape("a measurement", []string{"vms", "seconds"})
	usageShape       = strict.NewShape("a job's usage", []string{"cpu_percent", "io_mb_s"}, "vms")

	FitMethods = []FitMethod{FitLog, FitNLS}
	JobRoles   = []JobRole{PlainRole, HostRole, GuestRole}
)

func ReadPowerModel(r *strict.Reader, m *PowerModel) {
	r.Fields(powerModelShape, m)
}

// PowerModel predicts that a job takes a·n^b seconds on n VMs.
type PowerModel struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

// Measurement holds a job's time on a number of VMs.
type Measurement struct {
	VMs     float64 `json:"vms"`
	Seconds float64 `json:"seconds"`
}

// FitMethod names the quantity that a fit minimises.
type FitMethod string

const (
	FitLog FitMethod = "log" // squared differences of logarithms: of relative errors
	FitNLS FitMethod = "nls" // squared differences of seconds
)

// JobRole names the way in which a job's VMs share machines.
type JobRole string

const (
	PlainRole JobRole = "plain" // on machines without extra VMs
	HostRole  JobRole = "host"  // I/O-bound VMs, one a disk, on machines that may carry extra VMs
	GuestRole JobRole = "guest" // CPU-bound extra VMs beside hosts
)

// Usage holds a job's measured use of resources, by which it is classified.
type Usage struct {
	CPUPercent   float64 `json:"cpu_percent"`   // mean of a VM
	IOMBPerS     float64 `json:"io_mb_s"`       // of all VMs together
	ProfiledAtVM int64   `json:"vms,omitempty"` // number of measured VMs; 0: ReferenceVMs
}

// Usage above these makes a job processor-bound, or disk-bound.
const (
	DefaultCPUPercent = 60.
	DefaultIOMBPerS   = 100.
)

// ReferenceVMs is the number of VMs on which usage should be measured; the thresholds assume it.
const ReferenceVMs = 6

// PowerFit holds a power model fitted to measurements, and the quality of the fit.
type PowerFit struct {
	Method FitMethod `json:"method"`
	PowerModel
	MinVMs float64 `json:"least_vms"` // measured
	MaxVMs float64 `json:"most_vms"`
	Points int     `json:"points"`

	R2Log           float64 `json:"r2_log"` // share of the variance of the logarithms that the model explains
	R2              float64 `json:"r2"`     // of the seconds
	RMSESeconds     float64 `json:"rmse_s"`
	MeanErrorShare  float64 `json:"mean_error"` // mean of |error| / measured
	WorstErrorShare float64 `json:"worst_error"`

	// Spread yields the intervals; it is nil with fewer than three points.
	Spread    *PowerSpread       `json:"spread,omitempty"`
	AInterval *Interval          `json:"a_interval,omitempty"` // of 95 %
	BInterval *Interval          `json:"b_interval,omitempty"`
	Warnings  []capacity.Warning `json:"warnings"`
}

// PowerSpread holds the deviation of measurements from the line of logarithms, and their places on it.
type PowerSpread struct {
	Deviation   float64 `json:"deviation"`    // s: of the logarithms from the line
	MeanLogVMs  float64 `json:"mean_log_vms"` // of the measurements
	SquaredLogs float64 `json:"squared_logs"` // Sxx: Σ (ln n − mean)²
}

// PowerPrediction predicts a job's time on a number of VMs.
type PowerPrediction struct {
	VMs      float64            `json:"vms"`
	Seconds  float64            `json:"seconds"`            // as many executions take less as take more
	Interval *Interval          `json:"interval,omitempty"` // 95 of 100 executions end in it; nil if the fit has no spread
	Warnings []capacity.Warning `json:"warnings"`
}

// Interval reaches from low to high.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

func (m PowerModel) Check(c *strict.Checker) {
	if c.Finite("a", "The model's a", m.A) && !(m.A >= MinPowerA && m.A <= MaxPowerA) {
		c.Refuse("a", "range", "The model's a is %s; it is the seconds on one VM, from %s to %s.", fault.Plain(m.A), fault.Plain(MinPowerA), fault.Plain(MaxPowerA))
	}
	if c.Finite("b", "The model's b", m.B) && math.Abs(m.B) > MaxPowerB {
		c.Refuse("b", "range", "The model's b is %s; it must be from -%d to %d.", fault.Plain(m.B), MaxPowerB, MaxPowerB)
	}
}

func (u *Usage) Check(c *strict.Checker) {
	c.Number("cpu_percent", "The CPU usage", "%", u.CPUPercent, 100)
	c.Number("io_mb_s", "The I/O", "MB/s", u.IOMBPerS, 1e9)
	if u.ProfiledAtVM != 0 {
		c.Whole("vms", "The number of VMs", "", u.ProfiledAtVM, 1, capacity.MaxVMs)
	}
}

func ReadMeasurement(r *strict.Reader, m *Measurement) {
	r.Object(measurementShape, func(name string) { // there are many
		if name == "vms" {
			r.Float(&m.VMs)
		} else {
			r.Float(&m.Seconds)
		}
	})
}

func ReadUsage(r *strict.Reader, u *Usage) {
	r.Fields(usageShape, u)
}
