package main

import (
	"context"
	"errors"
	"testing"
	"time"
)

// Work ends with its processor time, however long it waits for the processor, and its own error stays.
func TestWorkEndsWithItsProcessorTime(t *testing.T) {
	const limit = 50 * time.Millisecond
	took, err := within(t.Context(), limit, func(ctx context.Context) error {
		time.Sleep(2 * limit)
		if ctx.Err() != nil {
			t.Error("waiting is taken for working")
		}
		for ctx.Err() == nil {
		}
		<-ctx.Done()
		return nil
	})
	if err != nil || took < limit || took > 20*limit {
		t.Errorf("it took %v of %v, %v", took, limit, err)
	}
	wrong := errors.New("wrong")
	if _, err := within(t.Context(), limit, func(context.Context) error { return wrong }); !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
}
