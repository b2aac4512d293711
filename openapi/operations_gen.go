// Code generated from openapi.yaml by scripts/operations. DO NOT EDIT.

package openapi

type EndSignInQuery struct {
	Code  string `query:"code"`
	State string `query:"state"`
	Error string `query:"error"`
	Iss   string `query:"iss"`
}

func EndSignIn(query *EndSignInQuery) Request { return to("GET", "/sign-in/back").with(query) }
func BeginSignIn() Request                    { return to("GET", "/sign-in/issuer") }
func ListAllowedHosts() List                  { return List{to("GET", "/v1/allowed-hosts")} }
func CreateAllowedHost() Request              { return to("POST", "/v1/allowed-hosts") }
func DeleteAllowedHost(id string) Request     { return to("DELETE", "/v1/allowed-hosts/{id}", id) }

type ListAuditQuery struct {
	Cluster string `query:"cluster"`
}

func ListAudit(query *ListAuditQuery) List  { return List{to("GET", "/v1/audit").with(query)} }
func Bounds() Request                       { return to("POST", "/v1/bounds") }
func CalibrateExecutions() Request          { return to("POST", "/v1/calibrate") }
func ClassifyTasks() Request                { return to("POST", "/v1/classify") }
func ListClusters() List                    { return List{to("GET", "/v1/clusters")} }
func CreateCluster() Request                { return to("POST", "/v1/clusters") }
func DeleteCluster(cluster string) Request  { return to("DELETE", "/v1/clusters/{cluster}", cluster) }
func GetCluster(cluster string) Request     { return to("GET", "/v1/clusters/{cluster}", cluster) }
func ReplaceCluster(cluster string) Request { return to("PUT", "/v1/clusters/{cluster}", cluster) }

type ListAdmissionsQuery struct {
	Class string `query:"class"`
}

func ListAdmissions(cluster string, query *ListAdmissionsQuery) List {
	return List{to("GET", "/v1/clusters/{cluster}/admissions", cluster).with(query)}
}
func CreateAdmission(cluster string) Request {
	return to("POST", "/v1/clusters/{cluster}/admissions", cluster)
}
func ListAdmissionCounts(cluster string) List {
	return List{to("GET", "/v1/clusters/{cluster}/admissions/summary", cluster)}
}
func EndAdmission(cluster, id string) Request {
	return to("DELETE", "/v1/clusters/{cluster}/admissions/{id}", cluster, id)
}
func GetAdmission(cluster, id string) Request {
	return to("GET", "/v1/clusters/{cluster}/admissions/{id}", cluster, id)
}
func KeepAdmission(cluster, id string) Request {
	return to("POST", "/v1/clusters/{cluster}/admissions/{id}/heartbeat", cluster, id)
}

type PackClassesQuery struct {
	Compare bool   `query:"compare"`
	OneMore bool   `query:"one_more"`
	ByHours string `query:"by_hours"`
	By      string `query:"by"`
	Start   string `query:"start"`
}

func PackClasses(cluster string, query *PackClassesQuery) Request {
	return to("POST", "/v1/clusters/{cluster}/class-packings", cluster).with(query)
}
func ListClasses(cluster string) List {
	return List{to("GET", "/v1/clusters/{cluster}/classes", cluster)}
}
func CreateClass(cluster string) Request {
	return to("POST", "/v1/clusters/{cluster}/classes", cluster)
}
func ClassesFromHistory(cluster string) Request {
	return to("POST", "/v1/clusters/{cluster}/classes/from-history", cluster)
}
func DeleteClass(cluster, name string) Request {
	return to("DELETE", "/v1/clusters/{cluster}/classes/{name}", cluster, name)
}
func GetClass(cluster, name string) Request {
	return to("GET", "/v1/clusters/{cluster}/classes/{name}", cluster, name)
}
func ReplaceClass(cluster, name string) Request {
	return to("PUT", "/v1/clusters/{cluster}/classes/{name}", cluster, name)
}

type GetClassCalibrationQuery struct {
	Job      string `query:"job"`
	From     string `query:"from"`
	Until    string `query:"until"`
	Coverage string `query:"coverage"`
	Format   string `query:"format"`
}

