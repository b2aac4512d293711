package postgres_test

import (
	"context"
	"fmt"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/test/pgtest"
)

// collection tests the promises of every kind of input; the functions give the differences.
type collection[T any] struct {
	of      storage.Collection[T]
	make    func(i int, name string) T
	change  func(T) T
	name    func(T) string
	version func(T) int64
	words   string
	aside   bool // a change does not count as one of the inputs
}

func (c collection[T]) test(t *testing.T, ctx context.Context, s *postgres.Store) {
	counted := int64(1)
	if c.aside {
		counted = 0
	}
	inputs := func() int64 { return must(s.Cluster(ctx, night))(t).InputsVersion }
	var made []T
	for i, name := range hostile {
		before := inputs()
		item := must(c.of.Create(ctx, night, c.make(i, name)))(t)
		made = append(made, item)
		same(t, item, c.make(i, name), bare)
		same(t, must(c.of.Get(ctx, night, c.name(item)))(t), item)
		if c.version(item) != 1 || inputs() != before+counted {
			t.Errorf("created with version %d; inputs version %d after %d", c.version(item), inputs(), before)
		}
	}
	if all := pages(t, 3, func(p storage.Page) (storage.Listed[T], error) { return c.of.List(ctx, night, p) }); len(all) != len(made) {
		t.Errorf("%d items listed, want %d", len(all), len(made))
	}
	for i, item := range made {
		name, want := c.name(item), c.change(c.make(i, hostile[i]))
		before := inputs()
		_, err := c.of.Replace(ctx, night, name, 7, want)
		wrongVersion(t, err, 1)
		changed := must(c.of.Replace(ctx, night, name, 1, want))(t)
		same(t, changed, want, bare)
		if c.version(changed) != 2 || inputs() != before+counted {
			t.Errorf("changed to version %d; inputs version %d after %d", c.version(changed), inputs(), before)
		}
		_, err = c.of.Replace(ctx, night, name, 1, want)
		wrongVersion(t, err, 2)
		wrongVersion(t, c.of.Delete(ctx, night, name, 1), 2)
		if i%2 == 0 {
			check(t, c.of.Delete(ctx, night, name, 2))
			kindOf(t, c.of.Delete(ctx, night, name, 2), fault.NotFound, c.words)
			_, err = c.of.Get(ctx, night, name)
			kindOf(t, err, fault.NotFound, c.words)
			_, err = c.of.Replace(ctx, night, name, 2, want)
			kindOf(t, err, fault.NotFound, c.words)
		}
	}
	for _, unknown := range []string{"", "\x00", "\xff\xfe", "none", "0198c0de-0000-7000-8000-000000000000"} {
		_, err := c.of.Get(ctx, night, unknown)
		kindOf(t, err, fault.NotFound, c.words)
	}
	_, err := c.of.Create(ctx, "nowhere", c.make(0, "x"))
	kindOf(t, err, fault.NotFound, `no cluster "nowhere"`)
	_, err = c.of.List(ctx, "nowhere", storage.Page{})
	kindOf(t, err, fault.NotFound, `no cluster "nowhere"`)
}

func TestVMTypes(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := somebody(t)
	must(s.CreateCluster(ctx, inputs.NewCluster(night)))(t)
	collection[inputs.VMType]{
		of: s.VMTypes(), words: "VM type",
		make:    func(_ int, name string) inputs.VMType { return inputs.VMType{Name: name, Description: name} },
		change:  func(v inputs.VMType) inputs.VMType { quota := int64(7); v.Quota = &quota; return v },
		name:    func(v inputs.VMType) string { return v.Name },
		version: func(v inputs.VMType) int64 { return v.Version },
	}.test(t, ctx, s)
}

