package oidc

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/service/auth"
)

// claims holds the required and optional claims of every token.
type claims struct {
	Issuer   string   `json:"iss"`
	Subject  string   `json:"sub"`
	Audience oneOrAll `json:"aud"`
	Expires  *moment  `json:"exp"`
	From     *moment  `json:"nbf"`
	Issued   *moment  `json:"iat"`
}

// oneOrAll is a text or a list of texts.
type oneOrAll []string

func (o *oneOrAll) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*o = oneOrAll{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(o))
}

// moment is a NumericDate: seconds since 1970, perhaps with a fraction.
type moment struct{ time.Time }

func (m *moment) UnmarshalJSON(text []byte) error {
	var seconds float64
	if err := json.Unmarshal(text, &seconds); err != nil {
		return err
	}
	const last = 253402300799 // the end of 9999
	whole, fraction := math.Modf(min(max(seconds, 0), last))
	m.Time = time.Unix(int64(whole), int64(fraction*1e9)).UTC()
	return nil
}

// holder returns the key for the claims of a token with a valid signature; with errNoRole it says whose it would be.
func (i *Issuer) holder(text []byte, audience string) (auth.Key, error) {
	var c claims
	var all map[string]any
	if json.Unmarshal(text, &c) != nil || json.Unmarshal(text, &all) != nil {
		return auth.Key{}, refusal("its claims cannot be read")
	}
	now := i.config.Clock()
	switch {
	case c.Issuer != i.config.Issuer:
		return auth.Key{}, refusal("of another issuer")
	case !slices.Contains(c.Audience, audience):
		return auth.Key{}, refusal("for another audience")
	case c.Expires == nil:
		return auth.Key{}, refusal("without an end")
	case !now.Before(c.Expires.Add(leeway)):
		return auth.Key{}, refusal("over")
	case c.From != nil && now.Add(leeway).Before(c.From.Time):
		return auth.Key{}, refusal("not yet valid")
	case c.Issued != nil && now.Add(leeway).Before(c.Issued.Time):
		return auth.Key{}, refusal("made out in the future")
	case !isName(c.Subject):
		return auth.Key{}, refusal("without a subject that can be written down")
	}
	role, clusters, ok := granted(claim(all, i.config.RolesClaim))
	if !ok {
		return auth.Key{ID: auth.IssuedID + c.Subject}, errNoRole
	}
	name, _ := claim(all, i.config.NameClaim).(string)
	if verified, stated := all["email_verified"].(bool); !isName(name) || i.config.NameClaim == "email" && stated && !verified {
		name = c.Subject
	}
	end := c.Expires.Add(leeway)
	return auth.Key{ID: auth.IssuedID + c.Subject, Name: name, Role: role, Clusters: clusters, ExpiresAt: &end}, nil
}

// isName reports whether a text can be a key's name.
func isName(text string) bool { return (inputs.VMType{Name: text}).Validate() == nil }

// claim returns the claim of a name, or the one at a path with dots, or nil.
func claim(all map[string]any, path string) any {
	if value, there := all[path]; there {
		return value
	}
	first, rest, deeper := strings.Cut(path, ".")
	within, ok := all[first].(map[string]any)
	if !deeper || !ok {
		return nil
	}
	return claim(within, rest)
}

// rolePrefix begins the values that are for Headroom.
const rolePrefix = "headroom:"

// granted reads headroom:ROLE and headroom:ROLE:CLUSTER from a list, or from a text with spaces between them. The
// strongest role counts, with agent as the weakest, on the clusters that it names; without any, on all (nil). Other
// values grant nothing.
func granted(value any) (role auth.Role, clusters []string, ok bool) {
	var values []string
	switch v := value.(type) {
	case string:
		values = strings.Fields(v)
	case []any:
		for _, one := range v {
			if text, is := one.(string); is {
				values = append(values, text)
			}
		}
	}
	best, all := -1, false
	for _, text := range values {
		text, ours := strings.CutPrefix(text, rolePrefix)
		word, cluster, limited := strings.Cut(text, ":")
		place := strength(auth.Role(word))
		if !ours || place < best || place < 0 || limited && inputs.NewCluster(cluster).Validate() != nil {
			continue
		}
		if place > best {
			best, role, all, clusters = place, auth.Role(word), false, nil
		}
		if !limited {
			all = true
		} else if !slices.Contains(clusters, cluster) {
			clusters = append(clusters, cluster)
		}
	}
	if all {
		clusters = nil
	}
	slices.Sort(clusters)
	return role, clusters, best >= 0
}

// strength orders roles, agent before all others; -1 means no role.
func strength(r auth.Role) int {
	if r == auth.Agent {
		return 0
	}
	place := slices.Index(auth.Roles, r)
	if place < 0 {
		return -1
	}
	return place + 1
}