func GetClassCalibration(cluster, name string, query *GetClassCalibrationQuery) Request {
	return to("GET", "/v1/clusters/{cluster}/classes/{name}/calibration", cluster, name).with(query)
}
func AdoptClassCalibration(cluster, name string) Request {
	return to("PUT", "/v1/clusters/{cluster}/classes/{name}/calibration", cluster, name)
}

type GetClassCalibrationQuestionQuery struct {
	Job      string `query:"job"`
	From     string `query:"from"`
	Until    string `query:"until"`
	Coverage string `query:"coverage"`
}

func GetClassCalibrationQuestion(cluster, name string, query *GetClassCalibrationQuestionQuery) Request {
	return to("GET", "/v1/clusters/{cluster}/classes/{name}/calibration/question", cluster, name).with(query)
}
func GetClassifier(cluster string) Request {
	return to("GET", "/v1/clusters/{cluster}/classifier", cluster)
}
func ListContracts(cluster string) List {
	return List{to("GET", "/v1/clusters/{cluster}/contracts", cluster)}
}
func CreateContract(cluster string) Request {
	return to("POST", "/v1/clusters/{cluster}/contracts", cluster)
}
func DeleteContract(cluster, name string) Request {
	return to("DELETE", "/v1/clusters/{cluster}/contracts/{name}", cluster, name)
}
func GetContract(cluster, name string) Request {
	return to("GET", "/v1/clusters/{cluster}/contracts/{name}", cluster, name)
}
func ReplaceContract(cluster, name string) Request {
	return to("PUT", "/v1/clusters/{cluster}/contracts/{name}", cluster, name)
}

type ListLiveDecisionsQuery struct {
	From    string `query:"from"`
	Until   string `query:"until"`
	Node    string `query:"node"`
	Job     string `query:"job"`
	Outcome string `query:"outcome"`
}

func ListLiveDecisions(cluster string, query *ListLiveDecisionsQuery) List {
	return List{to("GET", "/v1/clusters/{cluster}/decisions", cluster).with(query)}
}
func GetDocument(cluster string) Request {
	return to("GET", "/v1/clusters/{cluster}/document", cluster)
}

type ApplyDocumentQuery struct {
	DryRun bool `query:"dry_run"`
}

func ApplyDocument(cluster string, query *ApplyDocumentQuery) Request {
	return to("PUT", "/v1/clusters/{cluster}/document", cluster).with(query)
}
func HoldDriver(cluster, engine string) Request {
	return to("POST", "/v1/clusters/{cluster}/drivers/{engine}", cluster, engine)
}

type DeleteExecutionsQuery struct {
	Job     string `query:"job"`
	Outcome string `query:"outcome"`
	User    string `query:"user"`
	Queue   string `query:"queue"`
	From    string `query:"from"`
	Until   string `query:"until"`
}

func DeleteExecutions(cluster string, query *DeleteExecutionsQuery) Request {
	return to("DELETE", "/v1/clusters/{cluster}/executions", cluster).with(query)
}

type ListExecutionsQuery struct {
	Job     string `query:"job"`
	Outcome string `query:"outcome"`
	User    string `query:"user"`
	Queue   string `query:"queue"`
	From    string `query:"from"`
	Until   string `query:"until"`
}

func ListExecutions(cluster string, query *ListExecutionsQuery) List {
	return List{to("GET", "/v1/clusters/{cluster}/executions", cluster).with(query)}
}

type ImportExecutionsQuery struct {
	DryRun bool `query:"dry_run"`
}

func ImportExecutions(cluster string, query *ImportExecutionsQuery) Request {
	return to("POST", "/v1/clusters/{cluster}/executions", cluster).with(query)
}
func GetExecution(cluster, execution string) Request {
	return to("GET", "/v1/clusters/{cluster}/executions/{execution}", cluster, execution)
}

type ListFitsQuery struct {
	Job  string `query:"job"`
	Kind string `query:"kind"`
}

func ListFits(cluster string, query *ListFitsQuery) List {
	return List{to("GET", "/v1/clusters/{cluster}/fits", cluster).with(query)}
}

type GetFitQuery struct {
	Version  string `query:"version"`
	Method   string `query:"method"`
	VMs      string `query:"vms"`
	Residual string `query:"residual"`
}

func GetFit(cluster, job, kind string, query *GetFitQuery) Request {
	return to("GET", "/v1/clusters/{cluster}/fits/{job}/{kind}", cluster, job, kind).with(query)
}
func ListFitVersions(cluster, job, kind string) List {
	return List{to("GET", "/v1/clusters/{cluster}/fits/{job}/{kind}/versions", cluster, job, kind)}
}

