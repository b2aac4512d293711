// Made of openapi.yaml by scripts/contract; make generate makes it anew.

export type AddedSupply = {
  contract?: SupplyContract;
  slots_per_vm?: Record<string, SlotsOnVM>;
  speed?: Record<string, number>;
  vm_type?: VMTypeSupply;
};

export type Admission = {
  admitted: boolean;
  admitted_at?: string;
  admitted_by?: string;
  class: string;
  code?: RefusalReason;
  deadline?: DeadlineVerdict;
  deadline_at?: string;
  expires_at?: string;
  facts?: Array<Fact>;
  holder?: string;
  id?: string;
  limit: number;
  plan_number: number;
  reason?: string;
  retry_after_s?: number;
  running: number;
  ttl_s?: number;
  wait_until?: string;
};

export type AdmissionMode = "paper" | "strict";

export type AdmissionRequest = {
  class: Name;
  deadline_s?: number;
  holder?: string;
  maps?: number;
  reduces?: number;
  ttl_s?: number;
};

export type AllowedHost = {
  created_at?: string;
  created_by?: string;
  host: string;
  http?: boolean;
  id?: string;
  networks?: Array<string>;
  port?: number;
};

export type AllowedHostList = {
  items: Array<AllowedHost>;
  next_cursor: NextCursor;
};

export type Amount = (string);

export type AnyJSON = (unknown | null | Array<unknown> | string | boolean);

export type Applied = {
  changes: Array<Change>;
  created: boolean;
  inputs_version: number;
  warnings?: Array<Warning>;
};

export type AskedBudget = {
  amount: Money;
  currency?: string;
  of?: "vm_cost" | "total";
  per?: "period" | "hour" | "month";
};

export type AskedScenario = {
  changes?: Array<ScenarioChange>;
  name?: string;
  note?: string;
  saved?: string;
};

export type Assignment = {
  assignment: number;
  attempt: number;
  class?: string;
  figures?: Array<DecisionFigure>;
  in_class?: InClass;
  job: number;
  job_name: string;
  kind: "map" | "reduce";
  local?: boolean;
  of?: string;
  reason: string;
  rule: string;
  task: number;
  tie?: Tie;
};

export type AssumedAnswer = {
  assume: "last_week_repeats" | "last_month_repeats" | "flat" | "ends";
  best: Array<number> | null;
  best_bill: MaybeAmount;
  best_value_refused: MaybeAmount;
  gap: number;
  obligation: (Amount);
  recommended_bill: MaybeAmount;
  recommended_cost: (MaybeAmount);
};

export type Assumption = {
  about: "deadline" | "calibration" | "slots" | "runs" | "machines" | "jobs" | "forecast";
  detail: string;
};

export type Attempt = {
  at: string;
  conflicts?: Array<Finding>;
  detail: string;
  failed: boolean;
  reason: string;
} | null;

export type AuditEntry = {
  action: string;
  after: (AnyJSON);
  at: string;
  before: (AnyJSON);
  by: string;
  cluster: string;
  id: string;
  key_id: string;
  kind: string;
  name: string;
};

export type AuditList = {
  items: Array<AuditEntry>;
  next_cursor: NextCursor;
};

export type Batch = {
  jobs: Array<BatchJob>;
  machines: Machines;
  options?: PackingOptions;
};

export type BatchHost = {
  ceiling_cores?: number;
  cgroup?: string;
  interactive_weight?: number;
};

export type BatchJob = {
  count?: number;
  deadline_s?: number;
  fit?: "log" | "nls";
  measurements?: Array<VMMeasurement>;
  min_vms?: number;
  model?: PowerModel;
  name: string;
  release_s?: number;
  role?: "plain" | "host" | "guest";
  usage?: JobUsage;
};

export type BelowPromise = {
  first: string;
  hours: number;
  least: number;
  promised: number;
};

export type Better = {
  jobs: Array<number>;
  objective: Amount;
  vms: number;
};

export type BillSplit = {
  decisions: Amount;
  from: Amount;
  to: Amount;
  values: Amount;
};

export type Billing = "used" | "always";

export type BothFigures = {
  from: number;
  to: number;
};

export type BoundsAnswer = (PhaseAnswer | TwoJobsAnswer | SharedPhaseAnswer | JobAnswer);

export type BoundsQuestion = (PhaseQuestion | TwoJobsQuestion | SharedPhaseQuestion | JobQuestion);

export type Budget = {
  total?: MaybeMoney;
  vm_cost?: MaybeMoney;
};

export type BusySlots = {
  map: number;
  reduce: number;
};

export type CalibrateRequest = {
  coverage?: number;
  executions: Array<MeasuredExecution>;
  profile: Execution;
};

export type Calibration = {
  bound: "lower" | "average" | "upper";
  factor: number;
};

export type CalibrationAdoption = {
  adopted_at: string;
  adopted_by: string;
  bound: "lower" | "average" | "upper";
  coverage: number;
  drift: Drift;
  exceeded: number;
  executions: number;
  factor: number;
  faster: number;
  job: string;
  median_ratio: number;
  profile: ProfileRef;
  until: string;
};

export type CalibrationBand = {
  above: number;
  below: number;
  executions: number;
  from_slots: number;
  mean_bias: number;
  median_bias: number;
  to_slots: number;
  within: number;
  worst: (CalibrationMiss) | null;
};

export type CalibrationFactor = {
  bound: "lower" | "average" | "upper";
  factor: number;
  holds: number;
  mean_s: number;
  running_factor: number | null;
};

export type CalibrationFit = {
  above: number;
  below: number;
  executions: number;
  mean_bias: number;
  median_bias: number;
  within: number;
  worst: (CalibrationMiss) | null;
};

export type CalibrationMiss = {
  at: string;
  bound_s: number;
  id: string;
  off: number;
  seconds: number;
};

export type CalibrationReport = {
  bands: Array<CalibrationBand>;
  coverage: number;
  factors: Array<CalibrationFactor>;
  facts: Array<Fact>;
  fit: CalibrationFit;
  from: string | null;
  left_out: number;
  recommended: (CalibrationFactor) | null;
  tested: (CalibrationTest) | null;
  until: string | null;
  waiting: (CalibrationWaiting) | null;
  warnings: Array<Warning>;
};

export type CalibrationRequest = {
  bound?: "lower" | "average" | "upper";
  coverage?: number;
  factor?: number;
  from?: string;
  job?: string;
  until?: string;
};

export type CalibrationTest = {
  chance: number;
  coverage: number;
  executions: number;
  held: number;
};

export type CalibrationWaiting = {
  executions: number;
  p50_s: number;
  p50_share: number;
  p90_s: number;
};

export type CapacityPrice = {
  high: MaybeAmount;
  low: Amount;
};

export type Case = {
  age_s?: number;
  balance?: number;
  cpu_pct?: number;
  cpus?: number;
  held?: number;
  kind?: "map" | "reduce";
  load1?: number;
  maps?: number;
  maps_done?: number;
  name: string;
  numbers?: Record<string, number>;
  promised?: number;
  revenue?: number;
  running?: number;
  usage?: TaskUsage;
  words?: Record<string, string>;
  worth?: number;
};

export type CatalogueType = {
  accelerator: boolean;
  compute_units?: number;
  core: boolean;
  disk_gb?: number;
  memory_gib?: number;
  most?: number;
  name: string;
  per_compute_unit_month: Money;
  per_gb_month: Money;
  per_hour: Money;
  slots: number;
  startup_hours?: number;
};

export type Change = {
  action: "create" | "update" | "delete";
  fields: Array<FieldChange>;
  kind: string;
  name: string;
};

export type Check = {
  detail: string;
  name: string;
  outcome: Outcome;
};

export type Class = {
  calibration?: Calibration;
  confidence?: number;
  created_at?: string;
  deadline_s?: number;
  demand?: Demand;
  drift?: (Drift);
  due?: string;
  due_s?: number;
  jobs: JobRange;
  name: Name;
  penalty: Money;
  profile?: ProfileRef;
  promise?: Promise;
  slots_per_vm?: SlotsPerVM;
  speed?: Speed;
  target?: number;
  updated_at?: string;
  version?: number;
  vms_per_job?: Decimal;
  warnings?: Array<Warning>;
};

export type ClassAdmissions = {
  class: string;
  free: number;
  limit: number;
  next_expiry: string | null;
  plan_number: number;
  running: number;
};

export type ClassAdmissionsList = {
  items: Array<ClassAdmissions>;
  next_cursor: NextCursor;
};

export type ClassArrivals = {
  below_promise?: BelowPromise;
  earlier_job_hours: number;
  jobs: number;
  later_job_hours: number;
  later_vm_hours: number;
  run_s: number;
  work_vm_hours: number;
};

export type ClassBatch = {
  jobs?: Array<ClassJob>;
  machines: ClassMachines;
  options?: PackingOptions;
};

export type ClassCalibration = {
  adoption: (CalibrationAdoption) | null;
  bands: Array<CalibrationBand>;
  class: string;
  coverage: number;
  factors: Array<CalibrationFactor>;
  facts: Array<Fact>;
  fit: CalibrationFit;
  from: string | null;
  in_use: (Calibration) | null;
  job: string;
  left_out: number;
  profile: ProfileRef;
  recommended: (CalibrationFactor) | null;
  tested: (CalibrationTest) | null;
  unfit: number;
  until: string | null;
  waiting: (CalibrationWaiting) | null;
  warnings: Array<Warning>;
};

export type ClassChange = {
  from: (ClassPlan) | null;
  name: string;
  to: (ClassPlan) | null;
};

export type ClassJob = {
  class: string;
  count?: number;
  deadline_s?: number;
  fit?: "log" | "nls";
  min_vms?: number;
  release_s?: number;
  role?: "plain" | "host" | "guest";
};

export type ClassList = {
  items: Array<Class>;
  next_cursor: NextCursor;
};

export type ClassMachines = {
  count?: number;
  disks: number;
  hosts_per_extra?: number;
  penalty?: number;
};

export type ClassMade = {
  arrivals: string;
  assumed: Array<Assumption>;
  class: Class;
  job: string;
  median_seconds: number | null;
  runs: number;
};

export type ClassOnType = {
  admitted: number;
  slots: Slots;
  time_s: Times;
  vm_type: string;
  vms: number;
  vms_per_job: number;
};

export type ClassOutcome = {
  admitted: BothFigures;
  name: string;
  reason: string;
  vms: BothFigures;
};

export type ClassPlan = {
  admitted: number;
  break_even_penalty: MaybeAmount;
  flips: Flips;
  name: string;
  one_less?: JobChange;
  one_more?: JobChange;
  promise?: Promise;
  reason: string;
  refused: number;
  slots: Slots;
  stays?: Stays;
  time_s: Times;
  types?: Array<ClassOnType>;
  verdict: "impossible" | "full" | "none" | "minimum" | "partial";
  vms: number;
  vms_per_job: number;
};

export type ClassShare = {
  admitted: number;
  refused: number;
  vms: Array<number>;
};

export type ClassSlots = {
  class: string;
  map?: number;
  reduce?: number;
};

export type ClassSplit = {
  admitted: JobsSplit;
  bill: BillSplit;
  decisions: Amount;
  from: Amount;
  name: string;
  to: Amount;
  values: Amount;
};

export type ClassTotal = {
  admitted_job_hours: number;
  arrivals?: ClassArrivals;
  asked_vm_hours: number;
  name: string;
  penalties: Amount;
  refused_job_hours: number;
};

export type ClassesFromHistory = {
  after?: string;
  dry_run?: boolean;
  jobs?: Array<JobToPlan>;
  slots?: number;
  until?: string;
};

export type ClassesMade = {
  assumed: Array<Assumption>;
  classes: Array<ClassMade>;
  dry_run: boolean;
  left_out: Refusals;
  more_jobs: number;
  next: string;
  until: string;
};

export type ClassifiedCase = {
  expected_utility: number;
  good: boolean;
  name: string;
  p_good: number;
  utility: number;
};

export type ClassifyAnswer = {
  cases: Array<ClassifiedCase>;
};

export type ClassifyRequest = {
  cases: Array<Case>;
  knowledge?: PriorKnowledge;
  policy?: Policy;
  running_tasks?: number;
};

export type Cluster = {
  budget?: Budget;
  created_at?: string;
  currency?: string;
  description?: string;
  hold_s?: number;
  inputs_version?: number;
  name: string;
  options?: Options;
  period_s?: number;
  time_zone?: string;
  updated_at?: string;
  version?: number;
};

export type ClusterHorizonRequest = {
  assume?: "last_week_repeats" | "last_month_repeats" | "flat" | "ends";
  detail?: "summary" | "periods" | "classes";
  from?: string;
  scenario?: (AskedScenario);
  until?: string;
  with_waiting?: boolean;
};

export type ClusterList = {
  items: Array<Cluster>;
  next_cursor: NextCursor;
};

export type ClusterPoolProblem = {
  currency?: string;
  hours: number;
  jobs: Array<PoolJob>;
  mix?: PoolMix;
  options?: PoolOptions;
  startup_hours?: number;
  storage?: PoolStorage;
  types?: Array<PoolType>;
};

export type ClusterPurchaseRequest = {
  assume?: "last_week_repeats" | "last_month_repeats" | "flat" | "ends";
  detail?: "summary" | "periods" | "classes";
  factors?: Array<number>;
  from?: string;
  gap?: number;
  leave_out?: Array<"spot" | "budget">;
  named?: Array<string>;
  offers?: Array<PurchaseOffer>;
  scenario?: (AskedScenario);
  until?: string;
  vm_type?: string;
  with_waiting?: boolean;
};

export type ClusterQuestionRequest = {
  at?: string;
  budget?: AskedBudget;
  class?: string;
  extra_percent?: number;
  question: "most_for_budget" | "cheapest_for_all" | "one_more_job" | "cheapest_deadline";
};

export type ClusterReport = {
  at: string;
  by: string;
  covers: ReportCovers;
  created_at: string;
  error: (RunError) | null;
  every: ReportEvery;
  file: (ReportFile) | null;
  format: ReportFormat;
  from: string;
  id: string;
  made_at: string | null;
  schedule: string | null;
  state: RunState;
  until: string;
};

export type ClusterReportList = {
  items: Array<ClusterReport>;
  next_cursor: NextCursor;
};

export type ClusterScheduleRequest = {
  budgets?: Array<ScheduleBudget>;
  from?: string;
  scenario?: (AskedScenario);
  until?: string;
};

export type ClusterScheduleSimulationRequest = {
  budgets?: Array<ScheduleBudget>;
  from?: string;
  options?: ScheduleSimulationOptions;
  scenario?: (AskedScenario);
  until?: string;
};

export type ClusterSimulationRequest = {
  options?: SimulationOptions;
  scenario?: AskedScenario;
};

export type ClusterSweepRequest = {
  at?: string;
  changes?: Array<ScenarioChange>;
  curve?: boolean;
  plan?: number;
  vary: Array<Vary>;
};

export type ClusterTargetsRequest = {
  options?: TargetOptions;
};

export type ClusterWaitingRequest = {
  budgets?: Array<ScheduleBudget>;
  from?: string;
  scenario?: (AskedScenario);
  schedules?: boolean;
  until?: string;
  vary: Array<Vary>;
};

export type ClusterWhatIfRequest = {
  at?: string;
  detail?: "full" | "classes" | "summary";
  plan?: number;
  scenarios: Array<AskedScenario>;
};

export type Coefficients = {
  average: Array<number>;
  lower: Array<number>;
  upper: Array<number>;
};

export type ComparedFigure = {
  difference: (Estimate) | null;
  half_width: number | null;
  mean: number;
};

export type ComparedPolicy = {
  class: string;
  ended: number;
  judged: number;
  last_end_s: ComparedFigure;
  met: ComparedFigure;
  missed: number;
  policy: string;
  rejected: number;
  response_s: ComparedFigure;
  task_s: ComparedFigure;
  vm_type?: string;
};

export type Completable = {
  on_track: boolean;
  tasks: number;
  whole_tasks: number;
};

export type Contract = {
  billing?: Billing;
  created_at?: string;
  from: string;
  name: Name;
  price: Money;
  until: string;
  updated_at?: string;
  upfront?: Money;
  version?: number;
  vm_type: Name;
  vms: number;
};

export type ContractEnd = {
  ends: string;
  name: string;
  vms: number;
} | null;

export type ContractList = {
  items: Array<Contract>;
  next_cursor: NextCursor;
};

export type ContractTotal = {
  hours: number;
  idle_share: number | null;
  idle_vm_hours: number;
  name: string;
  reserved: Amount;
  reserved_idle: Amount;
  upfront: Amount;
  used_vm_hours: number;
  utilisation: number | null;
  vm_type?: string;
  vms: number;
};

export type ContractUse = {
  name: string;
  used: number;
  vm_type?: string;
  vms: number;
};

export type ContractWorth = {
  name: string;
  worth: Amount;
};

export type CorePolicy = {
  floor_ms?: number;
  kind: "alone" | "background" | "nonpreemptive" | "fair" | "anti_starvation";
  slice_ms?: number;
  window_ms?: number;
};

export type Cost = {
  bill: Amount;
  currency: string;
  on_demand: Amount;
  penalties: Amount;
  per_hour: Amount;
  per_month: Amount;
  period_s: number;
  reserved: Amount;
  reserved_idle: Amount;
  spot?: Amount;
  total: Amount;
};

