package server

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/caarlos0/env/v11"
	"github.com/go-playground/validator/v10"
	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/api/entrance"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/auth/oidc"
	tables "example.org/headroom/internal/service/report"
)

// config holds the settings of a server. Each value comes from its flag, else its variable, else its default;
// "headroom server config" shows which. Secrets have no flag: they would stand in the list of processes.
type config struct {
	Listen            string   `env:"HEADROOM_LISTEN" envDefault:"127.0.0.1:8080" flag:"listen" validate:"hostport" help:"address and port to serve on"`
	DataDir           string   `env:"HEADROOM_DATA_DIR" flag:"data-dir" help:"where the private database is kept when there is no DATABASE_URL"`
	DatabaseURL       string   `env:"DATABASE_URL" flag:"database-url" secret:"url" validate:"omitempty,startswith=postgres" help:"a Postgres of yours (15 or newer)"`
	DirectURL         string   `env:"DATABASE_DIRECT_URL" secret:"url" validate:"omitempty,startswith=postgres" help:"the database itself where DATABASE_URL leads through a connection pooler in transaction mode; default DATABASE_URL"`
	MigrateURL        string   `env:"MIGRATE_DATABASE_URL" secret:"url" validate:"omitempty,startswith=postgres" help:"the same database for a role that may change the schema; default DATABASE_DIRECT_URL"`
	Connections       int      `env:"HEADROOM_CONNECTIONS" envDefault:"20" validate:"min=4,max=1000" help:"connections to the database at most"`
	AdminKey          string   `env:"HEADROOM_ADMIN_KEY" secret:"all" validate:"omitempty,startswith=hrk_,min=40,max=128" help:"a key with the role admin that exists while the server runs; make one with: headroom server key draw"`
	Issuer            string   `env:"HEADROOM_OIDC_ISSUER" help:"an OpenID Connect issuer whose bearer tokens open the server besides keys: its address, exactly as it calls itself"`
	Audience          string   `env:"HEADROOM_OIDC_AUDIENCE" validate:"required_with=Issuer" help:"what the issuer's tokens must have in aud; needed with an issuer"`
	RolesClaim        string   `env:"HEADROOM_OIDC_ROLES_CLAIM" envDefault:"roles" help:"the claim with roles, written headroom:planner, or headroom:planner:CLUSTER for a cluster alone; the strongest counts; dots lead into claims, such as realm_access.roles"`
	NameClaim         string   `env:"HEADROOM_OIDC_NAME_CLAIM" envDefault:"sub" help:"the claim with the name that the audit log shows; best one that people cannot choose themselves"`
	ClientID          string   `env:"HEADROOM_OIDC_CLIENT_ID" help:"the issuer's name for this server, with which people sign in at the issuer's own page; the issuer must send them back to /sign-in/back"`
	ClientSecret      string   `env:"HEADROOM_OIDC_CLIENT_SECRET" secret:"all" help:"the issuer's secret for that name, if it has given one"`
	Scopes            string   `env:"HEADROOM_OIDC_SCOPES" envDefault:"openid" help:"what is asked for when people sign in, with spaces between; openid must be there"`
	Hosts             []string `env:"HEADROOM_HOSTS" envSeparator:"," validate:"dive,fqdn|hostname_rfc1123" help:"names under which the server is reached, besides loopback and addresses"`
	Proxies           []string `env:"HEADROOM_PROXIES" envSeparator:"," validate:"dive,ip|cidr" help:"addresses and networks of proxies, such as 10.0.0.0/8, whose X-Forwarded-For or Forwarded says for whom they ask; limits without a key then count for that address"`
	PeerAddress       string   `env:"HEADROOM_PEER_ADDRESS" help:"address and port under which the other servers of the database reach this one, such as 10.0.0.5:8080; with it each live cluster has one server that the others send its requests on to"`
	SecureCookies     bool     `env:"HEADROOM_SECURE_COOKIES" help:"browsers send sign-in cookies over HTTPS only; true behind a proxy with TLS"`
	MetricsListen     string   `env:"HEADROOM_METRICS_LISTEN" validate:"omitempty,hostport" help:"another address, on loopback, that serves /metrics without a key"`
	SolvesPerSecond   int      `env:"HEADROOM_SOLVES_PER_SECOND" envDefault:"20" validate:"min=1,max=100000" help:"solves a key may ask for each second"`
	KeySolveSeconds   int      `env:"HEADROOM_KEY_SOLVE_SECONDS" envDefault:"0" validate:"min=0,max=1000000" help:"seconds that the questions of a key may solve in an hour; 0 is no limit"`
	ClusterBytes      int64    `env:"HEADROOM_CLUSTER_BYTES" envDefault:"0" validate:"min=0" help:"bytes that a cluster may keep in the database before nothing more is added to it; 0 is no limit"`
	ClusterRows       int64    `env:"HEADROOM_CLUSTER_ROWS" envDefault:"0" validate:"min=0" help:"rows that a cluster may keep in the database before nothing more is added to it; 0 is no limit"`
	RequestsPerSecond int      `env:"HEADROOM_REQUESTS_PER_SECOND" envDefault:"1000" validate:"min=1,max=1000000" help:"other requests a key may make each second"`
	OpenPerSecond     int      `env:"HEADROOM_OPEN_REQUESTS_PER_SECOND" envDefault:"300" validate:"min=1,max=1000000" help:"requests without a key that an address may make each second"`
	MaxClasses        int      `env:"HEADROOM_MAX_CLASSES" envDefault:"10000" validate:"min=1,max=1000000" help:"classes in one request"`
	MaxBodyMB         int      `env:"HEADROOM_MAX_BODY_MB" envDefault:"8" validate:"min=1,max=1024" help:"size of one request's body"`
	ImportMaxBytes    int64    `env:"HEADROOM_IMPORT_MAX_BYTES" envDefault:"8589934592" validate:"min=1048576" help:"size of a price sheet or a history that is imported, in bytes, also when it is unpacked"`
	SolverProcesses   int      `env:"HEADROOM_SOLVER_PROCESSES" envDefault:"0" validate:"min=0,max=1024" help:"solver processes; 0 is one a processor"`
	Runs              int      `env:"HEADROOM_RUNS" envDefault:"0" validate:"min=0,max=1024" help:"background runs at once; 0 is one a processor"`
	Copy              string   `env:"HEADROOM_COPY" help:"file with a copy of the last plans and the keys' hashes, for a start while the database is away. Protect it: anyone who can write it can authorise keys to read and solve in an outage. Default last-plans in the data directory, none keeps none"`
	TraceEndpoint     string   `env:"OTEL_EXPORTER_OTLP_ENDPOINT" validate:"omitempty,http_url" help:"a collector of OpenTelemetry traces (OTLP over HTTP), such as http://127.0.0.1:4318; default none"`
	TraceHeaders      string   `env:"OTEL_EXPORTER_OTLP_HEADERS" secret:"all" help:"headers for the collector, as name=value with commas between"`
	TraceProtocol     string   `env:"OTEL_EXPORTER_OTLP_PROTOCOL" validate:"omitempty,oneof=http/protobuf" help:"how the collector is spoken to: http/protobuf, the only one"`
	TraceService      string   `env:"OTEL_SERVICE_NAME" envDefault:"headroom" help:"what traces call this server"`
	TraceResource     string   `env:"OTEL_RESOURCE_ATTRIBUTES" help:"what traces say of this server besides, as name=value with commas between"`
	TraceSampler      string   `env:"OTEL_TRACES_SAMPLER" envDefault:"parentbased_always_on" validate:"oneof=always_on always_off traceidratio parentbased_always_on parentbased_always_off parentbased_traceidratio" help:"which traces are kept; parentbased_… follows whoever asks"`
	TraceRatio        float64  `env:"OTEL_TRACES_SAMPLER_ARG" envDefault:"1" validate:"min=0,max=1" help:"the share of traces that a …traceidratio keeps"`
	LogLevel          string   `env:"HEADROOM_LOG_LEVEL" validate:"omitempty,oneof=debug info warn error" help:"debug, info, warn or error; default info, on a terminal warn"`
}

