// Package spark gives commands that start Spark the executors of a plan. A slot of the plan is a task at a time.
package spark

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Label is the property that names the class of an application. Event logs keep it.
const Label = "spark.headroom.class"

// Share returns the slots of one job, of those that a class has for so many jobs at once, and what an equal part would
// be. running counts the jobs that hold a place, this one included. Where slots do not divide, those that take the
// first places have one more, so that all together never have more than the class.
func Share(slots int64, admitted float64, running int64) (whole int64, equal float64) {
	equal = float64(slots) / admitted
	whole = int64(math.Floor(equal + 1e-9))
	if running <= int64(math.Floor(float64(slots)-admitted*float64(whole)+1e-9)) {
		whole++
	}
	return whole, equal
}

// Command is a command that starts Spark.
type Command struct {
	words     []string
	cores     int64 // of an executor
	perTask   int64 // cores
	inCluster bool  // the driver runs elsewhere
	local     int   // the word with a master such as local[4], whose tasks run as threads of the driver; 0 is none
}

// programs take --conf as their first argument.
var programs = []string{"spark-submit", "spark-sql", "spark-shell", "pyspark", "sparkR"}

// switches are the options of these programs without a value.
var switches = []string{"--verbose", "-v", "--supervise", "--usage-error", "--help", "-h", "--version"}

// planned are the properties that the plan decides, and asked their short forms.
var (
	planned = []string{"spark.executor.instances", "spark.cores.max", "spark.dynamicAllocation.maxExecutors", Label}
	asked   = map[string]string{"--num-executors": planned[0], "--total-executor-cores": planned[1], "--executor-cores": "spark.executor.cores",
		"--master": "spark.master", "--deploy-mode": "spark.submit.deployMode"}
)

// Read reads a command. It refuses one whose number of executors is not the plan's to decide.
func Read(words []string) (Command, error) {
	c := Command{words: words, cores: 1, perTask: 1}
	if !slices.Contains(programs, path.Base(words[0])) {
		return c, fmt.Errorf("%q does not start Spark; give one of %s. A script that starts Spark itself can call \"headroom drive spark\" in it",
			words[0], strings.Join(programs, ", "))
	}
	for i := 1; i < len(words) && strings.HasPrefix(words[i], "-"); i++ {
		if slices.Contains(switches, words[i]) {
			continue
		}
		option, value, joined := strings.Cut(words[i], "=")
		if !joined {
			if i++; i == len(words) {
				return c, fmt.Errorf("the option %s of %s has no value", option, words[0])
			}
			value = words[i]
		}
		name := asked[option]
		if option == "--conf" || option == "-c" {
			name, value, _ = strings.Cut(value, "=")
		}
		if err := c.take(name, value, option); err != nil {
			return c, err
		}
		if name == "spark.master" {
			if c.local = 0; value == "local" || strings.HasPrefix(value, "local[") {
				c.local = i
			}
		}
	}
	if c.cores < c.perTask && c.local == 0 {
		return c, fmt.Errorf("a task takes %d cores and an executor has %d; raise --executor-cores", c.perTask, c.cores)
	}
	return c, nil
}

// take takes a property.
func (c *Command) take(name, value, option string) (err error) {
	switch {
	case slices.Contains(planned, name):
		return fmt.Errorf("the plan decides %s; leave %s out, or run the command by \"headroom live admission run\", which changes nothing of it", name, option)
	case name == "spark.executor.cores":
		c.cores, err = count(name, value)
	case name == "spark.task.cpus":
		c.perTask, err = count(name, value)
	case name == "spark.submit.deployMode":
		c.inCluster = value == "cluster"
	}
	return err
}

func count(name, value string) (int64, error) {
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s is %q; give a whole number of 1 or more", name, value)
	}
	return n, nil
}

// Sized is a command with its executors.
type Sized struct {
	Words            []string
	Executors, Cores int64
	Tasks            int64 // at a time, in all executors
}

// With returns the command with executors for so many slots, and the label of its class.
func (c Command) With(class string, slots int64) (Sized, error) {
	if c.local > 0 {
		before, rest, _ := strings.Cut(c.words[c.local], "local")
		_, more, retried := strings.Cut(rest, ",") // as in local[4,3]
		master := fmt.Sprintf("%slocal[%d]", before, slots*c.perTask)
		if retried {
			master = strings.TrimSuffix(master, "]") + "," + more
		}
		words := slices.Concat(c.words[:1], []string{"--conf", Label + "=" + class}, c.words[1:])
		words[c.local+2] = master
		return Sized{words, 1, slots * c.perTask, slots}, nil
	}
	tasks := c.cores / c.perTask // at a time, in an executor
	n := slots / tasks
	if n == 0 {
		return Sized{}, fmt.Errorf("an executor with %d cores runs %d tasks at a time, and the plan has %d for this job; lower --executor-cores", c.cores, tasks, slots)
	}
	properties := [][2]any{{"spark.executor.instances", n}, {"spark.executor.cores", c.cores}, {"spark.cores.max", n * c.cores},
		{"spark.dynamicAllocation.maxExecutors", n}, {Label, class}}
	if c.inCluster { // a place is held until the application ends, so the command waits for it
		properties = append(properties, [2]any{"spark.standalone.submit.waitAppCompletion", true}, [2]any{"spark.yarn.submit.waitAppCompletion", true})
	}
	words := []string{c.words[0]}
	for _, p := range properties {
		words = append(words, "--conf", fmt.Sprintf("%s=%v", p[0], p[1]))
	}
	return Sized{append(words, c.words[1:]...), n, c.cores, n * tasks}, nil
}

// Shell returns the command as a shell reads it.
func (s Sized) Shell() string {
	words := slices.Clone(s.Words)
	for i, w := range words {
		if w == "" || strings.ContainsFunc(w, func(r rune) bool {
			return !strings.ContainsRune("-_=./:,@%+", r) && (r > 'z' || r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a')
		}) {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
