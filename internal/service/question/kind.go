// Package question holds the questions that a server and the command line answer. A Kind is one question in one value:
// its addresses, its reading, its work and the forms of its answer. The API, the workers of runs and the command line
// each serve all kinds by the same code.
package question

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/plans/solving"
	"example.org/headroom/internal/service/report"
	"example.org/headroom/internal/service/runs"
)

// Kind is a question. Its Ask is the input of a run, and its Answer the result.
type Kind[Ask, Answer any] struct {
	Run     string        // the kind of its runs; "" is never a run
	Unit    string        // of a run's progress
	Timeout time.Duration // of an attempt at a run; default an hour
	Light   bool          // a moment's work, which rates do not count as a solve

	From map[string]Source[Ask] // by address

	// Work answers. An answer beside an error is a part that is worth something; only runs keep it.
	Work func(ctx context.Context, b *Bench, ask Ask) (*Answer, error)
	// Refuse returns the error of a server that has only this answer; nil takes all answers.
	Refuse func(a *Answer) error
	// Mend makes an error one about the text that was sent; nil leaves all errors.
	Mend func(cluster string, err error) error
	// Save stores an answer of a cluster, and returns the last part of its address. Nil stores nothing.
	Save func(ctx context.Context, d *Desk, cluster string, a *Answer) (id string, err error)

	Name    string                             // of files
	Formats []string                           // that a server writes besides JSON
	Show    func(ask *Ask, a *Answer) any      // what a JSON document shows; default the answer
	Forms   func(Ask, Answer, View) Forms      // by format, "table" for a terminal
	Lacks   func(Ask, Answer, View) error      // refuses a form for which a run has kept too little; may be nil
	Status  func(a *Answer) capacity.Status    // for exit codes; may be nil
	Warned  func(a *Answer) []capacity.Warning // warnings that a terminal shows beside the answer; may be nil
}

// Source reads questions that are sent to an address. It does what needs no place to solve in; read does the rest, in
// such a place.
type Source[Ask any] func(ctx context.Context, d *Desk, r Request) (read func() (Ask, error), err error)

// Request is a question as it is sent.
type Request struct {
	Body       []byte
	Limits     capacity.Limits
	Cluster    string     // "" without one
	Query      url.Values // whose form is already checked
	Background bool       // the caller does not want to wait
}

// View is the form in which an answer is wanted.
type View struct {
	Format  string // "" for JSON
	Per     report.Span
	Cluster string
}

// View returns the form that a request wants.
func (r Request) View() View { return ViewOf(r.Query, r.Cluster) }

// ViewOf returns the form that a query wants.
func ViewOf(query url.Values, cluster string) View {
	v := View{query.Get("format"), report.PerPeriod, cluster}
	if v.Format == "json" {
		v.Format = ""
	}
	if per := query.Get("per"); per != "" {
		v.Per = report.Span(per)
	}
	return v
}

// Forms holds the writers of an answer by format.
type Forms map[string]func(io.Writer) error

// usual returns the usual forms of an answer. A nil workbook leaves out the spreadsheet.
func usual[Answer any](a Answer, text func(io.Writer, Answer) error, table func(Answer) report.Table, workbook func(io.Writer,
	Answer) error) Forms {
	f := Forms{"table": func(w io.Writer) error { return text(w, a) }, "csv": func(w io.Writer) error { return table(a).CSV(w) }}
	if workbook != nil {
		f["xlsx"] = func(w io.Writer) error { return workbook(w, a) }
	}
	return f
}

// Question is any Kind.
type Question interface {
	Addresses() []string
	Solves() bool
	Ask(ctx context.Context, d *Desk, address string, r Request) (*Answered, runs.Run, error)
	RunKind() string
	RunTimeout() time.Duration
	// DoRun works on a run. save stores a product, and returns the result, in the transaction that ends the run.
	DoRun(ctx context.Context, d *Desk, claim runs.Claim, report func(runs.Progress)) (made runs.Result,
		save func(context.Context) (runs.Result, error), err error)
	Writes(format string) bool
	// OfRun returns the stored answer of a run. It refuses a form for which the run has kept too little.
	OfRun(input json.RawMessage, result []byte, v View) (*Answered, error)
}