type DeleteForecastsQuery struct {
	Class string `query:"class"`
	From  string `query:"from"`
	Until string `query:"until"`
}

func DeleteForecasts(cluster string, query *DeleteForecastsQuery) Request {
	return to("DELETE", "/v1/clusters/{cluster}/forecasts", cluster).with(query)
}

type ListForecastsQuery struct {
	Wide  bool   `query:"wide"`
	Class string `query:"class"`
	From  string `query:"from"`
	Until string `query:"until"`
}

func ListForecasts(cluster string, query *ListForecastsQuery) List {
	return List{to("GET", "/v1/clusters/{cluster}/forecasts", cluster).with(query)}
}

type PutForecastsQuery struct {
	DryRun bool   `query:"dry_run"`
	Counts string `query:"counts"`
	Holes  string `query:"holes"`
}

func PutForecasts(cluster string, query *PutForecastsQuery) Request {
	return to("PUT", "/v1/clusters/{cluster}/forecasts", cluster).with(query)
}
func ForecastFromHistory(cluster string) Request {
	return to("POST", "/v1/clusters/{cluster}/forecasts/from-history", cluster)
}

type GetForecastPatternQuery struct {
	Class string `query:"class"`
	From  string `query:"from"`
	Until string `query:"until"`
}

func GetForecastPattern(cluster string, query GetForecastPatternQuery) Request {
	return to("GET", "/v1/clusters/{cluster}/forecasts/pattern", cluster).with(query)
}
func PutWeeklyForecast(cluster string) Request {
	return to("POST", "/v1/clusters/{cluster}/forecasts/weekly", cluster)
}

type ImportHistoryQuery struct {
	Job    string `query:"job"`
	DryRun bool   `query:"dry_run"`
}

func ImportHistory(cluster string, query *ImportHistoryQuery) Request {
	return to("POST", "/v1/clusters/{cluster}/history-imports", cluster).with(query)
}
func FetchHistory(cluster string) Request {
	return to("POST", "/v1/clusters/{cluster}/history-imports/fetch", cluster)
}

type ClusterHorizonQuery struct {
	Format string `query:"format"`
	Per    string `query:"per"`
}

func ClusterHorizon(cluster string, query *ClusterHorizonQuery) Request {
	return to("POST", "/v1/clusters/{cluster}/horizons", cluster).with(query)
}

type ListLiveJobsQuery struct {
	State string `query:"state"`
}

func ListLiveJobs(cluster string, query *ListLiveJobsQuery) List {
	return List{to("GET", "/v1/clusters/{cluster}/jobs", cluster).with(query)}
}
func CreateLiveJob(cluster string) Request { return to("POST", "/v1/clusters/{cluster}/jobs", cluster) }
func KillLiveJob(cluster string, job int64) Request {
	return to("DELETE", "/v1/clusters/{cluster}/jobs/{job}", cluster, job)
}
func GetLiveJob(cluster string, job int64) Request {
	return to("GET", "/v1/clusters/{cluster}/jobs/{job}", cluster, job)
}
func GetLiveSettings(cluster string) Request {
	return to("GET", "/v1/clusters/{cluster}/live", cluster)
}
func ReplaceLiveSettings(cluster string) Request {
	return to("PUT", "/v1/clusters/{cluster}/live", cluster)
}
func DryRunPolicy(cluster string) Request {
	return to("POST", "/v1/clusters/{cluster}/live/dry-run", cluster)
}

type DeleteMeasurementsQuery struct {
	Job   string `query:"job"`
	Kind  string `query:"kind"`
	From  string `query:"from"`
	Until string `query:"until"`
}

func DeleteMeasurements(cluster string, query *DeleteMeasurementsQuery) Request {
	return to("DELETE", "/v1/clusters/{cluster}/measurements", cluster).with(query)
}

type ListMeasurementsQuery struct {
	Job   string `query:"job"`
	Kind  string `query:"kind"`
	From  string `query:"from"`
	Until string `query:"until"`
}

