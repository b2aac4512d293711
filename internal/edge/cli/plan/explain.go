package plan

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/words"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	tables "example.org/headroom/internal/service/report"
	"example.org/headroom/openapi"
)

func planExplainCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var which string
	c := &cobra.Command{
		Use: "explain CLUSTER [CLASS]", Short: "Say in plain sentences why a plan is as it is",
		Long: `Says why each class (or the one named) got what it got and what would change that, what capacity is
worth, where the money goes, and what the proof rests on.`,
		Example: "  headroom plan explain shop\n  headroom plan explain shop nightly-etl --plan 7",
		Args:    cobra.RangeArgs(1, 2),
	}
	out.AddFlags(c, "table", "json", "csv")
	c.Flags().StringVar(&which, "plan", "current", "which plan: a `number`, an id, or current")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		ref, err := planRef([]string{which}, 0)
		if err != nil {
			return err
		}
		s, err := to.Open()
		if err != nil {
			return err
		}
		r, err := planOf(s, c.Context(), args[0], ref)
		if err != nil {
			return err
		}
		p, err := problemOfPlan(s, c.Context(), r)
		if err != nil {
			return err
		}
		var said []explanation
		if len(args) > 1 {
			i := slices.IndexFunc(r.Plan.Classes, func(of capacity.ClassPlan) bool { return of.Name == args[1] })
			if _, err := strconv.ParseInt(args[1], 10, 64); i < 0 && err == nil {
				return fmt.Errorf("plan %d has no class %q; for plan %s say \"headroom plan explain %s --plan %s\"", r.Number, args[1], args[1],
					args[0], args[1])
			}
			if i < 0 {
				return fmt.Errorf("plan %d has no class %q; \"headroom plan get %s %d\" shows those it has", r.Number, args[1], args[0], r.Number)
			}
			said = []explanation{explainClass(p, r.Plan, i)}
		} else {
			said = explainPlan(p, r, forecastBill(c.Context(), s, args[0], time.Now()))
		}
		if trouble := r.trouble(); trouble != "" {
			said = slices.Insert(said, 0, explanation{"trouble", "", trouble})
		}
		return out.Write(c, map[string]shell.Form{
			"table": func(w io.Writer) error { return explained(w, said) },
			"json":  shell.AsJSON(map[string]any{"plan": r.Number, "items": said}),
			"csv": func(w io.Writer) error {
				t := tables.Table{Columns: []string{"about", "name", "text"}}
				for _, e := range said {
					t.Rows = append(t.Rows, []tables.Cell{{Text: e.About}, {Text: e.Name}, {Text: e.Text}})
				}
				return t.CSV(w)
			},
		})
	})
}

// explanation is some sentences about one thing.
type explanation struct {
	About string `json:"about"` // trouble, plan, class, capacity, money, proof or warning
	Name  string `json:"name"`  // of a class
	Text  string `json:"text"`
}

// idleOnce says of all classes that ask for no jobs in one sentence, after the others.
func idleOnce(said []explanation) []explanation {
	var idle []string
	classes, last := 0, -1
	var all []explanation
	for _, e := range said {
		if e.About == "class" {
			classes++
			if last = len(all); e.Text == words.NoneWanted {
				idle = append(idle, shell.Shown(e.Name))
				continue
			}
			last++
		}
		all = append(all, e)
	}
	if len(idle) < 2 {
		return said
	}
	return slices.Insert(all, last, explanation{"class", "", words.NoneWantedOf(idle, classes)})
}

