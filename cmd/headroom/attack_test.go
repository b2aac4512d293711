package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// memory returns the bytes of a process in the machine's memory.
func memory(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}

// growth follows how far a process's memory grows until it is asked.
func growth(t *testing.T, pid int) (most func() int64) {
	before := memory(t, pid)
	over, found := make(chan struct{}), make(chan int64)
	go func() {
		highest := before
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				highest = max(highest, memory(t, pid))
			case <-over:
				found <- highest - before
				return
			}
		}
	}()
	return func() int64 { close(over); return <-found }
}

// bomb is a request that is small where it is made and would be large where it is read.
type bomb struct {
	name, method, path, token string
	body                      io.Reader
	length                    int64 // that is announced; 0 is that of body, -1 is none
	headers                   []string
	reported                  bool // the refusal stands in a report of what was read
}

func bombs(key string) []bomb {
	const at = "/v1/clusters/demo"
	text := func(parts ...string) io.Reader { return strings.NewReader(strings.Join(parts, "")) }
	const pieces = 64 // of which either kind of file may consist
	zeros := func() []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = io.CopyN(z, zero{}, 1<<30/pieces)
		_ = z.Close()
		return bytes.Repeat(b.Bytes(), pieces)
	}()
	zstandard := func() []byte {
		var b bytes.Buffer
		z, _ := zstd.NewWriter(&b)
		_, _ = io.CopyN(z, zero{}, 1<<30/pieces)
		_ = z.Close()
		return bytes.Repeat(b.Bytes(), pieces)
	}()
	var members strings.Builder
	for i := range 400_000 {
		fmt.Fprintf(&members, `"m%d":0,`, i)
	}
	digits := strings.Repeat("7", 4<<20)
	all := []bomb{
		{name: "1 GiB in gzip to a solve", path: "/v1/solve", body: bytes.NewReader(zeros), headers: []string{"Content-Encoding", "gzip"}},
		{name: "1 GiB in gzip as prices", path: at + "/price-imports", body: bytes.NewReader(zeros), headers: []string{"Content-Encoding", "gzip", "Content-Type", "text/csv"}},
		{name: "1 GiB in gzip as a history", path: at + "/history-imports", body: bytes.NewReader(zeros), headers: []string{"Content-Type", "application/gzip"}, reported: true},
		{name: "1 GiB in zstd as a history", path: at + "/history-imports", body: bytes.NewReader(zstandard), headers: []string{"Content-Type", "application/zstd"}, reported: true},
		{name: "2 million brackets", path: "/v1/solve", body: text(strings.Repeat("[", 2<<20))},
		{name: "2 million objects", path: at + "/classes", body: text(strings.Repeat(`{"a":`, 40<<10))},
		{name: "a text of 7 MiB", path: "/v1/solve", body: text(`{"name":"`, strings.Repeat("x", 7<<20), `"}`)},
		{name: "a text of 3 million escapes", path: "/v1/solve", body: text(`{"name":"`, strings.Repeat(`\"`, 3<<20), `"}`)},
		{name: "a text of a million surrogates", path: "/v1/solve", body: text(`{"name":"`, strings.Repeat(`\ud800`, 1<<20), `"}`)},
		{name: "400,000 members", path: "/v1/solve", body: text(`{`, members.String(), `"x":0}`)},
		{name: "400,000 members of a document", method: "PUT", path: at + "/document", body: text(`{`, members.String(), `"x":0}`), headers: []string{"If-Match", `"1"`}},
		{name: "a number of 4 million digits", path: "/v1/solve", body: text(`{"classes":[{"penalty":`, digits, `}]}`)},
		{name: "a number of 4 million digits in a document", method: "PUT", path: at + "/document", body: text(`{"options":{"max_gap":`, digits, `}}`), headers: []string{"If-Match", `"1"`}},
		{name: "a number with a huge exponent", path: "/v1/solve", body: text(`{"classes":[{"penalty":1e999999999,"deadline_s":1e-999999999}]}`)},
		{name: "an amount with a huge exponent", path: at + "/prices", body: text(`{"vm_type":"x","price":"1e999999999","from":"2020-01-01T00:00:00Z"}`)},
		{name: "the names of 300,000 classes", path: "/v1/solve", body: text(`{"classes":[`, strings.Repeat(`{"name":"x"},`, 300_000), `{}]}`)},
		{name: "2 million values", path: "/v1/horizons", body: text(`{"x":[`, strings.Repeat("0,", 2<<20), `0]}`)},
		{name: "8 GiB announced", path: "/v1/solve", body: text("{"), length: 8 << 30},
		{name: "8 GiB announced without a key", path: "/v1/solve", token: "none", body: text("{"), length: 8 << 30},
		{name: "9 MiB that are not announced", path: "/v1/solve", body: io.LimitReader(zero{}, 9<<20), length: -1},
		{name: "a sign-in of 9 MiB", path: "/v1/session", token: "none", body: io.LimitReader(zero{}, 9<<20), length: -1},
		{name: "a cell of 60 MiB in a forecast", method: "PUT", path: at + "/forecasts", body: io.MultiReader(text("class,hour,jobs\n\""), io.LimitReader(letters{}, 60<<20)), length: 60 << 20, headers: []string{"Content-Type", "text/csv"}},
		{name: "a line of 60 MiB in a forecast", method: "PUT", path: at + "/forecasts", body: io.MultiReader(text("class,hour,jobs\n"), io.LimitReader(letters{}, 60<<20)), length: -1, headers: []string{"Content-Type", "text/csv"}},
		{name: "5 million columns in a forecast", method: "PUT", path: at + "/forecasts", body: text("class,hour,jobs\n", strings.Repeat(",", 5<<20)), headers: []string{"Content-Type", "text/csv"}},
		{name: "a million columns in a history", path: at + "/history-imports", body: text("job,execution,task,kind,start,finish,duration_s,shuffle_s,outcome,host\n", strings.Repeat(",", 1<<20)), headers: []string{"Content-Type", "text/csv"}, reported: true},
		{name: "a million columns in prices", path: at + "/price-imports", body: text("name,memory\n", strings.Repeat(",", 1<<20)), headers: []string{"Content-Type", "text/csv"}},
		{name: "a week of 7 million numbers", path: at + "/forecasts/weekly", body: text(`{"class":"x","week":"`, strings.Repeat(",", 7<<20), `"}`)},
		{name: "a line of 60 MiB in a history", path: at + "/history-imports", body: io.MultiReader(text("job,execution,task,kind,start,finish,duration_s,shuffle_s,outcome,host\n"), io.LimitReader(letters{}, 60<<20)), length: -1, headers: []string{"Content-Type", "text/csv"}, reported: true},
		{name: "a header of 20 KiB", path: "/v1/solve", body: text("{}"), headers: []string{"X-Padding", strings.Repeat("x", 20<<10)}},
		{name: "an address of 20 KiB", path: "/v1/clusters?" + strings.Repeat("x", 20<<10), method: "GET"},
		{name: "an address of 3,000 parameters", path: "/v1/clusters?" + strings.Repeat("a&", 3000), method: "GET"},
	}
	for i := range all {
		if all[i].token == "" {
			all[i].token = key
		}
		if all[i].method == "" {
			all[i].method = "POST"
		}
	}
	return all
}