export type CountChange = {
  change: number;
  from: number;
  name: string;
  to: number;
};

export type CreatedKey = (Key & {
    token?: string;
  });

export type CreatedWebhook = {
  clusters: Array<string> | null;
  created_at: string;
  disabled_reason?: string;
  enabled: boolean;
  events: Array<WebhookEvent>;
  failing_since?: string | null;
  id: string;
  name: Name;
  secret?: string;
  updated_at: string;
  url: string;
  version: number;
};

export type CurrentPlan = (PlanRecord & {
    freshness: Freshness;
  });

export type CurrentPoolPlan = (PoolPlanRecord & {
    freshness: PoolFreshness;
  });

export type CurvePoint = {
  at: number;
  cost: Amount;
  margin: string;
  slope: MaybeAmount;
};

export type Cutoff = "clock";

export type DataNodesAnswer = {
  cap_mb_s: number;
  count: number;
  readers: Array<DataReading>;
  warnings: Array<Warning>;
};

export type DataNodesLoad = {
  cap_mb_s: number;
  count?: number;
  readers: Array<DataReader>;
};

export type DataReader = {
  name: string;
  normed?: number;
  read_mb_s: number;
};

export type DataReading = {
  mb_s: number;
  name: string;
  normed: number;
  read_mb_s: number;
  saturated_at: number | null;
};

export type DataSource = {
  at?: string;
  data_gb: number;
  detail: string;
  from: "storage_samples" | "settings" | "missing";
  gb_per_hour: number;
  growth_from: "storage_samples" | "jobs" | "missing";
  measured_from?: string;
  measured_until?: string;
  samples: number;
};

export type DayJobs = Array<number | null>;

export type DeadlineCost = {
  bill: Amount;
  cost: Amount;
  deadline: number;
  earlier: number;
  extra: Amount;
  status: Status;
  value_refused: Amount;
  vms: number;
  what: "given" | "cheapest" | "least" | "earlier";
};

export type DeadlineCures = {
  deadline_s: number;
  dedicated_slots: number;
  maps: number;
};

export type DeadlineVerdict = {
  accepted: number;
  alone_s: number;
  assumed: boolean;
  cures?: DeadlineCures;
  deadline_s: number;
  demand_s: number;
  kept: boolean;
  late_s: number;
  latest_s: number;
  missed: Array<LateJob>;
  mode: AdmissionMode;
  proved: boolean;
  task_s: number;
  times: Array<TaskTimesFrom>;
  uncounted: number;
  unproved: number;
  usable_slots: number;
};

export type DecideAnswer = {
  decisions: Array<SlotDecision>;
};

export type DecideRequest = {
  classes?: Array<SnapshotClass>;
  history?: DecisionHistory;
  jobs: Array<SnapshotJob>;
  nodes?: Array<SnapshotNode>;
  now_s?: number;
  policies?: Array<Policy>;
  running?: Array<RunningTasks>;
  separate?: boolean;
  shares?: Array<SnapshotShare>;
  slot: FreeSlot;
};

export type Decimal = (string);

export type DecisionFigure = {
  name: string;
  value: number;
};

export type DecisionHistory = {
  knowledge?: PriorKnowledge;
  skips?: Array<SkippedTurns>;
};

export type Deleted = {
  deleted: number;
};

export type Delivery = {
  at: string;
  attempts: Array<DeliveryAttempt>;
  cluster: string;
  delivered_at: string | null;
  detail: string;
  event: Event;
  event_id: string;
  id: string;
  next_at: string | null;
  state: DeliveryState;
};

export type DeliveryAttempt = {
  at: string;
  duration_s: number;
  error: string;
  response: string;
  status: number;
};

export type DeliveryList = {
  items: Array<Delivery>;
  next_cursor: NextCursor;
};

export type DeliveryState = "pending" | "delivered" | "failed";

export type Demand = {
  fixed_s: number;
  map_work_s: number;
  reduce_work_s: number;
};

export type Difference = {
  classes: Array<ClassChange>;
  cost: Array<MoneyChange>;
  inputs: Array<FieldChange>;
  sentence: string;
  vms: Array<CountChange>;
};

export type Document = {
  classes?: Array<Class>;
  cluster: Cluster;
  contracts?: Array<Contract>;
  forecasts?: Array<Forecast>;
  offers?: Array<StandingOffer>;
  prices?: Array<Price>;
  profiles?: Array<Profile>;
  vm_types?: Array<VMType>;
};

export type Drift = {
  detail: string;
  exceeded: number;
  executions: number;
  expected: number;
  facts?: Array<Fact>;
  since: string | null;
  state: "unchanged" | "slower" | "faster";
};

export type Driver = {
  engine: string;
  expires_at: string;
  held: boolean;
  holder: string;
};

export type DriverClaim = {
  holder: string;
  ttl_s: number;
};

export type Empty = unknown;

export type EndPoint = {
  best: Array<number> | null;
  best_bill: (MaybeAmount);
  best_cost: MaybeAmount;
  bill: (MaybeAmount);
  cost: MaybeAmount;
  ends: string;
  factor: number;
  gap: number;
  obligation: (Amount);
  regret: MaybeAmount;
  today_bill: (MaybeAmount);
  today_cost: MaybeAmount;
};

export type Estimate = {
  half_width: number | null;
  mean: number;
};

export type Event = "plan.changed" | "plan.failed" | "run.finished" | "report.made" | "ping";

export type EventPlan = {
  bill_per_hour: Amount;
  cost_per_hour: Amount;
  currency: string;
  id: string;
  number: number;
  status: Status;
  value_refused_per_hour: Amount;
  vms: EventVMs;
  vms_per_hour: Amount;
};

export type EventRun = {
  error: string;
  id: string;
  kind: string;
  state: RunState;
};

export type EventVMs = {
  on_demand: number;
  reserved: number;
  spot?: number;
  total: number;
};

export type Execution = {
  first_shuffle_avg_s?: number;
  first_shuffle_max_s?: number;
  map_avg_s?: number;
  map_max_s?: number;
  map_tasks?: number;
  overhead_s?: number;
  reduce_avg_s?: number;
  reduce_max_s?: number;
  reduce_tasks?: number;
  shuffle_avg_s?: number;
  shuffle_max_s?: number;
  stages?: Array<Stage>;
};

export type ExecutionBatch = {
  executions: Array<ExecutionRecord>;
};

export type ExecutionRecord = {
  chain?: (HistoryChain) | null;
  execution?: string;
  finished_at?: string | null;
  form?: "map_reduce" | "stages";
  job: string;
  outcome?: "succeeded" | "failed" | "killed" | "unfinished";
  queue?: string;
  refused?: string;
  sample?: (HistorySample) | null;
  seconds?: number | null;
  submitted_at?: string | null;
  user?: string;
};

export type ExecutionsOnType = {
  class: string;
  type: string;
};

export type Fact = {
  claim?: string;
  figures: Array<Figure>;
  kind: string;
  subject?: string;
};

export type FailedTask = {
  assignment: number;
  reason?: string;
};

export type Fault = {
  code: string;
  column?: number;
  detail: string;
  hint?: Hint;
  line?: number;
  parameter?: string;
  pointer?: string;
};

export type FewestMachines = {
  by_s: number;
  machines: number;
  packing: Packing;
  proved: boolean;
  tried: Array<TriedMachines>;
};

export type FieldChange = {
  after: (AnyJSON);
  before: (AnyJSON);
  pointer: string;
};

export type Figure = {
  name: string;
  unit: string;
  value: string;
};

export type FigureSpread = {
  count: number;
  deviation: number;
  max: number;
  mean: number;
  min: number;
  p50: number;
  p95: number;
};

export type Finding = {
  code: string;
  column?: number;
  detail: string;
  hint?: Hint;
  line?: number;
  pointer: string;
};

export type FinishedTask = {
  assignment: number;
  seconds?: number;
};

export type FitAnswer = {
  fits: Array<JobFit>;
};

export type FitMethods = {
  power?: "log" | "nls";
  task_time?: "constrained" | "unconstrained";
};

export type FitRequest = {
  measurements: Array<NewMeasurement>;
  methods?: FitMethods;
  residual?: number;
  vms?: number;
};

export type Flips = {
  deadline_s: number | null;
  on_demand_price: MaybeAmount;
  penalty: MaybeAmount;
};

export type FollowedSchedule = {
  answer?: Schedule;
  may_wait: boolean;
  question?: ScheduleRequest;
  without?: string;
};

export type Forecast = {
  arrivals?: number;
  class: Name;
  hour: string;
  jobs?: number;
};

export type ForecastFromHistory = {
  class: Name;
  counts?: "arrivals" | "running";
  dry_run?: boolean;
  from?: string;
  job: string;
  measured_from?: string;
  measured_until?: string;
  queue?: string;
  repeat?: "none" | "weekly";
  statistic?: "average" | "most";
  until?: string;
  user?: string;
};

export type ForecastList = {
  items: Array<Forecast>;
  next_cursor: NextCursor;
};

export type ForecastMade = {
  class: string;
  counts: "arrivals" | "running";
  executions: number;
  hours: number;
  job: string;
  measured_from: string;
  measured_until: string;
  peak: number;
  peak_at: string;
  repeat: "none" | "weekly";
  statistic: "average" | "most";
  time_zone: string;
  undated: number;
  warnings: Array<string>;
  week: (WeekJobs) | null;
  written: Written;
};

export type ForecastRows = {
  rows: Array<Forecast>;
};

export type FreeSlot = {
  kind?: "map" | "reduce";
  node?: string;
};

export type Freshness = {
  confirmed_at: string;
  inputs_changed_at: string;
  inputs_version: number;
  last_attempt: Attempt;
  pin: Pin;
  stale: boolean;
  valid_until: string;
  waiting: number | null;
};

export type GroupSetting = {
  file: string;
  value: string;
};

export type Health = {
  status: string;
};

export type Heartbeat = {
  maps?: number;
  reduces?: number;
  ttl_s?: number;
};

export type HeartbeatAnswer = {
  assignments: Array<Assignment>;
  at: string;
  heartbeat_s: number;
  node: string;
  notes: Array<HeartbeatNote>;
  seq: number;
  stop: Array<StopTask>;
};

export type HeartbeatNote = {
  assignment?: number;
  code: string;
  detail: string;
};

export type HeldShares = {
  jobs: Array<SharedJob>;
  least_share: number;
  total: number;
};

export type Hint = {
  detail: string;
  pointer?: string;
  value?: (AnyJSON);
};

export type HistoryChain = {
  id?: string;
  left_out?: LeftOut;
  map_slots?: number;
  name?: string;
  notes?: Array<string>;
  overhead_s?: number;
  phases: Array<HistoryPhase>;
  seconds?: number | null;
};

export type HistoryFetch = {
  dry_run?: boolean;
  from?: string;
  job?: string;
  kind?: "auto" | "file" | "mapreduce" | "spark";
  limit?: number;
  queue?: string;
  until?: string;
  url: string;
  user?: string;
};

export type HistoryImport = {
  bytes: number;
  created: number;
  dry_run: boolean;
  executions: number;
  jobs: Array<ImportedJob>;
  more_jobs: number;
  refused: (Refusals);
  unchanged: number;
  unusable: (Refusals);
  updated: number;
};

export type HistoryPhase = {
  after?: Array<number>;
  name?: string;
  stage?: number;
  task: TaskDurations;
  tasks: number;
};

export type HistoryRefusal = {
  detail: string;
  where: string;
};

export type HistorySample = {
  first_shuffle?: TaskDurations;
  id?: string;
  left_out?: LeftOut;
  map?: TaskDurations;
  map_slots?: number;
  name?: string;
  notes?: Array<string>;
  profile: Execution;
  reduce?: TaskDurations;
  reduce_slots?: number;
  seconds?: number | null;
  shuffle?: TaskDurations;
};

export type Horizon = {
  as_it_is?: (Horizon);
  classes: Array<ClassTotal>;
  complete: boolean;
  contracts: Array<ContractTotal>;
  currency: string;
  days: Array<SpanTotal>;
  detail: "summary" | "periods" | "classes";
  explanation: string;
  facts: Array<Fact>;
  gap: Amount;
  infeasible: Array<InfeasibleSpan>;
  months: Array<SpanTotal>;
  periods: Array<PeriodAnswer>;
  scenario?: string;
  situations: Array<SituationAnswer>;
  solved: number;
  status: Status;
  total: SpanTotal;
  upfront: Amount;
  warnings: Array<Warning>;
  with_waiting?: (WithWaiting);
};

export type HorizonPeriod = {
  arrivals?: Array<number>;
  hours?: number;
  jobs?: Array<number>;
  on_demand_price?: Money;
  prices?: Record<string, PeriodPrices>;
  seconds?: number;
  spot_price?: Money;
  start: string;
  without_forecast?: boolean;
};

export type HorizonRequest = {
  contracts?: Array<TermContract>;
  detail?: "summary" | "periods" | "classes";
  earlier?: Array<HorizonPeriod>;
  periods: Array<HorizonPeriod>;
  problem: Problem;
  scenario?: (AskedScenario);
  with_waiting?: boolean;
};

export type HostHints = {
  cgroup: string;
  commands: Array<string>;
  notes: Array<string>;
  settings: Array<GroupSetting>;
};

export type HourLeases = {
  class: string;
  hour: string;
  missed: number;
  running: number;
  started: number;
  waiting: number;
};

export type HourSource = {
  class?: string;
  detail: string;
  executions?: number;
  from: "settings" | "forecast" | "executions" | "missing";
  hours: number;
  measured_from?: string;
  measured_until?: string;
  pattern?: "hour_of_week" | "mean";
  recorded_as?: string;
  submissions: number;
};

export type HoursWithoutPlan = {
  conflict: string;
  cure: (Hint) | null;
  first: string;
  hours: number;
};

export type ImportCount = {
  created: number;
  unchanged: number;
  updated: number;
};

export type ImportedInstance = {
  instance: string;
  offers: Array<ImportedOffer>;
  on_demand: MaybeMoney;
  region: string;
  vm_type: string;
};

export type ImportedJob = {
  created: number;
  executions: number;
  job: string;
  unchanged: number;
  unusable: number;
  updated: number;
};

export type ImportedOffer = {
  billing: Billing;
  effective_price: Money;
  name: string;
  price: Money;
  term_years: number;
  upfront: Money;
};

export type ImportedSheet = {
  currency: string;
  format: "aws" | "aws-csv" | "csv";
  published: string | null;
  skipped: Record<string, number>;
  version: string;
};

export type InClass = "held" | "submitted" | "name" | "number";

export type InfeasibleSpan = {
  conflict: string;
  hours: number;
  start: string;
};

export type InstanceCatalogue = {
  currency: string;
  description: string;
  example: boolean;
  name: string;
  types: Array<CatalogueType>;
  valid_from: string;
};

export type InstanceCatalogues = {
  items: Array<InstanceCatalogue>;
};

export type IntegerPlan = {
  executable: boolean;
  objective: Amount;
  short_vms: number;
  vms: number;
};

export type InteractiveLoad = {
  per_second: number;
  service: RequestTiming;
};

export type Interference = {
  batch_share: number;
  hints: (HostHints) | null;
  policy: CorePolicy;
  response_ms: (ResponseMs) | null;
  theory: InterferenceTheory;
  unstable: boolean;
  warnings: Array<Warning>;
};

export type InterferenceAnswer = {
  data_nodes?: DataNodesAnswer;
  policies: Array<Interference>;
  requests: number;
  seed: number;
  use: number;
};

export type InterferenceRequest = {
  data_nodes?: DataNodesLoad;
  host?: BatchHost;
  interactive?: InteractiveLoad;
  policies?: Array<CorePolicy>;
  requests?: number;
  seed?: number;
};

export type InterferenceTheory = {
  batch_share: number;
  least_batch_share: number;
  mean_ms: number | null;
  p95_ms: number | null;
  p99_ms: number | null;
};

export type Interval = {
  high: number;
  low: number;
};

export type JobAnswer = {
  average_s: number;
  coefficients: Coefficients;
  lower_s: number;
  premise_ok: boolean;
  upper_s: number;
  warnings: Array<Warning>;
};

export type JobChange = {
  amount: MaybeAmount;
  bill?: Amount;
  budget?: (Amount);
  exact: boolean;
  fits: boolean;
  high?: Amount;
  jobs?: number;
  low?: Amount;
  value_refused?: Amount;
  vms?: number;
};

export type JobFit = {
  first_at: string | null;
  job: string;
  kind: "power" | "rate" | "task_time" | "usage";
  last_at: string | null;
  made_at: string | null;
  measurements: number;
  power?: PowerFit;
  predicted?: PowerPrediction;
  predicted_task?: TaskTimePrediction;
  rate?: RateFit;
  refused: string;
  task_time?: TaskTimeFit;
  usage?: UsageFit;
  version: number;
};

export type JobFitList = {
  items: Array<JobFit>;
  next_cursor: NextCursor;
};

export type JobQuestion = {
  jobs: number;
  kind: "job";
  profile: Execution;
  share: PhaseShare;
  slots: SlotPools;
};

export type JobRange = {
  all?: boolean;
  max: number;
  min?: number;
};

export type JobSource = {
  hours: Array<HourSource>;
  job: string;
};

