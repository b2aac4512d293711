package api

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/service/telemetry"
)

// sheet is a small price sheet: two instances on demand, one of them reserved too.
const sheet = `vm_type,purchase,price_per_hour,upfront,term_years,payment,class,vcpu,memory_gib
m5.xlarge,on_demand,0.192,,,,,4,16
m5.xlarge,reserved,0.0605,507,1,Partial Upfront,standard,4,16
m5.xlarge,reserved,0,1513,3,All Upfront,convertible,4,16
r5.xlarge,on_demand,0.252,,,,,4,32
`

const regional = "vm_type,price_per_hour,region\na,1,east\na,2,eden\n"

// importing sends a sheet and takes the report.
func (s *service) importing(query, text string) (made clusters.PriceImport) {
	s.Helper()
	s.ask(s.admin, "POST", "/v1/clusters/mine/price-imports?from=2026-03-01T00:00:00Z"+query, text, "Content-Type", "text/csv").want(s, 200).into(s, &made)
	return made
}

// kept returns a cluster's document as text.
func (s *service) kept(cluster string) string {
	s.Helper()
	return string(s.ask(s.admin, "GET", "/v1/clusters/"+cluster+"/document", nil).want(s, 200).text)
}

func TestASheetIsTakenOverOnce(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"mine"}`).want(t, 201)
	empty := s.kept("mine")
	none := clusters.ImportCount{}
	said := s.importing("&dry_run=true", sheet)
	if said.VMTypes.Created != 2 || said.Prices.Created != 2 || said.Offers.Created != 2 || !said.DryRun || s.kept("mine") != empty {
		t.Errorf("a dry run says %+v, and leaves %s", said, s.kept("mine"))
	}
	made := s.importing("", sheet)
	if made.VMTypes != said.VMTypes || made.Prices != said.Prices || made.Offers != said.Offers || len(made.Changes) != 6 || made.Version != said.Version+1 {
		t.Errorf("the import %+v, its dry run %+v", made, said)
	}
	var v inputs.VMType
	s.ask(s.admin, "GET", "/v1/clusters/mine/vm-types/m5.xlarge", nil).want(t, 200).into(t, &v)
	if v.InUse || v.VCPU == nil || *v.VCPU != 4 || v.MemoryGiB == nil || *v.MemoryGiB != 16 {
		t.Errorf("the VM type is %+v", v)
	}
	// 1513/(8760·3) = 0.057572298…, and 0.0605 + 507/8760 = 0.118376712…, rounded once.
	wants := []string{"0.118376712", "0.057572298"}
	for i, o := range made.Items[0].Offers {
		var kept inputs.StandingOffer
		s.ask(s.admin, "GET", "/v1/clusters/mine/offers/"+url.PathEscape(o.Name), nil).want(t, 200).into(t, &kept)
		if o.EffectivePrice.String() != wants[i] || kept.Billing != capacity.BilledAlways || !kept.Upfront.Equal(o.Upfront.Decimal) || kept.VMType != "m5.xlarge" || kept.Max != capacity.MaxOfferVMs {
			t.Errorf("offer %q: effectively %s, kept as %+v", o.Name, o.EffectivePrice, kept)
		}
	}
	if made.Items[0].Offers[0].Name != "m5.xlarge 1yr standard Partial Upfront" {
		t.Errorf("the offer is called %q", made.Items[0].Offers[0].Name)
	}

	// The same again, in another form, and an hour later, changes nothing.
	before := s.kept("mine")
	var audit list[app.AuditEntry]
	s.ask(s.admin, "GET", "/v1/audit?limit=1000", nil).want(t, 200).into(t, &audit)
	for _, again := range []clusters.PriceImport{s.importing("", sheet), s.importing("", packed(t, sheet)), s.importing("&instance=m5.*", sheet)} {
		if len(again.Changes) != 0 || again.VMTypes.Unchanged+again.Prices.Unchanged+again.Offers.Unchanged < 4 || again.Prices.Created != 0 || again.Version != made.Version {
			t.Errorf("again: %+v", again)
		}
	}
	var since list[app.AuditEntry]
	s.ask(s.admin, "GET", "/v1/audit?limit=1000", nil).want(t, 200).into(t, &since)
	if s.kept("mine") != before || len(since.Items) != len(audit.Items) {
		t.Errorf("the second time something changed: %d entries, were %d", len(since.Items), len(audit.Items))
	}

	// Another price ends the open period; people's own changes stay.
	s.ask(s.admin, "PUT", "/v1/clusters/mine/offers/"+url.PathEscape(made.Items[0].Offers[0].Name), `{"name":"m5.xlarge 1yr standard Partial Upfront","vm_type":"m5.xlarge","price":"0.0605","upfront":507,"billing":"always","term_years":1,"max":7}`, "If-Match", `"1"`).want(t, 200)
	var later clusters.PriceImport
	s.ask(s.admin, "POST", "/v1/clusters/mine/price-imports?from=2026-06-01T00:00:00Z", strings.NewReplacer("0.192", "0.2", "0.0605", "0.06").Replace(sheet), "Content-Type", "application/octet-stream").want(t, 200).into(t, &later)
	if later.VMTypes.Created+later.VMTypes.Updated != 0 || later.Prices != (clusters.ImportCount{Created: 1, Updated: 1, Unchanged: 1}) || later.Offers != (clusters.ImportCount{Updated: 1, Unchanged: 1}) {
		t.Errorf("a later sheet: %+v", later)
	}
	var kept inputs.StandingOffer
	s.ask(s.admin, "GET", "/v1/clusters/mine/offers/"+url.PathEscape(made.Items[0].Offers[0].Name), nil).into(t, &kept)
	if kept.Max != 7 || kept.Price.String() != "0.06" {
		t.Errorf("the offer is %+v", kept)
	}
	var periods list[inputs.PricePeriod]
	s.ask(s.admin, "GET", "/v1/clusters/mine/prices", nil).into(t, &periods)
	if len(periods.Items) != 3 || periods.Items[0].Until == nil || !periods.Items[0].Until.Equal(later.From) || periods.Items[1].Price.String() != "0.20" || periods.Items[1].Until != nil {
		t.Errorf("the periods are %+v", periods.Items)
	}

	// Under another name, into a type that is there already.
	s.ask(s.admin, "POST", "/v1/clusters/mine/vm-types", `{"name":"worker","vcpu":3}`).want(t, 201)
	named := s.importing("&instance=m5.xlarge&as=m5.xlarge:worker&on_demand_only=true", sheet)
	if named.VMTypes != (clusters.ImportCount{Updated: 1}) || named.Offers != none || named.Items[0].VMType != "worker" {
		t.Errorf("as worker: %+v", named)
	}
	s.ask(s.admin, "GET", "/v1/clusters/mine/vm-types/worker", nil).into(t, &v)
	if !v.InUse || *v.VCPU != 3 || *v.MemoryGiB != 16 {
		t.Errorf("the type that was there is %+v", v)
	}
}

func packed(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWhatIsWrongWithAnImportIsSaidAndNothingTaken(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"mine"}`).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"yuan","currency":"CNY"}`).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters/mine/vm-types", `{"name":"r5.xlarge"}`).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters/mine/prices", `{"vm_type":"r5.xlarge","price":"0.3","from":"2026-05-01T00:00:00Z","until":"2026-07-01T00:00:00Z"}`).want(t, 201)
	before := s.kept("mine")
	for _, c := range []struct {
		situation, query, sheet, kind string
		status                        int
		where, words                  string
	}{
		{"prices decided for later", "", sheet, "text/csv", 422, "from", "let the import begin at 2026-07-01T00:00:00Z"},
		{"an unknown instance", "&instance=m6.xlarge", sheet, "text/csv", 422, "instance", `"m6.xlarge"`},
		{"an unknown region", "&region=mars", regional, "text/csv", 422, "region", `"mars"`},
		{"two regions", "&region=e*", regional, "text/csv", 422, "region", `in the regions "east" and "eden"`},
		{"regions of a sheet without", "&region=mars", sheet, "text/csv", 400, "", "no column region"},
		{"a name of none", "&instance=m5.*&as=m5.xlrge:worker", sheet, "text/csv", 422, "as", `Did you mean "m5.xlarge"`},
		{"two of one name", "&as=m5.xlarge:r5.xlarge", sheet, "text/csv", 422, "as", "would both be"},
		{"an address for a name", "&instance=m5.*&as=m5.xlarge:..", sheet, "text/csv", 422, "as", "in addresses"},
		{"half a mapping", "&as=m5.xlarge", sheet, "text/csv", 400, "as", "m5.xlarge:worker"},
		{"two mappings", "&as=a:b&as=a:c", sheet, "text/csv", 400, "as", "give one of them"},
		{"a price of zero", "&instance=m5.*", strings.Replace(sheet, "0.192", "0", 1), "text/csv", 422, "", "Line 2, column"},
		{"a negative price", "&instance=m5.*", strings.Replace(sheet, "0.192", "-1", 1), "text/csv", 422, "", "Line 2, column"},
		{"two prices", "&instance=m5.*", sheet + "m5.xlarge,on_demand,0.193,,,,,4,16\n", "text/csv", 422, "", "Line 6, column"},
		{"an open quote", "", sheet + `"m5`, "text/csv", 400, "", "Line 6"},
		{"a page", "", "<html>", "text/csv", 422, "", "page for a browser"},
		{"nothing", "", "", "text/csv", 400, "", "empty"},
		{"JSON that breaks off", "", `{"formatVersion":"v1.0","products":{"A":`, "application/json", 422, "", ""},
		{"gzip that breaks off", "", packed(t, sheet)[:60], "application/gzip", 0, "", ""},
		{"a picture", "", sheet, "image/png", 415, "", "text/csv"},
		{"an unknown parameter", "&regoin=x", sheet, "text/csv", 400, "regoin", `Did you mean "region"`},
		{"a moment of another calendar", "&from=3026-01-01T00:00:00Z", sheet, "text/csv", 0, "from", ""},
	} {
		at := "/v1/clusters/mine/price-imports?from=2026-03-01T00:00:00Z" + c.query
		if strings.Contains(c.query, "from=") {
			at = "/v1/clusters/mine/price-imports?" + c.query[1:]
		}
		a := s.ask(s.admin, "POST", at, c.sheet, "Content-Type", c.kind)
		var p problem
		if err := json.Unmarshal(a.text, &p); err != nil || c.status != 0 && a.StatusCode != c.status || a.StatusCode < 400 || a.StatusCode >= 500 || !strings.Contains(string(a.text), c.words) && !strings.Contains(p.Detail, c.words) {
			if c.words == "" || !says(p, c.words) || a.StatusCode != c.status {
				t.Errorf("%s: got %d %s", c.situation, a.StatusCode, a.text)
			}
		}
		if c.where != "" && (len(p.Errors) == 0 || p.Errors[0].Parameter != c.where) {
			t.Errorf("%s: it is about %+v, want %s", c.situation, p.Errors, c.where)
		}
	}
	a := s.ask(s.admin, "POST", "/v1/clusters/yuan/price-imports", "vm_type,price_per_hour,currency\na,1,USD\n", "Content-Type", "text/csv")
	if a.StatusCode != 422 || !strings.Contains(string(a.text), "CNY") {
		t.Errorf("another currency: %d %s", a.StatusCode, a.text)
	}
	s.ask(s.admin, "POST", "/v1/clusters/nowhere/price-imports", sheet, "Content-Type", "text/csv").want(t, 404)
	if after := s.kept("mine"); after != before {
		t.Errorf("something was taken over: %s", after)
	}
}

