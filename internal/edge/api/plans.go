package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"example.org/headroom/internal/ask/goal"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/service/report"
)

// planRequest is the body of a request for a plan.
type planRequest struct {
	At time.Time `json:"at,omitzero"` // zero is now
}

func (s *server) GetProblem(ctx context.Context, r GetProblemRequest) (reply[Problem], error) {
	var at time.Time
	if r.Params.At != nil {
		at = *r.Params.At
	}
	return plain(s.app.Plans.ProblemAt(ctx, r.Cluster, at))
}

func (s *server) ListPlans(ctx context.Context, r ListPlansRequest) (reply[PlanList], error) {
	from, until, err := span(r.Params.From, r.Params.Until)
	if err != nil {
		return reply[PlanList]{}, err
	}
	name, table := r.Cluster+"-plans", report.Plans
	read := func(ctx context.Context, p storage.Page) (storage.Listed[plans.PlanSummary], error) {
		return s.app.Stores.Plans.Plans(ctx, r.Cluster, p)
	}
	if r.Params.InForce != nil && *r.Params.InForce {
		name, table = name+"-in-force", report.PlansInForce
		read = func(ctx context.Context, p storage.Page) (storage.Listed[plans.PlanSummary], error) {
			return s.app.Stores.Plans.PlansInForce(ctx, r.Cluster, from, until, p)
		}
	} else if !from.IsZero() || !until.IsZero() {
		return reply[PlanList]{}, refusal{aboutParameter("in_force", "required", "from and until are about plans in force; add in_force=true, or leave them out.", nil)}
	}
	l, err := listed(ctx, s, paging{r.Params.Limit, r.Params.Cursor, r.Params.Format}, name, table, read)
	return withNumbers(r.Params.Numbers, l, err)
}

func (s *server) GetOverview(ctx context.Context, r GetOverviewRequest) (reply[OverviewList], error) {
	cluster := ""
	if r.Params.Cluster != nil {
		cluster = *r.Params.Cluster
	}
	page := paging{r.Params.Limit, r.Params.Cursor, r.Params.Format}
	return listed(ctx, s, page, "overview", report.Overview, func(ctx context.Context, p storage.Page) (storage.Listed[plans.Overview], error) {
		return s.app.Plans.Overview(ctx, cluster, p)
	})
}

func (s *server) CreatePlan(ctx context.Context, r CreatePlanRequest) (reply[PlanRecord], error) {
	if preferAsync(r.Params.Prefer) {
		answer, err := startedRun[PlanRecord](s.app.Plans.StartRun(ctx, r.Cluster, r.Body.At))
		answer.applied = "respond-async"
		return answer, err
	}
	record, err := s.app.Plans.Create(ctx, r.Cluster, r.Body.At)
	answer, err := planReply(record, err)
	answer.created = strconv.FormatInt(record.Number, 10)
	return answer, err
}

func (s *server) GetPlan(ctx context.Context, r GetPlanRequest) (reply[PlanRecord], error) {
	ref := planRef(r.Plan)
	if f := r.Params.Format; f != nil && *f != "json" {
		file, err := s.planFile(ctx, r.Cluster, ref, *f)
		return reply[PlanRecord]{table: file}, err
	}
	if shown := s.app.Plans.Board.Find(r.Cluster); shown != nil && (ref.Number == shown.Record.Number || ref.ID == shown.Record.ID) {
		whole, err := shown.Whole() // from memory
		return planReply(whole.Record, err)
	}
	return planReply(s.app.Stores.Plans.Plan(ctx, r.Cluster, ref))
}

// planFile returns a plan as a table of its classes, or as a spreadsheet.
func (s *server) planFile(ctx context.Context, cluster string, ref plans.PlanRef, format string) (*tableReply, error) {
	record, answered, err := s.app.Plans.Answered(ctx, cluster, ref)
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	out := &tableReply{name: fmt.Sprintf("%s-plan-%d.%s", cluster, record.Number, format)}
	if format == "xlsx" {
		out.mediaType = xlsxType
		err = report.PlanWorkbook(&file, answered.Problem, answered.Plan)
	} else {
		err = report.ClassesCSV(&file, answered.Problem, answered.Plan)
	}
	out.first = file.Bytes()
	return out, err
}

func (s *server) GetPlanProblem(ctx context.Context, r GetPlanProblemRequest) (reply[Problem], error) {
	record, err := s.app.Stores.Plans.Plan(ctx, r.Cluster, planRef(r.Plan))
	return reply[Problem]{etag: etagOf(record.Number), text: func() []byte { return append(bytes.Clone(record.Problem), '\n') }}, err
}

func (s *server) VerifyPlan(ctx context.Context, r VerifyPlanRequest) (reply[Report], error) {
	return plain(s.app.Plans.Verify(ctx, r.Cluster, planRef(r.Plan)))
}

func (s *server) DiffPlans(ctx context.Context, r DiffPlansRequest) (reply[Difference], error) {
	to := plans.PlanRef{}
	if r.Params.To != nil {
		to = planRef(*r.Params.To)
	}
	var from *plans.PlanRef
	if r.Params.From != nil && *r.Params.From != "before" {
		ref := planRef(*r.Params.From)
		from = &ref
	}
	return plain(s.app.Plans.Diff(ctx, r.Cluster, from, to))
}

