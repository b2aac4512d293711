package fetch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"example.org/headroom/internal/data/history"
)

// HistoryKind is the kind of history at an address.
type HistoryKind string

// The kinds.
const (
	HistoryAuto      HistoryKind = "auto"      // by the address, else by the answer
	HistoryFile      HistoryKind = "file"      // of any form that history reads
	HistoryMapReduce HistoryKind = "mapreduce" // Hadoop's history server
	HistorySpark     HistoryKind = "spark"     // Spark's history server
)

// HistoryQuery selects the executions to fetch. Zero values select all.
type HistoryQuery struct {
	Kind             HistoryKind
	From, Until      time.Time // range of their start (of a file: their submission), without Until
	User, Queue, Job string    // a Job includes executions whose history names none
	Limit            int       // the newest ones, of a server
	MaxBytes         int64     // of a file, packed and unpacked; 0 means history.DefaultMaxBytes

	// Known returns the executions that exist already and need not be fetched; nil means none.
	Known func(ctx context.Context, ids []string) (map[string]bool, error)
	// Progress reports executions of a server, or bytes of a file. A total of 0 is unknown.
	Progress func(done, total int64, unit string)
}

// wants reports whether an execution matches the query, apart from its times.
func (q *HistoryQuery) wants(e *history.Execution) bool {
	return (q.User == "" || e.User == q.User) && (q.Queue == "" || e.Queue == q.Queue) && (q.Job == "" || e.Name == "" || e.Name == q.Job)
}

// window returns the range of starting times, for lists.
func (q *HistoryQuery) window() window {
	w := window{0, time.Now().Add(24 * time.Hour).UnixMilli()} // clocks differ
	if !q.From.IsZero() {
		w.from = q.From.UnixMilli()
	}
	if !q.Until.IsZero() {
		w.until = min(w.until, q.Until.UnixMilli()-1)
	}
	return w
}

// History fetches executions and hands them to a sink, those of a server from the oldest to the newest. An execution
// that cannot be had becomes a Refusal, and the others go on. An error is an *Error, the sink's or Known's own, or
// says that the caller went away. A later call skips the executions that are Known by then.
func (c *Client) History(ctx context.Context, address string, q HistoryQuery, to history.Sink) error {
	kind, base, err := c.recognize(ctx, address, q.Kind)
	if err != nil {
		return err
	}
	if q.Progress == nil {
		q.Progress = func(int64, int64, string) {}
	}
	if kind == HistoryFile {
		return c.historyFile(ctx, address, q, to)
	}
	v := c.visit(base)
	defer v.end()
	if kind == HistorySpark {
		if q.Queue != "" {
			return refused("Spark's history server does not know queues; leave the queue out.")
		}
		return v.walk(ctx, q, spark{v, q}, to)
	}
	return v.walk(ctx, q, hadoop{v, q}, to)
}

// recognize determines the kind of an address, and the base of its server's addresses.
func (c *Client) recognize(ctx context.Context, address string, kind HistoryKind) (HistoryKind, string, error) {
	switch kind {
	case HistoryFile:
		return kind, address, nil
	case "":
		kind = HistoryAuto
	}
	plain, query, _ := strings.Cut(address, "?")
	mapreduce, isMapReduce := cutBase(plain, "/ws/v1/history")
	spark, isSpark := cutBase(plain, "/api/v1")
	if page, is := strings.CutSuffix(strings.TrimRight(plain, "/"), "/jobhistory"); is {
		mapreduce, isMapReduce = page, true
	}
	_, rest, _ := strings.Cut(plain, "://")
	_, path, _ := strings.Cut(rest, "/")
	switch {
	case query != "" && (kind != HistoryAuto || isMapReduce || isSpark):
		return "", "", refused("The address of a history server ends before the question mark; say with the import's own members which executions are wanted.")
	case kind == HistoryMapReduce, kind == HistoryAuto && isMapReduce:
		return HistoryMapReduce, mapreduce, nil
	case kind == HistorySpark, kind == HistoryAuto && isSpark:
		return HistorySpark, spark, nil
	case kind != HistoryAuto:
		return "", "", refused(fmt.Sprintf("%q is no kind of history; it is file, mapreduce, spark or auto.", kind))
	case query != "" || path != "":
		return HistoryFile, address, nil
	}
	// The address of a server alone: which kind is it?
	base := strings.TrimRight(plain, "/")
	var last error
	for _, probe := range []struct {
		kind HistoryKind
		path string
	}{{HistoryMapReduce, "/ws/v1/history/info"}, {HistorySpark, "/api/v1/version"}} {
		v := c.visit(base)
		err := v.document(ctx, probe.path, nil, isObject)
		v.end()
		var own *Error
		switch {
		case err == nil:
			return probe.kind, base, nil
		case ctx.Err() != nil:
			return "", "", ctx.Err()
		case errors.As(err, &own) && (own.Refused || !own.Final):
			return "", "", err // it does not identify itself
		}
		last = err
	}
	return "", "", &Error{Final: true, cause: last, Sentence: "Neither Hadoop's nor Spark's history server answers at this address; give the address of the server, as a browser shows it, with the kind, or that of a file."}
}

