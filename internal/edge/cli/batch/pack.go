package batch

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/edge/cli/question"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	kinds "example.org/headroom/internal/service/question"
	"example.org/headroom/openapi"
)

// packFlags holds the flags of a question about a batch.
type packFlags struct {
	algorithm pack.PackingAlgorithm
	maxMs     int64
	seed      uint64
	machines  int64
	compare   bool
	oneMore   bool
	by        string  // hours, or a time of day of a cluster's clocks
	byHours   float64 // 0 where it is a time of day
}

func packCommand() *cobra.Command {
	var out shell.Output
	var flags packFlags
	var to remote.Connection
	var cluster string
	var async bool
	var classes classFlags
	c := &cobra.Command{
		Use:   "pack [FILE|-]",
		Short: "Say which jobs of a batch to run at once on machines that are there",
		Long: `Reads a batch as JSON, from a file or standard input, and answers in which phases it runs, on how many VMs
each job, and where every VM stands. Batches of up to 16 jobs, and larger ones whose jobs are alike, are
packed exactly; for others the answer says how far from the shortest it is at most.

Every packing is checked by code that shares nothing with the code that made it.

With --cluster a server packs the batch and keeps the packing in one of its clusters; a long one is then a run
that is waited for. With --classes as well the batch is the cluster's own classes, whose times are known from
measurements ("headroom history measurement") and past executions; then nothing is kept.

  {"machines": {"count": 11, "disks": 2, "hosts_per_extra": 2, "penalty": 1.1},
   "jobs": [{"name": "sort", "count": 3, "role": "host", "min_vms": 6, "model": {"a": 4200, "b": -0.7}},
            {"name": "index", "usage": {"cpu_percent": 85, "io_mb_s": 20},
             "measurements": [{"vms": 6, "seconds": 900}, {"vms": 12, "seconds": 520}]}]}` + remote.ConnectionHelp,
		Example: "  headroom batch pack batch.json\n  headroom batch pack --compare batch.json\n  headroom batch pack --by 6 batch.json\n  headroom batch pack --one-more -o json - < batch.json\n  headroom batch pack --cluster shop batch.json\n  headroom batch pack --cluster shop --classes nightly-etl:3,ad-hoc --disks 2 --by 06:00",
		Args:    cobra.MaximumNArgs(1),
	}
	to.AddFlags(c)
	out.AddFlags(c, "table", "json", "csv")
	flags.addFlags(c)
	c.Flags().StringVar(&cluster, "cluster", "", "have a server pack it and keep the packing in this `cluster`")
	c.Flags().BoolVar(&async, "async", false, "with --cluster: start a run and do not wait for it")
	classes.addFlags(c)
	c.MarkFlagsMutuallyExclusive("compare", "one-more", "by")
	c.MarkFlagsMutuallyExclusive("compare", "algorithm")
	c.MarkFlagsMutuallyExclusive("by", "machines")
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		if err := classes.check(c, &flags, cluster); err != nil {
			return err
		}
		switch {
		case async && cluster == "":
			return errors.New("--async is for a --cluster; without a server there is nobody to work in the background")
		case c.Flags().Changed("max-solve-ms") && (flags.maxMs < 1 || flags.maxMs > capacity.MaxSolveMs):
			return fmt.Errorf("--max-solve-ms is %d; it must be from 1 to %d", flags.maxMs, capacity.MaxSolveMs)
		}
		return nil
	}
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		if classes.names != "" {
			if len(args) > 0 {
				return errors.New("--classes are the batch; leave the file out")
			}
			return classes.pack(c, &to, out, cluster, flags, async)
		}
		data, label, err := shell.Read(c.Context(), shell.FileArgument(args), c.InOrStdin(), c.ErrOrStderr())
		if err != nil {
			return err
		}
		problem, err := pack.ReadPacking(data, shell.Limits, flags.overrides(c))
		if err != nil {
			return shell.Labelled(label, err)
		}
		if c.Flags().Changed("machines") {
			problem.Machines.Count = flags.machines
		}
		if cluster != "" {
			return question.SendAndWrite(c, &to, out, kinds.KeptPacking, async, openapi.CreatePacking(cluster), problem)
		}
		answer, err := question.Work(c, kinds.Packing, flags.question(problem), "")
		if err != nil {
			return shell.Labelled(label, err)
		}
		return out.Write(c, packingForms(*answer))
	})
}

func (f *packFlags) addFlags(c *cobra.Command) {
	shell.AddChoice(c, &f.algorithm, "algorithm", "", "override how it is packed", pack.PackMulti, pack.PackPair,
		pack.PackSequential, pack.PackSwarm)
	c.Flags().Int64Var(&f.maxMs, "max-solve-ms", 0, "override the time budget of a packing in `milliseconds` (1 to 600000)")
	c.Flags().Uint64Var(&f.seed, "seed", 0, "override the seed of searches by chance")
	c.Flags().Int64Var(&f.machines, "machines", 0, "override the `number` of machines")
	c.Flags().BoolVar(&f.compare, "compare", false, "pack by every algorithm and compare")
	c.Flags().BoolVar(&f.oneMore, "one-more", false, "say as well what one more machine would save")
	c.Flags().StringVar(&f.by, "by", "",
		"find the fewest machines that finish the batch within so many `hours`, or with --classes by a time of day such as 06:00")
}

func (f *packFlags) overrides(c *cobra.Command) func(*pack.PackingOptions) {
	return func(o *pack.PackingOptions) {
		if c.Flags().Changed("algorithm") {
			o.Algorithm = f.algorithm
		}
		if c.Flags().Changed("max-solve-ms") {
			o.MaxSolveMs = f.maxMs
		}
		if c.Flags().Changed("seed") {
			o.Seed = f.seed
		}
	}
}

// packedWithOneMore is a packing and what one more machine makes of it.
type packedWithOneMore struct {
	pack.Packing
	OneMore *pack.Packing `json:"one_more,omitempty"`
}

// question returns the question of the flags about a batch.
func (f *packFlags) question(batch pack.PackingProblem) pack.PackingQuestion {
	return pack.PackingQuestion{Batch: batch, Compare: f.compare, OneMore: f.oneMore, BySeconds: 3600 * f.byHours}
}

// packingForms is an answer in every form.
func packingForms(a pack.PackingAnswer) map[string]shell.Form {
	forms := kinds.Packing.Forms(pack.PackingQuestion{}, a, kinds.View{})
	switch {
	case a.Compared != nil:
		forms["json"] = shell.AsJSON(a.Compared)
	case a.Machines != nil:
		forms["json"] = shell.AsJSON(*a.Machines)
	default:
		forms["json"] = shell.AsJSON(packedWithOneMore{*a.Packing, a.OneMore})
	}
	return forms
}
