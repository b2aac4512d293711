package prices

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/core/fault"
)

// repeated returns this many bytes of a repeated text, between a beginning and an end.
func repeated(begin, again string, bytes int64, end string) io.Reader {
	return io.MultiReader(strings.NewReader(begin), io.LimitReader(&loop{text: again}, bytes), strings.NewReader(end))
}

type loop struct {
	text string
	at   int
}

func (l *loop) Read(p []byte) (n int, err error) {
	for n < len(p) {
		copied := copy(p[n:], l.text[l.at:])
		n, l.at = n+copied, (l.at+copied)%len(l.text)
	}
	return n, nil
}

// numbered returns a text made anew with every number, up to this many bytes.
func numbered(begin string, bytes int64, item func(i int) string) io.Reader {
	out, in := io.Pipe()
	go func() {
		buffered := bufio.NewWriter(in)
		_, err := buffered.WriteString(begin)
		for i, sent := 0, int64(0); sent < bytes && err == nil; i++ {
			var n int
			n, err = buffered.WriteString(item(i))
			sent += int64(n)
		}
		in.CloseWithError(errors.Join(err, buffered.Flush()))
	}()
	return out
}

func TestHostileSheetsAreRefusedInLittleMemory(t *testing.T) {
	const huge = 100 << 20
	for _, c := range []struct {
		situation string
		sheet     io.Reader
		code      string
	}{
		{"a text of 100 MB", repeated(`{"disclaimer": "`, "all prices ", huge, `"}`), "too_long"},
		{"a text of 100 MB of escapes", repeated(`{"disclaimer": "`, `\u0041`, huge, `"}`), "too_long"},
		{"a name of 100 MB", repeated(`{"products": {"`, "SKU", huge, `": {}}}`), "too_long"},
		{"a number of 100 MB", repeated(`{"version": `, "9", huge, `}`), "too_long"},
		{"a row of 100 MB", repeated("vm_type,price_per_hour\n\"", "all prices ", huge, "\",1\n"), "too_long"},
		{"a header of 100 MB", repeated("vm_type,", "price,", huge, "\n"), "too_long"},
		{"lists in lists", repeated(`{"more": `, "[", huge, ""), "too_deep"},
		{"objects in objects", repeated(`{"more": `, `{"a":`, huge, ""), "too_deep"},
		{"bare words", repeated(`{"more": `, "truefalse", huge, "}"), "too_long"},
		{"spaces for ever", repeated(`{`, strings.Repeat(" ", 4096), huge, ""), "cut_off"},
		{"products without end", numbered(`{"products": {`, huge, func(i int) string { return machine(fmt.Sprint("S", i), "instanceType", fmt.Sprint("m", i)) + "," }), "too_many"},
		{"products of one machine", numbered(`{"products": {`, huge, func(i int) string { return machine(fmt.Sprint("S", i)) + "," }), "too_many"},
		{"long texts in products", numbered(`{"products": {`, huge/5, func(i int) string {
			return machine(fmt.Sprint("S", i), "instanceType", fmt.Sprint("m", i), "location", strings.Repeat("x", 60_000), "vcpu", strings.Repeat("0", 60_000)) + ","
		}), "cut_off"},
		{"long names", numbered(`{"products": {`, huge/5, func(i int) string { return machine(fmt.Sprint(strings.Repeat("x", 60_000), i)) + "," }), "cut_off"},
		{"terms without end", numbered(`{"products": {`+machine("A")+`}, "terms": {"OnDemand": {`, 3*huge, func(i int) string { return onDemandTerm("A", fmt.Sprintf("0.%08d", i+1)) + "," }), "too_many"},
		{"rates without end", numbered(`{"products": {`+machine("A")+`}, "terms": {"OnDemand": {"A": {"A.B": {"priceDimensions": {`, huge/5, func(i int) string { return hourlyRate(fmt.Sprint(i), "0.1") + "," }), "cut_off"},
		{"long codes of terms", numbered(`{"products": {`+machine("A")+`}, "terms": {"OnDemand": {"A": {`, huge/5, func(i int) string {
			return fmt.Sprintf(`"%s%d": {"priceDimensions": {%s}},`, strings.Repeat("x", 60_000), i, hourlyRate("a", "0.1"))
		}), "cut_off"},
		{"rows without end", numbered("vm_type,price_per_hour\n", huge, func(i int) string { return fmt.Sprintf("a%d,1\n", i) }), "too_many"},
		{"prices without end", numbered("vm_type,price_per_hour,from\n", huge, func(i int) string { return "a,1,2026-01-01\n" }), "too_many"},
		{"rows of AWS's without end", numbered(awsHeader, huge, func(i int) string {
			return fmt.Sprintf("S1,T%d,R%d,Reserved,Hrs,1,USD,Compute Instance,m5.large,Linux,Shared,eu-west-1\n", i%150, i)
		}), "too_many"},
		{"long fields of AWS's", numbered(awsHeader, huge, func(i int) string {
			return fmt.Sprintf("S1,T%d,%s,Reserved,Hrs,1,USD,Compute Instance,m5.large,Linux,Shared,eu-west-1\n", i%150, strings.Repeat("x", 60_000))
		}), "too_long"},
		{"NUL", strings.NewReader("{\"a\": \"\x00\"}"), "text"},
		{"NUL in a CSV", strings.NewReader("vm_type,price_per_hour\na\x00,1\n"), "text"},
		{"broken UTF-8", strings.NewReader("{\"a\": \"\xc3\x28\"}"), "text"},
		{"broken UTF-8 in a CSV", strings.NewReader("vm_type,price_per_hour\n\xff,1\n"), "text"},
		{"half a character at the end", strings.NewReader("vm_type,price_per_hour\na,1\n\xe2\x82"), "text"},
		{"UTF-16", strings.NewReader("\xff\xfe{\x00}\x00"), "text"},
		{"a surrogate", strings.NewReader("{\"a\": \"\xed\xa0\x80\"}"), "text"},
		{"a control character", strings.NewReader("{\"a\": \"\x01\"}"), "syntax"},
		{"a line break in a text", strings.NewReader("{\"a\": \"\n\"}"), "syntax"},
		{"a bad escape", strings.NewReader(`{"a": "\x"}`), "syntax"},
		{"a number of its own", strings.NewReader(`{"a": 01}`), "syntax"},
		{"a word of its own", strings.NewReader(`{"a": True}`), "syntax"},
		{"a comma too many", strings.NewReader(`{"a": 1,}`), "syntax"},
		{"no colon", strings.NewReader(`{"a" 1}`), "syntax"},
		{"something behind", strings.NewReader(`{"products": {}, "terms": {}} {}`), "syntax"},
		{"products that are a list", strings.NewReader(`{"products": []}`), "syntax"},
		{"gzip that is none", strings.NewReader("\x1f\x8b" + strings.Repeat("{}", 50)), "damaged"},
		{"gzip with a wrong sum", bytes.NewReader(damaged(t)), "damaged"},
	} {
		t.Run(c.situation, func(t *testing.T) {
			var s Sheet
			var err error
			held := peak(func() { s, err = Read(c.sheet, Selection{Currency: "EUR"}, nil) })
			if pipe, is := c.sheet.(io.Closer); is {
				_ = pipe.Close() // so that its writer ends
			}
			if f := refused(t, s, err).Findings[0]; f.Code != c.code {
				t.Errorf("got %v (%s), want the code %s", err, f.Code, c.code)
			}
			if held > 128<<20 {
				t.Errorf("%d MB were on the heap", held>>20)
			}
		})
	}
}

