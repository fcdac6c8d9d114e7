package auth

import (
	"fmt"
	"strings"
)

// Attributes describe a request for authorization (semantics J13–J17).
type Attributes struct {
	Verb string
	// Path is set for non-resource requests. The fields below are then empty.
	Path string

	Group       string
	Version     string
	Resource    string
	Subresource string
	Namespace   string
	Name        string

	// StoredGroup is the group by which the objects are stored, which differs from Group where a
	// kind is served in several groups. Authorization does not use it.
	StoredGroup string
}

// Authorizer decides whether a user may perform a request. Implementations must be fast and safe
// for concurrent use.
type Authorizer interface {
	Allows(u *User, a *Attributes) bool
	// AllowsSomewhere reports whether a user may do this in the whole cluster, or in one namespace
	// at least. The attributes name no namespace.
	AllowsSomewhere(u *User, a *Attributes) bool
}

// Reviewer is an Authorizer that also gives reasons and lists the permissions of a user.
type Reviewer interface {
	Authorizer
	// Ready returns an error until permissions are known.
	Ready() error
	// Explain decides as Allows does. reason describes the rule that allows the request; it is
	// empty if the request is not allowed.
	Explain(u *User, a *Attributes) (allowed bool, reason string)
	// Rules returns the known permissions of a user in a namespace.
	Rules(u *User, namespace string) Rules
}

// Rules are permissions. Each rule allows every combination of the values that it lists (semantics
// J18, J19).
type Rules struct {
	Resource    []ResourceRule
	NonResource []NonResourceRule
	// Incomplete says which rules are missing; it is empty if none are.
	Incomplete string
}

// ResourceRule allows verbs on resources. If Names is empty, it applies to all names.
type ResourceRule struct{ Verbs, Groups, Resources, Names []string }

// NonResourceRule allows verbs on paths.
type NonResourceRule struct{ Verbs, Paths []string }

// Denial returns the message for a user whose request is not allowed (J26).
func Denial(u *User, a *Attributes) string {
	if a.Path != "" {
		return fmt.Sprintf("User %q cannot %s path %q", u.Name, a.Verb, a.Path)
	}
	resource := a.Resource
	if a.Subresource != "" {
		resource += "/" + a.Subresource
	}
	var b strings.Builder
	fmt.Fprintf(&b, "User %q cannot %s resource %q in API group %q", u.Name, a.Verb, resource, a.Group)
	if a.Namespace != "" {
		fmt.Fprintf(&b, " in the namespace %q", a.Namespace)
	} else {
		b.WriteString(" at the cluster scope")
	}
	return b.String()
}
