package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/fetch"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/service/hooks"
	"example.org/headroom/internal/service/report/reporting"
)

// failure holds a refusal of the database: the written thing, and its place in the caller's request.
type failure struct {
	cluster string
	pointer string
	item    any
	deleted bool
	err     error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// at adds the object to an error; no error stays none.
func at(cluster string, item any, err error) error {
	if err == nil {
		return nil
	}
	return &failure{cluster: cluster, item: item, err: err}
}

func atDelete(item any, err error) error {
	if err == nil {
		return nil
	}
	return &failure{item: item, deleted: true, err: err}
}

// explain turns a violated constraint, by its name, into an error with a remedy. It reads the needed facts on the
// same connection, where the change is already rolled back.
func explain(ctx context.Context, conn *pgx.Conn, err error, said *pgconn.PgError) error {
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{err: err}
	}
	if refers := references[said.ConstraintName]; f.deleted && refers != nil {
		return refers(f)
	}
	if look := neighbours[said.ConstraintName]; look != nil && f.item != nil {
		bounded, cancel := context.WithTimeout(ctx, longestLook)
		defer cancel()
		if explained := look(bounded, conn, f); explained != nil {
			return explained
		}
	}
	if rule, known := rules[said.ConstraintName]; known {
		return f.input(rule.finding())
	}
	return err
}

// rule explains a constraint that a thing violates on its own.
type rule struct {
	pointer, code, detail string
}

func (r rule) finding() *fault.Finding {
	return &fault.Finding{Pointer: r.pointer, Code: r.code, Detail: r.detail}
}

// input makes an error of findings about the written thing; without findings it returns nil.
func (f *failure) input(findings ...*fault.Finding) error {
	e := &fault.InputError{}
	for _, found := range findings {
		if found != nil {
			e.Findings = append(e.Findings, found.Move(fault.Under(f.pointer)))
		}
	}
	if e.Findings == nil {
		return nil
	}
	return e
}

