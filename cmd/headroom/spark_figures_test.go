package main

import (
	"encoding/csv"
	"encoding/json"
	"maps"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/service/plans"
)

// javaOptions let programs that live for seconds spend them on their work.
const javaOptions = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

// A real Spark runs three jobs with skew on two, three and four executors. Each is calibrated by half of its runs. Of the
// others, in between, not fewer keep their calibrated time than chance allows. Then each job runs by the plan for a
// deadline, and keeps it.
func TestSparkKeepsItsCalibration(t *testing.T) {
	sparkPrograms(t)
	const runs, coverage = 20, 0.95 // runs of each job in each half
	jobs := []string{"etl", "join", "words"}
	w := watchLogs(t)
	w.apply(t, nil)
	w.watch(t)
	began := time.Now()
	c := exec.CommandContext(t.Context(), "spark-submit", "--driver-java-options", javaOptions, "--py-files", "testdata/spark/job.py",
		"testdata/spark/measure.py", w.logs, strconv.Itoa(runs), "1000")
	if said, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said[max(0, len(said)-3000):])
	}
	waits(t, "all runs are kept", time.Minute, func() bool { return len(w.kept(t)) == 2*runs*len(jobs) })
	t.Logf("%d runs took %s", 2*runs*len(jobs), time.Since(began).Round(time.Second))
	deadlines := map[string]float64{}
	for _, job := range jobs {
		deadlines[job] = 600
	}
	w.calibrate(t, deadlines)

	held, below, all, missed := 0, 0, 0, map[string]int{}
	byExecutors := map[int64][2]int{}
	for _, job := range jobs {
		var report clusters.ClassCalibration
		if err := json.Unmarshal([]byte(w.verb(t, "history", "calibration", "get", "shop", job, "-o", "json")), &report); err != nil || report.InUse == nil {
			t.Fatal(err, report.InUse)
		}
		judged := w.judged(t, job)
		if len(judged) != runs {
			t.Errorf("%s was calibrated with %d runs, want %d", job, len(judged), runs)
		}
		planned := func(j timed) float64 { return report.InUse.Factor * j.bounds[string(report.InUse.Bound)] }
		for _, j := range judged {
			if j.slots == 3 {
				deadlines[job] = max(1, math.Ceil(planned(j)))
			}
		}
		inJob, offs := 0, []float64{}
		judged = w.judged(t, job, "--job", job+" again")
		for _, j := range judged {
			all++
			of := byExecutors[j.slots]
			of[1]++
			if j.seconds < j.bounds["lower"] { // where executors share processors, fewer of them are faster than the mean of all
				below++
			}
			if j.seconds <= planned(j) {
				held++
				inJob++
				of[0]++
			} else {
				t.Logf("%s on %d executors took %.1f s, and its calibrated time is %.1f s", job, j.slots, j.seconds, planned(j))
			}
			byExecutors[j.slots] = of
			offs = append(offs, j.seconds/planned(j))
			if j.slots == 2 && j.seconds > deadlines[job] {
				missed[job]++
			}
		}
		t.Logf("%s by %s × %g: %d of %d kept their calibrated time, of which they took %.2f in the median", job, report.InUse.Bound, report.InUse.Factor,
			inJob, len(judged), middleOf(offs))
	}
	for _, n := range slices.Sorted(maps.Keys(byExecutors)) {
		t.Logf("on %d executors %d of %d", n, byExecutors[n][0], byExecutors[n][1])
	}
	t.Logf("%d of %d runs kept their calibrated time (%.1f %%); %d took less than their lower bound", held, all, 100*float64(held)/float64(all), below)
	if chance := atMost(held, all, coverage); all != runs*len(jobs) || chance < 0.01 {
		t.Errorf("if each of %d did with %g, so few would with a chance of %.2g", all, coverage, chance)
	}

	w.apply(t, deadlines)
	for _, job := range jobs { // by the same runs as before
		w.verb(t, "history", "calibration", "adopt", "shop", job)
	}
	w.verb(t, "plan", "create", "shop")
	var p plans.Scaling
	if err := json.Unmarshal([]byte(w.server.get(t, "/v1/clusters/shop/plans/current/scaling")), &p); err != nil {
		t.Fatal(err)
	}
	for n, job := range jobs {
		for try := range 2 { // in one of twenty a run takes longer, and so may two jobs of the three
			seconds, slots := w.byThePlan(t, job, 3000+10*n+try)
			t.Logf("%s by the plan took %.1f s on %d executors for a deadline of %g s, which %d runs on two had missed", job, seconds, slots, deadlines[job], missed[job])
			if slots != p.Classes[job].SlotsMap {
				t.Errorf("it ran on %d executors, and the plan has %d", slots, p.Classes[job].SlotsMap)
			}
			if seconds <= deadlines[job] {
				break
			}
			if try == 1 {
				t.Errorf("%s missed its deadline twice", job)
			}
		}
	}
}

