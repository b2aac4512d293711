package question

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/service/plans/solving"
	"example.org/headroom/internal/service/report"
)

// AskedMonths holds a question about a horizon, and notes on its source.
type AskedMonths struct {
	horizon.HorizonQuestion
	Warnings []capacity.Warning `json:"warnings"`
	// WithWaiting asks about the schedule of the same time; nil asks nothing. WaitingAsItIs is that without the scenario.
	WithWaiting   *timetable.Question `json:"with_waiting,omitempty"`
	WaitingAsItIs *timetable.Question `json:"waiting_as_it_is,omitempty"`
}

// ReadMonths reads the question of a file, whose scenario may be given beside it.
func ReadMonths(data []byte, limits capacity.Limits, lay func(*horizon.HorizonQuestion) error, overrides ...func(*capacity.Options)) (asked AskedMonths, err error) {
	asked.Warnings = []capacity.Warning{}
	if asked.HorizonQuestion, err = horizon.ReadHorizon(data, limits, overrides...); err != nil {
		return asked, err
	}
	if err := lay(&asked.HorizonQuestion); err != nil || !asked.HorizonQuestion.WithWaiting {
		return asked, err
	}
	laid, err := asked.Laid()
	if err != nil {
		return asked, err
	}
	q, err := timetable.OfHorizon(laid)
	if asked.WithWaiting = &q; err != nil || asked.Scenario == nil {
		return asked, err
	}
	asItIs, err := timetable.OfHorizon(&asked.Horizon)
	asked.WaitingAsItIs = &asItIs
	return asked, err
}

// Months asks what every hour of a horizon comes to.
var Months = known(&Kind[AskedMonths, horizon.Answer]{
	Run: "horizon", Unit: "steps", Name: "horizon", Formats: []string{"csv", "xlsx", "focus"},
	From: map[string]Source[AskedMonths]{
		"/v1/horizons": ofBody(func(r Request) (AskedMonths, error) {
			asked, err := ReadMonths(r.Body, r.Limits, func(*horizon.HorizonQuestion) error { return nil })
			if err == nil {
				var laid *horizon.Horizon
				if laid, err = asked.Laid(); err == nil {
					err = r.fitDetail(laid, &asked.Detail, monthsDetail(r.View()))
				}
			}
			return asked, err
		}),
		"/v1/clusters/{cluster}/horizons": ofCluster(horizon.ReadClusterHorizon, func(ctx context.Context, d *Desk, r Request,
			q horizon.ClusterHorizonQuestion) (AskedMonths, error) {
			form := monthsDetail(r.View())
			q.Detail = detailFor(q.Detail, form)
			asked, err := d.ClusterMonths(ctx, r.Cluster, q)
			return asked, inForm(form, err)
		}),
	},
	Work: workMonths,
	Show: func(asked *AskedMonths, a *horizon.Answer) any { a.Show(asked.Detail); return a },
	Forms: func(asked AskedMonths, a horizon.Answer, v View) Forms {
		return Forms{
			"table": func(w io.Writer) error { return report.HorizonText(w, a) },
			"csv":   func(w io.Writer) error { return report.Horizon(a, v.Per).CSV(w) },
			"xlsx": func(w io.Writer) error {
				h, err := asked.answered(&a)
				if err != nil {
					return err
				}
				return report.HorizonWorkbook(w, h, a)
			},
			"focus": func(w io.Writer) error {
				h, err := asked.answered(&a)
				if err != nil {
					return err
				}
				return report.Focus(w, h, a, report.FocusNames{SubAccountID: v.Cluster})
			},
		}
	},
	Lacks: func(_ AskedMonths, a horizon.Answer, v View) error {
		return lacks("horizons", "Days and months are here already: format=csv with per=day or per=month.", a.Detail, monthsDetail(v), v)
	},
	Status: func(a *horizon.Answer) capacity.Status { return a.Status },
	Warned: func(a *horizon.Answer) []capacity.Warning { return a.Warnings },
})

