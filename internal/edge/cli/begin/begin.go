// Package begin holds the command that makes a first cluster of what somebody has: past runs, or a guess.
package begin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/words"
	stored "example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/cli/history"
	"example.org/headroom/internal/edge/cli/inputs"
	"example.org/headroom/internal/edge/cli/plan"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/openapi"
)

// Commands returns the command.

// beginning is a cluster that is being made.
type beginning struct {
	cluster, currency, zone string

	instance      string
	price         string
	sheet, region string // a price sheet in place of a price, and what of it
	offers        int    // that the sheet has
	slots         int64

	history []string // files and directories; none for a guess
	zoned   history.Zone
	takes   time.Duration
	on      int64
	aDay    float64
	until   string    // of the forecasts
	end     time.Time // which until says; zero for what is usual

	s       *remote.Service
	now     time.Time
	classes []made
	assumed []assumption
	left    []string // what was left out, and why
}

// made is a class that was made.
type made struct{ name, about string }

// assumption tells what init took for granted, and what changes it.
type assumption struct{ what, change string }

func (b *beginning) assume(change, what string, values ...any) {
	b.assumed = append(b.assumed, assumption{fmt.Sprintf(what, values...), change})
}

// Command returns the command that makes a first cluster.
func Command() *cobra.Command {
	var to remote.Connection
	var b beginning
	c := &cobra.Command{
		Use: "init CLUSTER", Short: "Make a first cluster of past runs or of a guess, and plan it",
		Long: `Makes a cluster of what you have, plans it, and says what it took for granted and how to change each of it.

With --from-history it reads past runs, as "headroom history import" does: each job becomes a class, with a profile,
a deadline that 95 % of its runs met (all of them, where they are fewer than 20), and a forecast of when it arrives.
With --takes, --on and --a-day a guess does: "it takes 45 minutes on 10 machines, 20 times a day". On a terminal it
asks for what is missing.

All jobs are promised to run. The cluster is there whole, or not at all.` + remote.ConnectionHelp,
		Example: "  headroom init shop --from-history /var/spark-events --instance m5.xlarge --price 0.192\n" +
			"  headroom init shop --from-history /var/spark-events --instance m5.xlarge --prices sheet.csv --region eu-central-1\n" +
			"  headroom init shop --takes 45m --on 10 --a-day 20 --instance m5.xlarge --price 0.192",
		Args: cobra.ExactArgs(1),
	}
	to.AddFlags(c)
	f := c.Flags()
	f.StringVar(&b.instance, "instance", "", "the `type` of VM to rent, such as m5.xlarge (required)")
	f.StringVar(&b.price, "price", "", "what one costs an hour on demand, as an `amount` such as 0.192 (required, or --prices)")
	f.StringVar(&b.sheet, "prices", "", "a price sheet that says so, with its offers: a `file` as for \"headroom supply price import\"")
	f.StringVar(&b.region, "region", "", "of the price sheet: the `region`, such as eu-central-1")
	f.StringVar(&b.currency, "currency", "USD", "the `currency` of the price")
	f.Int64Var(&b.slots, "slots", 0, "how many tasks at once run on one VM, as a `number` (default one for each processor, from the type's name or the price sheet)")
	f.StringVar(&b.zone, "time-zone", "UTC", "the `zone` that the week is in, such as Europe/Berlin")
	f.StringSliceVar(&b.history, "from-history", nil, "past runs: a `path` of a file or directory; again for others")
	b.zoned.Add(c)
	f.DurationVar(&b.takes, "takes", 0, "of a guess: how long a job takes, such as 45m")
	f.Int64Var(&b.on, "on", 0, "of a guess: on so many machines, a `number`")
	f.Float64Var(&b.aDay, "a-day", 0, "of a guess: how many such jobs there are a day, a `number`")
	f.StringVar(&b.until, "until", "", "until when runs go on to arrive like that, as a `time` such as 2027-12-31 (default 92 days ahead)")
	asks := false // for what is missing
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		if err := errors.Join(b.zoned.Check(), b.readUntil()); err != nil {
			return err
		}
		if asks = b.missing() && shell.IsTerminal(c.InOrStdin()); asks {
			return nil
		}
		return b.check()
	}
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		b.s, b.cluster, b.now = s, args[0], time.Now()
		if asks {
			if err := b.ask(c); err != nil {
				return err
			}
		}
		if err := b.make(c); err != nil {
			return err
		}
		if err := b.say(c.OutOrStdout()); err != nil {
			return err
		}
		return b.plan(c)
	})
}

