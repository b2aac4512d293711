package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/test/historytest"
)

// found collects the results of an import.
type found struct {
	executions []*history.Execution
	refused    []history.Refusal
}

func (f *found) sink() history.Sink {
	return history.Sink{
		Execution: func(e *history.Execution) error { f.executions = append(f.executions, e); return nil },
		Refused:   func(r history.Refusal) error { f.refused = append(f.refused, r); return nil },
	}
}

func (f *found) ids() (all []string) {
	for _, e := range f.executions {
		all = append(all, e.ID)
	}
	return all
}

// refusedAs checks the refusals, in their order.
func (f *found) refusedAs(t *testing.T, want ...string) {
	t.Helper()
	if len(f.refused) != len(want) {
		t.Errorf("%d refusals, want %d: %q", len(f.refused), len(want), f.refused)
		return
	}
	for i, r := range f.refused {
		if !strings.Contains(r.Error(), want[i]) {
			t.Errorf("%q, want %q", r.Error(), want[i])
		}
	}
}

// serving returns the address of a handler, and a client that may reach it.
func serving(t testing.TB, h http.Handler) (string, *Client) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.ParseInt(u.Port(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return s.URL, New(Config{HostOf: list(machine(port)), Pause: time.Millisecond, Stall: 2 * time.Second})
}

// fetched returns all of an import that goes well.
func fetched(t testing.TB, c *Client, address string, q HistoryQuery) *found {
	t.Helper()
	var f found
	if err := c.History(t.Context(), address, q, f.sink()); err != nil {
		t.Fatal(err)
	}
	return &f
}

// fromFiles reads the same executions from files.
func fromFiles(t testing.TB, texts []string) *found {
	t.Helper()
	var f found
	for _, text := range texts {
		if err := history.Read(strings.NewReader(text), history.Options{}, f.sink()); err != nil {
			t.Fatal(err)
		}
	}
	return &f
}

// sameTaken checks that two imports give the same profiles.
func sameTaken(t *testing.T, got, want *found) {
	t.Helper()
	if !slices.Equal(got.ids(), want.ids()) {
		t.Fatalf("executions %v, want %v", got.ids(), want.ids())
	}
	for i, e := range got.executions {
		w := want.executions[i]
		if e.Name != w.Name || e.User != w.User || e.Queue != w.Queue || e.Outcome != w.Outcome || e.Submitted != w.Submitted || e.Finished != w.Finished {
			t.Errorf("%s: %+v, want %+v", e.ID, e, w)
		}
		if len(w.Stages) == 0 && w.Outcome == history.Succeeded {
			g, errG := history.Take(e)
			f, errF := history.Take(w)
			if errG != nil || errF != nil || !reflect.DeepEqual(g, f) {
				t.Errorf("%s:\n%+v (%v), of the file\n%+v (%v)", e.ID, g, errG, f, errF)
			}
			continue
		}
		g, errG := history.TakeChain(e)
		f, errF := history.TakeChain(w)
		if (errG == nil) != (errF == nil) {
			t.Errorf("%s: %v, of the file %v", e.ID, errG, errF)
			continue
		}
		for n := range f.Phases { // the server does not say
			f.Phases[n].After, f.Notes = []int{}, g.Notes
		}
		if errG == nil && !reflect.DeepEqual(g, f) {
			t.Errorf("%s:\n%+v, of the file\n%+v", e.ID, g, f)
		}
	}
}

func TestHistoryServersAreImportedWhole(t *testing.T) {
	jobs, apps := historytest.Jobs(1, 60), historytest.Apps(1, 25, 40)
	apps = append(apps, historytest.Apps(2, 1, 2*taskPage)...) // more than a page of tasks
	apps[25].ID = "app-large"
	apps[25].Started += 100 * 3_600_000
	apps[25].Finished += 100 * 3_600_000
	historytest.Staff(1, apps)
	var logs, files []string
	for _, j := range jobs {
		files = append(files, j.JHist())
	}
	for _, a := range apps {
		logs = append(logs, a.EventLog())
	}
	s := &historytest.Server{Jobs: jobs, Apps: apps}
	at, c := serving(t, s)
	for _, kind := range []struct {
		name  HistoryKind
		path  string
		files []string
	}{{HistoryMapReduce, "", files}, {HistoryAuto, "/ws/v1/history/mapreduce/jobs", files}, {HistoryAuto, "/jobhistory/", files}, {HistoryAuto, "/", files}, {HistorySpark, "/", logs}, {HistoryAuto, "/api/v1/applications", logs}} {
		var last, total int64
		got := fetched(t, c, at+kind.path, HistoryQuery{Kind: kind.name, Progress: func(done, of int64, unit string) {
			if done < last || unit != "executions" {
				t.Errorf("%d after %d %s", done, last, unit)
			}
			last, total = done, of
		}})
		got.refusedAs(t)
		sameTaken(t, got, fromFiles(t, kind.files))
		if n := int64(len(kind.files)); last != n || total != n {
			t.Errorf("%d of %d were told, there are %d", last, total, n)
		}
	}
	if highest := s.Most.Load(); highest > atOnce || highest < 2 {
		t.Errorf("%d requests at once", highest)
	}
	// A server of Spark's kind alone.
	only, c := serving(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/ws") {
			http.NotFound(w, r)
			return
		}
		s.ServeHTTP(w, r)
	}))
	sameTaken(t, fetched(t, c, only, HistoryQuery{Kind: HistoryAuto}), fromFiles(t, logs))
}