type (
	zero    struct{}
	letters struct{}
)

func (zero) Read(p []byte) (int, error) { clear(p); return len(p), nil }
func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// send writes the head of a request and of its body as much as is taken while no answer comes. It gives
// the status, and when the answer came.
func (b bomb) send(address string) (status int, took time.Duration, err error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return 0, 0, err
	}
	defer conn.Close()
	var head strings.Builder
	fmt.Fprintf(&head, "%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n", b.method, b.path, address, b.token)
	for i := 0; i < len(b.headers); i += 2 {
		fmt.Fprintf(&head, "%s: %s\r\n", b.headers[i], b.headers[i+1])
	}
	if !slices.Contains(b.headers, "Content-Type") {
		head.WriteString("Content-Type: application/json\r\n")
	}
	body := b.body
	switch {
	case b.length > 0:
		fmt.Fprintf(&head, "Content-Length: %d\r\n", b.length)
	case b.length < 0:
		head.WriteString("Transfer-Encoding: chunked\r\n")
	case body != nil:
		fmt.Fprintf(&head, "Content-Length: %d\r\n", body.(interface{ Len() int }).Len())
	}
	began := time.Now()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.WriteString(conn, head.String()+"\r\n")
		if body == nil {
			return
		}
		piece := make([]byte, 64<<10)
		for {
			n, err := body.Read(piece)
			text := piece[:n]
			if b.length < 0 {
				text = fmt.Appendf(nil, "%x\r\n%s\r\n", n, text)
			}
			if _, failed := conn.Write(text); failed != nil || err != nil {
				return
			}
		}
	}()
	_ = conn.SetReadDeadline(began.Add(patience(20 * time.Second)))
	var first [12]byte
	_, err = io.ReadFull(conn, first[:])
	took = time.Since(began)
	conn.Close()
	<-sent
	if err != nil {
		return 0, took, err
	}
	status, err = strconv.Atoi(string(first[9:]))
	return status, took, err
}

