package sim

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"syscall"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/slots/dispatch"
)

// table2 returns a class of the size of the paper's Table 2.
func table2() capacity.Profile {
	return capacity.Profile{
		MapTasks: 385, MapAvgSeconds: 34, MapMaxSeconds: 68,
		ReduceTasks: 48, FirstShuffleAvgSeconds: 10, FirstShuffleMaxSeconds: 20, ShuffleAvgSeconds: 45, ShuffleMaxSeconds: 90,
		ReduceAvgSeconds: 22, ReduceMaxSeconds: 45,
	}
}

// busy returns classes of Table 2's size that keep a cluster busy.
func busy(classes int, users int64, slots Slots, horizon float64) Input {
	in := Input{Slots: slots, HorizonSeconds: horizon, Seed: 1}
	for i := range classes {
		in.Classes = append(in.Classes, Class{Name: fmt.Sprintf("class %d", i), Profile: table2(), DeadlineSeconds: 900,
			Load: Load{Kind: Closed, Users: users, ThinkSeconds: 30}})
	}
	return in
}

// alone simulates on this thread.
func alone(in Input) (Report, error) {
	s, err := New(in)
	if err != nil {
		return Report{}, err
	}
	err = s.Work(context.Background())
	return s.Report(), err
}

// The whole simulator beside a bare heap that takes and puts the same number of events.
func BenchmarkEvents(b *testing.B) {
	for _, kind := range []dispatch.PolicyKind{dispatch.PolicyFair, dispatch.PolicyCapacity, dispatch.PolicyFIFO} {
		for _, tasks := range []TaskKind{Constant, Lognormal} {
			b.Run(fmt.Sprintf("%s/%s", kind, tasks), func(b *testing.B) {
				in := busy(3, 5, Slots{Map: 64, Reduce: 64}, 1e9)
				in.Policy.Kind = kind
				in.Limits.Events = 1_000_000
				for i := range in.Classes {
					in.Classes[i].Tasks.Kind = tasks
				}
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				events, from := int64(0), cpu()
				for b.Loop() {
					r, err := alone(in)
					if err != nil {
						b.Fatal(err)
					}
					events += r.Events
				}
				b.ReportMetric(float64(events)/(cpu()-from).Seconds()/1e6, "Mevents/s")
			})
		}
	}
	b.Run("bare heap", func(b *testing.B) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		events, from := 0, cpu()
		for b.Loop() {
			events += bareHeap(128, 1_000_000)
		}
		b.ReportMetric(float64(events)/(cpu()-from).Seconds()/1e6, "Mevents/s")
	})
}

// bareHeap puts a number of events through a queue of the size of the slots.
func bareHeap(slots, events int) int {
	var q queue
	s := stream(1)
	for i := range slots {
		q.put(event{s.unit(), uint64(i)})
	}
	for range events {
		e := q.first()
		q.take()
		q.put(event{e.at + s.unit(), e.code})
	}
	return events
}

func BenchmarkHourOf128Cores(b *testing.B) {
	in := busy(3, 5, Slots{Map: 64, Reduce: 64}, 3600)
	for b.Loop() {
		if _, err := Run(context.Background(), in, 1); err != nil {
			b.Fatal(err)
		}
	}
}

// cpu returns the processor time of this thread, without other work on the machine.
func cpu() time.Duration {
	var u syscall.Rusage
	const thread = 1
	if err := syscall.Getrusage(thread, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// growth measures one phase of n tasks on a tenth as many slots, and a bare heap of as many events.
func growth(tb testing.TB, n int64) (took, bare time.Duration) {
	p := capacity.Profile{MapTasks: n, MapAvgSeconds: 10, MapMaxSeconds: 30}
	in := Input{Slots: Slots{Map: n / 10}, Classes: []Class{{Name: "a", Profile: p, Load: Load{Kind: Batch, Jobs: 1}}}}
	from := cpu()
	r, err := alone(in)
	if err != nil {
		tb.Fatal(err)
	}
	took = cpu() - from
	from = cpu()
	bareHeap(int(n/10), int(n))
	if r.Events != n+1 {
		tb.Errorf("%d tasks are %d events, want one each and the submission", n, r.Events)
	}
	return took, cpu() - from
}

// The cost grows like a heap's: the nanoseconds by n log n should stay alike.
func BenchmarkGrowth(b *testing.B) {
	for _, n := range []int64{1_000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n, " tasks"), func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var took, bare time.Duration
			times := 0
			for b.Loop() {
				t, h := growth(b, n)
				took, bare, times = took+t, bare+h, times+1
			}
			steps := float64(times) * float64(n) * math.Log2(float64(n))
			b.ReportMetric(float64(took.Nanoseconds())/steps, "ns/nlogn")
			b.ReportMetric(float64(bare.Nanoseconds())/steps, "heap-ns/nlogn")
			b.ReportMetric(float64(took)/float64(max(1, bare)), "x-heap")
		})
	}
}

// One phase of a thousand to a million tasks on a tenth as many slots, beside a bare heap of as many events. The cost
// grows like the heap's: n log n, and the cost of memory. On a quiet machine an event costs three times as much as
// with the bare heap; the limit leaves room for a busy one.
func TestCostGrowsAsAHeapDoes(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, n := range []int64{1_000, 10_000, 100_000, 1_000_000} {
		took, bare := growth(t, n)
		each, bareEach := float64(took.Nanoseconds())/float64(n), float64(bare.Nanoseconds())/float64(n)
		t.Logf("%8d tasks: %8.3f ms, %4.0f ns an event, %5.1f ns by n log n; a bare heap: %4.0f ns an event", n, took.Seconds()*1e3, each, each/math.Log2(float64(n)), bareEach)
		if n >= 100_000 && each > 30*bareEach {
			t.Errorf("%d tasks: an event costs %.0f ns, %.0f times what it costs a bare heap", n, each, each/bareEach)
		}
	}
}

// Events on nodes: their differences cost more than alike slots do.
func BenchmarkEventsOnNodes(b *testing.B) {
	for _, kind := range []dispatch.PolicyKind{dispatch.PolicyFair, dispatch.PolicyFIFO, dispatch.PolicyProgressShare, dispatch.PolicyMaxProgress} {
		for _, known := range []Knowledge{KnownGiven, KnownLearned} {
			b.Run(fmt.Sprintf("%s/%s", kind, known), func(b *testing.B) {
				in := busy(3, 5, Slots{}, 1e9)
				in.Policy.Kind, in.Known, in.Limits.Events = kind, known, 200_000
				for _, t := range []string{"a", "b", "c", "d"} {
					in.Nodes = append(in.Nodes, NodeType{Type: t, Count: 8, Slots: Slots{Map: 2, Reduce: 2},
						Background: &Background{Kind: UniformBackground, Low: .3, High: 1, EverySeconds: 600}})
				}
				for i := range in.Classes {
					in.Classes[i].Rates = map[string]float64{"a": 1 + float64(i)}
					in.Classes[i].TaskTime = &perf.TaskTime{A: 40, B: -1, C: 40, D: -6, MinResidual: .2}
				}
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				events, from := int64(0), cpu()
				for b.Loop() {
					r, err := alone(in)
					if err != nil {
						b.Fatal(err)
					}
					events += r.Events
				}
				b.ReportMetric(float64(events)/(cpu()-from).Seconds()/1e6, "Mevents/s")
			})
		}
	}
}
