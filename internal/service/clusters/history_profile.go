package clusters

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
)

// Limits of the data behind a profile.
const (
	// maxMerged is the maximum number of executions behind a profile.
	maxMerged  = 10_000
	maxPhases  = 500_000 // of all their chains, which are in memory at once
	mergedPage = 200
	fewRefused = 20 // that the source of a profile names
)

// ProfileFromHistory selects the executions from which a profile is made.
type ProfileFromHistory struct {
	Job     string     `json:"job"`
	Profile string     `json:"profile,omitempty"` // its name; "" is one made of the job's
	User    string     `json:"user,omitempty"`
	Queue   string     `json:"queue,omitempty"`
	From    *time.Time `json:"from,omitempty"`  // submitted in [From, Until)
	Until   *time.Time `json:"until,omitempty"` // null is open
	Last    int64      `json:"last,omitempty"`  // the number of those submitted last; 0 is all
	DryRun  bool       `json:"dry_run,omitempty"`
}

// ProfileMade is the result.
type ProfileMade struct {
	DryRun  bool                  `json:"dry_run"`
	Changed bool                  `json:"changed"` // a version was, or would be, added; false: the latest is equal
	Profile inputs.ProfileVersion `json:"profile"`
	Merged  history.Merged        `json:"merged"`
}

// ProfileSource is the stored source of a version made from a history.
type ProfileSource struct {
	Kind       string                     `json:"kind"` // historySource
	Job        string                     `json:"job"`
	User       string                     `json:"user,omitempty"`
	Queue      string                     `json:"queue,omitempty"`
	From       *time.Time                 `json:"from,omitempty"`
	Until      *time.Time                 `json:"until,omitempty"`
	Last       int64                      `json:"last,omitempty"`
	Executions int64                      `json:"executions"`
	First      *time.Time                 `json:"first_submitted_at,omitempty"`
	Latest     *time.Time                 `json:"last_submitted_at,omitempty"`
	Spread     map[string]history.Numbers `json:"spread"`
	Left       history.LeftOut            `json:"left_out"`
	Refused    Refusals                   `json:"refused"`
	Warnings   []string                   `json:"warnings"`
}

const historySource = "history"

// ProfileFromHistory merges the executions of a job to a profile and adds it as a version, unless the latest one is
// equal.
func (d *Desk) ProfileFromHistory(ctx context.Context, cluster string, q ProfileFromHistory) (ProfileMade, error) {
	named := q.Profile != ""
	if !named {
		q.Profile = slug(q.Job)
	}
	made, before, err := d.profileOf(ctx, cluster, q)
	switch {
	case err != nil:
		return ProfileMade{}, err
	case !named && isOfAnother(before, made, q.Job):
		return ProfileMade{}, fault.At("/profile", "taken", fmt.Sprintf("There is a profile %q already, which was not made of the job %q. Name the profile to add a version to, or a new one.", q.Profile, q.Job))
	case made.Changed && !q.DryRun:
		made.Profile, err = d.storeProfile(ctx, cluster, made.Profile)
	}
	return made, err
}

// isOfAnother reports whether a new version would follow one that was not made of the job.
func isOfAnother(before *inputs.ProfileVersion, made ProfileMade, job string) bool {
	return before != nil && made.Changed && JobOf(*before) != job
}

// storeProfile stores a version whose number is the next one.
func (d *Desk) storeProfile(ctx context.Context, cluster string, p inputs.ProfileVersion) (inputs.ProfileVersion, error) {
	if p.Version == 1 {
		return d.profiles.CreateProfile(ctx, cluster, p)
	}
	return d.profiles.AddProfileVersion(ctx, cluster, p)
}