// Bodies that would be large once they are read are refused within a second, and cost little memory (R15).
func TestBombsOnAServer(t *testing.T) {
	s := startServing(t, madeDirectory(t), "--demo=still")
	all := bombs(s.key(t))
	s.get(t, "/v1/clusters/demo/document")
	before := memory(t, s.Process.Pid)
	slowest, most, told := time.Duration(0), int64(0), 0
	for _, b := range all {
		grown := growth(t, s.Process.Pid)
		status, took, err := b.send(s.address)
		if again, whole := b.body.(io.Seeker); took > time.Second && whole { // the machine may have had other work
			_, _ = again.Seek(0, io.SeekStart)
			status, took, err = b.send(s.address)
		}
		more := grown()
		t.Logf("%s: %d after %v, %d MiB", b.name, status, took, more>>20)
		if err != nil || (status < 400 || status > 499) && !(b.reported && status == http.StatusOK) {
			t.Errorf("%s: got %d, %v", b.name, status, err)
		}
		if _, whole := b.body.(io.Seeker); took > patience(time.Second) && whole || took > patience(5*time.Second) { // what is made as it is sent takes its own time
			t.Errorf("%s: refused after %v", b.name, took)
		}
		if more > 64<<20 {
			t.Errorf("%s: the server's memory grew by %d MiB", b.name, more>>20)
		}
		slowest, most = max(slowest, took), max(most, more)
		if status == http.StatusOK {
			told++
		}
	}
	left := memory(t, s.Process.Pid) - before // what the runtime has not given back yet
	if left > 256<<20 {
		t.Errorf("after all of them the server has %d MiB more", left>>20)
	}
	t.Attr("R15", fmt.Sprintf("%d bombs refused with 4xx and %d in a report, the slowest after %v; one takes at most %d MiB, all of them one after the other left %d MiB", len(all)-told, told, slowest.Round(time.Millisecond), most>>20, left>>20))
}

// slow is a client that takes or gives a byte from time to time, and comes again when it is cut off.
type slow struct {
	name    string
	request func(n int) []byte
	gives   bool          // bytes after the request; else it takes them
	turns   chan struct{} // who has begun to be answered lets the next one ask; nil is no order
}

func (c slow) run(address string, n int, there *atomic.Int64, over <-chan struct{}) (cut int) {
	for first := true; ; first = false {
		if c.turns != nil {
			c.turns <- struct{}{}
		}
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return -1
		}
		if !c.gives {
			_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
		}
		_, _ = conn.Write(c.request(n))
		if c.turns != nil {
			_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
			_, err = conn.Read(make([]byte, 1))
			_ = conn.SetReadDeadline(time.Time{})
			<-c.turns
		}
		if first {
			there.Add(1)
		}
		for one := make([]byte, 1); err == nil; {
			select {
			case <-over:
				conn.Close()
				return cut
			case <-time.After(500 * time.Millisecond):
			}
			if c.gives {
				_, err = conn.Write([]byte("x"))
			} else {
				_, err = conn.Read(one)
			}
		}
		conn.Close()
		cut++
	}
}

