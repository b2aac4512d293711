package web_test

// The basis of the browser's tests: a real server with a database of its own, a real Chromium, and a tab that records
// everything that goes wrong in it.

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/getkin/kin-openapi/openapi3"

	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/pgtest"
	"example.org/headroom/openapi"
)

func TestMain(m *testing.M) {
	_ = os.Unsetenv("GOGC") // the programs that tests start collect garbage as shipped
	pgtest.Main(m)
}

// server is a real server with the first demonstration cluster in the state of its document.
type server struct {
	address string // http://127.0.0.1:…
	key     string // of an administrator
	log     strings.Builder
	stop    func() error
}

// serve starts the program that make build has built.
func serve(t *testing.T) *server {
	t.Helper()
	return serveAt(t, freeAddress(t), pgtest.Database(t))
}

// serveAt starts a server and creates the cluster demo if it is missing.
func serveAt(t *testing.T, address, database string) *server {
	t.Helper()
	s := start(t, address, database)
	var there struct{ Items []struct{ Name string } }
	if s.get(t, "/v1/clusters", &there); len(there.Items) == 0 {
		document, err := os.ReadFile("../cli/server/demo.json")
		if err != nil {
			t.Fatal(err)
		}
		// Its hours are planned alone, as walks reckon them; what waits is seen by walkWait and walkDemo.
		s.apply(t, "demo", rawJSON(regexp.MustCompile(`"due_s": \d+, `).ReplaceAllString(string(document), "")))
		s.planned(t, "demo", 1)
	}
	return s
}

// start starts the server with options.
func start(t *testing.T, address, database string, options ...string) *server {
	t.Helper()
	return startWith(t, nil, address, database, options...)
}

// startWith starts it with settings besides, as NAME=value.
func startWith(t *testing.T, settings []string, address, database string, options ...string) *server {
	t.Helper()
	solver := os.Getenv("HEADROOM_SOLVER")
	if solver == "" {
		t.Fatal("HEADROOM_SOLVER is not set: run the tests with make test, which builds the programs first")
	}
	s := &server{key: "hrk_browserbrowserbrowserbrowserbrowserbrows"}
	cmd := exec.Command(filepath.Join(filepath.Dir(solver), "headroom"), append([]string{"serve", "--listen", address, "--data-dir", t.TempDir()}, options...)...)
	cmd.Env = append(os.Environ(), "HEADROOM_ADMIN_KEY="+s.key, "DATABASE_URL="+database)
	cmd.Env = append(cmd.Env, settings...)
	cmd.Stderr = &s.log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.stop = sync.OnceValue(func() error {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		return cmd.Wait()
	})
	t.Cleanup(func() { s.end(t) })
	lines := bufio.NewScanner(out)
	for s.address == "" && lines.Scan() {
		if m := serves.FindStringSubmatch(lines.Text()); m != nil {
			s.address = m[1]
		}
	}
	if s.address == "" {
		t.Fatalf("the server does not serve:\n%s", s.log.String())
	}
	go func() {
		for lines.Scan() {
		}
	}()
	return s
}

// end stops the server, once.
func (s *server) end(t *testing.T) {
	t.Helper()
	if err := s.stop(); err != nil {
		t.Errorf("the server ended: %v\n%s", err, s.log.String())
	}
}

var serves = regexp.MustCompile(`serves on (http://\S+)`)

// freeAddress returns an address that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// get reads from the server as a program does.
func (s *server) get(t *testing.T, path string, into any) {
	t.Helper()
	s.send(t, http.MethodGet, path, nil, into)
}

// send writes as a program does; the body and the target of the answer may be nil.
func (s *server) send(t *testing.T, method, path string, body, into any) {
	t.Helper()
	var text io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.NewReader(b)
	}
	r, err := http.NewRequest(method, s.address+path, text)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= 300 {
		t.Fatalf("%s %s: %s (%v)\n%s", method, path, answer.Status, err, said)
	}
	if into != nil {
		if err := json.Unmarshal(said, into); err != nil {
			t.Fatal(err)
		}
	}
}

// rawJSON returns a body that is already JSON.
func rawJSON(text string) json.RawMessage { return json.RawMessage(text) }

