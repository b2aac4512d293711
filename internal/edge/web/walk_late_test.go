package web_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// lateAnswers lets a test hold back the answer to the next request that fits a pattern, until letGo.
const lateAnswers = `(() => {
	const real = window.fetch;
	window.held = 0;
	window.late = (of) => (window.next = {of, until: new Promise((then) => (window.letGo = then))}, true);
	window.fetch = async (...asked) => {
		const it = window.next?.of.test((asked[1]?.method ?? "GET") + " " + asked[0]) ? window.next : null;
		if (it) window.next = null;
		const answer = await real(...asked);
		if (it) {
			window.held++;
			await it.until;
			window.held--;
		}
		return answer;
	};
	return true;
})()`

// walkLate delays answers: work done meanwhile is not lost.
func walkLate(t *testing.T, s *server, browser context.Context) {
	s.classesCluster(t, "late", []string{"only-here", "weekly"})
	s.planned(t, "late", 1)
	ctx := s.tab(t, browser)
	s.open(t, ctx, "/c/late/classes/only-here")
	value[bool](t, ctx, lateAnswers)
	late := func(pattern string) {
		t.Helper()
		value[bool](t, ctx, fmt.Sprintf(`late(/%s/)`, pattern))
	}
	isHeld := func() {
		t.Helper()
		until(t, ctx, `held === 1`)
	}
	letGo := func() {
		t.Helper()
		value[bool](t, ctx, `letGo(), true`)
		until(t, ctx, `held === 0`)
		value[bool](t, ctx, painted)
	}
	link := func(address string) {
		t.Helper()
		value[bool](t, ctx, fmt.Sprintf(`(() => { const a = document.createElement("a"); a.href = %q; document.querySelector("main").append(a); a.click(); a.remove(); return true; })()`, address))
	}

	// Text typed while a form is being saved is neither lost nor taken for saved.
	write(t, ctx, "#field-class-penalty", "0.55")
	late(`^PUT .*\/classes\/only-here$`)
	press(t, ctx, "Save")
	isHeld()
	write(t, ctx, "#field-class-jobs-max", "7")
	letGo()
	until(t, ctx, `document.querySelector("#field-class-jobs-max").value === "7" && document.querySelector("form [role=status]").textContent === "Not saved yet."`)
	press(t, ctx, "Save")
	until(t, ctx, `document.querySelector("form [role=status]").textContent === "Saved."`)
	var c struct {
		Penalty string `json:"penalty"`
		Jobs    struct {
			Max int `json:"max"`
		} `json:"jobs"`
	}
	if s.get(t, "/v1/clusters/late/classes/only-here", &c); c.Jobs.Max != 7 || c.Penalty != "0.55" && c.Penalty != "0.550000000" {
		t.Errorf("what was typed before and while it was saved is kept as %+v", c)
	}

	// A page takes the focus at its beginning only if people have not moved it.
	value[bool](t, ctx, `new Promise((then) => { // the fields of What if come first, its answer's script later
		const watch = new MutationObserver(() => {
			const field = document.querySelector(".knob input[type=text]");
			if (!field) return;
			watch.disconnect();
			field.focus();
			then(document.querySelector("h1") === null);
		});
		watch.observe(document.body, { childList: true, subtree: true });
		document.querySelector('nav a[href="/c/late/explore"]').click();
	})`)
	until(t, ctx, `document.querySelector("#answer") && document.querySelector("h1")`)
	if got := value[string](t, ctx, painted+`.then(() => document.activeElement.tagName)`); got != "INPUT" {
		t.Errorf("after the answer came the focus is on %s, want the field that it was in", got)
	}
	late(`^GET .*\/plans\?`)
	link("/c/late/history")
	isHeld()
	letGo()
	until(t, ctx, `document.activeElement.tagName === "H1"`)

	// A plan to compare with that comes after its page was left, or another cluster opened, is not another's.
	until(t, ctx, `/Plan [^1]/.test(document.querySelector("header.top").textContent)`)
	late(`\/plans\/1\/problem$`)
	link("/c/late/what-if?base=1")
	isHeld()
	link("/c/demo/now")
	letGo()
	link("/c/demo/what-if")
	until(t, ctx, `document.querySelector("#answer") && document.querySelector('[aria-label="Deadline of nightly-etl"]') && !document.querySelector('[aria-label="Deadline of only-here"]')`)
	link("/c/late/what-if")
	until(t, ctx, `document.querySelector('[aria-label="Deadline of only-here"]') && !document.querySelector('[aria-label="Deadline of nightly-etl"]')`)

	// A file chosen while another is examined is the one that is imported.
	rows := func(name string) string {
		return "name,profile,deadline_s,slots_map,slots_reduce,jobs_min,jobs_max,penalty\n" + name + ",etl,20 min,2,2,0,1,0.30\n"
	}
	link("/c/late/classes/import")
	late(`dry_run=true$`)
	give(t, ctx, file(t, "first.csv", rows("of-the-first")))
	isHeld()
	give(t, ctx, file(t, "second.csv", rows("a")+"b,etl,20 min,2,2,0,1,0.30\n"))
	until(t, ctx, `document.body.innerText.includes("2 classes: 2 new")`)
	letGo()
	if !value[bool](t, ctx, `document.body.innerText.includes("2 classes: 2 new")`) {
		t.Errorf("what was found in the first file stands beside the second")
	}
	press(t, ctx, "Import")
	until(t, ctx, `document.body.innerText.includes("Imported. 2 classes: 2 new")`)

	// A key requested twice is made once, and the next one's name may be typed meanwhile.
	link("/settings/keys")
	write(t, ctx, "#field-name", "asked-twice")
	late(`^POST \/v1\/keys$`)
	press(t, ctx, "Make the key")
	isHeld()
	value[bool](t, ctx, `document.querySelector("form").requestSubmit(), true`)
	write(t, ctx, "#field-name", "the-next")
	letGo()
	until(t, ctx, `document.querySelector("#secret") && document.querySelector("#field-name").value === "the-next"`)
	var keys struct {
		Items []struct {
			Name string `json:"name"`
		} `json:"items"`
	}
	s.get(t, "/v1/keys?limit=200", &keys)
	n := 0
	for _, k := range keys.Items {
		if k.Name == "asked-twice" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d keys were made, want one", n)
	}

	// A dialog has the focus before another key can be pressed.
	do(t, ctx, chromedp.Navigate(s.address+"/settings/prices?cluster=late"))
	press(t, ctx, "Import a price sheet") // so that the page is loaded
	if !value[bool](t, ctx, `(async () => {
		[...document.querySelectorAll("button")].find((b) => b.textContent === "Add a price").click();
		await new Promise((then) => setTimeout(then));
		return document.activeElement.closest("dialog") !== null;
	})()`) {
		t.Errorf("a dialog that was opened does not have the focus")
	}
}
