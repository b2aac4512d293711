// Package yarn drives Hadoop's YARN by its REST interface. A class is a queue of the capacity scheduler below root. Its
// max-parallel-apps is the plan's places, and its capacity and maximum-capacity are the plan's share of the cluster. YARN
// keeps them by itself, and all of them change in one request.
package yarn

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/headroom/internal/slots/drive"
)

// Yarn is a YARN whose resource manager answers at one of the addresses.
type Yarn struct {
	Addresses []string          // such as http://rm-1:8088; where there are two, the active one is found
	User      string            // in whose name queues are changed; without it YARN has a user for callers
	Queues    map[string]string // of classes whose queue is not called as they are
	Rest      string            // the queue that has what no class has

	address string               // of the resource manager that is active
	planned map[string][]setting // of the classes' queues, as Observe found that the plan has them
	now     map[string]queue     // queues below root, as Observe saw them last
}

// Queue returns the queue of a class.
func (y *Yarn) Queue(class string) string {
	if q, given := y.Queues[class]; given {
		return q
	}
	return "root." + class
}

// setting is a setting of a queue, as scheduler-conf takes it.
type setting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Names of settings of queues.
const (
	parallel = "max-parallel-apps"
	share    = "capacity"
	mostOf   = "maximum-capacity"
	accepts  = "maximum-applications"
)

// percent is a share in thousandths of a per cent, which YARN's sums of 100 are exact in.
type percent int64

const (
	whole percent = 100_000
	none  percent = 1 // a maximum of 0 is shown as 100, so nothing could tell the two apart
)

func (p percent) String() string {
	return strconv.FormatFloat(float64(p)/1000, 'f', -1, 64)
}

func percentOf(shown float64) percent { return percent(math.Round(shown * 1000)) }

// queue is a queue below root.
type queue struct {
	Name     string  `json:"queueName"`
	Capacity float64 `json:"capacity"`
	Most     float64 `json:"maxCapacity"`
	Parallel *int64  `json:"maxParallelApps"` // none before YARN had that limit
	Children *struct {
		Queue []any `json:"queue"`
	} `json:"queues"`
}

// Observe reads the queues, and what the plan makes of them.
func (y *Yarn) Observe(ctx context.Context, p drive.Plan) (drive.State, error) {
	state := drive.State{Limits: map[string]drive.Limit{}}
	if err := y.findActive(ctx); err != nil {
		return state, err
	}
	var err error
	if y.now, err = y.queues(ctx); err != nil {
		return state, err
	}
	conf, err := y.settings(ctx)
	if err != nil {
		return state, err
	}
	nodes, err := y.nodes(ctx)
	if err != nil {
		return state, err
	}
	if _, there := y.now[y.Rest]; !there {
		return state, fmt.Errorf("YARN has no queue %s to give what no class has; create it, or name another with --rest", y.Rest)
	}
	classes := map[string]string{} // by queue
	for _, class := range slices.Sorted(maps.Keys(p.Places)) {
		name := y.Queue(class)
		switch other, taken := classes[name]; {
		case taken:
			return state, fmt.Errorf("the classes %q and %q have the queue %s; name another for one of them with --queue", other, class, name)
		case name == y.Rest:
			return state, fmt.Errorf("the class %q has the queue %s, which also has what no class has; name another with --rest", class, name)
		}
		q, there := y.now[name]
		if !there {
			continue // it is said that the engine does not know the class
		}
		if q.Children != nil {
			return state, fmt.Errorf("the queue %s has queues below it, so no application runs in it; name a leaf for the class %q with --queue", name, class)
		}
		if q.Parallel == nil {
			return state, errors.New("this YARN has no limit of applications at once (max-parallel-apps); it needs Hadoop 3.4 or newer")
		}
		classes[name] = class
	}
	return state, y.compare(p, conf, nodes.Active, classes, &state)
}

