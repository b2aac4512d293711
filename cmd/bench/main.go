// Bench solves seeded instances of P2 with Headroom's own method and with CBC, GLPK, HiGHS, SCIP and CP-SAT, in one run
// on one machine. It prints CPU milliseconds side by side, with their goals. It is a program for developers: make bench
// starts it and installs the peers. It then plans fleets of several VM types and schedules of a few days beside them, packs
// large batches beside CP-SAT and small ones by the paper's swarm, simulates, and measures a server.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/lp/worker"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if address := os.Getenv(bareVariable); address != "" {
		fmt.Fprintln(os.Stderr, "bench:", serveBare(ctx, address, os.Stdout))
		os.Exit(1)
	}
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// settings holds the options of one run.
type settings struct {
	works    []work
	seeds    uint64
	limit    time.Duration
	peers    []string
	parts    []string
	fleets   int // seeds of each kind
	horizons int // seeds of each size
	batches  int // likewise
	packings int
	python   string // that has the solvers of the Python registry
	headroom string // the program that serves; "" for none
	markdown bool
	table    string // the file whose table is replaced; "" for none
}

// What may be measured alone.
const (
	partP2       = "p2"
	partFleets   = "fleets"
	partHorizons = "horizons"
	partPacking  = "packing"
	partProduct  = "product"
)

var everyPart = []string{partP2, partFleets, partHorizons, partPacking, partProduct}

func (s *settings) measures(part string) bool { return slices.Contains(s.parts, part) }

// work is a number of instances of one kind, with their goal.
type work struct {
	family string
	size   int
	gap    float64
	peers  []string // by name; all means every one
	goal   goal
}

func readSettings(args []string, usage io.Writer) (settings, error) {
	var s settings
	var families []string
	var large []int // Headroom alone
	sizes, gaps := []int{20, 1000}, []float64{1e-4, 1e-6, 0}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(usage)
	list := func(name, meaning, standard string, take func(words []string) error) {
		flags.Func(name, meaning+" (default "+standard+")", func(text string) error {
			return take(strings.FieldsFunc(text, func(r rune) bool { return r == ',' }))
		})
	}
	chosen := false
	list("families", "comma-separated families, out of "+strings.Join(study.Names(), ","), "the kinds for which goals are set",
		func(words []string) error { families, chosen = words, true; return nil })
	list("sizes", "numbers of classes of the families given", "20,1000", func(words []string) (err error) {
		sizes, err = all(words, strconv.Atoi)
		return err
	})
	list("large", "numbers of classes that Headroom alone is measured with", "none", func(words []string) (err error) {
		large, err = all(words, strconv.Atoi)
		return err
	})
	list("gaps", "relative gaps asked for; 0 asks Headroom for its finest, 1e-9", "1e-4,1e-6,0", func(words []string) (err error) {
		gaps, err = all(words, func(w string) (float64, error) { return strconv.ParseFloat(w, 64) })
		return err
	})
	var names []string
	for _, p := range peers(nil, "", "") {
		names = append(names, p.name)
	}
	s.peers = names
	list("peers", "solvers to compare with", strings.Join(names, ","), func(words []string) error { s.peers = words; return nil })
	flags.Uint64Var(&s.seeds, "seeds", 3, "instances of each kind, with seeds 1, 2, ...")
	flags.DurationVar(&s.limit, "limit", 20*time.Second, "time limit of one solve")
	s.parts = everyPart
	list("only", "what to measure", strings.Join(everyPart, ","), func(words []string) error { s.parts = words; return nil })
	flags.IntVar(&s.fleets, "fleets", 1, "fleets of each of twelve kinds, with seeds 1, 2, ...")
	flags.IntVar(&s.horizons, "horizons", 3, "schedules of each of three sizes, with seeds 1, 2, ...")
	flags.IntVar(&s.batches, "batches", 1, "large batches of each of two sizes to pack beside CP-SAT, with seeds 1, 2, ...")
	flags.StringVar(&s.python, "python", "bin/peers/bin/python", "the Python that has HiGHS, SCIP and CP-SAT")
	flags.IntVar(&s.packings, "packings", 100, "random batches to pack exactly and by the paper's swarm; 0 is none")
	flags.StringVar(&s.headroom, "headroom", "", "the program to measure as a server and in its simulations, bin/headroom say; none without")
	flags.BoolVar(&s.markdown, "markdown", false, "print a Markdown table")
	flags.StringVar(&s.table, "table", "", "write the tables of what is measured into this `FILE`, between their marks, such as docs/benchmarks.md")
	if err := flags.Parse(args); err != nil {
		return settings{}, err
	}
	if flags.NArg() > 0 {
		return settings{}, fmt.Errorf("do not know what %q is; every option starts with a dash", flags.Arg(0))
	}
	s.works = standard
	if !s.measures(partP2) {
		s.works = nil
	} else if chosen {
		s.works = worksOf(families, sizes, large, gaps)
	}
	if s.headroom == "" { // there is no program to compare with
		s.peers = slices.DeleteFunc(slices.Clone(s.peers), func(name string) bool { return name == asProgram })
	}
	return s, s.check(names)
}

// worksOf lists what is asked for instead of the kinds with goals.
func worksOf(families []string, sizes, large []int, gaps []float64) (works []work) {
	for _, family := range families {
		for _, size := range sizes {
			for _, gap := range gaps {
				works = append(works, work{family: family, size: size, gap: gap, peers: everyPeer})
			}
		}
		for _, size := range large {
			for _, gap := range gaps {
				works = append(works, work{family: family, size: size, gap: gap})
			}
		}
	}
	return works
}

