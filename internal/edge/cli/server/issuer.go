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

// examineIssuer adds to a diagnosis whether the issuer of tokens says with which keys it signs.
func (d *diagnosis) examineIssuer(ctx context.Context, settings config) {
	if settings.Issuer == "" || oidc.Fault(settings.Issuer) != "" { // which is one of the settings' mistakes
		return
	}
	err := settings.issuer(nil).Ask(ctx)
	d.add("token issuer", fmt.Sprintf("%s says with which keys it signs", settings.Issuer), cureIssuer, err)
}
