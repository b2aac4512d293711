package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/question"
	"example.org/headroom/internal/slots/live"
)

// problem is a problem document (RFC 9457): the reason of a refusal, and its remedy.
type problem struct {
	Type      string          `json:"type"`
	Title     string          `json:"title"`
	Status    int             `json:"status"`
	Detail    string          `json:"detail"`
	Instance  string          `json:"instance"`
	Errors    []memberFault   `json:"errors,omitempty"`
	Hint      *fault.Hint     `json:"hint,omitempty"`
	Conflicts []fault.Finding `json:"conflicts,omitempty"`

	LastChange *storage.LastChange `json:"last_change,omitempty"`
}

// memberFault is one fault of a member of the body, or of a parameter.
type memberFault struct {
	Pointer   *string     `json:"pointer,omitempty"`
	Parameter string      `json:"parameter,omitempty"`
	Detail    string      `json:"detail"`
	Code      string      `json:"code"`
	Line      int         `json:"line,omitempty"`
	Column    int         `json:"column,omitempty"`
	Hint      *fault.Hint `json:"hint,omitempty"`
}

// problemKind holds the type, status and title of problems.
type problemKind struct {
	name   string // the last part of the type
	status int
	title  string
}

// The kinds. problemHelps explains each and its remedy.
var (
	malformed        = problemKind{"malformed", http.StatusBadRequest, "The request cannot be read"}
	unauthenticated  = problemKind{"unauthorized", http.StatusUnauthorized, "A valid key is needed"}
	forbidden        = problemKind{"forbidden", http.StatusForbidden, "The key may not do this"}
	notFound         = problemKind{"not-found", http.StatusNotFound, "There is no such thing"}
	methodNotAllowed = problemKind{"method-not-allowed", http.StatusMethodNotAllowed, "This address knows other methods"}
	tooSlow          = problemKind{"request-timeout", http.StatusRequestTimeout, "The body did not come in time"}
	conflict         = problemKind{"conflict", http.StatusConflict, "It is in the way of something else"}
	gone             = problemKind{"gone", http.StatusGone, "The lease is over"}
	outdated         = problemKind{"outdated", http.StatusPreconditionFailed, "It has changed in the meantime"}
	tooLarge         = problemKind{"too-large", http.StatusRequestEntityTooLarge, "The body is too large"}
	unsupportedMedia = problemKind{"unsupported-media-type", http.StatusUnsupportedMediaType, "The body is of another type than can be read"}
	beyondEnd        = problemKind{"range", http.StatusRequestedRangeNotSatisfiable, "The file ends before that"}
	misdirection     = problemKind{"misdirected", http.StatusMisdirectedRequest, "The server has another name"}
	invalid          = problemKind{"invalid", http.StatusUnprocessableEntity, "The request can be read but makes no sense"}
	infeasible       = problemKind{"infeasible", http.StatusUnprocessableEntity, "No plan meets the demands"}
	versionNeeded    = problemKind{"version-needed", http.StatusPreconditionRequired, "The version last seen is needed"}
	tooManyRequests  = problemKind{"too-many-requests", http.StatusTooManyRequests, "That is asked too often"}
	internalError    = problemKind{"internal", http.StatusInternalServerError, "Something is wrong on our side"}
	busy             = problemKind{"unavailable", http.StatusServiceUnavailable, "It cannot be answered at the moment"}
)

// problemKinds lists all of them.
var problemKinds = []problemKind{
	malformed, unauthenticated, forbidden, notFound, methodNotAllowed, tooSlow, conflict, gone, outdated, tooLarge, unsupportedMedia,
	beyondEnd, misdirection, invalid, infeasible, versionNeeded, tooManyRequests, internalError, busy,
}

// problem returns a document of the kind.
func (k problemKind) problem(detail string) problem {
	return problem{Type: "/problems/" + k.name, Title: k.title, Status: k.status, Detail: detail}
}