export type JobTasks = {
  done: number;
  failures: number;
  lost: number;
  running: number;
  total: number;
  waiting: number;
};

export type JobToPlan = {
  deadline_s?: number;
  job: string;
  name?: string;
};

export type JobUsage = {
  cpu_percent: number;
  io_mb_s: number;
  vms?: number;
};

export type JobUtility = {
  budget?: number;
  price?: number;
  promised?: number;
  revenue?: number;
  worth?: number;
};

export type JobsSplit = {
  from: number;
  kept: number;
  to: number;
};

export type JudgeAnswer = {
  code?: RefusalReason;
  facts: Array<Fact>;
  reason: string;
  verdict: DeadlineVerdict;
};

export type JudgeRequest = {
  classes?: Array<SnapshotClass>;
  job: SnapshotJob;
  jobs?: Array<SnapshotJob>;
  mode?: "paper" | "strict";
  nodes: Array<SnapshotNode>;
  now_s?: number;
  running?: Array<RunningTasks>;
  separate?: boolean;
};

export type KeptPacking = {
  algorithm: "sequential" | "pair" | "multi" | "pso";
  batch: Batch;
  busy_s: number;
  cluster: string;
  created_at: string;
  created_by: string;
  end_s: number;
  id: string;
  jobs: number;
  lower_bound_s: number;
  machines: number;
  missed: number;
  packing: Packing;
  sequential_s: number;
  status: "optimal" | "feasible";
  vms: number;
};

export type Key = {
  clusters: Array<string> | null;
  created_at: string;
  created_by: string;
  expires_at: string | null;
  id: string;
  name: string;
  revoked_at: string | null;
  role: Role;
};

export type KeyList = {
  items: Array<Key>;
  next_cursor: NextCursor;
};

export type Knowledge = {
  classifier: number;
  counts: LearnedCounts;
  decisions: number;
  judgements: number;
  kind: "naive_bayes" | "perceptron";
  rules: number;
  usage: Array<Array<Array<number>>>;
};

export type LastChange = {
  at: string;
  by: string;
  kind: string;
  name: string;
};

export type LateJob = {
  due_s: number;
  id: string;
  late_anyway_s: number;
  late_s: number;
  name: string;
};

export type LaterState = {
  cpu_pct?: number;
  cpus?: number;
  disk_mb_s?: number;
  load1?: number;
  mem_pct?: number;
  net_mb_s?: number;
};

export type LearnAnswer = {
  bad: number;
  good: number;
  knowledge: Knowledge;
  lessons: Array<LessonTaken>;
  mistaken: number;
};

export type LearnRequest = {
  knowledge?: PriorKnowledge;
  lessons: Array<Lesson>;
  policy?: Policy;
};

export type LearnedCounts = {
  bias?: number;
  outcomes: Array<number>;
  ranges?: Array<Array<Array<number>>>;
  weights?: Array<number>;
};

export type Lease = {
  admitted_at: string;
  admitted_by: string;
  class: string;
  deadline_at?: string;
  expires_at: string | null;
  holder: string;
  id: string;
  job?: number;
  maps?: number;
  plan_number: number;
  reduces?: number;
  ttl_s: number;
};

export type LeaseList = {
  items: Array<Lease>;
  next_cursor: NextCursor;
};

export type LeftOut = {
  failed?: number;
  killed?: number;
  other?: number;
  repeated?: number;
  retried?: number;
  speculative?: number;
  unfinished?: number;
};

export type Lesson = {
  cpu_pct?: number;
  cpus?: number;
  good?: boolean;
  load1?: number;
  numbers?: Record<string, number>;
  running?: number;
  then?: LaterState;
  usage?: TaskUsage;
  words?: Record<string, string>;
};

export type LessonTaken = {
  good: boolean;
  p_good: number;
};

export type LiveDecision = {
  assignment: number;
  at: string;
  attempt: number;
  cause?: string;
  class?: string;
  ended_at: string | null;
  figures?: Array<DecisionFigure>;
  in_class?: InClass;
  job: number;
  job_name: string;
  kind: "map" | "reduce";
  local?: boolean;
  node: string;
  of?: string;
  outcome: "running" | "done" | "failed" | "lost";
  policy: string;
  reason: string;
  rule: string;
  seconds: number | null;
  settings_version: number;
  task: number;
  tie?: Tie;
};

export type LiveDecisionList = {
  items: Array<LiveDecision>;
  next_cursor: NextCursor;
};

export type LiveJob = {
  admission?: Admission;
  class: string;
  deadline_at: string | null;
  ended_at: string | null;
  late: boolean;
  maps: JobTasks;
  max_attempts: number;
  min_share: number;
  name: string;
  number: number;
  predictions?: Array<TasksPrediction>;
  read_mb_s: number;
  reason?: string;
  reduces: JobTasks;
  slowstart: number;
  state: "active" | "done" | "failed" | "killed" | "refused";
  submitted_at: string;
  submitted_by: string;
  usage?: TasksUsage;
  usage_from?: string;
  utility?: JobUtility;
  warnings: Array<Warning>;
  weight: number;
};

export type LiveJobList = {
  items: Array<LiveJob>;
  next_cursor: NextCursor;
};

export type LiveJobRequest = {
  class?: string;
  deadline_at?: string;
  deadline_s?: number;
  local?: Array<LocalMap>;
  maps: number;
  max_attempts?: number;
  min_share?: number;
  name: string;
  read_mb_s?: number;
  reduces?: number;
  slowstart?: number;
  usage?: TasksUsage;
  usage_from?: string;
  utility?: JobUtility;
  weight?: number;
};

export type LiveNode = {
  boot?: string;
  compute_units?: number;
  cores: number;
  created_at?: string;
  dedicated?: boolean;
  last_heartbeat_at?: string | null;
  name?: string;
  report?: (NodeReport) | null;
  residual?: number;
  running?: number;
  seq?: number;
  slots: NodeSlots;
  state?: "new" | "alive" | "dead";
  type: string;
  updated_at?: string;
};

export type LiveNodeList = {
  items: Array<LiveNode>;
  next_cursor: NextCursor;
};

export type LiveSettings = {
  admission?: "open" | "paper" | "strict";
  heartbeat_s?: number;
  node_timeout_s?: number;
  policy: Policy;
  shares?: Array<SlotShare>;
  slots?: "shared" | "separate";
  updated_at?: string;
  version?: number;
};

export type LocalMap = {
  nodes: Array<string>;
  task: number;
};

export type MachineVMs = {
  disks: Array<number>;
  extras?: Array<number>;
};

export type Machines = {
  count: number;
  disks: number;
  hosts_per_extra?: number;
  penalty?: number;
};

export type MaybeAmount = string | null;

export type MaybeMoney = (string | null);

export type MeasuredExecution = {
  id?: string;
  idle_s?: number;
  map_slots?: number;
  reduce_slots?: number;
  seconds: number;
  submitted_at: string;
};

export type MeasuredSeconds = Array<number>;

export type MeasuredTasks = {
  first_shuffle_s?: MeasuredSeconds;
  map_s?: MeasuredSeconds;
  reduce_s?: MeasuredSeconds;
  shuffle_s?: MeasuredSeconds;
  stage_s?: Array<MeasuredSeconds>;
};

export type MeasuredType = {
  deviation_s: number | null;
  mean_s: number;
  rate: number;
  tasks: number;
  type: string;
};

export type Measurement = {
  at: string;
  cpu_percent: number | null;
  id: string;
  io_mb_s: number | null;
  job: string;
  kind: "power" | "rate" | "task_time" | "usage";
  measured_by: string;
  node_type: string | null;
  residual: number | null;
  seconds: number | null;
  vms: number | null;
};

export type MeasurementBatch = {
  measurements: Array<NewMeasurement>;
};

export type MeasurementList = {
  items: Array<Measurement>;
  next_cursor: NextCursor;
};

export type MeasurementsTaken = {
  fits: Array<JobFit>;
  measurements: number;
};

export type MergedHistory = {
  executions: number;
  left_out: LeftOut;
  name: string;
  profile: Execution;
  refused: Array<HistoryRefusal>;
  spread: Record<string, FigureSpread>;
  warnings: Array<string>;
};

export type Money = (string);

export type MoneyChange = {
  change: (Amount) | null;
  from: Amount;
  name: string;
  to: Amount;
};

export type MoneyRange = {
  high: MaybeAmount;
  low: MaybeAmount;
} | null;

export type MoneySplit = {
  decisions: Amount;
  from: Amount;
  name: string;
  to: Amount;
  values: Amount;
};

export type MonthSoFar = {
  bill: Amount;
  from: string;
  until: string;
} | null;

export type MoreOffered = {
  bill_saving: (Amount);
  obligation: (Amount);
  value_refused_less: (Amount);
};

export type Name = string;

export type Near = {
  jobs: Record<string, number>;
  vms: number;
};

export type NewKey = {
  clusters?: Array<string> | null;
  expires_at?: string | null;
  name: string;
  role: Role;
};

export type NewMeasurement = {
  at?: string;
  cpu_percent?: number;
  io_mb_s?: number;
  job: string;
  kind: "power" | "rate" | "task_time" | "usage";
  node_type?: string;
  residual?: number;
  seconds?: number;
  utilization?: number;
  vms?: number;
};

export type NewSecret = {
  previous_until: string;
  secret?: string;
};

export type NewWebhook = {
  clusters?: Array<string> | null;
  created_at?: string;
  disabled_reason?: string;
  enabled?: boolean;
  events: Array<WebhookEvent>;
  failing_since?: string | null;
  id?: string;
  name: Name;
  secret?: string;
  updated_at?: string;
  url: string;
  version?: number;
};

export type NextCursor = string | null;

export type NodeFeature = {
  edges?: Array<number>;
  name: Name;
  words?: Array<string>;
};

export type NodeHeartbeat = {
  at?: string;
  boot?: string;
  failed?: Array<FailedTask>;
  finished?: Array<FinishedTask>;
  leaving?: boolean;
  running: Array<number>;
  seq: number;
  state?: NodeReport;
};

export type NodeReport = {
  cpu_percent?: number;
  disk_mb_s?: number;
  features?: Record<string, (number | string)>;
  load1?: number;
  memory_percent?: number;
  net_mb_s?: number;
  residual?: number;
};

export type NodeSlots = {
  map: number;
  reduce: number;
};

export type NumberRange = {
  high: number | null;
  low: number | null;
} | null;

export type Observation = {
  at: string;
  drift_ratio: number | null;
  drift_vms: number | null;
  id: string;
  observed_by: string;
  plan_number: number | null;
  plan_stale: boolean | null;
  plan_vms: number | null;
  planned_vms: number | null;
  slots: (BusySlots) | null;
  utilization: number | null;
  vms: number;
  warnings: Array<Warning>;
};

export type ObservationList = {
  items: Array<Observation>;
  next_cursor: NextCursor;
};

export type ObservationRequest = {
  at?: string;
  slots?: BusySlots;
  vms: number;
};

export type OfferAnswer = {
  forecast_share: number;
  max: number;
  name: string;
  obligation: (Amount);
  one_more: (MoreOffered) | null;
  paid: Amount;
  reserved: Amount;
  reserved_idle: Amount;
  share: number;
  upfront: Amount;
  utilisation: number | null;
  vms: number;
};

export type OnDemand = {
  price: Money;
  quota?: number | null;
};

export type Options = {
  bound?: "lower" | "average" | "upper" | "calibrated";
  engine?: "cbc" | "exact" | "auto";
  gap?: number;
  integrality?: "relaxed" | "integer" | "executable";
  max_solve_ms?: number;
  near?: Near;
  one_slot_per_job?: boolean;
  sharing?: "shared" | "dedicated";
};

export type Outcome = "ok" | "not proved" | "failed";

export type OverloadRule = {
  limit: number;
  metric: "load1" | "cpu_pct" | "mem_pct" | "net_mb_s" | "disk_mb_s";
  per?: "node" | "cpu";
};

export type Overview = {
  cluster: string;
  contract_end: ContractEnd;
  days: Array<string | null>;
  failure: string | null;
  month: MonthSoFar;
  pin: Pin;
  plan: (PlanSummary) | null;
  stale: boolean;
  waiting: number | null;
};

export type OverviewList = {
  items: Array<Overview>;
  next_cursor: NextCursor;
};

export type PackedDeadlines = {
  basis: string;
  met: number;
  missed: number;
  proved: boolean;
};

export type PackedJob = {
  count: number;
  deadline_s?: number;
  fit?: PowerFit;
  min_vms: number;
  model: PowerModel;
  name: string;
  release_s?: number;
  role: "plain" | "host" | "guest";
};

export type PackedPhase = {
  end_s: number;
  jobs: Array<PhaseJob>;
  placement?: Array<MachineVMs>;
  seconds: number;
  start_s: number;
};

export type Packing = {
  algorithm: "sequential" | "pair" | "multi" | "pso";
  busy_s: number;
  deadlines?: PackedDeadlines;
  end_s: number;
  gap: number;
  jobs: Array<PackedJob>;
  lower_bound_s: number;
  phases: Array<PackedPhase>;
  saving: number;
  sequential_s: number;
  status: "optimal" | "feasible";
  warnings: Array<Warning>;
};

export type PackingAnswer = {
  compared?: Array<Packing>;
  exact_batch?: Batch;
  machines?: FewestMachines;
  one_more?: Packing;
  packing?: Packing;
  sources?: Array<PackingSource>;
};

export type PackingList = {
  items: Array<PackingSummary>;
  next_cursor: NextCursor;
};

export type PackingOptions = {
  algorithm?: "sequential" | "pair" | "multi" | "pso";
  cpu_percent?: number;
  io_mb_s?: number;
  max_solve_ms?: number;
  placement?: boolean;
  seed?: number;
};

export type PackingSource = {
  class: string;
  executions: number;
  measurements: number;
  unsized: number;
  usage: boolean;
  vms: Array<number>;
};

export type PackingSummary = {
  algorithm: "sequential" | "pair" | "multi" | "pso";
  busy_s: number;
  cluster: string;
  created_at: string;
  created_by: string;
  end_s: number;
  id: string;
  jobs: number;
  lower_bound_s: number;
  machines: number;
  missed: number;
  sequential_s: number;
  status: "optimal" | "feasible";
  vms: number;
};

export type PairedJob = {
  max_s: number;
  mean_s: number;
  share: number;
  tasks: number;
};

export type PastExecution = {
  chain: (HistoryChain) | null;
  execution: string;
  finished_at: string | null;
  form: "map_reduce" | "stages";
  id: string;
  imported_at: string;
  imported_by: string;
  job: string;
  map_slots: number | null;
  outcome: "succeeded" | "failed" | "killed" | "unfinished";
  queue: string;
  reduce_slots: number | null;
  refused: string;
  run_id: string | null;
  sample: (HistorySample) | null;
  seconds: number | null;
  submitted_at: string | null;
  user: string;
};

export type PastExecutionList = {
  items: Array<StoredExecution>;
  next_cursor: NextCursor;
};

export type PeriodAnswer = {
  admitted: number;
  conflict: string;
  cost: SpanCost;
  gap: number;
  hours: number;
  refused: number;
  situation: number;
  start: string;
  status: Status;
  used: Array<number>;
  vms: RentedVMs;
};

export type PeriodPrices = {
  on_demand?: Money;
  spot?: Money;
};

export type PhaseAnswer = {
  lower_s: number;
  upper_s: number;
};

export type PhaseJob = {
  end_s: number;
  job: string;
  late?: boolean;
  number: number;
  role: "plain" | "host" | "guest";
  seconds: number;
  vms: number;
};

export type PhaseQuestion = {
  kind: "phase";
  max_s: number;
  mean_s: number;
  slots: number;
  tasks: number;
};

export type PhaseShare = {
  map: number;
  reduce?: number;
};

export type Pin = {
  by: string;
  number: number;
  until: string;
} | null;

export type PinRequest = {
  id?: string;
  number?: number;
  until: string;
};

export type PingEvent = {
  at: string;
  cluster?: string;
  id: string;
  type: "ping";
  webhook: string;
};

export type Pinned = {
  by: string;
  number: number;
  until: string;
};

export type Plan = {
  classes: Array<ClassPlan>;
  conflicts: Array<Finding>;
  cost: Cost;
  facts?: Array<Fact>;
  integer?: IntegerPlan;
  layout?: Array<VMLayout>;
  objective: Amount;
  prices?: Worths;
  proof?: Proof;
  relaxed?: RelaxedPlan;
  status: Status;
  stays?: PlanStays;
  vms: VMs;
  warnings: Array<Warning>;
};

export type PlanChangedEvent = {
  at: string;
  cluster: string;
  id: string;
  plan: EventPlan;
  previous: (EventPlan) | null;
  type: "plan.changed";
};

export type PlanFailedEvent = {
  at: string;
  cluster: string;
  id: string;
  plan_number: number;
  reason: string;
  type: "plan.failed";
};

export type PlanList = {
  items: Array<PlanSummary>;
  next_cursor: NextCursor;
};

export type PlanRecord = (PlanSummary & {
    plan: Plan;
    vote: PlanVote;
  });

export type PlanRequest = {
  at?: string;
};

export type PlanStays = {
  on_demand_price: MoneyRange;
  quota?: NumberRange;
  types?: Array<TypeStays>;
};