func TestPrices(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := somebody(t)
	must(s.CreateCluster(ctx, inputs.NewCluster(night)))(t)
	for _, name := range hostile {
		must(s.VMTypes().Create(ctx, night, inputs.VMType{Name: name}))(t)
	}
	collection[inputs.PricePeriod]{
		of: s.Prices(), words: "price period",
		make: func(i int, name string) inputs.PricePeriod {
			return inputs.PricePeriod{VMType: name, Purchase: capacity.PurchaseOnDemand, Price: amountOf("0.123456789"), From: january.From.AddDate(i, 0, 0), Until: nil}
		},
		change: func(p inputs.PricePeriod) inputs.PricePeriod {
			end := p.From.AddDate(0, 0, 1)
			p.Until, p.Price = &end, amountOf("1000000000")
			return p
		},
		name:    func(p inputs.PricePeriod) string { return p.ID },
		version: func(p inputs.PricePeriod) int64 { return p.Version },
	}.test(t, ctx, s)
}

func TestContracts(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := somebody(t)
	must(s.CreateCluster(ctx, inputs.NewCluster(night)))(t)
	must(s.VMTypes().Create(ctx, night, small))(t)
	collection[inputs.SignedContract]{
		of: s.Contracts(), words: "contract",
		make: func(_ int, name string) inputs.SignedContract { c := threeYrs; c.Name = name; return c },
		change: func(c inputs.SignedContract) inputs.SignedContract {
			c.Billing, c.Upfront = capacity.BilledAlways, amountOf("0.5")
			return c
		},
		name:    func(c inputs.SignedContract) string { return c.Name },
		version: func(c inputs.SignedContract) int64 { return c.Version },
	}.test(t, ctx, s)
}

func TestOffers(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := somebody(t)
	must(s.CreateCluster(ctx, inputs.NewCluster(night)))(t)
	must(s.VMTypes().Create(ctx, night, small))(t)
	collection[inputs.StandingOffer]{
		of: s.Offers(), words: "offer", aside: true,
		make: func(_ int, name string) inputs.StandingOffer { o := oneYear; o.Name, o.Note = name, name; return o },
		change: func(o inputs.StandingOffer) inputs.StandingOffer {
			o.TermYears, o.TermHours, o.Upfront, o.Max = 0, 8760, amountOf("0.000000001"), 0
			return o
		},
		name:    func(o inputs.StandingOffer) string { return o.Name },
		version: func(o inputs.StandingOffer) int64 { return o.Version },
	}.test(t, ctx, s)
	other := oneYear
	other.VMType = "smal"
	_, err := s.Offers().Create(ctx, night, other)
	refused(t, err, "/vm_type", `The only VM type is "small"`)
	must(s.Offers().Create(ctx, night, oneYear))(t)
	kindOf(t, s.VMTypes().Delete(ctx, night, "small", 1), fault.Conflict, "offers")
}

func TestClasses(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := somebody(t)
	must(s.CreateCluster(ctx, inputs.NewCluster(night)))(t)
	for _, name := range hostile {
		must(s.CreateProfile(ctx, night, inputs.ProfileVersion{Name: name, Note: name, Profile: etl.Profile}))(t)
	}
	collection[inputs.PlannedClass]{
		of: s.Classes(), words: "class",
		make: func(i int, name string) inputs.PlannedClass {
			c := nightly
			c.Name = name
			switch i % 3 {
			case 0:
				c.Profile = &inputs.ProfileRef{Name: name, Version: 1}
			case 1:
				c.Profile, c.Demand = nil, &capacity.Demand{MapWorkSeconds: 1.5, ReduceWorkSeconds: 0, FixedSeconds: -3}
			case 2:
				c.Profile, c.VMsPerJob, c.DeadlineSeconds, c.SlotsPerVM = nil, gamma("0.123456789012"), 0, capacity.SlotsPerVM{}
			}
			return c
		},
		change: func(c inputs.PlannedClass) inputs.PlannedClass {
			c.Jobs, c.Penalty = capacity.JobRange{Min: 0.5, Max: 1e6}, amountOf("0.000000001")
			return c
		},
		name:    func(c inputs.PlannedClass) string { return c.Name },
		version: func(c inputs.PlannedClass) int64 { return c.Version },
	}.test(t, ctx, s)
}

