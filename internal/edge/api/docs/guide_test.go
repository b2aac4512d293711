package docs

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	sources "example.org/headroom/docs"
)

var (
	hrefs = regexp.MustCompile(`href="([^"]*)"`)
	ids   = regexp.MustCompile(` id="([^"]*)"`)
	shots = regexp.MustCompile(`<img src="/assets/([^"]*)" alt="([^"]*)"`)
)

// Every page is shown whole, its links lead to pages and headings that exist, and each page but decisions is in the contents.
func TestGuides(t *testing.T) {
	pages := 0
	if err := fs.WalkDir(sources.Pages, ".", func(name string, e fs.DirEntry, err error) error {
		if strings.HasSuffix(name, ".md") {
			pages++
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	l, err := books()
	if err != nil || len(l.pages) != pages || pages < 100 {
		t.Fatalf("%d pages of %d files, %v", len(l.pages), pages, err)
	}
	shown, anchors := map[string]string{}, map[string][]string{}
	for address := range l.pages {
		parts := strings.Split(address, "/")
		text, found, err := Guide("1.0", parts[2], parts[3], "")
		if err != nil || !found {
			t.Fatalf("%s: %v, %v", address, found, err)
		}
		shown[address] = string(text)
		for _, m := range ids.FindAllStringSubmatch(string(text), -1) {
			anchors[address] = append(anchors[address], m[1])
		}
	}
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	links, pictures := 0, 0
	for address, text := range shown {
		for _, m := range shots.FindAllStringSubmatch(text, -1) {
			if files[m[1]] == nil || m[2] == "" && m[1] != "icon.svg" {
				t.Errorf("%s shows %q, which this server does not have, or says nothing of it", address, m[1])
			}
			if strings.HasSuffix(m[1], ".png") {
				pictures++
			}
		}
		if strings.Count(text, "<h1") != 1 {
			t.Errorf("%s has %d titles", address, strings.Count(text, "<h1"))
		}
		for _, m := range hrefs.FindAllStringSubmatch(text, -1) {
			to, anchor, _ := strings.Cut(m[1], "#")
			if to == "" {
				to = address
			}
			if strings.Contains(to, "://") || to == "/docs" || to == "/openapi.yaml" || strings.HasPrefix(to, "/assets/") {
				continue
			}
			links++
			if l.pages[to] == nil {
				t.Errorf("%s links to %s, which is not shown", address, m[1])
			} else if anchor != "" && !strings.Contains(" "+strings.Join(anchors[to], " ")+" ", " "+anchor+" ") {
				t.Errorf("%s links to %s, which has no such heading", address, m[1])
			}
		}
		if !strings.Contains(address, "/decisions/") && !strings.Contains(shown[GuideHome], `href="`+address+`"`) {
			t.Errorf("the contents do not have %s", address)
		}
	}
	if links < 500 || pictures < 3 {
		t.Errorf("%d links and %d pictures were looked at", links, pictures)
	}
}

func TestSearchGuides(t *testing.T) {
	for query, want := range map[string]string{
		"upfront": "/docs/reference/money", "YARN queue": "/docs/how-to/yarn", "back up": "/docs/how-to/operate#back-up", "exit codes": "/docs/reference/command-line",
	} {
		text, found, err := Guide("1.0", "about", "search", query)
		if err != nil || !found || !strings.Contains(string(text), `<h3><a href="`+want) {
			t.Errorf("%q does not find %s: %v", query, want, err)
		}
	}
	text, _, _ := Guide("1.0", "about", "search", `"><script>zzz`)
	if strings.Contains(string(text), "<script>") || !strings.Contains(string(text), "No page has all of these words") {
		t.Error("a query is shown as it was sent")
	}
	if _, found, err := Guide("1.0", "about", "nothing", ""); found || err != nil {
		t.Errorf("a page that does not exist: %v, %v", found, err)
	}
}
