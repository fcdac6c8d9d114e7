package review

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/status"
)

// mayI decides whether the requester may perform the reviewed request.
func mayI(cfg *Config, c *route.Call, o *schema.Object) error {
	return cfg.decide(c.User, o)
}

// mayUser decides whether the user in the review may perform the reviewed request. It uses only the
// groups in the review, because the sender has to specify all of them.
func mayUser(cfg *Config, _ *route.Call, o *schema.Object) error {
	spec := o.Field("spec")
	return cfg.decide(&auth.User{
		Name: spec.Field("user").Str(), UID: spec.Field("uid").Str(), Groups: texts(spec.Field("groups")),
	}, o)
}

// mayUserHere is mayUser for requests in the namespace of the path. A sender who may ask about one
// namespace must not learn about others.
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

// decide sets whether a user may perform the reviewed request. It returns an error if that is not
// known yet.
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

// attributes returns the request that a review describes.
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
