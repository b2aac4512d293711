package history

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// chained checks the chain of the application.
func (a *madeApp) chained(t *testing.T, c Chain) {
	t.Helper()
	ran := 0
	for _, s := range a.stages {
		if len(s.tasks) == 0 {
			continue
		}
		ran++
		found := false
		for at, p := range c.Phases {
			for _, before := range p.After {
				if before >= at {
					t.Errorf("phase %d waits for %d", at, before)
				}
			}
			if p.Stage != int64(s.id) {
				continue
			}
			found = true
			if p.Tasks != int64(len(s.tasks)) || !isOf(p.Task, s.tasks) || p.Name != fmt.Sprintf("map at %d", s.id) {
				t.Errorf("%+v of %d tasks", p, len(s.tasks))
			}
			for _, parent := range s.parents {
				if parent != 2 && (len(p.After) != 1 || c.Phases[p.After[0]].Stage != int64(parent)) {
					t.Errorf("stage %d waits for %v", s.id, p.After)
				}
			}
		}
		if !found {
			t.Errorf("there is no stage %d", s.id)
		}
	}
	if len(c.Phases) != ran {
		t.Errorf("%d phases, %d stages ran", len(c.Phases), ran)
	}
}

func TestMadeApplicationsReadBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 10 {
		a := makeApp(rng, 3+rng.IntN(8), 1+rng.IntN(60))
		var log bytes.Buffer
		a.write(&log)
		k := readAll(t, bytes.NewReader(gzipped(log.Bytes())), Options{})
		if len(k.executions) != 1 || len(k.refused) != 0 {
			t.Fatal(k)
		}
		c, err := TakeChain(k.executions[0])
		if err != nil {
			t.Fatal(err)
		}
		a.chained(t, c)
		failed := int64(strings.Count(log.String(), `"Failed":true`))
		if c.Left.Failed != failed || c.Left.Speculative != int64(strings.Count(log.String(), `"Killed":true`)) || c.Seconds == nil {
			t.Errorf("%+v, %d failed", c.Left, failed)
		}
		if _, err := Take(k.executions[0]); err == nil {
			t.Error("a chain is no profile of maps and reduces")
		}
	}
}

const sparkHead = `{"Event":"SparkListenerApplicationStart","App Name":"etl","App ID":"a1","Timestamp":1770000000000,"App Attempt ID":"2"}` + "\n"
const sparkTail = `{"Event":"SparkListenerApplicationEnd","Timestamp":1770000100000}` + "\n"

func sparkTask(stage, try, index int, partition string, from, until int64) string {
	return fmt.Sprintf(`{"Event":"SparkListenerTaskEnd","Stage ID":%d,"Stage Attempt ID":%d,"Task End Reason":{"Reason":"Success"},"Task Info":{"Index":%d,%s"Launch Time":%d,"Finish Time":%d}}`+"\n", stage, try, index, partition, 1770000000000+from, 1770000000000+until)
}

func sparkStage(stage, try, tasks int, parents string) string {
	return fmt.Sprintf(`{"Event":"SparkListenerStageCompleted","Stage Info":{"Stage ID":%d,"Stage Attempt ID":%d,"Stage Name":"s","Number of Tasks":%d,"Parent IDs":[%s]}}`+"\n", stage, try, tasks, parents)
}

func oneChain(t *testing.T, text string) (Chain, error) {
	t.Helper()
	k := readText(t, sparkHead+text+sparkTail)
	if len(k.executions) != 1 || len(k.refused) != 0 {
		t.Fatal(k)
	}
	return TakeChain(k.executions[0])
}

func TestStagesTriedAgain(t *testing.T) {
	// The second try repeats partition 1, which the first had done already: the first success counts.
	c, err := oneChain(t, sparkTask(0, 0, 0, `"Partition ID":0,`, 0, 5000)+sparkTask(0, 0, 1, `"Partition ID":1,`, 0, 7000)+sparkStage(0, 0, 3, "")+
		sparkTask(0, 1, 0, `"Partition ID":1,`, 20000, 21000)+sparkTask(0, 1, 1, `"Partition ID":2,`, 20000, 29000)+sparkStage(0, 1, 2, ""))
	if err != nil {
		t.Fatal(err)
	}
	if p := c.Phases[0]; p.Tasks != 3 || p.Task.Mean != 7 || p.Task.Max != 9 || c.ID != "a1_2" || c.OverheadSeconds != 84 {
		t.Errorf("%+v", c)
	}
	// Without partitions the tasks that a further try repeats are unknown.
	c, err = oneChain(t, sparkTask(0, 0, 0, "", 0, 5000)+sparkTask(0, 0, 1, "", 0, 7000)+sparkStage(0, 0, 3, "")+sparkTask(0, 1, 0, "", 20000, 29000)+sparkStage(0, 1, 1, ""))
	if err != nil {
		t.Fatal(err)
	}
	if p := c.Phases[0]; p.Tasks != 3 || p.Task.Count != 2 || p.Task.Mean != 6 || c.Left.Retried != 1 {
		t.Errorf("%+v", c)
	}
	if notes := strings.Join(c.Notes, "\n"); !strings.Contains(notes, "Spark writes that since 3.3") || !strings.Contains(notes, "tried more than once") {
		t.Error(notes)
	}
}

func TestChainsThatAreNone(t *testing.T) {
	for why, text := range map[string]string{
		"Stage 0 ran with 3 tasks, of which 1 that succeeded": sparkTask(0, 0, 0, "", 0, 5000) + sparkStage(0, 0, 3, ""),
		"Stage 1 ran with 3 tasks, of which none":             sparkTask(0, 0, 0, "", 0, 5000) + sparkStage(1, 0, 3, ""),
		"wait for one another":                                sparkTask(0, 0, 0, "", 0, 5000) + sparkStage(0, 0, 1, "1") + sparkStage(1, 0, 0, "0"),
		"None of its stages has a task":                       sparkStage(0, 0, 0, ""),
		"It has no stages":                                    "",
		"before its start":                                    sparkTask(0, 0, 0, "", 5000, 4000),
		"no start or no end":                                  sparkTask(0, 0, 0, "", -1770000000000, 4000),
		"It failed: Job aborted\n because of x.":              `{"Event":"SparkListenerJobEnd","Job Result":{"Result":"JobFailed","Exception":{"Message":"Job aborted\n because of x"}}}` + "\n",
	} {
		if _, err := oneChain(t, text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%v, want %q", err, why)
		}
	}
}

// Records may be deep: the order is found without recursion.
func TestDeepChains(t *testing.T) {
	const deep = 50_000
	e := Execution{ID: "deep", Outcome: Succeeded}
	for i := range int32(deep) {
		s := StageInfo{ID: int64(deep - i), Tasks: 1, Tries: 1}
		if i > 0 {
			s.Parents = []int32{i - 1}
		}
		e.Stages = append(e.Stages, s)
		e.Attempts.Add(Attempt{Stage: i, Kind: Stage, Outcome: Succeeded, Start: Epoch, Finish: Epoch + 1000})
	}
	c, err := TakeChain(&e)
	if err != nil || len(c.Phases) != deep || c.Phases[0].Stage != deep || c.Phases[deep-1].After[0] != deep-2 {
		t.Errorf("%v, %d phases", err, len(c.Phases))
	}
}
