package history

import (
	"bytes"
	"io"
	"math/rand/v2"
	"reflect"
	"testing"
	"testing/iotest"
)

// agreeOnTrace reads a trace with the scanner and without, also in pieces, and tells how many executions the scanner reads.
func agreeOnTrace(t *testing.T, text []byte) (scanned int) {
	t.Helper()
	read := func(pieces bool, scan func(*scanner, *builder) bool) (k taken) {
		var in io.Reader = bytes.NewReader(text)
		if pieces {
			in = iotest.OneByteReader(in)
		}
		if err := readTrace(in, k.sink(), "Rumen", (*tokens).rumenMember, scan); err != nil {
			t.Fatal(err)
		}
		return k
	}
	want := read(false, func(*scanner, *builder) bool { return false })
	for _, pieces := range []bool{false, true} {
		scanned = 0
		got := read(pieces, func(s *scanner, b *builder) bool {
			good := scanRumen(s, b)
			if good {
				scanned++
			}
			return good
		})
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, want %+v of\n%s", got, want, text)
		}
	}
	return scanned
}

// Traces with any change mean the same to encoding/json, or are left to it.
func TestScannedTracesAreThoseOfJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var trace bytes.Buffer
	for n := range 3 {
		makeJob(r, n, 2, 1).writeRumen(&trace)
	}
	if n := agreeOnTrace(t, trace.Bytes()); n != 3 {
		t.Fatalf("%d of 3 executions were scanned", n)
	}
	pieces := []string{`"jobName":"a\u0041\n",`, `"jobName":"é",`, `"TaskID":"x",`, `"tas\u212aID":"x",`, `"hostName":null,`, `"startTime":5,`, `"startTime":1.0,`, `"startTime":"x",`, `"attempts":[],`, `"attempts":null,`, `"mapTasks":null,`, `"mapTasks":[null],`,
		`"queue":7,`, `"outcome":null,`, `"totalMaps":null,`, `null`, `,`, `}`, `{`, `[`, `]`, `:`, `"`, `\`, ` `, "\n", `-`, `01`, `1e9`, `true`, "\x00", "\xff", "\ufeff", `{}`}
	none, some, all := 0, 0, 0
	for range 4000 {
		switch agreeOnTrace(t, changed(r, bytes.Clone(trace.Bytes()), pieces)) {
		case 0:
			none++
		case 3:
			all++
		default:
			some++
		}
	}
	if none < 200 || some < 200 || all < 200 {
		t.Errorf("of %d changed traces nothing was scanned, of %d a part, of %d all: all must be many", none, some, all)
	}
}

func FuzzScannedTraces(f *testing.F) {
	var trace bytes.Buffer
	makeJob(rand.New(rand.NewPCG(7, 8)), 1, 2, 1).writeRumen(&trace)
	f.Add(trace.Bytes())
	f.Add([]byte(`{"jobID":"a","mapTasks":[{"taskID":"t","attempts":[{"hostName":"h","startTime":1,"finishTime":2}]}]} {"jobID" : "b\""}{`))
	f.Fuzz(func(t *testing.T, text []byte) { agreeOnTrace(t, text) })
}
