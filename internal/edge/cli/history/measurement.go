package history

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/clusters"
	tables "example.org/headroom/internal/service/report"
	"example.org/headroom/openapi"
)

func measurementCommand() *cobra.Command {
	c := remote.Group("measurement", "Keep measurements of jobs, and what fits to them predict", `

A job is a class or any other name. Four kinds of things are measured of it: "power", how long it takes on so
many VMs; "task_time", how long a task takes by the part of its node that other work leaves for it; "rate",
how long a task takes on types of nodes; and "usage", how busy it keeps processors and disks. "headroom history fit"
shows what they come to, and "headroom batch pack --classes" packs by it.`)
	var to remote.Connection
	to.AddFlags(c)
	c.AddCommand(measurementAddCommand(&to), measurementImportCommand(&to), measurementListCommand(&to), measurementDeleteCommand(&to))
	return c
}

func measurementAddCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var vms, residual, utilization, seconds, cpu, disks float64
	var nodeType, at string
	c := &cobra.Command{
		Use: "create CLUSTER JOB KIND", Short: "Add a measurement, and show what it comes to",
		Long: `Adds a measurement of a job, and shows the fit of all that are kept of that kind. KIND is power (--vms,
--seconds), task_time (--residual or --utilization, --seconds), rate (--node-type, --seconds) or usage
(--vms, --cpu-percent, --io-mb-s).`,
		Example: "  headroom history measurement create shop sort power --vms 6 --seconds 870\n" +
			"  headroom history measurement create shop sort task_time --residual 0.6 --seconds 41\n" +
			"  headroom history measurement create shop sort usage --vms 6 --cpu-percent 35 --io-mb-s 240",
		Args: cobra.ExactArgs(3),
	}
	out.AddFlags(c, "table", "json")
	c.Flags().Float64Var(&vms, "vms", 0, "on how many VMs the job ran")
	c.Flags().Float64Var(&residual, "residual", 0, "the `part` of the node that was left for the task, from 0 to 1")
	c.Flags().Float64Var(&utilization, "utilization", 0, "the `part` of the node that other work kept busy, in the place of --residual")
	c.Flags().StringVar(&nodeType, "node-type", "", "the `type` of the node that the task ran on")
	c.Flags().Float64Var(&seconds, "seconds", 0, "how long the job, or the task, took")
	c.Flags().Float64Var(&cpu, "cpu-percent", 0, "how busy the processors were, as the mean of a VM")
	c.Flags().Float64Var(&disks, "io-mb-s", 0, "how many `MB/s` all VMs together read and wrote")
	c.Flags().StringVar(&at, "at", "", "the `time` when it was measured (default now)")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		m := perf.MeasurementRequest{Job: args[1], Kind: perf.FitKind(args[2]), NodeType: nodeType}
		for name, to := range map[string]struct {
			value *float64
			into  **float64
		}{"vms": {&vms, &m.VMs}, "residual": {&residual, &m.Residual}, "utilization": {&utilization, &m.Utilization},
			"seconds": {&seconds, &m.Seconds}, "cpu-percent": {&cpu, &m.CPUPercent}, "io-mb-s": {&disks, &m.IOMBPerS}} {
			if c.Flags().Changed(name) {
				*to.into = to.value
			}
		}
		if at != "" {
			text, _ := shell.MomentOf(at)
			moment, err := time.Parse(time.RFC3339Nano, text)
			if err != nil {
				return fmt.Errorf("--at is %q; write a time like 2026-01-31T06:00:00Z or 2026-01-31", at)
			}
			m.At = &moment
		}
		if _, err := perf.CheckMeasurements([]perf.MeasurementRequest{m}, time.Now()); err != nil {
			return measurementOrigins.Say(err)
		}
		s, err := to.Open()
		if err != nil {
			return err
		}
		a, err := measure(s, c, args[0], []perf.MeasurementRequest{m}, "")
		if err != nil {
			return err
		}
		var taken clusters.MeasurementsTaken
		if err := a.Into(&taken); err != nil {
			return err
		}
		return out.Write(c, map[string]shell.Form{
			"table": func(w io.Writer) error {
				for _, f := range taken.Fits {
					if f.Version == 0 {
						if _, err := fmt.Fprintf(w, "It is kept. Nothing is fitted to the %s yet: %s\n", shell.Counted(f.Measurements, "measurement"),
							f.Refused); err != nil {
							return err
						}
						continue
					}
					if err := tables.FitText(w, f); err != nil {
						return err
					}
				}
				return nil
			},
			"json": remote.Indented(a.Body),
		})
	})
}

