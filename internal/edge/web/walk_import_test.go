package web_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// walkImport brings files of every kind: good ones, half bad ones, huge ones and rubbish.
func walkImport(t *testing.T, s *server, browser context.Context) {
	s.classesCluster(t, "brought", []string{"there-before"})
	ctx := s.tab(t, browser)
	s.open(t, ctx, "/c/brought/classes/import")

	// 100 rows, of which four are bad: two for the page to find, then two for the service.
	rows := func(bad map[int]string) string {
		var b strings.Builder
		b.WriteString("name,profile,deadline_s,slots_map,slots_reduce,jobs_min,jobs_max,penalty\n")
		for i := range 100 {
			row := fmt.Sprintf("class-%02d,etl,20 min,2,2,0,%d,0.30\n", i, 1+i%4)
			if bad[i] != "" {
				row = bad[i]
			}
			b.WriteString(row)
		}
		return b.String()
	}
	count := func() int {
		var l struct {
			Items []any `json:"items"`
		}
		s.get(t, "/v1/clusters/brought/classes?limit=1000", &l)
		return len(l.Items)
	}
	unread := map[int]string{3: "class-03,etl,soon,2,2,0,1,0.30\n", 7: "class-02,etl,20 min,2,2,0,1,0.30\n", 40: "class-40,etl,20 min,2,2,0,1,cheap\n", 99: ",etl,20 min,2,2,0,1,0.30\n"}
	give(t, ctx, file(t, "classes.csv", rows(unread)))
	until(t, ctx, `document.body.innerText.includes("4 mistakes in 100 rows. Nothing was imported.")`)
	if got := value[string](t, ctx, `[...document.querySelectorAll(".bad-import tbody tr")].map((r) => [...r.children].slice(0, 2).map((c) => c.lastChild.textContent).join(" ")).join(", ")`); got != "5 deadline_s, 9 name, 42 penalty, 101 name" {
		t.Errorf("the mistakes are told at %s", got)
	}
	calm(t, ctx, "import")
	looks(t, ctx, "import")
	refused := map[int]string{10: "class-10,etl,20 min,2,2,5,1,0.30\n", 60: "class-60,missing,20 min,2,2,0,1,0.30\n"}
	give(t, ctx, file(t, "classes.csv", rows(refused)))
	until(t, ctx, `[...document.querySelectorAll(".bad-import tbody tr")].some((r) => r.textContent.includes("12"))`)
	picture(t, ctx, "import-refused")
	if n := count(); n != 1 {
		t.Errorf("%d classes are there, want the one that was: nothing was imported", n)
	}
	give(t, ctx, file(t, "classes.csv", rows(nil)))
	until(t, ctx, `document.body.innerText.includes("100 classes: 100 new")`)
	press(t, ctx, "Import")
	until(t, ctx, `document.body.innerText.includes("Imported. 100 classes: 100 new")`)
	if n := count(); n != 101 {
		t.Errorf("%d classes are there, want 101", n)
	}

	// Rubbish is refused; a history is accepted.
	give(t, ctx, file(t, "x.bin", strings.Repeat("\x00\xff rubbish,,,\"", 2_000_000)))
	until(t, ctx, `document.body.innerText.includes("This file is not known.")`)
	var history strings.Builder
	history.WriteString("job,execution,task,kind,start,finish\n")
	for run := range 3 {
		for task := range 20 {
			fmt.Fprintf(&history, "reports,%d,t%d,map,%d,%d\n", run, task, 1000*(1_700_000_000+86_400*run+10*(task/4)), 1000*(1_700_000_000+86_400*run+10*(task/4)+9))
		}
	}
	give(t, ctx, file(t, "history.csv", history.String()))
	until(t, ctx, `document.body.innerText.includes("This is past runs of jobs.")`)
	press(t, ctx, "Import")
	until(t, ctx, `document.body.innerText.includes("3 runs of 1 job")`)
	press(t, ctx, "Make 1 class")
	until(t, ctx, `location.pathname === "/c/brought/plan"`)

	// The upload of a gigabyte shows its progress, and can be cancelled.
	big := filepath.Join(t.TempDir(), "prices.csv")
	text := "vm_type,price_per_hour,region,purchase\n" + strings.Repeat("m5.large,0.10,eu-central-1,on_demand\n", 1_000_000)
	if err := os.WriteFile(big, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, 1<<30); err != nil { // the rest is a hole, which nothing reads
		t.Fatal(err)
	}
	do(t, ctx, chromedp.Navigate(s.address+"/settings/prices?cluster=brought"))
	press(t, ctx, "Import a price sheet")
	give(t, ctx, big)
	until(t, ctx, `document.body.innerText.includes("This is a price sheet.")`)
	press(t, ctx, "Check it first")
	until(t, ctx, `/Sent [\d.]+ (kB|MB|GB) of 1\.07 GB/.test(document.body.innerText) && document.querySelector("progress").value > 0`)
	press(t, ctx, "Cancel")
	until(t, ctx, `/Cancelled after [\d.]+ (kB|MB) *\. Nothing was imported\./.test(document.body.innerText)`)
	var prices struct {
		Items []any `json:"items"`
	}
	if s.get(t, "/v1/clusters/brought/prices", &prices); len(prices.Items) != 1 {
		t.Errorf("%d prices are there, want the one that was", len(prices.Items))
	}
	give(t, ctx, file(t, "small.csv", "vm_type,price_per_hour\nm5.xlarge,0.22\n"))
	press(t, ctx, "Check it first")
	until(t, ctx, `document.body.innerText.includes("This would be taken over.")`)
	press(t, ctx, "Import")
	until(t, ctx, `document.body.innerText.includes("Imported. Prices:")`)
	s.get(t, "/v1/clusters/brought/prices", &prices)
	if len(prices.Items) != 2 {
		t.Errorf("%d prices are there, want two", len(prices.Items))
	}
}
