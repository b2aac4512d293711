package plans

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/core/capacity"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func currentOf(p capacity.Plan) Current {
	return Current{
		Record:      PlanRecord{PlanSummary: PlanSummary{ID: "019a", Number: 7, CreatedAt: noon.Add(-12 * time.Second), PeriodSeconds: 3600, InputsVersion: 3, VMs: p.VMs.Total}},
		ConfirmedAt: noon.Add(-12 * time.Second), InputsVersion: 3,
	}
}

func threeClasses(total float64, shares ...float64) capacity.Plan {
	p := capacity.Plan{Status: capacity.Optimal, VMs: capacity.VMs{Total: total, Reserved: min(30, total), OnDemand: max(0, total-30)}}
	for i, share := range shares {
		p.Classes = append(p.Classes, capacity.ClassPlan{Name: string(rune('a' + i)), VMs: share, Admitted: 10, Slots: &capacity.Slots{Map: 20, Reduce: 8}})
	}
	return p
}

func TestScalingIsThePlanInWholeVMs(t *testing.T) {
	t.Parallel()
	p := threeClasses(42, 4.8, 30.6, 6.5)
	got, found := currentOf(p).scalingAt(noon, p, ScalingOptions{})
	class := func(vms int64, share float64) ScalingClass {
		return ScalingClass{VMs: vms, VMsShare: share, SlotsMap: 20, SlotsReduce: 8, Admitted: 10}
	}
	a, b, c := class(5, 4.8), class(31, 30.6), class(6, 6.5)
	want := Scaling{
		PlanID: "019a", Number: 7, GeneratedAt: noon.Add(-12 * time.Second), ConfirmedAt: noon.Add(-12 * time.Second), ValidUntil: noon.Add(2*time.Hour - 12*time.Second),
		AgeSeconds: 12, Status: capacity.Optimal, VMs: ScalingVMs{Total: 42, ScalingKinds: ScalingKinds{Reserved: 30, OnDemand: 12}, Planned: 42},
		Classes: map[string]ScalingClass{"a": a, "b": b, "c": c}, Items: []ScalingItem{{"a", a}, {"b", b}, {"c", c}},
	}
	if diff := cmp.Diff(want, got); diff != "" || !found {
		t.Errorf("found %t, differs (-want +got):\n%s", found, diff)
	}
	if _, found := currentOf(p).scalingAt(noon, p, ScalingOptions{Class: "d"}); found {
		t.Error("a class that the plan does not have was found")
	}
	one, found := currentOf(p).scalingAt(noon, p, ScalingOptions{Class: "b"})
	if !found || len(one.Items) != 1 || one.Classes["b"].VMs != 31 || one.VMs.Total != 42 {
		t.Errorf("got %+v, want b alone, with the parts and the total it has among all", one)
	}
}

