package whatif

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/edge/cli/question"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	kinds "example.org/headroom/internal/service/question"
	"example.org/headroom/openapi"
)

var _ = verb(purchaseCommand)

func purchaseCommand() *cobra.Command {
	var f monthsFlags
	var texts, named []string
	var factors []float64
	var leaveOut []string
	var vmType string
	var assume horizon.Assumption
	withWaiting := false
	c := &cobra.Command{
		Use:   "purchase [FILE|-]",
		Short: "Say how many VMs of each offer to buy, and what that does to the bill",
		Long: `Weighs contracts that may be bought (for a year, three years, paid upfront or by the hour) for a time, and says how
many VMs of each to buy: what the VM bill falls or rises by against today, how many more jobs are served and what you
value these at, what the contracts commit to over their whole terms, until when demand must last for it to pay, how much of
it is used, and what other numbers would come to. It looks at demand that is 30 % lower to 30 % higher, and at demand
that ends early. Bill and value refused together are made as low as possible; the answer says how far they can be from
the least.

Offers are weighed without spot VMs and a budget, which the question must leave out. The best purchase is then planned
with them as well, and dropped where it costs more there.

Where the forecast covers less than a quarter of a contract's term, say with --assume what follows it: last_week_repeats,
last_month_repeats, flat (its average) or ends. The answer is then shown under the other assumptions as well.

Jobs that may wait count as they arrive. With --with-waiting some purchases are also tried where such jobs wait as plans let
them, each by a schedule of up to 2,208 hours: the cheapest, what it saves against buying nothing where jobs wait, and how
far it may be from the best purchase with its schedule.

FILE has a problem, its periods and contracts as for "months", and offers, unless --offer gives them. An offer is
written name=…,price=…,upfront=…,term_years=1,billing=always,max=50: the price by the VM-hour, the upfront payment by
the VM; term_hours, from and billing=used are for what is not bought by the year, or paid only for hours used. With
--cluster a server weighs its own offers for one of its clusters, or those that are --named, also under a --saved
scenario.` + remote.ConnectionHelp,
		Example: "  headroom whatif purchase year.json\n  headroom whatif purchase cluster.json --from 2026-01-01 --until 2027-01-01 --offer name=next-year,upfront=400,price=0.04,term_years=1,billing=always,max=50\n  headroom whatif purchase --cluster shop -o xlsx -f purchase.xlsx",
		Args:    cobra.MaximumNArgs(1),
	}
	f.add(c)
	v := question.Verb[kinds.AskedPurchase, horizon.PurchaseAnswer]{Kind: kinds.Purchase, Bar: "purchase"}
	c.Flags().StringArrayVar(&texts, "offer", nil, "what may be bought, as `name=…,price=…,…`; give it again for each")
	c.Flags().StringArrayVar(&named, "named", nil, "with --cluster: weigh the cluster's offer of this `name`; give it again for each")
	c.Flags().Float64SliceVar(&factors, "factors", nil, "demands at which the recommendation is tried, as `numbers` such as 0.7,1.3")
	c.Flags().StringVar(&vmType, "vm-type", "", "with --cluster: which VM `type` the offers are of, where several are in use")
	addAssume(c, &assume, "what follows the forecast until the longest term on offer ends")
	c.Flags().StringSliceVar(&leaveOut, "leave-out", nil,
		"with --cluster: leave out what purchases are not weighed with, as a `word`: spot, budget")
	c.Flags().BoolVar(&withWaiting, "with-waiting", false, "also say what to buy where jobs wait that may, by schedules of up to 2,208 hours")
	var offers []capacity.Offer
	v.Check = func(_ *cobra.Command, _ []string) (err error) {
		if offers, err = readOffers(texts); err != nil {
			return err
		}
		if v.Here() && (len(named) > 0 || len(leaveOut) > 0 || vmType != "") {
			return errors.New("--named, --vm-type and --leave-out are for a --cluster; a file says what is weighed")
		}
		return f.check(v.Here())
	}
	v.Mend = func(err error) error {
		each, said := slices.Repeat([]string{"--factors"}, len(factors)), slices.Clone(texts)
		for i := range said {
			said[i] = "--offer " + said[i]
		}
		return append(remote.Origins{{Pointer: "/offers", Each: said}, {Pointer: "/factors", Each: each}}, monthsOrigins...).Say(err)
	}
	v.Send = func(c *cobra.Command, cluster, format string) (openapi.Request, any, error) {
		q := horizon.ClusterPurchaseQuestion{Span: horizon.Span{From: f.start, Until: f.end}, Scenario: f.scenario(), VMType: vmType, Offers: offers,
			Named: named, Assume: assume, Factors: factors, Detail: f.detail, WithWaiting: withWaiting}
		for _, what := range leaveOut {
			q.LeaveOut = append(q.LeaveOut, horizon.LeftOut(what))
		}
		if c.Flags().Changed("gap") {
			q.Gap = &v.Options.Given.Gap
		}
		return openapi.ClusterPurchase(cluster, &openapi.ClusterPurchaseQuery{Format: format}), q, nil
	}
	v.Read = func(c *cobra.Command, args []string) (asked kinds.AskedPurchase, err error) {
		var more map[string]any
		if len(offers) > 0 {
			more = withMember(more, "offers", offers)
		}
		if c.Flags().Changed("factors") {
			more = withMember(more, "factors", factors)
		}
		if assume != "" {
			more = withMember(more, "assume", assume)
		}
		if withWaiting {
			more = withMember(more, "with_waiting", true)
		}
		data, label, err := f.document(c, args, more)
		if err != nil {
			return asked, err
		}
		asked, err = kinds.ReadPurchase(data, shell.Limits, v.Options.Overrides(c)...)
		if len(texts) > 0 {
			return asked, v.Mend(err)
		}
		return asked, shell.Labelled(label, err)
	}
	return v.Command(c)
}

