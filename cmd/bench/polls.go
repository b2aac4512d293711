package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
)

// bareVariable, set to an address, turns this process into the bare route that polls are compared with.
const bareVariable = "HEADROOM_BENCH_BARE"

const scaling = "/v1/clusters/demo/plans/current/scaling"

// serveBare answers 200 bytes on the route of polls, without any other work, until the context ends.
func serveBare(ctx context.Context, address string, out io.Writer) error {
	bare := chi.NewRouter()
	answer := make([]byte, 200)
	bare.Get("/v1/clusters/{cluster}/plans/current/scaling", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(answer) })
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "listening")
	server := http.Server{Handler: bare}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	return server.Serve(listener)
}

// freeAddress returns a free port of this machine.
func freeAddress() (string, error) {
	for port := 21_000; port < 32_000; port++ {
		address := "127.0.0.1:" + strconv.Itoa(port)
		listener, err := net.Listen("tcp", address)
		if err == nil {
			return address, listener.Close()
		}
	}
	return "", errors.New("no port from 21000 to 32000 is free")
}

// polls measures the polls per second of a server, as a share of those of a bare route in the same run.
func polls(ctx context.Context, s *server) ([]figure, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	bare := exec.CommandContext(ctx, self)
	bare.Env = append(os.Environ(), bareVariable+"="+address)
	stdout, err := bare.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := bare.Start(); err != nil {
		return nil, err
	}
	defer func() {
		_ = bare.Process.Kill()
		_ = bare.Wait()
	}()
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		return nil, fmt.Errorf("start the bare route: %w", err)
	}

	key := "Authorization: Bearer " + adminKey + "\r\n"
	request, err := http.NewRequestWithContext(ctx, "GET", "http://"+s.address+"/v1/clusters/demo/plans/current", nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+adminKey)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	_ = answer.Body.Close()
	tagged := key + "If-None-Match: " + answer.Header.Get("ETag") + "\r\n"

	const rounds, round = 7, time.Second
	var shares [2][]float64
	for range rounds {
		base, err := perSecond(address, scaling, "", "200", round)
		if err != nil {
			return nil, err
		}
		for k, ask := range [2]struct{ path, header, status string }{{scaling, key, "200"}, {"/v1/clusters/demo/plans/current", tagged, "304"}} {
			n, err := perSecond(s.address, ask.path, ask.header, ask.status, round)
			if err != nil {
				return nil, err
			}
			shares[k] = append(shares[k], 100*n/base)
		}
	}
	var found []figure
	for k, what := range [2]string{"polls of …/plans/current/scaling", "304 of …/plans/current"} {
		share := middle(shares[k])
		found = append(found, figure{what, "≥ 60 % of a bare chi route", fmt.Sprintf("%.0f %%", share), share < 60})
	}
	return found, nil
}

// perSecond measures the requests per second of a server on 64 kept connections. They are written to bare sockets, so
// that the measurement is of the server.
func perSecond(address, path, header, want string, d time.Duration) (float64, error) {
	request := []byte("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + header + "\r\n")
	var clients sync.WaitGroup
	var mu sync.Mutex
	var failed error
	total, end := 0, time.Now().Add(d)
	for range 64 {
		clients.Go(func() {
			n, err := pollUntil(end, address, request, want)
			mu.Lock()
			defer mu.Unlock()
			total += n
			failed = errors.Join(failed, err)
		})
	}
	clients.Wait()
	return float64(total) / d.Seconds(), failed
}

// pollUntil sends one request after the other on one connection, and counts the answers.
func pollUntil(end time.Time, address string, request []byte, want string) (answers int, err error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	in := bufio.NewReaderSize(conn, 8192)
	for time.Now().Before(end) {
		if _, err := conn.Write(request); err != nil {
			return answers, err
		}
		line, err := in.ReadSlice('\n')
		if err != nil {
			return answers, err
		}
		if words := strings.Fields(string(line)); len(words) < 2 || words[1] != want {
			return answers, fmt.Errorf("a poll is answered with %q", line)
		}
		length := 0
		for len(line) > 2 {
			if line, err = in.ReadSlice('\n'); err != nil {
				return answers, err
			}
			if name, value, _ := bytes.Cut(line, []byte(":")); bytes.EqualFold(name, []byte("Content-Length")) {
				if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
					return answers, err
				}
			}
		}
		if _, err := in.Discard(length); err != nil {
			return answers, err
		}
		answers++
	}
	return answers, nil
}
