// Package slurm drives Slurm by its own commands. A class is a licence: its jobs ask for "-L etl:1", and slurm.conf has
// as many licences as may ever be of use. A reservation by Headroom keeps back those beyond the plan's places. It takes
// 20 ms to change, never ends a job, also allows no place at all, and stays while neither driver nor slurmctld runs.
package slurm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.org/headroom/internal/slots/drive"
)

// Slurm is a Slurm whose commands this machine has.
type Slurm struct {
	Licences   map[string]string // of classes whose licence is not called as they are
	Partitions map[string]string // of VM types whose nodes follow the plan

	total    map[string]int64 // licences as Observe saw them last, from which Limit takes what to hold back
	reserved map[string]held
}

// mark begins the sentences that stand at jobs, so that nobody else's comment is replaced.
const mark = "Headroom: "

// patience bounds each command.
const patience = 30 * time.Second

// A reservation lasts a year, the longest that Slurm knows. It is made longer when half of that has passed.
const (
	term  = 365 * 24 * time.Hour
	clock = "2006-01-02T15:04:05"
)

// named is a name that Slurm takes for licences and reservations.
var named = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.-]+$`) })

// Licence returns the licence of a class.
func (s *Slurm) Licence(class string) string {
	if l, given := s.Licences[class]; given {
		return l
	}
	return class
}

// held is a reservation of licences.
type held struct {
	licences int64
	until    time.Time
}

// Observe reads licences, the reservations that hold some back, and the jobs.
func (s *Slurm) Observe(ctx context.Context, p drive.Plan) (drive.State, error) {
	state := drive.State{Limits: map[string]drive.Limit{}, Running: map[string]int64{}}
	var err error
	if s.total, err = s.totals(ctx); err != nil {
		return state, err
	}
	if s.reserved, err = s.reservations(ctx); err != nil {
		return state, err
	}
	classes := slices.Sorted(maps.Keys(p.Places))
	of := s.byLicence(classes)
	for _, class := range classes {
		if licence := s.Licence(class); of[licence] != class {
			return state, fmt.Errorf("the classes %q and %q have the same licence %q; name another for one of them with --licence",
				class, of[licence], licence)
		}
	}
	for licence, class := range of {
		if total, there := s.total[licence]; there && named().MatchString(licence) {
			state.Limits[class] = drive.Limit{Places: max(0, total-s.reserved[licence].licences), Most: total,
				By: "the licence " + licence + " by the reservation headroom-" + licence}
		}
	}
	if state.Nodes, err = s.power(ctx); err != nil {
		return state, err
	}
	return state, s.jobs(ctx, of, &state)
}

// totals returns how many licences slurm.conf has of each.
func (s *Slurm) totals(ctx context.Context) (map[string]int64, error) {
	text, err := listing(ctx, "licenses", "LicenseName=")
	if err != nil {
		return nil, err
	}
	totals := map[string]int64{}
	for line := range strings.Lines(text) {
		of := fields(line)
		if of["LicenseName"] == "" || of["Remote"] == "yes" {
			continue
		}
		if totals[of["LicenseName"]], err = strconv.ParseInt(of["Total"], 10, 64); err != nil {
			return nil, unread("scontrol show licenses", line)
		}
	}
	return totals, nil
}

// reservations returns what Headroom's reservations hold back, by licence.
func (s *Slurm) reservations(ctx context.Context) (map[string]held, error) {
	text, err := listing(ctx, "reservations", "ReservationName=")
	if err != nil {
		return nil, err
	}
	all := map[string]held{}
	for line := range strings.Lines(text) {
		of := fields(line)
		licence, ours := strings.CutPrefix(of["ReservationName"], "headroom-")
		if !ours {
			continue
		}
		name, count, _ := strings.Cut(of["Licenses"], ":")
		n, err := strconv.ParseInt(count, 10, 64)
		until, timeErr := time.ParseInLocation(clock, of["EndTime"], time.Local)
		if err != nil || timeErr != nil || name != licence {
			return nil, unread("scontrol show reservations", line)
		}
		all[licence] = held{n, until}
	}
	return all, nil
}

// listing returns what scontrol shows of a kind, a line each. Where there is none it says so ("No reservations in the
// system"); an answer that has neither is not taken for none, or limits would be set on a guess.
func listing(ctx context.Context, kind, name string) (string, error) {
	text, err := run(ctx, "scontrol", "--oneliner", "show", kind)
	if err == nil && !strings.Contains(text, name) && !strings.HasPrefix(text, "No "+kind) {
		err = unread("scontrol show "+kind, text)
	}
	return text, err
}

// fields reads "Name=value Name=value" as scontrol writes it.
func fields(line string) map[string]string {
	of := map[string]string{}
	for _, word := range strings.Fields(line) {
		name, value, _ := strings.Cut(word, "=")
		of[name] = value
	}
	return of
}

// jobs adds the jobs that ask for licences of the classes.
func (s *Slurm) jobs(ctx context.Context, of map[string]string, state *drive.State) error {
	text, err := run(ctx, "squeue", "--json")
	if err != nil {
		return err
	}
	var queue struct {
		Jobs []struct {
			ID       int64  `json:"job_id"`
			State    words  `json:"job_state"`
			Reason   string `json:"state_reason"`
			Licences string `json:"licenses"`
			Comment  string `json:"comment"`
		} `json:"jobs"`
	}
	if err := json.Unmarshal([]byte(text), &queue); err != nil || queue.Jobs == nil {
		return unread("squeue --json", text)
	}
	for _, j := range queue.Jobs {
		class, places := placesOf(j.Licences, of)
		if class == "" {
			continue
		}
		if j.ID < 1 || j.State == "" {
			return unread("squeue --json", fmt.Sprintf("job %d is %q", j.ID, j.State))
		}
		told, ours := strings.CutPrefix(j.Comment, mark)
		if !ours && j.Comment != "" {
			told = "" // somebody else's; it stays
		}
		waits := int64(0)
		if j.State == "PENDING" && slices.Contains(scheduling, j.Reason) && (ours || j.Comment == "") {
			waits = places
		}
		switch {
		case j.State == "RUNNING" || j.State == "COMPLETING" || j.State == "SUSPENDED":
			state.Running[class] += places
			if told != "" {
				state.Jobs = append(state.Jobs, drive.Job{ID: strconv.FormatInt(j.ID, 10), Class: class, Told: told})
			}
		case waits > 0 || told != "" && j.State == "PENDING":
			state.Jobs = append(state.Jobs, drive.Job{ID: strconv.FormatInt(j.ID, 10), Class: class, Waits: waits, Told: told})
		}
	}
	return nil
}

// scheduling lists the reasons of jobs that would start by themselves. Slurm names one of several: a job whose class has no
// place left may be said to wait for its priority or for resources, and None is not looked at yet.
var scheduling = []string{"Licenses", "None", "Priority", "Resources"}

// words is a state, which Slurm 23.11 and newer writes as a list that begins with it.
type words string

func (w *words) UnmarshalJSON(text []byte) error {
	if !bytes.HasPrefix(text, []byte("[")) {
		return json.Unmarshal(text, (*string)(w))
	}
	var all []string
	err := json.Unmarshal(text, &all)
	if len(all) > 0 {
		*w = words(all[0])
	}
	return err
}

// placesOf returns the class whose licences a job asks for, and how many.
func placesOf(licences string, of map[string]string) (class string, places int64) {
	for each := range strings.FieldsFuncSeq(licences, func(r rune) bool { return r == ',' || r == ';' || r == '|' }) {
		name, count, counted := strings.Cut(each, ":")
		if class := of[name]; class != "" {
			if n, err := strconv.ParseInt(count, 10, 64); counted && err == nil {
				return class, n
			}
			return class, 1
		}
	}
	return "", 0
}

// Limit holds back the licences of classes beyond their places, one class after the other.
func (s *Slurm) Limit(ctx context.Context, steps []drive.Step) (errs []error) {
	for _, step := range steps {
		errs = append(errs, s.limit(ctx, step.Class, step.To))
	}
	return errs
}

// limit holds back the licences of a class beyond its places, of as many as Observe saw.
func (s *Slurm) limit(ctx context.Context, class string, places int64) (err error) {
	licence := s.Licence(class)
	back, name := s.total[licence]-places, "ReservationName=headroom-"+licence
	licences := fmt.Sprintf("Licenses=%s:%d", licence, back)
	switch was, there := s.reserved[licence]; {
	case back <= 0 && there:
		_, err = run(ctx, "scontrol", "delete", name)
	case back <= 0:
	case there && time.Until(was.until) > term/2:
		_, err = run(ctx, "scontrol", "update", name, licences)
	case there:
		_, err = run(ctx, "scontrol", "update", name, licences, "EndTime="+time.Now().Add(term).Format(clock))
	default: // running jobs do not stand in its way
		_, err = run(ctx, "scontrol", "create", name, licences, "StartTime=now", "Duration=UNLIMITED", "Users=root", "Flags=ANY_NODES,IGNORE_JOBS")
	}
	return err
}

// Tell puts a sentence into a job's comment, which squeue shows with -o %k.
func (s *Slurm) Tell(ctx context.Context, job, sentence string) error {
	if sentence != "" {
		sentence = mark + sentence
	}
	_, err := run(ctx, "scontrol", "update", "JobId="+job, "Comment="+sentence)
	if err != nil && strings.Contains(err.Error(), "Invalid job id") {
		return nil // it has ended meanwhile
	}
	return err
}

// longest bounds what a command may answer: some 100,000 jobs.
const longest = 1 << 30

// run runs one of Slurm's commands.
func run(ctx context.Context, args ...string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.WaitDelay = time.Second
	var out, said bytes.Buffer
	unset := &unconfigured{limited: limited{&said}, stop: stop}
	c.Stdout, c.Stderr = &limited{&out}, unset
	err := c.Run()
	told := sentence(said.String())
	if err != nil && told == "" {
		told = sentence(out.String()) // where scontrol says "Partition cloud not found"
	}
	command := strings.Join(args[:min(3, len(args))], " ")
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%s is not installed here; run the driver where Slurm's commands are", args[0])
	case unset.found:
		return "", fmt.Errorf("%s: %s; run the driver where Slurm is set up, or name its slurm.conf in SLURM_CONF", args[0], told)
	case ctx.Err() != nil && told != "":
		return "", fmt.Errorf("%s did not answer in time, and says: %s", args[0], told)
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s did not answer in time", args[0])
	case err != nil && strings.Contains(told, "unrecognized option"):
		return "", fmt.Errorf("%s: %s; is it Slurm 22.05 or newer?", command, told)
	case err != nil && (strings.Contains(told, "Invalid user id") || strings.Contains(told, "permission denied")):
		return "", fmt.Errorf("%s: %s; run the driver as root, as SlurmUser or as an operator of Slurm", command, told)
	case err != nil && told != "":
		return "", fmt.Errorf("%s: %s", command, told)
	case err != nil:
		return "", fmt.Errorf("%s: %w", command, err)
	}
	return out.String(), nil
}

// sentence makes one line of the first lines of what a command says.
func sentence(text string) string {
	first := slices.Collect(strings.Lines(strings.TrimSpace(text)))
	return strings.Join(strings.Fields(strings.Join(first[:min(3, len(first))], " ")), " ")
}

// unconfigured ends a command that says that it finds no slurm.conf. It would look again for a minute.
type unconfigured struct {
	limited
	stop  func()
	found bool
}

func (u *unconfigured) Write(p []byte) (int, error) {
	n, err := u.limited.Write(p)
	if text := u.into.String(); !u.found && strings.Contains(text, "slurm.conf") && strings.Contains(text, "No such file or directory") {
		u.found = true
		u.stop()
	}
	return n, err
}

// limited refuses what is longer than any answer.
type limited struct{ into *bytes.Buffer } // not embedded: copies would use its ReadFrom, beside Write

func (l *limited) Write(p []byte) (int, error) {
	if l.into.Len()+len(p) > longest {
		return 0, errors.New("the answer is too long")
	}
	return l.into.Write(p)
}

func unread(command, text string) error {
	return fmt.Errorf("what %s says cannot be read: %.200q; is it Slurm 22.05 or newer?", command, text)
}
