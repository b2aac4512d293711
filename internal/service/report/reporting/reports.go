// Package reporting is the desk of reports: schedules, and the files that are made and kept.
package reporting

import (
	"fmt"
	"strings"
	"time"

	"example.org/headroom/internal/core/strict"
	"example.org/headroom/internal/service/hooks"
	"example.org/headroom/internal/service/runs"
)

// Report is a file about a cluster that was or will be made in the background. It has the id of the run that makes
// it.
type Report struct {
	ID        string         `json:"id"`
	Schedule  *string        `json:"schedule"` // null: made on request
	Every     Every          `json:"every"`
	Covers    Covers         `json:"covers"`
	Format    ReportFormat   `json:"format"`
	At        time.Time      `json:"at"` // the scheduled moment; after an outage of all servers it may be made later
	From      time.Time      `json:"from"`
	Until     time.Time      `json:"until"`
	State     runs.RunState  `json:"state"` // of its run
	By        string         `json:"by"`    // the key's name
	CreatedAt time.Time      `json:"created_at"`
	MadeAt    *time.Time     `json:"made_at"`
	File      *ReportFile    `json:"file"`  // null until it is made
	Error     *runs.RunError `json:"error"` // the reason of a failure
}

// ReportFile describes a report's file.
type ReportFile struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Size      int64  `json:"size"`   // in bytes
	SHA256    string `json:"sha256"` // in hexadecimal digits; its ETag
	URL       string `json:"url"`    // the path to it
}

// MaxReport is the maximum size of a report's file.
const MaxReport = 64 << 20

// UnscheduledKept is the number of reports without a schedule stored for a cluster.
const UnscheduledKept = defaultKeep

// ReportRequest asks for a report now: one of a schedule, or one that the other members describe.
type ReportRequest struct {
	Schedule string       `json:"schedule,omitempty"`
	Every    Every        `json:"every,omitempty"`
	Covers   Covers       `json:"covers,omitempty"`
	Format   ReportFormat `json:"format,omitempty"`
}

// Validate checks a request and fills in defaults.
func (r *ReportRequest) Validate() error {
	return strict.Check(func(k *strict.Checker) {
		if r.Schedule != "" {
			if r.Every != "" || r.Covers != "" || r.Format != "" {
				k.Refuse("schedule", "one_of", "A schedule says what its reports are; give \"schedule\" alone, or \"every\", \"covers\" and \"format\" without it.")
			}
			return
		}
		if r.Every == "" {
			k.Refuse("every", "missing", "Say how long the report is to cover: \"every\" is day, week or month. Or name a \"schedule\".")
			return
		}
		if r.Covers == "" {
			r.Covers = CoversAhead
		}
		if r.Format == "" {
			r.Format = ReportXLSX
		}
		checkReport(k, r.Covers, r.Format)
	})
}

// fileName returns the name of a report's file, in letters that every file system and header accepts.
func (r Report) fileName(cluster string) string {
	parts := []string{cluster}
	if r.Schedule != nil {
		parts = append(parts, fileWord(*r.Schedule))
	}
	parts = append(parts, string(r.Every), string(r.Covers), r.At.UTC().Format("2006-01-02T1504Z"))
	name := strings.Join(parts, "-")
	if r.Format == ReportFocus {
		return name + "-focus.csv"
	}
	return name + "." + string(r.Format)
}

// fileWord reduces a name to letters, digits and hyphens.
func fileWord(name string) string {
	const longest = 60
	var b strings.Builder
	for _, c := range name {
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		switch text := b.String(); {
		case b.Len() == longest:
			return strings.Trim(text, "-")
		case plain:
			b.WriteRune(c)
		case text != "" && !strings.HasSuffix(text, "-"):
			b.WriteByte('-')
		}
	}
	if text := strings.Trim(b.String(), "-"); text != "" {
		return text
	}
	return "report"
}

// MediaType returns the media type of a report's file.
func (f ReportFormat) MediaType() string {
	switch f {
	case ReportXLSX:
		return "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	case ReportJSON:
		return "application/json"
	}
	return "text/csv; charset=utf-8; header=present"
}

// ReportURL returns the path to a report's file.
func ReportURL(cluster, id string) string {
	return fmt.Sprintf("/v1/clusters/%s/reports/%s/file", cluster, id)
}

// ReportMadeEvent announces a report that can be downloaded.
type ReportMadeEvent struct {
	hooks.EventHead
	Report Report `json:"report"`
}

// ReportInput holds the input of a report's run.
type ReportInput struct {
	Schedule *string      `json:"schedule"`
	Every    Every        `json:"every"`
	Covers   Covers       `json:"covers"`
	Format   ReportFormat `json:"format"`
	At       time.Time    `json:"at"`
	From     time.Time    `json:"from"`
	Until    time.Time    `json:"until"`
}

// Report returns the report that the input describes.
func (in ReportInput) Report() Report {
	return Report{Schedule: in.Schedule, Every: in.Every, Covers: in.Covers, Format: in.Format, At: in.At.UTC(), From: in.From.UTC(), Until: in.Until.UTC()}
}

// Input returns the input of a schedule's report at a moment.
func (s ReportSchedule) Input(at time.Time, zone *time.Location) ReportInput {
	from, until := s.Span(at, zone)
	return ReportInput{Schedule: &s.Name, Every: s.Every, Covers: s.Covers, Format: s.Format, At: at.UTC(), From: from, Until: until}
}
