package web_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// meddled delays answers on the current plan and changes them, for states in which a healthy server is only for
// moments. window.hold is the time, window.told is merged into the next answers, and window.cut breaks one off.
const meddled = `(() => {
	const over = (into, what) => { for (const [k, v] of Object.entries(what)) if (v !== null && typeof v === "object" && into[k]) over(into[k], v); else into[k] = v; return into; };
	const real = window.fetch;
	window.held = window.had = 0;
	window.hold = window.told = null;
	window.late = () => (window.hold = new Promise((then) => (window.letGo = then)), true);
	window.fetch = async (...of) => {
		if (!String(of[0]).endsWith("/plans/current")) return real(...of);
		if (window.alone && window.held > 0) return new Promise(() => {});
		const [hold, told] = [window.hold, window.told];
		window.hold = null;
		if (hold) window.held++;
		if (window.cut) {
			window.cut = false;
			const half = new ReadableStream({start(c) { c.enqueue(new TextEncoder().encode('{"number":')); c.error(new TypeError("cut off")); }});
			return new Response(half, {status: 200, headers: {"Content-Type": "application/json"}});
		}
		if (told) delete of[1].headers["If-None-Match"];
		let answer = await real(...of);
		window.had = answer.ok ? (await answer.clone().json()).number : answer.status;
		if (told && answer.ok) answer = new Response(JSON.stringify(over(await answer.json(), told)), {status: 200, headers: {"Content-Type": "application/json", "Date": answer.headers.get("Date"), "ETag": '"told"'}});
		if (hold) {
			await hold;
			window.held--;
		}
		return answer;
	};
	return true;
})()`

// look makes the page ask again, as when somebody returns to it.
const look = `document.dispatchEvent(new Event("visibilitychange")), true`

