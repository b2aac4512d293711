package plans

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// Text is an answer about a shown plan, ready to send.
type Text struct {
	Body   []byte
	Length []string // of the body, as headers hold it, for all requests
	ETag   []string // likewise
	zipped func() Text
	second int64 // for which it holds
}

// Zipped returns the text compressed with gzip, once for all requests.
func (t Text) Zipped() Text { return t.zipped() }

func zip(body []byte) Text {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed) // a level that there is
	_, _ = z.Write(body)                              // into memory: it cannot fail
	_ = z.Close()
	return Text{Body: out.Bytes(), Length: []string{strconv.Itoa(out.Len())}}
}

// texts caches the answers of the present second, so that any number of polls cost one writing a second.
type texts struct {
	mu   sync.RWMutex
	kept map[string]Text
}

// maxTexts bounds the number of cached questions about one plan.
const maxTexts = 64

// Text returns the answer to a question (any name for it) in one second; write makes a missing one.
func (t *texts) Text(question string, second int64, write func() (body []byte, etag string, err error)) (Text, error) {
	t.mu.RLock()
	text, ok := t.kept[question]
	t.mu.RUnlock()
	if ok && text.second == second {
		return text, nil
	}
	body, etag, err := write()
	if err != nil {
		return Text{}, err
	}
	text = Text{Body: body, Length: []string{strconv.Itoa(len(body))}, ETag: []string{etag}, second: second,
		zipped: sync.OnceValue(func() Text { return zip(body) })}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.kept) >= maxTexts {
		clear(t.kept)
	}
	if t.kept == nil {
		t.kept = map[string]Text{}
	}
	t.kept[question] = text
	return text, nil
}

// Event is the plan as a server-sent event, written once for all watchers.
type Event struct {
	ID   string
	Text []byte
}

// Event returns the plan as an event.
func (s *Shown) Event() Event { return s.event }

// eventOf writes a plan's event.
func eventOf(s *Shown) (Event, error) {
	row, err := json.Marshal(s.Record.PlanSummary)
	if err != nil {
		return Event{}, fmt.Errorf("write the summary of a plan: %w", err)
	}
	return Event{ID: strconv.FormatInt(s.Record.Number, 10), Text: PlanEvent(s.Record.Number, row)}, nil
}

// PlanEvent returns a plan's row, which is one line, as an event.
func PlanEvent(number int64, row []byte) []byte {
	return fmt.Appendf(nil, "id: %d\nevent: plan\ndata: %s\n\n", number, row)
}
