package recheck

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/test/plantest"
)

// spoken are the sentences that each kind of fact may have. A group is a figure of its name; those of promises are
// rounded up, the others to three places.
var spoken = map[string][]string{
	"idle": {`No job has a task that may start on this slot\.`},
	"order": {`Of the jobs with a task for this slot it was submitted first\.`,
		`Of the jobs with a task for this slot none was submitted before it; of those that were submitted no later its name comes first\.`},
	"deadline": {`Of the jobs with a task for this slot it has the earliest deadline\.`,
		`Its deadline passed (?P<minus_left_s>N) s ago; it was the earliest at risk(?: that a task here can help\. "(?P<of>[^"]+)" comes before it, but a task here would end too late for it)?\.`,
		`Its deadline is in (?P<left_s>N) s, the earliest at risk(?: that a task here can help)?: nothing says how long its tasks take\.(?: "(?P<of>[^"]+)" comes before it, but a task here would end too late for it\.)?`,
		`Its running tasks' slots complete (?P<completable>N) of its (?P<unfinished>N) unfinished tasks? until its deadline in (?P<left_s>N) s, the earliest at risk(?: that a task here can help\. "(?P<of>[^"]+)" comes before it, but a task here would end too late for it)?\.`},
	"minimum":     {`Its class holds (?P<held>N) slots?, and its minimum is (?P<min>N): the smallest part of the classes with a task that may start here\.`},
	"lent":        {`No class with a share has a task that may start here\.`},
	"calibration": {`No task of it was measured on nodes of (?P<of>.+), and none runs there\.`},
	"affinity":    {`The slot is worth (?P<affinity>N) of a mean slot to it, and (?P<affinity_of_turn>N) to "(?P<of>[^"]+)", whose turn it was and who has let (?P<skips>N) others? before it\.`},
	"skips":       {`It was its turn, and it has let (?P<skips>N) others? before it, as many as it must\.`},
	"share": {`Its class holds (?P<held>N) slots? with a weight of (?P<weight>N), the fewest for its weight of the classes with a task that may start here\.`,
		`It has (?P<progress_share>N) of the cluster's progress with a weight of (?P<weight>N), the least for its weight of the jobs with a task for this slot\.`},
	"min_share": {`It has (?P<progress_share>N) of the cluster's progress of a minimum of (?P<min_share>N), the smallest part of the jobs with a task for this slot\.`},
	"residual":  {`Other work leaves (?P<residual>N) of the node's processors, less than the (?P<least_residual>N) from which tasks start\.`},
	"io_cap":    {`Running tasks read (?P<load_mb_s>N) MB/s from each data node, and no task reads so little that (?P<io_cap_mb_s>N) are not exceeded\.`},
	"progress": {`Its tasks take (?P<relative_slowdown>N) times as long here as on the cluster's mean slot, the least of the tasks that may start; there they take (?P<average_slowdown>N) times what they take on a dedicated node\.`,
		`Its tasks take (?P<slowdown>N) times as long here as on a dedicated node, the least of the tasks that may start; on the cluster's mean slot they take (?P<average_slowdown>N) times\.`},
	"overload":         {`Any task is likely to overload the node: of (?P<candidates>N) candidates the best is good with a probability of (?P<p_good>N)\.`},
	"probe":            {`Nothing runs on the node, and of (?P<candidates>N) candidates, which all are likely to overload it, this is good with the highest probability, (?P<p_good>N)\.`},
	"expected_utility": {`It is good with a probability of (?P<p_good>N) and has a utility of (?P<utility>N): the most is expected of it among the candidates that are likely not to overload the node\.`},

	dispatch.PromiseKept:   {`By the estimate it needs (?P<demand_s>N) s of (?:all|the) (?P<usable_slots>N) usable slots? with the accepted jobs due no later, and it is due in (?P<deadline_s>N) s\.`},
	dispatch.PromiseProved: {`It can be promised: where slots go by earliest deadline and tasks take their known times, it ends within (?P<latest_s>N) s\.`},
	dispatch.PromiseUnproved: {`The rule admits it, and nothing proves that it ends in time: as whole tasks it may take up to (?P<latest_s>N) s\.`,
		`The rule admits it, and nothing proves that it ends in time: some tasks that may hold slots have no known time\.`},
	dispatch.OthersUnproved:  {`Nothing proves that (?P<unproved>N) accepted jobs? ends? in time\.`},
	dispatch.NoSlotsKnown:    {`No usable slot is known, so no deadline can be promised\..*`},
	dispatch.TasksUnmeasured: {`Nothing is known of how long tasks of class ".+" take, so no deadline can be promised\..*`},
	dispatch.DeadlinePassed:  {`Its deadline passed (?P<minus_deadline_s>N) s ago\.`},
	dispatch.TooLongAlone:    {`Even with (?:all|the) (?P<usable_slots>N) usable slots? to itself it would need (?P<alone_s>N) s, and it is due in (?P<deadline_s>N) s\.`},
	dispatch.LateBeside:      {`By the estimate it would be (?P<late_s>N) s late: with the accepted jobs due no later it needs (?P<demand_s>N) s of (?:all|the) (?P<usable_slots>N) usable slots?, and it is due in (?P<deadline_s>N) s\.`},
	dispatch.TooLongAloneToo: {`Even with (?:all of them|it) to itself it would need (?P<alone_s>N) s\.`},
	dispatch.LaterJobsLate:   {`By the estimate (?P<jobs>N) accepted jobs? due later would be too late\.`},
	dispatch.LaterJobLate:    {`".+" would be (?P<late_s>N) s late(?:, and (?P<late_anyway_s>N) s without this job)?\.`},
	dispatch.WouldBeAdmitted: {`It would be admitted(?: with a deadline in (?P<deadline_s>N) s)?(?:,| or)?(?: beside (?P<dedicated_slots>N) more dedicated slots?(?: of each kind)?)?(?: or| with|,)*(?: at most (?P<maps>N) maps?)?\.`},
}

