package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/edge/api/rules"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
)

// The layers that know the operation of a request: authorisation, validation, idempotency.

// authorize refuses callers without the right that openapi.yaml requires.
func (s *server) authorize(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o, who := s.operationOf(r), auth.From(r.Context())
		switch {
		case o == nil: // a route that is not in openapi.yaml; a test checks that there is none
			s.fail(w, r, errors.New("no operation for the route"))
		case o.Role == rules.Open:
			next.ServeHTTP(w, r)
		case who.ID == "":
			w.Header().Set("WWW-Authenticate", `Bearer realm="headroom"`)
			s.refuse(w, r, unauthorized("Send a key as \"Authorization: Bearer hrk_…\" or \"X-API-KEY: hrk_…\"."))
		case o.Role != rules.Any && !who.Role.May(auth.Role(o.Role)) && !(o.Agent && who.Role == auth.Agent):
			s.refuse(w, r, forbidden.problem(fmt.Sprintf("This needs a key with the role %s; yours, %q, has the role %s.", o.needs(), who.Name, who.Role)))
		case o.AllClusters && who.Clusters != nil:
			s.refuse(w, r, forbidden.problem(fmt.Sprintf("This needs a key that is not limited to clusters; yours, %q, is.", who.Name)))
		case o.inCluster && !who.Sees(pathValue(r, "cluster")):
			s.refuse(w, r, noCluster(pathValue(r, "cluster")))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// noCluster is the store's error for a missing cluster: callers who may not know of one must not see a difference.
func noCluster(name string) problem {
	return notFound.problem(fmt.Sprintf("There is no cluster %q.", name))
}

// validate refuses requests outside of openapi.yaml, and passes a body on that is read whole.
func (s *server) validate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o := s.operationOf(r)
		if err := o.checkParameters(r); err != nil {
			s.fail(w, r, err)
			return
		}
		if o.adds && (!o.KeyAsync || prefersAsync(r)) {
			if err := s.app.Usage.Room(pathValue(r, "cluster")); err != nil {
				s.fail(w, r, err)
				return
			}
		}
		if solves(r) {
			if err := s.app.Solver.MaySolve(r.Context()); err != nil {
				s.fail(w, r, err) // before a large body is read
				return
			}
		}
		if o.CSV && !o.streamed && sendsCSV(r) {
			if err := s.takeTable(w, r); err != nil {
				s.fail(w, r, err)
				return
			}
		} else if o.Sends && !o.streamed {
			text, err := s.takeBody(w, r, o)
			if err == nil && o.Body != nil && (len(text) > 0 || o.Needs) {
				err = s.checkBody(r, text, o.Body)
			}
			if err != nil {
				s.fail(w, r, err)
				return
			}
			r.Body = body{bytes.NewReader(text), text, o.Body}
		}
		if wantsCSV(r) && o.lists() {
			u := *r.URL
			u.RawQuery = strings.TrimPrefix(u.RawQuery+"&format=csv", "&")
			r.URL = &u
		}
		next.ServeHTTP(w, r)
	})
}

// wantsCSV reports whether the header Accept asks for a table, and no parameter decides.
func wantsCSV(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	if accept == "" || accept == "*/*" || strings.Contains(r.URL.RawQuery, "format=") {
		return false
	}
	first, _, _ := strings.Cut(accept, ",")
	kind, _, err := mime.ParseMediaType(first)
	return err == nil && kind == "text/csv"
}

// once runs a request with an Idempotency-Key once, and repeats the answer for repeated requests.
func (s *server) once(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get(idempotencyKey)
		if o := s.operationOf(r); key == "" || !o.creates || o.KeyAsync && !prefersAsync(r) {
			next.ServeHTTP(w, r)
			return
		}
		k := app.OnceKey{Principal: auth.From(r.Context()).ID, Key: key, Fingerprint: fingerprint(r.Method, r.URL, bodyOf(r))}
		var kept *keeper
		answer, replayed, err := s.app.Once(r.Context(), k, func(ctx context.Context) (app.Answer, error) {
			kept = &keeper{header: w.Header().Clone()}
			next.ServeHTTP(kept, r.WithContext(ctx))
			return kept.answer(), nil
		})
		switch {
		case err != nil:
			s.fail(w, r, err)
		case replayed:
			for name, value := range answer.Header {
				w.Header().Set(name, value)
			}
			w.Header().Set("Idempotency-Replayed", "true")
			w.WriteHeader(answer.Status)
			_, _ = w.Write(answer.Body)
		default:
			kept.send(w)
		}
	})
}

func fingerprint(method string, u *url.URL, text []byte) auth.Hash {
	h := sha256.New()
	fmt.Fprintf(h, "%s %q %q\n", method, u.EscapedPath(), u.RawQuery)
	h.Write(text)
	return auth.Hash(h.Sum(nil))
}

// keeper gathers an answer until it is certain that it counts.
type keeper struct {
	header http.Header
	status int
	body   []byte
	repeat []byte // stored instead of a body with a secret
}

func (k *keeper) Header() http.Header { return k.header }

func (k *keeper) WriteHeader(status int) {
	if k.status == 0 {
		k.status = status
	}
}

func (k *keeper) Write(text []byte) (int, error) {
	k.WriteHeader(http.StatusOK)
	k.body = append(k.body, text...)
	return len(text), nil
}

// answer returns the part that is stored. Refusals are not stored, so that the request may be mended and sent again;
// nor are answers with a time to ask again.
func (k *keeper) answer() app.Answer {
	keep := k.status >= 200 && k.status < 300 && k.header.Get("Retry-After") == ""
	a := app.Answer{Status: k.status, Body: k.body, Keep: keep, Header: map[string]string{}}
	if k.repeat != nil {
		a.Body = k.repeat
	}
	for _, name := range []string{"Content-Type", "ETag", "Location", "Preference-Applied"} {
		if value := k.header.Get(name); value != "" {
			a.Header[name] = value
		}
	}
	return a
}

func (k *keeper) send(w http.ResponseWriter) {
	for name, values := range k.header {
		w.Header()[name] = values
	}
	w.WriteHeader(k.status)
	_, _ = w.Write(k.body)
}

// readingProblem returns the faults of a body that capacity has read: 400 if it cannot be read, 422 if it is readable
// but senseless.
func readingProblem(err error) error {
	input := (*fault.InputError)(nil)
	if !errors.As(err, &input) {
		return err
	}
	kind := invalid
	for _, f := range input.Findings {
		switch f.Code {
		case "syntax", "unknown_member", "duplicate_member", "missing", "type", "null", "not_finite", "time":
			kind = malformed
		case "too_large":
			return refusal{tooLarge.aboutBody(input.Findings)}
		}
	}
	return refusal{kind.aboutBody(input.Findings)}
}