func ListMeasurements(cluster string, query *ListMeasurementsQuery) List {
	return List{to("GET", "/v1/clusters/{cluster}/measurements", cluster).with(query)}
}
func AddMeasurements(cluster string) Request {
	return to("POST", "/v1/clusters/{cluster}/measurements", cluster)
}
func ListLiveNodes(cluster string) List {
	return List{to("GET", "/v1/clusters/{cluster}/nodes", cluster)}
}
func RemoveLiveNode(cluster, node string) Request {
	return to("DELETE", "/v1/clusters/{cluster}/nodes/{node}", cluster, node)
}
func GetLiveNode(cluster, node string) Request {
	return to("GET", "/v1/clusters/{cluster}/nodes/{node}", cluster, node)
}
func PutLiveNode(cluster, node string) Request {
	return to("PUT", "/v1/clusters/{cluster}/nodes/{node}", cluster, node)
}
func SendHeartbeat(cluster, node string) Request {
	return to("POST", "/v1/clusters/{cluster}/nodes/{node}/heartbeats", cluster, node)
}

type ListObservationsQuery struct {
	From  string `query:"from"`
	Until string `query:"until"`
}

func ListObservations(cluster string, query *ListObservationsQuery) List {
	return List{to("GET", "/v1/clusters/{cluster}/observations", cluster).with(query)}
}
func CreateObservation(cluster string) Request {
	return to("POST", "/v1/clusters/{cluster}/observations", cluster)
}
func GetObservation(cluster, observation string) Request {
	return to("GET", "/v1/clusters/{cluster}/observations/{observation}", cluster, observation)
}
func ListOffers(cluster string) List {
	return List{to("GET", "/v1/clusters/{cluster}/offers", cluster)}
}
func CreateOffer(cluster string) Request { return to("POST", "/v1/clusters/{cluster}/offers", cluster) }
func DeleteOffer(cluster, name string) Request {
	return to("DELETE", "/v1/clusters/{cluster}/offers/{name}", cluster, name)
}
func GetOffer(cluster, name string) Request {
	return to("GET", "/v1/clusters/{cluster}/offers/{name}", cluster, name)
}
func ReplaceOffer(cluster, name string) Request {
	return to("PUT", "/v1/clusters/{cluster}/offers/{name}", cluster, name)
}
func ListPackings(cluster string) List {
	return List{to("GET", "/v1/clusters/{cluster}/packings", cluster)}
}
func CreatePacking(cluster string) Request {
	return to("POST", "/v1/clusters/{cluster}/packings", cluster)
}
func DeletePacking(cluster, packing string) Request {
	return to("DELETE", "/v1/clusters/{cluster}/packings/{packing}", cluster, packing)
}

type GetPackingQuery struct {
	Format string `query:"format"`
}

func GetPacking(cluster, packing string, query *GetPackingQuery) Request {
	return to("GET", "/v1/clusters/{cluster}/packings/{packing}", cluster, packing).with(query)
}

type ListPlansQuery struct {
	InForce bool   `query:"in_force"`
	From    string `query:"from"`
	Until   string `query:"until"`
}

func ListPlans(cluster string, query *ListPlansQuery) List {
	return List{to("GET", "/v1/clusters/{cluster}/plans", cluster).with(query)}
}
func CreatePlan(cluster string) Request { return to("POST", "/v1/clusters/{cluster}/plans", cluster) }

type GetCurrentPlanQuery struct {
	Format string `query:"format"`
}

func GetCurrentPlan(cluster string, query *GetCurrentPlanQuery) Request {
	return to("GET", "/v1/clusters/{cluster}/plans/current", cluster).with(query)
}

type GetScalingQuery struct {
	Class    string `query:"class"`
	Headroom string `query:"headroom"`
	Min      string `query:"min"`
	Max      string `query:"max"`
	Lead     string `query:"lead"`
}

func GetScaling(cluster string, query *GetScalingQuery) Request {
	return to("GET", "/v1/clusters/{cluster}/plans/current/scaling", cluster).with(query)
}

type DiffPlansQuery struct {
	From string `query:"from"`
	To   string `query:"to"`
}

func DiffPlans(cluster string, query *DiffPlansQuery) Request {
	return to("GET", "/v1/clusters/{cluster}/plans/diff", cluster).with(query)
}

type WatchPlansQuery struct {
	Next bool `query:"next"`
}