// setting is one value for people.
type setting struct {
	Name  string `json:"name"`
	Flag  string `json:"flag,omitempty"`
	Value string `json:"value"`
	From  string `json:"from"` // flag, environment, the name of a file, or default
	Help  string `json:"help"`
}

// serverFlags are the flags that serve and config share.
func serverFlags(c *cobra.Command) {
	c.Flags().String("listen", "127.0.0.1:8080", "serve on this `address` and port")
	c.Flags().String("data-dir", "", "keep the private database in this `directory` (default "+dataDirHelp()+")")
	c.Flags().String("database-url", "", "use this Postgres instead of a private one; `URL` without a password, which belongs into DATABASE_URL")
}

func dataDirHelp() string {
	if dir := remote.DefaultDataDir(); dir != "" {
		return dir
	}
	return "none, because there is no home directory"
}

// readConfig gathers and checks the settings; every mistake comes at once.
func readConfig(c *cobra.Command, around surroundings) (config, []setting, error) {
	environ := around.values
	var settings config
	var mistakes []error
	if err := env.ParseWithOptions(&settings, env.Options{Environment: environ}); err != nil {
		var all env.AggregateError
		if errors.As(err, &all) {
			for _, e := range all.Errors {
				mistakes = append(mistakes, parseMistake(e))
			}
		} else {
			mistakes = append(mistakes, err)
		}
	}
	value, shape := reflect.ValueOf(&settings).Elem(), reflect.TypeFor[config]()
	from := make([]string, shape.NumField())
	for i := range shape.NumField() {
		field := shape.Field(i)
		from[i] = "default"
		if environ[field.Tag.Get("env")] != "" {
			from[i] = around.from(field.Tag.Get("env"))
		}
		if name := field.Tag.Get("flag"); name != "" {
			if flag := c.Flags().Lookup(name); flag != nil && flag.Changed {
				value.Field(i).SetString(flag.Value.String())
				if u, err := url.Parse(flag.Value.String()); err == nil && u.User != nil && field.Tag.Get("secret") == "url" {
					if _, set := u.User.Password(); set {
						mistakes = append(mistakes, fmt.Errorf("--%s holds a password, which everybody on this machine can read in the list of processes; give the address in %s", name, field.Tag.Get("env")))
					}
				}
				from[i] = "flag"
			}
		}
	}
	if settings.DataDir == "" {
		settings.DataDir = remote.DefaultDataDir()
	}
	settings.MigrateURL = cmp.Or(settings.MigrateURL, settings.DirectURL, settings.DatabaseURL)
	mistakes = append(mistakes, check(settings)...)
	shown := make([]setting, shape.NumField())
	for i := range shape.NumField() {
		field := shape.Field(i)
		shown[i] = setting{field.Tag.Get("env"), field.Tag.Get("flag"), masked(field.Tag.Get("secret"), value.Field(i).Interface()), from[i], field.Tag.Get("help")}
	}
	return settings, shown, errors.Join(mistakes...)
}