// check refuses what cannot be measured; names are those of the peers.
func (s *settings) check(names []string) error {
	if min(s.packings, s.fleets, s.horizons, s.batches) < 0 {
		return errors.New("a number of problems is negative")
	}
	if s.seeds < 1 {
		return errors.New("at least one seed is needed")
	}
	for _, part := range s.parts {
		if !slices.Contains(everyPart, part) {
			return fmt.Errorf("there is no part %q to measure; the parts are %s", part, strings.Join(everyPart, ", "))
		}
	}
	for _, name := range s.peers {
		if !slices.Contains(names, name) {
			return fmt.Errorf("there is no peer %q; the peers are %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}

func all[T any](words []string, read func(string) (T, error)) ([]T, error) {
	out := make([]T, len(words))
	for i, w := range words {
		var err error
		if out[i], err = read(w); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	s, err := readSettings(args, progress)
	if err != nil {
		return err
	}
	pool := worker.New(worker.Config{Processes: 1, Longest: s.limit + grace})
	defer pool.Close()
	chosen := slices.DeleteFunc(peers(pool, s.headroom, s.python), func(p peer) bool { return !slices.Contains(s.peers, p.name) })
	if len(s.works) > 0 && slices.Contains(s.peers, "cbc-library") || s.measures(partFleets) || s.measures(partHorizons) || s.measures(partPacking) {
		if err := pool.Warm(ctx); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp("", "headroom-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // the private Postgres of root runs as another user
		return err
	}

	var all []comparison
	for _, w := range s.works {
		with := slices.DeleteFunc(slices.Clone(chosen), func(p peer) bool { return !slices.Contains(w.peers, p.name) })
		fmt.Fprintf(progress, "%s, %d classes, gap %g\n", w.family, w.size, w.gap)
		c, err := measure(ctx, w, s, with, filepath.Join(dir, "p2.mps"))
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	if len(all) > 0 {
		t := newTable(s, chosen)
		for _, c := range all {
			t.add(c)
		}
		if err := t.print(out); err != nil {
			return err
		}
		if s.table != "" {
			if err := writeTable(s.table, partP2, short(s, chosen, all)); err != nil {
				return err
			}
		}
	}
	b := beside{pool: pool, peers: chosen, python: s.python, file: filepath.Join(dir, "program.mps"), progress: progress}
	for _, c := range []struct {
		part    string
		seeds   int
		compare func(ctx context.Context, seeds int) (*contest, error)
	}{{partFleets, s.fleets, b.fleets}, {partHorizons, s.horizons, b.horizons}, {partPacking, s.batches, b.batches}} {
		if !s.measures(c.part) || c.seeds == 0 {
			continue
		}
		measured, err := c.compare(ctx, c.seeds)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(out, "\n"+measured.text()); err != nil {
			return err
		}
		if s.table != "" {
			if err := writeTable(s.table, c.part, measured.text()); err != nil {
				return err
			}
		}
	}
	if s.measures(partPacking) {
		if err := comparePackings(ctx, s.packings, out, progress); err != nil {
			return err
		}
	}
	if s.headroom == "" || !s.measures(partProduct) {
		return nil
	}
	return measureProduct(ctx, s.headroom, dir, out, progress)
}

// comparison is one row: the same instances with all solvers.
type comparison struct {
	work
	ours   []result
	theirs map[string][]result // by the peer's name
}

// result is one solve with its judgement.
type result struct {
	answer
	// worse is the plan's cost above Headroom's, relative to Headroom's objective.
	worse float64
}

func measure(ctx context.Context, w work, s settings, peers []peer, file string) (comparison, error) {
	c := comparison{work: w, theirs: map[string][]result{}}
	family, size := w.family, w.size
	for seed := uint64(1); seed <= s.seeds; seed++ {
		in, err := study.Generate(family, size, seed)
		if err != nil {
			return comparison{}, err
		}
		q := question{instance: in, program: in.Program(), file: file, gap: w.gap, limit: s.limit}
		mine, err := ours(ctx, q)
		if err != nil {
			return comparison{}, fmt.Errorf("solve %s, %d classes, seed %d: %w", family, size, seed, err)
		}
		c.ours = append(c.ours, result{answer: mine})
		if len(peers) == 0 {
			continue
		}
		if err := writeFile(file, q.program); err != nil {
			return comparison{}, err
		}
		best := in.Objective(jobsOf(in, mine.x))
		for _, p := range peers {
			if decided(c.theirs[p.name], s.seeds) {
				continue
			}
			a, err := p.solve(ctx, q)
			if err != nil {
				return comparison{}, fmt.Errorf("%s on %s, %d classes, seed %d: %w", p.name, family, size, seed, err)
			}
			r := result{answer: a}
			if a.x != nil {
				r.worse = (in.Objective(jobsOf(in, a.x)) - best) / abs(best)
				if r.worse < -mine.gap-proofNoise {
					return comparison{}, fmt.Errorf("%s found a plan for %s, %d classes, seed %d, that is cheaper by %.3g of the objective than ours "+
						"although ours was proved to %.3g", p.name, family, size, seed, -r.worse, mine.gap)
				}
			}
			c.theirs[p.name] = append(c.theirs[p.name], r)
		}
	}
	return c, nil
}

// proofNoise is the relative difference of sums in another order.
const proofNoise = 1e-9

// decided reports whether a peer ran out of time so often that its median is the limit for any results of the other
// seeds.
func decided(results []result, seeds uint64) bool {
	out := uint64(0)
	for _, r := range results {
		if r.outcome == limited {
			out++
		}
	}
	return out > seeds/2
}

func writeFile(name string, p *lp.Program) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := writeMPS(f, p); err != nil {
		f.Close()
		return fmt.Errorf("write the program for the peers: %w", err)
	}
	return f.Close()
}

func abs(x float64) float64 { return max(x, -x) }
