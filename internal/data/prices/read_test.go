package prices

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/money"
)

var long = os.Getenv("HEADROOM_LONG") == "1"

// alike compares sheets; amounts may differ in exponent, and the order of offers does not count.
var alike = cmp.Options{
	cmp.Comparer(func(x, y decimal.Decimal) bool { return x.Equal(y) }),
	cmp.Comparer(func(x, y money.Amount) bool { return x.Equal(y.Decimal) }),
	cmpopts.SortSlices(func(x, y Reserved) bool { return x.Name < y.Name }),
	cmpopts.EquateEmpty(),
	cmpopts.IgnoreFields(Price{}, "Where"), // differs in every form; see TestPricesSayWhereTheyStand
	cmpopts.IgnoreFields(Reserved{}, "Where"),
}

func zipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestASheetIsWhatTheNaiveReadingSays(t *testing.T) {
	for seed, size := range []int64{2 << 20, 20 << 20} {
		f := ofSize(uint64(seed), size)
		data := f.json(t)
		want := naively(t, data, "eu-west-1", "m")
		sheet, err := Read(bytes.NewReader(data), Selection{Regions: []string{"eu-west-1"}, Instances: []string{"m*"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(want) < 7 || len(sheet.Instances) != len(want) {
			t.Fatalf("got %d instances, want %d", len(sheet.Instances), len(want))
		}
		for _, i := range sheet.Instances {
			if diff := cmp.Diff(want[i.Name], i, alike); diff != "" {
				t.Fatalf("%s (-naively +read):\n%s", i.Name, diff)
			}
		}
		skipped := int64(0)
		for _, n := range sheet.Skipped {
			skipped += n
		}
		if skipped+int64(len(sheet.Instances)) != int64(f.products) {
			t.Errorf("%d products were taken and %d left out, want %d in all", len(sheet.Instances), skipped, f.products)
		}
		if sheet.Format != AWS || sheet.Currency != "USD" || sheet.Version != "20260301000000" || !sheet.Published.Equal(time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)) {
			t.Errorf("the sheet is %+v", sheet)
		}
		t.Logf("%d MB, %d products, skipped %v", len(data)>>20, f.products, sheet.Skipped)
		if seed > 0 {
			continue
		}
		// The same in every other form, and through readers that return little at a time.
		var table bytes.Buffer
		if err := f.writeCSV(&table); err != nil {
			t.Fatal(err)
		}
		crlf := bytes.ReplaceAll(table.Bytes(), []byte("\n"), []byte("\r\n"))
		for name, in := range map[string]io.Reader{
			"JSON byte by byte":       iotest.OneByteReader(bytes.NewReader(data)),
			"JSON by halves":          iotest.HalfReader(bytes.NewReader(data)),
			"JSON with its end":       iotest.DataErrReader(bytes.NewReader(data)),
			"JSON zipped":             bytes.NewReader(zipped(t, data)),
			"JSON zipped in two":      io.MultiReader(bytes.NewReader(zipped(t, data[:len(data)/2])), bytes.NewReader(zipped(t, data[len(data)/2:]))),
			"JSON after a mark":       io.MultiReader(strings.NewReader("\ufeff\n"), bytes.NewReader(data)),
			"JSON without spaces":     bytes.NewReader(compact(t, data)),
			"CSV":                     bytes.NewReader(table.Bytes()),
			"CSV zipped":              bytes.NewReader(zipped(t, table.Bytes())),
			"CSV byte by byte":        iotest.OneByteReader(bytes.NewReader(table.Bytes())),
			"CSV as Windows":          io.MultiReader(strings.NewReader("\ufeff"), bytes.NewReader(crlf)),
			"CSV without rows 1 to 5": io.MultiReader(bytes.NewReader(table.Bytes()[bytes.Index(table.Bytes(), []byte(`"SKU"`)):])),
		} {
			again, err := Read(in, Selection{Regions: []string{"eu-west-1"}, Instances: []string{"m*"}}, nil)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if diff := cmp.Diff(sheet.Instances, again.Instances, alike); diff != "" {
				t.Errorf("%s:\n%s", name, diff)
			}
			if strings.HasPrefix(name, "JSON") == (again.Format == AWSCSV) {
				t.Errorf("%s is taken for %s", name, again.Format)
			}
		}
	}
}

func compact(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// peak returns the largest heap during a function.
func peak(f func()) (bytes uint64) {
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // as a server collects garbage
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			metrics.Read(sample)
			bytes = max(bytes, sample[0].Value.Uint64())
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}()
	f()
	close(stop)
	<-done
	return bytes
}

// highWater returns the process's peak memory since its last reset, as the kernel counts.
func highWater(t testing.TB) (kilobytes int) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, is := strings.CutPrefix(line, "VmHWM:"); is {
			kilobytes, err = strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			return kilobytes
		}
	}
	t.Fatal("the kernel does not say VmHWM")
	return 0
}

