package pool

import (
	"encoding/json"
	"fmt"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/strict"
	"example.org/headroom/internal/data/inputs"
)

// Names of the parts of a cluster's pool in the audit log.
const (
	PoolSettingsKind = "pool"
	PoolMachinesKind = "pool_machines"
)

// PoolSettings holds the settings from which a cluster's pool is planned, round after round.
type PoolSettings struct {
	Hours        int64        `json:"hours"`          // of a round
	Rounds       int64        `json:"rounds"`         // that a plan looks ahead, with the one that is under way
	FirstRoundAt *time.Time   `json:"first_round_at"` // start of the first round; default: the hour in which the settings are stored
	Types        []PoolType   `json:"types"`          // without a price, that of the cluster's VM type of the name
	Jobs         []PoolSource `json:"jobs"`
	Storage      PoolDisks    `json:"storage"`
	StartupHours float64      `json:"startup_hours"`
	// MeasuredHours is the time before the last of them in which executions and storage samples count.
	MeasuredHours int64       `json:"measured_hours"`
	Options       PoolOptions `json:"options"` // of each round

	Version   int64     `json:"version"`
	UpdatedAt time.Time `json:"updated_at,omitzero"`
}

// PoolSource is a repeatedly submitted job with the source of its submissions: Submissions, otherwise the forecast of
// Class, otherwise the executions of RecordedAs.
type PoolSource struct {
	PoolJob
	Submissions *float64 `json:"submissions,omitempty"` // in a round
	Class       string   `json:"class,omitempty"`
	RecordedAs  string   `json:"recorded_as,omitempty"` // the job's name in executions; left out, its name here
	// LeavesGB is the data that a submission leaves behind. It counts if storage samples do not show the growth of
	// data.
	LeavesGB float64 `json:"leaves_gb,omitempty"`
}

// Recorded returns the job's name in executions.
func (s PoolSource) Recorded() string {
	if s.RecordedAs != "" {
		return s.RecordedAs
	}
	return s.Name
}

// PoolDisks describes the storage of data. Storage samples give the amount; without any it is DataGB.
type PoolDisks struct {
	DataGB      *float64 `json:"data_gb,omitempty"`
	Replication float64  `json:"replication"`
	Fill        float64  `json:"fill"`
}

// The limits of stored pool data.
const (
	maxPoolHoursAhead = 2_208  // 92 days
	MaxStorageSamples = 10_000 // of a cluster: the latest ones
)

// DefaultPoolSettings returns the defaults.
func DefaultPoolSettings() PoolSettings {
	start := DefaultPool()
	return PoolSettings{Rounds: 2, Types: []PoolType{}, Jobs: []PoolSource{}, Storage: PoolDisks{Replication: start.Storage.Replication, Fill: start.Storage.Fill}, MeasuredHours: 4 * inputs.HoursPerWeek, Options: start.Options}
}

// storedPoolType is a PoolType with optional members.
type storedPoolType PoolType

// UnmarshalJSON fills in defaults.
func (t *storedPoolType) UnmarshalJSON(text []byte) error {
	type plain storedPoolType
	*t = storedPoolType{Slots: 1, Core: true, Accelerator: true}
	return json.Unmarshal(text, (*plain)(t))
}

// UnmarshalJSON fills in defaults.
func (s *PoolSettings) UnmarshalJSON(text []byte) error {
	type plain PoolSettings
	*s = DefaultPoolSettings()
	read := struct {
		*plain
		Types []storedPoolType `json:"types"`
	}{plain: (*plain)(s)}
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	s.Types = make([]PoolType, len(read.Types))
	for i, t := range read.Types {
		s.Types[i] = PoolType(t)
	}
	return nil
}

// Validate checks what the contract's rules for settings leave open, and reports all faults. Prices may be missing, because the cluster
// may learn them later.
func (s PoolSettings) Validate() error {
	return strict.Check(func(c *strict.Checker) {
		p := PoolProblem{Currency: "XXX", Hours: s.Hours, StartupHours: s.StartupHours, Options: s.Options, Storage: PoolStorage{DataGB: 1, Replication: s.Storage.Replication, Fill: s.Storage.Fill}}
		if s.Storage.DataGB != nil {
			p.Storage.DataGB = max(1, *s.Storage.DataGB)
			c.Enter("storage")
			checkData(c, "data_gb", "The data", *s.Storage.DataGB)
			c.Leave()
		}
		var free money.Amount
		for _, t := range s.Types {
			if t.PerHour == nil {
				t.PerHour = &free
			}
			p.Types = append(p.Types, t)
		}
		for _, j := range s.Jobs {
			p.Jobs = append(p.Jobs, j.PoolJob)
		}
		p.check(c)
		if s.Hours > 0 && s.Rounds > maxPoolHoursAhead/s.Hours {
			c.Refuse("rounds", "range", "%d rounds of %d hours are more than %d hours; look less far ahead.", s.Rounds, s.Hours, maxPoolHoursAhead)
		}
		if at := s.FirstRoundAt; at != nil && c.Moment("first_round_at", *at) && !at.Equal(at.Truncate(time.Hour)) {
			c.Refuse("first_round_at", "whole_hour", "Rounds begin with an hour; give the beginning of one.")
		}
		c.Enter("jobs")
		for i, j := range s.Jobs {
			c.Element(i)
			if j.Submissions != nil {
				if j.Class != "" || j.RecordedAs != "" {
					c.Refuse("submissions", "one_of", "Submissions are given, so that neither a forecast nor executions count; leave \"class\" and \"recorded_as\" out, or the submissions.")
				}
			}
			if j.Class != "" {
				c.NameAt("class", j.Class)
			}
			if j.RecordedAs != "" {
				c.NameAt("recorded_as", j.RecordedAs)
			}
			c.Leave()
		}
		c.Leave()
	})
}

