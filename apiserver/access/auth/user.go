package auth

import "slices"

// The groups that the server itself knows.
const (
	// MastersGroup may do everything, before any other rule (semantics J32).
	MastersGroup = "system:masters"
	// AuthenticatedGroup holds every authenticated user (J11).
	AuthenticatedGroup = "system:authenticated"
	// unauthenticatedGroup holds nobody but anonymousUser, who sends no request here (J4) but can
	// be impersonated.
	unauthenticatedGroup = "system:unauthenticated"
	anonymousUser        = "system:anonymous"
)

// User is who sent a request. It is shared by requests and never changes.
type User struct {
	Name   string
	UID    string
	Groups []string
	// Extra is more that is known of the user; only those have it who are impersonated with it
	// (J12).
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