const awsHeader = "SKU,OfferTermCode,RateCode,TermType,Unit,PricePerUnit,Currency,Product Family,Instance Type,Operating System,Tenancy,Region Code\n"

func damaged(t *testing.T) []byte {
	z := zipped(t, []byte("vm_type,price_per_hour\na,1\n"))
	z[len(z)-6] ^= 1
	return z
}

func TestABombIsLimitedByWhatItUnpacksTo(t *testing.T) {
	var bomb bytes.Buffer
	z, _ := gzip.NewWriterLevel(&bomb, gzip.BestSpeed)
	if _, err := io.CopyN(z, &loop{text: strings.Repeat(" ", 1<<16)}, 256<<20); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	heard := int64(0)
	s, err := Read(bytes.NewReader(bomb.Bytes()), Selection{MaxBytes: 10 << 20}, func(bytes int64) { heard = bytes })
	if f := refused(t, s, err).Findings[0]; f.Code != "too_large" || !strings.Contains(f.Detail, "10485760") {
		t.Errorf("got %v", err)
	}
	if heard > int64(bomb.Len()/2) {
		t.Errorf("%d of %d bytes were read of a bomb whose limit is a small part of it", heard, bomb.Len())
	}
	sheet := "vm_type,price_per_hour\na,1\n"
	for _, c := range []struct {
		max  int64
		good bool
	}{{int64(len(sheet)), true}, {int64(len(sheet)) - 1, false}} {
		if _, err := read(sheet, Selection{Currency: "EUR", MaxBytes: c.max}); (err == nil) != c.good {
			t.Errorf("%d bytes with a limit of %d: %v", len(sheet), c.max, err)
		}
	}
}

