package postgres_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/test/pgtest"
)

// ours lists constraints that no input can break: the store itself writes these columns.
var ours = []string{
	"allowed_hosts_pkey", "webhooks_pkey", "webhook_secrets_webhook_fkey", "webhook_secrets_current", "webhook_deliveries_pkey", "webhook_deliveries_webhook_fkey",
	"webhook_deliveries_state_check", "webhook_deliveries_next_check", "webhook_deliveries_claim_check",
	"admissions_cluster_fkey", "admissions_pkey", "admissions_place_check", "admissions_place_key", "admissions_ttl_check", "admission_waits_cluster_fkey", "admission_waits_pkey",
	"audit_action_check", "audit_pkey", "audit_eras_pkey", "classes_cluster_fkey", "classes_pkey", "clusters_pkey", "contracts_cluster_fkey", "contracts_pkey",
	"idempotency_fingerprint_check", "idempotency_pkey", "keys_hash_check", "keys_hash_key", "keys_pkey", "observations_cluster_fkey", "observations_pkey", "observations_plan_check", "observations_plan_vms_check", "observations_slots_check", "observations_utilization_check", "observations_vms_check",
	"plans_cluster_fkey", "plans_number_check", "plans_number_key", "removed_plans_cluster_fkey", "removed_plans_numbers_check", "removed_plans_pkey",
	"removed_pool_plans_cluster_fkey", "removed_pool_plans_numbers_check", "removed_pool_plans_pkey",
	"planning_claim_check", "planning_cluster_fkey", "planning_pin_check", "planning_pkey", "plan_turns_pkey", "plan_turns_planning_fkey", "plans_pkey", "plans_status_check", "plans_texts_check", "prices_cluster_fkey", "prices_pkey", "profile_versions_cluster_fkey", "retired_pkey", "sessions_hash_check", "sessions_key_fkey",
	"plan_reigns_pkey", "plan_reigns_planning_fkey", "plan_votes_pkey", "plan_votes_cluster_fkey", "plan_votes_state_check", "plan_votes_at_check", "report_parts_pkey", "report_parts_report_fkey", "report_schedules_cluster_fkey", "report_schedules_pkey",
	"class_calibrations_pkey", "class_calibrations_class_fkey", "cluster_schedules_pkey", "cluster_schedules_cluster_id_fkey",
	"executions_pkey", "executions_cluster_fkey", "executions_execution_key", "executions_outcome_check", "executions_form_check", "executions_times_check", "executions_seconds_check", "executions_sample_check",
	"fit_series_pkey", "fit_series_cluster_fkey", "fit_series_job_key", "fit_series_kind_check", "fit_series_counts_check", "fits_pkey", "fits_series_fkey", "fits_counts_check",
	"measurements_pkey", "measurements_series_fkey", "measurements_vms_check", "measurements_residual_check", "measurements_seconds_check", "measurements_usage_check", "measurements_kind_check",
	"packings_pkey", "packings_cluster_fkey", "packings_seconds_check", "packings_counts_check",
	"pools_pkey", "pools_cluster_fkey", "pools_machines_check", "pools_claim_check", "pool_plans_pkey", "pool_plans_cluster_fkey", "pool_plans_number_key", "storage_samples_pkey", "storage_samples_cluster_fkey", "storage_samples_gb_check",
	"live_clusters_pkey", "live_clusters_cluster_fkey", "live_nodes_pkey", "live_nodes_cluster_fkey", "live_nodes_state_check", "live_jobs_pkey", "live_jobs_cluster_fkey", "live_jobs_state_check",
	"live_runs_pkey", "live_runs_cluster_fkey", "live_runs_outcome_check", "live_runs_once", "live_memories_pkey", "live_memories_cluster_fkey", "live_learned_pkey", "live_learned_cluster_fkey", "live_learned_judgement_check", "live_learned_order", "live_measured_pkey", "live_measured_cluster_fkey", "live_heartbeats_pkey", "live_heartbeats_cluster_fkey", "servers_pkey", "servers_token_check", "drivers_pkey", "drivers_cluster_fkey", "kept_pkey", "kept_cluster_fkey", "kept_measured_pkey", "kept_measured_one_check",
	"reports_cluster_fkey", "reports_pkey", "reports_sha256_check", "reports_size_check",
	"runs_cluster_fkey", "runs_error_check", "runs_finished_check", "runs_holder_check", "runs_pkey", "runs_progress_check", "runs_result_check", "runs_state_check",
	"offers_cluster_fkey", "offers_pkey", "scenarios_changes_check", "scenarios_cluster_fkey", "scenarios_pkey", "sessions_pkey", "sessions_role_check", "sign_in_links_hash_check", "sign_in_links_pkey", "vm_types_cluster_fkey", "vm_types_pkey", "goose_db_version_pkey",
}

