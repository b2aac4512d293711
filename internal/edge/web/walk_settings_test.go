package web_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// walkSettings creates a key, changes a cluster and its prices, reads the audit log, and deletes the cluster.
func walkSettings(t *testing.T, s *server, browser context.Context) {
	s.classesCluster(t, "to-be-set", nil)
	ctx := s.tab(t, browser)
	s.open(t, ctx, "/settings/keys")
	name := hostile[0] + " of the settings"
	write(t, ctx, "#field-name", name)
	press(t, ctx, "Make the key")
	until(t, ctx, `document.querySelector("#secret")?.value.startsWith("hrk_")`)
	secret := value[string](t, ctx, `document.querySelector("#secret").value`)
	picture(t, ctx, "settings-secret")
	r, err := http.NewRequest("GET", s.address+"/v1/session", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+secret)
	answer, err := http.DefaultClient.Do(r)
	if err != nil || answer.StatusCode != 200 {
		t.Fatalf("the new key opens nothing: %v %v", answer, err)
	}
	_ = answer.Body.Close()
	press(t, ctx, "I have it")
	until(t, ctx, fmt.Sprintf(`!document.documentElement.outerHTML.includes(%q) && [...document.querySelectorAll("td")].some((e) => e.textContent.includes(%q))`, secret, name))
	calm(t, ctx, "settings-keys")
	looks(t, ctx, "settings-keys")
	value[bool](t, ctx, fmt.Sprintf(`[...document.querySelectorAll("button[aria-label]")].find((b) => b.ariaLabel === "Revoke " + %q).click(), true`, name))
	press(t, ctx, "Revoke it")
	until(t, ctx, `document.body.innerText.includes("revoked ")`)

	do(t, ctx, chromedp.Navigate(s.address+"/settings/clusters?cluster=to-be-set"))
	write(t, ctx, "#field-description", hostile[0]+" שלום")
	write(t, ctx, "#field-hold-s", "10 min")
	press(t, ctx, "Save")
	until(t, ctx, `document.body.innerText.includes("Saved.")`)
	var c struct {
		Description string `json:"description"`
		Hold        int    `json:"hold_s"`
	}
	if s.get(t, "/v1/clusters/to-be-set", &c); c.Hold != 600 || !strings.HasPrefix(c.Description, hostile[0]) {
		t.Errorf("the settings are saved as %+v", c)
	}
	calm(t, ctx, "settings-clusters")
	looks(t, ctx, "settings-clusters")

	do(t, ctx, chromedp.Navigate(s.address+"/settings/prices?cluster=to-be-set"))
	press(t, ctx, "Add a price")
	write(t, ctx, "#field-vm-type", "m5.2xlarge")
	write(t, ctx, "#field-price", "0.4")
	picture(t, ctx, "settings-price")
	press(t, ctx, "Save")
	until(t, ctx, `document.querySelectorAll("table.data tbody tr").length === 2`)
	calm(t, ctx, "settings-prices")
	looks(t, ctx, "settings-prices")

	do(t, ctx, chromedp.Navigate(s.address+"/settings/audit?cluster=to-be-set"))
	until(t, ctx, `document.querySelectorAll("table.data tbody tr").length >= 4`)
	calm(t, ctx, "settings-audit")
	if long() {
		looks(t, ctx, "settings-audit")
	}
	do(t, ctx, chromedp.Navigate(s.address+"/settings/about"))
	until(t, ctx, `document.body.innerText.includes("Postgres 1") && document.body.innerText.includes("cbc")`)
	calm(t, ctx, "settings-about")
	if long() {
		looks(t, ctx, "settings-about")
	}

	// A cluster is deleted only when its name is typed.
	do(t, ctx, chromedp.Navigate(s.address+"/settings/clusters?cluster=to-be-set"))
	write(t, ctx, `[aria-label="Delete the cluster"] input`, "to-be-se")
	until(t, ctx, `document.querySelector('[aria-label="Delete the cluster"] button').disabled`)
	do(t, ctx, chromedp.KeyEvent("t"))
	press(t, ctx, "Delete the cluster")
	until(t, ctx, `![...document.querySelectorAll("td")].some((e) => e.textContent.includes("to-be-set"))`)

	// A viewer sees a note, and read-only fields.
	var made struct {
		Token string `json:"token"`
	}
	s.send(t, "POST", "/v1/keys", map[string]any{"name": "reader", "role": "viewer"}, &made)
	becomes(t, ctx, made.Token)
	do(t, ctx, chromedp.Navigate(s.address+"/settings/keys"))
	until(t, ctx, `document.body.innerText.includes("Your key may not see keys.") && document.querySelector("h1").textContent === "Keys"`) // not that there are none
	do(t, ctx, chromedp.Navigate(s.address+"/c/demo/classes/nowhere"))
	until(t, ctx, `document.querySelector("h1")?.textContent.trim() === "There is no class nowhere in this cluster." && document.querySelector("main .links a").pathname === "/c/demo/plan/classes"`)
	do(t, ctx, chromedp.Navigate(s.address+"/c/demo/classes"))
	until(t, ctx, `document.body.innerText.includes("Your key may read demo but not change it. Ask an administrator for the role operator.") && document.querySelector("table.data a")`)
	do(t, ctx, chromedp.Click(chromedp.CSS("table.data a")))
	until(t, ctx, `document.querySelector("fieldset:disabled input")`)
	picture(t, ctx, "class-reader")
	do(t, ctx, chromedp.Navigate(s.address+"/settings"))
	press(t, ctx, "About")
	press(t, ctx, "Sign out")
	until(t, ctx, `location.pathname === "/sign-in"`)
}
