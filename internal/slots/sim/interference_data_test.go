package sim

import (
	"math"
	"testing"

	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/slots/dispatch"
)

// The number of tasks that saturates data nodes equals the number that the policy max-progress starts under the cap.
func TestDataNodesServeWhatThePolicyStarts(t *testing.T) {
	fit := &perf.TaskTime{A: 40, B: -1, C: 60, D: -4}
	for _, c := range []struct {
		count     int64
		limit     float64
		read      float64
		residual  float64
		unlimited bool
	}{
		{1, 60, 12, 1, false}, {4, 60, 50, 0.4, false}, {1, 30, 0, 0.5, true}, {3, 10, 40, 1, false}, {2, 0.3, 0.2, 1, false}, {7, 81.3, 93.1, 0.77, false},
	} {
		q := DataNodeLoad{Count: c.count, CapMBPerSecond: c.limit, Readers: []DataReader{{Name: "r", ReadMBPerSecond: c.read, Normed: fit.Normed(c.residual)}}}
		a, err := EstimateInterference(t.Context(), InterferenceQuestion{DataNodes: &q})
		if err != nil {
			t.Fatal(err)
		}
		got := a.DataNodes.Readers[0]
		if want := fit.ReadMBPerSecond(c.read/float64(c.count), c.residual); math.Abs(got.MBPerSecond-want) > 1e-12*want {
			t.Errorf("%+v: a task takes %g MB/s, want %g", c, got.MBPerSecond, want)
		}
		policy, err := dispatch.New(dispatch.PolicyConfig{Kind: dispatch.PolicyMaxProgress, IOCap: &c.limit}, dispatch.Setting{Layout: dispatch.Shared})
		if err != nil {
			t.Fatal(err)
		}
		const limit = 50
		node := &dispatch.Node{Slots: [dispatch.Kinds]int{limit}, Cores: limit, Residual: c.residual}
		job := &dispatch.Job{Number: 1, Unfinished: limit, Pending: [dispatch.Kinds]int{limit}, Maps: limit, Known: dispatch.Known{TaskTime: fit, ReadMBPerSecond: c.read / float64(c.count)}}
		policy.Note(dispatch.Event{What: dispatch.Joined, Node: node})
		policy.Note(dispatch.Event{What: dispatch.Arrived, Job: job})
		started := int64(0)
		for slot := range limit {
			s := dispatch.Slot{Number: slot, Node: node}
			if policy.Choose(0, s).Job == nil {
				break
			}
			started++
			job.Pending[0]--
			job.Running[0]++
			node.Running[0]++
			policy.Note(dispatch.Event{What: dispatch.Started, Job: job, Slot: s})
		}
		switch {
		case c.unlimited && (got.SaturatedAt != nil || started != limit):
			t.Errorf("%+v: saturated at %v, and the policy starts %d", c, got.SaturatedAt, started)
		case !c.unlimited && (got.SaturatedAt == nil || *got.SaturatedAt != started || len(a.DataNodes.Warnings) > 0 != (started == 0)):
			t.Errorf("%+v: saturated at %d, and the policy starts %d; warnings %+v", c, *got.SaturatedAt, started, a.DataNodes.Warnings)
		}
	}
}