// says reports whether a problem contains some words, in its errors or their cures.
func says(p problem, words string) bool {
	for _, f := range p.Errors {
		if strings.Contains(f.Detail, words) || f.Hint != nil && strings.Contains(f.Hint.Detail, words) {
			return true
		}
	}
	return strings.Contains(p.Detail, words)
}

// An upload that sends nothing, too little or not all is refused, and nothing is stored.
func TestUploadsThatDoNotCome(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"mine"}`).want(t, 201)
	handler, err := New(Config{App: s.app, Telemetry: telemetry.New(io.Discard, slog.LevelError), UploadWithin: 2 * time.Second, ImportBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(handler)
	server.Config.ReadTimeout, server.Config.WriteTimeout = 200*time.Millisecond, 250*time.Millisecond // which hold for other requests
	server.Start()
	t.Cleanup(server.Close)
	send := func(length int, body func(net.Conn)) string {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			return err.Error()
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST /v1/clusters/mine/price-imports HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nContent-Type: text/csv\r\nContent-Length: %d\r\n\r\n", s.admin, length)
		body(conn)
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		said, _ := io.ReadAll(conn)
		return string(said)
	}
	var all sync.WaitGroup
	reading := make(chan struct{}, 2) // the limit of concurrent reads
	for situation, c := range map[string]struct {
		length int
		body   func(net.Conn)
		want   string
	}{
		"nothing":      {1000, func(net.Conn) {}, "HTTP/1.1 408"},
		"half":         {len(sheet), func(c net.Conn) { _, _ = io.WriteString(c, sheet[:150]) }, "HTTP/1.1 408"},
		"half and end": {len(sheet), func(c net.Conn) { _, _ = io.WriteString(c, sheet[:150]); _ = c.(*net.TCPConn).CloseWrite() }, "HTTP/1.1 400"},
		"a trickle": {1 << 20, func(c net.Conn) {
			for range time.Tick(20 * time.Millisecond) { // until it is cut off
				if _, err := io.WriteString(c, "#"); err != nil {
					return
				}
			}
		}, "HTTP/1.1 408"},
		"too much": {1<<20 + 1, func(net.Conn) {}, "HTTP/1.1 413"},
		"the whole, slowly": {len(sheet), func(c net.Conn) {
			next := time.Tick(50 * time.Millisecond) // longer in all than the time that other requests have
			for i := range len(sheet) / 50 {
				_, _ = io.WriteString(c, sheet[i*50:(i+1)*50])
				<-next
			}
			_, _ = io.WriteString(c, sheet[len(sheet)/50*50:])
		}, "HTTP/1.1 200"},
	} {
		all.Go(func() {
			reading <- struct{}{}
			defer func() { <-reading }()
			if said := send(c.length, c.body); !strings.HasPrefix(said, c.want) {
				t.Errorf("%s: got %.300q", situation, said)
			}
		})
	}
	all.Wait()
	var types list[inputs.VMType]
	s.ask(s.admin, "GET", "/v1/clusters/mine/vm-types", nil).into(t, &types)
	if len(types.Items) != 2 {
		t.Errorf("there are %d types", len(types.Items))
	}
}

// Two concurrent uploads are handled one after the other; with more than two the last is told to come again.
func TestSheetsAtOnce(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"mine"}`).want(t, 201)
	var all sync.WaitGroup
	reports := make([]clusters.PriceImport, 2)
	for i := range reports {
		all.Go(func() { reports[i] = s.importing("", sheet) })
	}
	all.Wait()
	if n := reports[0].Offers.Created + reports[1].Offers.Created; n != 2 || reports[0].Offers.Unchanged+reports[1].Offers.Unchanged != 2 {
		t.Errorf("got %+v and %+v", reports[0].Offers, reports[1].Offers)
	}
	halves, read := make([]*io.PipeWriter, 2), make(chan struct{}, 2)
	asked := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got100Continue: func() { read <- struct{}{} }})
	for i := range halves {
		reader, writer := io.Pipe()
		halves[i] = writer
		all.Go(func() {
			r, err := http.NewRequestWithContext(asked, "POST", s.url+"/v1/clusters/mine/price-imports", reader)
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("Authorization", "Bearer "+s.admin)
			r.Header.Set("Content-Type", "text/csv")
			r.Header.Set("Expect", "100-continue") // it comes when the server reads the body
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			defer answer.Body.Close()
			if text, _ := io.ReadAll(answer.Body); answer.StatusCode != 200 {
				t.Errorf("got %s %s", answer.Status, text)
			}
		})
		if _, err := io.WriteString(writer, sheet[:150]); err != nil {
			t.Fatal(err)
		}
	}
	for range halves {
		<-read
	}
	third := s.ask(s.admin, "POST", "/v1/clusters/mine/price-imports?dry_run=true", sheet, "Content-Type", "text/csv")
	if third.StatusCode != 503 || third.Header.Get("Retry-After") == "" {
		t.Errorf("a third: %d %s", third.StatusCode, third.text)
	}
	for _, w := range halves {
		if _, err := io.WriteString(w, sheet[150:]); err != nil {
			t.Error(err)
		}
		_ = w.Close()
	}
	all.Wait()
}

