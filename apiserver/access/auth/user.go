package auth

import "slices"

// The groups with a predefined meaning.
const (
	// MastersGroup may perform all requests, regardless of roles (semantics J32).
	MastersGroup = "system:masters"
	// AuthenticatedGroup contains every authenticated user (J11).
	AuthenticatedGroup = "system:authenticated"
	// unauthenticatedGroup contains only anonymousUser. Requests cannot be anonymous (J4), but a
	// sender can impersonate this user.
	unauthenticatedGroup = "system:unauthenticated"
	anonymousUser        = "system:anonymous"
)

// User is the sender of a request. It is immutable and shared by requests.
type User struct {
	Name   string
	UID    string
	Groups []string
	// Extra contains further attributes. Only impersonated users have them (J12).
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

// implied returns the groups that a user is in because of its name (J10, J11).
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