func TestWhatScalingIsToldActsOnTheTotal(t *testing.T) {
	t.Parallel()
	hour := []PastVMs{{Total: 90, Reserved: 30, Until: noon.Add(-time.Hour)}, {Total: 60, Reserved: 30, Until: noon.Add(-time.Minute)}, {Total: 20, Reserved: 20, Until: noon.Add(-time.Second)}}
	pin := &Pin{Number: 7, Until: noon.Add(time.Hour)}
	over := &Pin{Number: 7, Until: noon}
	for name, c := range map[string]struct {
		hold   int64
		pin    *Pin
		o      ScalingOptions
		want   ScalingVMs
		shares float64
	}{
		"nothing":                  {0, nil, ScalingOptions{}, ScalingVMs{Total: 42, ScalingKinds: ScalingKinds{Reserved: 30, OnDemand: 12}, Planned: 42}, 41.9},
		"held for two minutes":     {120, nil, ScalingOptions{}, ScalingVMs{Total: 60, ScalingKinds: ScalingKinds{Reserved: 30, OnDemand: 30}, Planned: 42, Held: true}, 41.9},
		"held for a minute":        {60, nil, ScalingOptions{}, ScalingVMs{Total: 42, ScalingKinds: ScalingKinds{Reserved: 30, OnDemand: 12}, Planned: 42}, 41.9},
		"held for two hours":       {7200, nil, ScalingOptions{}, ScalingVMs{Total: 90, ScalingKinds: ScalingKinds{Reserved: 30, OnDemand: 60}, Planned: 42, Held: true}, 41.9},
		"pinned":                   {7200, pin, ScalingOptions{}, ScalingVMs{Total: 42, ScalingKinds: ScalingKinds{Reserved: 30, OnDemand: 12}, Planned: 42}, 41.9},
		"a pin that is over":       {7200, over, ScalingOptions{}, ScalingVMs{Total: 90, ScalingKinds: ScalingKinds{Reserved: 30, OnDemand: 60}, Planned: 42, Held: true}, 41.9},
		"headroom":                 {0, nil, ScalingOptions{Headroom: 1.1}, ScalingVMs{Total: 47, ScalingKinds: ScalingKinds{Reserved: 30, OnDemand: 17}, Planned: 42}, 41.9},
		"headroom of what is held": {120, nil, ScalingOptions{Headroom: 1.5}, ScalingVMs{Total: 90, ScalingKinds: ScalingKinds{Reserved: 30, OnDemand: 60}, Planned: 42, Held: true}, 41.9},
		"headroom without a rest":  {0, nil, ScalingOptions{Headroom: 1.5}, ScalingVMs{Total: 63, ScalingKinds: ScalingKinds{Reserved: 30, OnDemand: 33}, Planned: 42}, 41.9},
		"at least":                 {0, nil, ScalingOptions{Min: 50}, ScalingVMs{Total: 50, ScalingKinds: ScalingKinds{Reserved: 30, OnDemand: 20}, Planned: 42}, 41.9},
		"at most":                  {0, nil, ScalingOptions{Headroom: 2, Max: 50}, ScalingVMs{Total: 50, ScalingKinds: ScalingKinds{Reserved: 30, OnDemand: 20}, Planned: 42}, 41.9},
		"fewer than are reserved":  {0, nil, ScalingOptions{Max: 7}, ScalingVMs{Total: 7, ScalingKinds: ScalingKinds{Reserved: 7}, Planned: 42}, 41.9},
		"nobody has a share":       {0, nil, ScalingOptions{Min: 2}, ScalingVMs{Total: 42, ScalingKinds: ScalingKinds{Reserved: 30, OnDemand: 12}, Planned: 42}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := threeClasses(42, c.shares/2, c.shares/3, c.shares/6)
			current := currentOf(p)
			current.HoldSeconds, current.Pin, current.Past = c.hold, c.pin, hour
			got, _ := current.scalingAt(noon, p, c.o)
			if diff := cmp.Diff(c.want, got.VMs); diff != "" {
				t.Errorf("the VMs differ (-want +got):\n%s", diff)
			}
			sum, want := int64(0), got.VMs.Total
			for _, item := range got.Items {
				sum += item.VMs
			}
			if c.shares == 0 {
				want = 0
			}
			if sum != want {
				t.Errorf("the classes' VMs add up to %d, want %d", sum, want)
			}
		})
	}
}

func TestScalingIsStaleWhenThePlanIs(t *testing.T) {
	t.Parallel()
	p := threeClasses(3, 1, 1, 1)
	c := currentOf(p)
	for moment, want := range map[time.Duration]bool{0: false, 2*time.Hour - 13*time.Second: false, 2*time.Hour - 12*time.Second: true} {
		if s, _ := c.scalingAt(noon.Add(moment), p, ScalingOptions{}); s.Stale != want {
			t.Errorf("after %s stale is %t, want %t", moment, s.Stale, want)
		}
	}
	if s, _ := c.scalingAt(noon.Add(-time.Hour), p, ScalingOptions{}); s.AgeSeconds != 0 {
		t.Errorf("got an age of %d s before the plan was made, want 0", s.AgeSeconds)
	}
}

