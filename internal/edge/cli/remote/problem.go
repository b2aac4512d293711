package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/edge/cli/document"
	"example.org/headroom/internal/edge/cli/shell"
)

// Problem is a refusal of the server as it writes it (RFC 9457).
type Problem struct {
	Type      string           `json:"type"`
	Title     string           `json:"title"`
	Status    int              `json:"status"`
	Detail    string           `json:"detail"`
	Instance  string           `json:"instance"` // the request's id, by which the server's log knows it
	Errors    []ProblemFinding `json:"errors"`
	Hint      *fault.Hint      `json:"hint"`
	Conflicts []fault.Finding  `json:"conflicts"`
}

// ProblemFinding is one thing wrong with a request: with its body or with a parameter.
type ProblemFinding struct {
	Pointer   *string     `json:"pointer"`
	Parameter string      `json:"parameter"`
	Detail    string      `json:"detail"`
	Code      string      `json:"code"`
	Hint      *fault.Hint `json:"hint"`

	Where string // the place in the user's own file or flags, where that is known
}

// Error says the findings one a line, each with its place and the way out.
func (p *Problem) Error() string {
	var lines []string
	for _, f := range p.Errors {
		where := f.Where
		switch {
		case where != "":
		case f.Parameter != "":
			where = f.Parameter
		case f.Pointer != nil:
			where = *f.Pointer
		}
		if where != "" {
			where += ": "
		}
		lines = append(lines, where+f.Detail+hinted(f.Hint, f.Detail))
	}
	for _, f := range p.Conflicts {
		pointer := f.Pointer
		if pointer != "" {
			pointer += ": "
		}
		lines = append(lines, pointer+f.Detail+hinted(f.Hint, f.Detail))
	}
	if len(p.Errors) == 0 || len(p.Conflicts) > 0 {
		detail := p.Detail
		if detail == "" || len(p.Conflicts) > 0 { // of which the detail is the first
			detail = p.Title
		}
		detail = shell.Sentence(detail)
		if p.Status >= http.StatusInternalServerError && p.Status != http.StatusServiceUnavailable && p.Instance != "" {
			detail += fmt.Sprintf(" The server's log has more under %s.", p.Instance)
		}
		if len(p.Conflicts) == 0 {
			detail += hinted(p.Hint, detail)
		}
		lines = append([]string{detail}, lines...)
	}
	return shell.ShownLines(inCommands(strings.Join(lines, "\n")))
}

// commandOf names the command that sends what a server tells programs to send.
var commandOf = map[string]string{
	"POST plans": "plan create ", "POST measurements": "history measurement create ", "POST observations": "history observation create ",
	"PUT pool": "batch pool edit --cluster ",
}

// told finds such a request in a sentence.
var told = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`with (POST|PUT) /v1/clusters/(.+?)/(plans|measurements|observations|pool)\b`)
})

// inCommands puts commands in place of the requests that a server tells programs to send.
func inCommands(said string) string {
	return told().ReplaceAllStringFunc(said, func(request string) string {
		m := told().FindStringSubmatch(request)
		command := commandOf[m[1]+" "+m[3]]
		if command == "" {
			return request
		}
		return fmt.Sprintf("with \"headroom %s%s\"", command, m[2])
	})
}

// hinted is a cure to be said after a sentence that does not say it already.
func hinted(h *fault.Hint, said string) string {
	if h == nil || h.Detail == "" || strings.Contains(said, h.Detail) {
		return ""
	}
	return " " + h.Detail
}

// Is gives a problem its kind, by which the exit code is chosen.
func (p *Problem) Is(target error) bool {
	kind, ok := target.(fault.Kind)
	return ok && kind == p.kind()
}

func (p *Problem) kind() fault.Kind {
	switch p.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fault.Forbidden
	case http.StatusNotFound:
		return fault.NotFound
	case http.StatusConflict, http.StatusPreconditionFailed:
		return fault.Conflict
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return fault.Busy
	case http.StatusUnprocessableEntity:
		if strings.HasSuffix(p.Type, "/infeasible") {
			return fault.Infeasible
		}
	}
	if p.Status < http.StatusInternalServerError {
		return fault.Invalid
	}
	return ""
}

// ProblemOf reads a refusal; ok is false for an answer that no Headroom server gives.
func ProblemOf(body []byte, status int) (p *Problem, ok bool) {
	p = &Problem{}
	if err := json.Unmarshal(body, p); err != nil || p.Title == "" && p.Detail == "" {
		return nil, false
	}
	p.Status = status
	return p, true
}

// Located gives findings of the server the places in the file (or the flags) they are about.
func Located(root *document.Node, err error) error {
	var p *Problem
	if root == nil || !errors.As(err, &p) {
		return err
	}
	for i, f := range p.Errors {
		if f.Pointer == nil {
			continue
		}
		at := root.At(*f.Pointer)
		switch {
		case at.Flag != "":
			p.Errors[i].Where = "--" + at.Flag
		case at.Line > 0 && *f.Pointer != "":
			p.Errors[i].Where = fmt.Sprintf("line %d, column %d: %s", at.Line, at.Column, *f.Pointer)
		}
	}
	return err
}

// Placed says findings by where the user wrote what they are about: where gives the place of a pointer, or
// nothing. It takes what this program finds itself as well as what a server does.
func Placed(err error, where func(pointer string) string) error {
	var p *Problem
	if errors.As(err, &p) {
		for i, f := range p.Errors {
			if f.Pointer != nil {
				p.Errors[i].Where = where(*f.Pointer)
			}
		}
		return err
	}
	var input *fault.InputError
	if !errors.As(err, &input) {
		return err
	}
	lines := make([]error, len(input.Findings))
	for i, f := range input.Findings {
		at := where(f.Pointer)
		if at == "" {
			at = f.Pointer
		}
		lines[i] = errors.New(shell.Shown(at + ": " + f.Detail + hinted(f.Hint, f.Detail)))
	}
	return errors.Join(lines...)
}
