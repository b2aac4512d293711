package api

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-chi/chi/v5"
	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/goal"
	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/ask/pool"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/ask/trial"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/data/fetch"
	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/service/heartbeat"
	"example.org/headroom/internal/service/hooks"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/service/report/reporting"
	"example.org/headroom/internal/service/runs"
	"example.org/headroom/internal/service/telemetry"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/slots/live"
	"example.org/headroom/internal/slots/sim"
	"example.org/headroom/openapi"
)

// readContract reads the contract for all tests, which change nothing in it.
var readContract = sync.OnceValues(func() (*openapi3.T, error) { return openapi3.NewLoader().LoadFromData(openapi.Document) })

func contract(t testing.TB) *openapi3.T {
	t.Helper()
	doc, err := readContract()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// each calls with every operation of the contract.
func each(doc *openapi3.T, with func(method, path string, item *openapi3.PathItem, op *openapi3.Operation)) {
	for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		item := doc.Paths.Value(path)
		for _, method := range slices.Sorted(maps.Keys(item.Operations())) {
			with(method, path, item, item.Operations()[method])
		}
	}
}

func TestContractIsValid(t *testing.T) {
	if err := contract(t).Validate(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// Numbers without a format become float32 in Go, and operations without a role could be anybody's.
func TestContractKeepsItsOwnRules(t *testing.T) {
	doc := contract(t)
	numbers := func(at string, s *openapi3.Schema) {
		switch {
		case s.Type.Is("number") && s.Format != "double":
			t.Errorf("%s: a number needs format: double", at)
		case s.Type.Is("integer") && s.Format != "int64":
			t.Errorf("%s: an integer needs format: int64", at)
		}
	}
	walked := map[*openapi3.Schema]bool{}
	for name, ref := range doc.Components.Schemas {
		walkSchema(ref, "#/components/schemas/"+name, walked, numbers)
	}
	each(doc, func(method, path string, item *openapi3.PathItem, op *openapi3.Operation) {
		at := method + " " + path
		for _, p := range slices.Concat(item.Parameters, op.Parameters) {
			walkSchema(p.Value.Schema, at+" "+p.Value.Name, walked, numbers)
		}
		if op.RequestBody != nil {
			for _, media := range op.RequestBody.Value.Content {
				walkSchema(media.Schema, at, walked, numbers)
			}
		}
		for status, answer := range op.Responses.Map() {
			for _, media := range answer.Value.Content {
				walkSchema(media.Schema, at+" "+status, walked, numbers)
			}
			for name, header := range answer.Value.Headers {
				walkSchema(header.Value.Schema, at+" "+status+" "+name, walked, numbers)
			}
		}
	})
	seen := map[string]bool{}
	each(doc, func(method, path string, item *openapi3.PathItem, op *openapi3.Operation) {
		at := method + " " + path
		role, _ := op.Extensions["x-role"].(string)
		if !slices.Contains([]string{"open", "any", "viewer", "planner", "operator", "admin", "agent"}, role) {
			t.Errorf("%s: x-role is %q", at, role)
		}
		if op.OperationID == "" || seen[op.OperationID] || len(op.Tags) != 1 || op.Summary == "" || op.Description == "" {
			t.Errorf("%s needs an operationId of its own, one tag, a summary and a description", at)
		}
		seen[op.OperationID] = true
		if open := op.Security != nil && len(*op.Security) == 0; open != (role == "open") {
			t.Errorf("%s: its security does not fit its x-role %q", at, role)
		}
		want := []string{"400", "503", "default"}
		if role != "open" {
			want = append(want, "401", "429")
		}
		if role != "open" && role != "any" {
			want = append(want, "403")
		}
		if strings.Contains(path, "{cluster}") {
			want = append(want, "404")
		}
		if op.RequestBody != nil {
			want = append(want, "408", "413", "415", "422")
			walkSchema(op.RequestBody.Value.Content["application/json"].Schema, at, map[*openapi3.Schema]bool{}, func(where string, s *openapi3.Schema) {
				open := s.AdditionalProperties.Has == nil || *s.AdditionalProperties.Has
				if s.Type.Is("object") && open && len(s.AllOf) == 0 && s.AdditionalProperties.Schema == nil && !readOnlyOnly(where) {
					t.Errorf("%s: objects of requests need additionalProperties: false", where)
				}
			})
		}
		if slices.ContainsFunc(op.Parameters, func(p *openapi3.ParameterRef) bool { return p.Value.Name == "If-Match" }) {
			want = append(want, "412", "428")
		}
		for _, status := range want {
			answer := op.Responses.Value(status)
			if answer == nil || answer.Value.Content["application/problem+json"] == nil {
				t.Errorf("%s: the answer %s is not a problem document", at, status)
			}
		}
	})
}

// readOnlyOnly matches shapes that occur in requests only as read-only members.
func readOnlyOnly(at string) bool {
	return strings.Contains(at, "/warnings") || strings.Contains(at, "/drift")
}

func walkSchema(ref *openapi3.SchemaRef, at string, seen map[*openapi3.Schema]bool, with func(at string, s *openapi3.Schema)) {
	if ref == nil || seen[ref.Value] {
		return
	}
	seen[ref.Value] = true
	with(at, ref.Value)
	for name, p := range ref.Value.Properties {
		walkSchema(p, at+"/"+name, seen, with)
	}
	for _, some := range [][]*openapi3.SchemaRef{ref.Value.OneOf, ref.Value.AnyOf, ref.Value.AllOf, {ref.Value.Items, ref.Value.AdditionalProperties.Schema}} {
		for _, s := range some {
			walkSchema(s, at, seen, with)
		}
	}
}

// Every route is an operation of the contract, and every operation a route.
func TestRouterIsTheContract(t *testing.T) {
	h, err := New(Config{App: app.New(app.Stores{}, auth.NewKeyring(), app.Config{}), Telemetry: telemetry.New(new(strings.Builder), nil)})
	if err != nil {
		t.Fatal(err)
	}
	var routes, operations []string
	if err := chi.Walk(h.(chi.Routes), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		routes = append(routes, method+" "+route)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	each(contract(t), func(method, path string, _ *openapi3.PathItem, _ *openapi3.Operation) {
		operations = append(operations, method+" "+path)
	})
	slices.Sort(routes)
	slices.Sort(operations)
	if diff := cmp.Diff(operations, routes); diff != "" {
		t.Errorf("the contract (-) and the router (+) differ:\n%s", diff)
	}
}

// goTypes maps schemas to Go types, unless the overlay already maps them to types of other packages.
var goTypes = map[string]reflect.Type{
	"ProblemDetails": reflect.TypeFor[problem](), "Fault": reflect.TypeFor[memberFault](), "Session": reflect.TypeFor[whoami](),
	"ServerAbout": reflect.TypeFor[about](),
	"PhaseAnswer": reflect.TypeFor[perf.PhaseAnswer](), "TwoJobsAnswer": reflect.TypeFor[perf.TwoJobsAnswer](),
	"SharedPhaseAnswer": reflect.TypeFor[perf.SharedPhaseAnswer](), "JobAnswer": reflect.TypeFor[perf.JobAnswer](), "Coefficients": reflect.TypeFor[perf.Coefficients](),
	"TwoJobsQuestion": reflect.TypeFor[perf.TwoJobsQuestion](), "PhaseQuestion": reflect.TypeFor[perf.PhaseQuestion](),
	"SharedPhaseQuestion": reflect.TypeFor[perf.SharedPhaseQuestion](), "JobQuestion": reflect.TypeFor[perf.JobQuestion](),
	"CurrentPlan": reflect.TypeFor[currentPlan](), "PairedJob": reflect.TypeFor[perf.PairedJob](), "SlotPools": reflect.TypeFor[perf.SlotPools](), "PhaseShare": reflect.TypeFor[perf.PhaseShare](),
}

// currentPlan is the current plan as answered.
type currentPlan struct {
	plans.PlanRecord
	Freshness plans.Freshness `json:"freshness"`
}

// overlaid lists the types that the overlay may name.
var overlaid = map[string]reflect.Type{
	"nothing": reflect.TypeFor[nothing](), "createdKey": reflect.TypeFor[createdKey](), "newKey": reflect.TypeFor[newKey](), "planRequest": reflect.TypeFor[planRequest](),
	"storage.LastChange": reflect.TypeFor[storage.LastChange](), "pinRequest": reflect.TypeFor[pinRequest](), "capacity.Speed": reflect.TypeFor[capacity.Speed](),
	"list[live.Lease]": reflect.TypeFor[list[live.Lease]](), "list[live.ClassAdmissions]": reflect.TypeFor[list[live.ClassAdmissions]](), "list[runs.Run]": reflect.TypeFor[list[runs.Run]](),
	"newWebhook": reflect.TypeFor[newWebhook](), "createdWebhook": reflect.TypeFor[createdWebhook](), "secretRequest": reflect.TypeFor[secretRequest](), "newSecret": reflect.TypeFor[newSecret](),
	"list[fetch.AllowedHost]": reflect.TypeFor[list[fetch.AllowedHost]](), "list[hooks.Webhook]": reflect.TypeFor[list[hooks.Webhook]](), "list[hooks.Delivery]": reflect.TypeFor[list[hooks.Delivery]](),
	"forecastRows": reflect.TypeFor[forecastRows](), "deleted": reflect.TypeFor[deleted](),
	"json.RawMessage":                reflect.TypeFor[json.RawMessage](),
	"priceFetch":                     reflect.TypeFor[priceFetch](),
	"list[reporting.ReportSchedule]": reflect.TypeFor[list[reporting.ReportSchedule]](), "list[pack.PackingSummary]": reflect.TypeFor[list[pack.PackingSummary]](), "list[live.LiveNode]": reflect.TypeFor[list[live.LiveNode]](), "list[live.LiveJob]": reflect.TypeFor[list[live.LiveJob]](), "list[live.LiveDecision]": reflect.TypeFor[list[live.LiveDecision]](), "list[reporting.Report]": reflect.TypeFor[list[reporting.Report]](),
	"executionBatch": reflect.TypeFor[executionBatch](), "list[history.StoredExecution]": reflect.TypeFor[list[history.StoredExecution]](), "list[history.RecordedJob]": reflect.TypeFor[list[history.RecordedJob]](),
	"list[inputs.StandingOffer]": reflect.TypeFor[list[inputs.StandingOffer]](),
	"list[whatif.Scenario]":      reflect.TypeFor[list[whatif.Scenario]](), "list[inputs.Cluster]": reflect.TypeFor[list[inputs.Cluster]](), "list[inputs.VMType]": reflect.TypeFor[list[inputs.VMType]](),
	"list[inputs.PricePeriod]": reflect.TypeFor[list[inputs.PricePeriod]](), "list[inputs.SignedContract]": reflect.TypeFor[list[inputs.SignedContract]](),
	"list[inputs.ProfileVersion]": reflect.TypeFor[list[inputs.ProfileVersion]](), "list[inputs.PlannedClass]": reflect.TypeFor[list[inputs.PlannedClass]](),
	"list[inputs.Forecast]": reflect.TypeFor[list[inputs.Forecast]](), "list[plans.PlanSummary]": reflect.TypeFor[list[plans.PlanSummary]](),
	"list[plans.Overview]": reflect.TypeFor[list[plans.Overview]](), "plans.Overview": reflect.TypeFor[plans.Overview](), "plans.Vote": reflect.TypeFor[plans.Vote](), "plans.ContractEnd": reflect.TypeFor[plans.ContractEnd](), "plans.MonthSoFar": reflect.TypeFor[plans.MonthSoFar](),
	"list[plans.Observation]": reflect.TypeFor[list[plans.Observation]](), "list[perf.JobMeasurement]": reflect.TypeFor[list[perf.JobMeasurement]](), "list[pool.StorageSample]": reflect.TypeFor[list[pool.StorageSample]](), "list[pool.PoolPlanSummary]": reflect.TypeFor[list[pool.PoolPlanSummary]](),
	"list[auth.Key]": reflect.TypeFor[list[auth.Key]](), "list[app.AuditEntry]": reflect.TypeFor[list[app.AuditEntry]](),
}

func init() {
	for _, t := range []reflect.Type{
		reflect.TypeFor[inputs.Document](), reflect.TypeFor[capacity.Problem](), reflect.TypeFor[plans.PlanRecord](), reflect.TypeFor[plans.Scaling](), reflect.TypeFor[plans.Freshness](), reflect.TypeFor[capacity.Plan](),
		reflect.TypeFor[inputs.Change](), reflect.TypeFor[auth.Key](), reflect.TypeFor[clusters.Applied](), reflect.TypeFor[app.AuditEntry](),
		reflect.TypeFor[whatif.Difference](), reflect.TypeFor[proof.Report](),
		reflect.TypeFor[fetch.AllowedHost](), reflect.TypeFor[hooks.Webhook](), reflect.TypeFor[hooks.Delivery](),
		reflect.TypeFor[hooks.PlanChangedEvent](), reflect.TypeFor[hooks.PlanFailedEvent](), reflect.TypeFor[hooks.RunFinishedEvent](), reflect.TypeFor[hooks.PingEvent](),
		reflect.TypeFor[reporting.ReportMadeEvent](), reflect.TypeFor[reporting.ReportSchedule](), reflect.TypeFor[reporting.ReportRequest](),
		reflect.TypeFor[executionBatch](), reflect.TypeFor[clusters.HistoryImport](), reflect.TypeFor[clusters.HistorySource](), reflect.TypeFor[history.SampledExecution](), reflect.TypeFor[history.RecordedJob](),
		reflect.TypeFor[clusters.ProfileFromHistory](), reflect.TypeFor[clusters.ProfileMade](), reflect.TypeFor[clusters.ForecastFromHistory](), reflect.TypeFor[clusters.ForecastMade](), reflect.TypeFor[clusters.ClassesFromHistory](), reflect.TypeFor[clusters.ClassesMade](),
		reflect.TypeFor[clusters.ClassCalibration](), reflect.TypeFor[clusters.CalibrationAsk](),
		reflect.TypeFor[clusters.PriceImport](), reflect.TypeFor[whatif.Comparison](), reflect.TypeFor[whatif.Scenario](), reflect.TypeFor[whatif.WhatIfQuestion](), reflect.TypeFor[whatif.ClusterWhatIfQuestion](),
		reflect.TypeFor[dispatch.DecideQuestion](), reflect.TypeFor[dispatch.DecideAnswer](), reflect.TypeFor[dispatch.JudgeQuestion](), reflect.TypeFor[dispatch.JudgeAnswer](), reflect.TypeFor[dispatch.LearnQuestion](), reflect.TypeFor[dispatch.LearnAnswer](),
		reflect.TypeFor[dispatch.ClassifyQuestion](), reflect.TypeFor[dispatch.ClassifyAnswer](), reflect.TypeFor[perf.FitQuestion](), reflect.TypeFor[perf.FitAnswer](), reflect.TypeFor[perf.CalibrationQuestion](), reflect.TypeFor[perf.Calibration](),
		reflect.TypeFor[sim.InterferenceQuestion](), reflect.TypeFor[sim.InterferenceAnswer](),
		reflect.TypeFor[trial.Answer](), reflect.TypeFor[trial.TargetQuestion](), reflect.TypeFor[trial.ClusterTargetQuestion](), reflect.TypeFor[trial.TargetOptions](), reflect.TypeFor[trial.TargetAnswer](), reflect.TypeFor[trial.WithoutPromise](), reflect.TypeFor[trial.PromisedClass](), reflect.TypeFor[capacity.Promise](), reflect.TypeFor[plans.Following](),
		reflect.TypeFor[sim.Input](), reflect.TypeFor[sim.Report](), reflect.TypeFor[trial.SimulationQuestion](), reflect.TypeFor[trial.ClusterSimulationQuestion](), reflect.TypeFor[trial.ScheduleQuestion](), reflect.TypeFor[trial.ClusterScheduleQuestion](), reflect.TypeFor[trial.ScheduleAnswer](),
		reflect.TypeFor[whatif.SweepAnswer](), reflect.TypeFor[goal.Answer](), reflect.TypeFor[whatif.SweepQuestion](), reflect.TypeFor[whatif.ClusterSweepQuestion](), reflect.TypeFor[goal.ProblemQuestion](), reflect.TypeFor[goal.ClusterQuestion](),
		reflect.TypeFor[horizon.Answer](), reflect.TypeFor[horizon.WithWaiting](), reflect.TypeFor[horizon.WaitingCost](), reflect.TypeFor[horizon.WaitingMonth](), reflect.TypeFor[horizon.WaitingCompared](), reflect.TypeFor[horizon.WaitingSchedule](), reflect.TypeFor[horizon.PurchaseWithWaiting](), reflect.TypeFor[horizon.PurchaseScheduled](), reflect.TypeFor[timetable.Question](), reflect.TypeFor[timetable.Answer](), reflect.TypeFor[timetable.Cost](), reflect.TypeFor[timetable.AtOnce](),
		reflect.TypeFor[timetable.Hour](), reflect.TypeFor[timetable.HourLeases](), reflect.TypeFor[timetable.TypeHour](), reflect.TypeFor[horizon.OnType](), reflect.TypeFor[horizon.Start](), reflect.TypeFor[horizon.RefusedArrivals](), reflect.TypeFor[timetable.Class](), reflect.TypeFor[timetable.Proof](),
		reflect.TypeFor[horizon.PurchaseAnswer](), reflect.TypeFor[horizon.HorizonQuestion](), reflect.TypeFor[horizon.PurchaseQuestion](), reflect.TypeFor[horizon.ClusterHorizonQuestion](), reflect.TypeFor[timetable.ClusterQuestion](), reflect.TypeFor[timetable.SweepQuestion](), reflect.TypeFor[timetable.ClusterSweepQuestion](), reflect.TypeFor[timetable.SweepAnswer](), reflect.TypeFor[horizon.ClusterPurchaseQuestion](),
		reflect.TypeFor[live.AdmissionRequest](), reflect.TypeFor[live.LeaseBeat](), reflect.TypeFor[heartbeat.DriverClaim](), reflect.TypeFor[heartbeat.Driver](), reflect.TypeFor[dispatch.DeadlineVerdict](), reflect.TypeFor[dispatch.TaskTimesFrom](), reflect.TypeFor[dispatch.LateJob](), reflect.TypeFor[dispatch.DeadlineCures](), reflect.TypeFor[live.Admission](), reflect.TypeFor[live.Lease](), reflect.TypeFor[live.ClassAdmissions](), reflect.TypeFor[runs.Run](),
		reflect.TypeFor[pack.PackingProblem](), reflect.TypeFor[pack.PackingAnswer](), reflect.TypeFor[pack.KeptPacking](),
		reflect.TypeFor[pool.PoolProblem](), reflect.TypeFor[pool.PoolPlan](), reflect.TypeFor[pool.PoolEvaluation](), reflect.TypeFor[pool.PoolCourseProblem](), reflect.TypeFor[pool.PoolCourse](), reflect.TypeFor[pool.SharePlanProblem](), reflect.TypeFor[pool.SharePlan](), reflect.TypeFor[pool.InstanceCatalogues](),
		reflect.TypeFor[live.LiveSettings](), reflect.TypeFor[live.Heartbeat](), reflect.TypeFor[live.HeartbeatAnswer](), reflect.TypeFor[live.LiveNode](), reflect.TypeFor[live.LiveJobRequest](), reflect.TypeFor[live.LiveJob](), reflect.TypeFor[live.TasksPrediction](), reflect.TypeFor[live.Completable](), reflect.TypeFor[live.LiveDecision](), reflect.TypeFor[live.PolicyTrialRequest](), reflect.TypeFor[live.PolicyTrial](),
		reflect.TypeFor[inputs.Written](), reflect.TypeFor[inputs.WeeklyForecast](), reflect.TypeFor[clusters.WeekPattern](), reflect.TypeFor[dispatch.Knowledge](),
	} {
		collectTypes(t)
	}
}

// collectTypes adds a named type of ours and all types it contains.
func collectTypes(t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		collectTypes(t.Elem())
		return
	}
	if !strings.HasPrefix(t.PkgPath(), "example.org/headroom/") || overlaid[t.String()] != nil {
		return
	}
	overlaid[t.String()] = t
	if t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			collectTypes(t.Field(i).Type)
		}
	}
}

