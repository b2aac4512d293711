package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/lp/worker"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/edge/cli/shell"
	tables "example.org/headroom/internal/service/report"
)

func doctorCommand() *cobra.Command {
	var out shell.Output
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say whether this installation works, and what is missing",
		Long: `Examines the methods, the solver, the settings and the database, and asks the server of these settings, if it
runs, whether it reaches the database.

The settings are those of the environment. Where it names neither a database nor a data directory, and no flag does,
they are those of /etc/headroom/headroom.env, which systemd gives to the server; only root may read that file. The
check "configuration" says what was read.`,
		Example: "  headroom server doctor",
		Args:    cobra.NoArgs,
	}
	databaseFlags(c)
	envFileFlag(c)
	out.AddFlags(c, "table", "json", "csv")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		around, unread := surroundingsOf(c, unitFile)
		settings, _, mistakes := readConfig(c, around)
		for _, said := range mistyped(around.values) {
			mistakes = errors.Join(mistakes, errors.New(said))
		}
		d := examine(c.Context(), settings, mistakes, around.about(c, settings), unread)
		if err := out.Write(c, map[string]shell.Form{
			"table": func(w io.Writer) error {
				if err := d.table().Text(w); err != nil {
					return err
				}
				_, err := fmt.Fprintln(w, "\n"+d.Summary)
				return err
			},
			"json": shell.AsJSON(d),
			"csv":  d.table().CSV,
		}); err != nil {
			return err
		}
		if !d.Healthy {
			return shell.Fail(shell.ExitSolver, errors.New(d.Summary))
		}
		return nil
	})
}

// diagnosis holds the findings of doctor.
type diagnosis struct {
	Healthy bool          `json:"healthy"`
	Summary string        `json:"summary"`
	Build   build         `json:"build"`
	Checks  []examination `json:"checks"`
}

type examination struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Cure   string `json:"cure,omitempty"`
}

func (d *diagnosis) add(name, detail, cure string, err error) {
	e := examination{Name: name, OK: err == nil, Detail: detail}
	if err != nil {
		e.Detail, e.Cure = shell.Sentence(err.Error()), cure
		d.Healthy = false
	}
	d.Checks = append(d.Checks, e)
}

func (d *diagnosis) table() tables.Table {
	t := tables.Table{Columns: []string{"check", "state", "detail"}}
	for _, e := range d.Checks {
		state, detail := "ok", e.Detail
		if !e.OK {
			state, detail = "not ok", e.Detail+" "+e.Cure
		}
		t.Rows = append(t.Rows, []tables.Cell{{Text: e.Name}, {Text: state}, {Text: detail}})
	}
	return t
}

const (
	cureSolver = "Build it with \"make build\" (it needs the packages coinor-libcbc-dev and coinor-libclp-dev), and put it beside headroom " +
		"or set HEADROOM_SOLVER to its path. Until then --engine exact works."
	cureWrong = "Do not use this solver: rebuild headroom-solver against CBC 2.10 as your distribution ships it. Until then --engine exact works."
	cureCore  = "This is a fault in headroom: please report it with this output."
)

// longestExamination bounds each check.
const longestExamination = 20 * time.Second

// examine looks at everything. read says which settings are those of the server; where they could not be read, neither the
// settings nor the database are looked at: they would be others.
func examine(ctx context.Context, settings config, mistakes error, read string, unread error) *diagnosis {
	d := &diagnosis{Healthy: true, Build: thisBuild()}
	d.add("headroom", d.Build.String(), "", nil)
	d.add("configuration", read, cureUnread, unread)
	answer, err := examineCore(ctx)
	d.add("exact method", answer, cureCore, err)

	path, err := worker.Find()
	d.add("solver program", path, cureSolver, err)
	if err == nil {
		pool := worker.New(worker.Config{Program: path, Processes: 1, Longest: longestExamination})
		defer pool.Close()
		began := time.Now()
		answer, err = examineSolver(ctx, pool, smallLP())
		d.add("linear programs", answer, cureSolver, err)
		if err == nil {
			answer, err = examineSolver(ctx, pool, falseOptimum())
			d.add("integer programs", answer, cureWrong, err)
		}
		d.add("time", fmt.Sprintf("starting the solver and solving took %d ms", time.Since(began).Milliseconds()), "", nil)
	}
	if unread == nil {
		d.examineSettings(mistakes)
		d.examineIssuer(ctx, settings)
		d.examineDatabase(ctx, settings)
		d.examineServer(ctx, settings)
	}
	d.Summary = "Everything works."
	if !d.Healthy {
		d.Summary = "Something is missing or wrong: see the checks that are not ok."
	}
	return d
}

