// Command promises runs the tests of Headroom's promises under faults, load and attack. It prints one table: each
// promise, its stated figure, the figure reached now, and the test.
//
//	make promises                  # samples as in every run of the tests
//	HEADROOM_LONG=1 make promises  # the whole samples: about an hour, on a machine that does nothing else
//	make test-faults               # the whole samples of those about faults: half of that
//
// Arguments name the promises, all without any.
//
// A test shows a promise by setting its name and the figure reached with t.Attr:
//
//	t.Attr("R1", "1,000 kills, 23,114 acknowledged writes, 0 lost")
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// promise is a promise to users, with the figure of the whole sample.
type promise struct{ name, text, figure string }

var promises = []promise{
	{"R1", "no acknowledged write is lost, doubled or changed when the service is killed", "1,000 kills, 20,000 writes, 0 lost"},
	{"R2", "… nor when Postgres crashes", "200 crashes, 0 lost"},
	{"R3", "back in service after a crash", "1 s; 3 s with Postgres"},
	{"R4", "every plan has a certificate that an independent checker accepts", "10,000 random and every stored plan"},
	{"R5", "\"optimal\" is proved without CBC", "0 false in 100,000"},
	{"R6", "an infeasible answer names the conflict, confirmed without CBC", "0 false in 10,000"},
	{"R7", "order, units, more room and later deadlines make no plan worse", "0 of 5,000 pairs"},
	{"R8", "solvers killed, stopped, starved or late", "1,000 faults in 2,000 requests, 0 wrong answers"},
	{"R9", "history is append-only, and pages never change behind a cursor", "100 listings under writes, 0 misses"},
	{"R10", "an Idempotency-Key has one effect", "20 racing copies × 1,000 keys"},
	{"R11", "no update is lost", "8 writers, 0 lost"},
	{"R12", "polls are answered, marked stale, while the database is away", "p99 100 ms; ready 2 s after its return"},
	{"R13", "polls stay fast while solves wait", "p99 50 ms at 500 polls/s, 48 waiting"},
	{"R14", "malformed and extreme input is refused by name, never with a 5xx", "1,000,000 requests, 0 of 5xx, 1 s at most"},
	{"R15", "bombs and slow clients hurt nobody else", "4xx in 1 s, 64 MB; health p99 500 ms beside 400"},
	{"R16", "abandoned requests free their place", "a fresh solve in 1 s after 60"},
	{"R17", "full disk, connection limit, read-only database: refused whole, recovers", "20 cycles"},
	{"R18", "clock jumps break no order, lease or expiry", "with a clock of the test"},
	{"R19", "old program on new schema and new program on old schema", "each migration in both states"},
	{"R20", "a stop under load loses no accepted request", "100 stops, 10 s each"},
	{"R21", "nothing leaks", "10 minutes, flat"},
	{"R22", "a promoted standby takes over, without a lost write", "200 promotions, first write in 5 s, 0 lost"},
	{"S1", "a key sees and changes what its role and clusters allow", "every cell of role × route × cluster"},
	{"S2", "no secret and no inner detail in answers or logs", "0 found"},
	{"S3", "exports start no formula", "20 hostile names"},
	{"S4", "tokens are kept as hashes; bad ones are refused alike", "13 kinds"},
	{"S5", "browsers: links work once, cookies are strict, other origins are refused", "all"},
	{"S6", "the server opens no path and no address that nobody allowed", "20 forms refused"},
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "promises:", err)
		os.Exit(1)
	}
}

// shown is a test's result for a promise.
type shown struct {
	test, figure string
	passed       bool
}

func run(wanted []string) error {
	tests, err := find(".")
	if err != nil {
		return err
	}
	if len(wanted) > 0 {
		for _, name := range wanted {
			if !slices.ContainsFunc(promises, func(p promise) bool { return p.name == name }) {
				return fmt.Errorf("there is no promise %q", name)
			}
		}
		promises = slices.DeleteFunc(promises, func(p promise) bool { return !slices.Contains(wanted, p.name) })
	}
	maps.DeleteFunc(tests, func(name string, _ []place) bool { return len(wanted) > 0 && !slices.Contains(wanted, name) })
	results := map[string][]shown{}
	var missing []string
	for _, p := range promises {
		if len(tests[p.name]) == 0 {
			missing = append(missing, p.name)
		}
	}
	packages, names := map[string]bool{}, map[string]bool{}
	for _, of := range tests {
		for _, t := range of {
			packages["./"+filepath.ToSlash(filepath.Dir(t.file))] = true
			names[t.name] = true
		}
	}
	failed, err := runTests(sorted(packages), sorted(names), results)
	if err != nil {
		return err
	}
	print(results)
	switch {
	case len(failed) > 0:
		return fmt.Errorf("these tests failed: %s", strings.Join(failed, ", "))
	case len(missing) > 0:
		return fmt.Errorf("no test shows %s", strings.Join(missing, ", "))
	}
	return nil
}

