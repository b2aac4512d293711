package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"headroom/internal/ask/horizon"
	"headroom/internal/core/fault"
	"headroom/internal/service/app"
	"headroom/internal/service/report"
	"headroom/internal/service/runs"
)

// horizon answers a horizon that includes its problem. As for solve, the body is read by hand, once there is a place
// to solve in.
func (s *server) horizon(w http.ResponseWriter, r *http.Request) {
	answered, run, err := s.app.Horizon(r.Context(), prefersAsync(r), func() (horizon.HorizonQuestion, error) {
		q, err := horizon.ReadHorizon(bodyOf(r), s.config.Limits)
		if err == nil {
			q.Detail = detailFor(q.Detail, horizonForm(r))
			err = inForm(horizonForm(r), q.CheckDetail(&q.Detail))
		}
		return q, readingProblem(err)
	})
	s.answerHorizon(w, r, "", answered, run, err)
}

func (s *server) clusterHorizon(w http.ResponseWriter, r *http.Request) {
	q, err := horizon.ReadClusterHorizon(bodyOf(r))
	if err != nil {
		s.fail(w, r, readingProblem(err))
		return
	}
	q.Detail = detailFor(q.Detail, horizonForm(r))
	cluster := pathValue(r, "cluster")
	answered, run, err := s.app.HorizonOfCluster(r.Context(), cluster, q, prefersAsync(r))
	s.answerHorizon(w, r, cluster, answered, run, inForm(horizonForm(r), err))
}

func (s *server) purchase(w http.ResponseWriter, r *http.Request) {
	answered, run, err := s.app.Purchase(r.Context(), prefersAsync(r), func() (horizon.PurchaseQuestion, error) {
		q, err := horizon.ReadPurchase(bodyOf(r), s.config.Limits)
		if err == nil {
			q.Detail = detailFor(q.Detail, purchaseForm(r))
			err = inForm(purchaseForm(r), q.CheckDetail(&q.Detail))
		}
		return q, readingProblem(err)
	})
	s.answerPurchase(w, r, "", answered, run, err)
}

func (s *server) clusterPurchase(w http.ResponseWriter, r *http.Request) {
	q, err := horizon.ReadClusterPurchase(bodyOf(r))
	if err != nil {
		s.fail(w, r, readingProblem(err))
		return
	}
	q.Detail = detailFor(q.Detail, purchaseForm(r))
	cluster := pathValue(r, "cluster")
	answered, run, err := s.app.PurchaseForCluster(r.Context(), cluster, q, prefersAsync(r))
	s.answerPurchase(w, r, cluster, answered, run, inForm(purchaseForm(r), err))
}

// horizonForm and purchaseForm return the detail that the requested form needs, or "" if any will do. Every answer
// has days, months and recommended purchases.
func horizonForm(r *http.Request) horizon.Detail {
	if formatOf(r) == "csv" && spanOf(r) == report.PerPeriod {
		return horizon.DetailPeriods
	}
	return purchaseForm(r)
}

