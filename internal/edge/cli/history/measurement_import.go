package history

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/clusters"
	tables "example.org/headroom/internal/service/report"
	"example.org/headroom/openapi"
)

func measurementImportCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var job, kind string
	c := &cobra.Command{
		Use: "import CLUSTER FILE|-", Short: "Add the measurements of a CSV file",
		Long: `Adds the measurements of a CSV file with the columns job, kind, at, vms, residual, utilization, node_type,
seconds, cpu_percent and io_mb_s, of which it has those that its kinds need; "headroom history measurement list -o
csv" writes such files. Where it has no column job or kind, --job and --kind say them.

A file is read and checked a row at a time and sent in parts, each of which is taken as a whole: what is wrong is
told with its line, and the parts before it are kept. The same file again within a day adds nothing twice.`,
		Example: "  headroom history measurement import shop measured.csv\n  headroom history measurement import shop --job sort --kind power runs.csv",
		Args:    cobra.ExactArgs(2),
	}
	out.AddFlags(c, "table", "json")
	c.Flags().StringVar(&job, "job", "", "the `job`, of a file that does not say it")
	shell.AddChoice(c, &kind, "kind", "", "the kind, of a file that does not say it", "power", "rate", "task_time", "usage")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		in, label, err := shell.Open(args[1], c.InOrStdin(), c.ErrOrStderr())
		if err != nil {
			return err
		}
		defer in.Close()
		i := measurementImport{c: c, s: s, cluster: args[0], fits: map[string]perf.JobFit{}}
		a, err := s.Call(c.Context(), openapi.GetCluster(i.cluster))
		if err != nil {
			return err
		}
		if err := a.Into(&i.of); err != nil {
			return err
		}
		if err := i.read(in, job, kind); err != nil {
			if i.made.Measurements > 0 {
				fmt.Fprintf(c.ErrOrStderr(), "headroom: %s before that are kept.\n", shell.Counted(i.made.Measurements, "measurement"))
			}
			return shell.Labelled(label, err)
		}
		i.made.Fits = []perf.JobFit{}
		for _, f := range i.fits {
			i.made.Fits = append(i.made.Fits, f)
		}
		slices.SortFunc(i.made.Fits, func(a, b perf.JobFit) int {
			return strings.Compare(a.Job+"\x00"+string(a.Kind), b.Job+"\x00"+string(b.Kind))
		})
		return out.Write(c, map[string]shell.Form{
			"table": func(w io.Writer) error {
				said := fmt.Sprintf("Added %s.\n", shell.Counted(i.made.Measurements, "measurement"))
				if i.kept > 0 {
					said = fmt.Sprintf("Added %s. The same import has added %d within the last day.\n",
						shell.Counted(i.made.Measurements, "measurement"), i.kept)
				}
				if _, err := io.WriteString(w, said); err != nil || len(i.made.Fits) == 0 {
					return err
				}
				return tables.FitsText(w, i.made.Fits)
			},
			"json": shell.AsJSON(i.made),
		})
	})
}

// measurementImport is a file on its way.
type measurementImport struct {
	c       *cobra.Command
	s       *remote.Service
	cluster string
	of      inputs.Cluster
	kept    int64 // measurements that were there from the same import before
	made    clusters.MeasurementsTaken
	fits    map[string]perf.JobFit // the latest of each job and kind

	batch  []perf.MeasurementRequest
	series map[string]bool
	parts  int
}

// measurementColumns are those that a file may have; those that are the server's own are passed over.
var measurementColumns = []string{"job", "kind", "at", "vms", "residual", "utilization", "node_type", "seconds", "cpu_percent", "io_mb_s",
	"id", "measured_by"}