func TestEveryConstraintIsTold(t *testing.T) {
	t.Parallel()
	conn := raw(t, pgtest.Database(t))
	rows, err := conn.Query(t.Context(), `
		SELECT conname FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
		UNION SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indisunique AND c.relnamespace = 'public'::regnamespace`)
	check(t, err)
	var constraints []string
	for rows.Next() {
		var name string
		check(t, rows.Scan(&name))
		constraints = append(constraints, name)
	}
	check(t, rows.Err())
	told := postgres.Explained()
	for _, name := range constraints {
		if !slices.Contains(told, name) && !slices.Contains(ours, name) {
			t.Errorf("the constraint %s is not told", name)
		}
	}
	for _, name := range told {
		if !slices.Contains(constraints, name) && !strings.HasSuffix(name, "_append_only") && name != "classes_vm_types_fkey" { // which triggers hold
			t.Errorf("there is no constraint %s", name)
		}
	}
}

func TestViolationsSayWhatToChange(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := filled(t, s)
	for range 2 {
		must(s.AddProfileVersion(ctx, night, etl))(t)
	}
	cluster := func(change func(*inputs.Cluster)) error {
		c := inputs.NewCluster("c1")
		change(&c)
		_, err := s.CreateCluster(ctx, c)
		return err
	}
	vmType := func(change func(*inputs.VMType)) error {
		v := inputs.VMType{Name: "large"}
		change(&v)
		_, err := s.VMTypes().Create(ctx, night, v)
		return err
	}
	price := func(change func(*inputs.PricePeriod)) error {
		p := january
		p.From, p.Until = *january.Until, nil
		change(&p)
		_, err := s.Prices().Create(ctx, night, p)
		return err
	}
	contract := func(change func(*inputs.SignedContract)) error {
		c := threeYrs
		c.Name = "another"
		change(&c)
		_, err := s.Contracts().Create(ctx, night, c)
		return err
	}
	class := func(change func(*inputs.PlannedClass)) error {
		c := nightly
		c.Name = "another"
		change(&c)
		_, err := s.Classes().Create(ctx, night, c)
		return err
	}
	profile := func(change func(*inputs.ProfileVersion)) error {
		p := etl
		p.Name = "another"
		change(&p)
		_, err := s.CreateProfile(ctx, night, p)
		return err
	}
	forecast := func(change func(*inputs.Forecast)) error {
		f := inputs.Forecast{Class: "nightly", Hour: moment("2026-01-01T00:00:00Z")}
		change(&f)
		return putRows(ctx, s, f)
	}
	document := func(hour time.Time) error { // which has hours as they are
		d := must(s.Document(ctx, night))(t)
		d.Forecasts = []inputs.Forecast{{Class: "nightly", Hour: hour}}
		_, err := s.Apply(ctx, must(s.Cluster(ctx, night))(t).InputsVersion, d, false)
		return err
	}
	key := func(change func(*auth.Key)) error {
		_, hash := auth.NewToken(auth.KeyPrefix)
		k := auth.Key{Name: "k", Role: auth.Viewer, Hash: hash}
		change(&k)
		_, err := s.CreateKey(ctx, k)
		return err
	}
	offer := func(change func(*inputs.StandingOffer)) error {
		o := oneYear
		change(&o)
		_, err := s.Offers().Create(ctx, night, o)
		return err
	}
	minus, nan := amountOf("-1"), math.NaN()
	quota := int64(-1)
	for _, c := range []struct {
		situation string
		err       error
		pointer   string
		words     string
	}{
		{"cluster name", cluster(func(c *inputs.Cluster) { c.Name = "Big Name" }), "/name", "small letters"},
		{"currency", cluster(func(c *inputs.Cluster) { c.Currency = "usd" }), "/currency", "three capital letters"},
		{"period", cluster(func(c *inputs.Cluster) { c.PeriodSeconds = 0 }), "/period_s", "one second"},
		{"NUL", cluster(func(c *inputs.Cluster) { c.Name, c.Description = "c1", "a\x00" }), "", "cannot be stored"},
		{"a type without a name", vmType(func(v *inputs.VMType) { v.Name = "" }), "/name", "1 to 200"},
		{"a long name", vmType(func(v *inputs.VMType) { v.Name = strings.Repeat("x", 201) }), "/name", "1 to 200"},
		{"quota", vmType(func(v *inputs.VMType) { v.Quota = &quota }), "/quota", "negative"},
		{"fewer vCPUs than none", vmType(func(v *inputs.VMType) { v.VCPU = new(-1.0) }), "/vcpu", "not negative"},
		{"vCPUs that are no number", vmType(func(v *inputs.VMType) { v.VCPU = new(math.NaN()) }), "/vcpu", "not negative"},
		{"memory without end", vmType(func(v *inputs.VMType) { v.MemoryGiB = new(math.Inf(1)) }), "/memory_gib", "not negative"},
		{"fewer GPUs than none", vmType(func(v *inputs.VMType) { v.GPUs = new(int64(-1)) }), "/gpus", "negative"},
		{"an offer without a name", offer(func(o *inputs.StandingOffer) { o.Name = "" }), "/name", "1 to 200"},
		{"an offer's price", offer(func(o *inputs.StandingOffer) { o.Price = amountOf("-1") }), "/price", "not negative"},
		{"an offer's upfront payment", offer(func(o *inputs.StandingOffer) { o.Upfront = amountOf("-1") }), "/upfront", "not negative"},
		{"an offer's billing", offer(func(o *inputs.StandingOffer) { o.Billing = "x" }), "/billing", "always"},
		{"an offer without a term", offer(func(o *inputs.StandingOffer) { o.TermYears = 0 }), "/term_years", "a term"},
		{"an offer with two terms", offer(func(o *inputs.StandingOffer) { o.TermHours = 1 }), "/term_years", "a term"},
		{"an offer of fewer than none", offer(func(o *inputs.StandingOffer) { o.Max = -1 }), "/max", "negative"},
		{"a share beyond all", vmType(func(v *inputs.VMType) { v.Spot = &inputs.SpotTerms{MaxShare: 1.1} }), "/spot/max_share", "from 0 to 1"},
		{"a share that is none", vmType(func(v *inputs.VMType) { v.Spot = &inputs.SpotTerms{MaxShare: math.NaN()} }), "/spot/max_share", "from 0 to 1"},
		{"a negative budget", cluster(func(c *inputs.Cluster) { c.Name, c.Budget = "c2", &capacity.Budget{VMCost: &minus} }), "/budget", "not negative"},
		{"a spot price of no type", price(func(p *inputs.PricePeriod) { p.VMType, p.Purchase = "tiny", capacity.PurchaseSpot }), "/vm_type", `no VM type "tiny". The only VM type is "small"`},
		{"no slots on a type", class(func(c *inputs.PlannedClass) {
			c.SlotsPerVM = capacity.SlotsPerVM{ByType: map[string]capacity.SlotsPerVM{"small": {Map: 1001, Reduce: 1}}}
		}), "/slots_per_vm", "from 1 to 1,000"},
		{"slots on no type", class(func(c *inputs.PlannedClass) {
			c.SlotsPerVM = capacity.SlotsPerVM{ByType: map[string]capacity.SlotsPerVM{"smell": {Map: 1, Reduce: 1}}}
		}), "/slots_per_vm/smell", `no VM type "smell"`},
		{"a negative speed", class(func(c *inputs.PlannedClass) { c.Speed = capacity.Speed{"small": -1} }), "/speed", "from 0 to 1,000"},
		{"a speed on no type", class(func(c *inputs.PlannedClass) { c.Speed = capacity.Speed{"a/b": 1} }), "/speed/a~1b", `no VM type "a/b"`},
		{"a price of no type", price(func(p *inputs.PricePeriod) { p.VMType = "tiny" }), "/vm_type", `no VM type "tiny". The only VM type is "small"`},
		{"a negative price", price(func(p *inputs.PricePeriod) { p.Price = minus }), "/price", "not negative"},
		{"a period without length", price(func(p *inputs.PricePeriod) { p.Until = &p.From }), "/until", "end after it starts"},
		{"a contract of no type", contract(func(c *inputs.SignedContract) { c.VMType = "tiny" }), "/vm_type", `no VM type "tiny"`},
		{"a contract without a name", contract(func(c *inputs.SignedContract) { c.Name = "" }), "/name", "1 to 200"},
		{"negative VMs", contract(func(c *inputs.SignedContract) { c.VMs = -1 }), "/vms", "negative"},
		{"a contract's price", contract(func(c *inputs.SignedContract) { c.Price = minus }), "/price", "not negative"},
		{"upfront", contract(func(c *inputs.SignedContract) { c.Upfront = minus }), "/upfront", "not negative"},
		{"billing", contract(func(c *inputs.SignedContract) { c.Billing = "x" }), "/billing", `"used" or "always"`},
		{"a contract that ends first", contract(func(c *inputs.SignedContract) { c.From, c.Until = c.Until, c.From }), "/until", "end after it starts"},
		{"a profile without a name", profile(func(p *inputs.ProfileVersion) { p.Name = "" }), "/name", "1 to 200"},
		{"negative tasks", profile(func(p *inputs.ProfileVersion) { p.Profile.MapTasks = -1 }), "/profile", "not negative"},
		{"not a number", profile(func(p *inputs.ProfileVersion) { p.Profile.ReduceAvgSeconds = nan }), "/profile", "finite"},
		{"infinite", profile(func(p *inputs.ProfileVersion) { p.Profile.OverheadSeconds = math.Inf(1) }), "/profile", "finite"},
		{"stages and maps", profile(func(p *inputs.ProfileVersion) {
			p.Profile.Stages = []capacity.Stage{{Tasks: 2, AvgSeconds: 1, MaxSeconds: 1}}
		}), "/profile/stages", "stages or the figures"},
		{"no stages", profile(func(p *inputs.ProfileVersion) { p.Profile = capacity.Profile{Stages: []capacity.Stage{}} }), "/profile/stages", "stages or the figures"},
		{"a source that is no object", profile(func(p *inputs.ProfileVersion) { p.Source = json.RawMessage(`[1]`) }), "/source", "JSON object"},
		{"a calibration of nothing", class(func(c *inputs.PlannedClass) { c.Calibration = &capacity.Calibration{Bound: capacity.AverageBound} }), "/calibration", "factor above 0"},
		{"a calibration of an unknown bound", class(func(c *inputs.PlannedClass) { c.Calibration = &capacity.Calibration{Bound: "x", Factor: 1} }), "/calibration", "bound and a factor"},
		{"a calibration that is no number", class(func(c *inputs.PlannedClass) {
			c.Calibration = &capacity.Calibration{Bound: capacity.LowerBound, Factor: nan}
		}), "/calibration", "bound and a factor"},
		{"a calibration without a profile", class(func(c *inputs.PlannedClass) {
			c.Profile, c.VMsPerJob, c.Calibration = nil, gamma("1"), &capacity.Calibration{Bound: capacity.LowerBound, Factor: 1}
		}), "/calibration", "class with a profile"},
		{"no such profile", class(func(c *inputs.PlannedClass) { c.Profile = &inputs.ProfileRef{Name: "x"} }), "/profile/name", `no profile "x". The only profile is "etl"`},
		{"no such version", class(func(c *inputs.PlannedClass) { c.Profile = &inputs.ProfileRef{Name: "etl", Version: 9} }), "/profile/version", "no version 9; its versions are 1 to 3"},
		{"a class without a name", class(func(c *inputs.PlannedClass) { c.Name = "" }), "/name", "1 to 200"},
		{"no need", class(func(c *inputs.PlannedClass) { c.Profile = nil }), "", "exactly one"},
		{"two needs", class(func(c *inputs.PlannedClass) { c.VMsPerJob = gamma("1") }), "", "exactly one"},
		{"demand", class(func(c *inputs.PlannedClass) { c.Profile, c.Demand = nil, &capacity.Demand{MapWorkSeconds: nan} }), "/demand", "finite"},
		{"gamma", class(func(c *inputs.PlannedClass) { c.Profile, c.VMsPerJob = nil, gamma("-1") }), "/vms_per_job", "not negative"},
		{"deadline", class(func(c *inputs.PlannedClass) { c.DeadlineSeconds = 0 }), "/deadline_s", "positive"},
		{"due", class(func(c *inputs.PlannedClass) { c.DueSeconds = -1 }), "/due_s", "positive"},
		{"slots", class(func(c *inputs.PlannedClass) { c.SlotsPerVM.Map = 0 }), "/slots_per_vm", "one map slot"},
		{"jobs", class(func(c *inputs.PlannedClass) { c.Jobs.Min = 11 }), "/jobs", "asked for"},
		{"penalty", class(func(c *inputs.PlannedClass) { c.Penalty = minus }), "/penalty", "not negative"},
		{"half an hour", document(moment("2026-01-01T00:01:00Z")), "/hour", "whole hour"},
		{"negative jobs", forecast(func(f *inputs.Forecast) { f.Jobs = -1 }), "/rows/jobs", "not negative"},
		{"no such class", forecast(func(f *inputs.Forecast) { f.Class = "x" }), "/rows/0/class", `no class "x"`},
		{"a key without a name", key(func(k *auth.Key) { k.Name = "" }), "/name", "1 to 200"},
		{"role", key(func(k *auth.Key) { k.Role = "root" }), "/role", "viewer, planner"},
		{"a key for no cluster", key(func(k *auth.Key) { k.Clusters = []string{} }), "/clusters", "null for all"},
	} {
		t.Run(c.situation, func(t *testing.T) { refused2(t, c.err, c.pointer, c.words) })
	}
	kindOf(t, vmType(func(v *inputs.VMType) { v.Name = "small" }), fault.Conflict, `VM type "small" already`)
	kindOf(t, contract(func(c *inputs.SignedContract) { c.Name = "three-year" }), fault.Conflict, `contract "three-year" already`)
	kindOf(t, class(func(c *inputs.PlannedClass) { c.Name = "nightly" }), fault.Conflict, `class "nightly" already`)
	kindOf(t, profile(func(p *inputs.ProfileVersion) { p.Name = "etl" }), fault.Conflict, `profile "etl" already`)
}