// ClusterMonths returns the question about the horizon of a cluster.
func (d *Desk) ClusterMonths(ctx context.Context, cluster string, q horizon.ClusterHorizonQuestion) (AskedMonths, error) {
	o, notes, err := d.outlook(ctx, cluster, q.Span, q.Assume != "")
	if err != nil {
		return AskedMonths{}, err
	}
	if q.Assume != "" {
		if err := o.EndAssuming(q.Assume); err != nil {
			return AskedMonths{}, err
		}
	}
	h, warnings, err := o.Horizon()
	if err != nil {
		return AskedMonths{}, err
	}
	compared(&h.Problem)
	asked := AskedMonths{HorizonQuestion: horizon.HorizonQuestion{Horizon: h, Detail: q.Detail}, Warnings: append(notes, warnings...)}
	if q.Scenario != nil {
		s, err := d.askedScenario(ctx, cluster, q.Scenario)
		if err != nil {
			return AskedMonths{}, err
		}
		if asked.Scenario = &s; !q.WithWaiting {
			if err := s.RefuseDue(); err != nil {
				return AskedMonths{}, err
			}
		}
	}
	if err := asked.Check(); err != nil {
		return AskedMonths{}, err
	}
	if q.WithWaiting {
		if err := d.askWaiting(ctx, cluster, &asked, &o, q.Scenario); err != nil {
			return AskedMonths{}, err
		}
	}
	if s := asked.Scenario; s != nil && s.Saved != "" { // its changes are here, whatever becomes of the saved one
		s.Name, s.Saved = cmp.Or(s.Name, s.Saved), ""
	}
	return asked, nil
}

// askWaiting adds the question about the schedule of the same time, with what that leaves out.
func (d *Desk) askWaiting(ctx context.Context, cluster string, asked *AskedMonths, o *horizon.Outlook, scenario *whatif.AskedScenario) error {
	q, warnings, err := d.waitingUntil(ctx, cluster, o, scenario, true, asked.Warnings)
	if err != nil {
		return err
	}
	if asked.WithWaiting, asked.Warnings = &q, warnings; scenario == nil {
		return nil
	}
	asItIs, _, err := d.waitingUntil(ctx, cluster, o, scenario, false, slices.Clone(asked.Warnings))
	asked.WaitingAsItIs = &asItIs
	return err
}

// waitingUntil returns the question about the schedule of an outlook's time, and warnings with those of what a schedule leaves out.
func (d *Desk) waitingUntil(ctx context.Context, cluster string, o *horizon.Outlook, scenario *whatif.AskedScenario, lay bool, had []capacity.Warning) (q timetable.Question, all []capacity.Warning, err error) {
	q, warnings, err := d.scheduleUntil(ctx, cluster, o, scenario, lay)
	if err != nil {
		return q, had, fault.Move(err, func(pointer string) string { return cmp.Or(pointer, "/with_waiting") })
	}
	if q.WithoutStarts() {
		warnings = append(startsLeftOut(warnings), capacity.Warning{Code: "starts_left_out", Detail: "What starting VMs costs is left out, as months and purchases count VMs without it."})
	}
	known := map[string]bool{"windows_left_out": true}
	for _, w := range had {
		known[w.Code] = true
	}
	all = slices.DeleteFunc(had, func(w capacity.Warning) bool { return w.Code == "windows_left_out" })
	for _, w := range warnings {
		if !known[w.Code] {
			all = append(all, w)
		}
	}
	return q, all, nil
}

// wait sets what the schedule of the same time comes to beside the answer.
func (asked *AskedMonths) wait(ctx context.Context, b *Bench, answer *horizon.Answer, start, end time.Time) error {
	q := asked.WithWaiting
	a, err := scheduled(ctx, b, q)
	var infeasible *fault.InfeasibleError
	switch {
	case errors.As(err, &infeasible):
		answer.Warnings = append(answer.Warnings, withoutSchedule(infeasible))
		return nil
	case err != nil:
		return err
	}
	w := horizon.WithWaiting{Until: q.End().UTC(), Bill: a.Cost.Bill, ValueRefused: a.Cost.ValueRefused,
		AtOnce: horizon.WaitingCost{Bill: a.AtOnce.Bill, ValueRefused: a.AtOnce.ValueRefused}, Saved: a.Saved}
	w.Gap.Decimal = a.Cost.Total.Sub(a.Proof.Bound.Decimal)
	for i := range a.Hours {
		w.Add(a.Hours[i].Start, a.Hours[i].Cost)
	}
	if asked.WaitingAsItIs != nil {
		asItIs, err := scheduled(ctx, b, asked.WaitingAsItIs)
		switch {
		case errors.As(err, &infeasible):
			answer.Warnings = append(answer.Warnings, capacity.Warning{Code: "not_compared", Detail: "Where jobs wait nothing is compared, for as it is there is no schedule. " + infeasible.Conflicts[0].Detail})
		case err != nil:
			return err
		default:
			w.Compare(a.Waiting(), asItIs.Waiting())
		}
	}
	answer.Wait(w, start, end)
	return nil
}