func TestFilesOfHistoriesAreFetched(t *testing.T) {
	jobs := historytest.Jobs(3, 3)
	at, c := serving(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, jobs[0].JHist())
	}))
	for _, address := range []string{at + "/done/job_1.jhist", at + "/?file=7"} {
		var done int64
		f := fetched(t, c, address, HistoryQuery{Kind: HistoryAuto, Progress: func(n, _ int64, unit string) { done = n }})
		if len(f.executions) != 1 || f.executions[0].ID != jobs[0].ID || done != int64(len(jobs[0].JHist())) {
			t.Errorf("%v, %d bytes", f.ids(), done)
		}
	}
	for _, q := range []HistoryQuery{{User: "eve"}, {Queue: "x"}, {Job: "x"}, {From: time.Now()}, {Until: time.UnixMilli(1000)}} {
		q.Kind = HistoryFile
		if f := fetched(t, c, at, q); len(f.executions) != 0 {
			t.Errorf("%+v: %v", q, f.ids())
		}
	}
	var f found
	if err := c.History(t.Context(), at, HistoryQuery{Kind: HistoryFile, MaxBytes: 100}, f.sink()); err != nil {
		t.Error(err)
	}
	f.refusedAs(t, "It is more than 100 bytes when it is unpacked", "There is no job in this history")
}