// profileOf merges the executions of a job to the next version of a profile, and stores nothing. It returns the latest
// version as well, or nil if there is none.
func (d *Desk) profileOf(ctx context.Context, cluster string, q ProfileFromHistory) (made ProfileMade, before *inputs.ProfileVersion, err error) {
	records, warnings, err := d.SamplesOf(ctx, cluster, q, maxMerged, withoutQuantiles)
	if err != nil {
		return made, nil, err
	}
	merged, err := history.MergeRecords(records)
	if refusal := (history.Refusal{}); errors.As(err, &refusal) {
		return made, nil, fault.At("/job", "history", refusal.Error())
	}
	merged.Warnings = append(merged.Warnings, warnings...)
	version := inputs.ProfileVersion{Name: q.Profile, Profile: merged.Profile}
	source := ProfileSource{Kind: historySource, Job: q.Job, User: q.User, Queue: q.Queue, From: q.From, Until: q.Until, Last: q.Last, Executions: merged.Executions,
		Spread: merged.Spread, Left: merged.Left, Warnings: merged.Warnings, Refused: Refusals{Count: int64(len(merged.Refused)), First: merged.Refused[:min(len(merged.Refused), fewRefused)]}}
	for i := range records {
		if at := records[i].SubmittedAt; at != nil {
			if source.First == nil || at.Before(*source.First) {
				source.First = at
			}
			if source.Latest == nil || at.After(*source.Latest) {
				source.Latest = at
			}
		}
	}
	if version.Source, err = json.Marshal(source); err != nil {
		return made, nil, err
	}
	version.Version, version.Note = 1, clipNote(fmt.Sprintf("Made of %d past executions of %s.", merged.Executions, q.Job))
	if err := version.Validate(); err != nil {
		return made, nil, err
	}
	made = ProfileMade{DryRun: q.DryRun, Changed: true, Profile: version, Merged: merged}
	latest, err := d.profiles.Profile(ctx, cluster, q.Profile, 0)
	switch {
	case errors.Is(err, fault.NotFound):
		return made, nil, nil
	case err != nil:
		return made, nil, err
	case reflect.DeepEqual(latest.Profile, version.Profile):
		made.Changed, made.Profile = false, latest
	default:
		made.Profile.Version = latest.Version + 1
	}
	return made, &latest, nil
}

// JobOf returns the job from whose executions a version was made, or "".
func JobOf(p inputs.ProfileVersion) string {
	var source ProfileSource
	if json.Unmarshal(p.Source, &source) != nil || source.Kind != historySource {
		return ""
	}
	return source.Job
}

func clipNote(s string) string {
	const longest = 500
	if letters := []rune(s); len(letters) > longest {
		s = string(letters[:longest]) + "…"
	}
	return s
}

// SamplesOf returns the samples for a profile, those submitted last first, up to a limit, with warnings about their
// choice.
func (d *Desk) SamplesOf(ctx context.Context, cluster string, q ProfileFromHistory, most int64, keep func(history.Record) history.Record) (records []history.Record, warnings []string, err error) {
	of := ExecutionFilter{Job: q.Job, User: q.User, Queue: q.Queue}
	if q.From != nil {
		of.From = *q.From
	}
	if q.Until != nil {
		of.Until = *q.Until
	}
	if q.Last > 0 {
		most = min(most, q.Last)
	}
	phases := 0
	for page := (storage.Page{Limit: mergedPage}); ; {
		page.Limit = int(min(mergedPage, most-int64(len(records))))
		some, err := d.executions.Samples(ctx, cluster, of, page)
		if err != nil {
			return nil, nil, err
		}
		for _, r := range some.Items {
			if r.Chain != nil {
				phases += len(r.Chain.Phases)
			}
			if phases > maxPhases {
				return records, []string{fmt.Sprintf("The chains have more stages than are merged at once; those of the %d executions submitted last are.", len(records))}, nil
			}
			records = append(records, keep(r))
		}
		page.After = some.Next
		switch {
		case page.After == "":
			if len(records) == 0 {
				return nil, nil, fault.At("/job", "missing", fmt.Sprintf("There is no execution of the job %q there of which a profile can be made; \"recorded-jobs\" lists the jobs, and \"executions\" says why those of a job are refused.", q.Job))
			}
			return records, nil, nil
		case int64(len(records)) >= most:
			if most == maxMerged {
				warnings = []string{fmt.Sprintf("There are more executions; the %d submitted last are merged.", maxMerged)}
			}
			return records, warnings, nil
		}
	}
}

// withoutQuantiles returns a record without the data that only simulations need.
func withoutQuantiles(r history.Record) history.Record {
	if s := r.Sample; s != nil {
		s.Map.Quantiles, s.First.Quantiles, s.Shuffle.Quantiles, s.Reduce.Quantiles = nil, nil, nil, nil
	}
	if c := r.Chain; c != nil {
		for i := range c.Phases {
			c.Phases[i].Task.Quantiles = nil
		}
	}
	return r
}

// slug returns a name for a profile of a job: letters and digits, with one - between them for anything else.
func slug(job string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(job) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	letters := []rune(strings.TrimRight(b.String(), "-"))
	if len(letters) == 0 {
		return "job"
	}
	return string(letters[:min(len(letters), 100)])
}