// rules explains the constraints in words. The callers of the store check more and explain better; these hold for all
// writers.
var rules = map[string]rule{
	"clusters_name_check":            {"/name", "text", "The name is no cluster's; use 1 to 63 small letters, digits and hyphens inside."},
	"clusters_currency_check":        {"/currency", "text", "The currency must be three capital letters such as \"USD\"."},
	"clusters_period_check":          {"/period_s", "range", "The period must be at least one second."},
	"clusters_hold_check":            {"/hold_s", "range", "A decrease can be held back for 0 to 86,400 seconds."},
	"clusters_options_check":         {"/options", "type", "The options must be an object."},
	"vm_types_name_check":            {"/name", "text", "The name must have 1 to 200 characters."},
	"vm_types_quota_check":           {"/quota", "range", "The quota cannot be negative."},
	"prices_price_check":             {"/price", "range", "The price must be a number that is not negative."},
	"prices_term_check":              {"/until", "order", "The period must end after it starts."},
	"contracts_name_check":           {"/name", "text", "The name must have 1 to 200 characters."},
	"contracts_vms_check":            {"/vms", "range", "The number of VMs cannot be negative."},
	"contracts_price_check":          {"/price", "range", "The price must be a number that is not negative."},
	"contracts_upfront_check":        {"/upfront", "range", "The upfront payment must be a number that is not negative."},
	"contracts_billing_check":        {"/billing", "choice", "The billing must be \"used\" or \"always\"."},
	"contracts_term_check":           {"/until", "order", "The contract must end after it starts."},
	"profile_versions_name_check":    {"/name", "text", "The name must have 1 to 200 characters."},
	"profile_versions_version_check": {"/version", "range", "Versions count from 1."},
	"profile_versions_profile_check": {"/profile", "range", "Counts and times of a profile must be finite numbers that are not negative."},
	"profile_versions_stages_check":  {"/profile/stages", "one_of", "A profile has stages or the figures of maps and reduces."},
	"profile_versions_source_check":  {"/source", "type", "The source must be a JSON object and not too long."},
	"profile_versions_append_only":   {"/version", "fixed", "A profile version never changes; add the next one."},
	"classes_name_check":             {"/name", "text", "The name must have 1 to 200 characters."},
	"classes_need_check":             {"", "one_of", "Say exactly one of \"profile\", \"demand\" and \"vms_per_job\"."},
	"classes_demand_check":           {"/demand", "range", "The work must be finite and not negative, the fixed time finite."},
	"classes_vms_per_job_check":      {"/vms_per_job", "range", "The VMs per job must be a number that is not negative."},
	"classes_calibration_check":      {"/calibration", "one_of", "A calibration is of a class with a profile: a bound and a factor above 0."},
	"classes_deadline_check":         {"/deadline_s", "range", "The deadline must be a positive number of seconds."},
	"classes_target_check":           {"/target", "range", "The target must be from 0.5 to 0.9999."},
	"classes_confidence_check":       {"/confidence", "range", "The confidence must be from 0.5 to 0.999."},
	"classes_promise_check":          {"/promise", "type", "The promise must be an object."},
	"classes_due_check":              {"/due_s", "range", "The time until an execution is due must be a positive number of seconds."},
	"classes_due_at_check":           {"/due", "format", "The time of day by which executions must have ended is written such as 06:00."},
	"classes_slots_check":            {"/slots_per_vm", "range", "A VM must offer at least one map slot and one reduce slot."},
	"classes_jobs_check":             {"/jobs", "order", "The promised jobs cannot be negative or more than those asked for."},
	"classes_penalty_check":          {"/penalty", "range", "The penalty must be a number that is not negative."},
	"forecasts_hour_check":           {"/hour", "not_whole", "A forecast is for a whole hour of UTC."},
	"forecasts_arrivals_check":       {"/arrivals", "range", "The number of arrivals must be a number that is not negative."},
	"forecasts_jobs_check":           {"/jobs", "range", "The number of jobs must be a number that is not negative."},
	"vm_types_start_price_check":     {"/start_price", "range", "The price of a start must not be negative."},
	"vm_types_start_lead_check":      {"/start_lead_s", "range", "A VM can be asked for 0 to 3,600 seconds before its hour."},
	"vm_types_spot_check":            {"/spot/max_share", "range", "The share of spot VMs must be from 0 to 1."},
	"clusters_budget_check":          {"/budget", "range", "A budget's amounts must be numbers that are not negative, or null."},
	"prices_purchase_check":          {"/purchase", "choice", "A price is either on demand or spot."},
	"classes_slots_by_type_check":    {"/slots_per_vm", "range", "A VM of a type must offer from 1 to 1,000 map slots and reduce slots."},
	"classes_speed_check":            {"/speed", "range", "The speed on a VM type must be from 0 to 1,000."},
	"classes_vm_types_fkey":          {"", "unknown_name", "The class names a VM type that is not there."},
	"prices_spot_vm_type_fkey":       {"/vm_type", "unknown_name", "There is no such VM type."},
	"prices_no_spot_overlap":         {"/from", "overlap", "The period overlaps another spot price of the same VM type."},
	"prices_vm_type_fkey":            {"/vm_type", "unknown_name", "There is no such VM type."},
	"contracts_vm_type_fkey":         {"/vm_type", "unknown_name", "There is no such VM type."},
	"prices_no_overlap":              {"/from", "overlap", "The period overlaps another one of the same VM type."},
	"classes_profile_fkey":           {"/profile", "unknown_version", "There is no such version of a profile."},
	"forecasts_class_fkey":           {"/class", "unknown_name", "There is no such class."},
	"forecasts_pkey":                 {"/hour", "duplicate", "There is a forecast of this class and hour already."},
	"allowed_hosts_host_check":       {"/host", "text", "The host must have 1 to 253 characters."},
	"allowed_hosts_port_check":       {"/port", "range", "The port must be from 1 to 65535."},
	"webhooks_name_check":            {"/name", "text", "The name must have 1 to 200 characters."},
	"webhooks_url_check":             {"/url", "text", "The address must have 1 to 2000 characters."},
	"webhooks_events_check":          {"/events", "missing", "A webhook without events sends nothing; name some."},
	"webhooks_clusters_check":        {"/clusters", "missing", "A webhook for no cluster sends nothing; name clusters, or give null for all."},
	"vm_types_vcpu_check":            {"/vcpu", "range", "The number of vCPUs must be a number that is not negative."},
	"vm_types_memory_check":          {"/memory_gib", "range", "The memory must be a number of GiB that is not negative."},
	"vm_types_gpus_check":            {"/gpus", "range", "The number of GPUs cannot be negative."},
	"offers_name_check":              {"/name", "text", "The name must have 1 to 200 characters."},
	"offers_price_check":             {"/price", "range", "The price must be a number that is not negative."},
	"offers_upfront_check":           {"/upfront", "range", "The upfront payment must be a number that is not negative."},
	"offers_billing_check":           {"/billing", "choice", "The billing must be \"used\" or \"always\"."},
	"offers_term_check":              {"/term_years", "one_of", "The offer must have a term, in hours or in years."},
	"offers_max_check":               {"/max", "range", "The most VMs cannot be negative."},
	"offers_vm_type_fkey":            {"/vm_type", "unknown_name", "There is no such VM type."},
	"report_schedules_name_check":    {"/name", "text", "The name must have 1 to 200 characters."},
	"report_schedules_every_check":   {"/every", "choice", "A report is made every day, week or month."},
	"report_schedules_hour_check":    {"/hour", "range", "The hour must be from 0 to 23."},
	"report_schedules_covers_check":  {"/covers", "choice", "A report covers the time ahead or behind."},
	"report_schedules_format_check":  {"/format", "choice", "The format must be xlsx, csv, focus or json."},
	"report_schedules_keep_check":    {"/keep", "range", "From 1 to 1,000 reports are kept."},
	"scenarios_name_check":           {"/name", "text", "The name must have 1 to 200 characters."},
	"keys_name_check":                {"/name", "text", "The name must have 1 to 200 characters."},
	"keys_role_check":                {"/role", "choice", "The role must be viewer, planner, operator, admin or agent."},
	"keys_clusters_check":            {"/clusters", "missing", "A key for no cluster opens nothing; name clusters, or give null for all."},
}

