package server

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/heartbeat"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/slots/live"
)

// liveDemo describes the live cluster of the demonstration. Its nodes and jobs bear the word simulated in their names.
type liveDemo struct {
	Settings    live.LiveSettings
	Node        live.LiveNode
	Nodes       []string
	Jobs        []live.LiveJobRequest // submitted in turn
	Enough      int64                 `json:"enough"` // waiting tasks; with fewer the next job is submitted
	TaskSeconds float64               `json:"task_s"` // in the mean
	Seed        uint64
}

// simulator plays the nodes of the demonstration: it sends their heartbeats, ends their tasks after drawn times and
// submits jobs. Draws depend on the seed and on numbers that the server keeps, so a simulator goes on where another
// ended.
type simulator struct {
	app     *app.App
	cluster string
	demo    liveDemo
	log     *slog.Logger

	nodes    []*simulatedNode // nil is to be read
	observed time.Time
}

// simulatedNode is a node with the tasks that it runs.
type simulatedNode struct {
	name string
	seq  int64
	ends map[int64]taskTime // by assignment
}

// taskTime says how long a task runs, and until when.
type taskTime struct {
	seconds float64
	end     time.Time
}

var errNoNodes = errors.New("no simulated node is left")

const (
	simulatedBoot = "simulated"
	observeEvery  = 10 * time.Minute // an alert waits for an hour
	longestRound  = 5 * time.Second  // also while the database hangs
)

// start plays the nodes until the context ends, or until all of them are deleted.
func (s *simulator) start(ctx context.Context) (ended <-chan struct{}) {
	done := make(chan struct{})
	ctx = auth.With(ctx, auth.Principal{ID: auth.LocalID, Name: "simulated by headroom serve --demo", Role: auth.Admin})
	go func() {
		defer close(done)
		every := time.NewTicker(time.Duration(s.demo.Settings.HeartbeatSeconds * float64(time.Second)))
		defer every.Stop()
		for {
			bounded, cancel := context.WithTimeout(ctx, longestRound)
			err := s.round(bounded)
			cancel()
			if errors.Is(err, errNoNodes) {
				s.log.Info("no simulated node is left", "cluster", s.cluster)
				return
			}
			if err != nil && ctx.Err() == nil {
				s.nodes = nil
				s.log.Debug("the simulated nodes wait", "error", err.Error())
			}
			select {
			case <-ctx.Done():
				return
			case <-every.C:
			}
		}
	}()
	return done
}

// round is a heartbeat of every node.
func (s *simulator) round(ctx context.Context) error {
	if s.nodes == nil {
		if err := s.read(ctx); err != nil {
			return err
		}
	}
	if err := s.submit(ctx); err != nil {
		return err
	}
	for _, n := range s.nodes {
		if err := s.beat(ctx, n); err != nil {
			return err
		}
	}
	if now := s.app.Now(); now.Sub(s.observed) >= observeEvery {
		if err := s.observe(ctx, now); err != nil {
			return err
		}
		s.observed = now
	}
	return nil
}

// read takes the nodes and their tasks as the server knows them.
func (s *simulator) read(ctx context.Context) error {
	var nodes []*simulatedNode
	for _, name := range s.demo.Nodes {
		known, err := s.app.Live.Node(ctx, s.cluster, name)
		if errors.Is(err, fault.NotFound) {
			continue // somebody has deleted it, or the cluster
		} else if err != nil {
			return err
		}
		n := &simulatedNode{name: name, seq: known.Seq, ends: map[int64]taskTime{}}
		slots := known.Slots.Map + known.Slots.Reduce
		of := heartbeat.DecisionFilter{Node: name}
		latest, err := s.app.Live.Decisions(ctx, s.cluster, of, storage.Page{Limit: int(4 * slots)})
		if err != nil {
			return err
		}
		for _, d := range latest.Items {
			if d.Outcome == live.TaskRunning {
				n.ends[d.Assignment.Assignment] = s.taskTime(d.Assignment.Assignment, d.At)
			}
		}
		nodes = append(nodes, n)
	}
	if s.nodes = nodes; len(nodes) == 0 {
		return errNoNodes
	}
	return nil
}

