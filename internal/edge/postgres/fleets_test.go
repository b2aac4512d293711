package postgres_test

import (
	"slices"
	"strings"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/test/pgtest"
)

// fleet returns a cluster with two types in use, spot prices, classes that name the types, and a budget.
func fleet(name string) inputs.Document {
	d := whole(name)
	budget := amountOf("250.5")
	d.Cluster.Budget = &capacity.Budget{VMCost: &budget}
	d.VMTypes[0].InUse, d.VMTypes[0].Spot = true, &inputs.SpotTerms{MaxShare: 0.1 + 0.2}
	for _, purchase := range []capacity.Purchase{"", capacity.PurchaseSpot} {
		d.Prices = append(d.Prices, inputs.PricePeriod{VMType: "large", Purchase: purchase, Price: amountOf("0.123456789"), From: january.From})
	}
	d.Prices = slices.Concat(d.Prices[2:], d.Prices[:2]) // by type, as they are read
	d.Classes[0].SlotsPerVM = capacity.SlotsPerVM{ByType: map[string]capacity.SlotsPerVM{"small": {Map: 2, Reduce: 3}, "large": {Map: 8, Reduce: 4}}}
	d.Classes[0].Speed = capacity.Speed{"large": 1.0 / 3, "small": 0}
	d.Classes[1].SlotsPerVM = capacity.SlotsPerVM{ByType: map[string]capacity.SlotsPerVM{"small": {Map: 1, Reduce: 1}}}
	return d
}

func TestAFleetComesBackAsItWasApplied(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := somebody(t)
	d := fleet(night)
	must(s.Apply(ctx, 0, d, false))(t)
	got := must(s.Document(ctx, night))(t)
	same(t, got, d)
	if again := must(s.Apply(ctx, 1, got, false))(t); len(again.Changes) != 0 {
		t.Errorf("applied again: %v, want no changes", again.Changes)
	}
	if c := must(s.Classes().Get(ctx, night, d.Classes[0].Name))(t); c.Speed["large"] != 1.0/3 || c.SlotsPerVM.ByType["large"].Map != 8 {
		t.Errorf("got %+v", c)
	}

	p, err := must(s.Snapshot(ctx, night, moment("2026-01-10T05:30:00Z")))(t).Problem(moment("2026-01-10T05:30:00Z"))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Supply.VMTypes) != 2 || p.Supply.VMTypes[0].Spot == nil || p.Supply.VMTypes[0].Spot.MaxShare != 0.1+0.2 || p.Supply.VMTypes[1].Contracts[0].Name != threeYrs.Name || p.Budget.VMCost.String() != "250.50" {
		t.Errorf("got the supply %+v and the budget %+v", p.Supply, p.Budget)
	}
	if err := p.Validate(); err != nil {
		t.Error(err)
	}

	// A type that classes name stays. With a document that drops it, the class moves to another type.
	large := must(s.VMTypes().Get(ctx, night, "large"))(t)
	for _, price := range must(s.Document(ctx, night))(t).Prices {
		if price.VMType == "large" {
			d.Prices = slices.DeleteFunc(d.Prices, func(p inputs.PricePeriod) bool { return p.Label() == price.Label() })
		}
	}
	prices := d
	prices.Cluster.Description = "without large's prices"
	must(s.Apply(ctx, 1, prices, false))(t)
	err = s.VMTypes().Delete(ctx, night, "large", large.Version)
	kindOf(t, err, fault.Conflict)
	if err == nil || !strings.Contains(err.Error(), `classes that name the VM type "large"`) {
		t.Errorf("deleting a type that is named: got %v", err)
	}
	d.VMTypes, d.Classes[0].SlotsPerVM, d.Classes[0].Speed = d.VMTypes[1:], capacity.SlotsPerVM{Map: 2, Reduce: 2}, nil
	must(s.Apply(ctx, 2, d, false))(t)
	same(t, must(s.Document(ctx, night))(t).VMTypes, d.VMTypes)
}

func TestSpotPricesOverlapOnlyEachOther(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := somebody(t)
	must(s.Apply(ctx, 0, fleet(night), false))(t)
	spot := january
	spot.Purchase = capacity.PurchaseSpot
	kept := must(s.Prices().Create(ctx, night, spot))(t)
	_, err := s.Prices().Create(ctx, night, spot)
	kindOf(t, err, fault.Invalid)
	if err == nil || !strings.Contains(err.Error(), "overlaps") {
		t.Errorf("the same spot price twice: got %v", err)
	}
	kept.Purchase = capacity.PurchaseOnDemand
	if _, err = s.Prices().Replace(ctx, night, kept.ID, kept.Version, kept); err == nil {
		t.Error("a spot price became a second on-demand price of its time")
	}
}

// The previous release joins prices with their types as it always did, and writes without the new columns.
func TestThePreviousReleaseWorksBesideFleets(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	s := must(postgres.Open(t.Context(), postgres.Config{URL: address}))(t)
	defer s.Close()
	ctx := somebody(t)
	d := fleet(night)
	must(s.Apply(ctx, 0, d, false))(t)
	db := raw(t, address)
	var prices, slots int
	check(t, db.QueryRow(ctx, `SELECT count(*) FROM prices p JOIN vm_types v ON v.id = p.vm_type_id`).Scan(&prices))
	check(t, db.QueryRow(ctx, `SELECT slots_map FROM classes WHERE name = $1`, d.Classes[0].Name).Scan(&slots))
	if prices != 3 || slots != 8 {
		t.Errorf("the previous release sees %d prices and %d map slots; want the 3 on-demand prices, and the 8 slots of the first type", prices, slots)
	}
	execute(t, db, `INSERT INTO prices (id, cluster_id, vm_type_id, price, during)
		SELECT gen_random_uuid(), v.cluster_id, v.id, 1, tstzrange('2020-01-01', '2020-02-01') FROM vm_types v WHERE v.name = 'large'`)
	execute(t, db, `UPDATE classes SET penalty = 7 WHERE name = $1`, d.Classes[0].Name)
	got := must(s.Document(ctx, night))(t)
	i := slices.IndexFunc(got.Prices, func(p inputs.PricePeriod) bool { return p.From.Year() == 2020 })
	if i < 0 || got.Prices[i].Purchase != "" || got.Classes[0].Penalty.String() != "7.00" || got.Classes[0].Speed["large"] != 1.0/3 {
		t.Errorf("got %+v and %+v", got.Prices, got.Classes[0])
	}
	t.Attr("R19", "statements of the previous release read and write beside the VM types of this one")
}
