package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"reflect"
	"strings"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/strict"
	"example.org/headroom/internal/edge/api/rules"
)

// body is a request's body, read whole. Its shape is nil if a strict reader checks it.
type body struct {
	*bytes.Reader
	text  []byte
	shape *rules.Shape
}

func (body) Close() error { return nil }

// bodyOf returns the text of a request's body, which validate has read.
func bodyOf(r *http.Request) []byte {
	b, _ := r.Body.(body)
	return b.text
}

// smallBody is the maximum size of a body about one thing. Lists of many (documents, forecasts, problems) may be as
// large as the limits allow.
const smallBody = 256 << 10

// firstRoom is the memory for a body before more of it has come.
const firstRoom int64 = 16 << 10

// maxValues is the maximum number of values in a body that is checked against its shape: in memory one takes up to a
// hundred times the three bytes of its text. A document with all the forecast rows that fit into a body has fewer.
const maxValues = 500_000

// takeBody reads a body of plain JSON within its size limit.
func (s *server) takeBody(w http.ResponseWriter, r *http.Request, o *operation) ([]byte, error) {
	limit := int64(s.config.Limits.Bytes)
	if !o.large {
		limit = min(limit, smallBody)
	}
	if r.ContentLength == 0 && !o.Needs {
		return nil, nil
	}
	if problem, ok := plainCoding(r); !ok {
		return nil, refusal{problem}
	}
	if r.ContentLength > limit {
		return nil, refusal{bodyTooLarge(limit)}
	}
	body := http.MaxBytesReader(w, r.Body, limit)
	text := roomFor(0)
	var err error
	for room := firstRoom; err == nil; room *= 16 { // as it comes: announced bytes may never be sent
		if foreseen := min(r.ContentLength, room); foreseen > int64(text.Len()) {
			begun := text.Bytes()
			text = roomFor(foreseen)
			text.Write(begun)
		}
		_, err = io.CopyN(text, body, room-int64(text.Len()))
	}
	if err != io.EOF {
		return nil, s.cutOff(err)
	}
	if text.Len() == 0 && !o.Needs {
		return nil, nil
	}
	// The type is looked at last: of an empty body it would be the lesser fault.
	if text.Len() > 0 {
		if problem, ok := plainJSON(r.Header.Values("Content-Type")); !ok {
			return nil, refusal{problem}
		}
	}
	return text.Bytes(), nil
}

// roomFor returns an empty buffer with room for the announced bytes, and for noticing that no more come. If none are
// announced it has a little room.
func roomFor(announced int64) *bytes.Buffer {
	return bytes.NewBuffer(make([]byte, 0, max(announced, 0)+bytes.MinRead))
}

// cutOff explains why a body could not be read to its end.
func (s *server) cutOff(err error) error {
	if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
		return err
	}
	if s.draining() {
		return refusal{unavailable("The server is stopping and did not read the body to its end; send it again.")}
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return refusal{tooSlow.problem("The body did not come to its end in time; send it again, and faster.")}
	}
	return refusal{malformed.problem("The body could not be read to its end; send it again.")}
}

// largestTable is the maximum size of a body of CSV, of which a row at a time is in memory.
const largestTable = 64 << 20

func sendsCSV(r *http.Request) bool {
	types := r.Header.Values("Content-Type")
	if len(types) != 1 {
		return false
	}
	kind, _, err := mime.ParseMediaType(types[0])
	return err == nil && kind == "text/csv"
}

// takeTable leaves a body of CSV to be read by the handler.
func (s *server) takeTable(w http.ResponseWriter, r *http.Request) error {
	if problem, ok := plainCoding(r); !ok {
		return refusal{problem}
	}
	_, parameters, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if charset := parameters["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") && !strings.EqualFold(charset, "us-ascii") {
		return refusal{unsupportedMedia.problem(fmt.Sprintf("The body is sent in %.60q; send CSV in UTF-8.", charset))}
	}
	if r.ContentLength > largestTable {
		return refusal{bodyTooLarge(largestTable)}
	}
	r.Body = http.MaxBytesReader(w, r.Body, largestTable)
	return nil
}

func plainCoding(r *http.Request) (problem, bool) {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return unsupportedMedia.problem(fmt.Sprintf("The body is sent in the encoding %.60q; send it as it is.", coding)), false
	}
	return problem{}, true
}

func plainJSON(types []string) (problem, bool) {
	if len(types) == 0 {
		return unsupportedMedia.problem("The header Content-Type is missing; send \"Content-Type: application/json\"."), false
	}
	kind, parameters, err := mime.ParseMediaType(types[0])
	charset := parameters["charset"]
	switch {
	case len(types) > 1 || err != nil || kind != "application/json":
		return unsupportedMedia.problem(fmt.Sprintf("The body is sent as %.60q; send \"Content-Type: application/json\".", strings.Join(types, ", "))), false
	case charset != "" && !strings.EqualFold(charset, "utf-8"):
		return unsupportedMedia.problem(fmt.Sprintf("The body is sent in %.60q; JSON is sent in UTF-8.", charset)), false
	}
	return problem{}, true
}

