package api

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
)

// uploadWords names a kind of upload in refusals.
type uploadWords struct {
	name    string   // the kind
	types   []string // accepted media types; the form follows from the content
	kept    string   // the treatment of the received part
	smaller string   // the remedy for one that is too large
}

func (u uploadWords) tooLarge(limit int64) problem {
	return tooLarge.problem(fmt.Sprintf("The %s has more than %d bytes, the most that are read; %s.", u.name, limit, u.smaller))
}

// typeOf refuses other media types.
func (u uploadWords) typeOf(r *http.Request) (problem, bool) {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") && !strings.EqualFold(coding, "gzip") {
		return unsupportedMedia.problem(fmt.Sprintf("The %s is sent in the encoding %.60q; send it as it is, or with gzip.", u.name, coding)), false
	}
	sent := r.Header.Values("Content-Type")
	if len(sent) == 1 {
		if kind, _, err := mime.ParseMediaType(sent[0]); err == nil && slices.Contains(u.types, kind) {
			return problem{}, true
		}
	}
	return unsupportedMedia.problem(fmt.Sprintf("The %s is sent as %.60q; send one of the types %s.", u.name, strings.Join(sent, ", "), strings.Join(u.types, ", "))), false
}

// takeUpload answers a request whose body is a file. take reads it as a stream; it is never in memory whole.
func takeUpload[T any](s *server, w http.ResponseWriter, r *http.Request, words uploadWords, take func(*http.Request, *upload) (T, error)) {
	sent := s.receive(w, r, s.config.ImportBytes, words)
	defer sent.leave()
	made, err := func() (made T, err error) {
		if problem, ok := words.typeOf(r); !ok {
			return made, refusal{problem}
		}
		if r.ContentLength > s.config.ImportBytes {
			return made, refusal{words.tooLarge(s.config.ImportBytes)}
		}
		return take(r, sent)
	}()
	if !sent.ended {
		w.Header().Set("Connection", "close")
	}
	if err == nil {
		err = reply[T]{body: made}.write(w, r)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

// upload is a body that may be long and slow, but not too slow: a minimum must arrive within each interval.
type upload struct {
	s       *server
	body    io.Reader
	in      io.Reader // the body up to the limit
	control *http.ResponseController
	window  int64 // that must still come before the time is up
	limit   int64
	words   uploadWords
	over    chan struct{}
	ended   bool
	unsent  bool  // the client waits for the server's word (Expect: 100-continue)
	err     error // the reason why it could not be read to its end
}

// receive prepares to read a body beyond the time limit of other requests.
func (s *server) receive(w http.ResponseWriter, r *http.Request, limit int64, words uploadWords) *upload {
	u := &upload{s: s, body: r.Body, in: http.MaxBytesReader(w, r.Body, limit), control: http.NewResponseController(w), limit: limit, words: words, over: make(chan struct{}), unsent: r.Header.Get("Expect") != ""}
	_ = u.control.EnableFullDuplex() // a refusal is written while the body still comes
	if sent, ok := r.Body.(*received); ok {
		sent.control = nil // the upload has a time of its own
	}
	go func() {
		select {
		case <-s.config.Stopping: // ends waits for more
			_ = u.control.SetReadDeadline(time.Now())
		case <-u.over:
		}
	}()
	return u
}

func (u *upload) Read(p []byte) (int, error) {
	if u.err != nil {
		return 0, u.err
	}
	if u.window <= 0 {
		u.window = minPassed
		until := time.Now().Add(u.s.config.UploadWithin) // one that cannot be set is no reason to refuse
		_ = u.control.SetReadDeadline(until)
		_ = u.control.SetWriteDeadline(until.Add(answerWithin))
	}
	if u.s.draining() {
		u.err = refusal{unavailable(fmt.Sprintf("The server is stopping and did not read the %s to its end; %s. Send it again.", u.words.name, u.words.kept))}
		return 0, u.err
	}
	u.unsent = false
	n, err := u.in.Read(p)
	u.window -= int64(n)
	var tooLong *http.MaxBytesError
	switch {
	case err == nil:
	case err == io.EOF:
		u.done()
	case errors.As(err, &tooLong):
		u.err = refusal{u.words.tooLarge(u.limit)}
	case u.s.draining():
		u.err = refusal{unavailable(fmt.Sprintf("The server is stopping and did not read the %s to its end; %s. Send it again.", u.words.name, u.words.kept))}
	case errors.Is(err, os.ErrDeadlineExceeded):
		u.err = refusal{tooSlow.problem(fmt.Sprintf("The %s did not come to its end: less than %d KiB came in %s; %s. Send it again.", u.words.name, minPassed>>10, u.s.config.UploadWithin, u.words.kept))}
	default:
		u.err = refusal{malformed.problem(fmt.Sprintf("The %s did not come to its end, because the connection broke; %s. Send it again.", u.words.name, u.words.kept))}
	}
	if u.err != nil {
		err = u.err
	}
	return n, err
}

// done ends the body: from now on the work and the answer have their own time.
func (u *upload) done() {
	if u.ended {
		return
	}
	u.ended = true
	close(u.over)
	_ = u.control.SetReadDeadline(time.Time{})
	_ = u.control.SetWriteDeadline(time.Now().Add(answerWithin))
}

// leave runs after the answer. It discards the rest of the body for a moment: so the client sees the answer, and not
// a broken connection.
func (u *upload) leave() {
	if u.ended {
		return
	}
	u.done()
	_ = u.control.Flush()
	_ = u.control.SetReadDeadline(time.Now().Add(answerSeen))
	if !u.unsent {
		_, _ = io.Copy(io.Discard, u.body)
	}
}

const answerSeen = 2 * time.Second

// answerWithin is the time limit of an import once its file has come, with its answer.
const answerWithin = 5 * time.Minute
