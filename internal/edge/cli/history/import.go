package history

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/clusters"
	tables "example.org/headroom/internal/service/report"
	"example.org/headroom/openapi"
)

// historyForms says what can be read.
const historyForms = `Hadoop's .jhist files (as JSON), traces of Rumen and of the scheduler load simulator, event logs of Spark
(rolled ones are directories), lists of Slurm's sacct with times in seconds (SLURM_TIME_FORMAT=%s sacct -aXP
--format=JobID,JobName,User,Partition,AllocCPUS,Submit,Start,End,State,NodeList,Cluster) or of its jobcomp/filetxt
(with --zone), and CSV with the columns job,
execution, task, kind, and start and finish or duration_s (and shuffle_s, outcome, host); plain or packed with
gzip or zstd. What a file is, it says itself. A directory stands for all files below it.`

func historyImportCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var i historyImport
	var upload bool
	var from historySource
	c := &cobra.Command{
		Use: "import CLUSTER PATH...|URL", Short: "Import histories: files, directories, - for standard input, or an address",
		Long: `Reads histories here and sends what one needs to know of each execution, which is little.
` + historyForms + `

From an address, whose host an admin has allowed, the server fetches in the background: the executions of
Hadoop's or Spark's history server that it has not stored yet, or one file.

Executions of all outcomes are kept: of those that failed, were killed or had not ended no profile is made,
but they held slots. The same history again changes nothing, and one that broke off is sent again.`,
		Example: "  headroom history import shop /mnt/history/done/2026 --dry-run\n" +
			"  headroom history import shop app-20260301.zstd trace.csv --job 'nightly etl'\n" +
			"  headroom history import shop http://history.example.com:19888 --queue prod --from 2026-03-01",
		Args: cobra.MinimumNArgs(2),
	}
	pathsAreAllowed(c, to)
	out.AddFlags(c, "table", "json")
	c.Flags().StringVar(&i.job, "job", "", "the `name` of the job, of executions whose history names none; of an address, all others are left out")
	c.Flags().BoolVar(&i.dryRun, "dry-run", false, "say what would be taken, and change nothing")
	i.zone.Add(c)
	c.Flags().BoolVar(&upload, "upload", false, "send the files as they are, and have the server read them")
	from.add(c)
	c.PreRunE = func(c *cobra.Command, args []string) error {
		from.Job, from.DryRun = i.job, i.dryRun
		if err := i.zone.Check(); err != nil {
			return err
		}
		if i.zone.name != "" && (upload || len(args) > 1 && strings.Contains(args[1], "://")) {
			return errors.New("--zone counts for files that are read here, without --upload and without an address")
		}
		return from.check(c, args)
	}
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		i.s, i.cluster = s, args[0]
		if from.URL != "" {
			made, err := from.fetch(c, s, i.cluster)
			if made != nil {
				if told := writeHistoryImport(c, out, i.cluster, *made); err == nil {
					err = told
				}
			}
			return err
		}
		if _, err := s.Call(c.Context(), openapi.GetCluster(i.cluster)); err != nil {
			return err // before anything is read for it
		}
		var err error
		if upload {
			err = i.upload(c, args[1:])
		} else {
			err = i.read(c, args[1:])
		}
		if i.made.Executions > 0 || i.made.Refused.Count > 0 || err == nil {
			if told := writeHistoryImport(c, out, i.cluster, i.report()); err == nil {
				err = told
			}
		}
		if errors.Is(err, context.Canceled) {
			err = errors.New("interrupted; the executions that had been sent are kept, and the same again makes no doubles")
		}
		if err == nil && i.made.Executions == 0 {
			err = errors.New("no execution was found; what is wrong stands above")
		}
		return err
	})
}

// Import reads histories from paths and has a cluster keep their executions. It reports what became of them.
func Import(c *cobra.Command, s *remote.Service, cluster string, paths []string, zone Zone) (clusters.HistoryImport, error) {
	i := historyImport{s: s, cluster: cluster, zone: zone}
	err := i.read(c, paths)
	return i.report(), err
}