func (i *measurementImport) read(in io.Reader, job, kind string) error {
	rows := csv.NewReader(in)
	rows.ReuseRecord = true
	head, err := rows.Read()
	if err == io.EOF {
		return errors.New("the file is empty; its first line names the columns, such as job,kind,vms,seconds")
	}
	if err != nil {
		return err
	}
	columns := slices.Clone(head)
	columns[0] = strings.TrimPrefix(columns[0], "\ufeff")
	for at, name := range columns {
		columns[at] = strings.TrimSpace(name)
		if !slices.Contains(measurementColumns, columns[at]) {
			return fmt.Errorf("line 1: there is no column %q; the columns are %s", shell.Shown(name), strings.Join(measurementColumns[:10], ", "))
		}
	}
	now := time.Now()
	for {
		record, err := rows.Read()
		if err == io.EOF {
			return i.send()
		}
		if err != nil {
			return err
		}
		line, _ := rows.FieldPos(0)
		m := perf.MeasurementRequest{Job: job, Kind: perf.FitKind(kind)}
		if err := readMeasurement(&m, columns, record); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
		if _, err := perf.CheckMeasurements([]perf.MeasurementRequest{m}, now); err != nil {
			if input := (*fault.InputError)(nil); errors.As(err, &input) {
				f := input.Findings[0]
				return fmt.Errorf("line %d, %s: %s", line, f.Pointer[strings.LastIndex(f.Pointer, "/")+1:], f.Detail)
			}
			return err
		}
		series := string(m.Kind) + " " + m.Job
		if len(i.batch) == perf.MaxSentMeasurements || len(i.series) == perf.MaxSentSeries && !i.series[series] {
			if err := i.send(); err != nil {
				return err
			}
		}
		if i.series == nil {
			i.series = map[string]bool{}
		}
		i.series[series] = true
		i.batch = append(i.batch, m)
	}
}

// readMeasurement reads a row.
func readMeasurement(m *perf.MeasurementRequest, columns, record []string) error {
	numbers := map[string]**float64{"vms": &m.VMs, "residual": &m.Residual, "utilization": &m.Utilization, "seconds": &m.Seconds,
		"cpu_percent": &m.CPUPercent, "io_mb_s": &m.IOMBPerS}
	for at, name := range columns {
		text := strings.TrimSpace(record[at])
		if text == "" {
			continue
		}
		switch name {
		case "job":
			m.Job = inputs.UnguardFormula(record[at])
		case "kind":
			m.Kind = perf.FitKind(text)
		case "node_type":
			m.NodeType = inputs.UnguardFormula(record[at])
		case "at":
			moment, _ := shell.MomentOf(text)
			when, err := time.Parse(time.RFC3339Nano, moment)
			if err != nil {
				return fmt.Errorf("at is %q; write a time like 2026-01-31T06:00:00Z or 2026-01-31", shell.Shown(text))
			}
			m.At = &when
		case "id", "measured_by":
		default:
			x, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return fmt.Errorf("%s is %q, which is no number", name, shell.Shown(text))
			}
			*numbers[name] = &x
		}
	}
	return nil
}

// send sends what was read, under a key made of it, of its place, and of the cluster: a new one of the same name has nothing
// of the former.
func (i *measurementImport) send() error {
	if len(i.batch) == 0 {
		return nil
	}
	text, err := json.Marshal(i.batch)
	if err != nil {
		return err
	}
	i.parts++
	key := fmt.Sprintf("import-%d-%d-%x", i.of.CreatedAt.UnixMicro(), i.parts, sha256.Sum256(text))
	a, err := measure(i.s, i.c, i.cluster, i.batch, key)
	if err != nil {
		return err
	}
	var taken clusters.MeasurementsTaken
	if err := a.Into(&taken); err != nil {
		return err
	}
	if a.Kept {
		i.kept += taken.Measurements
	} else {
		i.made.Measurements += taken.Measurements
	}
	for _, f := range taken.Fits {
		i.fits[string(f.Kind)+" "+f.Job] = f
	}
	i.batch, i.series = i.batch[:0], nil
	return nil
}
