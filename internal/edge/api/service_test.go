package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/telemetry"
	"example.org/headroom/internal/test/pgtest"
	"example.org/headroom/internal/test/solvertest"
)

func TestMain(m *testing.M) {
	pgtest.TheyWait()
	os.Exit(solvertest.Run(func() int { return pgtest.Clean(pgtest.Run(m)) }))
}

// service is a whole service on a database of its own.
type service struct {
	testing.TB
	app     *app.App
	store   *postgres.Store
	url     string
	log     *logged
	handler http.Handler
	doc     *openapi3.T
	admin   string // a token that may everything

	database string // its address

	actor  string // a token; before is called with each of its requests
	before func(body string, r *http.Request)
	known  string // the number of one of "mine", if that is not 1
}

// logged holds the log.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newService(t testing.TB, configure ...func(*app.Config)) *service {
	t.Helper()
	database := pgtest.Database(t)
	s := &service{TB: t, database: database, store: pgtest.OpenWith(t, postgres.Config{URL: database}), log: &logged{}, doc: contract(t)}
	tel := telemetry.New(s.log, slog.LevelDebug)
	config := app.Config{Telemetry: tel, Solves: 2, Queue: 400}
	for _, c := range configure {
		c(&config)
	}
	s.app = app.New(s.store.Stores(), auth.NewKeyring(), config)
	watching, stop := context.WithCancel(t.Context())
	watched, err := s.app.WatchPlans(watching)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); <-watched })
	// Tests send far more requests than a key may.
	handler, err := New(Config{App: s.app, Telemetry: tel, SolvesPerSecond: 1_000_000, RequestsPerSecond: 1_000_000, OpenPerSecond: 1_000_000, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	s.handler = handler
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	s.url = server.URL
	s.admin = s.key("root", auth.Admin, nil)
	return s
}

// key creates a key.
func (s *service) key(name string, role auth.Role, clusters []string) (token string) {
	s.Helper()
	ctx := auth.With(s.Context(), auth.Principal{ID: auth.LocalID, Name: "test", Role: auth.Admin})
	_, token, err := s.app.Auth.CreateKey(ctx, auth.Key{Name: name, Role: role, Clusters: clusters})
	if err != nil {
		s.Fatal(err)
	}
	return token
}

// answered is a response with its body.
type answered struct {
	*http.Response
	text []byte
}

// ask sends a request with pairs of headers and checks the answer against the contract. body may be text or anything
// that becomes JSON; nil is none.
func (s *service) ask(token, method, path string, body any, headers ...string) answered {
	s.Helper()
	if s.database != "" && method == http.MethodGet && strings.HasPrefix(path, "/v1/audit") {
		pgtest.Outlast(s)
	}
	var content io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		content = strings.NewReader(b)
	case []byte:
		content = bytes.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			s.Fatal(err)
		}
		content = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(s.Context(), method, s.url+path, content)
	if err != nil {
		s.Fatal(err)
	}
	if content != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	if s.before != nil && token == s.actor {
		text, _ := body.(string)
		s.before(text, r)
	}
	return s.send(r)
}