// walkPlanStates visits the possible states of a plan, by their sentences, and takes each way out.
func walkPlanStates(t *testing.T, s *server, browser context.Context) {
	var document map[string]any
	s.get(t, "/v1/clusters/demo/document", &document)
	document["cluster"].(map[string]any)["name"] = "moody"
	ctx := s.tab(t, browser)
	s.send(t, "POST", "/v1/clusters", map[string]any{"name": "moody", "currency": "USD", "period_s": 3600}, nil)
	s.open(t, ctx, "/settings/about")
	value[bool](t, ctx, meddled)
	h1 := func(text string) {
		t.Helper()
		until(t, ctx, fmt.Sprintf(`document.querySelector("h1")?.textContent === %q`, text))
	}
	show := func(cluster string) {
		t.Helper()
		value[bool](t, ctx, fmt.Sprintf(`(() => { const a = document.createElement("a"); a.href = "/c/%s/now"; document.querySelector("main").append(a); a.click(); a.remove(); return true; })()`, cluster))
	}
	proof := `document.querySelector("#proof").closest("section")`

	// Nothing is known yet; then there is no plan, though its inputs exist by now. No other question is answered
	// meanwhile.
	value[bool](t, ctx, `window.EventSource = class { addEventListener() {} close() {} }, window.alone = late()`)
	show("moody")
	h1("Reading plan …")
	if got := value[string](t, ctx, `getComputedStyle(document.querySelector("h1 .late")).animationDelay + document.querySelectorAll(".cards.late .waiting").length`); got != "0.3s3" {
		t.Errorf("while a plan is read it shows %s, want three places after 0.3 s", got)
	}
	until(t, ctx, `window.had === 404`)
	s.put(t, "/v1/clusters/moody/document", document, s.etag(t, "/v1/clusters/moody/document"))
	value[bool](t, ctx, `letGo(), true`)
	h1("The first plan is being computed.")
	value[bool](t, ctx, `window.alone = false, true`)
	picture(t, ctx, "first-plan")
	s.planned(t, "moody", 1)
	value[bool](t, ctx, look)
	until(t, ctx, `document.querySelector("h1").textContent.includes("at once on")`)

	// An incomplete answer counts as none. The page keeps what it shows, and asks again.
	value[bool](t, ctx, `window.thrown = 0, addEventListener("unhandledrejection", () => window.thrown++), window.cut = true, `+look)
	banner(t, ctx, "Headroom does not answer. You see what was here at ")
	until(t, ctx, `!document.body.textContent.includes("Headroom does not answer")`)
	if thrown := value[int](t, ctx, `window.thrown`); thrown > 0 {
		t.Errorf("%d mistakes of the page", thrown)
	}

	// An answer that is late does not take the place of a newer one.
	for i, price := range []string{"0.41", "0.42"} {
		document["prices"].([]any)[0].(map[string]any)["price"] = price
		s.put(t, "/v1/clusters/moody/document", document, s.etag(t, "/v1/clusters/moody/document"))
		s.planned(t, "moody", 2+i)
		value[bool](t, ctx, []string{`late(), `, ``}[i]+look)
		until(t, ctx, fmt.Sprintf(`window.had === %d`, 2+i)) // by then the answer on plan 2 is held back
	}
	until(t, ctx, `document.querySelector("header.top").textContent.includes("Plan 3 ")`)
	value[bool](t, ctx, `letGo(), true`)
	until(t, ctx, `window.held === 0`)
	value[bool](t, ctx, painted)
	if got := value[string](t, ctx, `document.querySelector("header.top").textContent`); !strings.Contains(got, "Plan 3 ") {
		t.Errorf("after the answer that was held back has come the header says %q", got)
	}

	// Old.
	value[bool](t, ctx, `window.told = {freshness: {stale: true, last_attempt: null, confirmed_at: new Date(Date.now() - 14 * 60e3).toISOString(), valid_until: new Date(Date.now() - 60e3).toISOString()}}, `+look)
	until(t, ctx, `/^This plan is 14 min( \d+ s)? old\. It was due to be renewed at \d\d:\d\d UTC; the last good plan stays in force\.Why\?Compute now$/.test(document.querySelector(".banner")?.textContent) && document.querySelector("header.top .chip").textContent.includes("Old")`)
	press(t, ctx, "Why?")
	until(t, ctx, `document.querySelector(".banner").textContent.includes("No one has tried to renew it since: Headroom was not running, or could not reach its database.")`)
	picture(t, ctx, "old")
	value[bool](t, ctx, `window.told = null, true`)
	press(t, ctx, "Compute now")
	noBanner(t, ctx)

	// Not proved: the page shows the gap, and offers more time for the search.
	c := s.current(t, "moody")
	value[bool](t, ctx, fmt.Sprintf(`window.told = {gap: 0.003, plan: {proof: {gap: 0.003, bound: (%s - 31 / 730).toFixed(9)}}}, `, c.Plan.Objective)+look)
	until(t, ctx, proof+`.textContent.includes("No plan's bill and value refused together are lower by more than $31.00 a month, a gap of 0.3 %. Search longer")`)
	until(t, ctx, `document.querySelector("header.top .chip").textContent.includes("Within 0.3 %")`)
	press(t, ctx, "Search longer")
	until(t, ctx, proof+`.querySelector("[role=alert]")?.textContent === "Plans of this cluster may take 8 s from now on."`)
	var settings struct {
		Options struct {
			Most int `json:"max_solve_ms"`
		}
	}
	if s.get(t, "/v1/clusters/moody", &settings); settings.Options.Most != 8000 {
		t.Errorf("the cluster's plans may take %d ms, want 8000", settings.Options.Most)
	}

	// The other solver votes when the plan is out.
	for vote, said := range map[string]string{
		`{state: "waiting", engine: "", detail: "", at: null}`:                 "CBC has not voted on it yet.",
		`{state: "none", engine: "", detail: "No solver answered.", at: null}`: "CBC did not vote on it. No solver answered.",
		`{state: "same", engine: "cbc 2.10.8", detail: "", at: null}`:          ", and CBC 2.10.8 found the same.",
		`{state: "other", engine: "cbc 2.10.8", detail: "", at: null}`:         "CBC 2.10.8 found another cost; ours is shown and was checked.",
	} {
		value[bool](t, ctx, `window.told = {vote: `+vote+`, plan: {proof: {agreed: null, engine: ""}}}, `+look)
		until(t, ctx, fmt.Sprintf(`%s.textContent.includes(%q)`, proof, said))
	}

	// The other solver found another cost before that.
	value[bool](t, ctx, `window.told = {vote: null, plan: {proof: {agreed: false, engine: "cbc"}}}, `+look)
	until(t, ctx, proof+`.textContent.includes("CBC found another cost; ours is shown and was checked. Details")`)
	press(t, ctx, "Details")
	until(t, ctx, fmt.Sprintf(`%s.textContent.includes("No plan brings bill and value refused together below %s a month: that bound was proved by ")`, proof, amountOf(t, c.Plan.Cost.Total, month, true)))
	calm(t, ctx, "now, not proved")

	// A viewer is told whom to ask.
	reader := s.viewer(t)
	becomes(t, ctx, reader.key)
	value[bool](t, ctx, `window.told = {freshness: {stale: true}}, `+look)
	press(t, ctx, "Compute now")
	until(t, ctx, `document.querySelector(".banner [role=alert]")?.textContent === "Your key may read moody but not change it. Ask an administrator for the role planner."`)
}