// The end of a broken sheet's reading is reported to the byte, in lines and columns.
func TestTheScannerSaysWhereItStopped(t *testing.T) {
	data := offerFile{seed: 5, products: 400}.json(t)
	rng := rand.New(rand.NewPCG(5, 6))
	for range 30 {
		from := 100 + rng.IntN(len(data)-1000)
		at := from + bytes.Index(data[from:], []byte(`" : "`)) + 2
		text := bytes.Clone(data)
		text[at] = '='
		s, err := Read(bytes.NewReader(text), Selection{Regions: []string{"eu-west-1"}}, nil)
		f := refused(t, s, err).Findings[0]
		line, column := 1+bytes.Count(text[:at], []byte{'\n'}), at-bytes.LastIndexByte(text[:at], '\n')
		if f.Line != line || f.Column != column || !strings.Contains(f.Detail, fmt.Sprintf("(byte %d)", at)) || f.Code != "syntax" {
			t.Fatalf("got %v, want line %d, column %d, byte %d", err, line, column, at)
		}
	}
}

// A file cut anywhere never gives a part of the whole one.
func TestATruncatedSheetIsNeverRead(t *testing.T) {
	f := offerFile{seed: 5, products: 60}
	data := f.json(t)
	packed := zipped(t, data)
	sel := Selection{Regions: []string{"eu-west-1"}, Instances: []string{"m5.*"}}
	rng := rand.New(rand.NewPCG(1, 2))
	end := len(bytes.TrimRight(data, " \n"))
	cuts := []int{1, 2, end - 1, end - 2, end - 3, end - 4}
	for range 800 {
		cuts = append(cuts, 1+rng.IntN(end-1))
	}
	for _, cut := range cuts {
		s, err := Read(bytes.NewReader(data[:cut]), sel, nil)
		if f := refused(t, s, err).Findings[0]; f.Code != "cut_off" {
			t.Fatalf("cut at byte %d of %d: %v", cut, len(data), err)
		}
	}
	for range 300 {
		cut := 1 + rng.IntN(len(packed)-1)
		s, err := Read(bytes.NewReader(packed[:cut]), sel, nil)
		refused(t, s, err)
	}
	// A CSV cut between two rows does not show it. It then gives the content of its rows, and an offer that lost its
	// price per hour or its fee is refused.
	var table bytes.Buffer
	if err := f.writeCSV(&table); err != nil {
		t.Fatal(err)
	}
	whole, err := Read(bytes.NewReader(table.Bytes()), sel, nil)
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for range 800 {
		cut := 1 + rng.IntN(table.Len()-1)
		s, err := Read(bytes.NewReader(table.Bytes()[:cut]), sel, nil)
		if err != nil {
			refused(t, s, err)
			continue
		}
		read++
		rest := strings.TrimLeft(table.String()[cut:], "\"\n") // all of the last row was there
		if before := table.Bytes()[cut-1]; before != '\n' && before != '"' || rest != "" && !strings.Contains("0123456789ABCDEF", rest[:1]) {
			t.Fatalf("cut at byte %d, inside of a row, the sheet is read: %q", cut, table.String()[cut-60:cut+30])
		}
		known := map[string]Instance{}
		for _, i := range whole.Instances {
			known[i.Name] = i
		}
		for _, i := range s.Instances {
			for _, o := range i.Reserved {
				if !containsOffer(known[i.Name].Reserved, o) {
					t.Fatalf("cut at byte %d, %s has the offer %+v, which the whole sheet has not", cut, i.Name, o)
				}
			}
		}
	}
	t.Logf("%d of 800 cut CSVs end between two rows", read)
}

func containsOffer(offers []Reserved, o Reserved) bool {
	for _, other := range offers {
		if cmp.Equal(other, o, alike) {
			return true
		}
	}
	return false
}