// writeHistoryImport writes what an import came to. What a request would say in a parameter is said by a flag here.
func writeHistoryImport(c *cobra.Command, out shell.Output, cluster string, made clusters.HistoryImport) error {
	for i := range made.Refused.First {
		if r := &made.Refused.First[i]; r.Detail == history.Nameless || r.Detail == history.Nameless+clusters.SayJob {
			r.Detail = history.Nameless + " Say which it is, with --job NAME."
		}
	}
	return out.Write(c, map[string]shell.Form{
		"table": func(w io.Writer) error { return historyImportText(w, cluster, made) },
		"json":  shell.AsJSON(made),
	})
}

// pathsAreAllowed lets a verb's arguments be paths such as the directory ".", which name nothing on a server.
func pathsAreAllowed(c *cobra.Command, to *remote.Connection) {
	c.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		if to == nil {
			return nil
		}
		return c.Parent().PersistentPreRunE(c, args[:min(len(args), 1)])
	}
}

// Zone is a flag for the zone of times that do not say theirs.
type Zone struct {
	name string
	at   *time.Location
}

// Add adds the flag to a command.
func (z *Zone) Add(c *cobra.Command) {
	c.Flags().StringVar(&z.name, "zone", "", "the time `zone` of lists of Slurm's jobcomp/filetxt, such as Europe/Berlin")
}

// Check finds the zone of the flag, if it was given.
func (z *Zone) Check() (err error) {
	if z.name == "" {
		return nil
	}
	if z.at, err = time.LoadLocation(z.name); err != nil {
		return fmt.Errorf("--zone is %q, which is no time zone; write one like Europe/Berlin or UTC", z.name)
	}
	return nil
}

// historyImport is an import on its way.
type historyImport struct {
	s        *remote.Service
	cluster  string
	job      string
	dryRun   bool
	zone     Zone
	made     clusters.HistoryImport
	answered bool // the server has taken a batch, or tried it
	jobs     map[string]*clusters.ImportedJob

	batch [][]byte
	bytes int
}

// The most of a batch: a server reads bodies of 8 MiB and 500,000 values.
const (
	batchBytes      = 2 << 20
	batchExecutions = 500
	largestRecord   = 6 << 20
)

func (i *historyImport) read(c *cobra.Command, paths []string) error {
	err := readHistories(c, paths, i.zone.at, func(bytes int64) { i.made.Bytes = bytes }, history.Sink{
		Execution: func(e *history.Execution) error {
			text, err := recordOf(e, i.job)
			var r history.Refusal
			if errors.As(err, &r) {
				i.made.Executions++
				i.refused(r)
				return c.Context().Err()
			}
			if err != nil {
				return err
			}
			if len(i.batch) > 0 && (i.bytes+len(text) > batchBytes || len(i.batch) == batchExecutions) {
				if err := i.send(c.Context()); err != nil {
					return err
				}
			}
			i.batch, i.bytes = append(i.batch, text), i.bytes+len(text)
			return c.Context().Err()
		},
		Refused: func(r history.Refusal) error {
			i.refused(r)
			return c.Context().Err()
		},
	})
	if err == nil {
		err = i.send(c.Context())
	}
	return err
}