func parseMistake(err error) error {
	var parse env.ParseError
	if errors.As(err, &parse) {
		if field, ok := reflect.TypeFor[config]().FieldByName(parse.Name); ok {
			return fmt.Errorf("%s cannot be read as %s; it is: %s", field.Tag.Get("env"), kindWord(field.Type.Kind()), field.Tag.Get("help"))
		}
	}
	return err
}

func kindWord(k reflect.Kind) string {
	switch k {
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

// check names every value that makes no sense, by its variable.
func check(settings config) (mistakes []error) {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(func(f reflect.StructField) string { return f.Tag.Get("env") })
	if err := v.RegisterValidation("hostport", isHostPort(v)); err != nil {
		panic(err) // a name that the package reserves
	}
	var wrong validator.ValidationErrors
	if errors.As(v.Struct(settings), &wrong) {
		for _, e := range wrong {
			name, _, _ := strings.Cut(e.Field(), "[")
			mistakes = append(mistakes, fmt.Errorf("%s is wrong: it %s", name, ruleSentence(e)))
		}
	}
	if settings.DatabaseURL == "" && settings.DataDir == "" {
		mistakes = append(mistakes, errors.New("there is no place for the private database; give --data-dir, or a Postgres with DATABASE_URL"))
	}
	if settings.Issuer == "" && settings.ClientID != "" {
		mistakes = append(mistakes, errors.New("HEADROOM_OIDC_CLIENT_ID is a name at an issuer, and there is none: give HEADROOM_OIDC_ISSUER, too"))
	}
	if settings.ClientID == "" && settings.ClientSecret != "" {
		mistakes = append(mistakes, errors.New("HEADROOM_OIDC_CLIENT_SECRET is of no use without the name that it belongs to: give HEADROOM_OIDC_CLIENT_ID, too"))
	}
	if !slices.Contains(strings.Fields(settings.Scopes), "openid") {
		mistakes = append(mistakes, errors.New("HEADROOM_OIDC_SCOPES must have openid among its words, or the issuer does not say who signs in"))
	}
	if fault := oidc.Fault(settings.Issuer); settings.Issuer != "" && fault != "" {
		mistakes = append(mistakes, errors.New("HEADROOM_OIDC_ISSUER cannot be an issuer's: "+fault))
	}
	for name, value := range map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": settings.TraceHeaders, "OTEL_RESOURCE_ATTRIBUTES": settings.TraceResource} {
		if _, ok := pairs(value); !ok {
			mistakes = append(mistakes, fmt.Errorf("%s is wrong: it must be name=value, with commas between several and %%-escapes for what is no letter", name))
		}
	}
	if u, err := url.Parse(settings.TraceEndpoint); err == nil && (u.User != nil || u.RawQuery != "") {
		mistakes = append(mistakes, errors.New("OTEL_EXPORTER_OTLP_ENDPOINT has a password or a query in it; what the collector must be told goes into OTEL_EXPORTER_OTLP_HEADERS"))
	}
	if settings.MetricsListen != "" && !onLoopback(settings.MetricsListen) {
		mistakes = append(mistakes, errors.New("HEADROOM_METRICS_LISTEN is not on loopback, and metrics are served there without a key; give an address such as 127.0.0.1:9090"))
	}
	host, port, err := net.SplitHostPort(settings.PeerAddress)
	number, noNumber := strconv.ParseUint(port, 10, 16)
	if ip := net.ParseIP(host); settings.PeerAddress != "" && (err != nil || noNumber != nil || number == 0 || host == "" || ip != nil && ip.IsUnspecified()) {
		mistakes = append(mistakes, errors.New("HEADROOM_PEER_ADDRESS is wrong: it must be an address and a port under which the other servers reach this one, such as 10.0.0.5:8080 or [fd00::5]:8080"))
	}
	return mistakes
}

// proxies returns the networks of the proxies, which were checked.
func (s config) proxies() (networks entrance.Proxies) {
	for _, text := range s.Proxies {
		network, err := netip.ParsePrefix(text)
		if a, single := netip.ParseAddr(text); single == nil {
			network, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err == nil {
			networks = append(networks, network)
		}
	}
	return networks
}

// isHostPort reports whether a text is an address and a port to listen on, such as [::1]:8080, which the package's own rule
// refuses. Without an address it is every one.
func isHostPort(v *validator.Validate) validator.Func {
	return func(f validator.FieldLevel) bool {
		host, port, err := net.SplitHostPort(f.Field().String())
		n, noNumber := strconv.ParseUint(port, 10, 16)
		return err == nil && noNumber == nil && n > 0 && (host == "" || v.Var(host, "ip|hostname_rfc1123") == nil)
	}
}

// ruleSentence says what a value must be. Values are not repeated: some are secret.
func ruleSentence(e validator.FieldError) string {
	switch e.Tag() {
	case "required_with":
		return "is needed with HEADROOM_OIDC_ISSUER: a token for somebody else must not open this server"
	case "http_url":
		return "must be an address such as http://127.0.0.1:4318"
	case "hostport":
		return "must be an address and a port, such as 127.0.0.1:8080"
	case "startswith":
		if e.Param() == "hrk_" {
			return "must be a key such as headroom server key draw makes: hrk_ and 43 letters and digits"
		}
		return "must begin with " + e.Param() + "://"
	case "min":
		return "must be at least " + e.Param() + lengthUnit(e.Kind())
	case "max":
		return "can be " + e.Param() + lengthUnit(e.Kind()) + " at most"
	case "oneof":
		return "must be one of " + strings.ReplaceAll(e.Param(), " ", ", ")
	case "ip|cidr":
		return "must be addresses or networks such as 10.0.0.0/8, separated by commas"
	case "fqdn|hostname_rfc1123":
		return "must be host names without a port, separated by commas"
	}
	return "does not meet " + e.Tag()
}

func lengthUnit(k reflect.Kind) string {
	if k == reflect.String {
		return " characters long"
	}
	return ""
}

// masked is a value as it may be shown.
func masked(secret string, value any) string {
	text := fmt.Sprint(value)
	if list, ok := value.([]string); ok {
		text = strings.Join(list, ",")
	}
	switch {
	case text == "" || secret == "":
		return text
	case secret == "url":
		u, err := url.Parse(text)
		if err != nil {
			return "(set)"
		}
		u.RawQuery = "" // may hold a password as well
		return u.Redacted()
	}
	return "(set)"
}

// onLoopback says whether an address to listen on can be reached from this machine alone.
func onLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// samples are the passwords of examples and compose files. Beyond this machine they open the door.
var samples = []string{"password", "postgres", "secret", "changeme", "change-me", "example", "headroom", "admin", "test", "123456", "sample"}

// sampleSecrets refuses secrets that everybody knows; such a server must not be reachable.
func (s config) sampleSecrets() (mistakes []error) {
	for name, address := range map[string]string{"DATABASE_URL": s.DatabaseURL, "DATABASE_DIRECT_URL": s.DirectURL, "MIGRATE_DATABASE_URL": s.MigrateURL} {
		u, err := url.Parse(address)
		if err != nil || u.User == nil {
			continue
		}
		if password, set := u.User.Password(); set && isSample(password) {
			mistakes = append(mistakes, fmt.Errorf("%s holds a sample password; a server that others can reach needs one of its own", name))
		}
	}
	if key := strings.TrimPrefix(s.AdminKey, "hrk_"); key != "" && (isSample(key) || distinct(key) < 12) {
		mistakes = append(mistakes, errors.New("HEADROOM_ADMIN_KEY is a sample, not a drawn key; make one with: headroom server key draw"))
	}
	return mistakes
}

func isSample(secret string) bool {
	small := strings.ToLower(secret)
	for _, s := range samples {
		if small == s || len(s) > 5 && strings.HasPrefix(small, s) {
			return true
		}
	}
	return secret == ""
}

// distinct counts the different characters of a text; a drawn key of 43 has about 30.
func distinct(s string) int {
	seen := map[rune]bool{}
	for _, r := range s {
		seen[r] = true
	}
	return len(seen)
}

func (s config) logLevel(terminal bool) slog.Level {
	level := slog.LevelInfo
	if s.LogLevel == "" && terminal {
		return slog.LevelWarn
	}
	_ = level.UnmarshalText([]byte(s.LogLevel)) // "" leaves info; others were checked
	return level
}

func configCommand() *cobra.Command {
	var out shell.Output
	c := &cobra.Command{
		Use:   "config",
		Short: "Show the server's settings, where each comes from, and what is wrong with them",
		Long: `Shows the settings of a server that is started from this shell, or of the one that systemd starts: those of
/etc/headroom/headroom.env, where that file is and neither flags nor the environment name a database or a data
directory. The last line says what was read.`,
		Example: "  headroom server config",
		Args:    cobra.NoArgs,
	}
	serverFlags(c)
	envFileFlag(c)
	out.AddFlags(c, "table", "json", "csv")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		around, err := surroundingsOf(c, unitFile)
		if err != nil {
			return err
		}
		read, settings, mistakes := readConfig(c, around)
		for _, said := range mistyped(around.values) {
			fmt.Fprintln(c.ErrOrStderr(), "headroom: "+said)
		}
		table := tables.Table{Columns: []string{"Variable", "Flag", "Value", "From", "What it is"}}
		for _, s := range settings {
			flag := s.Flag
			if flag != "" {
				flag = "--" + flag
			}
			table.Rows = append(table.Rows, []tables.Cell{{Text: s.Name}, {Text: flag}, {Text: s.Value}, {Text: s.From}, {Text: s.Help}})
		}
		if err := out.Write(c, map[string]shell.Form{
			"table": func(w io.Writer) error {
				if err := table.Text(w); err != nil {
					return err
				}
				_, err := fmt.Fprintf(w, "\nRead: %s.\n", around.about(c, read))
				return err
			},
			"json": shell.AsJSON(settings),
			"csv":  table.CSV,
		}); err != nil {
			return err
		}
		return mistakes
	})
}
