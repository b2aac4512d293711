package report

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
)

// chargeKind names a kind of charge.
type chargeKind int

const (
	onDemandUse chargeKind = iota
	spotUse
	contractUse  // VMs of a contract that run
	contractIdle // VMs of a contract that do not
	upfrontFee
	monthlyFee // of a contract that is billed always
	penaltyOnly
)

// Units of VM-hours, in which a day of the largest fleet fits an int64.
const (
	hourPlaces = 8
	hourUnits  = 100_000_000
)

// charge is one row of money.
type charge struct {
	kind       chargeKind
	start, end time.Time
	vmType     string
	class      string          // "" for all
	contract   int             // in the answer's contracts; -1 for none
	price      money.Amount    // per VM-hour: the market's for usage, the contract's for its fees
	hours      decimal.Decimal // of VMs
	billed     decimal.Decimal // as invoices have it
	effective  decimal.Decimal // with fees spread over the hours they pay for
	penalty    decimal.Decimal
}

// charges turns a horizon's answer into rows. Every amount of the answer is divided without a remainder:
//
//   - Usage is divided among the classes by their VMs.
//   - An upfront payment counts with the share that the answer counts, that of the seconds of the term within the
//     horizon. Its charge is this share, so that charges add up to the answer's cost. It is spread over the
//     contract's VM-hours, including idle ones.
//   - A contract that is billed always is charged once a month; one that is billed by use, with its VM-hours.
//
// Hours without a plan would look like hours without cost, so they are refused.
func charges(h *horizon.Horizon, a *horizon.Answer, emit func(*charge) error) error {
	if a.Status == capacity.InfeasibleStatus {
		at := slices.IndexFunc(a.Periods, func(p horizon.PeriodAnswer) bool { return p.Status == capacity.InfeasibleStatus })
		if at < 0 {
			return fmt.Errorf("there is no plan to export: %w", fault.Infeasible)
		}
		return fmt.Errorf("the promised jobs do not fit in %s of the horizon, first at %s, and hours without a plan would count as free; raise the quota or lower jobs.min, plan again, and export that: %w",
			count(a.Total.InfeasibleHours, "hour", "hours"), a.Periods[at].Start.Format(time.RFC3339), fault.Infeasible)
	}
	l := ledger{horizon: h, answer: a, emit: emit, contracts: make([]contractLedger, len(a.Contracts))}
	if err := horizon.Charges(h, a, l.stint); err != nil {
		return err
	}
	return l.closeMonth()
}

type ledger struct {
	horizon   *horizon.Horizon
	answer    *horizon.Answer
	emit      func(*charge) error
	contracts []contractLedger
	month     time.Time
	weights   []float64 // of the classes, added up
	row       charge
}

// contractLedger holds the open amounts of a contract.
type contractLedger struct {
	hours hourCount // of all its VMs
	begun bool
	fee   charge // of the month so far
	due   bool
}

// hourCount turns VM-seconds into VM-hours and carries the rest below the last place, so that hours add up.
type hourCount struct{ carry int64 }

func (c *hourCount) next(vms, seconds int64) int64 {
	n := vms * seconds
	rest := n%3600*hourUnits + c.carry
	c.carry = rest % 3600
	return n/3600*hourUnits + rest/3600
}

// vmHours returns the rounded VM-hours of a number of VMs for some seconds.
func vmHours(vms float64, seconds int64) int64 {
	if vms == math.Trunc(vms) && vms <= capacity.MaxVMs { // the usual case
		n := int64(vms) * seconds
		return n/3600*hourUnits + (n%3600*hourUnits+1800)/3600
	}
	return decimal.NewFromFloat(vms).Mul(decimal.NewFromInt(seconds)).Shift(hourPlaces).DivRound(decimal.NewFromInt(3600), 0).IntPart()
}

func hoursOf(units int64) decimal.Decimal { return decimal.New(units, -hourPlaces) }