// tab opens a tab with an empty profile. By the end of the test, the page must not have made a mistake, used an
// operation outside of the contract, gone to another address or violated its content policy. A test that expects a
// network error lists it in allow.
func (s *server) tab(t *testing.T, browser context.Context, allow ...string) context.Context {
	t.Helper()
	ctx, end := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(end)
	var mu sync.Mutex
	var wrong []string
	note := func(text string) {
		if slices.ContainsFunc(allow, func(word string) bool { return strings.Contains(text, word) }) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		wrong = append(wrong, text)
	}
	known := operations(t)
	err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			text := e.ExceptionDetails.Text
			if e.ExceptionDetails.Exception != nil {
				text += " " + e.ExceptionDetails.Exception.Description
			}
			note("it threw: " + text)
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
				for _, said := range e.Args {
					note(fmt.Sprintf("it told the console: %s", said.Value))
				}
			}
		case *page.EventJavascriptDialogOpening:
			if e.Type == page.DialogTypeBeforeunload { // something is not saved, and the test leaves
				go func() {
					_, _ = chromedp.Call(ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
				}()
				return
			}
			note("it opened a dialog: " + e.Message)
		case *log.EventEntryAdded:
			if e.Entry.Level == log.EntryLevelError && !strings.Contains(e.Entry.Text, "Failed to load resource") &&
				!strings.Contains(e.Entry.Text, "never had a user gesture") { // scripts type in tests
				note("the console says: " + e.Entry.Text)
			}
		case *network.EventRequestWillBeSent:
			address := e.Request.URL
			path, ours := strings.CutPrefix(address, s.address)
			path, _, _ = strings.Cut(path, "?")
			switch {
			case strings.HasPrefix(address, "data:"), strings.HasPrefix(address, "blob:"), strings.HasPrefix(address, "about:"):
			case !ours:
				note("it went to " + address)
			case strings.HasPrefix(path, "/v1/") && !slices.ContainsFunc(known, func(o operation) bool { return o.method == e.Request.Method && o.path.MatchString(path) }):
				note("it asked for " + e.Request.Method + " " + path + ", which openapi.yaml does not have")
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		for _, text := range wrong {
			t.Errorf("the page: %s", text)
		}
	})
	do(t, ctx, chromedp.EmulateViewport(1280, 900))
	return ctx
}

// operation is an operation of the contract.
type operation struct {
	method string
	path   *regexp.Regexp
}