func TestWhatIsAskedFor(t *testing.T) {
	s := &historytest.Server{Jobs: historytest.Jobs(4, 40), Apps: historytest.Apps(4, 20, 10)}
	at, c := serving(t, s)
	moment := func(i int) time.Time { return time.UnixMilli(s.Jobs[i].Started) }
	ids := func(which func(i int, j historytest.Job) bool) (all []string) {
		for i, j := range s.Jobs {
			if which(i, j) {
				all = append(all, j.ID)
			}
		}
		return all
	}
	for name, check := range map[string]struct {
		q    HistoryQuery
		want []string
	}{
		"a user":    {HistoryQuery{User: "ann"}, ids(func(_ int, j historytest.Job) bool { return j.User == "ann" })},
		"a queue":   {HistoryQuery{Queue: "test"}, ids(func(_ int, j historytest.Job) bool { return j.Queue == "test" })},
		"a job":     {HistoryQuery{Job: "nightly 1"}, ids(func(_ int, j historytest.Job) bool { return j.Name == "nightly 1" })},
		"a time":    {HistoryQuery{From: moment(5), Until: moment(9)}, ids(func(i int, _ historytest.Job) bool { return i >= 5 && i < 9 })},
		"newest":    {HistoryQuery{Limit: 3}, ids(func(i int, _ historytest.Job) bool { return i >= 37 })},
		"no moment": {HistoryQuery{From: moment(9), Until: moment(9)}, nil},
		"unknown": {HistoryQuery{Limit: 10, Known: func(_ context.Context, ids []string) (map[string]bool, error) {
			return map[string]bool{ids[0]: true, ids[9]: true}, nil
		}}, ids(func(i int, _ historytest.Job) bool { return i > 30 && i < 39 })},
	} {
		check.q.Kind = HistoryMapReduce
		if got := fetched(t, c, at, check.q).ids(); !slices.Equal(got, check.want) {
			t.Errorf("%s: %v, want %v", name, got, check.want)
		}
	}
	s.Apps[1].Class, s.Apps[6].Class = "nightly", "etl 1" // which stands in place of the name
	f := fetched(t, c, at, HistoryQuery{Kind: HistorySpark, Job: "etl 1", User: "bob", From: time.UnixMilli(s.Apps[3].Started), Until: time.UnixMilli(s.Apps[7].Started)})
	if want := []string{s.Apps[3].ID + "_1", s.Apps[5].ID, s.Apps[6].ID + "_1"}; !slices.Equal(f.ids(), want) {
		t.Errorf("%v, want %v", f.ids(), want)
	}
	for why, q := range map[string]HistoryQuery{
		"leave the queue out": {Kind: HistorySpark, Queue: "q"}, "leave the limit out": {Kind: HistoryFile, Limit: 1}, "is no kind of history": {Kind: "hive"},
	} {
		var f found
		refusedWith(t, why, c.History(t.Context(), at, q, f.sink()), why)
	}
	var none found
	refusedWith(t, "a question mark", c.History(t.Context(), at+"/api/v1?x=1", HistoryQuery{Kind: HistoryAuto}, none.sink()), "ends before the question mark")
	requests := s.Asked.Load()
	boom := errors.New("boom")
	if err := c.History(t.Context(), at, HistoryQuery{Kind: HistorySpark, Known: func(context.Context, []string) (map[string]bool, error) { return nil, boom }}, none.sink()); !errors.Is(err, boom) || s.Asked.Load() != requests+1 {
		t.Errorf("%v after %d requests", err, s.Asked.Load()-requests)
	}
	stop := none.sink()
	stop.Execution = func(*history.Execution) error { return boom }
	if err := c.History(t.Context(), at, HistoryQuery{Kind: HistoryMapReduce}, stop); !errors.Is(err, boom) {
		t.Errorf("what the sink says: %v", err)
	}
}

// Lists longer than one answer are found whole, in any order of the server.
func TestLongListsAreFoundWhole(t *testing.T) {
	jobs := historytest.Jobs(5, 5*listPage)
	for i := range jobs {
		jobs[i].Tasks = nil
		if i%1000 < 300 { // many at once
			jobs[i].Started = jobs[i/1000*1000].Started
		}
	}
	newestFirst := slices.Clone(jobs)
	slices.Reverse(newestFirst)
	for name, jobs := range map[string][]historytest.Job{"oldest first": jobs, "newest first": newestFirst} {
		s := &historytest.Server{Jobs: jobs}
		at, c := serving(t, s)
		var known sync.Map
		f := fetched(t, c, at, HistoryQuery{Kind: HistoryMapReduce, Known: func(_ context.Context, ids []string) (map[string]bool, error) {
			all := map[string]bool{}
			for _, id := range ids {
				if _, twice := known.LoadOrStore(id, true); twice {
					t.Errorf("%s is there twice", id)
				}
				all[id] = true
			}
			return all, nil
		}})
		f.refusedAs(t)
		n := 0
		known.Range(func(any, any) bool { n++; return true })
		if n != len(jobs) || s.Asked.Load() > 40 {
			t.Errorf("%s: %d of %d were found with %d requests", name, n, len(jobs), s.Asked.Load())
		}
	}
	// More than a page of them in one millisecond.
	for i := range jobs {
		jobs[i].Started = jobs[0].Started
	}
	at, c := serving(t, &historytest.Server{Jobs: jobs})
	n := 0
	fetched(t, c, at, HistoryQuery{Kind: HistoryMapReduce, Known: func(_ context.Context, ids []string) (map[string]bool, error) {
		n += len(ids)
		return everything(ids), nil
	}})
	if n != len(jobs) {
		t.Errorf("%d of %d were found", n, len(jobs))
	}
}

func everything(ids []string) map[string]bool {
	all := map[string]bool{}
	for _, id := range ids {
		all[id] = true
	}
	return all
}

