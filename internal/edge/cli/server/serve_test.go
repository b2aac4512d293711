package server

import (
	"errors"
	"slices"
	"testing"
)

func TestServingClosesLastFirst(t *testing.T) {
	t.Parallel()
	var order []string
	broken := errors.New("it does not end")
	ended := make(chan struct{})
	s := &serving{}
	s.onClose(func() error { order = append(order, "first"); return nil })
	s.onCloseWait(func() { order = append(order, "second"); close(ended) }, ended)
	s.onClose(func() error { order = append(order, "third"); return broken })
	if err := s.close(); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
	if want := []string{"third", "second", "first"}; !slices.Equal(order, want) {
		t.Errorf("got %v, want %v", order, want)
	}
}
