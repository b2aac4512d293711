package postgres_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/test/pgtest"
)

// answerOf is a plan of so many classes, which took some time.
func answerOf(classes int, solveMs float64) json.RawMessage {
	random := rand.New(rand.NewPCG(1, uint64(classes)))
	var all []string
	for n := range classes {
		all = append(all, fmt.Sprintf(`{"name":"class-%d","admitted":%d,"refused":0,"vms":%.6f,"vms_per_job":%.6f,"slots":{"map":%d,"reduce":%d},"time_s":{"lower":%.3f,"average":%.3f,"upper":%.3f},"verdict":"full","reason":"One more job costs %.2f an hour in VMs, refusing it 5.00."}`,
			n, random.IntN(20), 9*random.Float64(), 9*random.Float64(), random.IntN(90), random.IntN(90), 900*random.Float64(), 900*random.Float64(), 900*random.Float64(), random.Float64()))
	}
	return json.RawMessage(fmt.Sprintf(`{"status":"optimal","vms":{"total":41},"classes":[%s],"proof":{"gap":0,"checked":true,"solve_ms":%v},"warnings":[]}`, strings.Join(all, ","), solveMs))
}

// basesOf lists the numbers of the plans whose texts others share; 0 is of a plan that is stored whole.
func basesOf(t testing.TB, url string) (all []int64) {
	t.Helper()
	check(t, raw(t, url).QueryRow(t.Context(), `SELECT array_agg(coalesce(base, 0) ORDER BY number) FROM stored_plans`).Scan(&all))
	return all
}

// A plan like the one before it is stored as a difference, and reads as any other. Whatever the two texts have in
// common, what was stored comes back byte for byte.
func TestPlansLikeTheOneBefore(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, configOf(url))
	ctx := filled(t, s)
	problem, other := `{"classes":[],"currency":"USD"}`, `{"classes":[],"currency":"EUR"}`
	much := strings.Repeat("x", 101)
	stored := []struct {
		problem, plan string
		base          int64
	}{
		{problem, `{"proof":{"solve_ms":1.25},"ä":1}`, 0},
		{problem, `{"proof":{"solve_ms":1.25},"ä":1}`, 1},  // the same
		{problem, `{"proof":{"solve_ms":13.75},"ä":1}`, 1}, // compared with the first
		{problem, `{"proof":{"solve_ms":1.25},"ö":1}`, 1},  // half a letter is another one
		{problem, `{}`, 1}, // beginning and end overlap
		{problem, `{"proof":{"solve_ms":1.25},"ä":111}`, 1}, // a repeated end
		{other, `{"proof":{"solve_ms":1.25},"ä":1}`, 0},     // another problem
		{problem, `{"proof":{"solve_ms":1.25},"ä":1}`, 0},   // not that of the one before
		{problem, `{"` + much + `":1}`, 0},                  // too much is new
		{problem, `{"` + much + `":2}`, 9},
	}
	for i, p := range stored {
		r := record(night)
		r.Problem, r.Plan = json.RawMessage(p.problem), json.RawMessage(p.plan)
		save := s.SavePlan
		if i%2 == 1 {
			save = s.KeepPlan // plans for other moments share as well
		}
		must(save(ctx, r))(t)
	}
	got := basesOf(t, url)
	for i, p := range stored {
		if got[i] != p.base {
			t.Errorf("plan %d, %s, has the base %d, want %d", i+1, p.plan, got[i], p.base)
		}
		if read := must(s.Plan(ctx, night, plans.PlanRef{Number: int64(i + 1)}))(t); string(read.Plan) != p.plan || string(read.Problem) != p.problem {
			t.Errorf("plan %d reads %s of %s, want %s of %s", i+1, read.Plan, read.Problem, p.plan, p.problem)
		}
	}
}

func TestDrawnPlansReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, configOf(url))
	ctx := filled(t, s)
	random := rand.New(rand.NewPCG(7, 7))
	letters := []rune(`ab{}":,é界🦉`)
	tries := 200
	if long() {
		tries = 5000
	}
	var wrote []string
	text := []rune("start")
	for range tries {
		for range random.IntN(4) { // one letter or a few are new, gone, or doubled
			at := random.IntN(len(text) + 1)
			switch random.IntN(3) {
			case 0:
				text = slices.Insert(text, at, letters[random.IntN(len(letters))])
			case 1:
				text = slices.Delete(text, at, min(len(text), at+random.IntN(5)))
			default:
				text = slices.Insert(text, at, text[at:min(len(text), at+random.IntN(60))]...)
			}
		}
		r := record(night)
		r.Plan = must(json.Marshal(string(text)))(t)
		wrote = append(wrote, string(r.Plan))
		must(s.KeepPlan(ctx, r))(t)
	}
	shared := 0
	for i, base := range basesOf(t, url) {
		if base != 0 {
			shared++
		}
		if read := must(s.Plan(ctx, night, plans.PlanRef{Number: int64(i + 1)}))(t); string(read.Plan) != wrote[i] {
			t.Fatalf("plan %d reads %s, want %s", i+1, read.Plan, wrote[i])
		}
	}
	if shared < tries/2 || shared == tries {
		t.Errorf("%d of %d plans are differences", shared, tries)
	}
}