// references explains references to a thing that was to be deleted.
var references = map[string]func(*failure) error{
	"prices_vm_type_fkey": func(f *failure) error {
		return conflict("the VM type %q still has prices; delete them first", nameOf(f.item))
	},
	"prices_spot_vm_type_fkey": func(f *failure) error {
		return conflict("the VM type %q still has spot prices; delete them first", nameOf(f.item))
	},
	"classes_vm_types_fkey": func(f *failure) error {
		return conflict("there are still classes that name the VM type %q in \"slots_per_vm\" or \"speed\"; change them first", nameOf(f.item))
	},
	"contracts_vm_type_fkey": func(f *failure) error {
		return conflict("there are still contracts for the VM type %q; delete them first", nameOf(f.item))
	},
	"offers_vm_type_fkey": func(f *failure) error {
		return conflict("there are still offers of the VM type %q; delete them first", nameOf(f.item))
	},
	"classes_profile_fkey": func(f *failure) error {
		return conflict("the profile %q is still used by a class; give its classes another profile or delete them first", nameOf(f.item))
	},
}

// neighbours explains the constraints between a thing and others, which its explanation names.
var neighbours = map[string]func(context.Context, querier, *failure) error{
	"clusters_name_key":         taken("cluster"),
	"webhooks_name_key":         taken("webhook"),
	"vm_types_name_key":         taken(vmTypes.noun),
	"contracts_name_key":        taken(contracts.noun),
	"classes_name_key":          taken(classes.noun),
	"scenarios_name_key":        taken(scenarios.noun),
	"offers_name_key":           taken(offers.noun),
	"report_schedules_name_key": taken(reportSchedules.noun),
	"offers_vm_type_fkey":       explainVMType,
	"prices_vm_type_fkey":       explainVMType,
	"prices_spot_vm_type_fkey":  explainVMType,
	"prices_no_spot_overlap":    explainOverlap,
	"classes_vm_types_fkey":     explainClassTypes,
	"contracts_vm_type_fkey":    explainVMType,
	"prices_no_overlap":         explainOverlap,
	"classes_profile_fkey":      explainProfile,
	"forecasts_class_fkey":      explainClass,
	"allowed_hosts_host_key": func(_ context.Context, _ querier, f *failure) error {
		return conflict("the server may send to %q already; to allow something else there, deny that host first", nameOf(f.item))
	},
	"profile_versions_pkey": func(_ context.Context, _ querier, f *failure) error {
		return conflict("there is a profile %q already; add a version to it, or give another name", nameOf(f.item))
	},
}