// Answered is a question with its answer, ready to be written.
type Answered struct {
	Name    string // of files
	Created string // the last part of the address of what was stored; "" if nothing was
	Show    func() any
	Forms   func(View) Forms
}

// BodyError reports what is wrong with the text of a question.
type BodyError struct{ Err error }

func (e *BodyError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *BodyError) Unwrap() error { return e.Err }

// ParameterError reports what is wrong with a parameter of a request.
type ParameterError struct {
	Name, Code, Detail string
	Hint               *fault.Hint
}

func (e *ParameterError) Error() string { return e.Detail }

// ofBody returns the source of questions that include all their data.
func ofBody[Ask any](read func(r Request) (Ask, error)) Source[Ask] {
	return func(_ context.Context, _ *Desk, r Request) (func() (Ask, error), error) {
		return func() (Ask, error) {
			ask, err := read(r)
			return ask, wrongBody(err)
		}, nil
	}
}

// ofCluster returns the source of questions that are completed with a cluster's data before they wait for a place.
func ofCluster[Sent, Ask any](read func(text []byte) (Sent, error), complete func(context.Context, *Desk, Request, Sent) (Ask,
	error)) Source[Ask] {
	return func(ctx context.Context, d *Desk, r Request) (func() (Ask, error), error) {
		sent, err := read(r.Body)
		if err != nil {
			return nil, wrongBody(err)
		}
		ask, err := complete(ctx, d, r, sent)
		return func() (Ask, error) { return ask, nil }, err
	}
}

func wrongBody(err error) error {
	if err == nil {
		return nil
	}
	return &BodyError{err}
}

// All holds every question.
var All []Question

// known adds a question to All.
func known[Ask, Answer any](k *Kind[Ask, Answer]) *Kind[Ask, Answer] {
	All = append(All, k)
	return k
}

// ByRun returns the question whose runs are of a kind, or nil.
func ByRun(kind string) Question {
	i := slices.IndexFunc(All, func(q Question) bool { return q.RunKind() == kind && kind != "" })
	if i < 0 {
		return nil
	}
	return All[i]
}

// Addresses returns the addresses to which the question is sent.
func (k *Kind[Ask, Answer]) Addresses() []string { return slices.Collect(maps.Keys(k.From)) }

// Solves reports whether rates count it as a solve.
func (k *Kind[Ask, Answer]) Solves() bool { return !k.Light }

// Ask answers a question that was sent to an address, in a place to solve in. If that takes long or the caller does
// not want to wait, it starts a run with the question, from the beginning.
func (k *Kind[Ask, Answer]) Ask(ctx context.Context, d *Desk, address string, r Request) (*Answered, runs.Run, error) {
	read, err := k.From[address](ctx, d, r)
	if err != nil {
		return nil, runs.Run{}, err
	}
	ask, answer, err := k.atOnce(ctx, d, r, read)
	switch {
	case errors.Is(err, solving.ErrLong), err == nil && answer == nil:
		run, err := d.start(ctx, runs.NewRun{Kind: k.Run, Cluster: r.Cluster, Role: auth.Planner, Input: ask})
		return nil, run, err
	case err != nil && k.Mend != nil:
		return nil, runs.Run{}, k.Mend(r.Cluster, err)
	case err != nil:
		return nil, runs.Run{}, err
	}
	answered := k.answered(ask, answer)
	if k.Save != nil {
		answered.Created, err = k.Save(ctx, d, r.Cluster, answer)
	}
	return answered, runs.Run{}, err
}