// For any plan, an autoscaler reads finite numbers that are not negative.
func TestScalingHasNoStrangeNumbers(t *testing.T) {
	t.Parallel()
	p := threeClasses(math.NaN(), math.Inf(1), -3, math.NaN())
	p.VMs.Reserved = -1
	p.Classes[0].Admitted, p.Classes[1].Refused = math.Inf(1), -0.5
	p.Classes[2].Slots = &capacity.Slots{Map: math.NaN(), Reduce: -2}
	current := currentOf(p)
	current.Past = []PastVMs{{Total: math.Inf(1), Spot: math.NaN(), Until: noon}}
	s, _ := current.scalingAt(noon, p, ScalingOptions{Headroom: 1e300, Min: 2})
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var all any
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, one := range v {
				walk(one)
			}
		case []any:
			for _, one := range v {
				walk(one)
			}
		case float64:
			if v < 0 || v > maxWhole {
				t.Errorf("%v is in %s", v, text)
			}
		}
	}
	walk(all)
}

// A part is never further than one VM from its exact share, the parts add up, and names decide ties.
func TestWholePartsAddUp(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := 1 + random.IntN(12)
		classes, sum := make([]capacity.ClassPlan, n), 0.0
		for i := range classes {
			classes[i] = capacity.ClassPlan{Name: string(rune('z' - i)), VMs: float64(random.IntN(40)) / float64(1+random.IntN(7))}
			sum += classes[i].VMs
		}
		if sum == 0 {
			continue
		}
		total := int64(math.Ceil(sum))
		parts, added := wholeParts(total, classes), int64(0)
		for i, part := range parts {
			added += part
			if exact := classes[i].VMs / sum * float64(total); math.Abs(exact-float64(part)) >= 1+1e-6 {
				t.Fatalf("%v of %d: part %d is %d, its exact share is %v", classes, total, i, part, exact)
			}
		}
		if added != total {
			t.Fatalf("%v: %v add up to %d, want %d", classes, parts, added, total)
		}
	}
	tied := []capacity.ClassPlan{{Name: "c", VMs: 1.5}, {Name: "a", VMs: 1.5}, {Name: "b", VMs: 1.5}, {Name: "none"}}
	if diff := cmp.Diff([]int64{1, 2, 2, 0}, wholeParts(5, tied)); diff != "" {
		t.Errorf("ties differ (-want +got):\n%s", diff)
	}
}

// Within a lead each way of renting is as large as that of the moment that needs most of it, whatever the total is.
func TestScalingRaisesEachKindOfVMs(t *testing.T) {
	t.Parallel()
	of := func(reserved, onDemand, a, b float64) capacity.Plan {
		return capacity.Plan{VMs: capacity.VMs{Total: reserved + onDemand, Reserved: reserved, OnDemand: onDemand,
			Types: []capacity.TypeVMs{{Name: "a", Total: a, Reserved: reserved}, {Name: "b", Total: b, OnDemand: onDemand}}}}
	}
	now := of(6, 4, 7, 3)
	for _, c := range []struct {
		name  string
		ahead []capacity.Plan
		want  ScalingVMs
		types map[string]int64
	}{
		{"more on demand, fewer in all", []capacity.Plan{of(2, 7, 1, 8)}, ScalingVMs{Total: 10, ScalingKinds: ScalingKinds{Reserved: 6, OnDemand: 7}, Planned: 10}, map[string]int64{"a": 7, "b": 8}},
		{"more reserved, fewer in all", []capacity.Plan{of(8, 0, 8, 0)}, ScalingVMs{Total: 10, ScalingKinds: ScalingKinds{Reserved: 8, OnDemand: 4}, Planned: 10}, map[string]int64{"a": 8, "b": 3}},
		{"more reserved in all", []capacity.Plan{of(12, 1, 2, 11)}, ScalingVMs{Total: 13, ScalingKinds: ScalingKinds{Reserved: 12, OnDemand: 4}, Planned: 10, Ahead: true}, map[string]int64{"a": 7, "b": 11}},
		{"one of each", []capacity.Plan{of(9, 0, 9, 0), of(0, 9, 0, 9)}, ScalingVMs{Total: 10, ScalingKinds: ScalingKinds{Reserved: 9, OnDemand: 9}, Planned: 10}, map[string]int64{"a": 9, "b": 9}},
		{"nothing more", []capacity.Plan{of(5, 3, 5, 3)}, ScalingVMs{Total: 10, ScalingKinds: ScalingKinds{Reserved: 6, OnDemand: 4}, Planned: 10}, map[string]int64{"a": 7, "b": 3}},
	} {
		o := ScalingOptions{Lead: 10 * time.Minute, Ahead: Outlook{Until: noon.Add(time.Hour)}}
		for i, p := range c.ahead {
			o.Ahead.Moments = append(o.Ahead.Moments, Moment{noon.Add(time.Duration(i+1) * time.Minute), p})
		}
		got, _ := currentOf(now).scalingAt(noon, now, o)
		if diff := cmp.Diff(c.want, got.VMs); diff != "" || !cmp.Equal(c.types, got.Types) {
			t.Errorf("%s: %s, types %v, want %v", c.name, diff, got.Types, c.types)
		}
	}
}