func WatchPlans(cluster string, query *WatchPlansQuery) Request {
	return to("GET", "/v1/clusters/{cluster}/plans/events", cluster).with(query)
}
func UnpinPlan(cluster string) Request {
	return to("DELETE", "/v1/clusters/{cluster}/plans/pin", cluster)
}
func GetPin(cluster string) Request  { return to("GET", "/v1/clusters/{cluster}/plans/pin", cluster) }
func PinPlan(cluster string) Request { return to("PUT", "/v1/clusters/{cluster}/plans/pin", cluster) }

type GetPlanQuery struct {
	Format string `query:"format"`
}

func GetPlan(cluster, plan string, query *GetPlanQuery) Request {
	return to("GET", "/v1/clusters/{cluster}/plans/{plan}", cluster, plan).with(query)
}
func GetPlanProblem(cluster, plan string) Request {
	return to("GET", "/v1/clusters/{cluster}/plans/{plan}/problem", cluster, plan)
}
func VerifyPlan(cluster, plan string) Request {
	return to("POST", "/v1/clusters/{cluster}/plans/{plan}/verify", cluster, plan)
}
func DeletePoolSettings(cluster string) Request {
	return to("DELETE", "/v1/clusters/{cluster}/pool", cluster)
}
func GetPoolSettings(cluster string) Request {
	return to("GET", "/v1/clusters/{cluster}/pool", cluster)
}
func ReplacePoolSettings(cluster string) Request {
	return to("PUT", "/v1/clusters/{cluster}/pool", cluster)
}
func GetPoolBasis(cluster string) Request {
	return to("GET", "/v1/clusters/{cluster}/pool/basis", cluster)
}
func GetPoolMachines(cluster string) Request {
	return to("GET", "/v1/clusters/{cluster}/pool/machines", cluster)
}
func ReplacePoolMachines(cluster string) Request {
	return to("PUT", "/v1/clusters/{cluster}/pool/machines", cluster)
}
func ListPoolPlans(cluster string) List {
	return List{to("GET", "/v1/clusters/{cluster}/pool/plans", cluster)}
}
func GetCurrentPoolPlan(cluster string) Request {
	return to("GET", "/v1/clusters/{cluster}/pool/plans/current", cluster)
}
func GetPoolScaling(cluster string) Request {
	return to("GET", "/v1/clusters/{cluster}/pool/plans/current/scaling", cluster)
}
func GetPoolPlan(cluster string, number int64) Request {
	return to("GET", "/v1/clusters/{cluster}/pool/plans/{number}", cluster, number)
}
func ListStorageSamples(cluster string) List {
	return List{to("GET", "/v1/clusters/{cluster}/pool/storage-samples", cluster)}
}
func AddStorageSamples(cluster string) Request {
	return to("POST", "/v1/clusters/{cluster}/pool/storage-samples", cluster)
}
func PlanClusterPool(cluster string) Request {
	return to("POST", "/v1/clusters/{cluster}/pools", cluster)
}

type ImportPricesQuery struct {
	Region       string   `query:"region"`
	Instance     []string `query:"instance"`
	As           []string `query:"as"`
	From         string   `query:"from"`
	OnDemandOnly bool     `query:"on_demand_only"`
	ZeroPrices   bool     `query:"zero_prices"`
	DryRun       bool     `query:"dry_run"`
}

func ImportPrices(cluster string, query *ImportPricesQuery) Request {
	return to("POST", "/v1/clusters/{cluster}/price-imports", cluster).with(query)
}
func FetchPrices(cluster string) Request {
	return to("POST", "/v1/clusters/{cluster}/price-imports/fetch", cluster)
}
func ListPrices(cluster string) List {
	return List{to("GET", "/v1/clusters/{cluster}/prices", cluster)}
}
func CreatePrice(cluster string) Request { return to("POST", "/v1/clusters/{cluster}/prices", cluster) }
func DeletePrice(cluster, id string) Request {
	return to("DELETE", "/v1/clusters/{cluster}/prices/{id}", cluster, id)
}
func GetPrice(cluster, id string) Request {
	return to("GET", "/v1/clusters/{cluster}/prices/{id}", cluster, id)
}
func ReplacePrice(cluster, id string) Request {
	return to("PUT", "/v1/clusters/{cluster}/prices/{id}", cluster, id)
}

type GetProblemQuery struct {
	At string `query:"at"`
}