// plan makes the first plan, tells the bill until the forecasts end, and what to ask next.
func (b *beginning) plan(c *cobra.Command) error {
	soon, _, err := b.months(c, object{"until": b.now.UTC().Truncate(time.Hour).Add(fortnight), "detail": "periods"})
	if err != nil {
		return err
	}
	months, told, err := b.months(c, object{"detail": "summary"})
	if err != nil {
		return err
	}
	var busy time.Time
	for _, p := range soon.Periods {
		if p.Admitted > 0 {
			busy = p.Start
			break
		}
	}
	var plain []string
	if len(b.history) == 0 {
		plain = []string{words.NotCalibrated} // a guess has no runs
	}
	number, err := plan.Create(c, b.s, b.cluster, busy, plain...)
	if err != nil {
		return err
	}
	cluster := shell.Shown(b.cluster)
	first, _, _ := strings.Cut(months.Explanation, "\n")
	if !told {
		first = fmt.Sprintf("The bill of the time ahead takes longer to work out: headroom whatif months --cluster %s tells it.", cluster)
	}
	if told && months.Total.Admitted+months.Total.Refused == 0 {
		first += "\n" + b.nothingExpected()
	}
	if first != "" {
		fmt.Fprintf(c.OutOrStdout(), "\n%s\n", shell.ShownLines(first))
	}
	text := fmt.Sprintf("\nGo on: headroom whatif months --cluster %s tells the bill by month (with --until and --assume also beyond the forecast), "+
		"headroom plan explain %[1]s --plan %d what would change the plan.\n", cluster, number)
	if b.offers > 0 {
		text += fmt.Sprintf("The price sheet has %s: headroom whatif purchase --cluster %s tells which to buy.\n",
			shell.Counted(int64(b.offers), "offer"), cluster)
	}
	_, err = io.WriteString(c.OutOrStdout(), text)
	return err
}

// nothingExpected says why the time ahead costs nothing, and what changes that.
func (b *beginning) nothingExpected() string {
	until := b.end
	if until.IsZero() {
		until = b.now.Add(clusters.Ahead)
	}
	return fmt.Sprintf("No run is expected in that time, so nothing is rented. Say when runs come, such as one at 1:00 on working days:\n"+
		"  headroom class forecast weekly %s %s --counts arrivals --week 'mon-fri 1-2: 1; else 0' --from %s --until %s",
		b.cluster, shell.QuotedText(b.classes[0].name), b.now.UTC().Format(time.DateOnly), until.UTC().Format(time.DateOnly))
}

// readUntil reads the end of the forecasts.
func (b *beginning) readUntil() error {
	if b.until == "" {
		return nil
	}
	if text, ok := shell.MomentOf(b.until); !ok || b.end.UnmarshalText([]byte(text)) != nil {
		return fmt.Errorf("--until is %q; give a time such as 2027-12-31", b.until)
	}
	if !b.end.After(time.Now()) {
		return fmt.Errorf("--until is %s, which is past; give a later one", b.until)
	}
	return nil
}

// fortnight bounds the time ahead in which an hour with jobs is looked for.
const fortnight = 14 * 24 * time.Hour

// bill is an answer about the time ahead.
type bill struct {
	Explanation string `json:"explanation"`
	Total       struct {
		Admitted float64 `json:"admitted_job_hours"`
		Refused  float64 `json:"refused_job_hours"`
	} `json:"total"`
	Periods []struct {
		Start    time.Time `json:"start"`
		Admitted float64   `json:"admitted"`
	} `json:"periods"`
}

// patience bounds the wait for the bill of the time ahead once it has become a run.
const patience = 30 * time.Second

// months asks what the time ahead comes to, and says whether that was told in time.
func (b *beginning) months(c *cobra.Command, question object) (all bill, told bool, err error) {
	told, err = b.s.CallWithin(c.Context(), c.ErrOrStderr(), patience, openapi.ClusterHorizon(b.cluster, nil), &all, remote.JSONOf(question))
	return all, told, err
}