// With a lead each figure is the most of now and of every moment up to then; later moments are only listed.
func TestScalingAsksForTheMostWithinTheLead(t *testing.T) {
	t.Parallel()
	fleet := func(a, b float64, shares ...float64) capacity.Plan {
		p := threeClasses(math.Ceil(a)+math.Ceil(b), shares...)
		p.VMs.Types = []capacity.TypeVMs{{Name: "a", Total: a}, {Name: "b", Total: b}}
		return p
	}
	p := fleet(3.2, 1, 4, 1)
	soon, later := Moment{noon.Add(10 * time.Minute), fleet(2, 5, 1, 6)}, Moment{noon.Add(11 * time.Minute), fleet(90, 90, 90, 90)}
	o := ScalingOptions{Lead: 10 * time.Minute, Ahead: Outlook{Moments: []Moment{soon, later}, Until: noon.Add(time.Hour)}}
	got, _ := currentOf(p).scalingAt(noon, p, o)
	if want := (ScalingVMs{Total: 7, ScalingKinds: ScalingKinds{Reserved: 7}, Planned: 5, Ahead: true}); got.VMs != want {
		t.Errorf("got %+v, want %+v", got.VMs, want)
	}
	if diff := cmp.Diff(map[string]int64{"a": 4, "b": 5}, got.Types); diff != "" {
		t.Error(diff)
	}
	if got.Classes["a"].VMs != 4 || got.Classes["b"].VMs != 6 || got.Items[1].VMs != 6 {
		t.Errorf("the classes have %+v", got.Classes)
	}
	if len(got.Next) != 2 || got.Next[1].VMs != 180 || got.Next[0].Types["b"] != 5 || got.Next[0].Classes["a"] != 1 {
		t.Errorf("listed is %+v", got.Next)
	}
	if k := got.Next[1].ScalingKinds; k.Reserved+k.OnDemand+k.Spot != 180 || k.Reserved != 30 {
		t.Errorf("of 180 VMs listed are %+v", k)
	}
	o.Headroom, o.Max = 2, 13
	if got, _ := currentOf(p).scalingAt(noon, p, o); got.VMs.Total != 13 || got.Types["b"] != 10 || got.Next[1].VMs != 13 {
		t.Errorf("with a factor and a limit: %+v %v %+v", got.VMs, got.Types, got.Next)
	}
	if got, _ := currentOf(p).scalingAt(noon, p, ScalingOptions{}); got.VMs.Total != 5 || got.Next != nil || got.Types["a"] != 4 {
		t.Errorf("without a lead: %+v %v", got.VMs, got.Types)
	}
}