func readOffers(texts []string) (offers []capacity.Offer, err error) {
	for _, text := range texts {
		o, err := readOffer(text)
		if err != nil {
			return nil, err
		}
		offers = append(offers, o)
	}
	return offers, nil
}

// readOffer reads an offer as the flag has it.
func readOffer(text string) (capacity.Offer, error) {
	wrong := func(why string, values ...any) (capacity.Offer, error) {
		return capacity.Offer{}, fmt.Errorf("--offer is %q; %s", text, fmt.Sprintf(why, values...))
	}
	o := capacity.Offer{Billing: capacity.BilledUsed, Max: capacity.MaxOfferVMs}
	for part := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(strings.TrimSpace(part), "=")
		if !found {
			return wrong("%q is no member; write it as name=one-year,price=0.04,term_years=1,max=50", part)
		}
		var err error
		switch name {
		case "name":
			o.Name = value
		case "price":
			o.Price, err = money.Parse(value)
		case "upfront":
			o.Upfront, err = money.Parse(value)
		case "billing":
			o.Billing = capacity.Billing(value)
		case "term_years":
			o.TermYears, err = strconv.ParseInt(value, 10, 64)
		case "term_hours":
			o.TermHours, err = strconv.ParseInt(value, 10, 64)
		case "max":
			o.Max, err = strconv.ParseInt(value, 10, 64)
		case "from":
			moment, ok := shell.MomentOf(value)
			if o.From = new(time.Time); !ok || o.From.UnmarshalText([]byte(moment)) != nil {
				return wrong("%q is no time; give one such as 2026-01-01", value)
			}
		default:
			return wrong("there is no member %q; an offer has name, price, upfront, billing, term_years or term_hours, from and max", name)
		}
		if err != nil {
			return wrong("%q is no figure for its %s", value, name)
		}
	}
	return o, nil
}
