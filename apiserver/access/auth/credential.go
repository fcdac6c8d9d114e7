package auth

import (
	"context"
	"time"
)

// Credential is what a request authenticated with. What lasts longer than a request, as a watch
// does, ends with it.
type Credential struct {
	User *User
	// Expires is when the credential ceases to be valid; zero if it does not expire.
	Expires time.Time
	// Withdrawn, if it is not nil, ends when the credential ceases to be valid before it expires: a
	// static token that was removed from its file, or given to another user.
	Withdrawn context.Context
}