// synthetic returns AWS's offer file for a region, with many products of which three are wanted; it is made as it is
// read.
func synthetic(products int) io.Reader {
	r, w := io.Pipe()
	go func() {
		product := func(i int) string {
			system, kind := "Windows", "m5.filler"+strconv.Itoa(i)
			if i%max(products/3, 1) == 0 {
				system, kind = "Linux", "m5.wanted"+strconv.Itoa(i)
			}
			return fmt.Sprintf(`"SKU%08d":{"sku":"SKU%08d","productFamily":"Compute Instance","attributes":{"servicecode":"AmazonEC2","location":"EU (Frankfurt)","locationType":"AWS Region","instanceType":"%s","vcpu":"4","memory":"16 GiB","operatingSystem":"%s","tenancy":"Shared","operation":"RunInstances","capacitystatus":"Used","marketoption":"OnDemand","preInstalledSw":"NA","regionCode":"eu-central-1","licenseModel":"No License required","processorFeatures":"AVX; AVX2; Intel AVX; Intel AVX2; Intel AVX512; Intel Turbo"}}`, i, i, kind, system)
		}
		term := func(i int) string {
			return fmt.Sprintf(`"SKU%08d":{"SKU%08d.JRTCKXETXF":{"offerTermCode":"JRTCKXETXF","sku":"SKU%08d","effectiveDate":"2026-01-01T00:00:00Z","priceDimensions":{"SKU%08d.JRTCKXETXF.6YS6EN2CT7":{"rateCode":"SKU%08d.JRTCKXETXF.6YS6EN2CT7","description":"$0.23 per On Demand Instance Hour","beginRange":"0","endRange":"Inf","unit":"Hrs","appliesTo":[],"pricePerUnit":{"USD":"0.2300000000"}}},"termAttributes":{}}}`, i, i, i, i, i)
		}
		write := func(of func(int) string) {
			for i := range products {
				if i > 0 {
					_, _ = io.WriteString(w, ",\n")
				}
				if _, err := io.WriteString(w, of(i)); err != nil {
					return
				}
			}
		}
		_, _ = io.WriteString(w, `{"formatVersion":"v1.0","disclaimer":"synthetic","offerCode":"AmazonEC2","version":"20260101000000","publicationDate":"2026-01-01T00:00:00Z","products":{`)
		write(product)
		_, _ = io.WriteString(w, `},"terms":{"OnDemand":{`)
		write(term)
		_, _ = io.WriteString(w, `}}}`)
		_ = w.Close()
	}()
	return r
}

