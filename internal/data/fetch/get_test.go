package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// machine returns an entry for a port of this machine.
func machine(port int64) AllowedHost {
	return AllowedHost{Host: "127.0.0.1", Port: port, HTTP: true, Networks: []string{"127.0.0.1/32"}}
}

func TestFilesAreFetchedWhole(t *testing.T) {
	file := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	elsewhere, strangers := receiver(t, nil)
	var port int64
	port, _ = receiver(t, func(w http.ResponseWriter, r *http.Request) {
		on := func(to string) { http.Redirect(w, r, to, http.StatusFound) }
		switch path := r.URL.Path; path {
		case "/file":
			_, _ = w.Write(file)
		case "/announced":
			w.Header().Set("Content-Length", fmt.Sprint(len(file)))
			_, _ = w.Write(file)
		case "/moved":
			on("/file")
		case "/away":
			on(fmt.Sprintf("http://127.0.0.1:%d/file", elsewhere))
		case "/name":
			on(fmt.Sprintf("http://localhost:%d/file", port))
		case "/secure":
			on(fmt.Sprintf("https://127.0.0.1:%d/file", port))
		case "/local":
			on("file:///etc/passwd")
		case "/round":
			on("/round")
		case "/broken":
			on("http://[::1")
		case "/short":
			w.Header().Set("Content-Length", fmt.Sprint(len(file)))
			_, _ = w.Write(file[:1000])
		case "/cut":
			_, _ = w.Write(file[:1000])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		case "/500", "/404", "/429", "/204":
			var status int
			_, _ = fmt.Sscanf(path, "/%d", &status)
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
		case "/silent":
			<-r.Context().Done()
		case "/trickle":
			for next := time.Tick(20 * time.Millisecond); r.Context().Err() == nil; <-next {
				_, _ = w.Write([]byte("."))
				w.(http.Flusher).Flush()
			}
		}
	})
	c := New(Config{HostOf: list(machine(port), machine(elsewhere)), Stall: 300 * time.Millisecond})
	get := func(path string, limit int) ([]byte, int64, error) {
		d, err := c.Get(t.Context(), fmt.Sprintf("http://127.0.0.1:%d%s", port, path), int64(limit))
		if err != nil {
			return nil, 0, err
		}
		defer d.Close()
		text, err := io.ReadAll(d)
		return text, d.Size, err
	}
	for _, path := range []string{"/file", "/announced", "/moved"} {
		text, size, err := get(path, len(file))
		if err != nil || !bytes.Equal(text, file) || path == "/announced" && size != int64(len(file)) {
			t.Errorf("%s: %d bytes of %d, announced %d: %v", path, len(text), len(file), size, err)
		}
	}
	for path, want := range map[string]struct {
		refused, final bool
		words          string
	}{
		"/away":   {true, true, "sends on to another place"},
		"/name":   {true, true, "sends on to another place"},
		"/secure": {true, true, "sends on to another place"},
		"/local":  {true, true, "must begin with https://"},
		"/round":  {true, true, "more than 3 times"},
		"/broken": {true, true, "no address"},
		"/short":  {false, false, "before the file was complete"},
		"/cut":    {false, false, "before the file was complete"},
		"/404":    {false, true, "answers 404 Not Found"},
		"/204":    {false, true, "answers 204"},
		"/500":    {false, false, "answers 500"},
		"/429":    {false, false, "answers 429"},
		"/silent": {false, false, "did not answer within 300ms"},
		// Too little arrives to be worth waiting for.
		"/trickle": {false, false, "sends too little"},
	} {
		_, _, err := get(path, len(file))
		var own *Error
		if !errors.As(err, &own) || own.Refused != want.refused || own.Final != want.final || !strings.Contains(own.Sentence, want.words) || !strings.HasSuffix(own.Sentence, ".") || strings.Contains(own.Sentence, path[1:]+"/") {
			t.Errorf("%s: got %v", path, err)
		}
	}
	var requests *Error
	if _, _, err := get("/429", 1); !errors.As(err, &requests) || requests.After != 7*time.Second {
		t.Errorf("asked to wait: %+v", requests)
	}
	for _, path := range []string{"/file", "/announced"} {
		_, _, err := get(path, len(file)-1)
		var own *Error
		if !errors.As(err, &own) || !own.Final || !strings.Contains(own.Sentence, "HEADROOM_IMPORT_MAX_BYTES") {
			t.Errorf("%s, too large: %v", path, err)
		}
	}
	if n := strangers.Load(); n != 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
	_, err := New(Config{HostOf: list()}).Get(t.Context(), fmt.Sprintf("http://127.0.0.1:%d/file", port), 10)
	refusedWith(t, "a host that is not listed", err, "not on the list")
	_, err = New(Config{HostOf: list(AllowedHost{Host: "127.0.0.1", Port: port, HTTP: true})}).Get(t.Context(), fmt.Sprintf("http://127.0.0.1:%d/file", port), 10)
	refusedWith(t, "an address that is not public", err, "not a public address")

	ending, end := context.WithCancel(t.Context())
	d, err := c.Get(ending, fmt.Sprintf("http://127.0.0.1:%d/trickle", port), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	time.AfterFunc(50*time.Millisecond, end)
	if _, err := io.ReadAll(d); !errors.Is(err, context.Canceled) {
		t.Errorf("whose caller has gone: %v", err)
	}
}
