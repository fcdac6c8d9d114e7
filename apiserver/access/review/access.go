package review

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/status"
)

// mayI decides for who asks.
func mayI(cfg *Config, c *route.Call, o *schema.Object) error {
	return cfg.decide(c.User, o)
}

// mayUser decides for whom the review names. The groups are taken as they are: who asks knows all
// of them.
func mayUser(cfg *Config, _ *route.Call, o *schema.Object) error {
	spec := o.Field("spec")
	return cfg.decide(&auth.User{
		Name: spec.Field("user").Str(), UID: spec.Field("uid").Str(), Groups: texts(spec.Field("groups")),
	}, o)
}

// mayUserHere is mayUser for requests about objects of the path's namespace, and no others: who may
// ask only there must not learn more.
func mayUserHere(cfg *Config, c *route.Call, o *schema.Object) error {
	at, spec := field.NewPath("spec"), o.Field("spec")
	if other := spec.Field("nonResourceAttributes"); other.IsSet() {
		return invalid(c, field.Forbidden(at.Child("nonResourceAttributes"), "a review of a namespace is about its objects"))
	}
	namespace := spec.Lookup("resourceAttributes", "namespace").Str()
	if namespace != c.Namespace {
		return invalid(c, field.Invalid(at.Child("resourceAttributes", "namespace"), namespace, "must match metadata.namespace"))
	}
	return mayUser(cfg, c, o)
}

func invalid(c *route.Call, err *field.Error) error {
	return status.NewInvalid(c.Subject(), field.ErrorList{err})
}

// decide answers whether a user may do what the review is about, unless that is not known.
func (cfg *Config) decide(u *auth.User, o *schema.Object) error {
	unready := cfg.Reviewer.Ready()
	allowed, reason := cfg.Reviewer.Explain(u, attributes(o.Field("spec")))
	if unready != nil && !allowed {
		return status.NewUnavailable(unready.Error())
	}
	answer := o.Root().Make("status")
	answer.Make("allowed").SetBool(allowed)
	answer.Make("reason").SetStr(reason)
	return nil
}

// attributes returns the request that a review is about.
func attributes(spec *schema.Value) *auth.Attributes {
	if other := spec.Field("nonResourceAttributes"); other.IsSet() {
		return &auth.Attributes{Verb: other.Field("verb").Str(), Path: other.Field("path").Str()}
	}
	about := spec.Field("resourceAttributes")
	text := func(name string) string { return about.Field(name).Str() }
	return &auth.Attributes{
		Verb: text("verb"), Group: text("group"), Version: text("version"), Resource: text("resource"),
		Subresource: text("subresource"), Namespace: text("namespace"), Name: text("name"),
	}
}