// A schema that the overlay calls a Go type has exactly the members of that type's JSON, of the same
// kinds; so nothing is mapped and nothing can be forgotten.
func TestSchemasAreTheGoTypes(t *testing.T) {
	doc := contract(t)
	of := maps.Clone(goTypes)
	for schema, name := range overlay(t) {
		if of[schema] = overlaid[name]; of[schema] == nil {
			t.Errorf("the overlay makes %s of schema %s, a type this test does not know", name, schema)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		s, goType := doc.Components.Schemas[name].Value, of[name]
		switch {
		case goType == nil && (s.Type.Is("object") || len(s.AllOf) > 0) && name != "Token" && name != "Health":
			t.Errorf("schema %s is no Go type; add it to the overlay", name)
		case goType != nil && goType.Kind() == reflect.Struct && goType != reflect.TypeFor[money.Amount]() && goType != reflect.TypeFor[capacity.SlotsPerVM](): // which write themselves
			want, got := membersOf(goType), propertiesOf(s)
			if strings.HasSuffix(name, "Question") {
				want["kind"] = "string" // which capacity reads into the choice of a type
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("schema %s (+) is not %s (-):\n%s", name, goType, diff)
			}
		}
	}
}

func overlay(t *testing.T) map[string]string {
	text, err := os.ReadFile("../../../openapi/server/overlay.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Actions []struct {
			Target string
			Update map[string]any
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	types := map[string]string{}
	schema := regexp.MustCompile(`^\$\.components\.schemas\.(\w+)$`)
	for _, a := range file.Actions {
		if m := schema.FindStringSubmatch(a.Target); m != nil {
			types[m[1]], _ = a.Update["x-go-type"].(string)
		}
	}
	return types
}

// membersOf returns the JSON members of a struct with the OpenAPI type of each.
func membersOf(t reflect.Type) map[string]string {
	members := map[string]string{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case name == "" && f.Anonymous:
			maps.Copy(members, membersOf(f.Type))
		default:
			members[name] = jsonKind(f.Type)
		}
	}
	return members
}

func jsonKind(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[time.Time]():
		return "date-time"
	case reflect.TypeFor[money.Amount](), reflect.TypeFor[decimal.Decimal]():
		return "decimal"
	case reflect.TypeFor[json.RawMessage]():
		return "any"
	}
	switch t.Kind() {
	case reflect.Float64:
		return "number"
	case reflect.Int64, reflect.Int, reflect.Uint64:
		return "integer"
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Struct, reflect.Map:
		return "object"
	}
	return "any"
}