func taken(noun string) func(context.Context, querier, *failure) error {
	return func(_ context.Context, _ querier, f *failure) error {
		return conflict("there is a %s %q already; change that one, or give another name", noun, nameOf(f.item))
	}
}

func nameOf(item any) string {
	switch x := item.(type) {
	case inputs.Cluster:
		return x.Name
	case inputs.VMType:
		return x.Name
	case inputs.SignedContract:
		return x.Name
	case inputs.ProfileVersion:
		return x.Name
	case inputs.PlannedClass:
		return x.Name
	case whatif.Scenario:
		return x.Name
	case inputs.StandingOffer:
		return x.Name
	case reporting.ReportSchedule:
		return x.Name
	case hooks.Webhook:
		return x.Name
	case fetch.AllowedHost:
		return x.Label()
	}
	return ""
}

func explainClassTypes(ctx context.Context, q querier, f *failure) error {
	c, isClass := f.item.(inputs.PlannedClass)
	types, err := everything(ctx, q, &vmTypes, f.cluster)
	if err != nil || !isClass {
		return nil
	}
	return f.input(unknownTypesOf(c, types)...)
}

func explainVMType(ctx context.Context, q querier, f *failure) error {
	types, err := everything(ctx, q, &vmTypes, f.cluster)
	if err != nil {
		return nil
	}
	return f.input(unknownVMType(vmTypeOf(f.item), types))
}

func explainOverlap(ctx context.Context, q querier, f *failure) error {
	periods, err := everything(ctx, q, &prices, f.cluster)
	if err != nil {
		return nil
	}
	return f.input(overlap(f.item.(inputs.PricePeriod), periods))
}

func explainProfile(ctx context.Context, q querier, f *failure) error {
	c := f.item.(inputs.PlannedClass)
	latest, err := latestVersions(ctx, q, f.cluster)
	if err != nil || c.Profile == nil {
		return nil
	}
	return f.input(unknownProfile(*c.Profile, latest))
}

func explainClass(ctx context.Context, q querier, f *failure) error {
	known, err := everything(ctx, q, &classes, f.cluster)
	if err != nil {
		return nil
	}
	return f.input(unknownClasses(f.item.([]inputs.Forecast), known)...)
}

// everything returns all things of a kind in a cluster.
func everything[T any](ctx context.Context, q querier, k *kind[T], cluster string) ([]T, error) {
	id, err := clusterID(ctx, q, cluster)
	if err != nil {
		return nil, err
	}
	return k.query(ctx, q, k.selects, pgx.NamedArgs{"cluster": id})
}

// latestVersions returns the number of the latest version of every profile.
func latestVersions(ctx context.Context, q querier, cluster string) (map[string]int64, error) {
	id, err := clusterID(ctx, q, cluster)
	if err != nil {
		return nil, err
	}
	type row struct {
		Name   string
		Latest int64
	}
	rows, err := collect[row](ctx, q, `SELECT name, max(version) AS latest FROM profile_versions WHERE cluster_id = @cluster GROUP BY name`, pgx.NamedArgs{"cluster": id})
	latest := make(map[string]int64, len(rows))
	for _, r := range rows {
		latest[r.Name] = r.Latest
	}
	return latest, err
}
