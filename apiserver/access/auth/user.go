package auth

import "slices"

// The groups with a fixed meaning.
const (
	// MastersGroup may do everything, whatever the roles say (semantics J32).
	MastersGroup = "system:masters"
	// AuthenticatedGroup contains every authenticated user (J11).
	AuthenticatedGroup = "system:authenticated"
	// unauthenticatedGroup contains only anonymousUser. No request is anonymous (J4), but a sender
	// can impersonate this user.
	unauthenticatedGroup = "system:unauthenticated"
	anonymousUser        = "system:anonymous"
)

// User is the sender of a request. It is shared between requests and never changes.
type User struct {
	Name   string
	UID    string
	Groups []string
	// Extra holds further attributes. Only impersonated users have them (J12).
	Extra map[string][]string
}

func newUser(id Identity) *User {
	groups := slices.Clone(id.Groups)
	for _, group := range implied(id.Name) {
		if !slices.Contains(groups, group) {
			groups = append(groups, group)
		}
	}
	return &User{Name: id.Name, UID: id.UID, Groups: slices.Clip(groups)}
}

// implied are the groups that a user is in by name (J10, J11).
func implied(name string) []string {
	if name == anonymousUser {
		return []string{unauthenticatedGroup}
	}
	if namespace, _, ok := ServiceAccount(name); ok {
		return append(serviceAccountGroups(namespace), AuthenticatedGroup)
	}
	return []string{AuthenticatedGroup}
}

// In reports whether the user is a member of the group.
func (u *User) In(group string) bool { return slices.Contains(u.Groups, group) }
