package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/shopspring/decimal"

	"example.org/headroom/internal/test/moneytest"
)

// keepAnswers keeps the answers that the page gets, and counts those that are under way.
const keepAnswers = `{ window.answers = []; window.underWay = 0; window.quietSince = performance.now(); const ask = window.fetch;
	window.fetch = async (...of) => { window.underWay++; try { const a = await ask(...of); window.answers.push(await a.clone().text().catch(() => "")); return a } finally { window.underWay--; window.quietSince = performance.now() } } }`

// quiet is true where the page has waited for nothing during a fifth of a second.
const quiet = `window.underWay === 0 && window.answers.length > 1 && performance.now() - window.quietSince > 200 && !document.querySelector("main .late, main [aria-busy=true]") &&
	!/Reading [^.]*…|Computing/.test(document.querySelector("main").innerText)`

// shownMoney returns the tables of the page as rows of cells, and everything else as lines, each with the words that
// stand above it. It leaves out drawings.
const shownMoney = `(() => {
	const text = (e) => e.innerText.replaceAll("\n", " ");
	const tables = [...document.querySelectorAll("main table")].map((t) => [...t.querySelectorAll("tr")].map((r) => [...r.children].map((c) => c.innerText.trim())));
	const lines = [];
	for (const e of document.querySelectorAll("main h1, main h2, main h3, main p, main li, main dd, main figcaption, main summary, main .knob")) {
		if (e.closest("table, svg") || e.parentElement.closest(".knob") || !e.offsetParent) continue;
		const first = e.closest(".figures > div, .facts > div")?.firstElementChild ?? e;
		lines.push([e.tagName === "DD" ? text(e.previousElementSibling) : first === e ? "" : text(first), text(e)]);
	}
	return JSON.stringify({tables, lines});
})()`

// walkMoney reads the pages of clusters whose money is odd: each figure of money stands under the word that it is. It
// knows the figures from the answers that the page got. The short form reads every page of the cluster that lacks VMs, and
// three of each other.
func walkMoney(t *testing.T, s *server, browser context.Context) {
	names := []string{"demo"}
	for _, doc := range moneytest.Clusters {
		var d struct{ Cluster struct{ Name string } }
		if err := json.Unmarshal([]byte(doc), &d); err != nil {
			t.Fatal(err)
		}
		name := d.Cluster.Name
		names = append(names, name)
		s.apply(t, name, rawJSON(doc))
		from := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
		for class, week := range map[string]string{"etl": "mon-fri 8-18: 7; else 2", "adhoc": "else 3"} {
			s.send(t, http.MethodPost, "/v1/clusters/"+name+"/forecasts/weekly", map[string]any{"class": class, "from": from, "until": from.AddDate(0, 0, 28), "week": week}, nil)
		}
		s.planned(t, name, 1)
	}
	ctx := s.tab(t, browser)
	do(t, ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: keepAnswers})
		return err
	}))
	amounts, least := 0, 300
	if !long() {
		least = 150
	}
	for _, name := range names {
		b := moneytest.New()
		class := "etl"
		if name == "demo" {
			class = "nightly-etl"
		}
		fewer, dearer := "ch="+url.QueryEscape("demand:"+class+":x0.5"), "ch="+url.QueryEscape("penalty:"+class+":x3")
		pages := []string{"now?per=hour", "now", "classes", "classes/" + class, "what-if?per=hour&base=1&" + fewer, "what-if?per=day&base=1&" + dearer, "what-if?per=hour&base=1&ch=" + url.QueryEscape("price:*:x1.7"),
			"curves?per=hour&x=demand&from=50&to=150&n=5", "contracts", "contracts?tab=months", "contracts?tab=buy&assume=flat", "history?per=hour"}
		if !long() && name != "scarce" {
			pages = []string{"now", "contracts", "contracts?tab=months"}
		}
		for _, path := range pages {
			s.open(t, ctx, "/c/"+name+"/"+path)
			wrong, seen := judgeMoney(t, ctx, b, name+" "+path)
			for _, w := range wrong {
				t.Errorf("%s %s: %s", name, path, w)
			}
			amounts += seen
			if name == "scarce" && path == "now" { // wrong words are noticed, but where that amount is a bill of another time as well
				value[bool](t, ctx, `[...document.querySelectorAll("dt")].forEach((e) => { e.textContent = e.textContent.replace("Bill and value refused", "VM bill").replace("Value refused (on no bill)", "VM bill") }), true`)
				if wrong, _ := judgeMoney(t, ctx, b, "planted"); len(wrong) == 0 {
					t.Error("a total and a value called VM bill are not noticed")
				}
			}
		}
	}
	if amounts < least {
		t.Errorf("%d amounts are too few to judge by", amounts)
	}
	t.Logf("%d amounts", amounts)
}