// 400 clients that are slow in every way are no harm to others (R15); 80 of them in the short form.
func TestSlowClients(t *testing.T) {
	besideOthers(t)
	took, many, each := 4*time.Second, 20, 6 // the first ones are cut off within it
	if wholeSamples {
		took, many, each = 90*time.Second, 200, 50
	}
	s := startServingWith(t, madeDirectory(t), []string{"HEADROOM_SOLVES_PER_SECOND=100000"}, "--demo=still")
	keys := makeKeys(t, s, 5)
	problem := problemText(t, "hard", true, nil)
	key := func(n int) string { return keys[n%4] }
	admin := s.key(t)
	fresh := request(s, keys[4], "POST", "/v1/solve", problem)
	health := request(s, "", "GET", "/livez", "")
	solve := func() time.Duration {
		w := wire{address: s.address}
		defer w.close()
		began := time.Now()
		if answer, err := w.ask(fresh); err != nil || answer.StatusCode != http.StatusOK {
			t.Errorf("another client's solve: %v, %v", answer, err)
		}
		return time.Since(began)
	}
	// What others notice is compared with the same without the slow ones, because the machine has other work, too.
	others := func(took time.Duration) (p polls, solves []time.Duration) {
		beside := make(chan struct{})
		go func() {
			defer close(beside)
			next := time.Tick(500 * time.Millisecond)
			for end := time.Now().Add(took); time.Now().Before(end); <-next {
				solves = append(solves, solve())
			}
		}()
		p = follow(s, health, took)
		<-beside
		slices.Sort(solves)
		return p, solves
	}
	rest, solvesAtRest := others(took / 5)
	clients := []slow{
		{"headers", func(n int) []byte { return []byte("GET /v1/clusters HTTP/1.1\r\nHost: localhost\r\nX-Slow: ") }, true, nil},
		{"bodies", func(n int) []byte {
			return fmt.Appendf(nil, "POST /v1/solve HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 5000000\r\n\r\n", key(n))
		}, true, nil},
		{"bodies without a key", func(n int) []byte {
			return []byte("POST /v1/solve HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 5000000\r\n\r\n")
		}, true, nil},
		{"uploads", func(n int) []byte {
			return fmt.Appendf(nil, "POST /v1/clusters/demo/history-imports HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\nfffff\r\n", admin)
		}, true, nil},
		{"readers of answers", func(n int) []byte { return request(s, key(n), "POST", "/v1/solve", problem) }, false, make(chan struct{}, 2)},
		{"readers of many answers", func(n int) []byte {
			return bytes.Repeat(request(s, key(n), "GET", "/v1/clusters/demo/problem", ""), many)
		}, false, nil},
		{"readers of events", func(n int) []byte { return request(s, key(n), "GET", "/v1/clusters/demo/plans/events", "") }, false, nil},
		{"readers of the contract", func(n int) []byte { return request(s, "", "GET", "/openapi.yaml", "") }, false, nil},
	}
	grown := growth(t, s.Process.Pid)
	over := make(chan struct{})
	var all sync.WaitGroup
	var there atomic.Int64
	var mu sync.Mutex
	cut := map[string]int{}
	for i, c := range clients {
		for n := range each {
			all.Go(func() {
				times := c.run(s.address, n, &there, over)
				mu.Lock()
				defer mu.Unlock()
				if times < 0 {
					t.Errorf("%s: the server takes no connection", c.name)
				}
				cut[c.name] += times
			})
		}
		waits(t, c.name+" are there", time.Minute, func() bool { return there.Load() == int64(each*(i+1)) })
		t.Logf("with slow %s the server has %d MiB", c.name, memory(t, s.Process.Pid)>>20)
	}
	p, solves := others(took)
	close(over)
	most := grown()
	all.Wait()
	t.Logf("at rest: %v; solves %v to %v", rest, solvesAtRest[0], share(solvesAtRest, 1))
	t.Logf("beside %d slow clients: %v; solves %v to %v; memory grew by %d MiB; cut off: %v", each*len(clients), p, solves[0], share(solves, 1), most>>20, cut)
	// Where processes wait for a processor, an exchange waits for three of them at least.
	if share(p.took, 0.99) > 500*time.Millisecond+3*share(p.woke, 0.99) || p.failed > 0 {
		t.Errorf("health beside slow clients: %v", p)
	}
	if most > 64<<20 {
		t.Errorf("the server's memory grew by %d MiB", most>>20)
	}
	if cut["headers"] < each {
		t.Errorf("of slow heads %d were cut off", cut["headers"])
	}
	t.Attr("R15", fmt.Sprintf("beside %d slow connections health p99 %v, another client's solve %v at the slowest, memory grew by %d MiB", each*len(clients), share(p.took, 0.99), share(solves, 1), most>>20))
}

// follow asks one thing 50 times a second over one connection each, as a prober does.
func follow(s *served, text []byte, d time.Duration) (p polls) {
	var mu sync.Mutex
	var all sync.WaitGroup
	began := time.Now()
	for n, due := 0, began; due.Before(began.Add(d)); n, due = n+1, due.Add(20*time.Millisecond) {
		sleepUntil(due)
		late := time.Since(due)
		all.Go(func() {
			w := wire{address: s.address, from: net.IPv4(127, 0, 3, byte(1+n%200))} // as many who each ask one at a time
			defer w.close()
			answer, err := w.ask(text)
			mu.Lock()
			defer mu.Unlock()
			p.took, p.woke = append(p.took, time.Since(due)), append(p.woke, late)
			if err == nil && answer.StatusCode != http.StatusOK {
				err = errors.New(answer.Status)
			}
			if err != nil {
				p.failed++
				p.why = fmt.Sprintf(", the last after %v: %v", due.Sub(began), err)
			}
		})
	}
	all.Wait()
	slices.Sort(p.took)
	slices.Sort(p.woke)
	return p
}
