package sim

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"example.org/headroom/internal/core/fault"
)

// leaves returns every number, word and list of an input that can be changed.
func leaves(v reflect.Value) []reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return leaves(v.Elem())
	case reflect.Struct:
		var all []reflect.Value
		for i := range v.NumField() {
			all = append(all, leaves(v.Field(i))...)
		}
		return all
	case reflect.Slice:
		all := []reflect.Value{v}
		for i := range v.Len() {
			all = append(all, leaves(v.Index(i))...)
		}
		return all
	default:
		return []reflect.Value{v}
	}
}

func spoil(v reflect.Value, s *stream) {
	floats := []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e-300, 5e-324, 1e300, 1e9, 1e7, 1, 1e-9, 0.5}
	whole := []int64{0, -1, 1, 2, 1000, 1_000_000, math.MaxInt64, math.MinInt64}
	words := []string{"", "fair", "capacity", "fifo", "progress-share", "max-progress", "steps", "uniform", "given", "class", "none", "closed", "poisson", "trace", "batch", "exponential", "recorded", "constant", "?"}
	pick := func(n int) int { return int(s.next() % uint64(n)) }
	switch v.Kind() {
	case reflect.Float64:
		v.SetFloat(floats[pick(len(floats))])
	case reflect.Int, reflect.Int64:
		v.SetInt(whole[pick(len(whole))])
	case reflect.Uint64:
		v.SetUint(s.next())
	case reflect.String:
		v.SetString(words[pick(len(words))])
	case reflect.Slice:
		if n := v.Len(); n > 0 {
			v.Set(v.Slice(0, pick(n+1)))
		}
	}
}

// confine limits an input so that it is soon simulated. Limits answer absurd sizes, and those of a service are small.
func confine(in *Input) {
	const many, events = 20_000, 20_000
	if in.Limits.Events == 0 || in.Limits.Events > events {
		in.Limits.Events = events
	}
	in.Replications = min(in.Replications, 3)
	in.Slots.Map, in.Slots.Reduce, in.Slots.Shared = min(in.Slots.Map, many), min(in.Slots.Reduce, many), min(in.Slots.Shared, many)
	for i := range in.Nodes {
		n := &in.Nodes[i]
		n.Count, n.Slots.Map, n.Slots.Reduce, n.Slots.Shared = min(n.Count, 100), min(n.Slots.Map, 100), min(n.Slots.Reduce, 100), min(n.Slots.Shared, 100)
	}
	for i := range in.Classes {
		l := &in.Classes[i].Load
		l.Users, l.Jobs = min(l.Users, many), min(l.Jobs, many)
	}
}

// Any input is refused with findings, or soon has an answer of finite numbers.
func TestEveryInputHasAnAnswer(t *testing.T) {
	s := stream(5)
	refused, answered := 0, 0
	for n := range trials(600) {
		var in Input
		if err := json.Unmarshal([]byte([]string{everyMember, everyMemberOnNodes}[n%2]), &in); err != nil {
			t.Fatal(err)
		}
		all := leaves(reflect.ValueOf(&in))
		for range 1 + s.next()%4 {
			spoil(all[s.next()%uint64(len(all))], &s)
		}
		confine(&in)
		sim, err := New(in)
		var wrong *fault.InputError
		if errors.As(err, &wrong) {
			refused++
			for _, f := range wrong.Findings {
				if f.Detail == "" || f.Code == "" {
					t.Fatalf("a finding without words: %+v", f)
				}
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if err := sim.Work(ctx); err != nil {
			t.Fatalf("%+v: %v", in, err)
		}
		cancel()
		if _, err := json.Marshal(sim.Report()); err != nil {
			t.Fatalf("%+v: %v", in, err)
		}
		answered++
	}
	if refused < trials(100) || answered < trials(100) {
		t.Errorf("%d inputs refused, %d answered; want many of both", refused, answered)
	}
}

// A time that is too short for a rate has none: the report is one that JSON can hold.
func TestTimesTooShortForARate(t *testing.T) {
	for _, tasks := range []string{`"profile":{"map_avg_s":1e-308,"map_max_s":1e-308,"map_tasks":4,"reduce_tasks":0}`,
		`"profile":{"map_avg_s":5,"map_max_s":9,"map_tasks":4,"reduce_tasks":0},"tasks":{"map_s":[1e-308]}`} {
		in, err := Read([]byte(`{"classes":[{"load":{"jobs":2,"kind":"batch"},"name":"etl",` + tasks + `}],"nodes":[{"slots":{"shared":2},"type":"a"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(t.Context(), in, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(r); err != nil || r.Classes[0].Ended != 2 {
			t.Errorf("%s: %v, %d jobs ended", tasks, err, r.Classes[0].Ended)
		}
	}
}