// judgeMoney judges each amount that a page shows by the answers that it got. It returns what is wrong, and how many
// amounts it saw.
func judgeMoney(t *testing.T, ctx context.Context, b *moneytest.Book, place string) (wrong []string, seen int) {
	t.Helper()
	until(t, ctx, quiet)
	value[bool](t, ctx, `[...document.querySelectorAll("main button")].filter((b) => ["Show as table", "Compute", "Show all classes"].includes(b.textContent.trim()) && !b.disabled).forEach((b) => b.click()), true`)
	until(t, ctx, quiet)
	var plans []decimal.Decimal // the bills of whole plans, between which a page may tell a difference
	for _, text := range value[[]string](t, ctx, `window.answers`) {
		var answer any
		if json.Unmarshal([]byte(text), &answer) != nil {
			continue // events
		}
		of, seconds := moneytest.New(), secondsOf(answer)
		of.Read(t, place, answer, "")
		of.Scale(seconds)
		b.Add(of)
		hours, _ := member(answer, "periods").([]any)
		for _, h := range hours { // each may stand for several alike, of which the page shows one
			if many, is := member(h, "hours").(float64); is {
				one := moneytest.New()
				one.Read(t, place, h, "")
				one.Scale(decimal.NewFromFloat(many * 3600))
				b.Add(one)
			}
		}
		for _, of := range []any{member(answer, "plan"), member(answer, "base"), first(member(answer, "scenarios"))} {
			bill, _ := member(of, "cost", "bill").(string)
			if d, err := decimal.NewFromString(bill); err == nil {
				plans = append(plans, d.Mul(decimal.NewFromInt(3600)).DivRound(seconds, 9))
			}
		}
	}
	b.Differences(plans)
	holdMonths(t, b, value[[]string](t, ctx, `window.answers`))
	var shown struct {
		Tables [][][]string
		Lines  [][2]string
	}
	if err := json.Unmarshal([]byte(value[string](t, ctx, shownMoney)), &shown); err != nil {
		t.Fatal(err)
	}
	judge := func(above, text string) {
		found, n := b.Page(above, text)
		wrong, seen = append(wrong, found...), seen+n
	}
	for _, table := range shown.Tables {
		for i, row := range table {
			for j, cell := range row {
				above := row[0]
				if i > 0 && j < len(table[0]) {
					above += " " + table[0][j]
				}
				judge(above, cell)
			}
		}
	}
	for _, line := range shown.Lines {
		judge(line[0], line[1])
	}
	return wrong, seen
}

// holdMonths adds the bills of this month that answers come to: what the overview has so far, the rest of this hour as its
// plan has it, and the hours to come.
func holdMonths(t *testing.T, b *moneytest.Book, answers []string) {
	t.Helper()
	var lines []overviewLine
	ahead := []decimal.Decimal{decimal.Zero} // in the last hour of a month
	for _, text := range answers {
		var answer struct {
			Items  []json.RawMessage
			Detail string
			Total  struct {
				Cost  struct{ Bill, Upfront decimal.Decimal }
				Whole *struct{ Bill decimal.Decimal } `json:"in_whole_jobs"`
			}
		}
		if json.Unmarshal([]byte(text), &answer) != nil {
			continue
		}
		if answer.Detail == "summary" {
			ahead = append(ahead, answer.Total.Cost.Bill.Sub(answer.Total.Cost.Upfront)) // which no plan counts
			if of := answer.Total.Whole; of != nil {
				ahead = append(ahead, of.Bill.Sub(answer.Total.Cost.Upfront))
			}
		}
		for _, item := range answer.Items {
			var line overviewLine
			if json.Unmarshal(item, &line) == nil && line.Month != nil {
				lines = append(lines, line)
			}
		}
	}
	for _, l := range lines {
		bill, err := decimal.NewFromString(l.Plan.Bill)
		if err != nil {
			t.Fatal(err)
		}
		rest := l.Month.Until.Truncate(time.Hour).Add(time.Hour).Sub(l.Month.Until)
		rate := bill.Mul(decimal.NewFromInt(rest.Microseconds())).DivRound(decimal.NewFromInt(l.Plan.Period*1e6), 9)
		for _, bill := range ahead {
			moneytest.Hold(b.Bill, bill.Add(rate))
			moneytest.Hold(b.Bill, bill.Add(rate).Add(l.Month.Bill))
		}
	}
}

// secondsOf returns the time that the amounts of an answer are of: the hours of a horizon, or a period of planning.
func secondsOf(answer any) decimal.Decimal {
	for _, path := range [][]string{{"horizon", "total", "hours"}, {"total", "hours"}} {
		if hours, is := member(answer, path...).(float64); is {
			return decimal.NewFromFloat(hours * 3600)
		}
	}
	for _, path := range [][]string{{"plan", "cost", "period_s"}, {"cost", "period_s"}, {"base", "cost", "period_s"}, {"period_s"}} {
		if seconds, is := member(answer, path...).(float64); is {
			return decimal.NewFromFloat(seconds)
		}
	}
	return decimal.NewFromInt(3600)
}

// member returns what stands at a path of names; nil is nothing.
func member(of any, path ...string) any {
	for _, name := range path {
		object, _ := of.(map[string]any)
		of = object[name]
	}
	return of
}

// first returns the first entry of a list; nil is none.
func first(of any) any {
	if list, _ := of.([]any); len(list) > 0 {
		return list[0]
	}
	return nil
}