export type PlanSummary = {
  admitted: number;
  at: string;
  bill: Amount;
  cluster: string;
  created_at: string;
  created_by: string;
  currency: string;
  gap: number;
  id: string;
  inputs_version: number;
  number: number;
  objective: Amount;
  on_demand_cost: Amount;
  penalties: Amount;
  period_s: number;
  refused: number;
  reserved_cost: Amount;
  since?: string;
  spot_cost: Amount;
  status: Status;
  total_cost: Amount;
  until?: string;
  vms: number;
  vms_on_demand: number;
  vms_reserved: number;
  vms_spot: number;
  why: string;
};

export type PlanVote = {
  at: string | null;
  detail: string;
  engine: string;
  state: "waiting" | "same" | "other" | "none";
} | null;

export type Policy = {
  affinity_threshold?: number;
  classifier?: "naive_bayes" | "perceptron";
  evaluation_delay_heartbeats?: number;
  features?: Array<NodeFeature>;
  io_cap_mb_s?: number;
  kind: "fifo" | "edf" | "fair" | "capacity" | "progress-share" | "max-progress" | "learned";
  late?: "keep" | "demote";
  least_residual?: number;
  max_skips?: number;
  mode?: "default" | "paper";
  probe_when_idle?: boolean;
  rules?: Array<OverloadRule>;
  target?: number;
  tasks_per_heartbeat?: number;
  time_factor?: number;
  utilities?: Array<Utility>;
  whole_tasks?: boolean;
};

export type PolicyTrial = {
  deadlines: Array<PolicyTrialDeadline>;
  decisions: number;
  differences: Array<PolicyTrialDifference>;
  extra: number;
  from: string;
  heartbeats: number;
  idle: number;
  other: number;
  policy: Policy;
  same: number;
  sentence: string;
  until: string;
  warnings: Array<Warning>;
};

export type PolicyTrialChoice = {
  figures?: Array<DecisionFigure>;
  in_class?: InClass;
  job: number;
  job_name: string;
  kind: "map" | "reduce";
  of?: string;
  reason: string;
  rule: string;
  tie?: Tie;
};

export type PolicyTrialDeadline = {
  deadline_at: string;
  first_at: string | null;
  job: number;
  missed: boolean | null;
  name: string;
  slots: number;
  would_at: string | null;
  would_slots: number;
};

export type PolicyTrialDifference = {
  at: string;
  node: string;
  was: (PolicyTrialChoice) | null;
  why: string;
  would: (PolicyTrialChoice) | null;
};

export type PolicyTrialRequest = {
  policy: Policy;
  shares?: Array<SlotShare>;
  window_s?: number;
};

export type PoolAccelerator = {
  cost?: Money;
  count: number;
  hours?: number;
  type: string;
};

export type PoolBasis = {
  at: string;
  from: string;
  machines: Array<PoolMachine>;
  problem: PoolCourseProblem;
  settings_version: number;
  sources: PoolSources;
};

export type PoolChange = {
  as: "core" | "accelerator";
  count: number;
  hour: number;
  type: string;
};

export type PoolCore = {
  cost?: Money;
  count: number;
  type: string;
};

export type PoolCount = {
  accelerators: number;
  core: number;
  total: number;
};

export type PoolCourse = {
  cost: Money;
  proved: boolean;
  rounds: Array<PoolRound>;
  status: "optimal" | "feasible" | "infeasible";
  warnings: Array<Warning>;
};

export type PoolCourseProblem = {
  currency: string;
  hours: number;
  incoming_gb?: Array<number>;
  jobs?: Array<PoolSubmittedJob>;
  options?: PoolOptions;
  running?: Array<PoolRunning>;
  startup_hours?: number;
  storage?: PoolStorage;
  types: Array<PoolType>;
};

export type PoolDisks = {
  data_gb?: number;
  fill?: number;
  replication?: number;
};

export type PoolEvaluation = {
  accelerator_cost: Money;
  core_cost: Money;
  cost: Money;
  deadlines_met: boolean;
  disk_gb: number;
  hours: number | null;
  jobs: Array<PoolJobDone>;
  mix: PoolMix;
  needed_gb: number;
  proved: boolean;
  storage_met: boolean;
  warnings: Array<Warning>;
};

export type PoolFreshness = {
  changed_at: string | null;
  confirmed_at: string;
  last_attempt: Attempt;
  stale: boolean;
  valid_until: string;
};

export type PoolItem = {
  accelerators: number;
  core: number;
  total: number;
  type: string;
};

export type PoolJob = {
  deadline_hours?: number;
  memory_gib_per_task?: number;
  name: Name;
  rates?: Record<string, number>;
  rates_from?: string;
  work: number;
};

export type PoolJobDone = {
  deadline_hours: number;
  finish_hours: number | null;
  late: boolean;
  name: string;
  on: Array<PoolWorkOn>;
};

export type PoolMachine = {
  as?: "core" | "accelerator";
  count: number;
  paid_until?: string;
  since?: string;
  type: string;
};

export type PoolMachineList = {
  machines: Array<PoolMachine>;
};

export type PoolMachines = {
  machines: Array<PoolMachine>;
  said_at: string | null;
  said_by: string;
};

export type PoolMix = {
  accelerators?: Array<PoolAccelerator>;
  core?: Array<PoolCore>;
};

export type PoolOptions = {
  max_solve_ms?: number;
};

export type PoolPlan = {
  accelerator_cost: Money;
  conflicts?: Array<Finding>;
  core_cost: Money;
  cost: Money;
  disk_gb: number;
  gap: number;
  hours: number | null;
  jobs: Array<PoolJobDone>;
  lower_bound: Money;
  mix: PoolMix;
  needed_gb: number;
  status: "optimal" | "feasible" | "infeasible";
  warnings: Array<Warning>;
};

export type PoolPlanList = {
  items: Array<PoolPlanSummary>;
  next_cursor: NextCursor;
};

export type PoolPlanRecord = (PoolPlanSummary & {
    basis: PoolBasis;
    plan: PoolSchedule;
  });

export type PoolPlanSummary = {
  at: string;
  cluster: string;
  cost: Money;
  created_at: string;
  created_by: string;
  currency: string;
  from: string;
  id: string;
  number: number;
  reason: string;
  rounds: number;
  settings_version: number;
  status: "optimal" | "feasible" | "infeasible";
  steps: number;
  until: string;
};

export type PoolProblem = {
  currency: string;
  hours: number;
  jobs: Array<PoolJob>;
  mix?: PoolMix;
  options?: PoolOptions;
  startup_hours?: number;
  storage?: PoolStorage;
  types: Array<PoolType>;
};

export type PoolRound = {
  changes: Array<PoolChange>;
  data_gb: number;
  from_hour: number;
  plan: PoolPlan;
  until_hour: number;
};

export type PoolRunning = {
  count: number;
  type: string;
};

export type PoolScaling = {
  age_s: number;
  confirmed_at: string;
  generated_at: string;
  items: Array<PoolItem>;
  machines: PoolCount;
  next: Array<PoolStep>;
  number: number;
  plan_id: string;
  stale: boolean;
  status: "optimal" | "feasible" | "infeasible";
  types: Record<string, PoolCount>;
  valid_until: string;
};

export type PoolSchedule = {
  cost: Money;
  currency: string;
  from: string;
  rounds: Array<ScheduledRound>;
  sources: PoolSources;
  status: "optimal" | "feasible" | "infeasible";
  steps: Array<PoolStep>;
  targets: Array<PoolTarget>;
  until: string;
  warnings: Array<Warning>;
};

export type PoolSettings = {
  first_round_at?: string | null;
  hours: number;
  jobs?: Array<PoolSource>;
  measured_hours?: number;
  options?: PoolOptions;
  rounds?: number;
  startup_hours?: number;
  storage?: PoolDisks;
  types: Array<PoolType>;
  updated_at?: string;
  version?: number;
};

export type PoolSource = {
  class?: string;
  deadline_hours?: number;
  leaves_gb?: number;
  memory_gib_per_task?: number;
  name: Name;
  rates?: Record<string, number>;
  rates_from?: string;
  recorded_as?: string;
  submissions?: number;
  work: number;
};

export type PoolSources = {
  data: DataSource;
  jobs: Array<JobSource>;
  warnings: Array<Warning>;
};

export type PoolStep = {
  as: "core" | "accelerator";
  at: string;
  count: number;
  type: string;
  why: string;
};

export type PoolStorage = {
  data_gb: number;
  fill?: number;
  replication?: number;
};

export type PoolSubmittedJob = {
  deadline_hours?: number;
  memory_gib_per_task?: number;
  name: Name;
  rates?: Record<string, number>;
  rates_from?: string;
  submissions: Array<number>;
  work: number;
};

export type PoolTarget = {
  as: "core" | "accelerator";
  at: string;
  count: number;
  type: string;
};

export type PoolType = {
  accelerator?: boolean;
  compute_units?: number;
  core?: boolean;
  disk_gb?: number;
  memory_gib?: number;
  most?: number;
  name: Name;
  per_hour?: Money;
  slots?: number;
  startup_hours?: number;
};

export type PoolWorkOn = {
  imputed?: boolean;
  instance_hours: number;
  rate: number;
  type: string;
};

export type PowerFit = {
  a: number;
  a_interval?: Interval;
  b: number;
  b_interval?: Interval;
  least_vms: number;
  mean_error: number;
  method: "log" | "nls";
  most_vms: number;
  points: number;
  r2: number;
  r2_log: number;
  rmse_s: number;
  spread?: PowerSpread;
  warnings: Array<Warning>;
  worst_error: number;
};

export type PowerModel = {
  a: number;
  b: number;
};

export type PowerPrediction = {
  interval?: Interval;
  seconds: number;
  vms: number;
  warnings: Array<Warning>;
};

export type PowerSpread = {
  deviation: number;
  mean_log_vms: number;
  squared_logs: number;
};

export type Price = {
  created_at?: string;
  from: string;
  id?: string;
  price: Money;
  purchase?: "on_demand" | "spot";
  until?: string | null;
  updated_at?: string;
  version?: number;
  vm_type: Name;
};

export type PriceFetch = {
  as?: Record<string, string>;
  dry_run?: boolean;
  from?: string;
  instances?: Array<string>;
  on_demand_only?: boolean;
  region?: string;
  url: string;
  zero_prices?: boolean;
};

export type PriceImport = {
  changes: Array<Change>;
  dry_run: boolean;
  from: string;
  inputs_version: number;
  items: Array<ImportedInstance>;
  offers: ImportCount;
  prices: ImportCount;
  sheet: ImportedSheet;
  vm_types: ImportCount;
};

export type PriceList = {
  items: Array<Price>;
  next_cursor: NextCursor;
};

export type PriorCounts = {
  bias?: number;
  outcomes: Array<number>;
  ranges?: Array<Array<Array<number>>>;
  weights?: Array<number>;
};

export type PriorKnowledge = {
  classifier?: number;
  counts: PriorCounts;
  decisions?: number;
  judgements?: number;
  kind: "naive_bayes" | "perceptron";
  rules?: number;
  usage?: Array<Array<Array<number>>>;
};

export type Problem = {
  budget?: Budget;
  classes: Array<ProblemClass>;
  currency: string;
  options?: Options;
  period_s?: number;
  supply: Supply;
};

export type ProblemClass = {
  arrivals_per_hour?: number;
  calibration?: Calibration;
  confidence?: number;
  deadline_s?: number;
  demand?: Demand;
  due?: string;
  due_s?: number;
  jobs: JobRange;
  name: Name;
  penalty: Money;
  profile?: Execution;
  promise?: Promise;
  slots_per_vm?: SlotsPerVM;
  speed?: Speed;
  target?: number;
  vms_per_job?: Decimal;
};

export type ProblemDetails = {
  conflicts?: Array<Finding>;
  detail: string;
  errors?: Array<Fault>;
  hint?: Hint;
  instance: string;
  last_change?: LastChange;
  status: number;
  title: string;
  type: string;
};

export type Profile = {
  created_at?: string;
  name: Name;
  note?: string;
  profile: Execution;
  source?: Record<string, unknown>;
  version?: number;
};

export type ProfileFromHistory = {
  dry_run?: boolean;
  from?: string;
  job: string;
  last?: number;
  profile?: string;
  queue?: string;
  until?: string;
  user?: string;
};

export type ProfileList = {
  items: Array<Profile>;
  next_cursor: NextCursor;
};

export type ProfileMade = {
  changed: boolean;
  dry_run: boolean;
  merged: MergedHistory;
  profile: Profile;
};

export type ProfileRef = {
  name: Name;
  version?: number;
};

export type Promise = {
  confidence: number;
  deadline_s: number;
  executions: number;
  expected: number;
  factor: number;
  fixed_s: number;
  high: number;
  jobs_from: number;
  jobs_until: number;
  lending: "all" | "class" | "none";
  low: number;
  map_work_s: number;
  missed: number;
  reduce_work_s: number;
  replications: number;
  seed: number;
  target: number;
};

export type PromisedClass = {
  certain: boolean;
  jobs: number;
  name: string;
  promise: (Promise) | null;
  searched: number;
  slots: Slots;
};

export type Proof = {
  agreed: boolean | null;
  bound: Amount;
  checked: boolean;
  engine: string;
  gap: number;
  limited?: Cutoff;
  method: string;
  solve_ms: number;
};

export type Purchase = {
  answer: string;
  assume?: "last_week_repeats" | "last_month_repeats" | "flat" | "ends";
  assumptions: Array<AssumedAnswer>;
  bill_break_even_month: string | null;
  bill_saving: (Saving) | null;
  bill_saving_against_on_demand: (Saving) | null;
  break_even_month: string | null;
  complete: boolean;
  coverage: number | null;
  currency: string;
  curves: Array<SavingCurve>;
  demand_ends: Array<EndPoint>;
  demand_needed_until: string | null;
  explanation: string;
  facts: Array<Fact>;
  forecast_until: string;
  found: (PurchaseFound) | null;
  horizon: (Horizon);
  months: Array<SavingMonth>;
  obligation: (Amount);
  offers: Array<OfferAnswer>;
  on_demand_only: (PurchaseCost);
  penalties_avoided: (MaybeAmount);
  proof: PurchaseProof;
  recommended: PurchaseCost;
  regret: Array<RegretPoint>;
  saving: (Saving) | null;
  saving_against_on_demand: (Saving) | null;
  served_more_job_hours: number | null;
  status: "optimal" | "feasible" | "infeasible";
  today: (PurchaseCost);
  utilisation: number | null;
  warnings: Array<Warning>;
  with_waiting?: (PurchaseWithWaiting);
};

export type PurchaseCost = {
  bill: (Amount);
  cost: SpanCost;
  in_whole_jobs?: (WholeJobs);
  status: Status;
  total: (Amount);
  upfront: Amount;
};

export type PurchaseFound = {
  as_it_is: (PurchaseCost);
  bought: (PurchaseCost);
  left_out: Array<"other_types" | "spot" | "budget" | "started_jobs">;
  others_tried: number;
  today: (PurchaseCost);
  today_without_plan: (HoursWithoutPlan) | null;
  vms: Array<number> | null;
  without_plan: (HoursWithoutPlan) | null;
};

export type PurchaseOffer = {
  billing?: Billing;
  from?: string;
  max: number;
  name: Name;
  price?: Money;
  term_hours?: number;
  term_years?: number;
  upfront?: Money;
};

export type PurchaseProof = {
  bound: Amount;
  gap: number;
  price_bound: Amount;
  situations: number;
};

export type PurchaseRequest = {
  assume?: "last_week_repeats" | "last_month_repeats" | "flat" | "ends";
  contracts?: Array<TermContract>;
  detail?: "summary" | "periods" | "classes";
  earlier?: Array<HorizonPeriod>;
  factors?: Array<number>;
  leave_out?: Array<"spot" | "budget">;
  offers: Array<PurchaseOffer>;
  periods: Array<HorizonPeriod>;
  problem: Problem;
  with_waiting?: boolean;
};

export type PurchaseScheduled = {
  bill: (Amount);
  bound: (Amount);
  earlier?: Array<ExecutionsOnType>;
  prices: Array<Amount>;
  refused: Array<RefusedArrivals>;
  schedule: Array<ScheduledStart>;
  total: Amount;
  upfront: Amount;
  value_refused: Amount;
  vms: Array<number>;
  why: "nothing_bought" | "best_at_once" | "program" | "improved";
};

export type PurchaseWithWaiting = {
  bound: (Amount);
  gap: (Amount);
  prices: Array<Amount>;
  saved: (MaybeAmount);
  saved_at_least: (MaybeAmount);
  tried: Array<PurchaseScheduled>;
  until: string;
};

export type QuestionAnswer = {
  answer: string;
  classes: Array<ServedClass>;
  compared: (ScenarioOutcome) | null;
  conflicts: Array<Finding>;
  deadlines: Array<DeadlineCost>;
  explanation: string;
  facts: Array<Fact>;
  outcome: (ScenarioOutcome);
  question: "most_for_budget" | "cheapest_for_all" | "one_more_job" | "cheapest_deadline";
  status: Status;
};

export type QuestionRequest = {
  budget?: AskedBudget;
  class?: string;
  extra_percent?: number;
  problem: Problem;
  question: "most_for_budget" | "cheapest_for_all" | "one_more_job" | "cheapest_deadline";
};

export type RateFit = {
  types: Array<MeasuredType>;
  warnings: Array<Warning>;
};

