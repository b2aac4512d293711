package trace

import (
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of opentelemetry/proto/trace/v1/trace.proto and those it includes; they never change.
const (
	requestResourceSpans = 1

	resourceSpansResource = 1
	resourceSpansScope    = 2
	resourceAttributes    = 1
	scopeSpansScope       = 1
	scopeSpansSpans       = 2
	scopeName             = 1
	scopeVersion          = 2

	spanTrace      = 1
	spanID         = 2
	spanParent     = 4
	spanName       = 5
	spanKind       = 6
	spanBegan      = 7
	spanEnded      = 8
	spanAttributes = 9
	spanStatus     = 15
	spanFlags      = 16
	statusCode     = 3
	statusError    = 2

	pairKey     = 1
	pairValue   = 2
	valueText   = 1
	valueWhole  = 3
	valueDouble = 4

	answerPartial  = 1
	partialRefused = 1
)

// encode returns a batch as an ExportTraceServiceRequest.
func (t *Tracer) encode(batch []*Span) []byte {
	var resource, scope, scoped, all []byte
	for _, key := range slices.Sorted(maps.Keys(t.config.Resource)) {
		resource = message(resource, resourceAttributes, pair(attribute{key, t.config.Resource[key]}))
	}
	scope = message(scope, scopeName, []byte("headroom"))
	scope = message(scope, scopeVersion, []byte(t.config.Version))
	scoped = message(scoped, scopeSpansScope, scope)
	for _, s := range batch {
		scoped = message(scoped, scopeSpansSpans, s.encode())
	}
	all = message(all, resourceSpansResource, resource)
	all = message(all, resourceSpansScope, scoped)
	return message(nil, requestResourceSpans, all)
}

func (s *Span) encode() (b []byte) {
	b = message(b, spanTrace, s.trace[:])
	b = message(b, spanID, s.id[:])
	if s.parent != [8]byte{} {
		b = message(b, spanParent, s.parent[:])
	}
	b = message(b, spanName, []byte(s.name))
	b = protowire.AppendTag(b, spanKind, protowire.VarintType)
	b = protowire.AppendVarint(b, uint64(s.kind))
	b = protowire.AppendTag(b, spanBegan, protowire.Fixed64Type)
	b = protowire.AppendFixed64(b, uint64(s.began.UnixNano()))
	b = protowire.AppendTag(b, spanEnded, protowire.Fixed64Type)
	b = protowire.AppendFixed64(b, uint64(s.began.UnixNano())+uint64(s.ended.Sub(s.began))) // clocks may be set between
	for _, a := range s.attributes {
		b = message(b, spanAttributes, pair(a))
	}
	if s.failed {
		status := protowire.AppendTag(nil, statusCode, protowire.VarintType)
		b = message(b, spanStatus, protowire.AppendVarint(status, statusError))
	}
	b = protowire.AppendTag(b, spanFlags, protowire.Fixed32Type)
	return protowire.AppendFixed32(b, 1)
}

func pair(a attribute) []byte {
	var value []byte
	switch v := a.value.(type) {
	case string:
		value = message(nil, valueText, []byte(v))
	case int64:
		value = protowire.AppendVarint(protowire.AppendTag(nil, valueWhole, protowire.VarintType), uint64(v))
	case float64:
		value = protowire.AppendFixed64(protowire.AppendTag(nil, valueDouble, protowire.Fixed64Type), math.Float64bits(v))
	}
	return message(message(nil, pairKey, []byte(a.key)), pairValue, value)
}

// message adds a field of bytes: a text or a message.
func message(b []byte, field protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), content)
}

// refusedIn returns the number of spans that an ExportTraceServiceResponse reports as refused.
func refusedIn(text []byte) int64 {
	partial := fieldIn(text, answerPartial)
	for len(partial) > 0 {
		field, kind, n := protowire.ConsumeTag(partial)
		if n < 0 {
			return 0
		}
		partial = partial[n:]
		if field == partialRefused && kind == protowire.VarintType {
			count, _ := protowire.ConsumeVarint(partial)
			return int64(count)
		}
		if n = protowire.ConsumeFieldValue(field, kind, partial); n < 0 {
			return 0
		}
		partial = partial[n:]
	}
	return 0
}

// fieldIn returns the content of the first field with a number that holds bytes.
func fieldIn(text []byte, want protowire.Number) []byte {
	for len(text) > 0 {
		field, kind, n := protowire.ConsumeTag(text)
		if n < 0 {
			return nil
		}
		text = text[n:]
		if field == want && kind == protowire.BytesType {
			content, _ := protowire.ConsumeBytes(text)
			return content
		}
		if n = protowire.ConsumeFieldValue(field, kind, text); n < 0 {
			return nil
		}
		text = text[n:]
	}
	return nil
}