// check refuses flags that make no beginning.
func (b *beginning) check() error {
	guess := b.takes != 0 || b.on != 0 || b.aDay != 0
	switch {
	case b.instance == "":
		return errors.New("say which type of VM to rent: --instance m5.xlarge")
	case b.price == "" && b.sheet == "":
		return fmt.Errorf("say what %s costs an hour: --price 0.192, or --prices with a price sheet", b.instance)
	case b.price != "" && b.sheet != "":
		return errors.New("--price says what one costs, and --prices where that stands; give one of both")
	case b.region != "" && b.sheet == "":
		return errors.New("--region belongs to --prices")
	case len(b.history) > 0 && guess:
		return errors.New("--from-history takes past runs, and --takes, --on and --a-day a guess; give one of both")
	case len(b.history) == 0 && !guess:
		return errors.New("say what runs: --from-history with past runs, or a guess as --takes 45m --on 10 --a-day 20")
	case guess && (b.takes < time.Second || b.on < 1 || !(b.aDay > 0)):
		return errors.New("a guess has three parts, each more than 0: --takes 45m --on 10 --a-day 20")
	case guess && (b.takes > maxTakes || b.on > maxGuessed || b.aDay > maxGuessed):
		return fmt.Errorf("a guess goes up to --takes %s, --on %d and --a-day %[2]d", maxTakes, maxGuessed)
	case b.slots < 0:
		return fmt.Errorf("--slots is %d; give 1 or more", b.slots)
	}
	if b.slots > 0 {
		return nil
	}
	switch n := stored.Processors(b.instance); {
	case n > 0:
		b.oneEach(n)
	case b.sheet == "": // which may say it
		return fmt.Errorf("the name %s does not say how many processors it has; say how many tasks run on one at once: --slots 4", b.instance)
	}
	return nil
}

// oneEach takes a slot for each processor for granted.
func (b *beginning) oneEach(processors int64) {
	b.slots = processors
	b.assume("--slots", "%s", clusters.OneEach(b.instance, processors))
}

const (
	maxTakes   = 100 * time.Hour
	maxGuessed = 100_000
)

// origins names the flags that give what a server refuses.
var origins = remote.Origins{
	{Pointer: "/prices/0/price", Flag: "--price"}, {Pointer: "/vm_types/0/name", Flag: "--instance"}, {Pointer: "/cluster/name", Flag: "the cluster's name"},
	{Pointer: "/cluster/currency", Flag: "--currency"}, {Pointer: "/cluster/time_zone", Flag: "--time-zone"},
	{Pointer: "/until", Flag: "--until"},
}

// make makes the cluster. Where that fails nothing is left of it.
func (b *beginning) make(c *cobra.Command) error {
	since := b.now.UTC().Truncate(time.Hour)
	vmType := object{"name": b.instance, "in_use": true}
	if n := stored.Processors(b.instance); n > 0 {
		vmType["vcpu"] = n
	}
	document := object{
		"cluster": object{"name": b.cluster, "currency": b.currency, "period_s": 3600, "time_zone": b.zone,
			"options": object{"bound": "calibrated"}},
		"vm_types": []object{vmType},
	}
	if b.sheet == "" {
		document["prices"] = []object{{"vm_type": b.instance, "price": b.price, "from": since, "until": nil}}
	}
	if _, err := b.send(c.Context(), openapi.ApplyDocument(b.cluster, nil), document, remote.Header("If-None-Match", "*")); err != nil {
		if errors.Is(err, fault.Conflict) {
			return fmt.Errorf("there is a cluster %q already; choose another name, or delete it: headroom cluster delete %s", b.cluster, b.cluster)
		}
		return origins.Say(err)
	}
	err := b.fill(c)
	if err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Context()), time.Minute)
	defer cancel()
	a, gone := b.s.Call(ctx, openapi.GetCluster(b.cluster))
	if gone == nil {
		_, gone = b.s.Call(ctx, openapi.DeleteCluster(b.cluster), remote.IfMatch(a.Etag))
	}
	if gone != nil {
		return fmt.Errorf("%w\nThe cluster %q is there in part: headroom cluster delete %s", err, b.cluster, b.cluster)
	}
	return err
}

// fill adds what is not in the cluster's first document: prices of a sheet, and classes.
func (b *beginning) fill(c *cobra.Command) error {
	if b.sheet != "" {
		if err := b.fromSheet(c); err != nil {
			return err
		}
	}
	b.assume("headroom supply price", "%s costs %s %s an hour for all time to come", b.instance, b.price, b.currency)
	if len(b.history) == 0 {
		return b.fromGuess(c)
	}
	return b.fromHistory(c)
}