// A server that fails now and then, or is slow, is asked again. A request that never succeeds costs one execution.
func TestServersThatFail(t *testing.T) {
	jobs := historytest.Jobs(6, 20)
	var files []string
	for _, j := range jobs {
		files = append(files, j.JHist())
	}
	var mu sync.Mutex
	requests := map[string]int{}
	first := func(r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		requests[r.URL.String()]++
		return requests[r.URL.String()] == 1
	}
	s := &historytest.Server{Jobs: jobs, First: func(w http.ResponseWriter, r *http.Request) bool {
		if !first(r) {
			return false
		}
		switch len(r.URL.Path) % 4 {
		case 0:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 1:
			w.WriteHeader(http.StatusTooManyRequests)
		case 2: // in the middle of an answer
			fmt.Fprint(w, `{"jobs":{"job":[`)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		default:
			return false
		}
		return true
	}}
	at, c := serving(t, s)
	got := fetched(t, c, at, HistoryQuery{Kind: HistoryMapReduce})
	got.refusedAs(t)
	sameTaken(t, got, fromFiles(t, files))

	elsewhere, strangers := receiver(t, nil)
	s.First = func(w http.ResponseWriter, r *http.Request) bool {
		path := r.URL.Path
		switch {
		case strings.HasSuffix(path, jobs[1].ID):
			http.NotFound(w, r)
		case strings.HasSuffix(path, jobs[3].ID+"/tasks"):
			w.WriteHeader(http.StatusInternalServerError)
		case strings.Contains(path, jobs[5].ID+"/"):
			fmt.Fprint(w, `{"tasks":{"task":[{"id":"task_1`)
		case strings.HasSuffix(path, jobs[7].ID):
			fmt.Fprint(w, `{"job":{"id":"job_of_others"}}`)
		case strings.HasSuffix(path, jobs[8].ID):
			http.Redirect(w, r, fmt.Sprintf("http://127.0.0.1:%d/", elsewhere), http.StatusFound)
		case strings.HasSuffix(path, jobs[9].ID):
			fmt.Fprint(w, "<html>Sign in</html>")
		case strings.HasSuffix(path, jobs[10].ID+"/tasks"):
			fmt.Fprint(w, `{"tasks":{"task":[{"id":"../../../../x"},{"id":"?"},{"id":"t"}]}}`)
		case strings.HasSuffix(path, jobs[11].ID+"/tasks"):
			fmt.Fprint(w, `{"tasks":{"task":[`+strings.TrimSuffix(strings.Repeat(`{"id":"t"},`, maxTasks+1), ",")+`]}}`)
		default:
			return false
		}
		return true
	}
	got = fetched(t, c, at, HistoryQuery{Kind: HistoryMapReduce})
	got.refusedAs(t,
		jobs[1].ID+": 127.0.0.1:"+at[strings.LastIndexByte(at, ':')+1:]+" answers 404",
		jobs[3].ID+": 127.0.0.1", jobs[5].ID+": the list of tasks: The server's answer is not what it should be", jobs[7].ID+": The server answers with the job job_of_others",
		jobs[8].ID+": 127.0.0.1", jobs[9].ID+": the job: The server's answer", jobs[10].ID+": 127.0.0.1", jobs[11].ID+": It has 100001 tasks")
	if len(got.executions) != 12 || strangers.Load() != 0 {
		t.Errorf("%d executions, %d requests elsewhere", len(got.executions), strangers.Load())
	}
	// A server that goes away ends the import, and the executions fetched by then are kept.
	s.First = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, jobs[9].ID) || strings.Contains(r.URL.Path, "_001") {
			w.WriteHeader(http.StatusBadGateway)
			return true
		}
		return false
	}
	var some found
	var own *Error
	if err := c.History(t.Context(), at, HistoryQuery{Kind: HistoryMapReduce}, some.sink()); !errors.As(err, &own) || own.Final || len(some.executions) != 9 {
		t.Errorf("%v after %d executions", err, len(some.executions))
	}
	ending, end := context.WithCancel(t.Context())
	s.First = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, jobs[9].ID) {
			end()
			<-r.Context().Done()
		}
		return false
	}
	if err := c.History(ending, at, HistoryQuery{Kind: HistoryMapReduce}, some.sink()); !errors.Is(err, context.Canceled) {
		t.Errorf("ended by the caller: %v", err)
	}
}

