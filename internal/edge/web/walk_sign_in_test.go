package web_test

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp"

	"example.org/headroom/internal/test/oidctest"
	"example.org/headroom/internal/test/pgtest"
)

// walkSignIn signs in at an issuer's page, comes back to where it was, is signed out by somebody else, and signs in
// there again.
func walkSignIn(t *testing.T, _ *server, browser context.Context) {
	issuer, address := oidctest.New(t), freeAddress(t)
	issuer.Open(&oidctest.Page{Back: "http://" + address + "/sign-in/back", Identity: map[string]any{"roles": []string{"headroom:operator"}, "name": "Ana Müller"}})
	s := startWith(t, []string{"HEADROOM_OIDC_ISSUER=" + issuer.URL, "HEADROOM_OIDC_AUDIENCE=" + oidctest.Audience, "HEADROOM_OIDC_NAME_CLAIM=name",
		"HEADROOM_OIDC_CLIENT_ID=" + oidctest.ClientID, "HEADROOM_OIDC_CLIENT_SECRET=" + oidctest.ClientSecret}, address, pgtest.Database(t))
	s.send(t, "POST", "/v1/clusters", map[string]any{"name": "shop"}, nil)
	ctx := s.tab(t, browser, "it went to "+issuer.URL)
	do(t, ctx, chromedp.Navigate(s.address+"/settings/clusters?cluster=shop"))
	press(t, ctx, "Sign in")
	until(t, ctx, `location.pathname === "/sign-in" && document.querySelector(".card .button")`)
	calm(t, ctx, "sign-in")
	looks(t, ctx, "sign-in")
	elsewhere := `document.querySelector("a[href='/sign-in/issuer']").click(), true`
	value[bool](t, ctx, elsewhere)
	until(t, ctx, `location.pathname + location.search === "/settings/clusters?cluster=shop" && document.querySelector("#field-description")`)
	var who struct {
		Name string `json:"name"`
		Role string `json:"role"`
	}
	if who = value[struct {
		Name string `json:"name"`
		Role string `json:"role"`
	}](t, ctx, `fetch("/v1/session").then((a) => a.json())`); who.Name != "Ana Müller" || who.Role != "operator" {
		t.Errorf("the page belongs to %+v", who)
	}

	// Signed out behind the page's back, with something typed.
	write(t, ctx, "#field-description", "half a sentence")
	value[bool](t, ctx, `fetch("/v1/session", {method: "DELETE"}).then((a) => a.ok)`)
	press(t, ctx, "Save")
	until(t, ctx, `document.body.innerText.includes("You were signed out.")`)
	press(t, ctx, "Sign in")
	press(t, ctx, "Sign in in another way")
	until(t, ctx, `location.pathname === "/sign-in" && document.querySelector(".card .button")`)
	value[bool](t, ctx, elsewhere)
	until(t, ctx, `document.querySelector("#field-description")?.value === "half a sentence"`)

	// Not let in.
	issuer.Open(&oidctest.Page{Back: "http://" + address + "/sign-in/back", Deny: "access_denied"})
	do(t, ctx, chromedp.Navigate(s.address+"/sign-in"))
	until(t, ctx, `document.querySelector(".card .button")`)
	value[bool](t, ctx, elsewhere)
	until(t, ctx, `document.querySelector("[role=alert]:not([hidden])")?.textContent.includes("did not let you in")`)
	calm(t, ctx, "sign-in refused")
	looks(t, ctx, "sign-in-refused")
}