// checkBody checks a body against its shape. Large ones take turns, so that their values are not all in memory at
// once.
func (s *server) checkBody(r *http.Request, text []byte, shape *rules.Shape) error {
	if len(text) <= smallBody {
		return checkBody(text, shape)
	}
	select {
	case s.largeBodies <- struct{}{}:
		defer func() { <-s.largeBodies }()
		return checkBody(text, shape)
	case <-r.Context().Done():
		return r.Context().Err()
	}
}

func checkBody(text []byte, shape *rules.Shape) error {
	if err := strict.CheckSyntax(text); err != nil {
		return malformedBody(err)
	}
	if values(text) > maxValues {
		return refusal{tooLarge.problem(fmt.Sprintf("The body has more than %d values, the most that are read; send it in parts.", maxValues))}
	}
	value, err := generic(text)
	if err != nil {
		return refusal{malformed.problem("The body is no JSON that can be read.")}
	}
	if findings := shape.Check(value); len(findings) > 0 {
		return refusal{malformed.aboutBody(findings)}
	}
	return nil
}

// malformedBody returns the error for text that is no JSON, or for JSON of another form than required.
func malformedBody(err error) error {
	if input := (*fault.InputError)(nil); errors.As(err, &input) {
		return refusal{malformed.aboutBody(input.Findings)}
	}
	return err
}

// values estimates the number of values in a JSON text: each but the first of a list follows a comma, and the first a
// bracket.
func values(text []byte) (n int) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == '[' || c == '{'):
			n++
		}
	}
	return n
}

func generic(text []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&value)
	return value, err
}

// readBody reads a body that was checked against its shape. It finds the faults that no rule expresses (a
// price with ten decimal places, a whole number written as 1e3).
func readBody[T any](r *http.Request, into **T) error {
	*into = new(T)
	b, ok := r.Body.(body)
	if !ok || len(b.text) == 0 {
		return nil
	}
	if by, ok := any(*into).(interface{ read(text []byte) error }); ok {
		return by.read(b.text)
	}
	if json.Unmarshal(b.text, *into) == nil {
		return nil
	}
	value, err := generic(b.text)
	if err == nil && b.shape != nil {
		if findings := b.shape.Unreadable(value); len(findings) > 0 {
			return refusal{malformed.aboutBody(findings)}
		}
	}
	return refusal{malformed.problem("The body has a value that cannot be read as what it stands for.")}
}

// withNumbers answers a list as it is, or, for programs that draw, with the exact amounts of its rows
// as JSON numbers with the same digits in the place of texts. A table has them as numbers anyway.
func withNumbers[T any](numbers *Numbers, a reply[list[T]], err error) (reply[list[T]], error) {
	if err != nil || a.table != nil || numbers == nil || *numbers != "float" {
		return a, err
	}
	amounts := amountsOf(reflect.TypeFor[T]())
	rows := make([]json.RawMessage, len(a.body.Items))
	for i, item := range a.body.Items {
		if rows[i], err = rowWithNumbers(item, amounts); err != nil {
			return a, err
		}
	}
	text, err := json.Marshal(list[json.RawMessage]{rows, a.body.Next})
	a.text = func() []byte { return append(text, '\n') }
	return a, err
}

// amountsOf returns the members of a row that are exact amounts.
func amountsOf(row reflect.Type) map[string]bool {
	amounts := map[string]bool{}
	for _, f := range reflect.VisibleFields(row) {
		t := f.Type
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t == reflect.TypeFor[money.Amount]() || t == reflect.TypeFor[decimal.Decimal]() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			amounts[name] = true
		}
	}
	return amounts
}

// rowWithNumbers writes an item as its JSON is, but amounts without their quotes.
func rowWithNumbers(item any, amounts map[string]bool) ([]byte, error) {
	text, err := json.Marshal(item)
	if err != nil {
		return nil, fmt.Errorf("write a row: %w", err)
	}
	row, depth, amount := text[:0], 0, false // writing is never ahead of reading
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			amount = false
		case '"':
			end := i + 1
			for ; text[end] != '"'; end++ {
				if text[end] == '\\' {
					end++
				}
			}
			whole := text[i : end+1]
			if depth == 1 && amount {
				whole = text[i+1 : end]
			} else if depth == 1 && text[end+1] == ':' {
				amount = amounts[string(text[i+1:end])]
			}
			row = append(row, whole...)
			i = end
			continue
		}
		row = append(row, text[i])
	}
	return row, nil
}
