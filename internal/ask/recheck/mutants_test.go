package recheck

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/test/mutation"
	"example.org/headroom/internal/test/plantest"
)

// mutated is a document to be changed, and its check.
type mutated struct {
	kind   string
	text   []byte
	passes func(text []byte) bool
}

// plansToMutate draws plans of each kind, and problems without one.
func plansToMutate(t *testing.T, r *rand.Rand, n int) (all []mutated) {
	draw := func(kind string, draw func() capacity.Problem, status func(pl *capacity.Plan) bool) {
		for k := 0; k < n; {
			p := draw()
			if p.Validate() != nil {
				continue
			}
			pl, err := solve(t.Context(), p)
			if err != nil || !status(&pl) {
				continue
			}
			passes := func(text []byte) bool {
				changed, err := capacity.ReadPlan(text)
				return err == nil && proof.Verify(p, changed, proof.Options{}).Accepted()
			}
			text := capacity.AppendPlan(nil, pl)
			if k++; !passes(text) {
				t.Fatalf("%s\n%s\n%s", proof.Verify(p, pl, proof.Options{}), plantest.Text(p), text)
			}
			all = append(all, mutated{kind, text, passes})
		}
	}
	planned := func(pl *capacity.Plan) bool { return pl.Status != capacity.InfeasibleStatus }
	none := func(pl *capacity.Plan) bool { return pl.Status == capacity.InfeasibleStatus }
	for _, i := range []capacity.Integrality{capacity.Executable, capacity.Integer, capacity.Relaxed} {
		one := func() capacity.Problem {
			p := plantest.DrawAny(r)
			p.Options.Integrality = i
			return p
		}
		draw("plan "+string(i), one, planned)
		draw("no plan "+string(i), one, none)
	}
	for _, kind := range []string{"budget", "spot", "types", "mixed"} {
		fleet := func() capacity.Problem { return plantest.DrawFleet(r, plantest.FleetKinds[kind], 3, 3) }
		draw("fleet "+kind, fleet, planned)
		draw("no fleet "+kind, fleet, none)
	}
	return all
}

// answersToMutate draws questions of each kind, with their answers.
func answersToMutate(t *testing.T, r *rand.Rand, n int) (all []mutated) {
	add := func(kind string, question, answer []byte) {
		known := map[string]proof.Least{}
		looked := func(text []byte) (proof.Report, error) {
			return check(question, text, Options{Limits: capacity.DefaultLimits(), Looks: 3000}, known)
		}
		if report, err := looked(answer); err != nil || !report.Accepted() {
			t.Fatalf("%s: %s %v\n%s\n%s", kind, report, err, question, answer)
		}
		all = append(all, mutated{kind, answer, func(text []byte) bool {
			report, err := looked(text)
			return err == nil && report.Accepted()
		}})
	}
	for _, kind := range slices.Sorted(maps.Keys(drawnAnswers)) {
		for range n {
			drawnAnswers[kind](t, r, func(question, answer any) { add(kind, marshalled(question), marshalled(answer)) })
		}
	}
	for range n {
		q, a := answeredDecision(t, drawnDecision(t, r))
		add("decide", q, a)
		q, a = answeredPromise(t, drawnPromise(r))
		add("judge", q, a)
		q, a = answeredCalibration(t, drawnCalibration(r))
		add("calibration", q, a)
	}
	return all
}

// harmless is a row of the table of changes that pass.
type harmless struct {
	row  string
	hows []string
	at   *regexp.Regexp
	some bool // most such changes are found
}

// harmlessChanges reads the table of docs/reference/verify.md.
func harmlessChanges(t *testing.T) (all []*harmless) {
	t.Helper()
	text, err := os.ReadFile("../../../docs/reference/verify.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range regexp.MustCompile("(?m)^\\| ([a-z, ]+) \\| (`.*`) \\| ").FindAllStringSubmatch(string(text), -1) {
		at := regexp.QuoteMeta(strings.ReplaceAll(strings.Trim(row[2], "`"), "`, `", "|"))
		at = strings.NewReplacer(`\|`, "|", `\*`, ".*").Replace(at)
		all = append(all, &harmless{row: row[0], hows: strings.Split(strings.TrimPrefix(row[1], "some "), ", "), some: strings.HasPrefix(row[1], "some "), at: regexp.MustCompile("^(" + at + ")$")})
	}
	if len(all) == 0 {
		t.Fatal("the table of changes that pass has no row")
	}
	return all
}

// changesAreFound changes documents at one place at a time, or of each so many places. What passes must be harmless. It says
// what was found.
func changesAreFound(t *testing.T, r *rand.Rand, of []mutated, most int) string {
	t.Helper()
	allowed := harmlessChanges(t)
	tried, passed, missed := map[string]int{}, map[string]int{}, map[string][]string{}
	like := func(h *harmless, m *mutation.Mutant) bool {
		return slices.Contains(h.hows, m.How) && h.at.MatchString(m.Path())
	}
	total, spared := 0, 0
	for _, document := range of {
		all := mutation.Of(t, document.text)
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, m := range all[:min(len(all), most)] {
			tried[document.kind]++
			total++
			k := slices.IndexFunc(allowed, func(h *harmless) bool { return like(h, &m) })
			if k >= 0 {
				tried[allowed[k].row]++
			}
			if !document.passes(m.Text()) {
				continue
			}
			if k >= 0 {
				passed[allowed[k].row]++
				spared++
				continue
			}
			what := m.How + " at " + m.Path()
			missed[what] = append(missed[what], document.kind+": "+m.String())
		}
	}
	for _, h := range allowed {
		n := passed[h.row]
		t.Logf("%5d of %5d pass: %s", n, tried[h.row], h.row)
		if h.some && 2*n > 4+tried[h.row] {
			t.Errorf("%d pass, which is most: %s", n, h.row)
		}
		delete(tried, h.row)
	}
	for what, examples := range missed {
		t.Errorf("%d pass: %s, such as %.400s", len(examples), what, examples[0])
	}
	t.Logf("%d changes of %d documents, %d harmless ones pass: %v", total, len(of), spared, tried)
	return fmt.Sprintf("%d changes of %d documents: all found but %d that are listed as harmless", total, len(of), spared)
}

// Any change of a plan is found but those listed as harmless. The short form tries 30 changes of each of 14 plans, the long one
// 500 of each of 140 plans.
func TestEveryChangeOfAPlanIsFound(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 9))
	t.Attr("R4", changesAreFound(t, r, plansToMutate(t, r, plantest.Trials(1, 10)), plantest.Trials(7, 500)))
}

// The same holds of answers.
func TestEveryChangeOfAnAnswerIsFound(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 10))
	t.Attr("R4", changesAreFound(t, r, answersToMutate(t, r, plantest.Trials(2, 30)), plantest.Trials(6, 300)))
}