func purchaseForm(r *http.Request) horizon.Detail {
	if format := formatOf(r); format == "xlsx" || format == "focus" {
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

// inForm adds a remedy to the error about an answer that is too large in the requested form.
func inForm(form horizon.Detail, err error) error {
	input := (*fault.InputError)(nil)
	if !errors.As(err, &input) || len(input.Findings) != 1 || input.Findings[0].Pointer != "/detail" || form == "" {
		return err
	}
	hint := "Ask for a shorter time, or for format=csv, which has days and months of any time with per=day and per=month."
	return refusal{tooLarge.faulty([]memberFault{{Parameter: "format", Code: "too_large", Detail: input.Findings[0].Detail, Hint: &fault.Hint{Detail: hint}}})}
}

// formatOf returns the form that a request wants instead of a document.
func formatOf(r *http.Request) string {
	if format := r.URL.Query().Get("format"); format != "json" {
		return format
	}
	return ""
}

// answerHorizon answers the result of a horizon, or 202 and the run that plans it.
func (s *server) answerHorizon(w http.ResponseWriter, r *http.Request, cluster string, answered *app.AnsweredHorizon, run runs.Run, err error) {
	switch {
	case err != nil:
	case answered == nil:
		err = s.answerRun(w, r, run)
	default:
		err = answerHorizonIn(w, r, cluster, answered)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

func (s *server) answerPurchase(w http.ResponseWriter, r *http.Request, cluster string, answered *app.AnsweredPurchase, run runs.Run, err error) {
	switch {
	case err != nil:
	case answered == nil:
		err = s.answerRun(w, r, run)
	default:
		err = answerPurchaseIn(w, r, cluster, answered)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

func answerHorizonIn(w http.ResponseWriter, r *http.Request, cluster string, a *app.AnsweredHorizon) error {
	name, mediaType, fill := "horizon.csv", tableType, func(to io.Writer) error {
		return report.Horizon(a.Answer, spanOf(r)).CSV(to)
	}
	switch formatOf(r) {
	case "":
		a.Answer.Show(a.Question.Detail)
		return reply[horizon.Answer]{body: a.Answer}.write(w, r)
	case "xlsx":
		name, mediaType, fill = "horizon.xlsx", xlsxType, func(to io.Writer) error {
			return report.HorizonWorkbook(to, a.Question.Horizon, a.Answer)
		}
	case "focus":
		name, fill = "horizon-focus.csv", func(to io.Writer) error {
			return report.Focus(to, a.Question.Horizon, a.Answer, report.FocusNames{SubAccountID: cluster})
		}
	}
	return answerFile(w, name, mediaType, fill)
}

// spanOf returns the span of a table's row.
func spanOf(r *http.Request) report.Span {
	if per := r.URL.Query().Get("per"); per != "" {
		return report.Span(per)
	}
	return report.PerPeriod
}

func answerPurchaseIn(w http.ResponseWriter, r *http.Request, cluster string, a *app.AnsweredPurchase) error {
	name, mediaType, fill := "purchase.csv", tableType, func(to io.Writer) error {
		return report.Purchase(a.Answer).CSV(to)
	}
	switch formatOf(r) {
	case "":
		a.Answer.Horizon.Show(a.Question.Detail)
		return reply[horizon.PurchaseAnswer]{body: a.Answer}.write(w, r)
	case "xlsx":
		name, mediaType, fill = "purchase.xlsx", xlsxType, func(to io.Writer) error {
			return report.PurchaseWorkbook(to, a.Question, a.Answer)
		}
	case "focus":
		name, fill = "purchase-focus.csv", func(to io.Writer) error {
			return report.Focus(to, a.Answer.Bought(&a.Question), a.Answer.Horizon, report.FocusNames{SubAccountID: cluster})
		}
	}
	return answerFile(w, name, mediaType, fill)
}

// runMonths answers the result of a run about months in another form. The run's input is the question.
func (s *server) runMonths(w http.ResponseWriter, r *http.Request, run runs.Run, result runs.Result) error {
	cluster := ""
	if run.Cluster != nil {
		cluster = *run.Cluster
	}
	input, err := s.app.Runs.Input(r.Context(), run.ID)
	if err != nil {
		return err
	}
	if run.Kind == app.HorizonRun {
		var asked app.AskedHorizon
		a := app.AnsweredHorizon{}
		if err := readBoth(input, &asked, result.Body, &a.Answer); err != nil {
			return err
		}
		if err := exportable(r, cluster, "horizons", a.Answer.Detail, horizonForm(r)); err != nil {
			return err
		}
		a.Question = asked.HorizonQuestion
		a.Question.Horizon = answeredTime(a.Question.Horizon, &a.Answer)
		return answerHorizonIn(w, r, cluster, &a)
	}
	var asked app.AskedPurchase
	a := app.AnsweredPurchase{}
	if err := readBoth(input, &asked, result.Body, &a.Answer); err != nil {
		return err
	}
	if err := exportable(r, cluster, "purchases", a.Answer.Horizon.Detail, purchaseForm(r)); err != nil {
		return err
	}
	a.Question = asked.PurchaseQuestion
	return answerPurchaseIn(w, r, cluster, &a)
}

func readBoth(input json.RawMessage, asked any, result []byte, answer any) error {
	if err := json.Unmarshal(input, asked); err != nil {
		return fmt.Errorf("read the input of a run: %w", err)
	}
	if err := json.Unmarshal(result, answer); err != nil {
		return fmt.Errorf("read the result of a run: %w", err)
	}
	return nil
}

// exportable refuses an answer that was stored with less than its form needs, and gives a remedy. Planning again here
// might take as long as the run did.
func exportable(r *http.Request, cluster, what string, kept, form horizon.Detail) error {
	if form == "" || kept == form || kept == horizon.DetailClasses {
		return nil
	}
	at := "/v1/"
	if cluster != "" {
		at = "/v1/clusters/" + cluster + "/"
	}
	of := map[horizon.Detail]string{horizon.DetailPeriods: "of every period", horizon.DetailClasses: "of what every class takes in every period"}[form]
	detail := fmt.Sprintf("The run was asked for the detail %q, and %s is made %s.", kept, formatOf(r), of)
	hint := fmt.Sprintf("Ask the same of POST %s%s?format=%s: then everything is kept that this form is made of.", at, what, formatOf(r))
	if what == "horizons" {
		hint += " Days and months are here already: format=csv with per=day or per=month."
	} else {
		hint += " What to buy is here already: format=csv."
	}
	return refusal{aboutParameter("format", "not_kept", detail, &fault.Hint{Detail: hint})}
}

// answeredTime returns the part of a horizon that an answer covers.
func answeredTime(h horizon.Horizon, a *horizon.Answer) horizon.Horizon {
	if a.Complete {
		return h
	}
	return h.First(a.Total.Hours)
}
