package api

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"
	"github.com/oapi-codegen/runtime"
)

// parameters reads a request's parameters into Go values. The first unreadable one leaves its error.
type parameters struct {
	r      *http.Request
	values url.Values // the query, parsed on first use
	err    error
}

func (p *parameters) path(name, kind, format string, to any) {
	if p.err == nil {
		options := runtime.BindStyledParameterOptions{
			ParamLocation: runtime.ParamLocationPath, Required: true, Type: kind, Format: format, ValueIsUnescaped: p.r.URL.RawPath == "",
		}
		p.err = parameterError(name, runtime.BindStyledParameterWithOptions("simple", name, chi.URLParam(p.r, name), to, options))
	}
}

func (p *parameters) query(name, kind, format string, required bool, to any) {
	if p.err == nil {
		if p.values == nil {
			p.values = p.r.URL.Query()
		}
		p.err = parameterError(name, runtime.BindQueryParameterWithOptions("form", true, required, name, p.values, to,
			runtime.BindQueryParameterOptions{Type: kind, Format: format}))
	}
}

// header leaves a header that is not there at nil.
func header[T any](p *parameters, name, kind, format string, to **T) {
	values := p.r.Header.Values(name)
	switch {
	case p.err != nil || len(values) == 0:
		return
	case len(values) > 1:
		p.err = parameterError(name, fmt.Errorf("it is given %d times", len(values)))
		return
	}
	*to = new(T)
	p.err = parameterError(name, runtime.BindStyledParameterWithOptions("simple", name, values[0], *to, runtime.BindStyledParameterOptions{
		ParamLocation: runtime.ParamLocationHeader, Type: kind, Format: format}))
}

func parameterError(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("read the parameter %s: %w", name, err)
}
