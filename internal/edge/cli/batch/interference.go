package batch

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/question"
	"example.org/headroom/internal/edge/cli/shell"
	kinds "example.org/headroom/internal/service/question"
	"example.org/headroom/internal/slots/sim"
)

func interferenceCommand() *cobra.Command {
	var out shell.Output
	q := sim.DefaultInterference()
	var given interferenceFlags
	c := &cobra.Command{
		Use:   "interference [FILE|-]",
		Short: "Say what batch work does to the requests beside it, and how a host is set up against that",
		Long: `Simulates one core that answers requests and runs batch work that never ends, under each policy with the same
requests: how long requests take, what the batch work gets, and whether requests pile up for ever. Beside the
means stands what queueing theory says. For each policy it says what to write into the batch work's cgroup;
"headroom live agent --apply-hints" does that.

With --io-cap and --reader it says how many tasks data nodes serve at once: a task that takes longer because others use
its node reads as much more slowly. That may be asked alone.

The load is given by flags, or as the document that POST /v1/interference/estimate takes.

Policies:
  alone                      there is no batch work
  background                 a request takes the core from the batch work at once
  nonpreemptive[:SLICE]      requests go first, but the batch work keeps its slice (30 ms)
  fair[:SLICE]               slices in turn
  anti-starvation:FLOOR/WINDOW  background; where the batch work ran less than FLOOR ms in WINDOW ms it runs until it has`,
		Example: "  headroom lab interference --per-second 300 --service exponential:2\n" +
			"  headroom lab interference --per-second 90 --service constant:10 --policy background --policy anti-starvation:50/1000\n" +
			"  headroom lab interference --per-second 90 --service samples:1,2,15 --ceiling-cores 2 --cgroup /sys/fs/cgroup/night -o json\n" +
			"  headroom lab interference --io-cap 60 --data-nodes 4 --reader terasort:50:1.6 --reader pi:0\n" +
			"  headroom lab interference load.json",
		Args: cobra.MaximumNArgs(1),
	}
	out.AddFlags(c, "table", "json", "csv")
	c.Flags().Float64Var(&q.Interactive.PerSecond, "per-second", 0, "requests that the core answers a `second`, coming at random")
	c.Flags().StringVar(&given.service, "service", "", "what a request needs of the core: exponential:`MS`, constant:MS or samples:MS,MS,…")
	c.Flags().StringArrayVar(&given.policies, "policy", nil,
		"a `policy` to look at, as above; may be repeated (alone, background, nonpreemptive and fair)")
	c.Flags().Int64Var(&q.Requests, "requests", q.Requests, "simulate so many under each policy")
	c.Flags().Int64Var(&q.Seed, "seed", q.Seed, "of the random numbers")
	c.Flags().Float64Var(&given.nodes.CapMBPerSecond, "io-cap", 0, "what a data node serves at most, in `MB/s`: say how many tasks may read")
	c.Flags().Int64Var(&given.nodes.Count, "data-nodes", 1, "how many `nodes` share what a task reads")
	c.Flags().StringArrayVar(&given.readers, "reader", nil,
		"tasks, as `NAME:MB/S[:NORMED]`, that read so much on a dedicated node and take so many times as long; may be repeated")
	c.Flags().StringVar(&q.Host.Cgroup, "cgroup", q.Host.Cgroup, "the batch work's `directory` in the hints")
	c.Flags().Float64Var(&q.Host.CeilingCores, "ceiling-cores", 0, "so many `cores` at most for the batch work, in the hints")
	c.Flags().Int64Var(&q.Host.InteractiveWeight, "interactive-weight", q.Host.InteractiveWeight, "cpu.weight of the requests' cgroup")
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return withoutInterferenceFlags(c)
		}
		return given.into(&q, c.Flags().Changed)
	}
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			data, label, err := shell.Read(c.Context(), args[0], c.InOrStdin(), c.ErrOrStderr())
			if err != nil {
				return err
			}
			if q, err = sim.ReadInterference(data); err != nil {
				return shell.Labelled(label, err)
			}
		}
		answer, err := question.Work(c, kinds.Interference, q, "")
		if err != nil {
			return err
		}
		return question.Write(c, out, kinds.Interference, q, answer)
	})
}

// interferenceFlags holds the values of flags that need reading.
type interferenceFlags struct {
	service           string
	policies, readers []string
	nodes             sim.DataNodeLoad
}

