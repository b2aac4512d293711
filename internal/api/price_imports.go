package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"headroom/internal/app"
	"headroom/internal/capacity"
)

// sheetTypes are what a price sheet may be sent as. What it is, it says itself.
var sheetTypes = []string{"application/octet-stream", "text/csv", "application/json", "application/gzip"}

// importPrices takes over a price sheet that is the request's body. It is read as it comes and is never in
// memory whole.
func (s *server) importPrices(w http.ResponseWriter, r *http.Request) {
	sent := s.receive(w, r, s.config.ImportBytes)
	defer sent.leave()
	made, err := s.importSent(r, sent)
	if !sent.ended {
		w.Header().Set("Connection", "close")
	}
	if err == nil {
		err = reply[app.PriceImport]{body: made}.write(w, r)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

func (s *server) importSent(r *http.Request, sent *upload) (app.PriceImport, error) {
	if problem, ok := sheetType(r); !ok {
		return app.PriceImport{}, refusal{problem}
	}
	if r.ContentLength > s.config.ImportBytes {
		return app.PriceImport{}, refusal{sheetTooLarge(s.config.ImportBytes)}
	}
	o, err := selectionOf(r)
	if err != nil {
		return app.PriceImport{}, err
	}
	made, err := s.app.ImportPrices(r.Context(), pathValue(r, "cluster"), o, sent)
	if err != nil && sent.err != nil {
		err = sent.err // what was read of it may look like a fault of the sheet
	}
	return made, aboutSheet(err)
}

func sheetType(r *http.Request) (problem, bool) {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") && !strings.EqualFold(coding, "gzip") {
		return unsupportedMedia.problem(fmt.Sprintf("The sheet is sent in the encoding %.60q; send it as it is, or with gzip.", coding)), false
	}
	sent := r.Header.Values("Content-Type")
	if len(sent) == 1 {
		kind, _, err := mime.ParseMediaType(sent[0])
		for _, known := range sheetTypes {
			if err == nil && kind == known {
				return problem{}, true
			}
		}
	}
	return unsupportedMedia.problem(fmt.Sprintf("The sheet is sent as %.60q; send one of the types %s.", strings.Join(sent, ", "), strings.Join(sheetTypes, ", "))), false
}

func sheetTooLarge(limit int64) problem {
	return tooLarge.problem(fmt.Sprintf("The sheet has more than %d bytes, the most that are read; take that of one region, or ask the administrator to raise HEADROOM_IMPORT_MAX_BYTES.", limit))
}

// selectionOf is what the query selects; that it is one openapi.yaml knows has been checked.
func selectionOf(r *http.Request) (o app.PriceSelection, err error) {
	query := r.URL.Query()
	flag := func(name string) bool { return query.Get(name) == "true" }
	o = app.PriceSelection{Region: query.Get("region"), Instances: query["instance"], OnDemandOnly: flag("on_demand_only"), ZeroPrices: flag("zero_prices"), DryRun: flag("dry_run")}
	if text := query.Get("from"); text != "" {
		from, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return o, refusal{aboutParameter("from", "type", fmt.Sprintf("%.60q is no time.", text), nil)}
		}
		o.From = &from
	}
	for _, text := range query["as"] {
		instance, vmType, ok := strings.Cut(text, ":")
		if !ok || instance == "" || vmType == "" {
			return o, refusal{aboutParameter("as", "text", fmt.Sprintf("%.100q does not say which VM type an instance is; write it like m5.xlarge:worker.", text), nil)}
		}
		if before, twice := o.As[instance]; twice && before != vmType {
			return o, refusal{aboutParameter("as", "duplicate", fmt.Sprintf("The instance %.60q is said to be %.60q and %.60q; give one of them.", instance, before, vmType), nil)}
		}
		if o.As == nil {
			o.As = map[string]string{}
		}
		o.As[instance] = vmType
	}
	return o, nil
}

// aboutSheet is an error of an import: what is wrong with the query is said by the parameter's name.
func aboutSheet(err error) error {
	input := (*capacity.InputError)(nil)
	if !errors.As(err, &input) {
		return err
	}
	about := readingProblem(err).(refusal)
	for i, f := range about.Errors {
		for member, parameter := range map[string]string{"/region": "region", "/instances": "instance", "/as": "as", "/from": "from"} {
			if f.Pointer != nil && (*f.Pointer == member || strings.HasPrefix(*f.Pointer, member+"/")) {
				about.Errors[i].Pointer, about.Errors[i].Parameter = nil, parameter
				if f.Hint != nil {
					f.Hint.Pointer = ""
				}
				break
			}
		}
	}
	return about
}

// upload is a body that may be long and come slowly, but not too slowly: within each while so much of it
// must arrive.
type upload struct {
	s       *server
	body    io.Reader
	in      io.Reader // the body up to the limit
	control *http.ResponseController
	window  int64 // that must still come before the time is up
	limit   int64
	over    chan struct{}
	ended   bool
	unsent  bool  // nothing comes before it is asked for (Expect: 100-continue)
	err     error // why it could not be read to its end
}

const leastReceived = 256 << 10

// receive makes ready to read a body beyond the time that other requests have.
func (s *server) receive(w http.ResponseWriter, r *http.Request, limit int64) *upload {
	u := &upload{s: s, body: r.Body, in: http.MaxBytesReader(w, r.Body, limit), control: http.NewResponseController(w), limit: limit, over: make(chan struct{}), unsent: r.Header.Get("Expect") != ""}
	_ = u.control.EnableFullDuplex() // a refusal is written while the body still comes
	go func() {
		select {
		case <-s.config.Stopping: // what waits for more is woken
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
		u.window = leastReceived
		until := time.Now().Add(u.s.config.UploadWithin) // one that cannot be set is no reason to refuse
		_ = u.control.SetReadDeadline(until)
		_ = u.control.SetWriteDeadline(until.Add(answerWithin))
	}
	if u.s.draining() {
		u.err = refusal{unavailable("The server is stopping and did not read the sheet to its end; nothing of it was taken over. Send it again.")}
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
		u.err = refusal{sheetTooLarge(u.limit)}
	case u.s.draining():
		u.err = refusal{unavailable("The server is stopping and did not read the sheet to its end; nothing of it was taken over. Send it again.")}
	default:
		u.err = refusal{malformed.problem("The sheet did not come to its end: the connection broke, or less than " + strconv.Itoa(leastReceived>>10) + " KiB came in " + u.s.config.UploadWithin.String() + ". Nothing of it was taken over; send it again.")}
	}
	if u.err != nil {
		err = u.err
	}
	return n, err
}

// done is the end of the body: from now on the work and the answer take their time.
func (u *upload) done() {
	if u.ended {
		return
	}
	u.ended = true
	close(u.over)
	_ = u.control.SetReadDeadline(time.Time{})
	_ = u.control.SetWriteDeadline(time.Now().Add(answerWithin))
}

// leave is after the answer. What still comes is thrown away for a moment: who sends sees the answer then,
// and not a connection that breaks.
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

// answerWithin is how long an import may take once its sheet has come, with its answer.
const answerWithin = 5 * time.Minute

// priceFetch asks for a price sheet at an address.
type priceFetch struct {
	URL string `json:"url"`
	app.PriceSelection
}

func (s *server) FetchPrices(ctx context.Context, r FetchPricesRequest) (reply[Run], error) {
	return startedRun[Run](s.app.StartPriceImport(ctx, r.Cluster, r.Body.URL, r.Body.PriceSelection))
}