func print(results map[string][]shown) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintln(w, "promise\tfigure promised\tfigure reached\ttest")
	for _, p := range promises {
		reached := results[p.name]
		if len(reached) == 0 {
			reached = []shown{{figure: "not shown"}}
		}
		for i, s := range reached {
			head := p.name + " " + p.text + "\t" + p.figure
			if i > 0 {
				head = "\t"
			}
			if s.test != "" && !s.passed {
				s.figure = "FAILED: " + s.figure
			}
			fmt.Fprintf(w, "%s\t%s\t%s\n", head, s.figure, s.test)
		}
	}
}

// place names a test that shows a promise, and its file.
type place struct{ name, file string }

var isPromise = regexp.MustCompile(`^[RS]\d+$`)

// find maps promises to the tests that show them. The tests themselves name their promises.
func find(root string) (map[string][]place, error) {
	found := map[string][]place{}
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (e.Name() == "node_modules" || e.Name() == "testdata" || strings.HasPrefix(e.Name(), ".") && name != root) {
			return filepath.SkipDir
		}
		if e.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			var wrong error
			ast.Inspect(f.Body, func(n ast.Node) bool {
				p, ok := attr(n)
				if !ok {
					return true
				}
				switch {
				case !strings.HasPrefix(f.Name.Name, "Test"):
					wrong = fmt.Errorf("%s: %s is shown by %s, which is no test", set.Position(n.Pos()), p, f.Name.Name)
				case !slices.ContainsFunc(promises, func(x promise) bool { return x.name == p }):
					wrong = fmt.Errorf("%s: there is no promise %s", set.Position(n.Pos()), p)
				case !slices.Contains(found[p], place{f.Name.Name, name}):
					found[p] = append(found[p], place{f.Name.Name, name})
				}
				return true
			})
			if wrong != nil {
				return wrong
			}
		}
		return nil
	})
	return found, err
}

// attr returns the promise that a call of t.Attr names.
func attr(n ast.Node) (string, bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 2 {
		return "", false
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || method.Sel.Name != "Attr" {
		return "", false
	}
	word, ok := call.Args[0].(*ast.BasicLit)
	if !ok {
		return "", false
	}
	name, err := strconv.Unquote(word.Value)
	return name, err == nil && isPromise.MatchString(name)
}

// event is a line of go test -json.
type event struct{ Action, Package, Test, Key, Value, Output string }

func (e event) test() string {
	return strings.TrimPrefix(e.Package, "example.org/headroom/") + "." + e.Test
}

// runTests runs tests and records their results. Whole samples run package after package, so that the figures are of
// a machine without other work.
func runTests(packages, names []string, results map[string][]shown) (failed []string, err error) {
	args := []string{"test", "-json", "-count=1", "-timeout=50m", "-run", "^(" + strings.Join(names, "|") + ")$"}
	if os.Getenv("HEADROOM_LONG") != "" {
		args = append(args, "-p=1")
	}
	c := exec.Command("go", append(args, packages...)...)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	// An interrupt reaches the tests as well, which end by themselves.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)

	events := make(chan event)
	var broken error
	go func() {
		defer close(events)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var e event
			if json.Unmarshal(lines.Bytes(), &e) == nil {
				events <- e
			}
		}
		broken = lines.Err()
	}()
	p := progress{began: time.Now(), of: len(names), running: map[string]bool{}, ended: map[string]string{}}
	everyMinute := time.NewTicker(time.Minute)
	defer everyMinute.Stop()
	for more := true; more; {
		var e event
		select {
		case <-everyMinute.C:
			p.tell("at work: %s", cmp.Or(strings.Join(sorted(p.running), ", "), "the next package is built"))
			continue
		case e, more = <-events:
		}
		switch {
		case e.Action == "attr" && isPromise.MatchString(e.Key):
			results[e.Key] = append(results[e.Key], shown{test: e.test(), figure: e.Value})
		case e.Action == "fail" || e.Action == "build-fail":
			failed = append(failed, e.test())
		case e.Action == "output" && strings.Contains(e.Output, "_test.go:"):
			p.tell("%s%s", e.test(), strings.TrimRight(e.Output, "\n"))
		}
		p.note(e)
	}
	for _, of := range results {
		for i := range of {
			of[i].passed = p.ended[of[i].test] == "pass"
		}
	}
	if err := c.Wait(); err != nil && len(failed) == 0 {
		return nil, err
	}
	return failed, broken
}

// progress shows the progress of the tests.
type progress struct {
	began   time.Time
	of      int
	running map[string]bool
	ended   map[string]string // by result
}

func (p *progress) tell(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "%6.0f s  "+format+"\n", append([]any{time.Since(p.began).Seconds()}, values...)...)
}

func (p *progress) note(e event) {
	if e.Test == "" || strings.Contains(e.Test, "/") {
		return
	}
	switch e.Action {
	case "run", "cont":
		p.running[e.test()] = true
	case "pause":
		delete(p.running, e.test())
	case "pass", "fail", "skip":
		delete(p.running, e.test())
		p.ended[e.test()] = e.Action
		p.tell("%d of %d: %s %s", len(p.ended), p.of, e.test(), e.Action)
	}
}

func sorted(set map[string]bool) []string {
	var all []string
	for k := range set {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}