// Retention never takes the texts of a plan that stays, nor does a program that knows nothing of them.
func TestRetentionKeepsSharedTexts(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, configOf(url))
	ctx := filled(t, s)
	save := func(answer json.RawMessage) {
		r := record(night)
		r.Plan = answer
		must(s.SavePlan(ctx, r))(t)
	}
	for n := range 6 {
		save(answerOf(3, float64(n)))
	}
	for n := range 4 {
		save(answerOf(4, float64(n)))
	}
	same(t, basesOf(t, url), []int64{0, 1, 1, 1, 1, 1, 0, 7, 7, 7})
	age(t, url, 10)
	conn := raw(t, url)
	execute(t, conn, `SET headroom.retention = 'on'`)
	execute(t, conn, `DELETE FROM plans WHERE number IN (1, 2, 7)`) // as the previous release does
	left := func() (numbers []int64) {
		check(t, conn.QueryRow(ctx, `SELECT array_agg(number ORDER BY number) FROM plans`).Scan(&numbers))
		return numbers
	}
	same(t, left(), []int64{1, 3, 4, 5, 6, 7, 8, 9, 10})
	rule := postgres.Retention{OlderThan: year, Keep: 2}
	prune(t, url, rule)
	same(t, left(), []int64{1, 7, 9, 10}) // nobody shares the first any more
	prune(t, url, rule)
	same(t, left(), []int64{7, 9, 10})
	if read := must(s.Plan(ctx, night, plans.PlanRef{Number: 10}))(t); string(read.Plan) != string(answerOf(4, 3)) {
		t.Errorf("plan 10 reads %s", read.Plan)
	}
	_, err := conn.Exec(ctx, `DELETE FROM plans WHERE number = 7`)
	check(t, err)
	same(t, left(), []int64{7, 9, 10})
}

// What a plan like the one before it takes: room in the database, log written ahead, and time.
func TestAPlanLikeTheOneBeforeIsSmall(t *testing.T) {
	count := 400
	if long() {
		count = 20_000
	}
	for _, classes := range []int{5, 100} {
		url := pgtest.Database(t)
		s := pgtest.OpenWith(t, configOf(url))
		ctx := filled(t, s)
		r := record(night)
		r.Problem, r.Why = answerOf(classes, 0), "Ada asked for it." // a problem is about as long
		save := func(n int) {
			r.Plan = answerOf(classes, float64(n)/7)
			must(s.SavePlan(ctx, r))(t)
		}
		save(0)
		conn := raw(t, url)
		size := func() (plans, turns, written int64) {
			check(t, conn.QueryRow(ctx, `SELECT pg_total_relation_size('stored_plans'), pg_total_relation_size('plan_turns') + pg_total_relation_size('plan_reigns'),
				(pg_current_wal_insert_lsn() - '0/0')::bigint`).Scan(&plans, &turns, &written))
			return plans, turns, written
		}
		plans, turns, written := size()
		var took []time.Duration
		for n := range count {
			began := time.Now()
			save(n + 1)
			took = append(took, time.Since(began))
		}
		nowPlans, nowTurns, nowWritten := size()
		slices.Sort(took)
		each, median := (nowPlans-plans)/int64(count), took[count/2]
		t.Logf("%d classes, %d bytes of text: a plan like the one before takes %d bytes, and %d for a while to note when it was current; %d bytes of log, %v (p99 %v)",
			classes, len(r.Plan)+len(r.Problem), each, (nowTurns-turns)/int64(count), (nowWritten-written)/int64(count), median.Round(10*time.Microsecond), took[count*99/100].Round(10*time.Microsecond))
		if each > 500 {
			t.Errorf("%d classes: a plan like the one before takes %d bytes, more than 500", classes, each)
		}
		if long() && median > 3*time.Millisecond*time.Duration(1+classes/100) {
			t.Errorf("%d classes: a plan like the one before takes %v", classes, median)
		}
	}
}
