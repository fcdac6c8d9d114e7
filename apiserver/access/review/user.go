package review

import (
	"slices"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest/route"
)

// whoAmI returns the user of the requester.
func whoAmI(_ *Config, c *route.Call, o *schema.Object) error {
	o.SetCreationTimestamp(c.Now)
	setUser(o.Root().Make("status").Make("userInfo"), c.User)
	return nil
}

// whoseToken returns the user of a bearer token. The tokens of this server are valid for one
// audience, so a review for other audiences fails.
func whoseToken(cfg *Config, c *route.Call, o *schema.Object) error {
	spec, answer := o.Field("spec"), o.Root().Make("status")
	audiences := texts(spec.Field("audiences"))
	if len(audiences) > 0 && !slices.Contains(audiences, auth.Audience) {
		answer.Make("error").SetStr("tokens of this server are meant for the audience " + auth.Audience)
		return nil
	}
	// An invalid token is a result, not an error. The response does not say why the token is
	// invalid (J2).
	if user, err := cfg.Authenticator.Token(spec.Field("token").Str(), c.Now); err == nil {
		answer.Make("authenticated").SetBool(true)
		setUser(answer.Make("user"), user)
		if len(audiences) > 0 {
			setTexts(answer.Make("audiences"), []string{auth.Audience})
		}
	}
	return nil
}

func setUser(v *schema.Value, u *auth.User) {
	v.Make("username").SetStr(u.Name)
	v.Make("uid").SetStr(u.UID)
	setTexts(v.Make("groups"), u.Groups)
}