// recordOf returns what is sent of an execution; job names it if its history does not.
func recordOf(e *history.Execution, job string) ([]byte, error) {
	r := history.Keep(e, job)
	if err := r.Check(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(r)
	if len(text) > largestRecord {
		return nil, history.Refusal{Where: r.Execution,
			Detail: fmt.Sprintf("What is to be known of its %d stages is too much to be sent at once; send the file itself, with --upload.", len(r.Chain.Phases))}
	}
	return text, err
}

const mostToldRefusals = 1000

func (i *historyImport) refused(r history.Refusal) {
	if i.made.Refused.Count++; len(i.made.Refused.First) < mostToldRefusals {
		i.made.Refused.First = append(i.made.Refused.First, r)
	}
}

// send sends the batch.
func (i *historyImport) send(ctx context.Context) error {
	if len(i.batch) == 0 {
		return nil
	}
	body := slices.Concat([]byte(`{"executions":[`), bytes.Join(i.batch, []byte(",")), []byte(`]}`))
	i.batch, i.bytes = nil, 0
	a, err := i.s.Call(ctx, openapi.ImportExecutions(i.cluster, &openapi.ImportExecutionsQuery{DryRun: i.dryRun}), remote.JSONBody(body))
	if err != nil {
		if !i.answered { // nothing was taken or tried: the error says it all
			i.made = clusters.HistoryImport{}
		}
		return err
	}
	return i.take(a)
}

// take adds an answer to what the import came to.
func (i *historyImport) take(a remote.Answer) error {
	var made clusters.HistoryImport
	if err := a.Into(&made); err != nil {
		return err
	}
	all := &i.made
	i.answered = true
	all.DryRun = made.DryRun
	all.Executions, all.Created, all.Updated, all.Unchanged = all.Executions+made.Executions, all.Created+made.Created, all.Updated+
		made.Updated, all.Unchanged+made.Unchanged
	all.MoreJobs += made.MoreJobs
	for _, part := range []struct{ to, from *clusters.Refusals }{{&all.Refused, &made.Refused}, {&all.Unusable, &made.Unusable}} {
		part.to.Count += part.from.Count
		part.to.First = append(part.to.First, part.from.First[:min(len(part.from.First), mostToldRefusals-len(part.to.First))]...)
	}
	if i.jobs == nil {
		i.jobs = map[string]*clusters.ImportedJob{}
	}
	for _, j := range made.Jobs {
		known := i.jobs[j.Job]
		if known == nil {
			known = &clusters.ImportedJob{Job: j.Job}
			i.jobs[j.Job] = known
		}
		known.Executions, known.Created, known.Updated = known.Executions+j.Executions, known.Created+j.Created, known.Updated+j.Updated
		known.Unchanged, known.Unusable = known.Unchanged+j.Unchanged, known.Unusable+j.Unusable
	}
	return nil
}

// report sums the import up; lists without elements are empty, not null.
func (i *historyImport) report() clusters.HistoryImport {
	made := i.made
	made.DryRun, made.Jobs = i.dryRun, []clusters.ImportedJob{}
	for _, j := range i.jobs {
		made.Jobs = append(made.Jobs, *j)
	}
	slices.SortFunc(made.Jobs, func(a, b clusters.ImportedJob) int { return cmp.Compare(a.Job, b.Job) })
	for _, r := range []*clusters.Refusals{&made.Refused, &made.Unusable} {
		if r.First == nil {
			r.First = []history.Refusal{}
		}
	}
	return made
}

// upload sends files as they are.
func (i *historyImport) upload(c *cobra.Command, paths []string) error {
	for _, path := range paths {
		in, label, err := shell.Open(path, c.InOrStdin(), c.ErrOrStderr())
		if err != nil {
			return err
		}
		err = i.uploadOne(c, in, label)
		in.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", label, err)
		}
	}
	return nil
}

func (i *historyImport) uploadOne(c *cobra.Command, in io.Reader, label string) error {
	size := int64(-1)
	if file, ok := in.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			size = info.Size()
		}
	}
	sent := &remote.Sending{In: in}
	if bar := remote.BytesBar(c, size, "Sending"); bar != nil {
		defer func() { _ = bar.Finish() }()
		sent.Show = func(n int) { _ = bar.Add(n) }
	}
	refused, unusable := len(i.made.Refused.First), len(i.made.Unusable.First)
	// What was sent of it cannot be sent again.
	query := openapi.ImportHistoryQuery{Job: i.job, DryRun: i.dryRun}
	a, err := i.s.WithoutTimeout().Call(c.Context(), openapi.ImportHistory(i.cluster, &query), remote.Upload(sent, size))
	if sent.Err != nil {
		return errors.New(shell.FileTrouble(label, sent.Err))
	}
	if err != nil {
		return err
	}
	var made clusters.HistoryImport
	if err := a.Into(&made); err != nil {
		return err
	}
	i.made.Bytes += made.Bytes
	if err := i.take(a); err != nil {
		return err
	}
	for _, of := range [][]history.Refusal{i.made.Refused.First[refused:], i.made.Unusable.First[unusable:]} {
		for k := range of {
			of[k].Where = label + ", " + of[k].Where
		}
	}
	return nil
}