func propertiesOf(s *openapi3.Schema) map[string]string {
	members := map[string]string{}
	for _, part := range s.AllOf {
		maps.Copy(members, propertiesOf(part.Value))
	}
	for name, p := range s.Properties {
		v := p.Value
		switch {
		case len(v.OneOf) > 0 && v.OneOf[0].Value.Type.Is("array"): // a week, which has other forms too
			members[name] = "array"
		case len(v.OneOf) > 0, strings.HasSuffix(p.Ref, "Amount"), len(v.AllOf) == 1 && strings.HasSuffix(v.AllOf[0].Ref, "Amount"):
			members[name] = "decimal"
		case len(v.AllOf) == 1 && strings.HasSuffix(v.AllOf[0].Ref, "/AnyJSON"):
			members[name] = "any"
		case len(v.AllOf) > 0:
			members[name] = "object"
		case v.Format == "date-time":
			members[name] = v.Format
		case v.Type == nil:
			members[name] = "any"
		default:
			members[name] = v.Type.Slice()[0]
		}
		if v.Type.Is("object") && len(v.Properties) == 0 && len(v.AnyOf) == 0 && v.AdditionalProperties.Schema != nil && v.AdditionalProperties.Schema.Value.IsEmpty() {
			members[name] = "any" // kept as the text it was sent as
		}
		if name == "plan" && strings.HasSuffix(p.Ref, "/Plan") {
			members[name] = "any" // a stored plan is answered as its stored text
		}
		if name == "batch" && strings.HasSuffix(p.Ref, "/Batch") || name == "packing" && s.Properties["batch"] != nil {
			members[name] = "any" // so is a stored packing, with its batch
		}
		if strings.HasSuffix(p.Ref, "/PoolBasis") || strings.HasSuffix(p.Ref, "/PoolSchedule") {
			members[name] = "any" // and a plan of a pool, with its basis
		}
	}
	return members
}