// scheduled makes a schedule in a turn of its own.
func scheduled(ctx context.Context, b *Bench, q *timetable.Question) (timetable.Answer, error) {
	in, leave, err := b.Turn(ctx)
	if err != nil {
		return timetable.Answer{}, err
	}
	defer leave()
	a, err := budgeted(in, b, q.Problem.Options.MaxSolveMs, *q, solving.CheckedSchedule)
	if ctx.Err() != nil { // a search that is cut short answers with what it has, or that it found no place
		err = context.Cause(ctx)
	}
	return a, err
}

// withoutSchedule says why nothing waits in an answer.
func withoutSchedule(why *fault.InfeasibleError) capacity.Warning {
	return capacity.Warning{Code: "windows_left_out", Detail: "Jobs that may wait count here as they arrive, for there is no schedule. " + why.Conflicts[0].Detail}
}

// compared makes a problem one for many plans: those are proved once, and not by an engine again.
func compared(p *capacity.Problem) {
	if p.Options.Engine == capacity.EngineCBC {
		p.Options.Engine = capacity.EngineAuto
	}
}

// outlook reads the outlook over a span of a cluster. One without an end ends with the forecasts, after a year at the
// latest, with a warning, unless a demand is assumed after them.
func (d *Desk) outlook(ctx context.Context, cluster string, span horizon.Span, assumed bool) (horizon.Outlook, []capacity.Warning, error) {
	const minute = "2006-01-02T15:04Z"
	from, until, open := span.Ends(d.Now())
	if !until.After(from) {
		return horizon.Outlook{}, nil, fault.At("/until", "order",
			fmt.Sprintf("The horizon would end at %s and begin at %s, the next whole hour; give an end after it, or say \"from\" when it begins.",
				until.Format(minute), from.Format(minute)))
	}
	o, err := d.Inputs.Outlook(ctx, cluster, from, until)
	notes := []capacity.Warning{}
	if err == nil && open && !assumed {
		if o.EndWithForecasts(); o.Until.Before(until) {
			notes = append(notes, capacity.Warning{Code: "ends_with_forecasts", Pointer: "/assume",
				Detail: fmt.Sprintf("The horizon ends at %s, where the forecasts end. To look further, %s", o.Until.Format(minute), horizon.SayWhatFollows)})
		}
	}
	return o, notes, err
}

// workMonths plans every situation of a horizon, and under a scenario also those of the time as it is. Of work that is ended
// before, the time until the first missing hour is worth something.
func workMonths(ctx context.Context, b *Bench, asked AskedMonths) (*horizon.Answer, error) {
	laid, err := asked.Laid()
	if err != nil {
		return nil, err
	}
	t := &team{Bench: b}
	course, err := t.course(*laid)
	if err != nil {
		return nil, err
	}
	all := courses{course}
	if asked.Scenario != nil {
		asItIs, err := t.course(asked.Horizon)
		if err != nil {
			return nil, err
		}
		all = append(all, asItIs)
	}
	t.of = all
	worked := t.work(ctx, int(all.Total()), all.work)
	if worked != nil && !b.Partial {
		return nil, worked
	}
	answer := course.Answer()
	if worked != nil && answer.Total.Hours == 0 { // later hours may be done, and the first is missing
		return nil, worked
	}
	answer.Warnings = append(answer.Warnings, asked.Warnings...)
	if asked.Scenario != nil {
		answer.Beside(asked.Scenario.Name, all[1].Answer(), laid.Start(), laid.End())
	}
	if worked == nil && asked.WithWaiting != nil {
		if worked = asked.wait(ctx, b, &answer, laid.Start(), laid.End()); worked != nil && !b.Partial {
			return nil, worked
		}
	}
	return &answer, worked
}

