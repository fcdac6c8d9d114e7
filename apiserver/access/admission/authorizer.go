package admission

import (
	"context"

	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/library"

	"quorate/apiserver/access/auth"
)

// authorizerValues returns the values of the variables authorizer and authorizer.requestResource.
func (c *Calls) authorizerValues(w *Write) (all, resource ref.Val) {
	u := &user.DefaultInfo{Name: w.User.Name, UID: w.User.UID, Groups: w.User.Groups, Extra: w.User.Extra}
	a := rules{c.authorizer}
	return library.NewAuthorizerVal(u, a), library.NewResourceAuthorizerVal(u, a, requested{&c.target, w})
}

// rules decides for expressions as the server decides about requests.
type rules struct{ auth.Authorizer }

// Authorize implements authorizer.UnconditionalAuthorizer.
func (r rules) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	asked := &auth.Attributes{Verb: a.GetVerb()}
	if a.IsResourceRequest() {
		asked.Group, asked.Version, asked.Resource, asked.Subresource = a.GetAPIGroup(), a.GetAPIVersion(), a.GetResource(), a.GetSubresource()
		asked.Namespace, asked.Name = a.GetNamespace(), a.GetName()
		asked.StoredGroup = asked.Group
	} else {
		asked.Path = a.GetPath()
	}
	u := a.GetUser()
	if r.Allows(&auth.User{Name: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups(), Extra: u.GetExtra()}, asked) {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

// requested is the resource of a request. It implements library.Resource.
type requested struct {
	target *Target
	w      *Write
}

func (r requested) GetName() string        { return r.w.Name }
func (r requested) GetNamespace() string   { return r.w.Namespace }
func (r requested) GetSubresource() string { return r.target.Subresource }
func (r requested) GetResource() schema.GroupVersionResource {
	k := r.target.Kind
	return schema.GroupVersionResource{Group: k.Group, Version: k.Version, Resource: k.Plural}
}