export type RecordedJob = {
  executions: number;
  first_at: string | null;
  job: string;
  last_at: string | null;
  median_seconds: number | null;
  refused: number;
  usable: number;
};

export type RecordedJobList = {
  items: Array<RecordedJob>;
  next_cursor: NextCursor;
};

export type RefusalReason = "full" | "none_admitted" | "not_planned" | "deadline_missed" | "no_slots" | "unmeasured";

export type Refusals = {
  count: number;
  first: Array<HistoryRefusal>;
};

export type RefusedArrivals = {
  arrived: string;
  class: string;
  jobs: number;
};

export type RegretPoint = {
  best: Array<number> | null;
  best_bill: (MaybeAmount);
  best_cost: MaybeAmount;
  bill: (MaybeAmount);
  cost: MaybeAmount;
  factor: number;
  gap: number;
  regret: MaybeAmount;
  today_bill: (MaybeAmount);
  today_cost: MaybeAmount;
};

export type RelaxedPlan = {
  capacity: number;
  jobs: Array<number>;
  objective: Amount;
};

export type RentedVMs = {
  on_demand: number;
  reserved: number;
  spot: number;
  total: number;
};

export type Report = {
  better?: Better;
  bound?: Amount;
  checks: Array<Check>;
  not_checked: Array<string>;
  outcome: Outcome;
};

export type ReportCovers = "ahead" | "behind";

export type ReportEvery = "day" | "week" | "month";

export type ReportFile = {
  media_type: string;
  name: string;
  sha256: string;
  size: number;
  url: string;
};

export type ReportFormat = "xlsx" | "csv" | "focus" | "json";

export type ReportMadeEvent = {
  at: string;
  cluster: string;
  id: string;
  report: ClusterReport;
  type: "report.made";
};

export type ReportRequest = {
  covers?: "ahead" | "behind";
  every?: "day" | "week" | "month";
  format?: "xlsx" | "csv" | "focus" | "json";
  schedule?: string;
};

export type ReportSchedule = {
  covers?: "ahead" | "behind";
  created_at?: string;
  enabled?: boolean;
  every: ReportEvery;
  format?: "xlsx" | "csv" | "focus" | "json";
  hour?: number;
  keep?: number;
  name: Name;
  next_at?: string | null;
  updated_at?: string;
  version?: number;
};

export type ReportScheduleList = {
  items: Array<ReportSchedule>;
  next_cursor: NextCursor;
};

export type RequestTiming = {
  kind: "exponential" | "constant" | "samples";
  mean_ms?: number;
  samples_ms?: Array<number>;
};

export type ResponseMs = {
  mean: number;
  mean_half_width: number;
  p95: number;
  p95_half_width: number;
  p99: number;
  p99_half_width: number;
};

export type Role = "viewer" | "planner" | "operator" | "admin" | "agent";

export type Run = {
  attempt: number;
  by: string;
  cancelling: boolean;
  cluster: string | null;
  created_at: string;
  error: (RunError) | null;
  eta_s: number | null;
  finished_at: string | null;
  id: string;
  kind: string;
  partial: boolean;
  progress: RunProgress;
  result: (AnyJSON);
  result_url: string | null;
  started_at: string | null;
  state: RunState;
  updated_at: string;
};

export type RunError = {
  conflicts?: Array<Finding>;
  detail: string;
  errors?: Array<Finding>;
  kind: string;
} | null;

export type RunFinishedEvent = {
  at: string;
  cluster?: string;
  id: string;
  run: EventRun;
  type: "run.finished";
};

export type RunList = {
  items: Array<Run>;
  next_cursor: NextCursor;
};

export type RunProgress = {
  done: number;
  total: number;
  unit: string;
};

export type RunState = "queued" | "running" | "succeeded" | "failed" | "cancelled";

export type RunningTasks = {
  job: string;
  kind?: "map" | "reduce";
  node?: string;
  tasks?: number;
};

export type Saving = {
  amount: Amount;
  share: number;
};

export type SavingCurve = {
  bought: number;
  exact: boolean;
  means: string;
  offer: string;
  points: Array<SavingPoint>;
};

export type SavingMonth = {
  balance: (Amount);
  bill_balance: (Amount);
  bill_saved: (Amount);
  month: string;
  paid: (Amount);
  saved: (Amount);
  upfront: (Amount);
};

export type SavingPoint = {
  bill: (MaybeAmount);
  bill_saving: (MaybeAmount);
  cost: (MaybeAmount);
  saving: (MaybeAmount);
  vms: number;
};

export type Scaling = {
  age_s: number;
  classes: Record<string, ScalingClass>;
  confirmed_at: string;
  generated_at: string;
  items: Array<ScalingItem>;
  next?: Array<ScalingNext>;
  next_complete?: boolean;
  next_problem?: string;
  next_until?: string;
  number: number;
  plan_id: string;
  spot_types?: Record<string, number>;
  stale: boolean;
  status: Status;
  types?: Record<string, number>;
  valid_until: string;
  vms: ScalingVMs;
};

export type ScalingClass = {
  admitted: number;
  rejected: number;
  slots_map: number;
  slots_reduce: number;
  vms: number;
  vms_share: number;
};

export type ScalingItem = ({
    class: string;
  } & ScalingClass);

export type ScalingNext = {
  at: string;
  classes: Record<string, number>;
  on_demand: number;
  reserved: number;
  spot: number;
  spot_types?: Record<string, number>;
  types?: Record<string, number>;
  vms: number;
};

export type ScalingVMs = {
  ahead?: boolean;
  held: boolean;
  on_demand: number;
  planned: number;
  reserved: number;
  spot: number;
  total: number;
};

export type Scenario = {
  changes: Array<ScenarioChange>;
  created_at?: string;
  name: Name;
  note?: string;
  updated_at?: string;
  version?: number;
};

export type ScenarioAnswer = {
  admitted: number;
  classes?: Array<ClassOutcome>;
  conflicts: Array<Finding>;
  cost: Cost;
  difference: (ScenarioDifference) | null;
  facts: Array<Fact>;
  gap: number;
  name: string;
  plan?: (Plan);
  refused: number;
  sentence: string;
  status: Status;
  vms: RentedVMs;
};

export type ScenarioChange = {
  add?: AddedSupply;
  bound?: "lower" | "average" | "upper" | "calibrated";
  class?: string;
  contract?: string;
  factor?: number;
  purchase?: "on_demand" | "spot";
  value?: Money;
  vm_type?: string;
  what: "deadline" | "demand" | "promised" | "penalty" | "price" | "quota" | "contract" | "budget" | "total" | "spot_share" | "due" | "bound" | "add_contract" | "drop_contract" | "add_vm_type" | "drop_vm_type";
};

export type ScenarioDifference = {
  classes?: Array<ClassSplit>;
  cost: Array<MoneySplit>;
  kept: boolean;
  kept_because: Array<string>;
  shared?: (MoneySplit);
};

export type ScenarioList = {
  items: Array<Scenario>;
  next_cursor: NextCursor;
};

export type ScenarioOutcome = {
  admitted: number;
  conflicts: Array<Finding>;
  cost: Cost;
  gap: number;
  name: string;
  plan?: (Plan);
  refused: number;
  status: Status;
  vms: RentedVMs;
};

export type Schedule = {
  at_once: ScheduleAtOnce;
  budgets?: Array<SpentBudget>;
  classes: Array<ScheduledClass>;
  cost: ScheduleCost;
  currency: string;
  earlier?: Array<ExecutionsOnType>;
  explanation: string;
  facts: Array<Fact>;
  hours: Array<ScheduleHour>;
  proof: ScheduleProof;
  refused: Array<RefusedArrivals>;
  saved: (Amount);
  schedule: Array<ScheduledStart>;
  status: "optimal" | "feasible";
  warnings: Array<Warning>;
};

export type ScheduleAtOnce = {
  bill: Amount;
  earlier?: Array<ExecutionsOnType>;
  refused: Array<RefusedArrivals>;
  schedule: Array<ScheduledStart>;
  total: Amount;
  value_refused: Amount;
  vms: Array<number>;
};

export type ScheduleBefore = {
  counted?: Array<number>;
  leases?: Array<HourLeases>;
  running?: Array<ScheduledStart>;
  settled?: boolean;
  vms?: Array<number>;
  waiting?: Array<WaitingExecutions>;
};

export type ScheduleBudget = {
  from: string;
  until: string;
  vm_cost: Money;
};

export type ScheduleCost = {
  bill: Amount;
  total: Amount;
  value_refused: Amount;
};

export type ScheduleHour = {
  by_type?: Array<ScheduleTypeHour>;
  cost: (Amount);
  on_demand: number;
  price: (Amount);
  reserved: number;
  spot?: number;
  start: string;
  start_cost?: Amount;
  started?: number;
  vms: number;
};

export type ScheduleProof = {
  bound: (Amount);
  checked: boolean;
  engine: string;
  gap: number;
};

export type ScheduleRequest = {
  before?: ScheduleBefore;
  budgets?: Array<ScheduleBudget>;
  contracts?: Array<TermContract>;
  earlier?: Array<HorizonPeriod>;
  one_type?: boolean;
  periods: Array<HorizonPeriod>;
  place_all?: boolean;
  problem: (Problem);
  time_zone?: string;
};

export type ScheduleSimulation = {
  as_planned: number;
  bill: (Amount);
  classes: Array<ScheduleSimulationClass>;
  currency: string;
  executions: number;
  in_time: number;
  met: number;
  met_at_least: number;
  options: ScheduleSimulationOptions;
  replications: number;
  sentence: string;
  status: Status;
  vm_hours: number;
  vm_hours_longer: number;
  warnings: Array<Warning>;
};

export type ScheduleSimulationClass = {
  as_planned: number;
  executions: number;
  in_time: number;
  measured_executions: number;
  met: number;
  met_at_least: number;
  name: string;
  vm_hours: number;
  vm_hours_longer: number;
};

export type ScheduleSimulationOptions = {
  durations?: "measured" | "lognormal" | "uniform" | "triangular" | "constant";
  measured?: Record<string, MeasuredTasks>;
  replications?: number;
  seed?: number;
  slow?: number;
  slow_by?: number;
};

export type ScheduleSimulationRequest = {
  before?: ScheduleBefore;
  budgets?: Array<ScheduleBudget>;
  contracts?: Array<TermContract>;
  earlier?: Array<HorizonPeriod>;
  one_type?: boolean;
  options?: ScheduleSimulationOptions;
  periods: Array<HorizonPeriod>;
  place_all?: boolean;
  problem: (Problem);
  time_zone?: string;
};

export type ScheduleTypeHour = {
  cost: (Amount);
  on_demand: number;
  price: (Amount);
  reserved: number;
  spot?: number;
  start_cost?: Amount;
  started?: number;
  type: string;
  vms: number;
};

export type ScheduledClass = {
  arrived: number;
  later: number;
  mean_later_s: number;
  name: string;
  refused: number;
  waits: boolean;
};

export type ScheduledRound = {
  data_gb: number;
  decided_by: number;
  from: string;
  plan: PoolPlan;
  until: string;
};

export type ScheduledStart = {
  arrived: string;
  class: string;
  jobs: number;
  map_slots: number;
  reduce_slots: number;
  run_s: number;
  start: string;
  type?: string;
};

export type SecretRequest = {
  secret?: string;
};

export type ServedClass = {
  admitted: number;
  before: number | null;
  name: string;
  refused: number;
  verdict: "impossible" | "full" | "none" | "minimum" | "partial";
};

export type ServerAbout = {
  database: {
    schema: number;
    version: string;
  } | null;
  solver: string | null;
  version: string;
};

export type Session = {
  clusters: Array<string> | null;
  expires_at?: string;
  id: string;
  name: string;
  role: Role;
};

export type SharePlan = {
  held?: HeldShares;
  jobs: Array<SharedJob>;
  least_share: number;
  share_bound: number;
  status: "optimal" | "feasible";
  total: number;
  total_bound: number;
  warnings: Array<Warning>;
};

export type SharePlanProblem = {
  jobs: Array<SharingJob>;
  options?: PoolOptions;
  types: Array<SharedType>;
};

export type SharedJob = {
  name: string;
  progress_share: number;
  slots: Record<string, number>;
};

export type SharedPhaseAnswer = {
  lower_s: number;
  premise_ok: boolean;
  slots_per_job: number;
  upper_from_submission_s: number;
  upper_s: number;
  warnings: Array<Warning>;
};

export type SharedPhaseQuestion = {
  jobs: number;
  kind: "shared_phase";
  max_s: number;
  mean_s: number;
  share: number;
  slots: number;
  tasks: number;
};

export type SharedType = {
  name: Name;
  slots: number;
};

export type SharingJob = {
  holds?: Record<string, number>;
  name: Name;
  rates: Record<string, number>;
  weight?: number;
};

export type SimulatedBounds = {
  average_s: number;
  calibrated_s: number | null;
  lower_s: number;
  premise_ok: boolean;
  upper_s: number;
  within_calibrated: number | null;
};

export type SimulatedClass = {
  bounds: (SimulatedBounds) | null;
  deadline: (SimulatedDeadline) | null;
  executions: number;
  in_system: Estimate;
  jobs: number;
  measured_executions: number;
  name: string;
  per_hour: Estimate;
  place_from_first_slot: (SimulatedPlaces) | null;
  place_from_submission: (SimulatedPlaces) | null;
  response_s: (SimulatedTimes) | null;
  slots: Slots;
  slots_held: SlotsHeld;
  submitted: number;
  unfinished: number;
  vm_type?: string;
  wait_s: (SimulatedTimes) | null;
};

export type SimulatedDeadline = {
  deadline_s: number;
  met: Estimate;
  missed: number;
  unfinished_late: number;
};

export type SimulatedPlaces = {
  above_upper: number;
  average_to_upper: number;
  below_lower: number;
  lower_to_average: number;
};

export type SimulatedPool = {
  offered: number | null;
  pool: "map" | "reduce" | "shared";
  slots: number;
  use: Estimate;
  vm_type?: string;
  waiting: number;
};

export type SimulatedTimes = {
  deviation: number;
  half_width: number | null;
  max: number;
  mean: number;
  min: number;
  p50: number;
  p90: number;
  p95: number;
  p99: number;
};

export type Simulation = {
  classes: Array<SimulatedClass>;
  compared?: Array<ComparedPolicy>;
  cost: Cost;
  events: number;
  executions: number;
  judged: number;
  met: number | null;
  missed: number;
  options: SimulationOptions;
  pools: Array<SimulatedPool>;
  replications: number;
  sentence: string;
  simulated_hours: number;
  stopped: "" | "events" | "jobs";
  unstable: boolean;
  vms: number;
  warnings: Array<Warning>;
};

export type SimulationOptions = {
  compare?: Array<"fair" | "fifo" | "capacity" | "edf">;
  durations?: "measured" | "lognormal" | "uniform" | "triangular" | "constant";
  hours?: number;
  lending?: "all" | "class" | "none";
  load?: "closed" | "poisson";
  max_events?: number;
  measured?: Record<string, MeasuredTasks>;
  policy?: "fair" | "fifo" | "capacity" | "edf";
  replications?: number;
  seed?: number;
  slow?: number;
  slow_by?: number;
  think_s?: number;
  warm_up_hours?: number;
};

export type SimulationRequest = {
  options?: SimulationOptions;
  problem: Problem;
};

export type SituationAnswer = {
  classes: Array<ClassShare>;
  types?: Array<TypeVMs>;
};

export type SkippedTurns = {
  job: string;
  reduces?: number;
  times?: number;
};

export type SlotDecision = {
  facts: Array<Fact>;
  figures?: Array<DecisionFigure>;
  in_class?: InClass;
  job: string;
  kind?: "map" | "reduce";
  of?: string;
  policy: Policy;
  reason: string;
  rule: string;
  tie?: Tie;
};

export type SlotPools = {
  map: number;
  reduce?: number;
};

export type SlotShare = {
  class: string;
  min?: number;
  most?: number;
  most_per_job?: number;
  weight: number;
};

export type Slots = {
  map: number;
  reduce: number;
} | null;

export type SlotsHeld = {
  map: Estimate;
  reduce: Estimate;
  waiting: number;
};

export type SlotsOnVM = {
  map: number;
  reduce: number;
};

export type SlotsPerVM = (Record<string, SlotsOnVM> | SlotsOnVM);

export type SlotsShare = {
  min?: number;
  most?: number;
  most_per_job?: number;
  weight?: number;
};

export type SnapshotClass = {
  name: string;
  rates?: Array<TypeTasks>;
  reduce_task_time?: SnapshotTaskTime;
  task_time?: SnapshotTaskTime;
};

export type SnapshotJob = {
  balance?: number;
  class?: string;
  deadline_s?: number;
  maps?: SnapshotTasks;
  min_share?: number;
  name: string;
  promised?: number;
  read_mb_s?: number;
  reduces?: SnapshotTasks;
  revenue?: number;
  submitted_s?: number;
  usage?: SnapshotUsage;
  weight?: number;
  worth?: number;
};

export type SnapshotNode = {
  compute_units?: number;
  cores?: number;
  name: string;
  report?: SnapshotReport;
  residual?: number;
  slots?: SnapshotSlots;
  type?: string;
};

export type SnapshotReport = {
  cpu_pct?: number;
  disk_mb_s?: number;
  load1?: number;
  mem_pct?: number;
  net_mb_s?: number;
  numbers?: Record<string, number>;
  words?: Record<string, string>;
};