// cutBase returns the part of an address before a mark.
func cutBase(address, mark string) (base string, is bool) {
	base, _, is = strings.Cut(address, mark)
	return strings.TrimRight(base, "/"), is
}

// isObject reports whether an answer is an object in JSON, unlike a page for browsers.
func isObject(r io.Reader) error {
	var object map[string]any
	return json.NewDecoder(io.LimitReader(r, 64<<10)).Decode(&object)
}

// historyFile reads one file.
func (c *Client) historyFile(ctx context.Context, address string, q HistoryQuery, to history.Sink) error {
	if q.Limit > 0 {
		return refused("A file is read whole; leave the limit out, or give the address of a history server.")
	}
	highest := cmp.Or(q.MaxBytes, history.DefaultMaxBytes)
	d, err := c.Get(ctx, address, highest)
	if err != nil {
		return err
	}
	defer d.Close()
	take := to.Execution
	to.Execution = func(e *history.Execution) error {
		at := time.UnixMilli(e.Submitted)
		if !q.wants(e) || !q.From.IsZero() && at.Before(q.From) || !q.Until.IsZero() && !at.Before(q.Until) {
			return nil
		}
		return take(e)
	}
	return history.Read(d, history.Options{MaxBytes: highest, Progress: func(n int64) { q.Progress(n, max(d.Size, 0), "bytes") }}, to)
}

// server is a history server of some kind.
type server interface {
	list(ctx context.Context, in window, limit int) (page, error)
	may(history.Listed) bool // could match the query
	execution(context.Context, history.Listed) (*history.Execution, error)
}

// walk imports the executions of a server.
func (v *visit) walk(ctx context.Context, q HistoryQuery, s server, to history.Sink) error {
	all, err := listAll(ctx, q.window(), s.list, to.Refused)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(e history.Listed) bool { return !s.may(e) })
	slices.SortFunc(all, func(a, b history.Listed) int {
		return cmp.Or(cmp.Compare(a.Started, b.Started), strings.Compare(a.ID, b.ID))
	})
	if q.Limit > 0 && len(all) > q.Limit {
		all = all[len(all)-q.Limit:]
	}
	total := len(all)
	if all, err = unknown(ctx, q, all); err != nil {
		return err
	}
	done, down := total-len(all), 0
	tell := func() { q.Progress(int64(done), int64(total), "executions") }
	tell()
	return inOrder(ctx, all, s.execution, func(of history.Listed, e *history.Execution, err error) error {
		var own *Error
		var fault history.Refusal
		switch {
		case err == nil && !q.wants(e):
		case err == nil:
			err = to.Execution(e)
			down = 0
		case errors.As(err, &fault):
			if fault.Where != of.ID {
				fault.Detail = fault.Where + ": " + fault.Detail
			}
			err = to.Refused(history.Refusal{Where: of.ID, Detail: fault.Detail})
		case errors.As(err, &own):
			if down++; own.Final {
				down = 0
			}
			if _, _, gone := v.client.allowed(ctx, v.base); gone != nil {
				return gone // no other can be had either
			}
			if down == maxDown {
				return err // the server is away
			}
			err = to.Refused(history.Refusal{Where: of.ID, Detail: own.Sentence})
		}
		done++
		tell()
		return err
	})
}

// unknown removes the executions that exist already.
func unknown(ctx context.Context, q HistoryQuery, all []history.Listed) ([]history.Listed, error) {
	if q.Known == nil {
		return all, nil
	}
	known := map[string]bool{}
	for some := range slices.Chunk(all, 1000) {
		var ids []string
		for _, e := range some {
			ids = append(ids, e.ID)
		}
		these, err := q.Known(ctx, ids)
		if err != nil {
			return nil, err
		}
		maps.Copy(known, these)
	}
	return slices.DeleteFunc(all, func(e history.Listed) bool { return known[e.ID] }), nil
}