// into puts the values into a question. changed reports whether a flag is given.
func (f *interferenceFlags) into(q *sim.InterferenceQuestion, changed func(flag string) bool) (err error) {
	if changed("io-cap") || changed("data-nodes") || len(f.readers) > 0 {
		if !changed("io-cap") || len(f.readers) == 0 {
			return errors.New("say what a data node serves and who reads: --io-cap 60 --reader terasort:12.5")
		}
		if f.nodes.Readers, err = readerFlags(f.readers); err != nil {
			return err
		}
		if q.DataNodes = &f.nodes; f.service == "" && !changed("per-second") && len(f.policies) == 0 {
			return nil
		}
	}
	if f.service == "" || !changed("per-second") {
		return errors.New("say how many requests come and what they need: --per-second 300 --service exponential:2, or give a file")
	}
	if q.Interactive.Service, err = serviceFlag(f.service); err != nil {
		return err
	}
	if len(f.policies) > 0 {
		q.Policies = nil
	}
	for _, p := range f.policies {
		policy, err := policyFlag(p)
		if err != nil {
			return err
		}
		q.Policies = append(q.Policies, policy)
	}
	return nil
}

// withoutInterferenceFlags refuses flags besides a file, which has their values.
func withoutInterferenceFlags(c *cobra.Command) error {
	for _, name := range []string{
		"per-second", "service", "policy", "requests", "seed", "cgroup", "ceiling-cores", "interactive-weight", "io-cap", "data-nodes", "reader",
	} {
		if c.Flags().Changed(name) {
			return fmt.Errorf("--%s stands in the file; give the file alone, or flags alone", name)
		}
	}
	return nil
}

func serviceFlag(given string) (s sim.RequestTiming, err error) {
	kind, numbers, _ := strings.Cut(given, ":")
	s.Kind = sim.ServiceKind(kind)
	var values []float64
	for _, n := range strings.Split(numbers, ",") {
		x, err := strconv.ParseFloat(strings.TrimSpace(n), 64)
		if err != nil {
			return s, fmt.Errorf("--service is %q; give exponential:MS, constant:MS or samples:MS,MS,… such as exponential:2", given)
		}
		values = append(values, x)
	}
	if s.Kind == sim.SampledService {
		s.SamplesMs = values
		return s, nil
	}
	if s.Kind != sim.ExponentialService && s.Kind != sim.ConstantService || len(values) != 1 {
		return s, fmt.Errorf("--service is %q; give exponential:MS, constant:MS or samples:MS,MS,… such as exponential:2", given)
	}
	s.MeanMs = values[0]
	return s, nil
}

func readerFlags(given []string) ([]sim.DataReader, error) {
	var all []sim.DataReader
	for _, text := range given {
		r, err := readerFlag(text)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

func readerFlag(given string) (r sim.DataReader, err error) {
	parts := strings.Split(given, ":")
	r = sim.DataReader{Name: parts[0], Normed: 1}
	if len(parts) == 2 || len(parts) == 3 {
		if r.ReadMBPerSecond, err = strconv.ParseFloat(parts[1], 64); err == nil && len(parts) == 3 {
			r.Normed, err = strconv.ParseFloat(parts[2], 64)
		}
		if err == nil {
			return r, nil
		}
	}
	return r, fmt.Errorf("--reader is %q; give NAME:MB/S or NAME:MB/S:NORMED, such as terasort:12.5:1.6", given)
}

func policyFlag(given string) (sim.CorePolicy, error) {
	name, figures, has := strings.Cut(given, ":")
	p := sim.CorePolicy{Kind: sim.CorePolicyKind(strings.ReplaceAll(name, "-", "_"))}
	wrong := fmt.Errorf("--policy is %q; give alone, background, nonpreemptive:SLICE, fair:SLICE or anti-starvation:FLOOR/WINDOW, in "+
		"milliseconds", given)
	parse := func(text string, into *float64) error {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !(x > 0) {
			return wrong
		}
		*into = x
		return nil
	}
	switch p.Kind {
	case sim.AloneOnCore, sim.BackgroundOnCore:
		if has {
			return p, wrong
		}
		return p, nil
	case sim.Nonpreemptive, sim.FairOnCore:
		if p.SliceMs = sim.DefaultSliceMs; !has {
			return p, nil
		}
		return p, parse(figures, &p.SliceMs)
	case sim.AntiStarvation:
		floor, window, both := strings.Cut(figures, "/")
		if !both {
			return p, wrong
		}
		return p, errors.Join(parse(floor, &p.FloorMs), parse(window, &p.WindowMs))
	default:
		return p, wrong
	}
}