// tieSpoken is the end of the sentence about what decided, where others come as first.
var tieSpoken = map[string]string{"submitted": "these it was submitted first", "kind": "those that were submitted no later maps go first",
	"name": "those that were submitted no later its name comes first"}

var tieSpokenOfProgress = map[string]string{"average_slowdown": "these its tasks suffer most elsewhere",
	"deadline":  "those that suffer as much elsewhere it is due first",
	"submitted": "those that suffer as much elsewhere and are due as soon it was submitted first",
	"name":      "those that suffer as much elsewhere, are due as soon and were submitted no later its name comes first"}

// inClassSpoken ends the sentences about classes: what decided among the jobs of the class, under fair and capacity.
var inClassSpoken = map[string]string{"": "", "held": ` It holds (?P<job_held>N) slots?, the fewest of its class's jobs with a task for this slot\.`,
	"submitted": inClassBefore + `(?:these it was submitted first\.|Of its class's jobs with a task for this slot it was submitted first\.)`,
	"name":      inClassBefore + `those that were submitted no later its name comes first\.`}

const inClassBefore = ` (?:It holds (?P<job_held>N) slots?, and others of its class with a task for this slot hold as few; of |` +
	`Of its class's jobs with a task for this slot none was submitted before it; of )?`

// unsaid are figures that stand beside a sentence which does not say them.
var unsaid = map[string]string{"order": "submitted_s", "deadline": "deadline_s unfinished completable", "minimum": "weight", "share": "affinity min", "min_share": "weight affinity",
	"skips": "progress_share weight affinity", "affinity": "progress_share weight", "lent": "held min weight", "progress": "residual load_mb_s", "io_cap": "least_mb_s", "probe": "utility",
	"expected_utility": "candidates"}