func (l *ledger) stint(s *horizon.Stint) error {
	month := time.Date(s.Start.Year(), s.Start.Month(), 1, 0, 0, 0, 0, time.UTC)
	if !month.Equal(l.month) {
		if err := l.closeMonth(); err != nil {
			return err
		}
		l.month = month
	}
	for v := range s.Types {
		l.weigh(s, func(c *horizon.ClassShare, _ int) float64 { return c.VMs[v] })
		t := &s.Types[v]
		for _, rent := range [...]struct {
			kind chargeKind
			horizon.RentCharge
		}{{onDemandUse, t.OnDemand}, {spotUse, t.Spot}} {
			if rent.VMs == 0 && rent.Amount.IsZero() {
				continue
			}
			l.row = charge{kind: rent.kind, start: s.Start, end: s.End(), vmType: t.Name, contract: -1, price: rent.Price}
			if err := l.share(vmHours(rent.VMs, s.Seconds), rent.Price.Decimal, rent.Amount.Decimal, decimal.Zero, false); err != nil {
				return err
			}
		}
		for i := range s.Contracts {
			if c := &s.Contracts[i]; c.Type == v {
				if err := l.contract(s, c, t); err != nil {
					return err
				}
			}
		}
	}
	if s.Penalties.IsZero() {
		return nil
	}
	l.weigh(s, func(c *horizon.ClassShare, i int) float64 {
		return c.Refused * l.horizon.Problem.Classes[i].Penalty.Float()
	})
	return l.penalties(s)
}

// contract writes the used and idle hours of a contract, and notes its fees.
func (l *ledger) contract(s *horizon.Stint, c *horizon.ContractCharge, market *horizon.TypeCharge) error {
	own := &l.contracts[c.Index]
	row := charge{start: s.Start, end: s.End(), vmType: market.Name, contract: c.Index}
	if !own.begun {
		own.begun = true
		if err := l.upfront(c, row); err != nil {
			return err
		}
	}
	all := own.hours.next(c.VMs, s.Seconds)
	used := min(all, vmHours(c.UsedVMs, s.Seconds))
	var spread decimal.Decimal // upfront, over the used hours
	if all > 0 {
		spread = part(c.Upfront.Decimal, used, all)
	}
	if c.Billing == capacity.BilledAlways && c.VMs > 0 {
		if !own.due {
			own.due, own.fee = true, row
			own.fee.kind, own.fee.price = monthlyFee, c.Price
		}
		own.fee.end = s.End()
		own.fee.hours = own.fee.hours.Add(hoursOf(all))
		own.fee.billed = decimal.Sum(own.fee.billed, c.Used.Decimal, c.Idle.Decimal)
	}
	if c.UsedVMs > 0 {
		l.row = row
		l.row.kind, l.row.price = contractUse, market.OnDemand.Price
		if err := l.share(used, c.Price.Decimal, c.Used.Decimal, spread, c.Billing == capacity.BilledAlways); err != nil {
			return err
		}
	}
	idle := c.Idle.Add(c.Upfront.Sub(spread))
	if all == used && idle.IsZero() {
		return nil
	}
	row.kind, row.price, row.hours, row.effective = contractIdle, market.OnDemand.Price, hoursOf(all-used), idle
	return l.emit(&row)
}

// upfront writes the share of an upfront payment that lies in the horizon.
func (l *ledger) upfront(c *horizon.ContractCharge, row charge) error {
	own := c.Index - (len(l.contracts) - len(l.horizon.Contracts))
	if own < 0 || l.answer.Contracts[c.Index].Upfront.IsZero() {
		return nil
	}
	until := l.horizon.Contracts[own].Until
	if end := l.horizon.End(); end.Before(until) {
		until = end
	}
	row.kind, row.end = upfrontFee, until.UTC()
	row.hours = decimal.NewFromInt(c.VMs).Mul(decimal.NewFromInt(until.Unix() - row.start.Unix())).Shift(hourPlaces).Div(decimal.NewFromInt(3600)).Floor().Shift(-hourPlaces)
	row.billed = l.answer.Contracts[c.Index].Upfront.Decimal
	return l.emit(&row)
}