// direct asks without going where an answer leads.
var direct = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func (s *service) send(r *http.Request) answered {
	s.Helper()
	response, err := direct.Do(r)
	if err != nil {
		s.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	defer func() { _ = response.Body.Close() }()
	var body io.Reader = response.Body
	if response.Header.Get("Content-Type") == "text/event-stream" { // endless: its beginning will do
		body = io.LimitReader(body, 13)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		s.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	a := answered{response, text}
	s.holdAgainstContract(r, a)
	return a
}

// holdAgainstContract checks that the contract describes an answer.
func (s *service) holdAgainstContract(r *http.Request, a answered) {
	s.Helper()
	at := fmt.Sprintf("%s %.200s: %d", r.Method, r.URL, a.StatusCode)
	if a.StatusCode >= 400 {
		if kind := a.Header.Get("Content-Type"); kind != "application/problem+json" {
			s.Errorf("%s comes as %q: %.200s", at, kind, a.text)
			return
		}
		if r.Method == http.MethodHead {
			return
		}
		s.fits(at, s.doc.Components.Schemas["ProblemDetails"].Value, a.text)
		return
	}
	op := s.operation(r)
	if op == nil {
		s.Errorf("%s is no operation of the contract", at)
		return
	}
	described := op.Responses.Status(a.StatusCode)
	if described == nil {
		s.Errorf("%s is not a status that the contract describes", at)
		return
	}
	kind, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
	media := described.Value.Content[kind]
	switch {
	case len(a.text) == 0 && (r.Method == http.MethodHead || len(described.Value.Content) == 0):
	case media == nil && described.Value.Content["*/*"] == nil:
		s.Errorf("%s comes as %q, which the contract does not describe", at, kind)
	case kind == "application/json":
		s.fits(at, media.Schema.Value, a.text)
	}
}

func (s *service) fits(at string, schema *openapi3.Schema, text []byte) {
	s.Helper()
	value, err := generic(text)
	if err != nil {
		s.Errorf("%s: %v\n%.300s", at, err, text)
		return
	}
	if err := schema.VisitJSON(value, formats, openapi3.VisitAsResponse()); err != nil {
		s.Errorf("%s: the answer is not what the contract says: %.600v\n%.600s", at, err, text)
	}
}

// operation finds the one a request is for without the help of the router under test.
func (s *service) operation(r *http.Request) *openapi3.Operation {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for _, p := range pathPatterns() {
		if p.is.MatchString(r.URL.EscapedPath()) {
			return s.doc.Paths.Value(p.path).GetOperation(method)
		}
	}
	return nil
}

// pathPattern matches the addresses of a path of the contract.
type pathPattern struct {
	path string
	is   *regexp.Regexp
}

// pathPatterns lists all of the contract, literal ones first. They are made once, because every request uses them.
var pathPatterns = sync.OnceValue(func() (all []pathPattern) {
	doc, err := readContract()
	if err != nil {
		panic(err)
	}
	parameter := regexp.MustCompile(`\\\{\w+\\\}`)
	for path := range doc.Paths.Map() {
		all = append(all, pathPattern{path, regexp.MustCompile("^" + parameter.ReplaceAllString(regexp.QuoteMeta(path), `[^/]+`) + "$")})
	}
	slices.SortFunc(all, func(a, b pathPattern) int { return strings.Count(a.path, "{") - strings.Count(b.path, "{") })
	return all
})

// want stops the test unless the status is the one wanted.
func (a answered) want(t testing.TB, status int) answered {
	t.Helper()
	if a.StatusCode != status {
		t.Fatalf("%s %s: got %d, want %d: %.1500s", a.Request.Method, a.Request.URL, a.StatusCode, status, a.text)
	}
	return a
}

func (a answered) etag() string { return a.Header.Get("ETag") }

// into reads the body.
func (a answered) into(t testing.TB, value any) {
	t.Helper()
	if err := json.Unmarshal(a.text, value); err != nil {
		t.Fatalf("%v: %.300s", err, a.text)
	}
}

// problem reads the body of a refusal.
func (a answered) problem(t testing.TB) (p problem) {
	t.Helper()
	a.into(t, &p)
	return p
}

// at returns the first member or parameter that a refusal names.
func (p problem) at() string {
	if len(p.Errors) == 0 {
		return ""
	}
	if p.Errors[0].Pointer != nil {
		return *p.Errors[0].Pointer
	}
	return p.Errors[0].Parameter
}

// The parts of a cluster that can be planned, by the collections they are created in.
const (
	someVMType   = `{"name":"small","quota":100}`
	somePrice    = `{"vm_type":"small","price":"0.20","from":"2020-01-01T00:00:00Z","until":null}`
	someContract = `{"name":"three-year","vm_type":"small","vms":30,"price":"0.10","from":"2020-01-01T00:00:00Z","until":"2199-01-01T00:00:00Z"}`
	someProfile  = `{"name":"etl","profile":{"map_tasks":300,"reduce_tasks":40,"map_avg_s":30,"map_max_s":60,"first_shuffle_avg_s":12,"first_shuffle_max_s":20,"shuffle_avg_s":40,"shuffle_max_s":90,"reduce_avg_s":20,"reduce_max_s":50}}`
	someClass    = `{"name":"nightly","profile":{"name":"etl"},"deadline_s":2700,"slots_per_vm":{"map":2,"reduce":2},"jobs":{"min":2,"max":10},"penalty":"5.00"}`
	adHoc        = `{"name":"ad-hoc","vms_per_job":"4.03","jobs":{"min":0,"max":12},"penalty":0.95}`
)

// cluster creates a cluster that can be planned. Its plans need no second opinion.
func (s *service) cluster(name string) {
	s.Helper()
	at := "/v1/clusters/" + name
	s.ask(s.admin, "POST", "/v1/clusters", fmt.Sprintf(`{"name":%q,"options":{"engine":"exact"}}`, name)).want(s, 201)
	for _, part := range [][2]string{{"/vm-types", someVMType}, {"/prices", somePrice}, {"/contracts", someContract}, {"/profiles", someProfile}, {"/classes", someClass}, {"/classes", adHoc}} {
		s.ask(s.admin, "POST", at+part[0], part[1]).want(s, 201)
	}
	s.ask(s.admin, "PUT", at+"/forecasts", `{"rows":[{"class":"nightly","hour":"2026-03-01T22:00:00Z","jobs":12}]}`).want(s, 200)
}