func GetProblem(cluster string, query *GetProblemQuery) Request {
	return to("GET", "/v1/clusters/{cluster}/problem", cluster).with(query)
}
func ListProfiles(cluster string) List {
	return List{to("GET", "/v1/clusters/{cluster}/profiles", cluster)}
}
func CreateProfile(cluster string) Request {
	return to("POST", "/v1/clusters/{cluster}/profiles", cluster)
}
func ProfileFromHistory(cluster string) Request {
	return to("POST", "/v1/clusters/{cluster}/profiles/from-history", cluster)
}
func DeleteProfile(cluster, name string) Request {
	return to("DELETE", "/v1/clusters/{cluster}/profiles/{name}", cluster, name)
}
func GetProfile(cluster, name string) Request {
	return to("GET", "/v1/clusters/{cluster}/profiles/{name}", cluster, name)
}
func ListProfileVersions(cluster, name string) List {
	return List{to("GET", "/v1/clusters/{cluster}/profiles/{name}/versions", cluster, name)}
}
func AddProfileVersion(cluster, name string) Request {
	return to("POST", "/v1/clusters/{cluster}/profiles/{name}/versions", cluster, name)
}
func GetProfileVersion(cluster, name string, version int64) Request {
	return to("GET", "/v1/clusters/{cluster}/profiles/{name}/versions/{version}", cluster, name, version)
}

type ClusterPurchaseQuery struct {
	Format string `query:"format"`
}

func ClusterPurchase(cluster string, query *ClusterPurchaseQuery) Request {
	return to("POST", "/v1/clusters/{cluster}/purchases", cluster).with(query)
}

type AskClusterQuery struct {
	Format string `query:"format"`
}

func AskCluster(cluster string, query *AskClusterQuery) Request {
	return to("POST", "/v1/clusters/{cluster}/questions", cluster).with(query)
}
func ListRecordedJobs(cluster string) List {
	return List{to("GET", "/v1/clusters/{cluster}/recorded-jobs", cluster)}
}
func Relearn(cluster string) Request { return to("POST", "/v1/clusters/{cluster}/relearn", cluster) }
func ListReportSchedules(cluster string) List {
	return List{to("GET", "/v1/clusters/{cluster}/report-schedules", cluster)}
}
func CreateReportSchedule(cluster string) Request {
	return to("POST", "/v1/clusters/{cluster}/report-schedules", cluster)
}
func DeleteReportSchedule(cluster, name string) Request {
	return to("DELETE", "/v1/clusters/{cluster}/report-schedules/{name}", cluster, name)
}
func GetReportSchedule(cluster, name string) Request {
	return to("GET", "/v1/clusters/{cluster}/report-schedules/{name}", cluster, name)
}
func ReplaceReportSchedule(cluster, name string) Request {
	return to("PUT", "/v1/clusters/{cluster}/report-schedules/{name}", cluster, name)
}

type ListReportsQuery struct {
	Schedule string `query:"schedule"`
}

func ListReports(cluster string, query *ListReportsQuery) List {
	return List{to("GET", "/v1/clusters/{cluster}/reports", cluster).with(query)}
}
func CreateReport(cluster string) Request {
	return to("POST", "/v1/clusters/{cluster}/reports", cluster)
}
func GetReport(cluster, report string) Request {
	return to("GET", "/v1/clusters/{cluster}/reports/{report}", cluster, report)
}
func GetReportFile(cluster, report string) Request {
	return to("GET", "/v1/clusters/{cluster}/reports/{report}/file", cluster, report)
}
func ListScenarios(cluster string) List {
	return List{to("GET", "/v1/clusters/{cluster}/scenarios", cluster)}
}
func CreateScenario(cluster string) Request {
	return to("POST", "/v1/clusters/{cluster}/scenarios", cluster)
}

type CompareScenariosQuery struct {
	Name   []string `query:"name"`
	At     string   `query:"at"`
	Format string   `query:"format"`
}

func CompareScenarios(cluster string, query CompareScenariosQuery) Request {
	return to("GET", "/v1/clusters/{cluster}/scenarios/compare", cluster).with(query)
}
func DeleteScenario(cluster, name string) Request {
	return to("DELETE", "/v1/clusters/{cluster}/scenarios/{name}", cluster, name)
}
func GetScenario(cluster, name string) Request {
	return to("GET", "/v1/clusters/{cluster}/scenarios/{name}", cluster, name)
}
func ReplaceScenario(cluster, name string) Request {
	return to("PUT", "/v1/clusters/{cluster}/scenarios/{name}", cluster, name)
}

