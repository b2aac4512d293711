// Package remote asks a server: it finds one, sends requests, waits for runs, and shows lists and items of what it keeps.
package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/shell"
)

// ExitConnection is the exit code where no server could be asked.
const ExitConnection = shell.ExitSolver

// Connection is the flags by which a verb finds its server. A key is never a flag: the arguments of a
// process can be read by everybody on the machine.
type Connection struct {
	Server, KeyFile, DataDir, Context string
	Timeout                           time.Duration
}

const ConnectionHelp = `

The server is the one that --server or HEADROOM_URL names, with the key in HEADROOM_API_KEY or --key-file;
without either the one of the context in use ("headroom context") or of --context; without any, or with --data-dir,
the one that "headroom serve" runs on this machine.`

func (o *Connection) AddFlags(c *cobra.Command) {
	flags := c.PersistentFlags()
	flags.StringVar(&o.Server, "server", "", "the server's `address`, such as https://headroom.example.com (default HEADROOM_URL)")
	flags.StringVar(&o.KeyFile, "key-file", "", "read the key from this `file` (default HEADROOM_API_KEY)")
	flags.StringVar(&o.DataDir, "data-dir", "", "the data `directory` of a server on this machine (default HEADROOM_DATA_DIR)")
	flags.StringVar(&o.Context, "context", "", "the server and key of this `context`")
	flags.DurationVar(&o.Timeout, "timeout", 2*time.Minute, "how long to wait for one answer")
	c.PersistentPreRunE = func(_ *cobra.Command, args []string) error {
		if o.Timeout <= 0 {
			return fmt.Errorf("--timeout is %s; give a time such as 30s or 5m", o.Timeout)
		}
		for _, name := range args { // in an address these would mean another one
			if name == "" || name == "." || name == ".." {
				return fmt.Errorf("%q names nothing; a name has at least one character and is neither \".\" nor \"..\"", name)
			}
		}
		return nil
	}
}

// access holds the address of a server and its key, and the sources of both.
type access struct {
	ClientAccess
	urlFrom, keyFrom string
}

// find says which server to ask and with which key. A key that was left for the server of this
// machine goes to no other.
func (o *Connection) find() (access, error) {
	var a access
	if o.Context != "" && (o.Server != "" || o.DataDir != "") {
		return a, shell.Fail(shell.ExitUsage, errors.New("--context names a server, and so do --server and --data-dir; give one of them"))
	}
	var inContext Context
	switch {
	case o.Server != "":
		a.URL, a.urlFrom = o.Server, "--server"
	case o.DataDir != "": // the server of that directory, whatever the environment says
	case o.Context == "" && os.Getenv("HEADROOM_URL") != "":
		a.URL, a.urlFrom = os.Getenv("HEADROOM_URL"), "HEADROOM_URL"
	default:
		found := false
		var err error
		if inContext, a.urlFrom, found, err = o.context(); err != nil {
			return a, err
		} else if found {
			a.URL = inContext.Server
		}
	}
	keyFile := cmp.Or(o.KeyFile, inContext.KeyFile)
	switch {
	case keyFile != "":
		text, err := os.ReadFile(keyFile)
		if err != nil {
			return a, errors.New(shell.FileTrouble(keyFile, err))
		}
		a.Key, a.keyFrom = strings.TrimSpace(string(text)), keyFile
	case o.DataDir != "" && o.Server == "":
	case os.Getenv("HEADROOM_API_KEY") != "":
		a.Key, a.keyFrom = strings.TrimSpace(os.Getenv("HEADROOM_API_KEY")), "HEADROOM_API_KEY"
	}
	if a.URL == "" {
		local, from, err := o.Local()
		if err != nil {
			return a, err
		}
		a.URL, a.urlFrom = local.URL, from
		if a.Key == "" {
			a.Key, a.keyFrom = local.Key, from
		}
	}
	if a.Key == "" {
		return a, shell.Fail(ExitConnection, fmt.Errorf("there is no key for %s; put one into HEADROOM_API_KEY or a file for --key-file "+
			"(\"headroom server key create\" makes keys)", a.URL))
	}
	if strings.ContainsFunc(a.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return a, shell.Fail(shell.ExitUsage, fmt.Errorf("what stands in %s is no key; a key is one word such as hrk_…", a.keyFrom))
	}
	return a, CheckAddress(a.URL, a.urlFrom)
}