func TestMemoryDoesNotGrowWithTheFile(t *testing.T) {
	size, highest := int64(20<<20), uint64(64<<20)
	if long {
		size = 1 << 30
	}
	for _, form := range []struct {
		name  string
		file  offerFile
		write func(offerFile, io.Writer) error
	}{{"JSON", ofSize(7, size), offerFile.writeJSON}, {"CSV", ofSize(7, 3*size), offerFile.writeCSV}} {
		runtime.GC()
		debug.FreeOSMemory()
		reset := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) == nil
		var sent, heard int64
		var sheet Sheet
		var err error
		begun := time.Now()
		held := peak(func() {
			out, in := io.Pipe()
			written := make(chan error)
			go func() {
				err := form.write(form.file, in)
				in.CloseWithError(err)
				written <- err
			}()
			sheet, err = Read(out, Selection{Regions: []string{"eu-west-1"}}, func(bytes int64) {
				if bytes <= heard {
					t.Errorf("the progress goes from %d to %d bytes", heard, bytes)
				}
				heard = bytes
			})
			out.CloseWithError(errors.New("nobody reads"))
			if err := <-written; err != nil {
				t.Error(err)
			}
			sent = heard
		})
		took := time.Since(begun)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d MB, %d instances, %.1f MB on the heap at most, VmHWM %d MB, %v with the writing (%.0f MB/s)", form.name, sent>>20, len(sheet.Instances), float64(held)/(1<<20), highWater(t)>>10,
			took.Round(time.Millisecond), float64(sent)/1e6/took.Seconds())
		if sent < size*9/10 || len(sheet.Instances) < 100 {
			t.Errorf("only %d bytes and %d instances were read", sent, len(sheet.Instances))
		}
		if held > highest {
			t.Errorf("%d MB were on the heap, want %d at most", held>>20, highest>>20)
		}
		if reset && long && highWater(t) > 256<<10 {
			t.Errorf("the process had %d MB, want 256 at most", highWater(t)>>10)
		}
	}
}

// Reading a sheet beside merely decoding its tokens.
func TestReadingIsFasterThanDecodingTokens(t *testing.T) {
	data := ofSize(3, 20<<20).json(t)
	var table bytes.Buffer
	if err := ofSize(3, 20<<20).writeCSV(&table); err != nil {
		t.Fatal(err)
	}
	speed := func(size int, f func()) float64 {
		var took []time.Duration
		for range 3 {
			begun := time.Now()
			f()
			took = append(took, time.Since(begun))
		}
		slices.Sort(took)
		return float64(size) / 1e6 / took[1].Seconds()
	}
	sheet := func(data []byte) func() {
		return func() {
			if _, err := Read(bytes.NewReader(data), Selection{Regions: []string{"eu-west-1"}, Instances: []string{"m5.*"}}, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	ours := speed(len(data), sheet(data))
	tokens := speed(len(data), func() {
		d := json.NewDecoder(bytes.NewReader(data))
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Logf("JSON %.0f MB/s, its tokens by encoding/json %.0f MB/s, compact JSON %.0f MB/s, CSV %.0f MB/s", ours, tokens, speed(len(compact(t, data)), sheet(compact(t, data))), speed(table.Len(), sheet(table.Bytes())))
	if ours < tokens { // measured: four to five times as fast
		t.Errorf("a sheet is read at %.0f MB/s, slower than its tokens are decoded (%.0f MB/s)", ours, tokens)
	}
}