// walkGone has a cluster deleted in another place while somebody types into the form of one of its classes, and the
// settings of another changed.
func walkGone(t *testing.T, s *server, browser context.Context) {
	s.classesCluster(t, "short-lived", []string{"nightly-etl"})
	ctx := s.tab(t, browser)
	s.open(t, ctx, "/c/short-lived/classes/nightly-etl")
	write(t, ctx, "#field-class-penalty", "0.77")
	s.delete(t, "/v1/clusters/short-lived")
	press(t, ctx, "Save")
	const gone = `/^The cluster short-lived was deleted at \d\d:\d\d UTC by key HEADROOM_ADMIN_KEY\.Other clusters$/.test(document.querySelector(".banner")?.textContent)`
	until(t, ctx, gone)
	if got := value[string](t, ctx, `[...document.querySelectorAll(".banner")].map((b) => b.textContent).join("|") + document.querySelector("#field-class-penalty").value`); strings.Contains(got, "deleted nightly-etl") || !strings.HasSuffix(got, "0.77") {
		t.Errorf("in a cluster that was deleted it says %q", got)
	}
	picture(t, ctx, "cluster-gone")
	press(t, ctx, "Other clusters")
	until(t, ctx, `location.pathname === "/overview" && !document.querySelector(".banner")`)

	// The pages of a cluster that never existed say so, and show a way on.
	for _, page := range []string{"now", "what-if", "curves", "classes", "history"} {
		do(t, ctx, chromedp.Navigate(s.address+"/c/nowhere/"+page))
		until(t, ctx, `[...document.querySelectorAll(".banner")].map((b) => b.textContent).join("|") === 'There is no cluster "nowhere".Other clusters'`)
		until(t, ctx, `document.querySelector("h1") && !document.querySelector("main").textContent.includes("Reading plan")`)
	}
	press(t, ctx, "Other clusters")
	until(t, ctx, `location.pathname === "/overview" && !document.querySelector(".banner")`)

	// A class that is gone, and settings that somebody else changed.
	s.classesCluster(t, "shared", []string{"nightly-etl"})
	s.open(t, ctx, "/c/shared/classes/nightly-etl")
	write(t, ctx, "#field-class-penalty", "0.77")
	s.delete(t, "/v1/clusters/shared/classes/nightly-etl")
	press(t, ctx, "Save")
	until(t, ctx, `document.querySelector(".banner.error")?.textContent === "Somebody else deleted nightly-etl, after you opened it."`)
	s.open(t, ctx, "/settings/clusters?cluster=shared")
	write(t, ctx, "#field-description", "mine")
	var there map[string]any
	s.get(t, "/v1/clusters/shared", &there)
	there["description"] = "theirs"
	s.put(t, "/v1/clusters/shared", there, s.etag(t, "/v1/clusters/shared"))
	press(t, ctx, "Save")
	until(t, ctx, `/^Key HEADROOM_ADMIN_KEY changed shared at \d\d:\d\d UTC, after you opened it\.$/.test(document.querySelector(".banner.error span")?.textContent)`)
	until(t, ctx, `[...document.querySelectorAll(".banner.error tbody tr")].map((r) => r.textContent).join().includes("theirs")`)
	calm(t, ctx, "a conflict")
	press(t, ctx, "Take theirs")
	until(t, ctx, `document.querySelector("#field-description").value === "theirs" && !document.querySelector(".banner.error")`)
	do(t, ctx, chromedp.Navigate("about:blank"))
}