// draw returns a random number from 0 to 1 that belongs to two numbers.
func (s *simulator) draw(a, b uint64) float64 {
	return rand.New(rand.NewPCG(s.demo.Seed^a, b)).Float64()
}

// taskTime draws how long a task runs: up to twice the mean, and long enough to be seen.
func (s *simulator) taskTime(assignment int64, began time.Time) taskTime {
	seconds := s.demo.TaskSeconds * (0.1 + 1.8*s.draw(1, uint64(assignment)))
	return taskTime{seconds: seconds, end: began.Add(time.Duration(seconds * float64(time.Second)))}
}

// submit submits the next job where few tasks wait.
func (s *simulator) submit(ctx context.Context) error {
	active, err := s.app.Live.Jobs(ctx, s.cluster, heartbeat.JobFilter{State: live.JobActive}, storage.Page{Limit: 100})
	if err != nil {
		return err
	}
	waiting := int64(0)
	for _, job := range active.Items {
		waiting += job.Maps.Waiting
	}
	if waiting >= s.demo.Enough {
		return nil
	}
	newest, err := s.app.Live.Jobs(ctx, s.cluster, heartbeat.JobFilter{}, storage.Page{Limit: 1})
	if err != nil {
		return err
	}
	number := int64(1)
	if len(newest.Items) > 0 {
		number = newest.Items[0].Number + 1
	}
	for ; waiting < s.demo.Enough; number++ {
		job := s.demo.Jobs[number%int64(len(s.demo.Jobs))]
		if _, err := s.app.Live.SubmitJob(ctx, s.cluster, job); err != nil {
			return err
		}
		waiting += job.Maps
	}
	return nil
}

// beat sends a node's heartbeat: tasks whose time is over have ended, and others may come.
func (s *simulator) beat(ctx context.Context, n *simulatedNode) error {
	now := s.app.Now()
	beat := live.Heartbeat{Seq: n.seq + 1, Boot: simulatedBoot, Running: []int64{}}
	for _, assignment := range slices.Sorted(maps.Keys(n.ends)) {
		if of := n.ends[assignment]; of.end.After(now) {
			beat.Running = append(beat.Running, assignment)
		} else {
			beat.Finished = append(beat.Finished, live.FinishedTask{Assignment: assignment, Seconds: of.seconds})
		}
	}
	busy := float64(len(beat.Running))
	beat.State = &live.NodeReport{
		Load1:         new(0.3 + busy*(0.6+0.3*s.draw(2, uint64(beat.Seq)))),
		CPUPercent:    new(4 + busy*(8+3*s.draw(3, uint64(beat.Seq)))),
		MemoryPercent: new(20 + busy*(5+s.draw(4, uint64(beat.Seq)))),
	}
	text, err := json.Marshal(beat)
	if err != nil {
		return err
	}
	if text, err = s.app.Live.Heartbeat(ctx, s.cluster, n.name, beat, text); err != nil {
		return err
	}
	var told live.HeartbeatAnswer
	if err := json.Unmarshal(text, &told); err != nil {
		return err
	}
	n.seq = beat.Seq
	for _, ended := range beat.Finished {
		delete(n.ends, ended.Assignment)
	}
	for _, stop := range told.Stop {
		delete(n.ends, stop.Assignment)
	}
	for _, given := range told.Assignments {
		n.ends[given.Assignment] = s.taskTime(given.Assignment, told.At)
	}
	return nil
}

// observe says that about as many VMs run as the plan has.
func (s *simulator) observe(ctx context.Context, now time.Time) error {
	record, err := s.app.Stores.Plans.Plan(ctx, s.cluster, plans.PlanRef{})
	if err != nil {
		return err
	}
	off := int64(5*s.draw(5, uint64(now.Unix()/int64(observeEvery.Seconds())))) - 2
	_, err = s.app.Plans.Observe(ctx, s.cluster, plans.ObservationRequest{VMs: max(0, int64(record.VMs)+off)})
	return err
}