// CheckAddress refuses what is not the address of a server; from names the place that it stands in.
func CheckAddress(address, from string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return shell.Fail(shell.ExitUsage, fmt.Errorf("the address in %s is not one of a server; write it like "+
			"https://headroom.example.com or http://127.0.0.1:8080", from))
	}
	return nil
}

// Local is the server that runs on this machine for the data directory.
func (o *Connection) Local() (a ClientAccess, from string, err error) {
	dir := o.DataDir
	if dir == "" {
		dir = DefaultDataDir()
	}
	nowhere := func(why string) error {
		return shell.Fail(ExitConnection, fmt.Errorf("no server to ask: %s. Start one with \"headroom serve\", or say where one is with "+
			"--server or HEADROOM_URL and HEADROOM_API_KEY", why))
	}
	if dir == "" {
		return a, "", nowhere("there is no data directory to look in (no home directory)")
	}
	from = filepath.Join(dir, ClientFile)
	text, err := os.ReadFile(from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return a, from, nowhere("none runs on this machine for the data directory " + dir +
			". One that was started with another --data-dir needs the same flag here, or HEADROOM_DATA_DIR")
	case errors.Is(err, fs.ErrPermission):
		return a, from, nowhere("the server of " + dir + " belongs to another user, and you may not read " + from)
	case err != nil:
		return a, from, nowhere(shell.FileTrouble(from, err))
	}
	if err := json.Unmarshal(text, &a); err != nil || a.URL == "" {
		return a, from, nowhere(from + " does not say where the server is; start the server again")
	}
	return a, from, nil
}

// Service is a server to ask.
type Service struct {
	access
	base    *url.URL // with a slash at its end
	client  patient
	Timeout time.Duration
}

// Open makes ready to ask the server; it does not yet connect.
func (o *Connection) Open() (*Service, error) {
	a, err := o.find()
	if err != nil {
		return nil, err
	}
	base, err := url.Parse(strings.TrimSuffix(a.URL, "/") + "/")
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
	d := patient{client: &http.Client{
		Transport: transport, Timeout: o.Timeout,
		// A redirect would carry the key to wherever it points.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, key: new(atomic.Value)}
	d.key.Store(a.Key)
	if a.keyFrom == a.urlFrom { // the file that the server of this machine writes anew when it starts
		d.newKey = func() string {
			if now, _, err := o.Local(); err == nil && now.URL == a.URL {
				return now.Key
			}
			return ""
		}
	}
	return &Service{access: a, base: base, client: d, Timeout: o.Timeout}, nil
}

// Command finishes a command that asks the server.
func (o *Connection) Command(c *cobra.Command, do func(c *cobra.Command, s *Service, args []string) error) *cobra.Command {
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		s, err := o.Open()
		if err != nil {
			return err
		}
		return do(c, s, args)
	})
}

// Answer is the answer of the server to one request.
type Answer struct {
	Body []byte
	Etag string // the version, without its quotes
	Kept bool   // from the first time that a request of this Idempotency-Key came
}

// Into reads the answer as a value.
func (a Answer) Into(value any) error {
	if err := json.Unmarshal(a.Body, value); err != nil {
		return fmt.Errorf("the server's answer cannot be read (%w); is it of another version?", err)
	}
	return nil
}