// misspoken says where a sentence and the figures of its fact differ, or "".
func misspoken(f *capacity.Fact, up bool) string {
	figures := map[string]string{}
	for _, x := range f.Figures {
		figures[x.Name] = x.Value
	}
	for _, pattern := range spoken[f.Kind] {
		if tie := figures["tie"]; tie != "" && f.Kind != "order" {
			others, of := " Others tie with it; of ", tieSpoken[tie]
			switch _, job := figures["progress_share"]; {
			case f.Kind == "progress":
				of = tieSpokenOfProgress[tie]
			case f.Kind == "minimum", f.Kind == "lent", f.Kind == "share" && !job:
				others = " Other classes tie with its own; of "
			}
			if !strings.Contains(f.Claim, others+of+".") {
				return "does not tell the tie " + tie
			}
			pattern += others + of + `\.`
		}
		pattern += inClassSpoken[figures["in_class"]]
		re := regexp.MustCompile("^" + strings.ReplaceAll(pattern, ">N)", `>[-+.e0-9]+)`) + "$")
		said := re.FindStringSubmatch(f.Claim)
		if said == nil {
			continue
		}
		told := map[string]bool{}
		for i, name := range re.SubexpNames() {
			if name == "" || said[i] == "" {
				continue
			}
			figure, negated := strings.CutPrefix(name, "minus_")
			told[figure] = true
			if name == "of" {
				if figures["of"] != said[i] {
					return fmt.Sprintf("names %q", said[i])
				}
				continue
			}
			x, _ := strconv.ParseFloat(said[i], 64)
			is, err := strconv.ParseFloat(figures[figure], 64)
			if negated {
				is = -is
			}
			off := x - is
			if up && name == "deadline_s" && f.Kind != dispatch.WouldBeAdmitted { // the time left is rounded down
				off = -off
			}
			if rounded := math.Abs(off) <= 0.005*math.Abs(is)+1e-9; err != nil || up && (off < -1e-9 || off > 1) || !up && !rounded {
				return fmt.Sprintf("says %s of %s", said[i], name)
			}
		}
		for name := range figures {
			if !told[name] && name != "tie" && name != "in_class" && !strings.Contains(unsaid[f.Kind], name) {
				return "does not say " + name
			}
		}
		return ""
	}
	return "is none of its kind"
}

// Each sentence says just its figures, found by reading the sentence. A figure that is changed is noticed.
func TestReasonsSayTheirFigures(t *testing.T) {
	r := rand.New(rand.NewPCG(88, 8))
	kinds, noticed := map[string]int{}, 0
	look := func(facts []capacity.Fact, up bool) {
		for i := range facts {
			f := &facts[i]
			kinds[f.Kind]++
			if wrong := misspoken(f, up); wrong != "" {
				t.Fatalf("the sentence of %+v %s", f, wrong)
			}
			for k, x := range f.Figures {
				if value, err := strconv.ParseFloat(x.Value, 64); err == nil && !strings.Contains(unsaid[f.Kind], x.Name) {
					f.Figures[k].Value = fmt.Sprint(1.3*value + 2)
					if misspoken(f, up) == "" {
						t.Fatalf("of %+v the figure %s says something else, and nobody notices", f, x.Name)
					}
					f.Figures[k].Value = x.Value
					noticed++
				}
			}
		}
	}
	for range plantest.Trials(120, 5000) {
		_, answer := answeredDecision(t, drawnDecision(t, r))
		var a dispatch.DecideAnswer
		decoded(t, answer, &a)
		for _, d := range a.Decisions {
			if d.Facts.Text() != d.Reason || d.Facts[0].Kind != d.Rule || d.Facts[0].Subject != d.Job {
				t.Fatalf("the fact %+v is none of %+v", d.Facts, d)
			}
			look(d.Facts, false)
		}
	}
	for range plantest.Trials(500, 20_000) {
		_, answer := answeredPromise(t, drawnPromise(r))
		var a dispatch.JudgeAnswer
		decoded(t, answer, &a)
		if a.Facts.Text() != a.Reason {
			t.Fatalf("the facts of %s are others", a.Reason)
		}
		look(a.Facts, true)
	}
	for kind := range spoken {
		if kinds[kind] == 0 {
			t.Errorf("no fact of the kind %s", kind)
		}
	}
	t.Log(kinds, noticed)
}