func (l *ledger) closeMonth() error {
	for i := range l.contracts {
		if c := &l.contracts[i]; c.due {
			c.due = false
			if err := l.emit(&c.fee); err != nil {
				return err
			}
		}
	}
	return nil
}

// weigh prepares to share something among the classes.
func (l *ledger) weigh(s *horizon.Stint, weight func(c *horizon.ClassShare, i int) float64) {
	l.weights = l.weights[:0]
	sum := 0.0
	for i := range s.Classes {
		sum += weight(&s.Classes[i], i)
		l.weights = append(l.weights, sum)
	}
}

// eachShare divides whole among the classes by their weights; the parts add up to it.
func (l *ledger) eachShare(whole int64, give func(class string, upTo int64) error) error {
	n := len(l.weights)
	if n == 0 || !(l.weights[n-1] > 0) || whole == 0 {
		return give("", whole)
	}
	before := int64(0)
	for i, w := range l.weights {
		upTo := min(whole, int64(math.Round(float64(whole)*(w/l.weights[n-1]))))
		if w == l.weights[n-1] {
			upTo = whole
		}
		if upTo == before {
			continue
		}
		if err := give(l.horizon.Problem.Classes[i].Name, upTo); err != nil {
			return err
		}
		before = upTo
	}
	return nil
}

// share writes l.row for each class: its VM-hours, their hourly cost, and a fee spread over them. Prepaid hours are
// not billed again.
func (l *ledger) share(hours int64, perHour, paid, fee decimal.Decimal, prepaid bool) error {
	exact := hoursOf(hours).Mul(perHour).Equal(paid)
	var givenHours int64
	var givenPaid, givenFee decimal.Decimal
	return l.eachShare(hours, func(class string, upTo int64) error {
		amount, spread := paid, fee
		if upTo-givenHours < hours {
			if exact {
				amount = hoursOf(upTo - givenHours).Mul(perHour)
			} else {
				all := part(paid, upTo, hours)
				amount, givenPaid = all.Sub(givenPaid), all
			}
			all := part(fee, upTo, hours)
			spread, givenFee = all.Sub(givenFee), all
		}
		l.row.class, l.row.hours = class, hoursOf(upTo-givenHours)
		l.row.effective, l.row.billed = amount, amount
		if !spread.IsZero() {
			l.row.effective = amount.Add(spread)
		}
		if prepaid {
			l.row.billed = decimal.Zero
		}
		givenHours = upTo
		return l.emit(&l.row)
	})
}

// part returns an amount times n/of, rounded, or all of it if n equals of.
func part(amount decimal.Decimal, n, of int64) decimal.Decimal {
	if n == of || amount.IsZero() {
		return amount
	}
	if units, exact := (money.Amount{Decimal: amount}).Billionths(); exact && units > 0 {
		if high, low := bits.Mul64(uint64(units), uint64(n)); high < uint64(of) {
			quotient, rest := bits.Div64(high, low, uint64(of))
			if rest >= uint64(of)-rest { // halves go up, as below
				quotient++
			}
			if quotient <= math.MaxInt64 {
				return decimal.New(int64(quotient), -money.Places)
			}
		}
	}
	return amount.Mul(decimal.NewFromInt(n)).DivRound(decimal.NewFromInt(of), money.Places)
}

// penalties writes the cost of refused jobs, which nobody invoices.
func (l *ledger) penalties(s *horizon.Stint) error {
	const parts = 1 << 53 // finer than money is
	given := decimal.Zero
	return l.eachShare(parts, func(class string, upTo int64) error {
		amount := part(s.Penalties.Decimal, upTo, parts)
		row := charge{kind: penaltyOnly, start: s.Start, end: s.End(), class: class, contract: -1, penalty: amount.Sub(given)}
		given = amount
		if row.penalty.IsZero() {
			return nil
		}
		return l.emit(&row)
	})
}