// timed is a run with the model's times for the executors that it had.
type timed struct {
	slots   int64
	seconds float64
	bounds  map[string]float64
}

// judged returns the runs of a job with the model's times.
func (w *watched) judged(t *testing.T, job string, flags ...string) (all []timed) {
	t.Helper()
	text := w.verb(t, append([]string{"history", "calibration", "get", "shop", job, "-o", "csv"}, flags...)...)
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) == 0 {
		t.Fatal(err, text)
	}
	for _, row := range rows[1:] {
		figure := func(column string) float64 {
			x, err := strconv.ParseFloat(row[slices.Index(rows[0], column)], 64)
			if err != nil {
				t.Fatal(err, text)
			}
			return x
		}
		all = append(all, timed{int64(figure("map_slots")), figure("seconds"), map[string]float64{
			"lower": figure("lower_s"), "average": figure("average_s"), "upper": figure("upper_s")}})
	}
	return all
}

// byThePlan runs a job with the executors of the plan, and returns how long it took and on how many.
func (w *watched) byThePlan(t *testing.T, job string, seed int) (seconds float64, slots int64) {
	t.Helper()
	before := len(w.kept(t))
	c := exec.CommandContext(t.Context(), "../../deploy/spark/run.sh", "shop", job, "--master", "local-cluster[4,1,768]", "--name", job,
		"--driver-java-options", javaOptions, "--conf", "spark.executor.extraJavaOptions="+javaOptions, "--conf", "spark.executor.memory=512m",
		"--conf", "spark.scheduler.minRegisteredResourcesRatio=1.0", "--conf", "spark.ui.enabled=false", "--conf", "spark.eventLog.enabled=true",
		"--conf", "spark.eventLog.compress=true", "--conf", "spark.eventLog.dir=file://"+w.logs, "testdata/spark/job.py", job, "0.6", strconv.Itoa(seed))
	c.Env = append(os.Environ(), "HEADROOM_URL=http://"+w.address, "HEADROOM_API_KEY="+w.agent, "HEADROOM_STATE="+t.TempDir())
	if said, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said[max(0, len(said)-3000):])
	}
	waits(t, "it is measured", time.Minute, func() bool { return len(w.kept(t)) > before })
	last := w.kept(t)[0] // the newest
	if last.Job != job || last.Seconds == nil || last.MapSlots == nil {
		t.Fatalf("kept is %+v", last)
	}
	return *last.Seconds, *last.MapSlots
}

// atMost returns the chance that at most so many of all hold, if each does with the same.
func atMost(held, all int, each float64) (chance float64) {
	for k := range held + 1 {
		some, _ := math.Lgamma(float64(all + 1))
		those, _ := math.Lgamma(float64(k + 1))
		others, _ := math.Lgamma(float64(all - k + 1))
		chance += math.Exp(some - those - others + float64(k)*math.Log(each) + float64(all-k)*math.Log(1-each))
	}
	return chance
}