// ReadReply takes an answer, or says why there is none.
func (s *Service) ReadReply(r *http.Response, err error) (Answer, error) {
	if err != nil {
		return Answer{}, s.Unreachable(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(io.LimitReader(r.Body, shell.LongestDocument+1))
	if err != nil {
		return Answer{}, s.Unreachable(err)
	}
	if len(body) > shell.LongestDocument {
		return Answer{}, fmt.Errorf("the answer is larger than %d MiB", shell.LongestDocument>>20)
	}
	switch {
	case r.StatusCode >= 200 && r.StatusCode < 300:
		return Answer{Body: body, Etag: strings.Trim(r.Header.Get("ETag"), `"`), Kept: r.Header.Get("Idempotency-Replayed") != ""}, nil
	case r.StatusCode >= 300 && r.StatusCode < 400:
		return Answer{}, fmt.Errorf("%s sends on to %s; keys are not sent on. Give that address itself if it is the server's", s.URL,
			shell.Clipped(r.Header.Get("Location")))
	}
	p, ok := ProblemOf(body, r.StatusCode)
	switch {
	case ok && r.StatusCode == http.StatusUnauthorized:
		return Answer{}, fmt.Errorf("%w\nThe key came from %s and went to %s", p, s.keyFrom, s.URL)
	case ok:
		return Answer{}, p
	case r.StatusCode >= 500:
		return Answer{}, shell.Fail(ExitConnection,
			fmt.Errorf("%s answers %s, not as a Headroom server does; something before it may be in trouble", s.URL, r.Status))
	}
	return Answer{}, shell.Fail(ExitConnection, fmt.Errorf("%s answers %s, not as a Headroom server does; is the address in %s right?",
		s.URL, r.Status, s.urlFrom))
}

// Unreachable says why there was no answer.
func (s *Service) Unreachable(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	var dns *net.DNSError
	var timeout net.Error
	say := func(format string, values ...any) error {
		return shell.Fail(ExitConnection, fmt.Errorf(format, values...))
	}
	switch {
	case errors.Is(err, http.ErrSchemeMismatch):
		return say("the server at %s (from %s) speaks HTTP without TLS; write http:// if that is meant", s.URL, s.urlFrom)
	case errors.Is(err, syscall.ECONNREFUSED) && strings.HasSuffix(s.urlFrom, ClientFile):
		return say("no server answers at %s; the one that wrote %s has ended. Start it again with \"headroom serve\"", s.URL, s.urlFrom)
	case errors.Is(err, syscall.ECONNREFUSED):
		return say("no server answers at %s (from %s): the connection is refused. Start one with \"headroom serve\", or correct the address",
			s.URL, s.urlFrom)
	case errors.As(err, &dns):
		return say("the host of %s (from %s) is not known: %s", s.URL, s.urlFrom, dns.Err)
	case errors.As(err, &timeout) && timeout.Timeout():
		return say("%s did not answer within %s; ask again, or allow more with --timeout. What was asked may still have been done", s.URL,
			s.Timeout)
	}
	var inner *url.Error
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return say("the connection to %s broke: %s. What was asked may still have been done", s.URL, err)
}

// patient asks again where that is safe. It does so when a busy server says when to come back, and when the connection
// breaks during a request that may be sent twice. It also does when the server of this machine refuses the key: every
// start of it makes a new one, which commands that watch or renew must outlive.
type patient struct {
	client *http.Client
	key    *atomic.Value // a string
	newKey func() string // the key that the server has left by now, or ""; nil where keys are not its own
}

const (
	mostTries   = 4
	longestWait = 10 * time.Second
)

func (p patient) Do(r *http.Request) (*http.Response, error) {
	for try := 1; ; try++ {
		response, err := p.client.Do(r)
		wait, again := retryAfter(r, response, err, try)
		if err == nil && response.StatusCode == http.StatusUnauthorized && p.newKey != nil { // and nothing was done
			wait, again = time.Duration(try-1)*200*time.Millisecond, r.Body == nil || r.GetBody != nil
			if key := p.newKey(); key != "" {
				p.key.Store(key)
				r.Header.Set("Authorization", "Bearer "+key)
			}
		}
		if !again || try == mostTries || r.Context().Err() != nil {
			return response, err
		}
		if response != nil {
			_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20)) // so that the connection serves again
			response.Body.Close()
		}
		if r.GetBody != nil {
			if r.Body, err = r.GetBody(); err != nil {
				return nil, err
			}
		}
		select {
		case <-time.After(wait):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
}

// retryAfter says whether and when to ask again. A busy server has done nothing. After a broken
// connection nobody knows, so only questions are repeated, and what carries an Idempotency-Key.
func retryAfter(r *http.Request, response *http.Response, err error, try int) (time.Duration, bool) {
	if r.Body != nil && r.Body != http.NoBody && r.GetBody == nil {
		return 0, false
	}
	if err != nil {
		var timeout net.Error
		twice := r.Method == http.MethodGet || r.Header.Get("Idempotency-Key") != ""
		slow := errors.As(err, &timeout) && timeout.Timeout()
		broken := errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		return time.Duration(try) * 200 * time.Millisecond, twice && broken && !slow
	}
	if response.StatusCode != http.StatusServiceUnavailable && response.StatusCode != http.StatusTooManyRequests {
		return 0, false
	}
	seconds, err := time.ParseDuration(response.Header.Get("Retry-After") + "s")
	return max(seconds, 100*time.Millisecond), err == nil && seconds >= 0 && seconds <= longestWait
}