// readHistories reads files and directories, one after the other, with a bar on a terminal. read hears how
// many bytes were read of all.
func readHistories(c *cobra.Command, paths []string, zone *time.Location, read func(bytes int64), to history.Sink) error {
	total := int64(0)
	for _, path := range paths {
		size, err := sizeBelow(path)
		if err != nil {
			return err
		}
		if total += size; size < 0 {
			total = -1
			break
		}
	}
	bar := remote.BytesBar(c, total, "Reading")
	if bar != nil {
		defer func() { _ = bar.Finish() }()
	}
	before := int64(0)
	for _, path := range paths {
		here := int64(0)
		o := history.Options{Zone: zone, Progress: func(bytes int64) {
			here = bytes
			read(before + here)
			if bar != nil {
				_ = bar.Set64(before + here)
			}
		}}
		if err := readPath(c, path, o, to); err != nil {
			return err
		}
		before += here
	}
	return nil
}

// readPath reads a file or all files of a directory. A single file is read wherever it stands and whatever it
// is called.
func readPath(c *cobra.Command, path string, o history.Options, to history.Sink) error {
	refused := to.Refused
	if info, err := os.Stat(path); path != "-" && err == nil && info.IsDir() {
		to.Refused = func(r history.Refusal) error {
			r.Where = filepath.Join(path, r.Where)
			return refused(r)
		}
		return history.ReadFS(os.DirFS(path), o, to)
	}
	in, label, err := shell.Open(path, c.InOrStdin(), c.ErrOrStderr())
	if err != nil {
		return err
	}
	defer in.Close()
	to.Refused = func(r history.Refusal) error {
		r.Where = label + ", " + r.Where
		return refused(r)
	}
	return history.Read(in, o, to)
}

// sizeBelow returns the bytes of the files at a path, -1 if unknown.
func sizeBelow(path string) (total int64, err error) {
	if path == "-" {
		return -1, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, errors.New(shell.FileTrouble(path, err))
	}
	if !info.IsDir() {
		return info.Size(), nil
	}
	err = filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil // reading it tells
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		return nil
	})
	return total, err
}

// fewRefusals bounds the refusals that a report for people names.
const fewRefusals = 20

// historyImportText says what an import came to.
func historyImportText(w io.Writer, cluster string, made clusters.HistoryImport) error {
	var b bytes.Buffer
	if len(made.Jobs) > 0 {
		t := tables.Table{Columns: []string{"Job", "Executions", "Created", "Updated", "Unchanged", "No profile"}}
		for _, j := range made.Jobs[:min(len(made.Jobs), remote.MostImportedRows)] {
			row := []tables.Cell{{Text: shell.Shown(j.Job)}}
			for _, n := range []int64{j.Executions, j.Created, j.Updated, j.Unchanged, j.Unusable} {
				row = append(row, tables.Cell{Text: fmt.Sprint(n), Number: true})
			}
			t.Rows = append(t.Rows, row)
		}
		if err := t.Text(&b); err != nil {
			return err
		}
		if more := int64(len(made.Jobs)-len(t.Rows)) + made.MoreJobs; more > 0 {
			fmt.Fprintf(&b, "… and %s.\n", shell.Counted(more, "more job"))
		}
		b.WriteByte('\n')
	}
	tell := func(of clusters.Refusals, what string) {
		if of.Count == 0 {
			return
		}
		fmt.Fprintf(&b, "%s: %d.\n", what, of.Count)
		for _, r := range of.First[:min(len(of.First), fewRefusals)] {
			r.Detail = history.Brief(r.Detail)
			fmt.Fprintf(&b, "  %s\n", shell.Shown(strings.TrimSpace(r.Error())))
		}
		if more := of.Count - int64(min(len(of.First), fewRefusals)); more > 0 {
			fmt.Fprintf(&b, "  … and %d more.\n", more)
		}
	}
	tell(made.Unusable, "Kept, but no profile is made of them")
	tell(made.Refused, "Not taken")
	what := "Imported into cluster " + shell.Shown(cluster)
	if made.DryRun {
		what = "A dry run, which changes nothing, for cluster " + shell.Shown(cluster)
	}
	fmt.Fprintf(&b, "%s: %s, of which %d created, %d updated, %d unchanged.\n", what, shell.Counted(made.Executions, "execution"), made.Created, made.Updated,
		made.Unchanged)
	_, err := w.Write(b.Bytes())
	return err
}