func TestANameNeverChanges(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := filled(t, s)
	other := nightly
	other.Name = "other"
	_, err := s.Classes().Replace(ctx, night, "nightly", 1, other)
	refused(t, err, "/name", "never changes")
	other.Name = ""
	if kept := must(s.Classes().Replace(ctx, night, "nightly", 1, other))(t); kept.Name != "nightly" {
		t.Errorf("the name is %q", kept.Name)
	}
}

func TestAClassGetsTheLatestProfileVersion(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := filled(t, s)
	must(s.AddProfileVersion(ctx, night, etl))(t)
	if got := must(s.Classes().Get(ctx, night, "nightly"))(t); got.Profile.Version != 1 {
		t.Errorf("a new version changed a class to version %d", got.Profile.Version)
	}
	if got := must(s.Classes().Replace(ctx, night, "nightly", 1, nightly))(t); got.Profile.Version != 2 {
		t.Errorf("version 0 became %d, want 2", got.Profile.Version)
	}
	first := nightly
	first.Profile = &inputs.ProfileRef{Name: "etl", Version: 1}
	if got := must(s.Classes().Replace(ctx, night, "nightly", 2, first))(t); got.Profile.Version != 1 {
		t.Errorf("version 1 became %d", got.Profile.Version)
	}
}

func TestTypesThingsReferToStay(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := filled(t, s)
	kindOf(t, s.VMTypes().Delete(ctx, night, "small", 1), fault.Conflict, `"small" still has prices`)
	for _, p := range must(s.Prices().List(ctx, night, storage.Page{}))(t).Items {
		check(t, s.Prices().Delete(ctx, night, p.ID, 1))
	}
	kindOf(t, s.VMTypes().Delete(ctx, night, "small", 1), fault.Conflict, "contracts")
	check(t, s.Contracts().Delete(ctx, night, "three-year", 1))
	check(t, s.VMTypes().Delete(ctx, night, "small", 1))
	etl := must(s.Profile(ctx, night, "etl", 0))(t).Tag()
	kindOf(t, s.DeleteProfile(ctx, night, "etl", etl), fault.Conflict, `"etl" is still used`)
	check(t, s.Classes().Delete(ctx, night, "nightly", 1)) // and its forecasts
	if rows := must(s.Forecasts(ctx, night, clusters.ForecastFilter{}, storage.Page{}))(t); len(rows.Items) != 0 {
		t.Errorf("forecasts of a class that is gone: %v", rows.Items)
	}
	check(t, s.DeleteProfile(ctx, night, "etl", etl))
}

func TestEightWritersLoseNoUpdate(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := filled(t, s)
	const writers = 8
	each := 10
	if long() {
		each = 200
	}
	done := make(chan error, writers)
	for w := range writers {
		go func() {
			done <- func() error {
				for n := 0; n < each; {
					c, err := s.Classes().Get(ctx, night, "ad-hoc")
					if err != nil {
						return err
					}
					c.Jobs.Max++
					_, err = s.Classes().Replace(ctx, night, "ad-hoc", c.Version, c)
					switch {
					case err == nil:
						n++
					case !isVersion(err):
						return fmt.Errorf("writer %d: %w", w, err)
					}
				}
				return nil
			}()
		}()
	}
	for range writers {
		check(t, <-done)
	}
	got := must(s.Classes().Get(ctx, night, "ad-hoc"))(t)
	if want := adhoc.Jobs.Max + float64(writers*each); got.Jobs.Max != want || got.Version != int64(1+writers*each) {
		t.Errorf("%g jobs in version %d, want %g in version %d", got.Jobs.Max, got.Version, want, 1+writers*each)
	}
	t.Logf("%d updates by %d writers, none lost", writers*each, writers)
	t.Attr("R11", fmt.Sprintf("%d updates by %d writers, 0 lost", writers*each, writers))
}