// Whatever acts on the total, the kinds add up to it: VMs beyond the plan's are on demand, and spot VMs go first.
func TestScalingCountsSpotVMs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		o    ScalingOptions
		want ScalingVMs
	}{
		"the plan":             {ScalingOptions{}, ScalingVMs{12, ScalingKinds{2, 5, 5}, 12, false, false}},
		"more":                 {ScalingOptions{Headroom: 1.5}, ScalingVMs{18, ScalingKinds{2, 11, 5}, 12, false, false}},
		"at least":             {ScalingOptions{Min: 13}, ScalingVMs{13, ScalingKinds{2, 6, 5}, 12, false, false}},
		"less":                 {ScalingOptions{Max: 9}, ScalingVMs{9, ScalingKinds{2, 5, 2}, 12, false, false}},
		"few":                  {ScalingOptions{Max: 6}, ScalingVMs{6, ScalingKinds{2, 4, 0}, 12, false, false}},
		"fewer than contracts": {ScalingOptions{Max: 1}, ScalingVMs{1, ScalingKinds{1, 0, 0}, 12, false, false}},
	} {
		p := threeClasses(12, 4, 4, 4)
		p.VMs.Reserved, p.VMs.OnDemand, p.VMs.Spot = 2, 5, 5
		p.VMs.Types = []capacity.TypeVMs{{Name: "a", Total: 7, Reserved: 2, OnDemand: 5}, {Name: "b", Total: 5, Spot: 5}}
		got, _ := currentOf(p).scalingAt(noon, p, c.o)
		if got.VMs != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got.VMs, c.want)
		}
		if diff := cmp.Diff(map[string]int64{"b": 5}, got.SpotTypes); diff != "" {
			t.Errorf("%s: the spot VMs of each type differ (-want +got):\n%s", name, diff)
		}
	}
}

// Held back are the VMs of each kind and type, so that whoever follows one of them keeps it. A past plan whose kinds are
// not known counts as on demand.
func TestScalingHoldsEachKindAndType(t *testing.T) {
	t.Parallel()
	p := threeClasses(20, 10, 5, 5)
	p.VMs.Reserved, p.VMs.OnDemand, p.VMs.Spot = 13, 0, 7
	p.VMs.Types = []capacity.TypeVMs{{Name: "a", Total: 13, Reserved: 13}, {Name: "b", Total: 7, Spot: 7}}
	c := currentOf(p)
	c.HoldSeconds = 600
	c.Past = []PastVMs{{Total: 41, Reserved: 26, Spot: 4, Until: noon.Add(-time.Minute), Types: []capacity.TypeVMs{
		{Name: "a", Total: 26, Reserved: 26}, {Name: "b", Total: 4, Spot: 4}, {Name: "c", Total: 11, OnDemand: 11}}}}
	for _, o := range []ScalingOptions{{}, {Lead: time.Minute, Ahead: Outlook{Until: noon.Add(time.Hour)}}} {
		got, _ := c.scalingAt(noon, p, o)
		if want := (ScalingVMs{41, ScalingKinds{26, 11, 7}, 20, true, false}); got.VMs != want {
			t.Errorf("got %+v, want %+v", got.VMs, want)
		}
		if diff := cmp.Diff(ScalingTypes{map[string]int64{"a": 26, "b": 7, "c": 11}, map[string]int64{"b": 7}}, got.ScalingTypes); diff != "" {
			t.Errorf("the types differ (-want +got):\n%s", diff)
		}
	}
	c.Past = []PastVMs{{Total: 41, Until: noon}}
	if got, _ := c.scalingAt(noon, p, ScalingOptions{}); got.VMs != (ScalingVMs{41, ScalingKinds{13, 41, 7}, 20, true, false}) {
		t.Errorf("of unknown kinds: got %+v", got.VMs)
	}
}

// An empty list of moments ahead means that nothing comes only when the day is planned.
func TestScalingTellsWhetherTheDayIsPlanned(t *testing.T) {
	t.Parallel()
	p := threeClasses(3, 1, 1, 1)
	for ahead, want := range map[time.Duration]bool{12 * time.Minute: false, LongestLead - 1: false, LongestLead: true} {
		got, _ := currentOf(p).scalingAt(noon, p, ScalingOptions{Lead: time.Minute, Ahead: Outlook{Until: noon.Add(ahead)}})
		if got.NextComplete == nil || *got.NextComplete != want {
			t.Errorf("%s ahead are planned: next_complete is %v, want %t", ahead, got.NextComplete, want)
		}
	}
}
