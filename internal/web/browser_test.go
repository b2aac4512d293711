package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"headroom/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// server is a real one with a demonstration cluster.
type server struct {
	address string // http://127.0.0.1:…
	key     string // of an administrator
	log     strings.Builder
}

// serve starts the program that make build has built.
func serve(t *testing.T) *server {
	t.Helper()
	solver := os.Getenv("HEADROOM_SOLVER")
	if solver == "" {
		t.Fatal("HEADROOM_SOLVER is not set: run the tests with make test, which builds the programs first")
	}
	s := &server{key: "hrk_browserbrowserbrowserbrowserbrowserbrows"}
	cmd := exec.Command(filepath.Join(filepath.Dir(solver), "headroom"), "serve", "--demo", "--listen", freeAddress(t), "--data-dir", t.TempDir())
	cmd.Env = append(os.Environ(), "HEADROOM_ADMIN_KEY="+s.key, "DATABASE_URL="+pgtest.Database(t))
	cmd.Stderr = &s.log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended: %v\n%s", err, s.log.String())
		}
	})
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

var serves = regexp.MustCompile(`serves on (http://\S+)`)

// freeAddress is one that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// get asks the server as a program does.
func (s *server) get(t *testing.T, path string, into any) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, s.address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.key)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", path, answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
}

// browser opens Chromium with an empty profile.
func browser(t *testing.T) context.Context {
	t.Helper()
	if _, err := exec.LookPath("chromium"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("chromium is missing: scripts/setup installs it")
		}
		t.Skip("chromium is not installed: scripts/setup installs it")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.ExecPath("chromium"),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-background-networking", true))
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(end)
	ctx, end := chromedp.NewContext(allocator)
	t.Cleanup(end)
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// signIn opens the page as somebody who has a key does.
func (s *server) signIn(t *testing.T, ctx context.Context) {
	t.Helper()
	do(t, ctx, chromedp.Navigate(s.address+"/"))
	until(t, ctx, `[...document.querySelectorAll("button")].some((b) => b.textContent === "Sign in")`)
	do(t, ctx, chromedp.Click(chromedp.CSS(".banner button")), chromedp.WaitVisible(chromedp.CSS("#key")),
		chromedp.SendKeys(chromedp.CSS("#key"), s.key+"\r"))
}

// do runs steps within a time that is generous where the machine is busy.
func do(t *testing.T, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// value is what a script comes to.
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

// until waits for a script to become true; while the browser goes from page to page nothing is.
func until(t *testing.T, ctx context.Context, script string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		so, err := tryValue[bool](ctx, "!!("+script+")")
		if so && err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("after 30 s it is not so that %s (%v); the page says:\n%s", script, err, value[string](t, ctx, "document.body.innerText"))
		}
	}
}

// picture keeps what is seen, for people to look at: in pictures, which is not kept in the repository.
func picture(t *testing.T, ctx context.Context, name string) {
	t.Helper()
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

func TestNowShowsThePlan(t *testing.T) {
	s, ctx := serve(t), browser(t)
	s.signIn(t, ctx)
	until(t, ctx, `document.querySelector("h1")?.textContent.includes("at once")`)
	var plan struct {
		VMs      int    `json:"vms"`
		Admitted int    `json:"admitted"`
		Refused  int    `json:"refused"`
		Currency string `json:"currency"`
	}
	s.get(t, "/v1/clusters/demo/plans/current", &plan)
	if got, want := value[string](t, ctx, `document.querySelector("h1").textContent`), fmt.Sprintf("%d jobs run at once on %d VMs. %d jobs are refused", plan.Admitted, plan.VMs, plan.Refused); !strings.HasPrefix(got, want) {
		t.Errorf("the page leads with %q, want %q", got, want)
	}
	looks(t, ctx, "now")
}

// looks takes pictures of a page in both themes and all widths, none of which it may exceed.
func looks(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	for _, theme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 390, 320} {
			do(t, ctx, chromedp.EmulateViewport(width, 900))
			value[bool](t, ctx, fmt.Sprintf(`document.documentElement.dataset.theme = %q, true`, theme))
			value[bool](t, ctx, `new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(() => then(true))))`) // charts are drawn anew
			if wide := value[float64](t, ctx, `document.documentElement.scrollWidth`); wide > float64(width) {
				t.Errorf("at %d pixels the page %s is %g wide: %s", width, name, wide, value[string](t, ctx, `[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth).map((e) => e.tagName + "." + e.getAttribute("class")).slice(0, 12).join(" ")`))
			}
			picture(t, ctx, fmt.Sprintf("%s-%s-%d", name, theme, width))
		}
	}
}

func TestWhatIfAnswersEveryMove(t *testing.T) {
	s, ctx := serve(t), browser(t)
	s.signIn(t, ctx)
	until(t, ctx, `document.querySelector("h1")?.textContent.includes("at once")`)
	do(t, ctx, chromedp.Click(chromedp.CSS(`nav a[href="/c/demo/what-if"]`)))
	until(t, ctx, `document.querySelector("#answer")`)
	// From the event to the frame that shows its answer.
	seconds := value[[]float64](t, ctx, `(async () => {
		const slider = document.querySelector('[aria-label="Jobs of all classes"]');
		const took = [];
		for (let i = 0; i < 50; i++) {
			const answer = document.querySelector("#answer").closest("section");
			const began = performance.now();
			const painted = new Promise((then) => {
				const watch = new MutationObserver(() => { watch.disconnect(); requestAnimationFrame(() => setTimeout(then)); });
				watch.observe(answer, { subtree: true, characterData: true, childList: true, attributes: true });
			});
			slider.value = String(20 + 7 * i);
			slider.dispatchEvent(new Event("input", { bubbles: true }));
			await painted;
			took.push((performance.now() - began) / 1000);
		}
		slider.dispatchEvent(new Event("change", { bubbles: true }));
		return took;
	})()`)
	slices.Sort(seconds)
	t.Logf("a move is answered and painted in %.0f ms (median), %.0f ms (slowest of %d)", seconds[len(seconds)/2]*1000, seconds[len(seconds)-1]*1000, len(seconds))
	if seconds[len(seconds)/2] > 1 {
		t.Errorf("the median move took %.2f s", seconds[len(seconds)/2])
	}
	until(t, ctx, `location.search.includes("demand") && location.search.includes("base=1")`)
	link := value[string](t, ctx, `location.href`)
	shown := value[string](t, ctx, `document.querySelector("#answer").closest("section").querySelector(".big").textContent`)
	do(t, ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(link))
	until(t, ctx, fmt.Sprintf(`document.querySelector("#answer")?.closest("section").querySelector(".big")?.textContent === %q`, shown))
	looks(t, ctx, "what-if")
	do(t, ctx, chromedp.EmulateViewport(1280, 900))
	value[bool](t, ctx, `[...document.querySelectorAll("button")].find((b) => b.textContent === "Start over").click(), true`)
	until(t, ctx, `document.querySelector("#answer").closest("section").querySelector(".big").textContent === "no change"`)
}