export type SnapshotShare = {
  class: string;
  min?: number;
  most?: number;
  most_per_job?: number;
  reduces?: SlotsShare;
  weight?: number;
};

export type SnapshotSlots = {
  map?: number;
  reduce?: number;
};

export type SnapshotTaskTime = {
  a: number;
  b?: number;
  c?: number;
  d?: number;
  least_residual?: number;
  most_residual?: number;
};

export type SnapshotTasks = {
  done?: number;
  ready?: number;
  total: number;
};

export type SnapshotUsage = {
  map?: TaskUsage;
  reduce?: TaskUsage;
};

export type SpanCost = {
  bill: Amount;
  on_demand: Amount;
  penalties: Amount;
  reserved: Amount;
  reserved_idle: Amount;
  spot?: Amount;
  total: Amount;
  upfront?: (Amount);
};

export type SpanDifference = {
  admitted_job_hours: number;
  bill: (Amount);
  value_refused: (Amount);
  vm_hours: number;
};

export type SpanTotal = {
  admitted_job_hours: number;
  bill_without_forecast?: (Amount);
  cost: SpanCost;
  difference?: (SpanDifference);
  hours: number;
  hours_without_forecast?: number;
  in_whole_jobs?: (WholeJobs);
  infeasible_hours?: number;
  on_demand_vm_hours: number;
  refused_job_hours: number;
  reserved_idle_vm_hours: number;
  reserved_vm_hours: number;
  start: string;
  vm_hours: number;
};

export type Speed = Record<string, number>;

export type SpentBudget = {
  bill: (Amount);
  from: string;
  price: (Amount);
  until: string;
  vm_cost: Amount;
};

export type Spot = {
  max_share: number;
  price: Money;
};

export type SpotTerms = {
  max_share: number;
} | null;

export type Stage = {
  avg_s: number;
  max_s: number;
  name?: string;
  tasks: number;
};

export type StandingOffer = {
  billing?: Billing;
  created_at?: string;
  max?: number;
  name: Name;
  note?: string;
  price: Money;
  term_hours?: number;
  term_years?: number;
  updated_at?: string;
  upfront?: Money;
  version?: number;
  vm_type: Name;
};

export type StandingOfferList = {
  items: Array<StandingOffer>;
  next_cursor: NextCursor;
};

export type Status = "optimal" | "feasible" | "infeasible";

export type Stays = {
  deadline_s: NumberRange;
  penalty: MoneyRange;
};

export type StopTask = {
  assignment: number;
  code: string;
  reason: string;
};

export type StorageSample = {
  at: string;
  data_gb: number;
  sampled_by: string;
};

export type StorageSampleBatch = {
  samples: Array<StorageSampleRequest>;
};

export type StorageSampleList = {
  items: Array<StorageSample>;
  next_cursor: NextCursor;
};

export type StorageSampleRequest = {
  at?: string;
  data_gb: number;
};

export type StorageSamplesTaken = {
  samples: number;
};

export type StoredExecution = {
  execution: string;
  finished_at: string | null;
  form: "map_reduce" | "stages";
  id: string;
  imported_at: string;
  imported_by: string;
  job: string;
  map_slots: number | null;
  outcome: "succeeded" | "failed" | "killed" | "unfinished";
  queue: string;
  reduce_slots: number | null;
  refused: string;
  run_id: string | null;
  seconds: number | null;
  submitted_at: string | null;
  user: string;
};

export type Supply = {
  contracts?: Array<SupplyContract>;
  on_demand?: OnDemand;
  spot?: Spot;
  start?: VMStart;
  vm_types?: Array<VMTypeSupply>;
};

export type SupplyContract = {
  billing?: Billing;
  name: Name;
  price: Money;
  vms: number;
};

export type Sweep = {
  complete: boolean;
  currency: string;
  curve: (SweepCurve) | null;
  explanation: string;
  facts: Array<Fact>;
  period_s: number;
  points: Array<SweepPoint>;
  total: number;
  vary: Array<Vary>;
};

export type SweepCurve = {
  asymptote: number | null;
  conflict: string;
  exact: boolean;
  least: number | null;
  points: Array<CurvePoint>;
  shape: "convex" | "concave" | "decreasing";
};

export type SweepPoint = {
  admitted: number;
  conflict: string;
  cost: Cost;
  gap: number;
  parameters: Array<number>;
  price: (CapacityPrice) | null;
  refused: number;
  status: Status;
  vms: RentedVMs;
};

export type SweepRequest = {
  curve?: boolean;
  problem: Problem;
  vary: Array<Vary>;
};

export type TargetOptions = {
  durations?: "measured" | "lognormal" | "uniform" | "triangular" | "constant";
  executions?: number;
  lending?: "all" | "class" | "none";
  load?: "closed" | "poisson";
  max_events?: number;
  measured?: Record<string, MeasuredTasks>;
  policy?: "fair" | "fifo" | "capacity" | "edf";
  replications?: number;
  seed?: number;
  slow?: number;
  slow_by?: number;
  think_s?: number;
};

export type Targets = {
  classes: Array<PromisedClass>;
  cost: Cost;
  events: number;
  options: TargetOptions;
  problem?: Problem;
  searched_seed: number;
  sentence: string;
  vms: number;
  warnings: Array<Warning>;
  without: (WithoutPromise) | null;
};

export type TargetsRequest = {
  options?: TargetOptions;
  problem: Problem;
};

export type TaskDurations = {
  count: number;
  max: number;
  mean: number;
  p50?: number;
  p95?: number;
  quantiles?: Array<number>;
};

export type TaskTimeFit = {
  a: number;
  b: number;
  c: number;
  constrained: boolean;
  d: number;
  form: "exp2" | "exp1" | "constant";
  least_residual: number;
  most_residual?: number;
  nrmse: number | null;
  points: number;
  residuals: number;
  rmse_s: number;
  warnings: Array<Warning>;
};

export type TaskTimePrediction = {
  normed: number;
  residual: number;
  seconds: number;
  warnings: Array<Warning>;
};

export type TaskTimesFrom = {
  from: "live" | "fit" | "profile";
  kind: "map" | "reduce";
  tasks?: number;
  version?: number;
};

export type TaskUsage = {
  cpu?: number;
  disk?: number;
  memory?: number;
  network?: number;
};

export type TasksPrediction = {
  cautious_s: number;
  discrete_s: number;
  fluid_s: number;
  kind: "map" | "reduce";
  running?: (Completable);
  times: TaskTimesFrom;
  unfinished: number;
  usable_slots: number;
};

export type TasksUsage = {
  map?: TaskUsage;
  reduce?: TaskUsage;
};

export type TermContract = {
  billing?: Billing;
  from: string;
  name: Name;
  price: Money;
  until: string;
  upfront?: Money;
  vm_type?: string;
  vms: number;
};

export type Tie = "average_slowdown" | "deadline" | "submitted" | "kind" | "name" | "number";

export type Times = {
  average: number | null;
  calibrated?: number;
  lower: number | null;
  promised?: number;
  upper: number | null;
} | null;

export type Token = {
  token: string;
};

export type TriedMachines = {
  end_s: number;
  lower_bound_s: number;
  machines: number;
};

export type TwoJobsAnswer = {
  jobs: Array<PhaseAnswer>;
  last_lower_s: number;
};

export type TwoJobsQuestion = {
  jobs: Array<PairedJob>;
  kind: "two_jobs";
  slots: number;
};

export type TypePrice = {
  high: MaybeAmount;
  low: Amount;
  name: string;
};

export type TypeStays = {
  on_demand_price: MoneyRange;
  quota: NumberRange;
  vm_type: string;
};

export type TypeTasks = {
  mean_s: number;
  tasks?: number;
  type: string;
};

export type TypeVMs = {
  name: string;
  on_demand: number;
  reserved: number;
  rounding: number;
  spot?: number;
  total: number;
};

export type UsageFit = {
  cpu: boolean;
  cpu_percent: number;
  io: boolean;
  io_mb_s: number;
  points: number;
  role: "plain" | "host" | "guest";
  vms?: number;
  warnings: Array<Warning>;
};

export type Utility = {
  kind: "constant" | "fifo" | "map_before_reduce" | "budget" | "dedicated_capacity" | "revenue";
  slow_start?: number;
  value?: number;
};

export type VMLayout = {
  slots: Array<ClassSlots>;
  vm_type?: string;
  vms: number;
};

export type VMMeasurement = {
  seconds: number;
  vms: number;
};

export type VMStart = {
  lead_s?: number;
  min_billed_s?: number;
  price?: Money;
};

export type VMType = {
  created_at?: string;
  description?: string;
  gpus?: number | null;
  in_use?: boolean;
  memory_gib?: number | null;
  name: Name;
  quota?: number | null;
  spot?: SpotTerms;
  start_lead_s?: number | null;
  start_price?: MaybeMoney;
  updated_at?: string;
  vcpu?: number | null;
  version?: number;
};

export type VMTypeList = {
  items: Array<VMType>;
  next_cursor: NextCursor;
};

export type VMTypeSupply = {
  contracts?: Array<SupplyContract>;
  name: Name;
  on_demand: OnDemand;
  spot?: Spot;
  start?: VMStart;
};

export type VMs = {
  contracts: Array<ContractUse>;
  on_demand: number;
  reserved: number;
  rounding: number;
  spot?: number;
  total: number;
  types?: Array<TypeVMs>;
};

export type Vary = {
  by?: "factor" | "value";
  class?: string;
  contract?: string;
  from?: Money;
  purchase?: "on_demand" | "spot";
  spacing?: "linear" | "geometric";
  steps?: number;
  to?: Money;
  values?: Array<Money>;
  vm_type?: string;
  what: "deadline" | "demand" | "promised" | "penalty" | "price" | "quota" | "contract" | "budget" | "total" | "spot_share" | "due";
};

export type Waiting = {
  complete: boolean;
  currency: string;
  explanation: string;
  facts: Array<Fact>;
  from: string;
  points: Array<WaitingPoint>;
  total: number;
  until: string;
  vary: Array<Vary>;
  warnings: Array<Warning>;
};

export type WaitingCompared = {
  as_it_is: WaitingSchedule;
  bill: Amount;
  least: (Amount);
  most: (Amount);
  total: Amount;
  under_scenario: WaitingSchedule;
  value_refused: Amount;
};

export type WaitingCost = {
  bill: Amount;
  value_refused: Amount;
};

export type WaitingExecutions = {
  arrived: string;
  class: string;
  jobs: number;
};

export type WaitingMonth = {
  bill: Amount;
  start: string;
};

export type WaitingPoint = {
  bill: Amount;
  bound: (Amount);
  conflict: string;
  executions: number;
  later: number;
  most_vms: number;
  parameters: Array<number>;
  refused: number;
  schedule?: (WaitingSchedule);
  status: Status;
  total: Amount;
  value_refused: Amount;
  waiting_classes: number;
};

export type WaitingRequest = {
  before?: ScheduleBefore;
  budgets?: Array<ScheduleBudget>;
  contracts?: Array<TermContract>;
  earlier?: Array<HorizonPeriod>;
  one_type?: boolean;
  periods: Array<HorizonPeriod>;
  place_all?: boolean;
  problem: (Problem);
  schedules?: boolean;
  time_zone?: string;
  vary: Array<Vary>;
};

export type WaitingSchedule = {
  bill: Amount;
  bound: (Amount);
  budget_prices?: Array<Amount>;
  earlier?: Array<ExecutionsOnType>;
  prices: Array<Amount>;
  refused: Array<RefusedArrivals>;
  schedule: Array<ScheduledStart>;
  total: Amount;
  value_refused: Amount;
};

export type Warning = {
  code: string;
  detail: string;
  pointer?: string;
};

export type Webhook = {
  clusters?: Array<string> | null;
  created_at?: string;
  disabled_reason?: string;
  enabled?: boolean;
  events: Array<WebhookEvent>;
  failing_since?: string | null;
  id?: string;
  name: Name;
  updated_at?: string;
  url: string;
  version?: number;
};

export type WebhookEvent = "plan.changed" | "plan.failed" | "run.finished" | "report.made";

export type WebhookList = {
  items: Array<Webhook>;
  next_cursor: NextCursor;
};

export type WeekJobs = {
  fri: DayJobs;
  mon: DayJobs;
  sat: DayJobs;
  sun: DayJobs;
  thu: DayJobs;
  tue: DayJobs;
  wed: DayJobs;
};

export type WeekPattern = {
  class: Name;
  counts: "arrivals" | "running";
  rows: number;
  time_zone: string;
  week: WeekJobs;
};

export type WeeklyForecast = {
  class: Name;
  counts?: "arrivals" | "running";
  dry_run?: boolean;
  from: string;
  growth_per_month?: number;
  growth_per_year?: number;
  until: string;
  week: (Array<number> | WeekJobs | string);
};

export type WhatIf = {
  base: ScenarioOutcome;
  scenarios: Array<ScenarioAnswer>;
};

export type WhatIfRequest = {
  detail?: "full" | "summary";
  problem: Problem;
  scenarios: Array<AskedScenario>;
};

export type WholeJobs = {
  bill: (Amount);
  gap: (Amount);
  infeasible_hours?: number;
  value_refused: (Amount);
};

export type WithWaiting = {
  at_once: (WaitingCost);
  bill: Amount;
  compared?: (WaitingCompared);
  gap: (Amount);
  months: Array<WaitingMonth>;
  saved: (Amount);
  until: string;
  value_refused: Amount;
};

export type WithoutPromise = {
  cost: Cost;
  vms: number;
};

export type Workload = {
  classes: Array<WorkloadClass>;
  compare?: Array<WorkloadPolicy>;
  data_nodes?: WorkloadDataNodes;
  heartbeat_s?: number;
  horizon_s?: number;
  known?: "learned" | "given";
  limits?: WorkloadLimits;
  nodes?: Array<WorkloadNodes>;
  policy?: WorkloadPolicy;
  replications?: number;
  seed?: number;
  slots?: WorkloadSlots;
  warm_up_s?: number;
};

export type WorkloadBackground = {
  every_s?: number;
  high?: number;
  kind: "constant" | "steps" | "uniform";
  low?: number;
  repeat_s?: number;
  residual?: Array<number>;
  steps?: Array<WorkloadStep>;
};

export type WorkloadBounds = {
  average_s: number;
  lower_s: number;
  premise_ok: boolean;
  upper_s: number;
};

export type WorkloadClass = {
  cpu_load?: number;
  deadline_s?: number;
  deadlines?: WorkloadDeadlines;
  jobs?: number;
  load: WorkloadLoad;
  min_share?: number;
  name: string;
  profile: Execution;
  rates?: Record<string, number>;
  read_mb_s?: number;
  slots?: WorkloadSlots;
  task_time?: WorkloadTaskTime;
  tasks?: WorkloadTasks;
  weight?: number;
};

export type WorkloadClassReport = {
  bounds: (WorkloadBounds) | null;
  counted: number;
  deadline: (SimulatedDeadline) | null;
  ended: number;
  from_first_slot_s: (SimulatedTimes) | null;
  in_system: Estimate;
  name: string;
  on_nodes?: WorkloadOnNodes;
  per_hour: Estimate;
  place_from_first_slot: (SimulatedPlaces) | null;
  place_from_submission: (SimulatedPlaces) | null;
  response_s: (SimulatedTimes) | null;
  slots: SlotsHeld;
  submitted: number;
  unfinished: number;
  wait_s: (SimulatedTimes) | null;
};

export type WorkloadDataNodes = {
  cap_mb_s?: number;
  count?: number;
};

export type WorkloadDeadlines = {
  at_s?: number;
  each_s?: Array<number>;
  high_s?: number;
  low_s?: number;
};

export type WorkloadLimits = {
  events?: number;
  jobs?: number;
};

export type WorkloadLoad = {
  at_s?: Array<number>;
  jobs?: number;
  kind: "closed" | "poisson" | "trace" | "batch";
  per_hour?: number;
  think?: "exponential" | "constant";
  think_s?: number;
  users?: number;
};

export type WorkloadNodes = {
  background?: WorkloadBackground;
  compute_units?: number;
  cores?: number;
  count?: number;
  slots: WorkloadSlots;
  speed?: number;
  type: string;
};

export type WorkloadNodesReport = {
  below_one: Estimate;
  data_nodes: (WorkloadReads) | null;
  share_sum: Estimate;
  types: Array<WorkloadTypeReport>;
};

export type WorkloadNoise = {
  dedicated?: number;
  loaded?: number;
};

export type WorkloadOnNodes = {
  below_part: Estimate;
  last_end_s: Estimate;
  rejected: number;
  share: Estimate;
  task_s: Estimate;
};

export type WorkloadPolicy = {
  admission?: "none" | "paper" | "strict";
  affinity_threshold?: number;
  classifier?: "naive_bayes" | "perceptron";
  evaluation_delay_heartbeats?: number;
  features?: Array<NodeFeature>;
  io_cap_mb_s?: number;
  kind?: "fifo" | "edf" | "fair" | "capacity" | "progress-share" | "max-progress" | "learned";
  late?: "keep" | "demote";
  least_residual?: number;
  lending?: "all" | "class" | "none";
  max_skips?: number;
  mode?: "default" | "paper";
  probe_when_idle?: boolean;
  reduces_after?: number;
  rules?: Array<OverloadRule>;
  target?: number;
  tasks_per_heartbeat?: number;
  time_factor?: number;
  utilities?: Array<Utility>;
  whole_tasks?: boolean;
};

