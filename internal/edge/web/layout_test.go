package web_test

// The layout of the page, compared with stored pictures. The page is answered with stored answers and its clock stands
// still, so that nothing but the page can change what is seen.

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"example.org/headroom/internal/edge/web"
	"example.org/headroom/internal/test/chromium"
	"example.org/headroom/internal/test/pgtest"
)

// Pictures are seen in squares of so many pixels, each of the grey that stands out most in it, so that lines as thin as
// a pixel are seen as well. Squares differ where their grey does by more than shade.
const (
	square = 4
	shades = 32
	shade  = 2
	most   = 8 // squares that may differ in a picture
)

const layouts = "testdata/layout"

// layoutPages are seen at two widths in the light, and at the wide one in the dark.
var layoutPages = []struct{ name, path, there string }{
	{"overview", "/overview", `document.querySelectorAll(".overview tbody tr").length > 1`},
	{"plan", "/c/demo/plan", `document.querySelector(".days svg .blocks") && document.querySelectorAll("table.classes tbody tr").length > 4`},
	{"explore", "/c/demo/explore?x=demand&ch=demand:*:x1.2", `document.querySelector(".axes path.line") && document.querySelector(".decisions") && document.querySelector(".bridge svg")`},
	{"class", "/c/demo/plan/classes/nightly-etl", `document.querySelector("#field-class-deadline-s")`},
	{"commitments", "/c/demo/commitments", `document.querySelectorAll(".axes svg").length === 2`},
	{"welcome", "/welcome", `document.querySelector("main h1")`},
}

// layoutAnswer is an answer as the service gave it.
type layoutAnswer struct {
	Status           int
	Type, Etag, Body string
}

// layoutAnswers are all answers of a moment, by request.
type layoutAnswers struct {
	At      time.Time
	Answers map[string]layoutAnswer
}

// TestLayout compares what pages look like with stored pictures. HEADROOM_PICTURES=layout stores them anew, and
// HEADROOM_PICTURES=answers first asks a server for the answers anew. It also sees that a button that moved is noticed.
func TestLayout(t *testing.T) {
	mode := os.Getenv("HEADROOM_PICTURES")
	anew := mode == "layout" || mode == "answers"
	stored := layoutAnswers{At: time.Now().UTC().Truncate(time.Minute), Answers: map[string]layoutAnswer{}}
	var from *server
	if mode == "answers" {
		from = start(t, freeAddress(t), pgtest.Database(t), "--demo")
		from.planned(t, "demo-spot", 1)
	} else {
		readAnswers(t, &stored)
	}
	address := answering(t, &stored, from)
	ctx, end := chromedp.NewContext(chromium.Start(t), chromedp.WithNewBrowserContext())
	t.Cleanup(end)
	if err := chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: fmt.Sprintf(stopClock, stored.At.UnixMilli())})
		return err
	})); err != nil {
		t.Fatal(err)
	}
	sameLetters(t, ctx, anew)
	for _, p := range layoutPages {
		do(t, ctx, chromedp.EmulateViewport(1440, 1000), chromedp.Navigate(address+p.path))
		until(t, ctx, p.there)
		settled(t, ctx)
		for _, look := range []struct {
			width int64
			theme string
		}{{1440, "light"}, {1440, "dark"}, {390, "light"}} {
			name := fmt.Sprintf("%s-%d-%s", p.name, look.width, look.theme)
			got := seen(t, ctx, look.width, look.theme)
			if anew {
				writePicture(t, filepath.Join(layouts, name+".png"), got)
				continue
			}
			if said := compared(t, name, got); said != "" {
				t.Errorf("%s: %s. If this is meant: HEADROOM_PICTURES=layout go test ./internal/edge/web -run TestLayout", name, said)
			}
		}
		if p.name == "explore" && !anew {
			// Each button is moved in turn, the faint ones too.
			seen(t, ctx, 1440, "light")
			for i := range value[int](t, ctx, `document.querySelectorAll(".actions button").length`) {
				move := `document.querySelectorAll(".actions button")[%d].style.transform = %q, true`
				value[bool](t, ctx, fmt.Sprintf(move, i, "translateX(-8px)"))
				if said := compared(t, "explore-1440-light", seen(t, ctx, 1440, "light")); said == "" {
					t.Errorf("that button %d moved by 8 pixels is not noticed", i)
				} else {
					t.Logf("a button moved: %s", said)
				}
				value[bool](t, ctx, fmt.Sprintf(move, i, ""))
			}
			_ = os.Remove("pictures/layout-explore-1440-light-seen.png")
			_ = os.Remove("pictures/layout-explore-1440-light-stored.png")
		}
	}
	if mode == "answers" {
		writeAnswers(t, &stored)
	}
}

