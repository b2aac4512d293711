package main

import (
	"context"
	"errors"
	"testing"
	"time"
)

// Work ends with its processor time, however long it waits for the processor, and its own error stays.
func TestWorkEndsWithItsProcessorTime(t *testing.T) {
	const limit = 200 * time.Millisecond
	const ticks = 20 * time.Millisecond // in which the system counts processor time, at both ends
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
	if err != nil || took < limit-ticks || took > 5*limit {
		t.Errorf("it took %v of %v, %v", took, limit, err)
	}
	wrong := errors.New("wrong")
	if _, err := within(t.Context(), limit, func(context.Context) error { return wrong }); !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
}
