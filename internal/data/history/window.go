package history

import "io"

// window holds a part of a text, from which executions are read one after the other.
type window struct {
	in   io.Reader
	text []byte // read and not used
	from int64  // place of text in the whole
	held []byte // what text is in
	err  error  // how the reading ended
}

const (
	leastScanned = lineSpace
	mostScanned  = maxLine // of one execution; larger ones are read value by value
)

// more reads on. It returns false at the end, and where as much is held as may be.
func (w *window) more() bool {
	if w.err != nil || len(w.text) >= mostScanned {
		return false
	}
	space := w.held
	if len(space) < 4*len(w.text) || len(space) == 0 {
		space = make([]byte, min(mostScanned, max(leastScanned, 8*len(w.text))))
	}
	used := copy(space, w.text)
	w.held, w.text = space, space[:used]
	for w.err == nil && len(w.text) < len(space) {
		var n int
		n, w.err = w.in.Read(space[len(w.text):])
		w.text = space[:len(w.text)+n]
	}
	return len(w.text) > used
}

// Read hands out the rest of the text.
func (w *window) Read(p []byte) (int, error) {
	if len(w.text) == 0 && w.err == nil {
		return w.in.Read(p)
	}
	n := copy(p, w.text)
	if w.text = w.text[n:]; n == 0 {
		return 0, w.err
	}
	return n, nil
}

// back takes back what tokens has read and not used.
func (w *window) back(t *tokens) {
	unused, _ := io.ReadAll(t.dec.Buffered()) // it is in memory
	w.text, w.from = append(unused, w.text...), t.at()
}

// scanned returns the next execution as scan reads it; nil where it needs a closer look, or there is none.
func (w *window) scanned(scan func(s *scanner, b *builder) bool) *builder {
	for {
		s, b := scanner{text: w.text}, newBuilder()
		if scan(&s, b) {
			w.text, w.from = w.text[s.at:], w.from+int64(s.at)
			return b
		}
		if endOfValue(w.text, 0) >= 0 || !w.more() {
			return nil
		}
	}
}