// The import soon leaves servers with absurd answers.
func TestServersThatAreAbsurd(t *testing.T) {
	jobs := historytest.Jobs(7, 2*listPage)
	for i := range jobs {
		jobs[i].Tasks = nil
	}
	apps := historytest.Apps(7, 3, 4*taskPage)
	var requests atomic.Int64
	same := func(s *historytest.Server, without ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			q := r.URL.Query()
			for _, name := range without {
				q.Del(name)
			}
			r.URL.RawQuery = q.Encode()
			s.ServeHTTP(w, r)
		}
	}
	// The same answer for any time range.
	at, c := serving(t, same(&historytest.Server{Jobs: jobs}, "startedTimeBegin", "startedTimeEnd"))
	f := fetched(t, c, at, HistoryQuery{Kind: HistoryMapReduce, Known: func(_ context.Context, ids []string) (map[string]bool, error) { return everything(ids), nil }})
	f.refusedAs(t, "executions of other times than it is asked for")
	if requests.Load() > 4 {
		t.Errorf("%d requests", requests.Load())
	}
	// The first tasks for any range of tasks.
	requests.Store(0)
	at, c = serving(t, same(&historytest.Server{Apps: apps}, "offset"))
	f = fetched(t, c, at, HistoryQuery{Kind: HistorySpark})
	if len(f.executions) != 0 || len(f.refused) != 3 || !strings.Contains(f.refused[0].Detail, "the same tasks again and again") || requests.Load() > 60 {
		t.Errorf("%v %v, %d requests", f.ids(), f.refused, requests.Load())
	}
	// A list without an end, different each time.
	var n atomic.Int64
	at, c = serving(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.ParseInt(r.FormValue("startedTimeBegin"), 10, 64)
		until, _ := strconv.ParseInt(r.FormValue("startedTimeEnd"), 10, 64)
		limit, _ := strconv.Atoi(r.FormValue("limit"))
		var all []string
		for i := range limit {
			all = append(all, fmt.Sprintf(`{"id":"job_%d","startTime":%d}`, n.Add(1), from+(until-from)/int64(limit)*int64(i)))
		}
		fmt.Fprintf(w, `{"jobs":{"job":[%s]}}`, strings.Join(all, ","))
	}))
	var none found
	err := c.History(t.Context(), at, HistoryQuery{Kind: HistoryMapReduce}, none.sink())
	if err == nil || !strings.Contains(err.Error(), "narrow from and until") || len(none.executions) != 0 {
		t.Errorf("a list without an end: %v", err)
	}
	for name, body := range map[string]func(http.ResponseWriter, *http.Request){
		"a page":         func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<!doctype html>") },
		"nothing":        func(http.ResponseWriter, *http.Request) {},
		"half an answer": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"jobs":{"job":[{"id":"`) },
		"no end": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, `{"jobs":{"job":[{"id":"`)
			for chunk := strings.Repeat("x", 1<<20); r.Context().Err() == nil; {
				if _, err := fmt.Fprint(w, chunk); err != nil {
					return
				}
			}
		},
		"another place": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://localhost:1/", http.StatusFound)
		},
	} {
		at, c := serving(t, http.HandlerFunc(body))
		var own *Error
		if err := c.History(t.Context(), at, HistoryQuery{Kind: HistoryMapReduce}, none.sink()); !errors.As(err, &own) || !own.Final {
			t.Errorf("%s: %v", name, err)
		}
		if err := c.History(t.Context(), at, HistoryQuery{Kind: HistoryAuto}, none.sink()); !errors.As(err, &own) || !own.Final {
			t.Errorf("%s, by itself: %v", name, err)
		}
	}
	silent, c := serving(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	c.config.Stall = 50 * time.Millisecond
	var own *Error
	if err := c.History(t.Context(), silent, HistoryQuery{Kind: HistoryMapReduce}, none.sink()); !errors.As(err, &own) || own.Final || !strings.Contains(own.Sentence, "did not answer within") {
		t.Errorf("silence: %v", err)
	}
}