type AnswerScenarioQuery struct {
	At     string `query:"at"`
	Format string `query:"format"`
}

func AnswerScenario(cluster, name string, query *AnswerScenarioQuery) Request {
	return to("GET", "/v1/clusters/{cluster}/scenarios/{name}/answer", cluster, name).with(query)
}
func ClusterSchedule(cluster string) Request {
	return to("POST", "/v1/clusters/{cluster}/schedules", cluster)
}
func GetFollowedSchedule(cluster string) Request {
	return to("GET", "/v1/clusters/{cluster}/schedules/current", cluster)
}

type ClusterSimulationQuery struct {
	Format string `query:"format"`
}

func ClusterSimulation(cluster string, query *ClusterSimulationQuery) Request {
	return to("POST", "/v1/clusters/{cluster}/simulations", cluster).with(query)
}

type ClusterScheduleSimulationQuery struct {
	Format string `query:"format"`
}

func ClusterScheduleSimulation(cluster string, query *ClusterScheduleSimulationQuery) Request {
	return to("POST", "/v1/clusters/{cluster}/simulations/schedule", cluster).with(query)
}

type ClusterSweepQuery struct {
	Format string `query:"format"`
}

func ClusterSweep(cluster string, query *ClusterSweepQuery) Request {
	return to("POST", "/v1/clusters/{cluster}/sweeps", cluster).with(query)
}

type ClusterTargetsQuery struct {
	Format string `query:"format"`
}

func ClusterTargets(cluster string, query *ClusterTargetsQuery) Request {
	return to("POST", "/v1/clusters/{cluster}/targets", cluster).with(query)
}
func ListVMTypes(cluster string) List {
	return List{to("GET", "/v1/clusters/{cluster}/vm-types", cluster)}
}
func CreateVMType(cluster string) Request {
	return to("POST", "/v1/clusters/{cluster}/vm-types", cluster)
}
func DeleteVMType(cluster, name string) Request {
	return to("DELETE", "/v1/clusters/{cluster}/vm-types/{name}", cluster, name)
}
func GetVMType(cluster, name string) Request {
	return to("GET", "/v1/clusters/{cluster}/vm-types/{name}", cluster, name)
}
func ReplaceVMType(cluster, name string) Request {
	return to("PUT", "/v1/clusters/{cluster}/vm-types/{name}", cluster, name)
}

type ClusterWaitingQuery struct {
	Format string `query:"format"`
}

func ClusterWaiting(cluster string, query *ClusterWaitingQuery) Request {
	return to("POST", "/v1/clusters/{cluster}/waiting", cluster).with(query)
}

type ClusterWhatIfQuery struct {
	Format string `query:"format"`
}

func ClusterWhatIf(cluster string, query *ClusterWhatIfQuery) Request {
	return to("POST", "/v1/clusters/{cluster}/what-if", cluster).with(query)
}
func DecideSlot() Request      { return to("POST", "/v1/decide") }
func FitMeasurements() Request { return to("POST", "/v1/fit") }

type HorizonQuery struct {
	Format string `query:"format"`
	Per    string `query:"per"`
}

func Horizon(query *HorizonQuery) Request { return to("POST", "/v1/horizons").with(query) }
func GetInstanceTypes() Request           { return to("GET", "/v1/instance-types") }
func EstimateInterference() Request       { return to("POST", "/v1/interference/estimate") }
func JudgePromise() Request               { return to("POST", "/v1/judge") }
func ListKeys() List                      { return List{to("GET", "/v1/keys")} }
func CreateKey() Request                  { return to("POST", "/v1/keys") }
func RevokeKey(id string) Request         { return to("DELETE", "/v1/keys/{id}", id) }
func LearnLessons() Request               { return to("POST", "/v1/learn") }

type GetOverviewQuery struct {
	Cluster string `query:"cluster"`
}

func GetOverview(query *GetOverviewQuery) List { return List{to("GET", "/v1/overview").with(query)} }

type PackQuery struct {
	Compare bool   `query:"compare"`
	OneMore bool   `query:"one_more"`
	ByHours string `query:"by_hours"`
	Format  string `query:"format"`
}