export type WorkloadPool = {
  offered: number | null;
  pool: "map" | "reduce" | "shared";
  slots: number;
  use: Estimate;
  waiting: number;
};

export type WorkloadReads = {
  mb_s: Estimate;
  most_mb_s: number;
  over_cap: Estimate;
};

export type WorkloadReport = {
  classes: Array<WorkloadClassReport>;
  compared?: Array<ComparedPolicy>;
  events: number;
  nodes?: WorkloadNodesReport;
  pools: Array<WorkloadPool>;
  replications: number;
  seed: number;
  simulated_s: number;
  stopped: "" | "events" | "jobs" | "stuck";
  unstable: boolean;
  warnings: Array<Warning>;
};

export type WorkloadSeconds = Array<number>;

export type WorkloadSlots = {
  map?: number;
  reduce?: number;
  shared?: number;
};

export type WorkloadStep = {
  at_s: number;
  residual: number;
};

export type WorkloadTaskTime = {
  a: number;
  b: number;
  c: number;
  d: number;
  least_residual?: number;
  most_residual?: number;
};

export type WorkloadTasks = {
  first_shuffle_s?: WorkloadSeconds;
  kind?: "constant" | "uniform" | "triangular" | "lognormal" | "exponential" | "recorded";
  map_s?: WorkloadSeconds;
  noise?: WorkloadNoise;
  reduce_s?: WorkloadSeconds;
  shuffle_s?: WorkloadSeconds;
  slow?: number;
  slow_by?: number;
  spread?: number;
  stage_s?: Array<WorkloadSeconds>;
};

export type WorkloadTypeReport = {
  nodes: number;
  residual: Estimate;
  slots: number;
  tasks: Estimate;
  type: string;
  use: Estimate;
};

export type Worths = {
  budget?: Amount;
  capacity: CapacityPrice;
  contracts: Array<ContractWorth>;
  types?: Array<TypePrice>;
};

export type Written = {
  added: number;
  changed: number;
  deleted: number;
  dry_run?: boolean;
  from_arrivals?: number;
  written: number;
};