// probe is a program whose optimum is known.
type probe struct {
	program *lp.Program
	optimum float64
}

// smallLP: two products, three limits; 3 of the first and 1 of the second earn 5.
func smallLP() probe {
	p := &lp.Program{}
	sum := p.Row(math.Inf(-1), 4)
	p.Column(-1, 0, 3, false, lp.Entry{Row: sum, Coefficient: 1})
	p.Column(-2, 0, 1, false, lp.Entry{Row: sum, Coefficient: 1})
	return probe{p, -5}
}

// falseOptimum is a plan of three classes that CBC, left to its default settings, answers with -19.988
// and calls optimal. It is here to notice a solver that was built with those settings.
func falseOptimum() probe {
	p := &lp.Program{}
	load := p.Row(math.Inf(-1), 0) // what the classes need, less what is rented
	column := func(cost, lower, upper, need float64) {
		p.Column(cost, lower, upper, true, lp.Entry{Row: load, Coefficient: need})
	}
	column(0.39, 0, math.Inf(1), -1)
	column(0.2, 0, 72, -1)
	column(-2.001, 6, 8, 3.9)
	column(-0.141, 5, 8, 0.44)
	column(-2.254, 0, 8, 4.89)
	return probe{p, -20.096}
}

func examineSolver(ctx context.Context, solver lp.Solver, q probe) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, longestExamination)
	defer cancel()
	s, err := solver.Solve(ctx, q.program, lp.Options{})
	switch {
	case err != nil:
		return "", err
	case s.Status != lp.Optimal || math.Abs(s.Objective-q.optimum) > 1e-6:
		return "", fmt.Errorf("%s says %s, %.6g; the optimum is %.6g", s.Engine, s.Status, s.Objective, q.optimum)
	}
	return fmt.Sprintf("%s finds the optimum", s.Engine), nil
}

// examineCore plans without a solver: 8 jobs of 1.25 VMs each need 10 VMs, 4 of them reserved.
func examineCore(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, longestExamination)
	defer cancel()
	gamma := decimal.New(125, -2)
	amount := func(hundredths int64) money.Amount { return money.Amount{Decimal: decimal.New(hundredths, -2)} }
	p := capacity.Problem{
		Currency: "USD", PeriodSeconds: 3600, Options: capacity.DefaultOptions(),
		Supply: capacity.Supply{
			Contracts: []capacity.Contract{{Name: "reserved", VMs: 4, Price: amount(10), Billing: capacity.BilledUsed}},
			OnDemand:  capacity.OnDemand{Price: amount(20)},
		},
		Classes: []capacity.Class{{Name: "jobs", VMsPerJob: &gamma, Jobs: capacity.JobRange{Min: 0, Max: 8}, Penalty: amount(100)}},
	}
	p.Options.Engine = capacity.EngineExact
	answer, err := plan.Solve(ctx, p, nil)
	switch {
	case err != nil:
		return "", err
	case answer.Status != capacity.Optimal || !answer.Cost.Total.Equal(decimal.New(16, -1)):
		return "", fmt.Errorf("a problem whose optimum costs 1.60 is answered %s, %s", answer.Status, answer.Cost.Total)
	}
	return "plans without a solver", nil
}