// memoryGrows begins to watch this process's memory. The returned function ends that, and returns the largest growth
// in bytes.
func memoryGrows(t *testing.T) (by func() int64) {
	t.Helper()
	was := debug.SetGCPercent(100) // as a server collects garbage
	t.Cleanup(func() { debug.SetGCPercent(was) })
	runtime.GC()
	taken := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.Sys - m.HeapReleased)
	}
	before, peak, done := taken(), int64(0), make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				peak = max(peak, taken())
			}
		}
	})
	return func() int64 {
		close(done)
		watching.Wait()
		return peak - before
	}
}

// However large the sheet, memory stays flat. With HEADROOM_LONG it has a gigabyte.
func TestALargeSheetTakesNoMemory(t *testing.T) {
	s := newService(t)
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"mine"}`).want(t, 201)
	products := 20_000 // about 21 MB
	if os.Getenv("HEADROOM_LONG") != "" {
		products *= 50
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/v1/clusters/mine/price-imports", synthetic(products))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.admin)
	r.Header.Set("Content-Type", "application/json")
	grown := memoryGrows(t)
	began := time.Now()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	took := time.Since(began)
	by := grown()
	var made clusters.PriceImport
	if err := json.Unmarshal(text, &made); err != nil || answer.StatusCode != 200 || made.Prices.Created < 3 {
		t.Fatalf("got %s %s (%v)", answer.Status, text, err)
	}
	t.Logf("%d products in %s; memory grew by %d MB", products, took.Round(time.Millisecond), by>>20)
	if by > 256<<20 {
		t.Errorf("memory grew by %d MB", by>>20)
	}
}

// A client that is refused while still sending gets the answer, not a broken connection.
func TestARefusalArrivesWhileTheSheetIsSent(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"mine"}`).want(t, 201)
	for i := range 10 {
		for at, want := range map[string]int{"mine": 422, "nowhere": 404, "mine?as=x": 400} {
			name, query, _ := strings.Cut(at, "?")
			body := io.MultiReader(strings.NewReader("<html>"), io.LimitReader(rand.NewChaCha8([32]byte{byte(i)}), 32<<20))
			r, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/v1/clusters/"+name+"/price-imports?"+query, body)
			if err != nil {
				t.Fatal(err)
			}
			r.ContentLength = 6 + 32<<20
			r.Header.Set("Expect", "100-continue")
			r.Header.Set("Authorization", "Bearer "+s.admin)
			r.Header.Set("Content-Type", "text/csv")
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatalf("%s, the %dth time: %v", at, i+1, err)
			}
			text, err := io.ReadAll(answer.Body)
			answer.Body.Close()
			if err != nil || answer.StatusCode != want {
				t.Errorf("%s: got %s %s (%v)", at, answer.Status, text, err)
			}
		}
	}
}

// A server that stops does not wait for a sheet, and answers so.
func TestAStopEndsUploads(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"mine"}`).want(t, 201)
	var draining atomic.Bool
	stopping := make(chan struct{})
	handler, err := New(Config{App: s.app, Telemetry: telemetry.New(io.Discard, slog.LevelError), Draining: &draining, Stopping: stopping})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	reader, writer := io.Pipe()
	r, err := http.NewRequestWithContext(t.Context(), "POST", server.URL+"/v1/clusters/mine/price-imports", reader)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.admin)
	r.Header.Set("Content-Type", "text/csv")
	go func() {
		_, _ = io.WriteString(writer, sheet[:150])
		draining.Store(true)
		close(stopping)
	}()
	began := time.Now()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	_ = writer.Close()
	if answer.StatusCode != 503 || !strings.Contains(string(text), "is stopping") || time.Since(began) > 10*time.Second {
		t.Errorf("after %s: %s %s", time.Since(began), answer.Status, text)
	}
}