func unauthorized(detail string) problem  { return unauthenticated.problem(detail) }
func foreignOrigin(detail string) problem { return forbidden.problem(detail) }
func misdirected(detail string) problem   { return misdirection.problem(detail) }
func tooMany(detail string) problem       { return tooManyRequests.problem(detail) }
func unavailable(detail string) problem   { return busy.problem(detail) }

func internalProblem() problem {
	return internalError.problem("The server could not answer because of a mistake of its own. Its log tells more under the id that stands in \"instance\".")
}

// faulty returns a document about parameters or members.
func (k problemKind) faulty(faults []memberFault) problem {
	p := k.problem(faults[0].Detail)
	if more := len(faults) - 1; more > 0 {
		p.Detail += fmt.Sprintf(" (and %d more, see \"errors\")", more)
	}
	p.Errors = faults
	p.Hint = faults[0].Hint
	return p
}

// aboutParameter returns a document about a malformed path or query parameter or header.
func aboutParameter(name, code, detail string, hint *fault.Hint) problem {
	return malformed.faulty([]memberFault{{Parameter: name, Code: code, Detail: detail, Hint: hint}})
}

// parameterProblem returns a document about a parameter of a question.
func parameterProblem(e *question.ParameterError) problem {
	if e.Code == "too_large" {
		return tooLarge.faulty([]memberFault{{Parameter: e.Name, Code: e.Code, Detail: e.Detail, Hint: e.Hint}})
	}
	return aboutParameter(e.Name, e.Code, e.Detail, e.Hint)
}

// aboutBody returns a document of a kind about findings in a body.
func (k problemKind) aboutBody(findings []fault.Finding) problem {
	faults := make([]memberFault, len(findings))
	for i, f := range findings {
		faults[i] = memberFault{Pointer: &findings[i].Pointer, Detail: f.Detail, Code: f.Code, Line: f.Line, Column: f.Column, Hint: f.Hint}
		if f.Line > 0 {
			faults[i].Detail = fmt.Sprintf("Line %d, column %d: %s", f.Line, f.Column, f.Detail)
		}
	}
	return k.faulty(faults)
}

// refusal is a problem as an error, for handlers that decide one themselves.
type refusal struct{ problem }

func (r refusal) Error() string { return r.Detail }

// problemOf returns the problem for an error. An error that a client cannot act on is ours to mend, and reveals
// nothing of the inside.
func problemOf(err error) problem {
	var (
		refused    refusal
		parameter  *question.ParameterError
		unread     *question.BodyError
		input      *fault.InputError
		impossible *fault.InfeasibleError
		version    *storage.VersionError
		deleted    *storage.DeletedError
		tooLong    *http.MaxBytesError
		waiting    *fault.TooManyError
	)
	switch {
	case errors.As(err, &refused):
		return refused.problem
	case errors.As(err, &parameter):
		return parameterProblem(parameter)
	case errors.As(err, &unread):
		return problemOf(readingProblem(unread.Err))
	case errors.As(err, &impossible):
		return infeasibleProblem(impossible.Conflicts)
	case errors.As(err, &version):
		p := outdated.problem(sentence(err, fault.Conflict))
		p.LastChange = version.Last
		return p
	case errors.As(err, &deleted):
		p := notFound.problem(sentence(err, fault.NotFound))
		p.LastChange = &deleted.LastChange
		return p
	case errors.As(err, &input):
		return invalid.aboutBody(input.Findings)
	case errors.As(err, &tooLong):
		return bodyTooLarge(tooLong.Limit)
	case errors.As(err, &waiting):
		return tooMany(waiting.Detail)
	case errors.Is(err, auth.ErrToken):
		return unauthorized(sentence(err, auth.ErrToken))
	case errors.Is(err, fault.Invalid):
		return invalid.problem(sentence(err, fault.Invalid))
	case errors.Is(err, fault.NotFound):
		return notFound.problem(sentence(err, fault.NotFound))
	case errors.Is(err, fault.Conflict):
		return conflict.problem(sentence(err, fault.Conflict))
	case errors.Is(err, live.ErrLeaseOver):
		return gone.problem(sentence(err, live.ErrLeaseOver))
	case errors.Is(err, fault.Forbidden):
		return forbidden.problem(sentence(err, fault.Forbidden))
	case errors.Is(err, fault.Infeasible):
		return infeasible.problem(sentence(err, fault.Infeasible))
	case errors.Is(err, fault.Busy):
		return unavailable(sentence(err, fault.Busy))
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return unavailable("The answer was not ready in time; try again in a moment.")
	}
	return internalProblem()
}