// PoolMachine counts running machines of a kind.
type PoolMachine struct {
	Type  string     `json:"type"`
	As    string     `json:"as"` // default core
	Count int64      `json:"count"`
	Since *time.Time `json:"since,omitempty"`
	// PaidUntil is the end of the hour that is paid; default: whole hours after Since.
	PaidUntil *time.Time `json:"paid_until,omitempty"`
}

// UnmarshalJSON fills in defaults.
func (m *PoolMachine) UnmarshalJSON(text []byte) error {
	type plain PoolMachine
	*m = PoolMachine{As: AsCore}
	return json.Unmarshal(text, (*plain)(m))
}

// PoolMachines lists all running machines of a pool, as reported.
type PoolMachines struct {
	Machines []PoolMachine `json:"machines"`
	SaidAt   *time.Time    `json:"said_at"` // null: never reported
	SaidBy   string        `json:"said_by"` // the key's name
}

// CheckMachines checks what the contract's rules for machines that are reported as running leave open.
func CheckMachines(all []PoolMachine, now time.Time) error {
	return strict.Check(func(c *strict.Checker) {
		c.Enter("machines")
		total := map[string]int64{}
		for i, m := range all {
			c.Element(i)
			c.NameAt("type", m.Type)
			if total[m.Type] += m.Count; total[m.Type] > maxPoolInstances {
				c.Refuse("count", "range", "That makes %d machines of %q; at most %d of a type are planned.", total[m.Type], fault.Clip(m.Type), maxPoolInstances)
			}
			if m.Since != nil && c.Moment("since", *m.Since) && m.Since.After(now.Add(strict.MaxAhead)) {
				c.Refuse("since", "range", "They run since %s, which is later than now.", m.Since.UTC().Format(time.RFC3339))
			}
			if m.PaidUntil != nil && c.Moment("paid_until", *m.PaidUntil) && m.PaidUntil.After(now.Add(maxPoolHours*time.Hour)) {
				c.Refuse("paid_until", "range", "They are paid until %s, more than %d hours ahead.", m.PaidUntil.UTC().Format(time.RFC3339), maxPoolHours)
			}
			c.Leave()
		}
		c.Leave()
	})
}

// StorageSample is the amount of data at a moment, before copies.
type StorageSample struct {
	At        time.Time `json:"at"`
	DataGB    float64   `json:"data_gb" db:"data_gb"`
	SampledBy string    `json:"sampled_by"` // the key's name
}

// StorageSampleRequest holds a sample as sent.
type StorageSampleRequest struct {
	At     *time.Time `json:"at,omitempty"` // nil is now
	DataGB float64    `json:"data_gb"`
}

// CheckSamples reads the samples sent at a moment, below the member "samples". Of two for the same moment the last
// one counts.
func CheckSamples(sent []StorageSampleRequest, now time.Time) ([]StorageSample, error) {
	all, places := []StorageSample{}, map[time.Time]int{}
	return all, strict.Check(func(c *strict.Checker) {
		c.Enter("samples")
		for i, s := range sent {
			c.Element(i)
			kept := StorageSample{At: now.UTC(), DataGB: s.DataGB}
			if s.At != nil {
				kept.At = s.At.UTC()
				if c.Moment("at", kept.At) && kept.At.After(now.Add(strict.MaxAhead)) {
					c.Refuse("at", "range", "It was measured at %s, which is later than now.", kept.At.Format(time.RFC3339))
				}
			}
			kept.At = kept.At.Truncate(time.Microsecond)
			checkData(c, "data_gb", "The data", s.DataGB)
			if n, twice := places[kept.At]; twice {
				all[n] = kept
			} else {
				places[kept.At] = len(all)
				all = append(all, kept)
			}
			c.Leave()
		}
		c.Leave()
	})
}

// RoundAt returns the start of the round at a moment. Before the first round it returns the first.
func (s PoolSettings) RoundAt(at time.Time) (from time.Time, err error) {
	if s.FirstRoundAt == nil || s.Hours < 1 {
		return at, fmt.Errorf("settings that were not stored have no rounds")
	}
	first, round := s.FirstRoundAt.UTC(), time.Duration(s.Hours)*time.Hour
	if !at.After(first) {
		return first, nil
	}
	return first.Add(at.Sub(first).Truncate(round)), nil // 230 years fit into a Duration
}