// sameLetters checks that words are as wide as they were when pictures were stored. Where they are not, there are other
// fonts, or there is another browser, and pictures tell nothing of the page.
func sameLetters(t *testing.T, ctx context.Context, anew bool) {
	t.Helper()
	const name = layouts + "/letters.txt"
	here := value[string](t, ctx, `((c) => ["16px system-ui", "700 24px system-ui", "13px ui-monospace"].map((f) => { c.font = f; return f + ": " + c.measureText("Headroom 0123456789 §ĳ").width; }).join("\n") + "\n")(document.createElement("canvas").getContext("2d"))`)
	if anew {
		if err := os.WriteFile(name, []byte(here), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	there, err := os.ReadFile(name)
	switch {
	case err != nil:
		t.Fatal(err)
	case string(there) == here:
	case os.Getenv("CI") != "":
		t.Fatalf("letters are this wide:\n%sand were when pictures were stored:\n%s", here, there)
	default:
		t.Skipf("this machine has other fonts than the pictures, whose letters are this wide:\n%s", there)
	}
}

// stopClock keeps the page's clock at a moment.
const stopClock = `(() => {
	const Real = Date, at = %d;
	window.Date = class extends Real { constructor(...of) { of.length ? super(...of) : super(at); } static now() { return at; } };
	performance.now = () => 1000;
})()`

// answering serves the page with stored answers. Those that are missing are asked of a server, if there is one.
func answering(t *testing.T, stored *layoutAnswers, from *server) string {
	t.Helper()
	pages := web.New()
	var mu sync.Mutex
	serves := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", stored.At.Format(http.TimeFormat))
		if pages.Serve(w, r) {
			return
		}
		if strings.HasSuffix(r.URL.Path, "/events") || strings.HasSuffix(r.URL.Path, "/stream") { // of which none comes
			w.Header().Set("Content-Type", "text/event-stream")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		body, _ := io.ReadAll(r.Body)
		key := r.Method + " " + r.URL.RequestURI()
		if len(body) > 0 {
			key += fmt.Sprintf(" %x", sha256.Sum256(body))[:13]
		}
		mu.Lock()
		answer, known := stored.Answers[key]
		mu.Unlock()
		if !known && from != nil {
			answer = from.relayed(r, body)
			mu.Lock()
			stored.Answers[key], known = answer, true
			mu.Unlock()
		}
		if !known {
			t.Errorf("there is no stored answer to %s (%s): HEADROOM_PICTURES=answers go test ./internal/edge/web -run TestLayout", key, body)
			http.Error(w, "", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", answer.Type)
		if answer.Etag != "" {
			w.Header().Set("ETag", answer.Etag)
		}
		w.WriteHeader(answer.Status)
		_, _ = io.WriteString(w, answer.Body)
	}))
	t.Cleanup(func() {
		serves.CloseClientConnections()
		serves.Close()
	})
	return serves.URL
}

// relayed asks the server in the place of a page.
func (s *server) relayed(r *http.Request, body []byte) layoutAnswer {
	ask, err := http.NewRequest(r.Method, s.address+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return layoutAnswer{Status: http.StatusBadRequest}
	}
	ask.Header.Set("Authorization", "Bearer "+s.key)
	ask.Header.Set("Content-Type", r.Header.Get("Content-Type"))
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		return layoutAnswer{Status: http.StatusBadGateway}
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return layoutAnswer{Status: answer.StatusCode, Type: answer.Header.Get("Content-Type"), Etag: answer.Header.Get("ETag"), Body: string(text)}
}

func readAnswers(t *testing.T, into *layoutAnswers) {
	t.Helper()
	packed, err := os.ReadFile(filepath.Join(layouts, "answers.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err == nil {
		err = json.NewDecoder(z).Decode(into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func writeAnswers(t *testing.T, of *layoutAnswers) {
	t.Helper()
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err := json.NewEncoder(z).Encode(of); err != nil {
		t.Fatal(err)
	}
	_ = z.Close()
	if err := os.WriteFile(filepath.Join(layouts, "answers.json.gz"), packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// seen returns what a window shows, in squares of few greys.
func seen(t *testing.T, ctx context.Context, width int64, theme string) *image.Paletted {
	t.Helper()
	do(t, ctx, chromedp.EmulateViewport(width, 1000))
	value[bool](t, ctx, fmt.Sprintf(`document.documentElement.dataset.theme = %q, document.activeElement.blur(), scrollTo(0, 0), %s`, theme, painted))
	taken, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	screen, err := png.Decode(bytes.NewReader(taken))
	if err != nil {
		t.Fatal(err)
	}
	fine := image.NewGray(screen.Bounds())
	draw.Draw(fine, fine.Bounds(), screen, screen.Bounds().Min, draw.Src)
	coarse := image.NewPaletted(image.Rect(0, 0, fine.Rect.Dx()/square, fine.Rect.Dy()/square), greys)
	for y := range coarse.Rect.Dy() {
		for x := range coarse.Rect.Dx() {
			low, high, sum := 255, 0, 0
			for i := range square * square {
				grey := int(fine.GrayAt(x*square+i%square, y*square+i/square).Y)
				low, high, sum = min(low, grey), max(high, grey), sum+grey
			}
			if mean := sum / (square * square); mean-low > high-mean {
				high = low
			}
			coarse.SetColorIndex(x, y, uint8(high*shades/256))
		}
	}
	return coarse
}

// greys are those that pictures have.
var greys = func() color.Palette {
	var all color.Palette
	for i := range shades {
		all = append(all, color.Gray{Y: uint8(255 * i / (shades - 1))})
	}
	return all
}()

// compared says how a picture differs from the stored one, and keeps both; "" is alike.
func compared(t *testing.T, name string, got *image.Paletted) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(layouts, name+".png"))
	if err != nil {
		return err.Error()
	}
	decoded, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		return err.Error()
	}
	want, ok := decoded.(*image.Paletted)
	if !ok || want.Rect != got.Rect {
		return fmt.Sprintf("it is %v squares large, and the stored picture is %v", got.Rect.Max, decoded.Bounds().Max)
	}
	var where image.Rectangle
	differing := 0
	for i := range want.Pix {
		if max(want.Pix[i], got.Pix[i])-min(want.Pix[i], got.Pix[i]) > shade {
			differing++
			at := image.Pt(i%want.Stride, i/want.Stride)
			where = where.Union(image.Rectangle{Min: at, Max: at.Add(image.Pt(1, 1))})
		}
	}
	if differing <= most {
		return ""
	}
	at := "pictures/layout-" + name
	writePicture(t, at+"-seen.png", got)
	writePicture(t, at+"-stored.png", want)
	return fmt.Sprintf("%d squares of %d pixels differ, and %d may: from %d, %d to %d, %d pixels; see %s-seen.png and %[8]s-stored.png", differing, square, most,
		where.Min.X*square, where.Min.Y*square, where.Max.X*square, where.Max.Y*square, at)
}

func writePicture(t *testing.T, name string, of image.Image) {
	t.Helper()
	var packed bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&packed, of)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(name), 0o755)
	}
	if err == nil {
		err = os.WriteFile(name, packed.Bytes(), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
