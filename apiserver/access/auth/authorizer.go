package auth

import (
	"fmt"
	"strings"
)

// Attributes describe a request for authorization (semantics J13–J17).
type Attributes struct {
	Verb string
	// Path is set for requests that are not about resources; the fields below it are empty then.
	Path string

	Group       string
	Version     string
	Resource    string
	Subresource string
	Namespace   string
	Name        string
}

// Authorizer decides whether a user may perform a request. Implementations are safe for concurrent
// use and cheap.
type Authorizer interface {
	Allows(u *User, a *Attributes) bool
}

// Reviewer is an Authorizer that also gives reasons and lists a user's permissions.
type Reviewer interface {
	Authorizer
	// Ready returns an error until permissions are known.
	Ready() error
	// Explain decides as Allows does. reason names the rule that allows the request; it is empty
	// for a refusal.
	Explain(u *User, a *Attributes) (allowed bool, reason string)
	// Rules returns what the user may do in a namespace, as far as the reviewer knows.
	Rules(u *User, namespace string) Rules
}

// Rules are what a user may do: each rule allows every combination of what it lists (semantics J18,
// J19).
type Rules struct {
	Resource    []ResourceRule
	NonResource []NonResourceRule
	// Incomplete says which rules are missing; empty when none are.
	Incomplete string
}

// ResourceRule allows verbs on resources. Without names it applies to all names.
type ResourceRule struct{ Verbs, Groups, Resources, Names []string }

// NonResourceRule allows verbs on paths.
type NonResourceRule struct{ Verbs, Paths []string }

// Denial returns the message for a refused user (J26).
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