// fromSheet takes over the price and the offers of the VM type.
func (b *beginning) fromSheet(c *cobra.Command) error {
	made, err := inputs.ImportPrices(c, b.s, b.cluster, b.sheet, b.region, b.instance)
	if err != nil {
		return err
	}
	if len(made.Items) != 1 || made.Items[0].OnDemand == nil {
		return fmt.Errorf("%s has no on-demand price of %s; give one: --price 0.192", b.sheet, b.instance)
	}
	b.price, b.offers = made.Items[0].OnDemand.String(), len(made.Items[0].Offers)
	if b.slots > 0 {
		return nil
	}
	a, err := b.s.Call(c.Context(), openapi.GetVMType(b.cluster, b.instance))
	if err != nil {
		return err
	}
	var of stored.VMType
	if err := a.Into(&of); err != nil {
		return err
	}
	if of.VCPU == nil || *of.VCPU < 1 {
		return fmt.Errorf("neither the name %s nor %s says how many processors it has; say how many tasks run on one at once: --slots 4", b.instance, b.sheet)
	}
	b.oneEach(int64(*of.VCPU))
	return nil
}

type object map[string]any

// send sends a question made here.
func (b *beginning) send(ctx context.Context, request openapi.Request, body any, options ...remote.Option) (remote.Answer, error) {
	return b.s.Call(ctx, request, append(options, remote.JSONOf(body))...)
}

// A guessed job has tasks of so many seconds.
const task = 60

// fromGuess makes the one class of a guess: so much work in tasks of a minute.
func (b *beginning) fromGuess(c *cobra.Command) error {
	const name = "jobs"
	ctx, took := c.Context(), b.takes.Seconds()
	each := math.Min(task, took)
	tasks := int64(math.Ceil(took/each)) * b.on * b.slots
	if _, err := b.send(ctx, openapi.CreateProfile(b.cluster), object{"name": name, "note": "guessed", "profile": object{
		"map_tasks": tasks, "reduce_tasks": 0, "map_avg_s": each, "map_max_s": each}}); err != nil {
		return err
	}
	deadline := math.Ceil(took + each)
	atOnce := int64(math.Ceil(b.aDay * deadline / 86400)) // a job counts until its deadline
	if _, err := b.send(ctx, openapi.CreateClass(b.cluster), object{
		"name": name, "profile": object{"name": name, "version": 1}, "deadline_s": deadline,
		"slots_per_vm": object{"map": b.slots, "reduce": b.slots}, "jobs": clusters.Promised(atOnce), "penalty": "0",
	}); err != nil {
		return err
	}
	from := b.now.UTC().Truncate(time.Hour)
	until := b.end
	if until.IsZero() {
		until = from.Add(clusters.Ahead)
	}
	if _, err := b.send(ctx, openapi.PutWeeklyForecast(b.cluster), object{"class": name, "from": clusters.Arriving(from, deadline), "until": until,
		"week": fmt.Sprintf("else %.6f", math.Max(b.aDay/24, 1e-6)), "counts": "arrivals"}); err != nil {
		return origins.Say(err)
	}
	b.classes = append(b.classes, made{name, fmt.Sprintf("%s on %s each; %g a day, at any hour alike", words.Seconds(took), shell.Counted(b.on, "machine"), b.aDay)})
	b.assume("headroom class profile", "a job is %s of %g s, which may run side by side", shell.Counted(tasks, "task"), each)
	b.assume(b.changes(clusters.AboutDeadline, name), "a job is done within %g s", deadline)
	b.assume(b.changes(clusters.AboutJobs, name), clusters.PromisedJobs)
	b.assume(b.changes(clusters.AboutForecast, name), "runs arrive like that until %s", until.Format(time.DateOnly))
	return nil
}

// say tells what was made, and what it rests on.
func (b *beginning) say(w io.Writer) error {
	var text strings.Builder
	classes := "one class"
	if n := len(b.classes); n > 1 {
		classes = fmt.Sprintf("%d classes", n)
	}
	fmt.Fprintf(&text, "Made the cluster %s with %s.\n", shell.Shown(b.cluster), classes)
	for _, c := range b.classes {
		fmt.Fprintf(&text, "  %s: %s\n", shell.Shown(c.name), c.about)
	}
	for _, l := range b.left {
		fmt.Fprintf(&text, "  %s\n", shell.Shown(l))
	}
	text.WriteString("\nIt takes for granted that\n")
	for _, a := range b.assumed {
		fmt.Fprintf(&text, "- %s (%s)\n", shell.Shown(a.what), shell.Shown(a.change))
	}
	text.WriteString("\n")
	_, err := io.WriteString(w, text.String())
	return err
}
