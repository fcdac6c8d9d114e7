package auth

import "slices"

// The groups that the server itself knows.
const (
	// MastersGroup may do everything, before any other rule (semantics J32).
	MastersGroup = "system:masters"
	// AuthenticatedGroup holds every authenticated user (J11).
	AuthenticatedGroup = "system:authenticated"
)

// User is who sent a request. It is shared by requests and never changes.
type User struct {
	Name   string
	UID    string
	Groups []string
}

func newUser(id Identity) *User {
	groups := slices.Clone(id.Groups)
	if !slices.Contains(groups, AuthenticatedGroup) {
		groups = append(groups, AuthenticatedGroup)
	}
	return &User{Name: id.Name, UID: id.UID, Groups: slices.Clip(groups)}
}

// In reports whether the user is a member of the group.
func (u *User) In(group string) bool { return slices.Contains(u.Groups, group) }
