package batch

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/edge/cli/question"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	kinds "example.org/headroom/internal/service/question"
	"example.org/headroom/openapi"
)

// classFlags are a batch of a cluster's classes.
type classFlags struct {
	names         string
	disks         int64
	hostsPerExtra int64
	penalty       float64
}

func (f *classFlags) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&f.names, "classes", "",
		"with --cluster: pack its `classes` instead of a file, such as nightly-etl:3,ad-hoc, or all for each of them once")
	c.Flags().Int64Var(&f.disks, "disks", 1, "with --classes: how many disks, each for one VM, a machine has")
	c.Flags().Int64Var(&f.hostsPerExtra, "hosts-per-extra", 0,
		"with --classes: how many I/O-bound VMs a machine runs for each extra VM; 0 is no extra VMs")
	c.Flags().Float64Var(&f.penalty, "penalty", 1, "with --classes: how many `times` as long jobs take beside extra VMs")
}

var timeOfDay = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([01][0-9]|2[0-3]):[0-5][0-9]$`) })

// check reads --by, and says which flags do not go together.
func (f *classFlags) check(c *cobra.Command, flags *packFlags, cluster string) error {
	if flags.by != "" && !timeOfDay().MatchString(flags.by) {
		hours, err := strconv.ParseFloat(flags.by, 64)
		if err != nil || !(hours > 0 && hours*3600 <= capacity.MaxSeconds) {
			return fmt.Errorf("--by is %q; give more than 0 hours and at most %g, or with --classes a time of day such as 06:00", flags.by,
				capacity.MaxSeconds/3600)
		}
		flags.byHours = hours
	}
	if f.names == "" {
		for _, name := range []string{"disks", "hosts-per-extra", "penalty"} {
			if c.Flags().Changed(name) {
				return fmt.Errorf("--%s is for --classes; a file says itself what its machines are", name)
			}
		}
		if flags.by != "" && flags.byHours == 0 {
			return errors.New("--by is a time of day, which only --classes have, by their cluster's clocks; give hours")
		}
		for _, name := range []string{"compare", "one-more", "by"} {
			if cluster != "" && c.Flags().Changed(name) {
				return fmt.Errorf("--%s and --cluster ask two things of a file; a packing that is kept is one packing", name)
			}
		}
		return nil
	}
	switch {
	case cluster == "":
		return errors.New("--classes are those of a --cluster; say which")
	case flags.by == "" && !c.Flags().Changed("machines"):
		return errors.New("say with --machines how many there are, or with --by when the batch must be done")
	}
	return nil
}

// pack asks the server about a batch of classes.
func (f *classFlags) pack(c *cobra.Command, to *remote.Connection, out shell.Output, cluster string, flags packFlags, async bool) error {
	options := pack.DefaultPackingOptions()
	flags.overrides(c)(&options)
	machines := map[string]any{"disks": f.disks, "hosts_per_extra": f.hostsPerExtra, "penalty": f.penalty}
	if flags.machines > 0 {
		machines["count"] = flags.machines
	}
	batch := map[string]any{"machines": machines, "options": options}
	if f.names != "all" {
		jobs := []map[string]any{}
		for part := range strings.SplitSeq(f.names, ",") {
			job := map[string]any{"class": part}
			if at := strings.LastIndexByte(part, ':'); at >= 0 {
				if n, err := strconv.ParseInt(part[at+1:], 10, 64); err == nil {
					job["class"], job["count"] = part[:at], n
				}
			}
			jobs = append(jobs, job)
		}
		batch["jobs"] = jobs
	}
	query := openapi.PackClassesQuery{Compare: flags.compare, OneMore: flags.oneMore}
	if flags.byHours > 0 {
		query.ByHours = strconv.FormatFloat(flags.byHours, 'g', -1, 64)
	} else {
		query.By = flags.by
	}
	return question.SendAndWrite(c, to, out, kinds.Packing, async, openapi.PackClasses(cluster, &query), batch)
}
