package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// stranger is a kind of slow client without a key.
type stranger struct {
	name, request string
	gives         bool // a byte every two seconds after the request; else it takes one
}

var strangers = []stranger{
	{"heads", "GET /v1/clusters HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", true},
	{"sign-ins", "POST /v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n", true},
	{"bodies", "POST /v1/solve HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 5000000\r\n\r\n", true},
	{"chunks", "POST /v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nfffff\r\n", true},
	{"nothing", "", false},
	{"readers of the contract", strings.Repeat("GET /openapi.yaml HTTP/1.1\r\nHost: localhost\r\n\r\n", 3), false},
	{"readers of the reference", strings.Repeat("GET /docs HTTP/1.1\r\nHost: localhost\r\n\r\n", 3), false},
}

// run is one such client, from an address of its own. It comes again some time after it was cut off.
func (c stranger) run(t *testing.T, address string, n int, fives *atomic.Int64, over <-chan struct{}) {
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(n%40))}, Timeout: 10 * time.Second}
	pause := func(d time.Duration) bool {
		select {
		case <-over:
			return false
		case <-time.After(d):
			return true
		}
	}
	for wait := n % 5000; pause(time.Duration(wait) * time.Millisecond); wait = 10_000 + n%5000 {
		conn, err := from.Dial("tcp", address)
		if err != nil {
			continue
		}
		_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
		_, err = conn.Write([]byte(c.request))
		for one, first := make([]byte, 12), true; err == nil && pause(2*time.Second); {
			if c.gives {
				_, err = conn.Write([]byte("x"))
				_ = conn.SetReadDeadline(time.Now().Add(time.Millisecond))
			} else {
				_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
			}
			got, failed := conn.Read(one)
			if first && got > 0 {
				if first = false; bytes.HasPrefix(one, []byte("HTTP/1.1 5")) {
					fives.Add(1)
				}
				one = one[:1]
			}
			if late, ok := failed.(net.Error); failed != nil && (!ok || !late.Timeout()) {
				err = failed
			}
		}
		conn.Close()
	}
}

// kept follows how long a process holds each of the connections to its port, except those from one address.
func kept(t *testing.T, address, but string, over <-chan struct{}) (longest time.Duration, most, seen int) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Error(err)
		return 0, 0, 0
	}
	var number int
	_, _ = fmt.Sscan(port, &number)
	local, self := fmt.Sprintf(":%04X", number), but
	first := map[string]time.Time{}
	for tick := time.NewTicker(time.Second); ; {
		select {
		case <-over:
			return longest, most, len(first)
		case <-tick.C:
		}
		text, err := os.ReadFile("/proc/net/tcp")
		if err != nil {
			t.Error(err)
			return longest, most, len(first)
		}
		now, open := time.Now(), 0
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			// Address, peer, state and inode; what the process has closed has no inode.
			if len(f) < 10 || !strings.HasSuffix(f[1], local) || f[9] == "0" || f[3] == "0A" || strings.HasPrefix(f[2], self) {
				continue
			}
			open++
			if first[f[9]].IsZero() {
				first[f[9]] = now
			}
			longest = max(longest, now.Sub(first[f[9]]))
		}
		most = max(most, open)
	}
}

// Thousands who send and read slowly without a key are cut off in time and hurt nobody (R15).
func TestSlowStrangers(t *testing.T) {
	besideOthers(t)
	many, took, probe := 400, 14*time.Second, time.Second // after which orchestrators give a probe up
	if wholeSamples {
		many, took, probe = 10_000, 90*time.Second, 100*time.Millisecond
	}
	s := startServingWith(t, madeDirectory(t), nil)
	health := request(s, "", "GET", "/livez", "")
	follow(s, request(s, "", "GET", "/docs", ""), 20*time.Millisecond) // the first one makes the page, whoever asks for it
	rest := follow(s, health, 3*time.Second)
	grown := growth(t, s.Process.Pid)
	var all, watching sync.WaitGroup
	var fives atomic.Int64
	over := make(chan struct{})
	var longest time.Duration
	var most, seen int
	watching.Go(func() { longest, most, seen = kept(t, s.address, "0100007F", over) })
	for n := range many {
		all.Go(func() { strangers[n%len(strangers)].run(t, s.address, n, &fives, over) })
	}
	p := follow(s, health, took)
	close(over)
	memory := grown()
	watching.Wait()
	all.Wait()
	t.Logf("at rest %v; beside %d strangers %v; %d connections were seen, %d at once, none for more than %v; memory grew by %d MiB", rest, many, p, seen, most, longest, memory>>20)
	if longest > 16*time.Second {
		t.Errorf("a connection was held for %v", longest)
	}
	if fives.Load() > 0 {
		t.Errorf("%d answers were 5xx", fives.Load())
	}
	if share(p.took, 0.99) > probe+3*share(p.woke, 0.99) || p.failed > 0 {
		t.Errorf("health beside strangers: %v", p)
	}
	if memory > 64<<20 {
		t.Errorf("the server's memory grew by %d MiB", memory>>20)
	}
	t.Attr("R15", fmt.Sprintf("beside %d slow senders and readers without a key health p99 %v, none held longer than %v, memory grew by %d MiB", many, share(p.took, 0.99), longest.Round(100*time.Millisecond), memory>>20))
}
