package review

import (
	"net/http"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/status"
)

// The group versions of reviews.
const (
	authentication = "authentication.k8s.io/v1"
	authorization  = "authorization.k8s.io/v1"
)

// maxBodyBytes is the size of the largest review. Every user may send some kinds of them, and what
// they ask is one user, with groups, and one request.
const maxBodyBytes = 256 << 10

// Config configures Register.
type Config struct {
	Catalog       *schema.Catalog
	Reviewer      auth.Reviewer
	Authenticator *auth.Authenticator
}

// review is one kind of review.
type review struct {
	apiVersion, kind string
	// open means that every authenticated user may send the review, because it only reveals
	// information about the requester.
	open   bool
	answer func(cfg *Config, c *route.Call, o *schema.Object) error
}

func reviews() []review {
	return []review{
		{authentication, "SelfSubjectReview", true, whoAmI},
		{authentication, "TokenReview", false, whoseToken},
		{authorization, "LocalSubjectAccessReview", false, mayUserHere},
		{authorization, "SelfSubjectAccessReview", true, mayI},
		{authorization, "SelfSubjectRulesReview", true, whatMayI},
		{authorization, "SubjectAccessReview", false, mayUser},
	}
}

// Kinds returns the kinds that Register serves.
func Kinds(catalog *schema.Catalog) []*schema.Kind {
	all := reviews()
	kinds := make([]*schema.Kind, len(all))
	for i := range all {
		kinds[i] = catalog.Unstored(all[i].apiVersion, all[i].kind)
	}
	return kinds
}

// Register adds the routes of all reviews.
func Register(add func(method, path string, e *route.Endpoint), cfg Config) {
	kinds := Kinds(cfg.Catalog)
	for i, r := range reviews() {
		path := kinds[i].Prefix + "/" + kinds[i].Plural
		if kinds[i].Namespaced {
			path = kinds[i].Prefix + "/namespaces/:namespace/" + kinds[i].Plural
		}
		add(http.MethodPost, path, r.endpoint(&cfg, kinds[i]))
	}
}

func (r *review) endpoint(cfg *Config, k *schema.Kind) *route.Endpoint {
	answer := r.answer
	return &route.Endpoint{
		Verb: route.VerbCreate, Class: route.ClassRead, Version: k.Version, Kind: k, Authenticated: r.open,
		Subject: status.Subject{Group: k.Group, Plural: k.Plural, Kind: k.Kind}, MaxBody: maxBodyBytes,
		Serve: func(c *route.Call) error {
			o, form, err := rest.Unstored(c)
			if err != nil {
				return err
			}
			if errs := k.Message.Validate(o.Root()); len(errs) > 0 {
				return status.NewInvalid(c.Subject(), errs)
			}
			o.Root().Clear("status") // the server alone sets the status
			if err := answer(cfg, c, o); err != nil {
				return err
			}
			return c.Document(rest.CreationCode(k), o.AppendJSON(nil), form)
		},
	}
}

// texts returns the strings in a list.
func texts(list *schema.Value) []string {
	out := make([]string, 0, list.Len())
	for _, item := range list.Items() {
		out = append(out, item.Str())
	}
	return out
}

// setTexts appends strings to a list.
func setTexts(list *schema.Value, all []string) {
	for _, text := range all {
		list.Append().SetStr(text)
	}
}