var operations = func() func(t *testing.T) []operation {
	read := sync.OnceValues(func() ([]operation, error) {
		doc, err := openapi3.NewLoader().LoadFromData(openapi.Document)
		if err != nil {
			return nil, err
		}
		var all []operation
		for path, item := range doc.Paths.Map() {
			pattern := regexp.MustCompile("^" + regexp.MustCompile(`\\\{[^/]*?\\\}`).ReplaceAllString(regexp.QuoteMeta(path), "[^/]+") + "$")
			for method := range item.Operations() {
				all = append(all, operation{method: method, path: pattern})
			}
		}
		return all, nil
	})
	return func(t *testing.T) []operation {
		t.Helper()
		all, err := read()
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
}()

// signIn opens an address with a key.
func (s *server) signIn(t *testing.T, ctx context.Context, path string) {
	t.Helper()
	do(t, ctx, chromedp.Navigate(s.address+path))
	until(t, ctx, `[...document.querySelectorAll("button")].some((b) => b.textContent === "Sign in")`)
	do(t, ctx, chromedp.Click(chromedp.CSS(".banner button")), chromedp.WaitVisible(chromedp.CSS("#key")),
		chromedp.SendKeys(chromedp.CSS("#key"), s.key+"\r"))
}

// open opens an address in a session.
func (s *server) open(t *testing.T, ctx context.Context, path string) {
	t.Helper()
	if value[string](t, ctx, "location.origin") != s.address {
		do(t, ctx, chromedp.Navigate(s.address+"/sign-in"))
		becomes(t, ctx, s.key)
	}
	do(t, ctx, chromedp.Navigate(s.address+path))
	until(t, ctx, `document.querySelector("main h1")`)
}

// becomes signs in with another key, behind the page's back.
func becomes(t *testing.T, ctx context.Context, key string) {
	t.Helper()
	value[bool](t, ctx, fmt.Sprintf(`fetch("/v1/session", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({token: %q})}).then((a) => a.ok || Promise.reject(a.status))`, key))
}

// press clicks the button or link with this text.
func press(t *testing.T, ctx context.Context, text string) {
	t.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll("main button, main a, header button, header a, nav a, nav button, dialog button")].find((b) => b.textContent.trim() === %q && !b.disabled)`, text)
	until(t, ctx, find)
	value[bool](t, ctx, find+".click(), true")
}

// calm checks that axe-core reports nothing about a page that is more than minor. With long samples it checks both themes; otherwise
// the light one, and calmInTheDark checks the colours of the other.
func calm(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	axe(t, ctx, name, "light", "")
	if long() {
		axe(t, ctx, name, "dark", "")
	}
}

func calmInTheDark(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	only := `, runOnly: ["color-contrast", "link-in-text-block"]`
	if long() {
		only = ""
		axe(t, ctx, name, "light", "")
	}
	axe(t, ctx, name, "dark", only)
}

// long reports whether to use samples of the promised size, whatever time that takes.
func long() bool { return os.Getenv("HEADROOM_LONG") != "" }

func axe(t *testing.T, ctx context.Context, name, theme, only string) {
	t.Helper()
	if !value[bool](t, ctx, `!!window.axe`) {
		script, err := os.ReadFile("ui/node_modules/axe-core/axe.min.js")
		if err != nil {
			t.Fatal(err)
		}
		value[bool](t, ctx, string(script)+"; true")
	}
	found := value[[]string](t, ctx, fmt.Sprintf(`document.documentElement.dataset.theme = %q, axe.run(document, {resultTypes: ["violations"]%s}).then((r) => r.violations.filter((v) => v.impact !== "minor").map((v) => v.impact + " " + v.id + ": " + v.help + " " + v.nodes.slice(0, 4).map((n) => n.target + " " + n.failureSummary).join(" | ")))`, theme, only))
	for _, text := range found {
		t.Errorf("%s, %s: %s", name, theme, text)
	}
}

// do runs steps within a time that is generous enough for a busy machine.
func do(t *testing.T, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// value returns the value of a script.
func value[T any](t *testing.T, ctx context.Context, script string) T {
	t.Helper()
	v, err := tryValue[T](ctx, script)
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return v
}

func tryValue[T any](ctx context.Context, script string) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
}

// patience is the longest wait on a busy machine; long samples take longer.
func patience() time.Duration {
	if long() {
		return 3 * time.Minute
	}
	return 30 * time.Second
}

// until waits for a script to become true. While the browser changes pages, it counts as false.
func until(t *testing.T, ctx context.Context, script string) {
	t.Helper()
	for last := range await.Tries(patience()) {
		so, err := tryValue[bool](ctx, "!!("+script+")")
		if so && err == nil {
			return
		}
		if last {
			t.Fatalf("after %s it is not so that %s (%v); the page says:\n%s", patience(), script, err, value[string](t, ctx, "document.body.innerText"))
		}
	}
}

// pictures reports whether to take pictures: on request, or with long samples.
func pictures() bool { return os.Getenv("HEADROOM_PICTURES") != "" || long() }

// picture saves the screen for people to look at, in the folder pictures outside of the repository.
func picture(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	if !pictures() {
		return
	}
	body, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll("pictures", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("pictures", name+".png"), body, 0o644); err != nil {
		t.Fatal(err)
	}
}

// illustrate saves the window as a picture of the documentation, if HEADROOM_PICTURES is docs.
func illustrate(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	if os.Getenv("HEADROOM_PICTURES") != "docs" {
		return
	}
	do(t, ctx, chromedp.EmulateViewport(1280, 800))
	value[bool](t, ctx, `document.documentElement.dataset.theme = "light", scrollTo(0, 0), `+painted)
	taken, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	screen, err := png.Decode(bytes.NewReader(taken))
	if err != nil {
		t.Fatal(err)
	}
	var small bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, fewColours(screen)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("../../../docs/pictures", name+".png"), small.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// fewColours returns a picture in its 256 most frequent colours, which takes half of the bytes.
func fewColours(of image.Image) *image.Paletted {
	count := map[color.Color]int{}
	for y := of.Bounds().Min.Y; y < of.Bounds().Max.Y; y++ {
		for x := of.Bounds().Min.X; x < of.Bounds().Max.X; x++ {
			count[of.At(x, y)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int { return cmp.Compare(count[b], count[a]) })
	few := image.NewPaletted(of.Bounds(), colours[:min(len(colours), 256)])
	draw.Draw(few, few.Bounds(), of, of.Bounds().Min, draw.Src)
	return few
}

// painted waits until changes are painted; charts are drawn again for another width.
const painted = `new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(() => then(true))))`

// spilled finds the elements that a page is too narrow for, and those whose text leaves their box. Elements that
// scroll, are hidden or lie in a drawing do not count.
const spilled = `(() => {
	const own = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
	const within = (e) => { for (let p = e; p && p !== document.body; p = p.parentElement) if (p.matches(".hidden, svg, .skip") || (p.scrollWidth > p.clientWidth && /auto|scroll|hidden|clip/.test(getComputedStyle(p).overflowX))) return true; return false; };
	const said = (e) => e.tagName + "." + e.getAttribute("class") + " " + e.textContent.slice(0, 40);
	const wide = document.documentElement.scrollWidth > innerWidth ? ["the page is " + document.documentElement.scrollWidth + " wide"] : [];
	const beyond = [...document.querySelectorAll("body *")].filter((e) => { const r = e.getBoundingClientRect(); return r.width > 1 && (r.right > innerWidth + 1 || r.left < -1) && !within(e); });
	const over = [...document.querySelectorAll("body *")].filter((e) => own(e) && e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1 && !within(e) && !e.matches("select, option, input, button.sort"));
	return [...wide, ...beyond.map(said), ...over.map((e) => said(e) + " leaves its box")].slice(0, 12);
})()`

// looks checks that a page fits every width, and takes its pictures in both themes. It leaves the page at the width
// that tests begin with. The short form tries the narrowest and the widest.
func looks(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	widths := []int64{320, 1280}
	if pictures() {
		widths = []int64{390, 320, 800, 1280}
	}
	for _, width := range widths {
		do(t, ctx, chromedp.EmulateViewport(width, 900))
		for _, what := range value[[]string](t, ctx, painted+".then(() => "+spilled+")") {
			t.Errorf("%s at %d pixels: %s", name, width, what)
		}
		for _, theme := range []string{"light", "dark"} {
			if pictures() {
				value[bool](t, ctx, fmt.Sprintf(`document.documentElement.dataset.theme = %q, true`, theme))
				picture(t, ctx, fmt.Sprintf("%s-%s-%d", name, theme, width))
			}
		}
	}
}