// compare finds the settings that the plan has for the queues of classes.
func (y *Yarn) compare(p drive.Plan, conf map[string]string, nodes float64, classes map[string]string, state *drive.State) error {
	shares, sum, free := map[string]percent{}, percent(0), whole
	for name, q := range y.now {
		if class, ours := classes[name]; ours {
			shares[name] = sharesOf(p, class, nodes)
			sum += shares[name]
		} else if name != y.Rest {
			free -= percentOf(q.Capacity)
		}
		if value := conf[prefix+name+"."+share]; strings.HasPrefix(value, "[") || strings.HasSuffix(value, "w") {
			return fmt.Errorf("the queue %s has the capacity %.100q, and the driver needs per cents; give each queue below root its capacity in per cent", name, value)
		}
	}
	y.planned = map[string][]setting{}
	for name, class := range classes {
		q, least := y.now[name], shares[name]
		most := max(least, none)
		if sum > free { // queues of no class take a part that the plan counts on
			least = least * max(0, free) / sum
		}
		y.planned[name] = []setting{{share, least.String()}, {mostOf, most.String()}, {parallel, ""}}
		limit := drive.Limit{
			Places: *q.Parallel, Most: drive.Unlimited, By: "the queue " + name,
			Room:     room(percentOf(q.Capacity), percentOf(q.Most)),
			PlanRoom: room(least, most),
		}
		if conf[prefix+name+"."+accepts] == "" { // YARN then refuses applications beyond a number that shrinks with the share
			accepted := conf[strings.TrimSuffix(prefix+accepts, ".")]
			if accepted == "" {
				accepted = "10000" // YARN's own default
			}
			y.planned[name] = append(y.planned[name], setting{accepts, accepted})
			limit.Room += ", refusing what is more"
		}
		state.Limits[class] = limit
	}
	return nil
}

// sharesOf returns the share of the cluster that the plan has for a class. A cluster with fewer nodes than the plan, such
// as one that starts, is shared as the plan's own VMs are.
func sharesOf(p drive.Plan, class string, nodes float64) percent {
	total := max(nodes, p.Total)
	if !(total > 0) {
		return 0
	}
	return min(whole, percent(math.Floor(float64(whole)*p.Shares[class]/total+1e-6)))
}

// room says what a queue has.
func room(least, most percent) string {
	switch {
	case least == 0 && most == none:
		return "nothing of the cluster"
	case least == most:
		return most.String() + " % of the cluster"
	}
	return fmt.Sprintf("%s to %s %% of the cluster", least, most)
}

// Limit sets the queues of classes and the rest in one request, so that all change or none does.
func (y *Yarn) Limit(ctx context.Context, steps []drive.Step) []error {
	type update struct {
		Queue  string `json:"queue-name"`
		Params struct {
			Entry []setting `json:"entry"`
		} `json:"params"`
	}
	var updates []update
	add := func(name string, entry []setting) {
		u := update{Queue: name}
		u.Params.Entry = entry
		updates = append(updates, u)
	}
	places := map[string]int64{}
	for _, step := range steps {
		places[y.Queue(step.Class)] = step.To
	}
	rest := whole
	for _, name := range slices.Sorted(maps.Keys(y.now)) {
		settings, ours := y.planned[name]
		to, changes := places[name]
		switch {
		case ours && changes:
			entry := slices.Clone(settings)
			for i := range entry {
				if entry[i].Key == parallel {
					entry[i].Value = strconv.FormatInt(to, 10)
				}
			}
			add(name, entry)
			fallthrough
		case ours:
			planned, _ := strconv.ParseFloat(settings[0].Value, 64) // written by compare
			rest -= percentOf(planned)
		case name != y.Rest:
			rest -= percentOf(y.now[name].Capacity)
		}
	}
	add(y.Rest, []setting{{share, max(0, rest).String()}})
	err := y.change(ctx, map[string]any{"update-queue": updates})
	errs := make([]error, len(steps))
	for i := range errs {
		errs[i] = err
	}
	return errs
}

// Power is of no use: the nodes of YARN come and go with their machines.
func (y *Yarn) Power(context.Context, []string, bool) error { return errors.ErrUnsupported }

// Tell is of no use: YARN says itself why an application waits.
func (y *Yarn) Tell(context.Context, string, string) error { return errors.ErrUnsupported }

// Measure counts what runs. What has ended is known from the applications' own histories, such as Spark's event logs.
func (y *Yarn) Measure(ctx context.Context, _ []string, _, _ time.Time) (drive.Measured, error) {
	nodes, err := y.nodes(ctx)
	return drive.Measured{Nodes: int64(nodes.Active), Processors: int64(nodes.Processors)}, err
}
