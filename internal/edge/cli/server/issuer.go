package server

import (
	"context"
	"fmt"
	"log/slog"

	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/auth/oidc"
)

// issuer returns the issuer whose tokens open the server besides keys, nil if there is none.
func (s config) issuer(log *slog.Logger) *oidc.Issuer {
	if s.Issuer == "" {
		return nil
	}
	return oidc.New(oidc.Config{Issuer: s.Issuer, Audience: s.Audience, RolesClaim: s.RolesClaim, NameClaim: s.NameClaim,
		ClientID: s.ClientID, ClientSecret: s.ClientSecret, Scopes: s.Scopes, Log: log})
}

// issuerOf returns an issuer as the service knows it, nil if there is none.
func issuerOf(i *oidc.Issuer) auth.Issuer {
	if i == nil {
		return nil
	}
	return i
}

const cureIssuer = "HEADROOM_OIDC_ISSUER must be the address that the issuer calls itself by, and reachable from here over https. Until " +
	"then its tokens are answered 503; keys work."

const curePage = "The issuer's description must have an authorization_endpoint and a token_endpoint over https. Without them remove HEADROOM_OIDC_CLIENT_ID."

// examineIssuer adds to a diagnosis whether the issuer of tokens says with which keys it signs, and where people sign in.
func (d *diagnosis) examineIssuer(ctx context.Context, settings config) {
	if settings.Issuer == "" || oidc.Fault(settings.Issuer) != "" { // which is one of the settings' mistakes
		return
	}
	issuer := settings.issuer(nil)
	err := issuer.Ask(ctx)
	d.add("token issuer", fmt.Sprintf("%s says with which keys it signs", settings.Issuer), cureIssuer, err)
	if err == nil && issuer.HasPage() {
		_, _, err := issuer.Begin("")
		d.add("sign-in page", fmt.Sprintf("%s says at which page people sign in", settings.Issuer), curePage, err)
	}
}