func explained(w io.Writer, said []explanation) error {
	var b strings.Builder
	about := ""
	for i, e := range idleOnce(said) {
		if i > 0 && e.About != about {
			b.WriteByte('\n')
		}
		if about = e.About; e.Name != "" {
			b.WriteString(shell.Shown(e.Name) + ": ")
		}
		b.WriteString(shell.Shown(e.Text) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// forecastBill says what this month and the next come to, as far as they are forecast. It is empty without a forecast, and where
// the key may not ask or the answer takes long.
func forecastBill(ctx context.Context, s *remote.Service, cluster string, now time.Time) string {
	now = now.UTC()
	until := time.Date(now.Year(), now.Month()+2, 1, 0, 0, 0, 0, time.UTC)
	var ahead horizon.Answer
	if _, err := s.CallWithin(ctx, io.Discard, 0, openapi.ClusterHorizon(cluster, nil), &ahead, remote.JSONOf(map[string]any{"until": until, "detail": "summary"})); err != nil {
		return ""
	}
	var inParts, inWhole []string
	differ := false
	for i := range ahead.Months {
		m := &ahead.Months[i]
		if m.UnforecastHours > 0 || m.InfeasibleHours > 0 {
			break
		}
		of := m.Start.Format("January 2006")
		if m.Start.Before(ahead.Total.Start) {
			of = "the rest of " + of
		}
		tell := func(bill money.Amount) string {
			return fmt.Sprintf("%s %s for %s", words.CentsOf(bill), ahead.Currency, of)
		}
		inParts = append(inParts, tell(m.Cost.Bill))
		if whole := m.InWholeJobs; whole != nil && whole.InfeasibleHours == 0 {
			inWhole, differ = append(inWhole, tell(whole.Bill)), differ || !whole.Bill.Equal(m.Cost.Bill.Decimal)
		}
	}
	if len(inParts) == 0 {
		return ""
	}
	said := fmt.Sprintf("By the forecast the VM bill is %s; \"headroom whatif months --cluster %s\" looks further.", shell.Listed(inParts), shell.Shown(cluster))
	if differ && len(inWhole) == len(inParts) {
		said += fmt.Sprintf(" It counts jobs in parts. Rented as hours are planned, in whole jobs, the VM bill is %s.", shell.Listed(inWhole))
	}
	return said
}

// explainPlan explains a plan, and tells the forecast's bill where there is one.
func explainPlan(p capacity.Problem, r record, forecast string) []explanation {
	pl := r.Plan
	said := []explanation{{"plan", "", r.headline() + " " + tables.Headline(pl)}}
	for i := range pl.Classes {
		said = append(said, explainClass(p, pl, i))
	}
	if pl.Prices != nil && p.Options.Integrality == capacity.Relaxed { // of whole VMs they can be far off
		said = append(said, explanation{"capacity", "", capacitySentences(p, pl)})
	}
	if s := pl.Stays; s != nil {
		types := s.Types
		if len(types) == 0 {
			types = []capacity.TypeStays{{OnDemandPrice: s.OnDemandPrice, Quota: s.Quota}}
		}
		for v, offer := range p.Supply.Types() {
			if words := supplyWords(p, offer.OnDemand.Quota != nil, types[min(v, len(types)-1)]); words != "" {
				said = append(said, explanation{"capacity", "", words})
			}
		}
	}
	if forecast != "" {
		said = append(said, explanation{"money", "", forecast})
	}
	for _, line := range moneyLines(p, pl) {
		said = append(said, explanation{"money", "", line})
	}
	if pl.Proof != nil {
		said = append(said, explanation{"proof", "", strings.TrimSpace(proofSentences(p, pl) + " " + r.Vote.Missing())})
	}
	for _, w := range pl.Warnings {
		said = append(said, explanation{"warning", "", "Warning: " + shell.Sentence(w.Detail)})
	}
	return said
}

// explainClass says what a class got, why, and what would change it.
func explainClass(p capacity.Problem, pl capacity.Plan, i int) explanation {
	c := pl.Classes[i]
	var given capacity.Class
	if i < len(p.Classes) {
		given = p.Classes[i]
	}
	asked := c.Admitted + c.Refused
	var s []string
	say := func(format string, values ...any) { s = append(s, fmt.Sprintf(format, values...)) }
	switch one := asked == 1; {
	case asked == 0 && c.Reason == words.NoneWanted: // which stands below
	case asked == 0:
		say("No jobs are asked for.")
	case one && c.Admitted == 1:
		say("Its one job is admitted.")
	case c.Admitted == 0 && one:
		say("Its one job is not admitted.")
	case c.Admitted == 0:
		say("None of its %s jobs is admitted.", shell.Figure(asked))
	case c.Refused == 0:
		say("All %s jobs are admitted.", shell.Figure(asked))
	case c.Admitted == 1:
		say("1 of %s jobs is admitted.", shell.Figure(asked))
	default:
		say("%s of %s jobs are admitted.", shell.Figure(c.Admitted), shell.Figure(asked))
	}
	if c.Admitted > 0 {
		they, are := "They take", "are"
		if c.Admitted == 1 {
			they, are = "It takes", "is"
		}
		share := they + " " + vms(c.VMs)
		if len(c.Types) == 1 {
			share += " of " + c.Types[0].VMType
		}
		if c.Slots != nil {
			share += fmt.Sprintf(" as %s map and %s reduce slots", shell.Figure(c.Slots.Map), shell.Figure(c.Slots.Reduce))
		}
		if t := c.Time.At(p.Options.Bound); t != nil && given.DeadlineSeconds > 0 {
			share += fmt.Sprintf(" and %s done after %s s (%s), within the %s s allowed", are, shell.Figure(*t), boundWord(&given, p.Options.Bound),
				shell.Figure(given.DeadlineSeconds))
		}
		s = append(s, share+".")
		if len(c.Types) > 1 {
			var parts []string
			for k, on := range c.Types {
				runs := ""
				if k == 0 {
					runs = map[bool]string{true: " runs", false: " run"}[on.Admitted == 1]
				}
				parts = append(parts, fmt.Sprintf("%s%s on %s (%s)", shell.Figure(on.Admitted), runs, on.VMType, vms(on.VMs)))
			}
			say("Of them %s.", shell.Listed(parts))
		}
	}
	if c.Reason != "" {
		s = append(s, shell.Sentence(c.Reason))
	}
	stays := staysWords(p, given, &c)
	flips := flipWords(p, given, pl, &c)
	switch {
	case asked == 0:
	case len(stays) > 0 && len(flips) > 0:
		say("These VMs and jobs stay the best with %s. By the relaxation the nearest other change that would decide otherwise is %s.",
			shell.Listed(stays), strings.Join(flips, ", or "))
	case len(stays) > 0:
		say("These VMs and jobs stay the best with %s.", shell.Listed(stays))
	case len(flips) > 0:
		say("By the relaxation the nearest change that would decide otherwise is %s.", strings.Join(flips, ", or "))
	case c.Verdict != capacity.VerdictImpossible:
		say("By the relaxation no other penalty, deadline or on-demand price alone would decide otherwise.")
	}
	return explanation{"class", c.Name, strings.Join(s, " ")}
}

// staysWords is the ranges in which the plan stays the best, as far as they were worked out.
func staysWords(p capacity.Problem, given capacity.Class, c *capacity.ClassPlan) (said []string) {
	if c.Stays == nil {
		return nil
	}
	if r := c.Stays.Penalty; r != nil {
		said = append(said, amountRange("penalty", r, p))
	}
	if r := c.Stays.DeadlineSeconds; r != nil {
		deadlines := figureRange("deadline", r, 2, func(x float64) string { return shell.Figure(x) + " s" })
		if len(c.Types) > 0 && r.Low != nil { // spread otherwise, the same VMs may meet a shorter one
			deadlines += " (its jobs on these types as here)"
		}
		if given.ArrivalsPerHour > 0 {
			deadlines += " (with as many jobs at once)"
		}
		said = append(said, deadlines)
	}
	return said
}

// supplyWords is the range of prices in which the plan stays the best, and that of quotas where there is one.
func supplyWords(p capacity.Problem, quota bool, of capacity.TypeStays) string {
	var known []string
	if r := of.OnDemandPrice; r != nil {
		known = append(known, amountRange("price on demand", r, p)+" a VM and hour")
	}
	if r := of.Quota; r != nil && quota {
		known = append(known, figureRange("quota", r, 0, vms))
	}
	if len(known) == 0 {
		return ""
	}
	if of.VMType != "" {
		of.VMType = " for type " + of.VMType
	}
	return "These VMs and jobs stay the best" + of.VMType + " with " + shell.Listed(known) + "."
}

func amountRange(what string, r *capacity.MoneyRange, p capacity.Problem) string {
	of := func(m *money.Amount) *decimal.Decimal {
		if m == nil {
			return nil
		}
		return &m.Decimal
	}
	places := max(placesOf(of(r.Low)), placesOf(of(r.High)))
	return rangeWords(what, of(r.Low), of(r.High), places, func(x decimal.Decimal) string { return money.Amount{Decimal: x}.String() + " " + p.Currency })
}

func figureRange(what string, r *capacity.Range, places int32, say func(float64) string) string {
	of := func(x *float64) *decimal.Decimal {
		if x == nil {
			return nil
		}
		d := decimal.NewFromFloat(*x)
		return &d
	}
	return rangeWords(what, of(r.Low), of(r.High), places, func(x decimal.Decimal) string { return say(x.InexactFloat64()) })
}

// rangeWords is a range of a figure; without an end where that is nil. The ends are rounded inwards, so that they lie in it.
func rangeWords(what string, low, high *decimal.Decimal, places int32, say func(decimal.Decimal) string) string {
	from, to := "", ""
	if low != nil {
		from = say(low.RoundCeil(places))
	}
	if high != nil {
		to = say(high.RoundFloor(places))
	}
	switch {
	case low == nil && high == nil:
		return "any " + what
	case high == nil:
		return "a " + what + " of " + from + " or more"
	case low == nil:
		return "a " + what + " up to " + to
	case low.RoundCeil(places).GreaterThan(high.RoundFloor(places)): // nothing so round lies in it
		return "a " + what + " of about " + say(low.Round(places))
	case from == to:
		return "a " + what + " of " + from
	}
	return "a " + what + " from " + from + " to " + to
}

// flipWords is the nearest changes in the relaxation, where no range says more.
func flipWords(p capacity.Problem, given capacity.Class, pl capacity.Plan, c *capacity.ClassPlan) (said []string) {
	about, f := words.About(p.Options.Integrality), c.Flips
	known := capacity.Stays{}
	if c.Stays != nil {
		known = *c.Stays
	}
	if f.Penalty != nil && known.Penalty == nil {
		said = append(said, fmt.Sprintf("a penalty of %s%s instead of %s %s", about, short(*f.Penalty), given.Penalty, p.Currency))
	}
	if f.DeadlineSeconds != nil && known.DeadlineSeconds == nil {
		said = append(said, fmt.Sprintf("a deadline of %s s instead of %s s", shell.Figure(*f.DeadlineSeconds),
			shell.Figure(given.DeadlineSeconds)))
	}
	if f.OnDemandPrice != nil && (pl.Stays == nil || pl.Stays.OnDemandPrice == nil) {
		said = append(said, fmt.Sprintf("an on-demand price of %s%s instead of %s %s", about, short(*f.OnDemandPrice),
			p.Supply.OnDemand.Price, p.Currency))
	}
	return said
}

func capacitySentences(p capacity.Problem, pl capacity.Plan) string {
	prices := *pl.Prices
	per := p.Currency + " " + words.PerPeriod(p.PeriodSeconds)
	var s []string
	if len(prices.Types) == 0 {
		s = append(s, priceSentence("capacity", prices.Capacity, per))
	}
	for i, of := range prices.Types {
		if i < len(pl.VMs.Types) && pl.VMs.Types[i].Total == 0 && i < len(p.Supply.VMTypes) {
			s = append(s, fmt.Sprintf("No VM of type %s is rented: it costs %s an hour on demand, and one would be worth %s %s.", of.Name,
				p.Supply.VMTypes[i].OnDemand.Price, short(of.Low), per))
		} else {
			s = append(s, priceSentence("type "+of.Name, of.CapacityPrice, per))
		}
	}
	for _, c := range prices.Contracts {
		if c.Worth.IsZero() {
			s = append(s, fmt.Sprintf("More VMs in contract %s would be worth nothing.", c.Name))
		} else {
			s = append(s, fmt.Sprintf("One VM more in contract %s would be worth %s %s.", c.Name, short(c.Worth), per))
		}
	}
	if b := prices.Budget; b != nil && b.Sign() > 0 {
		s = append(s, fmt.Sprintf("One %s more in the budget would be worth %s.", p.Currency, short(*b)))
	}
	return strings.Join(s, " ")
}

// priceSentence says how much one more VM is worth, of a type or of all types.
func priceSentence(of string, price capacity.CapacityPrice, per string) string {
	low := short(price.Low)
	switch {
	case price.High == nil && of == "capacity":
		return fmt.Sprintf("No more capacity can be had; one more VM would be worth %s %s.", low, per)
	case price.High == nil:
		return fmt.Sprintf("No more VMs of %s can be had; one more would be worth %s %s.", of, low, per)
	case low == short(*price.High):
		return fmt.Sprintf("One VM of %s is worth %s %s.", of, low, per)
	}
	return fmt.Sprintf("One more VM of %s is worth %s %s, and one less would cost %s.", of, low, per, short(*price.High))
}

// mostPenalties bounds the classes whose penalties are named.
const mostPenalties = 5

// moneyLines says what is on the bill, whose amounts add up to it, and what refused jobs are valued at.
func moneyLines(p capacity.Problem, pl capacity.Plan) (lines []string) {
	lines = append(lines, fmt.Sprintf("The VM bill of this plan is %s %s %s; %d hours like its own would come to %s:", pl.Cost.Bill, p.Currency,
		words.PerPeriod(p.PeriodSeconds), capacity.HoursPerMonth, pl.Cost.Bill.Over(3600*capacity.HoursPerMonth, p.PeriodSeconds)))
	line := func(amount money.Amount, format string, values ...any) {
		if !amount.IsZero() {
			lines = append(lines, fmt.Sprintf("  %s for ", amount)+fmt.Sprintf(format, values...))
		}
	}
	types := p.Supply.Types()
	var contracts []capacity.Contract
	for _, of := range types {
		contracts = append(contracts, of.Contracts...)
	}
	var used []string
	for i, c := range pl.VMs.Contracts {
		if i < len(contracts) && c.Used > 0 {
			used = append(used, fmt.Sprintf("%s of %s in %s at %s an hour", shell.Figure(c.Used), shell.Figure(c.VMs), c.Name, contracts[i].Price))
		}
	}
	line(pl.Cost.Reserved, "%s reserved (%s)", vms(pl.VMs.Reserved), strings.Join(used, ", "))
	line(pl.Cost.ReservedIdle, "reserved VMs that are paid and not used")
	if len(p.Supply.VMTypes) == 0 {
		line(pl.Cost.OnDemand, "%s on demand at %s an hour", vms(pl.VMs.OnDemand), p.Supply.OnDemand.Price)
		if p.Supply.Spot != nil {
			line(pl.Cost.Spot, "%s spot at %s an hour", vms(pl.VMs.Spot), p.Supply.Spot.Price)
		}
	} else {
		var onDemand, spot []string
		for i, of := range pl.VMs.Types {
			if of.OnDemand > 0 {
				onDemand = append(onDemand, fmt.Sprintf("%s of %s at %s an hour", shell.Figure(of.OnDemand), of.Name, types[i].OnDemand.Price))
			}
			if of.Spot > 0 {
				spot = append(spot, fmt.Sprintf("%s of %s at %s an hour", shell.Figure(of.Spot), of.Name, types[i].Spot.Price))
			}
		}
		line(pl.Cost.OnDemand, "%s on demand (%s)", vms(pl.VMs.OnDemand), strings.Join(onDemand, ", "))
		line(pl.Cost.Spot, "%s spot (%s)", vms(pl.VMs.Spot), strings.Join(spot, ", "))
	}

	type share struct {
		name    string
		refused float64
		amount  money.Amount
	}
	var shares []share
	for i, c := range pl.Classes {
		if i < len(p.Classes) && c.Refused > 0 {
			amount := money.Round(p.Classes[i].Penalty.Float() * c.Refused)
			shares = append(shares, share{c.Name, c.Refused, amount})
		}
	}
	slices.SortStableFunc(shares, func(a, b share) int {
		return cmp.Or(b.amount.Cmp(a.amount.Decimal), strings.Compare(a.name, b.name))
	})
	var refused []string
	for _, s := range shares[:min(len(shares), mostPenalties)] {
		refused = append(refused, fmt.Sprintf("%s of %s: %s", shell.Figure(s.refused), s.name, s.amount))
	}
	if more := len(shares) - mostPenalties; more > 0 {
		refused = append(refused, fmt.Sprintf("further classes: %d", more))
	}
	if len(lines) == 1 {
		lines[0] = strings.TrimSuffix(lines[0], ":") + "."
	}
	if !pl.Cost.Penalties.IsZero() {
		lines = append(lines, fmt.Sprintf("Refused jobs, which are on no bill, are valued at %s (%s).", pl.Cost.Penalties, strings.Join(refused, ", ")))
	}
	return lines
}

// proofSentences says what the plan's claim rests on.
func proofSentences(p capacity.Problem, pl capacity.Plan) string {
	proof := *pl.Proof
	var s []string
	claim := fmt.Sprintf("The bill less the value of all admitted jobs is %s %s", pl.Objective, p.Currency)
	if proof.Gap == 0 {
		s = append(s, claim+", and no plan's is lower.")
	} else {
		s = append(s, fmt.Sprintf("%s, and no plan's is below %s: this one is at most %s from the best.", claim, proof.Bound, words.PercentUp(decimal.NewFromFloat(proof.Gap))))
	}
	if proof.Limited == capacity.ClockCutoff {
		s = append(s, "The time was over before the search was: with more by options.max_solve_ms, or on a machine with less to do, a better plan may be found.")
	}
	switch {
	case proof.Method == "core" && proof.Gap > 0:
		s = append(s, "That follows from a Lagrangian bound and a search of what it leaves open, both our own.")
	case proof.Method == "core":
		s = append(s, "That follows from a Lagrangian bound and a complete search of what it leaves open, both our own.")
	case proof.Method == "lp" && len(p.Supply.VMTypes) > 0:
		s = append(s, "That follows from the prices of the linear program.")
	case proof.Method == "lp":
		s = append(s, "That follows from the dual of the linear program, solved in closed form.")
	}
	switch {
	case proof.Engine == "":
	case proof.Agreed == nil:
		s = append(s, proof.Engine+" was asked for a second opinion and gave none.")
	case *proof.Agreed:
		s = append(s, proof.Engine+", asked for a second opinion, found the same.")
	default:
		s = append(s, proof.Engine+", asked for a second opinion, found another cost; the bound does not rest on it.")
	}
	if proof.Checked {
		s = append(s, "The finished plan was checked again in exact decimals.")
	}
	if pl.Relaxed != nil && p.Options.Integrality != capacity.Relaxed {
		s = append(s, fmt.Sprintf("With fractions of jobs and VMs the figure would be %s with %s.", short(pl.Relaxed.Objective),
			vms(pl.Relaxed.Capacity)))
	}
	return strings.Join(s, " ")
}

// short is an amount with as many places as people read; they have all of them in the plan.
func short(m money.Amount) string {
	return money.Amount{Decimal: m.Round(placesOf(&m.Decimal))}.String()
}

// placesOf is the places of an amount that people read: four, or more where it has fewer than three digits in those.
func placesOf(d *decimal.Decimal) int32 {
	const usual, digits = 4, 3
	if d == nil || d.IsZero() {
		return usual
	}
	return min(max(usual, digits-int32(d.NumDigits())-d.Exponent()), money.Places)
}

func vms(n float64) string {
	if n == 1 {
		return "1 VM"
	}
	return shell.Figure(n) + " VMs"
}

// boundWord names the time that a class is planned with. Without a calibration of its own that is the average.
func boundWord(c *capacity.Class, b capacity.Bound) string {
	if c.Promise != nil {
		return "as promised"
	}
	if b == capacity.CalibratedBound && c.Calibration == nil {
		b = capacity.AverageBound
	}
	switch b {
	case capacity.LowerBound:
		return "at the earliest"
	case capacity.UpperBound:
		return "at the latest"
	case capacity.CalibratedBound:
		return "as measured executions say"
	}
	return "on average"
}