// Every kind of problem that can be answered is explained, and none that cannot.
func TestProblemsAreExplained(t *testing.T) {
	for _, k := range problemKinds {
		if h := problemHelps[k.name]; h.Meaning == "" || h.Cure == "" {
			t.Errorf("problem %s is not explained", k.name)
		}
	}
	if len(problemHelps) != len(problemKinds) {
		t.Errorf("%d problems are explained, %d can be answered", len(problemHelps), len(problemKinds))
	}
}

// The operations that a server knows are those of the contract.
func TestOperationsAreTheContracts(t *testing.T) {
	t.Parallel()
	known, err := readOperations()
	if err != nil {
		t.Fatal(err)
	}
	listed := 0
	each(contract(t), func(method, path string, item *openapi3.PathItem, op *openapi3.Operation) {
		listed++
		o := known[route{method, path}]
		if o == nil || o.ID != op.OperationID || o.Role != op.Extensions["x-role"] {
			t.Errorf("%s %s is known as %+v", method, path, o)
			return
		}
		if body := op.RequestBody; o.Sends != (body != nil) || body != nil && o.Needs != body.Value.Required {
			t.Errorf("%s: its body is known as %+v", o.ID, o.Operation)
		}
		for i, p := range slices.Concat(item.Parameters, op.Parameters) {
			if got := o.Parameters[i]; got.Name != p.Value.Name || got.About != p.Value.Description || got.Required != p.Value.Required {
				t.Errorf("%s: the parameter %s is known as %+v", o.ID, p.Value.Name, got)
			}
		}
	})
	if len(known) != listed {
		t.Errorf("%d operations are known, the contract has %d", len(known), listed)
	}
}

// riddle matches a sentence that names a thing by a question: "What it costs.", "The bill is what VMs cost."
var riddle = regexp.MustCompile(`^(What|How|Who|Where|When) [^?]*$|\b(is|are) (what|how|who|whether|where|when) `)

// Descriptions are read on the reference page and in refusals: their sentences are short, and none is a riddle.
func TestDescriptionsArePlain(t *testing.T) {
	t.Parallel()
	var whole any
	if err := yaml.Unmarshal(openapi.Document, &whole); err != nil {
		t.Fatal(err)
	}
	sentences := 0
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(at, x)
			}
		case map[string]any:
			for name, x := range v {
				text, ok := x.(string)
				if ok && (name == "description" || name == "summary") {
					for _, s := range regexp.MustCompile(`[.;!?]\s+|\n`).Split(text, -1) {
						sentences++
						if riddle.MatchString(s) || len(strings.Fields(s)) > 35 {
							t.Errorf("%s/%s: %s", at, name, s)
						}
					}
				} else if name != "example" && name != "examples" {
					walk(at+"/"+name, x)
				}
			}
		}
	}
	walk("", whole)
	if sentences < 1000 {
		t.Errorf("only %d sentences were read", sentences)
	}
}