// measurementOrigins lists what gives the members of one measurement.
var measurementOrigins = append(
	remote.FlagOrigins("vms", "residual", "utilization", "node-type", "seconds", "cpu-percent", "io-mb-s", "at"),
	remote.Origin{Pointer: "/job", Flag: "JOB"}, remote.Origin{Pointer: "/kind", Flag: "KIND"}).Under("/measurements/0")

// measure sends measurements; with a key they are taken once, however often they are sent within a day.
func measure(s *remote.Service, c *cobra.Command, cluster string, all []perf.MeasurementRequest, key string) (remote.Answer, error) {
	body, err := json.Marshal(map[string]any{"measurements": all})
	if err != nil {
		return remote.Answer{}, err
	}
	options := []remote.Option{remote.JSONBody(body)}
	if key != "" {
		options = append(options, remote.Header("Idempotency-Key", key))
	}
	return s.Call(c.Context(), openapi.AddMeasurements(cluster), options...)
}

// measurementFlags limit measurements.
type measurementFlags struct {
	job, kind string
	time      remote.ForecastFilter // without its class
}

func (f *measurementFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.job, "job", "", "only of this `job`")
	shell.AddChoice(c, &f.kind, "kind", "", "only of this kind", "power", "rate", "task_time", "usage")
	c.Flags().StringVar(&f.time.From, "from", "", "only what was measured at this `time` or later, such as 2026-01-31 or 2026-01-31T06:00:00Z")
	c.Flags().StringVar(&f.time.Until, "until", "", "only what was measured before this `time`")
}

func (f *measurementFlags) query() openapi.ListMeasurementsQuery {
	return openapi.ListMeasurementsQuery{Job: f.job, Kind: f.kind, From: f.time.From, Until: f.time.Until}
}

func measurementListCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var of measurementFlags
	var most int
	c := &cobra.Command{Use: "list CLUSTER", Short: "List measurements, the newest first", Args: cobra.ExactArgs(1)}
	out.AddFlags(c, "table", "json", "csv")
	of.add(c)
	c.Flags().IntVar(&most, "limit", 100, "how many; 0 is all of them")
	c.PreRunE = func(*cobra.Command, []string) error {
		if most < 0 {
			return fmt.Errorf("--limit is %d; give 1 or more, or 0 for all", most)
		}
		return of.time.Check()
	}
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		l := remote.List{As: reflect.TypeFor[perf.JobMeasurement](), Most: most, None: "Nothing was measured.",
			Columns: []string{"at", "job", "kind", "vms", "residual", "node_type", "seconds", "cpu_percent", "io_mb_s", "measured_by"}}
		query := of.query()
		return remote.WriteList(c, s, out, l, openapi.ListMeasurements(args[0], &query))
	})
}

func measurementDeleteCommand(to *remote.Connection) *cobra.Command {
	var of measurementFlags
	c := &cobra.Command{Use: "delete CLUSTER", Short: "Delete measurements, after asking",
		Example: "  headroom history measurement delete shop --job sort --kind power"}
	of.add(c)
	c.PreRunE = func(*cobra.Command, []string) error { return of.time.Check() }
	const question = "Delete those measurements of cluster %q? What is left is fitted anew."
	return remote.Deletion(c, to, "measurement", question, func(cluster string) openapi.Request {
		query := openapi.DeleteMeasurementsQuery(of.query())
		return openapi.DeleteMeasurements(cluster, &query)
	})
}