// refused2 is like refused, but accepts a plain sentence of kind Invalid if no pointer is possible.
func refused2(t *testing.T, err error, pointer string, words string) {
	t.Helper()
	if words == "cannot be stored" {
		kindOf(t, err, fault.Invalid, words)
		return
	}
	refused(t, err, pointer, words)
}

func TestOverlappingPricesSayWhereThereIsRoom(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := filled(t, s)
	open := january
	open.From, open.Until = moment("2026-06-01T00:00:00Z"), nil
	stored := must(s.Prices().Create(ctx, night, open))(t)
	for _, c := range []struct{ situation, from, until, pointer, value, words string }{
		{"begins inside", "2026-01-15T00:00:00Z", "2026-03-01T00:00:00Z", "/from", "2026-02-01T00:00:00Z", "from 2026-01-01T00:00:00Z until 2026-02-01T00:00:00Z at 0.20. It could start at 2026-02-01"},
		{"ends inside", "2026-03-01T00:00:00Z", "2026-07-01T00:00:00Z", "/until", "2026-06-01T00:00:00Z", "It could end at 2026-06-01"},
		{"has no end", "2026-03-01T00:00:00Z", "", "/until", "2026-06-01T00:00:00Z", "from 2026-06-01T00:00:00Z on"},
		{"begins in an open one", "2026-07-01T00:00:00Z", "", "/from", "", "End that one at 2026-07-01"},
		{"lies within", "2026-01-10T00:00:00Z", "2026-01-11T00:00:00Z", "/from", "", "End that one at 2026-01-10"},
		{"is the same", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "/from", "", "Change that one instead"},
	} {
		t.Run(c.situation, func(t *testing.T) {
			p := january
			p.From, p.Until = moment(c.from), nil
			if c.until != "" {
				p.Until = until(c.until)
			}
			_, err := s.Prices().Create(ctx, night, p)
			refused(t, err, c.pointer, c.words)
			hint := err.(*fault.InputError).Findings[0].Hint
			if c.value != "" && (hint.Pointer != c.pointer || !hint.Value.(time.Time).Equal(moment(c.value))) {
				t.Errorf("hint %+v, want %s at %s", hint, c.value, c.pointer)
			}
		})
	}
	// A period does not overlap itself, the next one, or another type's.
	open.From = *january.Until
	must(s.Prices().Replace(ctx, night, stored.ID, 1, open))(t)
	must(s.VMTypes().Create(ctx, night, inputs.VMType{Name: "large"}))(t)
	other := january
	other.VMType = "large"
	must(s.Prices().Create(ctx, night, other))(t)
	// Nor a period of another cluster's type of the same name.
	must(s.CreateCluster(ctx, inputs.NewCluster("other")))(t)
	must(s.VMTypes().Create(ctx, "other", small))(t)
	must(s.Prices().Create(ctx, "other", january))(t)
}
