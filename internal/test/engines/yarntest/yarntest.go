// Package yarntest starts a YARN on this machine: a resource manager with the capacity scheduler, and nodes.
package yarntest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/headroom/internal/test/await"
)

// Yarn is a YARN that runs for a test.
type Yarn struct {
	Address string // of the resource manager's web interface

	dir, jars string
	manager   *exec.Cmd
	nodes     []*exec.Cmd
	failed    func() bool
}

// client waits for no answer of a resource manager that was killed.
var client = &http.Client{Timeout: 10 * time.Second}

// patience bounds each wait; a start takes more than a minute on a busy machine.
const patience = 3 * time.Minute

// Setup says what a YARN has.
type Setup struct {
	Queues    map[string]string // names below root, and their capacities
	Nodes     int
	Memory    int    // of a node, in MB, with a core for each 1024; it need not be there
	ReadOnly  bool   // settings stand in a file, and callers cannot change them
	Scheduler string // its class; "" is the capacity scheduler
}

// Start starts a YARN. Where Hadoop is not in bin/hadoop the test is skipped, unless HEADROOM_ENGINES demands it.
func Start(t *testing.T, setup Setup) *Yarn {
	t.Helper()
	jars := findJars(t)
	y := &Yarn{dir: t.TempDir(), jars: jars, failed: t.Failed}
	ports := freePorts(t, 5+4*setup.Nodes)
	y.Address = fmt.Sprint("http://127.0.0.1:", ports+4)
	store := "fs"
	if setup.ReadOnly {
		store = "file"
	}
	if setup.Scheduler == "" {
		setup.Scheduler = "capacity.CapacityScheduler"
	}
	common := map[string]string{
		"yarn.resourcemanager.address":                                     at(ports),
		"yarn.resourcemanager.scheduler.address":                           at(ports + 1),
		"yarn.resourcemanager.resource-tracker.address":                    at(ports + 2),
		"yarn.resourcemanager.admin.address":                               at(ports + 3),
		"yarn.resourcemanager.webapp.address":                              at(ports + 4),
		"yarn.resourcemanager.scheduler.class":                             "org.apache.hadoop.yarn.server.resourcemanager.scheduler." + setup.Scheduler,
		"yarn.scheduler.configuration.store.class":                         store,
		"yarn.scheduler.configuration.fs.path":                             "file://" + y.path("store"),
		"yarn.resourcemanager.recovery.enabled":                            "true",
		"yarn.resourcemanager.store.class":                                 "org.apache.hadoop.yarn.server.resourcemanager.recovery.FileSystemRMStateStore",
		"yarn.resourcemanager.fs.state-store.uri":                          "file://" + y.path("state"),
		"yarn.resourcemanager.connect.retry-interval.ms":                   "500",
		"yarn.resourcemanager.nodemanagers.heartbeat-interval-ms":          "200",
		"yarn.nm.liveness-monitor.expiry-interval-ms":                      "600000",
		"yarn.client.nodemanager-connect.retry-interval-ms":                "500",
		"yarn.nodemanager.resource.memory-mb":                              strconv.Itoa(setup.Memory),
		"yarn.nodemanager.resource.cpu-vcores":                             strconv.Itoa(setup.Memory / 1024),
		"yarn.nodemanager.vmem-check-enabled":                              "false",
		"yarn.nodemanager.pmem-check-enabled":                              "false",
		"yarn.nodemanager.disk-health-checker.enable":                      "false",
		"yarn.nodemanager.recovery.enabled":                                "false",
		"yarn.am.liveness-monitor.expiry-interval-ms":                      "30000",
		"yarn.resourcemanager.work-preserving-recovery.enabled":            "true",
		"yarn.nodemanager.sleep-delay-before-sigkill.ms":                   "250",
		"yarn.resourcemanager.max-completed-applications":                  "10000",
		"yarn.resourcemanager.work-preserving-recovery.scheduling-wait-ms": "0",
	}
	y.write(t, "manager/core-site.xml", properties(map[string]string{"hadoop.tmp.dir": y.path("tmp"), "fs.defaultFS": "file:///"}))
	y.write(t, "manager/yarn-site.xml", properties(common))
	queues := map[string]string{"maximum-am-resource-percent": "1"}
	var names []string
	for name, share := range setup.Queues {
		names = append(names, name)
		queues["root."+name+".capacity"] = share
	}
	slices.Sort(names)
	queues["root.queues"] = strings.Join(names, ",")
	scheduler := map[string]string{}
	for name, value := range queues {
		scheduler["yarn.scheduler.capacity."+name] = value
	}
	y.write(t, "manager/capacity-scheduler.xml", properties(scheduler))
	if err := os.MkdirAll(y.path("store"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(y.end)
	y.Restart(t)
	for n := range setup.Nodes {
		own := fmt.Sprint("node", n)
		first := ports + 5 + 4*n
		common["yarn.nodemanager.hostname"] = "127.0.0.1"
		common["yarn.nodemanager.address"] = at(first)
		common["yarn.nodemanager.localizer.address"] = at(first + 1)
		common["yarn.nodemanager.webapp.address"] = at(first + 2)
		common["yarn.nodemanager.collector-service.address"] = at(first + 3)
		common["yarn.nodemanager.local-dirs"] = y.path(own + "-local")
		common["yarn.nodemanager.log-dirs"] = y.path(own + "-logs")
		y.write(t, own+"/core-site.xml", properties(map[string]string{"hadoop.tmp.dir": y.path(own + "-tmp"), "fs.defaultFS": "file:///"}))
		y.write(t, own+"/yarn-site.xml", properties(common))
		y.nodes = append(y.nodes, y.java(t, own, "org.apache.hadoop.yarn.server.nodemanager.NodeManager"))
	}
	y.awaitNodes(t)
	return y
}

// findJars returns where make test-engines put Hadoop.
func findJars(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	for ; err == nil && dir != "/"; dir = filepath.Dir(dir) {
		jars := filepath.Join(dir, "bin", "hadoop")
		if _, err := os.Stat(filepath.Join(jars, "App.class")); err == nil {
			return jars
		}
	}
	if os.Getenv("HEADROOM_ENGINES") != "" {
		t.Fatal("bin/hadoop is missing: make test-engines makes it")
	}
	t.Skip("bin/hadoop is missing: make test-engines makes it")
	return ""
}

// Kill ends the resource manager with SIGKILL.
func (y *Yarn) Kill() {
	_ = y.manager.Process.Kill()
	_ = y.manager.Wait()
}

// Restart starts the resource manager, and waits until it answers and has its nodes.
func (y *Yarn) Restart(t *testing.T) {
	t.Helper()
	y.manager = y.java(t, "manager", "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager")
	until(t, "the resource manager is active", func() bool {
		var info struct {
			ClusterInfo struct {
				HAState string `json:"haState"`
			} `json:"clusterInfo"`
		}
		return y.get("info", &info) && info.ClusterInfo.HAState == "ACTIVE"
	})
	y.awaitNodes(t)
}

func (y *Yarn) awaitNodes(t *testing.T) {
	t.Helper()
	until(t, "the nodes are there", func() bool {
		var all struct {
			ClusterMetrics struct {
				ActiveNodes int `json:"activeNodes"`
			} `json:"clusterMetrics"`
		}
		return y.get("metrics", &all) && all.ClusterMetrics.ActiveNodes == len(y.nodes)
	})
}

// Queue holds a queue's limits in per cent and in applications at once.
type Queue struct {
	Capacity, MaxCapacity float64
	MaxParallelApps       int64
	ResourcesUsed         struct{ Memory int64 } // in MB
}

// Queues returns the queues below root by their names.
func (y *Yarn) Queues(t *testing.T) map[string]Queue {
	t.Helper()
	var answer struct {
		Scheduler struct {
			SchedulerInfo struct {
				Queues struct {
					Queue []struct {
						QueueName string `json:"queueName"`
						Queue
					} `json:"queue"`
				} `json:"queues"`
			} `json:"schedulerInfo"`
		} `json:"scheduler"`
	}
	all := map[string]Queue{}
	if !y.get("scheduler", &answer) {
		return all // it is away
	}
	for _, q := range answer.Scheduler.SchedulerInfo.Queues.Queue {
		all[q.QueueName] = q.Queue
	}
	return all
}

// Set changes settings of a queue, as somebody else might.
func (y *Yarn) Set(t *testing.T, queue string, settings map[string]string) {
	t.Helper()
	entries := []map[string]string{}
	for key, value := range settings {
		entries = append(entries, map[string]string{"key": key, "value": value})
	}
	y.send(t, http.MethodPut, "scheduler-conf", map[string]any{"update-queue": []any{map[string]any{"queue-name": queue, "params": map[string]any{"entry": entries}}}}, nil)
}

// Submit submits an application that asks for containers of 1024 MB besides its own. It returns the application's id.
func (y *Yarn) Submit(t *testing.T, queue string, seconds, containers int) string {
	t.Helper()
	var made struct {
		ID string `json:"application-id"`
	}
	y.send(t, http.MethodPost, "apps/new-application", nil, &made)
	command := fmt.Sprintf("echo $(date +%%s%%3N) $$ launch %s >> %s; exec java -Xmx48m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp '%s:%s/*:%s' App %s %s %d %d 2> %s",
		queue, y.path("seen"), y.path("manager"), y.jars, y.jars, y.path("seen"), queue, seconds, containers, y.path(made.ID+".log"))
	y.send(t, http.MethodPost, "apps", map[string]any{
		"application-id": made.ID, "application-name": queue, "queue": "root." + queue, "application-type": "test", "max-app-attempts": 2,
		"resource": map[string]any{"memory": 1024, "vCores": 1}, "am-container-spec": map[string]any{"commands": map[string]string{"command": command}},
	}, nil)
	until(t, "the application is stored", func() bool { // before that a resource manager that is killed forgets it
		var answer struct {
			App App `json:"app"`
		}
		return y.get("apps/"+made.ID, &answer) && !strings.HasPrefix(answer.App.State, "NEW")
	})
	return made.ID
}

// App is an application as YARN lists it.
type App struct {
	ID, Queue, State, FinalStatus, Diagnostics string
	FinishedTime                               int64 // in milliseconds; 0 before
}

// Apps returns all applications.
func (y *Yarn) Apps(t *testing.T) []App {
	t.Helper()
	var answer struct {
		Apps struct {
			App []App `json:"app"`
		} `json:"apps"`
	}
	if !y.get("apps", &answer) {
		return nil
	}
	return answer.Apps.App
}

// Seen is a line that an application wrote at its launch, when it started, got containers or ended.
type Seen struct {
	At                   time.Time
	Process, What, Queue string
	Containers           int
}

// Seen returns what the applications wrote, in order.
func (y *Yarn) Seen(t *testing.T) (all []Seen) {
	t.Helper()
	text, err := os.ReadFile(y.path("seen"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		f := append(strings.Fields(line), "0")
		if len(f) < 5 {
			t.Fatalf("an application wrote %q", line)
		}
		ms, _ := strconv.ParseInt(f[0], 10, 64)
		n, _ := strconv.Atoi(f[4])
		all = append(all, Seen{time.UnixMilli(ms), f[1], f[2], f[3], n})
	}
	return all
}

// java starts a program with the settings of a directory.
func (y *Yarn) java(t *testing.T, conf, class string) *exec.Cmd {
	t.Helper()
	log, err := os.OpenFile(y.path(conf+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	y.write(t, conf+"/log4j.properties", "log4j.rootLogger=INFO,A\nlog4j.appender.A=org.apache.log4j.ConsoleAppender\n"+
		"log4j.appender.A.layout=org.apache.log4j.PatternLayout\nlog4j.appender.A.layout.ConversionPattern=%d %p %c{1}: %m%n\n")
	c := exec.Command("java", "-Xmx200m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "--add-opens=java.base/java.lang=ALL-UNNAMED",
		"-Dhadoop.log.dir="+y.path("tmp"), "-cp", y.path(conf)+":"+y.jars+"/*", class)
	c.Dir = y.dir
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// end ends everything, the nodes first: they end the applications. Of a test that failed it shows the logs.
func (y *Yarn) end() {
	for _, c := range append(y.nodes, y.manager) {
		if c == nil {
			continue
		}
		_ = c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait() // an error of one that was killed
	}
	if y.failed() {
		text, _ := os.ReadFile(y.path("manager.log"))
		fmt.Printf("the resource manager's log ends with\n%s\n", text[max(0, len(text)-3000):])
	}
}

func (y *Yarn) path(name string) string { return filepath.Join(y.dir, name) }

func (y *Yarn) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(y.path(name)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(y.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// get reads an answer, and reports whether there was one.
func (y *Yarn) get(what string, into any) bool {
	request, err := http.NewRequest(http.MethodGet, y.Address+"/ws/v1/cluster/"+what, nil)
	if err != nil {
		return false
	}
	request.Header.Set("Accept", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK && json.NewDecoder(response.Body).Decode(into) == nil
}

// send sends a document, as the user test, and reads the answer.
func (y *Yarn) send(t *testing.T, method, what string, document, into any) {
	t.Helper()
	body, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequest(method, y.Address+"/ws/v1/cluster/"+what+"?user.name=test", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode/100 != 2 {
		t.Fatalf("%s %s: %s %s %v", method, what, response.Status, text, err)
	}
	if into != nil {
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// properties writes settings as Hadoop reads them.
func properties(of map[string]string) string {
	text := "<configuration>\n"
	for name, value := range of {
		text += "<property><name>" + name + "</name><value>" + value + "</value></property>\n"
	}
	return text + "</configuration>\n"
}

func at(port int) string { return fmt.Sprint("127.0.0.1:", port) }

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for last := range await.Tries(patience) {
		if is() {
			return
		}
		if last {
			t.Fatalf("after %s it is not so that %s", patience, what)
		}
	}
}

// freePorts returns the first of so many free ports in a row, below those that the kernel gives out.
func freePorts(t *testing.T, n int) int {
	t.Helper()
	for first := 20000 + os.Getpid()%400*20; first < 32000; first += n {
		free := true
		for p := first; p < first+n && free; p++ {
			l, err := net.Listen("tcp", at(p))
			if free = err == nil; free {
				_ = l.Close()
			}
		}
		if free {
			return first
		}
	}
	t.Fatal("no ports are free")
	return 0
}