// Operations by method and path: what is asked with, and what is answered when all is well.
export interface Operations {
  "GET /assets/{file}": { path: { file: string; }; query: { }; body: never; answer: never };
  "GET /docs": { path: { }; query: { }; body: never; answer: never };
  "GET /docs/{chapter}/{page}": { path: { chapter: string; page: string; }; query: { q?: string; }; body: never; answer: never };
  "GET /livez": { path: { }; query: { }; body: never; answer: Health };
  "GET /metrics": { path: { }; query: { }; body: never; answer: never };
  "GET /openapi.yaml": { path: { }; query: { }; body: never; answer: never };
  "GET /problems/{kind}": { path: { kind: string; }; query: { }; body: never; answer: never };
  "GET /readyz": { path: { }; query: { }; body: never; answer: Health };
  "GET /sign-in": { path: { }; query: { trouble?: "other" | "refused" | "role" | "away" | "none" | "untrusted" | "database"; done?: "true"; }; body: never; answer: never };
  "GET /sign-in/back": { path: { }; query: { code?: string; state?: string; error?: string; iss?: string; }; body: never; answer: never };
  "GET /sign-in/issuer": { path: { }; query: { }; body: never; answer: never };
  "GET /v1/about": { path: { }; query: { }; body: never; answer: ServerAbout };
  "GET /v1/allowed-hosts": { path: { }; query: { limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; }; body: never; answer: AllowedHostList };
  "POST /v1/allowed-hosts": { path: { }; query: { }; body: AllowedHost; answer: AllowedHost };
  "DELETE /v1/allowed-hosts/{id}": { path: { id: string; }; query: { }; body: never; answer: never };
  "GET /v1/audit": { path: { }; query: { limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; cluster?: string; }; body: never; answer: AuditList };
  "POST /v1/bounds": { path: { }; query: { }; body: BoundsQuestion; answer: BoundsAnswer };
  "POST /v1/calibrate": { path: { }; query: { }; body: CalibrateRequest; answer: CalibrationReport };
  "POST /v1/classify": { path: { }; query: { }; body: ClassifyRequest; answer: ClassifyAnswer };
  "GET /v1/clusters": { path: { }; query: { limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; }; body: never; answer: ClusterList };
  "POST /v1/clusters": { path: { }; query: { }; body: Cluster; answer: Cluster };
  "DELETE /v1/clusters/{cluster}": { path: { cluster: string; }; query: { }; body: never; answer: never };
  "GET /v1/clusters/{cluster}": { path: { cluster: string; }; query: { }; body: never; answer: Cluster };
  "PUT /v1/clusters/{cluster}": { path: { cluster: string; }; query: { }; body: Cluster; answer: Cluster };
  "GET /v1/clusters/{cluster}/admissions": { path: { cluster: string; }; query: { class?: string; limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; }; body: never; answer: LeaseList };
  "POST /v1/clusters/{cluster}/admissions": { path: { cluster: string; }; query: { }; body: AdmissionRequest; answer: Admission };
  "GET /v1/clusters/{cluster}/admissions/summary": { path: { cluster: string; }; query: { limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; }; body: never; answer: ClassAdmissionsList };
  "DELETE /v1/clusters/{cluster}/admissions/{id}": { path: { cluster: string; id: string; }; query: { }; body: never; answer: never };
  "GET /v1/clusters/{cluster}/admissions/{id}": { path: { cluster: string; id: string; }; query: { }; body: never; answer: Lease };
  "POST /v1/clusters/{cluster}/admissions/{id}/heartbeat": { path: { cluster: string; id: string; }; query: { }; body: Heartbeat; answer: Lease };
  "POST /v1/clusters/{cluster}/class-packings": { path: { cluster: string; }; query: { compare?: boolean; one_more?: boolean; by_hours?: number; by?: string; start?: string; }; body: ClassBatch; answer: PackingAnswer | Run };
  "GET /v1/clusters/{cluster}/classes": { path: { cluster: string; }; query: { limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; numbers?: "decimal" | "float"; }; body: never; answer: ClassList };
  "POST /v1/clusters/{cluster}/classes": { path: { cluster: string; }; query: { }; body: Class; answer: Class };
  "POST /v1/clusters/{cluster}/classes/from-history": { path: { cluster: string; }; query: { }; body: ClassesFromHistory; answer: ClassesMade };
  "DELETE /v1/clusters/{cluster}/classes/{name}": { path: { cluster: string; name: string; }; query: { }; body: never; answer: never };
  "GET /v1/clusters/{cluster}/classes/{name}": { path: { cluster: string; name: string; }; query: { }; body: never; answer: Class };
  "PUT /v1/clusters/{cluster}/classes/{name}": { path: { cluster: string; name: string; }; query: { }; body: Class; answer: Class };
  "GET /v1/clusters/{cluster}/classes/{name}/calibration": { path: { cluster: string; name: string; }; query: { job?: string; from?: string; until?: string; coverage?: number; format?: "json" | "csv"; }; body: never; answer: ClassCalibration };
  "PUT /v1/clusters/{cluster}/classes/{name}/calibration": { path: { cluster: string; name: string; }; query: { }; body: CalibrationRequest; answer: Class };
  "GET /v1/clusters/{cluster}/classes/{name}/calibration/question": { path: { cluster: string; name: string; }; query: { job?: string; from?: string; until?: string; coverage?: number; }; body: never; answer: CalibrateRequest };
  "GET /v1/clusters/{cluster}/classifier": { path: { cluster: string; }; query: { }; body: never; answer: Knowledge };
  "GET /v1/clusters/{cluster}/contracts": { path: { cluster: string; }; query: { limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; numbers?: "decimal" | "float"; }; body: never; answer: ContractList };
  "POST /v1/clusters/{cluster}/contracts": { path: { cluster: string; }; query: { }; body: Contract; answer: Contract };
  "DELETE /v1/clusters/{cluster}/contracts/{name}": { path: { cluster: string; name: string; }; query: { }; body: never; answer: never };
  "GET /v1/clusters/{cluster}/contracts/{name}": { path: { cluster: string; name: string; }; query: { }; body: never; answer: Contract };
  "PUT /v1/clusters/{cluster}/contracts/{name}": { path: { cluster: string; name: string; }; query: { }; body: Contract; answer: Contract };
  "GET /v1/clusters/{cluster}/decisions": { path: { cluster: string; }; query: { from?: string; until?: string; node?: string; job?: number; outcome?: "running" | "done" | "failed" | "lost"; limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; }; body: never; answer: LiveDecisionList };
  "GET /v1/clusters/{cluster}/document": { path: { cluster: string; }; query: { }; body: never; answer: Document };
  "PUT /v1/clusters/{cluster}/document": { path: { cluster: string; }; query: { dry_run?: boolean; }; body: Document; answer: Applied };
  "POST /v1/clusters/{cluster}/drivers/{engine}": { path: { cluster: string; engine: string; }; query: { }; body: DriverClaim; answer: Driver };
  "DELETE /v1/clusters/{cluster}/executions": { path: { cluster: string; }; query: { job?: string; outcome?: "succeeded" | "failed" | "killed" | "unfinished"; user?: string; queue?: string; from?: string; until?: string; }; body: never; answer: Deleted };
  "GET /v1/clusters/{cluster}/executions": { path: { cluster: string; }; query: { job?: string; outcome?: "succeeded" | "failed" | "killed" | "unfinished"; user?: string; queue?: string; from?: string; until?: string; limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; }; body: never; answer: PastExecutionList };
  "POST /v1/clusters/{cluster}/executions": { path: { cluster: string; }; query: { dry_run?: boolean; }; body: ExecutionBatch; answer: HistoryImport };
  "GET /v1/clusters/{cluster}/executions/{execution}": { path: { cluster: string; execution: string; }; query: { }; body: never; answer: PastExecution };
  "GET /v1/clusters/{cluster}/fits": { path: { cluster: string; }; query: { job?: string; kind?: "power" | "rate" | "task_time" | "usage"; limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; }; body: never; answer: JobFitList };
  "GET /v1/clusters/{cluster}/fits/{job}/{kind}": { path: { cluster: string; job: string; kind: "power" | "rate" | "task_time" | "usage"; }; query: { version?: number; method?: "log" | "nls" | "constrained" | "unconstrained"; vms?: number; residual?: number; }; body: never; answer: JobFit };
  "GET /v1/clusters/{cluster}/fits/{job}/{kind}/versions": { path: { cluster: string; job: string; kind: "power" | "rate" | "task_time" | "usage"; }; query: { limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; }; body: never; answer: JobFitList };
  "DELETE /v1/clusters/{cluster}/forecasts": { path: { cluster: string; }; query: { class?: string; from?: string; until?: string; }; body: never; answer: Deleted };
  "GET /v1/clusters/{cluster}/forecasts": { path: { cluster: string; }; query: { limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; wide?: boolean; class?: string; from?: string; until?: string; }; body: never; answer: ForecastList };
  "PUT /v1/clusters/{cluster}/forecasts": { path: { cluster: string; }; query: { dry_run?: boolean; counts?: "arrivals" | "running"; holes?: "refuse" | "own" | "keep"; }; body: ForecastRows; answer: Written };
  "POST /v1/clusters/{cluster}/forecasts/from-history": { path: { cluster: string; }; query: { }; body: ForecastFromHistory; answer: ForecastMade };
  "GET /v1/clusters/{cluster}/forecasts/pattern": { path: { cluster: string; }; query: { class: string; from?: string; until?: string; }; body: never; answer: WeekPattern };
  "POST /v1/clusters/{cluster}/forecasts/weekly": { path: { cluster: string; }; query: { }; body: WeeklyForecast; answer: Written };
  "POST /v1/clusters/{cluster}/history-imports": { path: { cluster: string; }; query: { job?: string; dry_run?: boolean; }; body: unknown; answer: HistoryImport };
  "POST /v1/clusters/{cluster}/history-imports/fetch": { path: { cluster: string; }; query: { }; body: HistoryFetch; answer: Run };
  "POST /v1/clusters/{cluster}/horizons": { path: { cluster: string; }; query: { format?: "json" | "csv" | "xlsx" | "focus"; per?: "period" | "day" | "month"; }; body: ClusterHorizonRequest; answer: Horizon | Run };
  "GET /v1/clusters/{cluster}/jobs": { path: { cluster: string; }; query: { state?: "active" | "done" | "failed" | "killed"; limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; }; body: never; answer: LiveJobList };
  "POST /v1/clusters/{cluster}/jobs": { path: { cluster: string; }; query: { }; body: LiveJobRequest; answer: LiveJob };
  "DELETE /v1/clusters/{cluster}/jobs/{job}": { path: { cluster: string; job: number; }; query: { }; body: never; answer: never };
  "GET /v1/clusters/{cluster}/jobs/{job}": { path: { cluster: string; job: number; }; query: { }; body: never; answer: LiveJob };
  "GET /v1/clusters/{cluster}/live": { path: { cluster: string; }; query: { }; body: never; answer: LiveSettings };
  "PUT /v1/clusters/{cluster}/live": { path: { cluster: string; }; query: { }; body: LiveSettings; answer: LiveSettings };
  "POST /v1/clusters/{cluster}/live/dry-run": { path: { cluster: string; }; query: { }; body: PolicyTrialRequest; answer: PolicyTrial };
  "DELETE /v1/clusters/{cluster}/measurements": { path: { cluster: string; }; query: { job?: string; kind?: "power" | "rate" | "task_time" | "usage"; from?: string; until?: string; }; body: never; answer: Deleted };
  "GET /v1/clusters/{cluster}/measurements": { path: { cluster: string; }; query: { job?: string; kind?: "power" | "rate" | "task_time" | "usage"; from?: string; until?: string; limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; }; body: never; answer: MeasurementList };
  "POST /v1/clusters/{cluster}/measurements": { path: { cluster: string; }; query: { }; body: MeasurementBatch; answer: MeasurementsTaken };
  "GET /v1/clusters/{cluster}/nodes": { path: { cluster: string; }; query: { limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; }; body: never; answer: LiveNodeList };
  "DELETE /v1/clusters/{cluster}/nodes/{node}": { path: { cluster: string; node: string; }; query: { }; body: never; answer: never };
  "GET /v1/clusters/{cluster}/nodes/{node}": { path: { cluster: string; node: string; }; query: { }; body: never; answer: LiveNode };
  "PUT /v1/clusters/{cluster}/nodes/{node}": { path: { cluster: string; node: string; }; query: { }; body: LiveNode; answer: LiveNode };
  "POST /v1/clusters/{cluster}/nodes/{node}/heartbeats": { path: { cluster: string; node: string; }; query: { }; body: NodeHeartbeat; answer: HeartbeatAnswer };
  "GET /v1/clusters/{cluster}/observations": { path: { cluster: string; }; query: { from?: string; until?: string; limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; }; body: never; answer: ObservationList };
  "POST /v1/clusters/{cluster}/observations": { path: { cluster: string; }; query: { }; body: ObservationRequest; answer: Observation };
  "GET /v1/clusters/{cluster}/observations/{observation}": { path: { cluster: string; observation: string; }; query: { }; body: never; answer: Observation };
  "GET /v1/clusters/{cluster}/offers": { path: { cluster: string; }; query: { limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; numbers?: "decimal" | "float"; }; body: never; answer: StandingOfferList };
  "POST /v1/clusters/{cluster}/offers": { path: { cluster: string; }; query: { }; body: StandingOffer; answer: StandingOffer };
  "DELETE /v1/clusters/{cluster}/offers/{name}": { path: { cluster: string; name: string; }; query: { }; body: never; answer: never };
  "GET /v1/clusters/{cluster}/offers/{name}": { path: { cluster: string; name: string; }; query: { }; body: never; answer: StandingOffer };
  "PUT /v1/clusters/{cluster}/offers/{name}": { path: { cluster: string; name: string; }; query: { }; body: StandingOffer; answer: StandingOffer };
  "GET /v1/clusters/{cluster}/packings": { path: { cluster: string; }; query: { limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; }; body: never; answer: PackingList };
  "POST /v1/clusters/{cluster}/packings": { path: { cluster: string; }; query: { }; body: Batch; answer: KeptPacking | Run };
  "DELETE /v1/clusters/{cluster}/packings/{packing}": { path: { cluster: string; packing: string; }; query: { }; body: never; answer: never };
  "GET /v1/clusters/{cluster}/packings/{packing}": { path: { cluster: string; packing: string; }; query: { format?: "json" | "csv"; }; body: never; answer: KeptPacking };
  "GET /v1/clusters/{cluster}/plans": { path: { cluster: string; }; query: { in_force?: boolean; from?: string; until?: string; limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; numbers?: "decimal" | "float"; }; body: never; answer: PlanList };
  "POST /v1/clusters/{cluster}/plans": { path: { cluster: string; }; query: { }; body: PlanRequest; answer: PlanRecord | Run };
  "GET /v1/clusters/{cluster}/plans/current": { path: { cluster: string; }; query: { format?: "json" | "csv" | "xlsx"; }; body: never; answer: CurrentPlan };
  "GET /v1/clusters/{cluster}/plans/current/scaling": { path: { cluster: string; }; query: { class?: string; headroom?: string; min?: number; max?: number; lead?: number; }; body: never; answer: Scaling };
  "GET /v1/clusters/{cluster}/plans/diff": { path: { cluster: string; }; query: { from?: string; to?: string; }; body: never; answer: Difference };
  "GET /v1/clusters/{cluster}/plans/events": { path: { cluster: string; }; query: { next?: boolean; }; body: never; answer: never };
  "DELETE /v1/clusters/{cluster}/plans/pin": { path: { cluster: string; }; query: { }; body: never; answer: never };
  "GET /v1/clusters/{cluster}/plans/pin": { path: { cluster: string; }; query: { }; body: never; answer: Pinned };
  "PUT /v1/clusters/{cluster}/plans/pin": { path: { cluster: string; }; query: { }; body: PinRequest; answer: Pinned };
  "GET /v1/clusters/{cluster}/plans/{plan}": { path: { cluster: string; plan: string; }; query: { format?: "json" | "csv" | "xlsx"; }; body: never; answer: PlanRecord };
  "GET /v1/clusters/{cluster}/plans/{plan}/problem": { path: { cluster: string; plan: string; }; query: { }; body: never; answer: Problem };
  "POST /v1/clusters/{cluster}/plans/{plan}/verify": { path: { cluster: string; plan: string; }; query: { }; body: never; answer: Report };
  "DELETE /v1/clusters/{cluster}/pool": { path: { cluster: string; }; query: { }; body: never; answer: never };
  "GET /v1/clusters/{cluster}/pool": { path: { cluster: string; }; query: { }; body: never; answer: PoolSettings };
  "PUT /v1/clusters/{cluster}/pool": { path: { cluster: string; }; query: { }; body: PoolSettings; answer: PoolSettings };
  "GET /v1/clusters/{cluster}/pool/basis": { path: { cluster: string; }; query: { }; body: never; answer: PoolBasis };
  "GET /v1/clusters/{cluster}/pool/machines": { path: { cluster: string; }; query: { }; body: never; answer: PoolMachines };
  "PUT /v1/clusters/{cluster}/pool/machines": { path: { cluster: string; }; query: { }; body: PoolMachineList; answer: PoolMachines };
  "GET /v1/clusters/{cluster}/pool/plans": { path: { cluster: string; }; query: { limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; numbers?: "decimal" | "float"; }; body: never; answer: PoolPlanList };
  "GET /v1/clusters/{cluster}/pool/plans/current": { path: { cluster: string; }; query: { }; body: never; answer: CurrentPoolPlan };
  "GET /v1/clusters/{cluster}/pool/plans/current/scaling": { path: { cluster: string; }; query: { }; body: never; answer: PoolScaling };
  "GET /v1/clusters/{cluster}/pool/plans/{number}": { path: { cluster: string; number: number; }; query: { }; body: never; answer: PoolPlanRecord };
  "GET /v1/clusters/{cluster}/pool/storage-samples": { path: { cluster: string; }; query: { limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; }; body: never; answer: StorageSampleList };
  "POST /v1/clusters/{cluster}/pool/storage-samples": { path: { cluster: string; }; query: { }; body: StorageSampleBatch; answer: StorageSamplesTaken };
  "POST /v1/clusters/{cluster}/pools": { path: { cluster: string; }; query: { }; body: ClusterPoolProblem; answer: PoolPlan | Run };
  "POST /v1/clusters/{cluster}/price-imports": { path: { cluster: string; }; query: { region?: string; instance?: Array<string>; as?: Array<string>; from?: string; on_demand_only?: boolean; zero_prices?: boolean; dry_run?: boolean; }; body: unknown; answer: PriceImport };
  "POST /v1/clusters/{cluster}/price-imports/fetch": { path: { cluster: string; }; query: { }; body: PriceFetch; answer: Run };
  "GET /v1/clusters/{cluster}/prices": { path: { cluster: string; }; query: { limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; numbers?: "decimal" | "float"; }; body: never; answer: PriceList };
  "POST /v1/clusters/{cluster}/prices": { path: { cluster: string; }; query: { }; body: Price; answer: Price };
  "DELETE /v1/clusters/{cluster}/prices/{id}": { path: { cluster: string; id: string; }; query: { }; body: never; answer: never };
  "GET /v1/clusters/{cluster}/prices/{id}": { path: { cluster: string; id: string; }; query: { }; body: never; answer: Price };
  "PUT /v1/clusters/{cluster}/prices/{id}": { path: { cluster: string; id: string; }; query: { }; body: Price; answer: Price };
  "GET /v1/clusters/{cluster}/problem": { path: { cluster: string; }; query: { at?: string; }; body: never; answer: Problem };
  "GET /v1/clusters/{cluster}/profiles": { path: { cluster: string; }; query: { limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; }; body: never; answer: ProfileList };
  "POST /v1/clusters/{cluster}/profiles": { path: { cluster: string; }; query: { }; body: Profile; answer: Profile };
  "POST /v1/clusters/{cluster}/profiles/from-history": { path: { cluster: string; }; query: { }; body: ProfileFromHistory; answer: ProfileMade };
  "DELETE /v1/clusters/{cluster}/profiles/{name}": { path: { cluster: string; name: string; }; query: { }; body: never; answer: never };
  "GET /v1/clusters/{cluster}/profiles/{name}": { path: { cluster: string; name: string; }; query: { }; body: never; answer: Profile };
  "GET /v1/clusters/{cluster}/profiles/{name}/versions": { path: { cluster: string; name: string; }; query: { limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; }; body: never; answer: ProfileList };
  "POST /v1/clusters/{cluster}/profiles/{name}/versions": { path: { cluster: string; name: string; }; query: { }; body: Profile; answer: Profile };
  "GET /v1/clusters/{cluster}/profiles/{name}/versions/{version}": { path: { cluster: string; name: string; version: number; }; query: { }; body: never; answer: Profile };
  "POST /v1/clusters/{cluster}/purchases": { path: { cluster: string; }; query: { format?: "json" | "csv" | "xlsx" | "focus"; }; body: ClusterPurchaseRequest; answer: Purchase | Run };
  "POST /v1/clusters/{cluster}/questions": { path: { cluster: string; }; query: { format?: "json" | "csv" | "xlsx"; }; body: ClusterQuestionRequest; answer: QuestionAnswer };
  "GET /v1/clusters/{cluster}/recorded-jobs": { path: { cluster: string; }; query: { limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; }; body: never; answer: RecordedJobList };
  "POST /v1/clusters/{cluster}/relearn": { path: { cluster: string; }; query: { }; body: never; answer: Knowledge };
  "GET /v1/clusters/{cluster}/report-schedules": { path: { cluster: string; }; query: { limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; }; body: never; answer: ReportScheduleList };
  "POST /v1/clusters/{cluster}/report-schedules": { path: { cluster: string; }; query: { }; body: ReportSchedule; answer: ReportSchedule };
  "DELETE /v1/clusters/{cluster}/report-schedules/{name}": { path: { cluster: string; name: string; }; query: { }; body: never; answer: never };
  "GET /v1/clusters/{cluster}/report-schedules/{name}": { path: { cluster: string; name: string; }; query: { }; body: never; answer: ReportSchedule };
  "PUT /v1/clusters/{cluster}/report-schedules/{name}": { path: { cluster: string; name: string; }; query: { }; body: ReportSchedule; answer: ReportSchedule };
  "GET /v1/clusters/{cluster}/reports": { path: { cluster: string; }; query: { limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; schedule?: string; }; body: never; answer: ClusterReportList };
  "POST /v1/clusters/{cluster}/reports": { path: { cluster: string; }; query: { }; body: ReportRequest; answer: Run };
  "GET /v1/clusters/{cluster}/reports/{report}": { path: { cluster: string; report: string; }; query: { }; body: never; answer: ClusterReport };
  "GET /v1/clusters/{cluster}/reports/{report}/file": { path: { cluster: string; report: string; }; query: { }; body: never; answer: unknown };
  "GET /v1/clusters/{cluster}/scenarios": { path: { cluster: string; }; query: { limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; }; body: never; answer: ScenarioList };
  "POST /v1/clusters/{cluster}/scenarios": { path: { cluster: string; }; query: { }; body: Scenario; answer: Scenario };
  "GET /v1/clusters/{cluster}/scenarios/compare": { path: { cluster: string; }; query: { name: Array<string>; at?: string; format?: "json" | "csv"; }; body: never; answer: WhatIf };
  "DELETE /v1/clusters/{cluster}/scenarios/{name}": { path: { cluster: string; name: string; }; query: { }; body: never; answer: never };
  "GET /v1/clusters/{cluster}/scenarios/{name}": { path: { cluster: string; name: string; }; query: { }; body: never; answer: Scenario };
  "PUT /v1/clusters/{cluster}/scenarios/{name}": { path: { cluster: string; name: string; }; query: { }; body: Scenario; answer: Scenario };
  "GET /v1/clusters/{cluster}/scenarios/{name}/answer": { path: { cluster: string; name: string; }; query: { at?: string; format?: "json" | "csv"; }; body: never; answer: WhatIf };
  "POST /v1/clusters/{cluster}/schedules": { path: { cluster: string; }; query: { }; body: ClusterScheduleRequest; answer: Schedule };
  "GET /v1/clusters/{cluster}/schedules/current": { path: { cluster: string; }; query: { }; body: never; answer: FollowedSchedule };
  "POST /v1/clusters/{cluster}/simulations": { path: { cluster: string; }; query: { format?: "json" | "csv" | "xlsx"; }; body: ClusterSimulationRequest; answer: Run | Simulation };
  "POST /v1/clusters/{cluster}/simulations/schedule": { path: { cluster: string; }; query: { format?: "json" | "csv" | "xlsx"; }; body: ClusterScheduleSimulationRequest; answer: Run | ScheduleSimulation };
  "POST /v1/clusters/{cluster}/sweeps": { path: { cluster: string; }; query: { format?: "json" | "csv" | "xlsx"; }; body: ClusterSweepRequest; answer: Run | Sweep };
  "POST /v1/clusters/{cluster}/targets": { path: { cluster: string; }; query: { format?: "json" | "csv" | "xlsx"; }; body: ClusterTargetsRequest; answer: Run | Targets };
  "GET /v1/clusters/{cluster}/vm-types": { path: { cluster: string; }; query: { limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; numbers?: "decimal" | "float"; }; body: never; answer: VMTypeList };
  "POST /v1/clusters/{cluster}/vm-types": { path: { cluster: string; }; query: { }; body: VMType; answer: VMType };
  "DELETE /v1/clusters/{cluster}/vm-types/{name}": { path: { cluster: string; name: string; }; query: { }; body: never; answer: never };
  "GET /v1/clusters/{cluster}/vm-types/{name}": { path: { cluster: string; name: string; }; query: { }; body: never; answer: VMType };
  "PUT /v1/clusters/{cluster}/vm-types/{name}": { path: { cluster: string; name: string; }; query: { }; body: VMType; answer: VMType };
  "POST /v1/clusters/{cluster}/waiting": { path: { cluster: string; }; query: { format?: "json" | "csv" | "xlsx"; }; body: ClusterWaitingRequest; answer: Run | Waiting };
  "POST /v1/clusters/{cluster}/what-if": { path: { cluster: string; }; query: { format?: "json" | "csv"; }; body: ClusterWhatIfRequest; answer: WhatIf };
  "POST /v1/decide": { path: { }; query: { }; body: DecideRequest; answer: DecideAnswer };
  "POST /v1/fit": { path: { }; query: { }; body: FitRequest; answer: FitAnswer };
  "POST /v1/horizons": { path: { }; query: { format?: "json" | "csv" | "xlsx" | "focus"; per?: "period" | "day" | "month"; }; body: HorizonRequest; answer: Horizon | Run };
  "GET /v1/instance-types": { path: { }; query: { }; body: never; answer: InstanceCatalogues };
  "POST /v1/interference/estimate": { path: { }; query: { }; body: InterferenceRequest; answer: InterferenceAnswer };
  "POST /v1/judge": { path: { }; query: { }; body: JudgeRequest; answer: JudgeAnswer };
  "GET /v1/keys": { path: { }; query: { limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; }; body: never; answer: KeyList };
  "POST /v1/keys": { path: { }; query: { }; body: NewKey; answer: CreatedKey };
  "DELETE /v1/keys/{id}": { path: { id: string; }; query: { }; body: never; answer: never };
  "POST /v1/learn": { path: { }; query: { }; body: LearnRequest; answer: LearnAnswer };
  "GET /v1/overview": { path: { }; query: { cluster?: string; limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; }; body: never; answer: OverviewList };
  "POST /v1/packings": { path: { }; query: { compare?: boolean; one_more?: boolean; by_hours?: number; format?: "json" | "csv"; }; body: Batch; answer: PackingAnswer | Run };
  "POST /v1/pools": { path: { }; query: { }; body: PoolProblem; answer: PoolPlan | Run };
  "POST /v1/pools/evaluate": { path: { }; query: { }; body: PoolProblem; answer: PoolEvaluation };
  "POST /v1/pools/rounds": { path: { }; query: { }; body: PoolCourseProblem; answer: PoolCourse | Run };
  "POST /v1/pools/vm-types": { path: { }; query: { reference: string; whole_vms?: boolean; }; body: PoolProblem; answer: Scenario };
  "POST /v1/purchases": { path: { }; query: { format?: "json" | "csv" | "xlsx" | "focus"; }; body: PurchaseRequest; answer: Purchase | Run };
  "POST /v1/questions": { path: { }; query: { format?: "json" | "csv" | "xlsx"; }; body: QuestionRequest; answer: QuestionAnswer };
  "GET /v1/runs": { path: { }; query: { cluster?: string; state?: "queued" | "running" | "succeeded" | "failed" | "cancelled"; kind?: string; limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; }; body: never; answer: RunList };
  "DELETE /v1/runs/{id}": { path: { id: string; }; query: { }; body: never; answer: Run };
  "GET /v1/runs/{id}": { path: { id: string; }; query: { }; body: never; answer: Run };
  "GET /v1/runs/{id}/events": { path: { id: string; }; query: { }; body: never; answer: never };
  "GET /v1/runs/{id}/result": { path: { id: string; }; query: { format?: "json" | "csv" | "xlsx" | "focus"; per?: "period" | "day" | "month"; }; body: never; answer: unknown };
  "POST /v1/runs/{id}/retry": { path: { id: string; }; query: { }; body: never; answer: Run };
  "POST /v1/schedule": { path: { }; query: { }; body: ScheduleRequest; answer: Schedule };
  "DELETE /v1/session": { path: { }; query: { }; body: never; answer: never };
  "GET /v1/session": { path: { }; query: { }; body: never; answer: Session };
  "POST /v1/session": { path: { }; query: { }; body: Token; answer: Session };
  "POST /v1/share-plans": { path: { }; query: { }; body: SharePlanProblem; answer: Run | SharePlan };
  "POST /v1/simulations": { path: { }; query: { format?: "json" | "csv" | "xlsx"; }; body: SimulationRequest; answer: Run | Simulation };
  "POST /v1/simulations/schedule": { path: { }; query: { format?: "json" | "csv" | "xlsx"; }; body: ScheduleSimulationRequest; answer: Run | ScheduleSimulation };
  "POST /v1/simulations/workload": { path: { }; query: { format?: "json" | "csv" | "xlsx"; }; body: Workload; answer: Run | WorkloadReport };
  "POST /v1/solve": { path: { }; query: { }; body: Problem; answer: Plan };
  "POST /v1/sweeps": { path: { }; query: { format?: "json" | "csv" | "xlsx"; }; body: SweepRequest; answer: Run | Sweep };
  "POST /v1/targets": { path: { }; query: { format?: "json" | "csv" | "xlsx"; }; body: TargetsRequest; answer: Run | Targets };
  "POST /v1/waiting": { path: { }; query: { format?: "json" | "csv" | "xlsx"; }; body: WaitingRequest; answer: Run | Waiting };
  "GET /v1/webhooks": { path: { }; query: { limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; }; body: never; answer: WebhookList };
  "POST /v1/webhooks": { path: { }; query: { }; body: NewWebhook; answer: CreatedWebhook };
  "DELETE /v1/webhooks/{id}": { path: { id: string; }; query: { }; body: never; answer: never };
  "GET /v1/webhooks/{id}": { path: { id: string; }; query: { }; body: never; answer: Webhook };
  "PUT /v1/webhooks/{id}": { path: { id: string; }; query: { }; body: Webhook; answer: Webhook };
  "GET /v1/webhooks/{id}/deliveries": { path: { id: string; }; query: { limit?: number; cursor?: string; format?: "json" | "csv" | "xlsx"; }; body: never; answer: DeliveryList };
  "POST /v1/webhooks/{id}/deliveries/{delivery}/retry": { path: { id: string; delivery: string; }; query: { }; body: never; answer: Delivery };
  "POST /v1/webhooks/{id}/secret": { path: { id: string; }; query: { }; body: SecretRequest; answer: NewSecret };
  "POST /v1/webhooks/{id}/test": { path: { id: string; }; query: { }; body: Empty; answer: Delivery };
  "POST /v1/what-if": { path: { }; query: { format?: "json" | "csv"; }; body: WhatIfRequest; answer: WhatIf };
}
