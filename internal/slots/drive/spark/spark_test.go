package spark

import (
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Jobs that come and go in any order never hold more slots together than their class has, and each holds its part in
// whole slots. With all slots given out in turn nothing is left over.
func TestSharesNeverExceedTheSlots(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		jobs := 1 + random.Int64N(7)
		slots := jobs + random.Int64N(40)
		var held []int64
		for range 200 {
			if random.IntN(2) == 0 && int64(len(held)) < jobs {
				whole, equal := Share(slots, float64(jobs), int64(len(held))+1)
				if whole < slots/jobs || whole > (slots+jobs-1)/jobs || equal*float64(jobs) != float64(slots) && equal*float64(jobs)-float64(slots) > 1e-9 {
					t.Fatalf("of %d slots for %d jobs one gets %d, an equal part is %g", slots, jobs, whole, equal)
				}
				held = append(held, whole)
			} else if len(held) > 0 {
				n := random.IntN(len(held))
				held = slices.Delete(held, n, n+1)
			}
			if sum := total(held); sum > slots {
				t.Fatalf("%d jobs hold %d of %d slots: %v", len(held), sum, slots, held)
			}
		}
		held = nil
		for n := range jobs {
			whole, _ := Share(slots, float64(jobs), n+1)
			held = append(held, whole)
		}
		if sum := total(held); sum != slots {
			t.Fatalf("in turn %d jobs hold %d of %d slots: %v", jobs, sum, slots, held)
		}
	}
	if whole, equal := Share(13, 2.5, 1); whole != 5 || equal != 5.2 {
		t.Errorf("of 13 slots for 2.5 jobs one gets %d, an equal part is %g", whole, equal)
	}
}

func total(all []int64) (sum int64) {
	for _, n := range all {
		sum += n
	}
	return sum
}

func TestCommandsGetTheirExecutors(t *testing.T) {
	for _, c := range []struct{ words, want string }{
		{"spark-submit job.py --conf spark.cores.max=9", "spark-submit PLAN 6 1 6 6 job.py --conf spark.cores.max=9"},
		{"/opt/spark/bin/spark-submit -v --master yarn --executor-cores 3 job.py", "/opt/spark/bin/spark-submit PLAN 2 3 6 2 -v --master yarn --executor-cores 3 job.py"},
		{"spark-sql --conf=spark.executor.cores=4 -f x.sql", "spark-sql PLAN 1 4 4 1 --conf=spark.executor.cores=4 -f x.sql"},
		{"pyspark -c spark.task.cpus=2 -c spark.executor.cores=4", "pyspark PLAN 3 4 12 3 -c spark.task.cpus=2 -c spark.executor.cores=4"},
		{"spark-submit --deploy-mode cluster --class com.example.Etl etl.jar", "spark-submit PLAN 6 1 6 6 --conf spark.standalone.submit.waitAppCompletion=true " +
			"--conf spark.yarn.submit.waitAppCompletion=true --deploy-mode cluster --class com.example.Etl etl.jar"},
	} {
		command, err := Read(strings.Fields(c.words))
		if err != nil {
			t.Errorf("%s: %v", c.words, err)
			continue
		}
		got, err := command.With("etl", 6)
		if err != nil {
			t.Errorf("%s: %v", c.words, err)
		}
		want := strings.Fields(c.want)
		i := slices.Index(want, "PLAN")
		n, cores, most, dynamic := want[i+1], want[i+2], want[i+3], want[i+4]
		want = slices.Replace(want, i, i+5, "--conf", "spark.executor.instances="+n, "--conf", "spark.executor.cores="+cores, "--conf", "spark.cores.max="+most,
			"--conf", "spark.dynamicAllocation.maxExecutors="+dynamic, "--conf", "spark.headroom.class=etl")
		if !slices.Equal(got.Words, want) {
			t.Errorf("%s becomes\n%q, want\n%q", c.words, got.Words, want)
		}
	}
}

// Where tasks run as threads of the driver, the plan says how many.
func TestThreadsOfTheDriverAreThoseOfThePlan(t *testing.T) {
	for words, want := range map[string]string{
		"spark-submit --master local[*] local.py":                             "spark-submit --conf spark.headroom.class=etl --master local[6] local.py",
		"spark-submit --name x --master=local job.py local":                   "spark-submit --conf spark.headroom.class=etl --name x --master=local[6] job.py local",
		"pyspark --conf spark.master=local[2,3] --conf spark.task.cpus=2":     "pyspark --conf spark.headroom.class=etl --conf spark.master=local[12,3] --conf spark.task.cpus=2",
		"spark-submit --master local[2] --master local-cluster[4,1,768] x.py": "",
	} {
		command, err := Read(strings.Fields(words))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := command.With("etl", 6); err != nil || want != "" && (got.Shell() != want && strings.Join(got.Words, " ") != want) || want == "" && got.Executors != 6 {
			t.Errorf("%s becomes %q: %v", words, got.Words, err)
		}
	}
}

func TestWhatThePlanCannotDecideIsRefused(t *testing.T) {
	for words, says := range map[string]string{
		"./etl.sh":                                           `"./etl.sh" does not start Spark`,
		"spark-submit --num-executors 4 job.py":              "the plan decides spark.executor.instances; leave --num-executors out",
		"spark-submit --conf spark.cores.max=9 job.py":       "the plan decides spark.cores.max; leave --conf out",
		"spark-submit --total-executor-cores=9 job.py":       "the plan decides spark.cores.max",
		"spark-submit -c spark.headroom.class=sql job.py":    "the plan decides spark.headroom.class",
		"spark-submit --executor-cores many job.py":          `spark.executor.cores is "many"; give a whole number`,
		"spark-submit --conf spark.task.cpus=0 job.py":       `spark.task.cpus is "0"`,
		"spark-submit --conf spark.task.cpus=2 job.py":       "a task takes 2 cores and an executor has 1; raise --executor-cores",
		"spark-submit --executor-cores 4 --conf":             "the option --conf of spark-submit has no value",
		"spark-submit --executor-cores 8 --name etl job.py":  "an executor with 8 cores runs 8 tasks at a time, and the plan has 6 for this job; lower --executor-cores",
		"spark-submit --executor-cores 99999999999999999 x ": `spark.executor.cores is "99999999999999999"`,
	} {
		command, err := Read(strings.Fields(words))
		if err == nil {
			_, err = command.With("etl", 6)
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: it says %v, want %q", words, err, says)
		}
	}
}

// What is printed means the same to a shell.
func TestShellsReadTheCommand(t *testing.T) {
	words := []string{"printf", "%s\n", "a b", "", "it's", "$HOME", "a=b", "local-cluster[4,1,768]", "*", "é", "{x}", "~", "a\\b"}
	out, err := exec.Command("sh", "-c", Sized{Words: words}.Shell()).Output()
	if got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"); err != nil || !slices.Equal(got, words[2:]) {
		t.Errorf("a shell reads %q: %v", got, err)
	}
	if got := (Sized{Words: []string{"spark-submit", "--conf", "spark.cores.max=4", "/tmp/job.py"}}).Shell(); got != "spark-submit --conf spark.cores.max=4 /tmp/job.py" {
		t.Errorf("plain words become %s", got)
	}
}
