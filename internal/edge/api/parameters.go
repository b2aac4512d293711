package api

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/edge/api/rules"
)

const idempotencyKey = "Idempotency-Key"

// pathValue returns a part of the request's path, decoded.
func pathValue(r *http.Request, name string) string {
	value := chi.URLParam(r, name)
	if r.URL.RawPath != "" { // chi has routed by the escaped path
		if plain, err := url.PathUnescape(value); err == nil {
			return plain
		}
	}
	return value
}

// checkParameters refuses parameters that are unknown, repeated or invalid by openapi.yaml.
func (o *operation) checkParameters(r *http.Request) error {
	query, err := o.query(r)
	if err != nil {
		return err
	}
	for _, p := range o.Parameters {
		var values []string
		switch p.In {
		case "path":
			values = []string{pathValue(r, p.Name)}
		case "query":
			values = query[p.Name]
		case "header":
			if values = r.Header.Values(p.Name); len(values) > 1 && p.Name == "If-None-Match" {
				values = []string{strings.Join(values, ", ")}
			}
		}
		switch {
		case p.Kind == rules.Array && len(values) > 0:
			if most := p.Most(); most > 0 && len(values) > most {
				return refusal{aboutParameter(p.Name, "too_many", fmt.Sprintf("The parameter %q is given %d times; it can be given %d times at most.", p.Name, len(values), most), nil)}
			}
			for _, value := range values {
				if err := checkParameter(p.Name, p.Items, value); err != nil {
					return err
				}
			}
		case len(values) > 1:
			return refusal{aboutParameter(p.Name, "duplicate", fmt.Sprintf("The parameter %q is given %d times; give it once.", p.Name, len(values)), nil)}
		case len(values) == 1:
			if err := checkParameter(p.Name, p.Shape, values[0]); err != nil {
				return err
			}
		case p.Required:
			return refusal{aboutParameter(p.Name, "missing", fmt.Sprintf("The parameter %q is missing. %s", p.Name, p.About), nil)}
		}
	}
	return nil
}

// query reads the query, which may hold nothing but known parameters.
func (o *operation) query(r *http.Request) (url.Values, error) {
	if r.URL.RawQuery == "" {
		return nil, nil
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, refusal{malformed.problem("The query of the address cannot be read: its parameters are separated by &, and special characters are written as % and two hexadecimal digits.")}
	}
	for name := range query {
		if slices.Contains(o.queries, name) || o.ID == "endSignIn" { // issuers may add what they like
			continue
		}
		detail, hint := fmt.Sprintf("There is no parameter %.60q here.", name), (*fault.Hint)(nil)
		if len(o.queries) > 0 {
			detail += " There are: " + strings.Join(o.queries, ", ") + "."
		}
		if best := fault.Nearest(name, o.queries); best != "" {
			hint = &fault.Hint{Detail: fmt.Sprintf("Did you mean %q?", best), Value: best}
		}
		return nil, refusal{aboutParameter(fmt.Sprintf("%.60s", strings.ToValidUTF8(name, "\uFFFD")), "unknown_parameter", detail, hint)}
	}
	return query, nil
}

// checkParameter refuses one value.
func checkParameter(name string, shape *rules.Shape, text string) error {
	var value any = text
	switch {
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return refusal{aboutParameter(name, "text", fmt.Sprintf("The parameter %q has characters in it that cannot stand there.", name), nil)}
	case shape.Kind == rules.Whole:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || text[0] == '+' {
			return refusal{aboutParameter(name, "type", fmt.Sprintf("%.60q is no whole number.", text), nil)}
		}
		value = float64(n)
	case shape.Kind == rules.Number:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || strings.Trim(text, "-.0123456789eE") != "" || math.IsInf(x, 0) { // as JSON has them
			return refusal{aboutParameter(name, "type", fmt.Sprintf("%.60q is no number.", text), nil)}
		}
		value = x
	case shape.Kind == rules.Bool:
		if text != "true" && text != "false" {
			return refusal{aboutParameter(name, "type", fmt.Sprintf("%.60q is neither true nor false.", text), nil)}
		}
		return nil
	}
	findings := shape.Check(value)
	if len(findings) == 0 {
		return nil
	}
	f := findings[0]
	if plus := strings.Replace(text, " ", "+", 1); f.Code == "time" && plus != text && rules.ReadableTime(plus) == nil {
		f.Hint = &fault.Hint{Detail: "In an address a + is written %2B: " + url.QueryEscape(plus) + ".", Value: plus}
	}
	return refusal{aboutParameter(name, f.Code, f.Detail, f.Hint)}
}