// atOnce reads a question and answers it, unless it is for the background.
func (k *Kind[Ask, Answer]) atOnce(ctx context.Context, d *Desk, r Request, read func() (Ask, error)) (ask Ask, answer *Answer, err error) {
	in, leave, err := d.Solver.Enter(ctx)
	if err != nil {
		return ask, nil, err
	}
	defer leave()
	if ask, err = read(); err != nil || r.Background && k.Run != "" {
		return ask, nil, err
	}
	work := func(ctx context.Context, tell func(done, total int64)) (err error) {
		answer, err = k.Work(ctx, d.atOnce(tell), ask)
		return err
	}
	if k.Run == "" {
		err = work(in, func(int64, int64) {})
	} else {
		err = solving.Judged(in, work)
	}
	if err == nil {
		err = k.refused(answer)
	}
	return ask, answer, err
}

func (k *Kind[Ask, Answer]) refused(a *Answer) error {
	if k.Refuse == nil {
		return nil
	}
	return k.Refuse(a)
}

func (k *Kind[Ask, Answer]) answered(ask Ask, answer *Answer) *Answered {
	return &Answered{Name: k.Name, Show: func() any { return k.Document(&ask, answer) },
		Forms: func(v View) Forms { return k.Forms(ask, *answer, v) }}
}

// Document returns what a JSON document shows of an answer.
func (k *Kind[Ask, Answer]) Document(ask *Ask, answer *Answer) any {
	if k.Show == nil {
		return answer
	}
	return k.Show(ask, answer)
}

// RunKind returns the kind of its runs, or "".
func (k *Kind[Ask, Answer]) RunKind() string { return k.Run }

// RunTimeout returns the longest time of an attempt at a run.
func (k *Kind[Ask, Answer]) RunTimeout() time.Duration { return cmp.Or(k.Timeout, time.Hour) }

// DoRun works on a run. If the run is ended before, the part that is worth something comes with the error.
func (k *Kind[Ask, Answer]) DoRun(ctx context.Context, d *Desk, claim runs.Claim, report func(runs.Progress)) (made runs.Result,
	save func(context.Context) (runs.Result, error), err error) {
	var ask Ask
	if err := json.Unmarshal(claim.Input, &ask); err != nil {
		return made, nil, fmt.Errorf("read the input of run %s: %w", claim.ID, err)
	}
	answer, worked := k.Work(ctx, d.InTurns(claim.ID, k.Unit, report), ask)
	if worked == nil {
		worked = k.refused(answer)
	}
	if worked != nil && (answer == nil || k.Refuse != nil || k.Save != nil) {
		return made, nil, worked
	}
	if k.Save != nil {
		return made, func(ctx context.Context) (runs.Result, error) {
			if _, err := k.Save(ctx, d, claim.Cluster, answer); err != nil {
				return runs.Result{}, err
			}
			return jsonResult(claim.ID, k.Document(&ask, answer), nil)
		}, nil
	}
	made, err = jsonResult(claim.ID, k.Document(&ask, answer), worked)
	return made, nil, err
}

// jsonResult returns the result of a run as JSON, and the error that ended it.
func jsonResult(id string, answer any, worked error) (runs.Result, error) {
	text, err := json.Marshal(answer)
	if err != nil {
		return runs.Result{}, errors.Join(worked, fmt.Errorf("write what run %s made: %w", id, err))
	}
	return runs.Result{Type: "application/json", Body: text}, worked
}

// Writes reports whether a server writes an answer in a format.
func (k *Kind[Ask, Answer]) Writes(format string) bool { return slices.Contains(k.Formats, format) }

// OfRun returns the stored answer of a run.
func (k *Kind[Ask, Answer]) OfRun(input json.RawMessage, result []byte, v View) (*Answered, error) {
	var ask Ask
	var answer Answer
	if err := json.Unmarshal(input, &ask); err != nil {
		return nil, fmt.Errorf("read the input of a run: %w", err)
	}
	if err := json.Unmarshal(result, &answer); err != nil {
		return nil, fmt.Errorf("read the result of a run: %w", err)
	}
	if k.Lacks != nil {
		if err := k.Lacks(ask, answer, v); err != nil {
			return nil, err
		}
	}
	return k.answered(ask, &answer), nil
}
