package reporting

import (
	"fmt"
	"strings"
	"time"

	"headroom/internal/core/strict"
	"headroom/internal/service/hooks"
	"headroom/internal/service/runs"
)

// Report is a file about a cluster that was made in the background, or is going to be. It has the id of the run
// that makes it.
type Report struct {
	ID        string         `json:"id"`
	Schedule  *string        `json:"schedule"` // null: somebody asked for it
	Every     Every          `json:"every"`
	Covers    Covers         `json:"covers"`
	Format    ReportFormat   `json:"format"`
	At        time.Time      `json:"at"` // the moment it is for; those of servers that were down may be made later
	From      time.Time      `json:"from"`
	Until     time.Time      `json:"until"`
	State     runs.RunState  `json:"state"` // of its run
	By        string         `json:"by"`    // the key's name
	CreatedAt time.Time      `json:"created_at"`
	MadeAt    *time.Time     `json:"made_at"`
	File      *ReportFile    `json:"file"`  // null until it is made
	Error     *runs.RunError `json:"error"` // why it was not
}

// ReportFile is what a report's file is.
type ReportFile struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Size      int64  `json:"size"`   // in bytes
	SHA256    string `json:"sha256"` // in hexadecimal digits; its ETag
	URL       string `json:"url"`    // the path to it
}

// MaxReport is the size of a report's file at most.
const MaxReport = 64 << 20

// UnscheduledKept is how many reports of a cluster are kept that no schedule makes.
const UnscheduledKept = DefaultKeep

// ReportRequest asks for a report now: what a schedule makes, or what the other members say.
type ReportRequest struct {
	Schedule string       `json:"schedule,omitempty"`
	Every    Every        `json:"every,omitempty"`
	Covers   Covers       `json:"covers,omitempty"`
	Format   ReportFormat `json:"format,omitempty"`
}

// Validate says what is wrong with a request, and fills in what is left out.
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
		checkReport(k, r.Every, r.Covers, r.Format)
	})
}

// FileName is the name of a report's file: letters that every file system and header takes.
func (r Report) FileName(cluster string) string {
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

// fileWord is what letters, digits and hyphens can say of a name.
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

// MediaType is that of a report's file.
func (f ReportFormat) MediaType() string {
	switch f {
	case ReportXLSX:
		return "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	case ReportJSON:
		return "application/json"
	}
	return "text/csv; charset=utf-8; header=present"
}

// ReportURL is the path to a report's file.
func ReportURL(cluster, id string) string {
	return fmt.Sprintf("/v1/clusters/%s/reports/%s/file", cluster, id)
}

// ReportMadeEvent says that a report can be downloaded.
type ReportMadeEvent struct {
	hooks.EventHead
	Report Report `json:"report"`
}

// ReportInput is what the run of a report works on.
type ReportInput struct {
	Schedule *string      `json:"schedule"`
	Every    Every        `json:"every"`
	Covers   Covers       `json:"covers"`
	Format   ReportFormat `json:"format"`
	At       time.Time    `json:"at"`
	From     time.Time    `json:"from"`
	Until    time.Time    `json:"until"`
}

// Report is the input as the report that comes of it.
func (in ReportInput) Report() Report {
	return Report{Schedule: in.Schedule, Every: in.Every, Covers: in.Covers, Format: in.Format, At: in.At.UTC(), From: in.From.UTC(), Until: in.Until.UTC()}
}

// Input is what the report of a schedule's moment is made of.
func (s ReportSchedule) Input(at time.Time, zone *time.Location) ReportInput {
	from, until := s.Span(at, zone)
	return ReportInput{Schedule: &s.Name, Every: s.Every, Covers: s.Covers, Format: s.Format, At: at.UTC(), From: from, Until: until}
}