// planRef reads a plan's name in an address: a number, an id, or "current".
func planRef(text string) plans.PlanRef {
	if text == "current" {
		return plans.PlanRef{}
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return plans.PlanRef{Number: n}
	}
	return plans.PlanRef{ID: text}
}

// planReply answers a stored plan with its stored text, which need not be parsed.
func planReply(record plans.PlanRecord, err error) (reply[PlanRecord], error) {
	etag := etagOf(record.Number)
	if v := record.Vote; v != nil {
		etag = quoted(fmt.Sprintf("%d-%s", record.Number, v.State))
	}
	return reply[PlanRecord]{etag: etag, text: func() []byte { return recordText(record) }}, err
}

func recordText(record plans.PlanRecord) []byte {
	summary, err := json.Marshal(record.PlanSummary)
	if err != nil {
		panic(fmt.Sprintf("write the summary of a plan: %v", err)) // it holds plain figures alone
	}
	vote, err := json.Marshal(record.Vote)
	if err != nil {
		panic(fmt.Sprintf("write the vote on a plan: %v", err)) // likewise
	}
	const more = 1000 // for the text around it
	all := make([]byte, 0, len(summary)+len(record.Plan)+more)
	all = append(all, summary[:len(summary)-1]...)
	all = append(append(all, `,"vote":`...), vote...)
	all = append(all, `,"plan":`...)
	all = append(all, record.Plan...)
	return append(all, '}', '\n')
}

// solve answers a problem without storing anything.
func (s *server) solve(w http.ResponseWriter, r *http.Request) {
	answer, err := s.app.Solver.Solve(r.Context(), func() (capacity.Problem, error) {
		p, err := capacity.ReadProblem(bodyOf(r), s.config.Limits)
		if err != nil {
			err = readingProblem(goal.SuggestPenalties(r.Context(), bodyOf(r), s.config.Limits, err))
		}
		r.Body = http.NoBody // the text need not be in memory while it is solved
		return p, err
	})
	switch {
	case err != nil:
		s.fail(w, r, err)
	case answer.Status == capacity.InfeasibleStatus:
		s.refuse(w, r, infeasibleProblem(answer.Conflicts))
	case len(answer.Classes) > maxGathered:
		writeLong(w, answer)
	default:
		buffer := buffers.Get().(*bytes.Buffer)
		defer buffers.Put(buffer)
		buffer.Reset()
		buffer.Write(append(capacity.AppendPlan(buffer.AvailableBuffer(), answer), '\n'))
		writeJSON(w, http.StatusOK, buffer.Bytes())
	}
}

// maxGathered is the maximum number of classes of an answer whose text is made before its first part is sent.
const maxGathered = 20_000

// writeLong sends a plan while it is written. Each piece is large enough to have a time limit of its own.
func writeLong(w http.ResponseWriter, answer capacity.Plan) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	out := bufio.NewWriterSize(w, 2*minPassed)
	if err := capacity.WritePlan(out, answer); err != nil {
		return // a client that is gone needs no error
	}
	_ = out.WriteByte('\n')
	_ = out.Flush()
}

// bounds answers bounds on a time.
func (s *server) bounds(w http.ResponseWriter, r *http.Request) {
	q, err := perf.ReadBounds(bodyOf(r))
	if err != nil {
		s.fail(w, r, readingProblem(err))
		return
	}
	answer, err := perf.Bounds(q)
	if err == nil {
		err = reply[perf.Answer]{body: answer}.write(w, r)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

// pinRequest is the body of a request to pin a plan.
type pinRequest struct {
	Number int64     `json:"number,omitzero"`
	ID     string    `json:"id,omitzero"`
	Until  time.Time `json:"until"`
}

func (s *server) GetFollowedSchedule(ctx context.Context, r GetFollowedScheduleRequest) (reply[plans.Following], error) {
	return plain(s.app.Plans.Following(ctx, r.Cluster))
}

func (s *server) GetPin(ctx context.Context, r GetPinRequest) (reply[Pinned], error) {
	return plain(s.app.Stores.Plans.PinOf(ctx, r.Cluster))
}

func (s *server) PinPlan(ctx context.Context, r PinPlanRequest) (reply[Pinned], error) {
	if (r.Body.Number == 0) == (r.Body.ID == "") {
		return reply[Pinned]{}, &fault.InputError{Findings: []fault.Finding{{Pointer: "", Code: "one_of",
			Detail: "Say which plan to pin: give exactly one of \"number\" and \"id\"."}}}
	}
	return plain(s.app.Plans.Pin(ctx, r.Cluster, plans.PlanRef{Number: r.Body.Number, ID: r.Body.ID}, r.Body.Until))
}

func (s *server) UnpinPlan(ctx context.Context, r UnpinPlanRequest) (reply[nothing], error) {
	return done(s.app.Plans.Unpin(ctx, r.Cluster))
}