func infeasibleProblem(conflicts []fault.Finding) problem {
	p := infeasible.problem("No plan meets these demands.")
	if len(conflicts) > 0 {
		p.Detail, p.Hint, p.Conflicts = conflicts[0].Detail, conflicts[0].Hint, conflicts
	}
	return p
}

func bodyTooLarge(limit int64) problem {
	set := ""
	if limit > smallBody && limit != largestTable { // the setting's own
		set = ", or have HEADROOM_MAX_BODY_MB raised where the server runs"
	}
	return tooLarge.problem(fmt.Sprintf("The body has more than %d bytes, the most that are read; send it in parts%s.", limit, set))
}

// sentence returns an error's text for people: without the word of its kind at its end, beginning with a capital
// letter and ending in a full stop.
func sentence(err, kind error) string {
	text := strings.TrimSuffix(strings.TrimSuffix(err.Error(), kind.Error()), ": ")
	if text == "" {
		text = kind.Error()
	}
	if first, size := utf8.DecodeRuneInString(text); unicode.IsLower(first) {
		text = string(unicode.ToUpper(first)) + text[size:]
	}
	if !strings.ContainsAny(text[len(text)-1:], ".!?") {
		text += "."
	}
	return text
}

// refuse answers a problem.
func (s *server) refuse(w http.ResponseWriter, r *http.Request, p problem) {
	p.Instance = requestID(r.Context())
	h := w.Header()
	for _, name := range []string{"ETag", "Location", "Link", "Content-Disposition", "Content-Length"} {
		h.Del(name)
	}
	h.Set("Content-Type", "application/problem+json")
	if p.Status == http.StatusServiceUnavailable && h.Get("Retry-After") == "" {
		h.Set("Retry-After", "1")
	}
	w.WriteHeader(p.Status)
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	_ = out.Encode(p) // a client that is gone needs no error
}

// fail answers an error, and logs our own faults and the reasons of unavailability.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(err)
	if p.Status == http.StatusInternalServerError {
		s.log(r.Context()).Error("request failed", "error", err.Error())
	} else if cause := errors.Unwrap(err); p.Status == http.StatusServiceUnavailable && cause != nil && cause != error(fault.Busy) {
		s.log(r.Context()).Warn("request not answered", "error", err.Error(), "cause", cause.Error())
	}
	if waiting := (*fault.TooManyError)(nil); errors.As(err, &waiting) {
		w.Header().Set("Retry-After", strconv.Itoa(int(waiting.RetryAfter.Seconds())))
	}
	s.refuse(w, r, p)
}

// notFound and methodNotAllowed answer requests without an operation.
func (s *server) notFound(w http.ResponseWriter, r *http.Request) {
	s.refuse(w, r, notFound.problem(fmt.Sprintf("There is nothing at %.200q; /docs lists what there is.", r.URL.Path)))
}

func (s *server) methodNotAllowed(w http.ResponseWriter, r *http.Request) {
	path := r.URL.RawPath
	if path == "" {
		path = r.URL.Path
	}
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		if s.router.Match(chi.NewRouteContext(), method, path) {
			w.Header().Add("Allow", method)
			if method == http.MethodGet {
				w.Header().Add("Allow", http.MethodHead)
			}
		}
	}
	s.refuse(w, r, methodNotAllowed.problem(fmt.Sprintf("The method %.20s cannot be used here; the header Allow lists those that can.", r.Method)))
}