func Pack(query *PackQuery) Request { return to("POST", "/v1/packings").with(query) }
func PlanPool() Request             { return to("POST", "/v1/pools") }
func EvaluatePool() Request         { return to("POST", "/v1/pools/evaluate") }
func PlanPoolRounds() Request       { return to("POST", "/v1/pools/rounds") }

type PoolVMTypesQuery struct {
	Reference string `query:"reference"`
	WholeVMs  bool   `query:"whole_vms"`
}

func PoolVMTypes(query PoolVMTypesQuery) Request { return to("POST", "/v1/pools/vm-types").with(query) }

type PurchaseQuery struct {
	Format string `query:"format"`
}

func Purchase(query *PurchaseQuery) Request { return to("POST", "/v1/purchases").with(query) }

type AskQuery struct {
	Format string `query:"format"`
}

func Ask(query *AskQuery) Request { return to("POST", "/v1/questions").with(query) }

type ListRunsQuery struct {
	Cluster string `query:"cluster"`
	State   string `query:"state"`
	Kind    string `query:"kind"`
}

func ListRuns(query *ListRunsQuery) List { return List{to("GET", "/v1/runs").with(query)} }
func CancelRun(id string) Request        { return to("DELETE", "/v1/runs/{id}", id) }
func GetRun(id string) Request           { return to("GET", "/v1/runs/{id}", id) }
func WatchRun(id string) Request         { return to("GET", "/v1/runs/{id}/events", id) }

type GetRunResultQuery struct {
	Format string `query:"format"`
	Per    string `query:"per"`
}

func GetRunResult(id string, query *GetRunResultQuery) Request {
	return to("GET", "/v1/runs/{id}/result", id).with(query)
}
func RetryRun(id string) Request { return to("POST", "/v1/runs/{id}/retry", id) }
func Schedule() Request          { return to("POST", "/v1/schedule") }
func DeleteSession() Request     { return to("DELETE", "/v1/session") }
func GetSession() Request        { return to("GET", "/v1/session") }
func CreateSession() Request     { return to("POST", "/v1/session") }
func PlanShares() Request        { return to("POST", "/v1/share-plans") }

type SimulationQuery struct {
	Format string `query:"format"`
}

func Simulation(query *SimulationQuery) Request { return to("POST", "/v1/simulations").with(query) }

type ScheduleSimulationQuery struct {
	Format string `query:"format"`
}

func ScheduleSimulation(query *ScheduleSimulationQuery) Request {
	return to("POST", "/v1/simulations/schedule").with(query)
}

type WorkloadSimulationQuery struct {
	Format string `query:"format"`
}

func WorkloadSimulation(query *WorkloadSimulationQuery) Request {
	return to("POST", "/v1/simulations/workload").with(query)
}
func Solve() Request { return to("POST", "/v1/solve") }

type SweepQuery struct {
	Format string `query:"format"`
}

func Sweep(query *SweepQuery) Request { return to("POST", "/v1/sweeps").with(query) }

type TargetsQuery struct {
	Format string `query:"format"`
}

func Targets(query *TargetsQuery) Request { return to("POST", "/v1/targets").with(query) }

type WaitingQuery struct {
	Format string `query:"format"`
}

func Waiting(query *WaitingQuery) Request { return to("POST", "/v1/waiting").with(query) }
func ListWebhooks() List                  { return List{to("GET", "/v1/webhooks")} }
func CreateWebhook() Request              { return to("POST", "/v1/webhooks") }
func DeleteWebhook(id string) Request     { return to("DELETE", "/v1/webhooks/{id}", id) }
func GetWebhook(id string) Request        { return to("GET", "/v1/webhooks/{id}", id) }
func ReplaceWebhook(id string) Request    { return to("PUT", "/v1/webhooks/{id}", id) }
func ListDeliveries(id string) List       { return List{to("GET", "/v1/webhooks/{id}/deliveries", id)} }
func RetryDelivery(id, delivery string) Request {
	return to("POST", "/v1/webhooks/{id}/deliveries/{delivery}/retry", id, delivery)
}
func RotateWebhookSecret(id string) Request { return to("POST", "/v1/webhooks/{id}/secret", id) }
func TestWebhook(id string) Request         { return to("POST", "/v1/webhooks/{id}/test", id) }

type WhatIfQuery struct {
	Format string `query:"format"`
}

func WhatIf(query *WhatIfQuery) Request { return to("POST", "/v1/what-if").with(query) }