func TestTheReadersOwnErrorComesBack(t *testing.T) {
	broken := errors.New("the connection is gone")
	data := offerFile{seed: 5, products: 60}.json(t)
	for name, in := range map[string]io.Reader{
		"JSON":    io.MultiReader(bytes.NewReader(data[:len(data)/2]), iotest.ErrReader(broken)),
		"zipped":  io.MultiReader(bytes.NewReader(zipped(t, data)[:2000]), iotest.ErrReader(broken)),
		"CSV":     io.MultiReader(strings.NewReader("vm_type,price_per_hour\na,1\nb"), iotest.ErrReader(broken)),
		"nothing": iotest.ErrReader(broken),
	} {
		s, err := Read(in, Selection{Currency: "USD"}, nil)
		if !errors.Is(err, broken) || errors.Is(err, fault.Invalid) || len(s.Instances) > 0 {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// The scanner accepts the same JSON as encoding/json, apart from its own limits.
func TestTheScannerAgreesOnWhatIsJSON(t *testing.T) {
	start := []byte(`{"products":{},"terms":{},"x":[{"a":[1,-0.5e+7,true,false,null],"b\n\u00e9\"":"\ud83d\ude00é\\ "},{},[],"",0]}`)
	rng := rand.New(rand.NewPCG(3, 4))
	const bits = "{}[]\",:\\ \n0123e+-.tfnaulrse\x01u00"
	good, bad := 0, 0
	window := make([]byte, windowSize)
	for i := range 40_000 {
		text := bytes.Clone(start)
		for range 1 + rng.IntN(2) {
			at := rng.IntN(len(text))
			switch rng.IntN(3) {
			case 0:
				text[at] = bits[rng.IntN(len(bits))]
			case 1:
				text = append(text[:at], text[at+1:]...)
			case 2:
				text = append(text[:at], append([]byte{bits[rng.IntN(len(bits))]}, text[at:]...)...)
			}
		}
		if i == 0 {
			text = start
		}
		var in io.Reader = bytes.NewReader(text)
		if i%2 == 1 {
			in = iotest.OneByteReader(in)
		}
		s := &scanner{in: in, buf: window}
		s.skip()
		if s.err == nil && s.next() != 0 {
			s.unexpected("the end")
		}
		if want := json.Valid(text) || !bytes.HasPrefix(bytes.TrimSpace(text), []byte{'{'}) && s.err == nil; (s.err == nil) != want {
			t.Fatalf("%s\nis JSON: %v; the scanner says %v", text, json.Valid(text), s.err)
		}
		if s.err == nil {
			good++
		} else {
			bad++
		}
	}
	if good < 2000 || bad < 2000 {
		t.Errorf("%d texts were JSON and %d were not; want a mixture", good, bad)
	}
}

func FuzzRead(f *testing.F) {
	var table bytes.Buffer
	if err := (offerFile{seed: 9, products: 1}).writeCSV(&table); err != nil {
		f.Fatal(err)
	}
	f.Add(bytes.Join(bytes.SplitAfter(table.Bytes(), []byte("\n"))[:10], nil))
	f.Add([]byte(offers(machine("A1"), onDemandTerm("A1", "0.2"), reservedTerm("A1.R", threeYears, hourlyRate("h", "0.1"), feeRate("f", "100")))))
	f.Add([]byte(strings.Join(Columns(), ",") + "\na,r,reserved,0.06,1000,3,Partial Upfront,standard,used,20,cheap,2026-01-01,,EUR,4,16,0\na,r,spot,0.1,,,,,,,,2026-01-01,2026-02-01,EUR,,,\n"))
	f.Add(zipped(f, []byte("vm_type,price_per_hour,currency\na,1,EUR\n")))
	f.Fuzz(func(t *testing.T, data []byte) {
		heard := int64(0)
		sel := Selection{MaxBytes: 1 << 20}
		s, err := Read(bytes.NewReader(data), sel, func(bytes int64) {
			if bytes <= heard {
				t.Fatalf("the progress goes from %d to %d", heard, bytes)
			}
			heard = bytes
		})
		again, errAgain := Read(iotest.OneByteReader(bytes.NewReader(data)), sel, nil)
		if (err == nil) != (errAgain == nil) || !cmp.Equal(s, again, alike) { // the first of several faults may differ
			t.Fatalf("byte by byte it is another: %v\n%v", err, errAgain)
		}
		if err != nil {
			refused(t, s, err)
			return
		}
		if heard != int64(len(data)) || len(s.Instances) == 0 || len(s.Currency) != 3 {
			t.Fatalf("%d of %d bytes were read, for %d instances in %q", heard, len(data), len(s.Instances), s.Currency)
		}
		for _, i := range s.Instances {
			if len(i.OnDemand)+len(i.Spot)+len(i.Reserved) == 0 || !isName(i.Name) {
				t.Fatalf("%+v has no price or name", i)
			}
			for _, p := range append(i.OnDemand, i.Spot...) {
				if !Stored(p.PerHour).IsPositive() {
					t.Fatalf("%s is free", i.Name)
				}
			}
			for _, o := range i.Reserved {
				if !o.Effective.IsPositive() || o.TermYears < 1 || !o.Effective.Equal(EffectivePerHour(o.PerHour, o.Upfront, o.TermYears).Decimal) {
					t.Fatalf("%s has the offer %+v", i.Name, o)
				}
			}
		}
	})
}