// course makes a horizon ready for the team.
func (t *team) course(h horizon.Horizon) (*horizon.Course, error) {
	h = h.Carried()
	solve, err := t.PlanLike(h.Problem)
	if err != nil {
		return nil, err
	}
	return horizon.NewCourse(h, t.solver(solve)), nil
}

// courses are planned one after the other.
type courses []*horizon.Course

func (all courses) Total() (sum int64) {
	for _, c := range all {
		sum += c.Total()
	}
	return sum
}

func (all courses) Done() (sum int64) {
	for _, c := range all {
		sum += c.Done()
	}
	return sum
}

func (all courses) work(ctx context.Context) error {
	for _, c := range all {
		if err := c.Work(ctx); err != nil {
			return err
		}
	}
	return nil
}

// answered returns the part of the planned horizon that an answer covers.
func (asked *AskedMonths) answered(a *horizon.Answer) (horizon.Horizon, error) {
	laid, err := asked.Laid()
	if err != nil {
		return horizon.Horizon{}, err
	}
	return answeredTime(*laid, a), nil
}

// answeredTime returns the part of a horizon that an answer covers.
func answeredTime(h horizon.Horizon, a *horizon.Answer) horizon.Horizon {
	if a.Complete {
		return h
	}
	return h.First(a.Total.Hours)
}

// monthsDetail and purchaseDetail return the detail that a form needs, or "" if any will do. Every answer has days,
// months and recommended purchases.
func monthsDetail(v View) horizon.Detail {
	if v.Format == "csv" && v.Per == report.PerPeriod {
		return horizon.DetailPeriods
	}
	return purchaseDetail(v)
}

func purchaseDetail(v View) horizon.Detail {
	if v.Format == "xlsx" || v.Format == "focus" {
		return horizon.DetailClasses
	}
	return ""
}

// detailFor returns the detail that is stored of an answer: the requested one, and that which its form needs.
func detailFor(asked, form horizon.Detail) horizon.Detail {
	if form == "" || asked == horizon.DetailClasses {
		return asked
	}
	return form
}

// fitDetail makes the detail of an answer one that the requested form needs, and refuses an answer that is too large.
func (r Request) fitDetail(h *horizon.Horizon, detail *horizon.Detail, form horizon.Detail) error {
	*detail = detailFor(*detail, form)
	return inForm(form, h.CheckDetail(detail))
}

// inForm adds a remedy to the error about an answer that is too large in the requested form.
func inForm(form horizon.Detail, err error) error {
	input := (*fault.InputError)(nil)
	if !errors.As(err, &input) || len(input.Findings) != 1 || input.Findings[0].Pointer != "/detail" || form == "" {
		return err
	}
	hint := "Ask for a shorter time, or for format=csv, which has days and months of any time with per=day and per=month."
	return &ParameterError{"format", "too_large", input.Findings[0].Detail, &fault.Hint{Detail: hint}}
}

// lacks refuses an answer that was stored with less than its form needs, and gives a remedy. Planning again here might
// take as long as the run did.
func lacks(what, here string, kept, form horizon.Detail, v View) error {
	if form == "" || kept == form || kept == horizon.DetailClasses {
		return nil
	}
	at := "/v1/"
	if v.Cluster != "" {
		at = "/v1/clusters/" + v.Cluster + "/"
	}
	of := map[horizon.Detail]string{horizon.DetailPeriods: "of every period",
		horizon.DetailClasses: "of what every class takes in every period"}[form]
	detail := fmt.Sprintf("The run was asked for the detail %q, and %s is made %s.", kept, v.Format, of)
	hint := fmt.Sprintf("Ask the same of POST %s%s?format=%s: then everything is kept that this form is made of. %s", at, what, v.Format, here)
	return &ParameterError{"format", "not_kept", detail, &fault.Hint{Detail: hint}}
}
