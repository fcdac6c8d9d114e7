package auth_test

import (
	"testing"
	"testing/synctest"
	"time"

	"quorate/apiserver/access/auth"
)

// TestTokenFromAClockAhead checks that a token issued by a node whose clock was ahead is
// accepted by nodes whose clocks are right, so that the operator is not locked out.
func TestTokenFromAClockAhead(t *testing.T) {
	t.Parallel()
	key := []byte("key")
	for ahead, want := range map[time.Duration]bool{0: true, 16 * time.Hour: true, 25 * time.Hour: false} {
		var token string
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(ahead) // the clocks of all bubbles begin at the same time
			var err error
			if token, err = auth.NewIssuer(key).Issue(auth.Identity{Name: "jane"}, time.Hour); err != nil {
				t.Fatal(err)
			}
		})
		synctest.Test(t, func(t *testing.T) {
			authenticator, err := auth.NewAuthenticator(key, "")
			if err != nil {
				t.Fatal(err)
			}
			user, err := authenticator.Token(token, time.Now())
			if (err == nil) != want || want && user.Name != "jane" {
				t.Errorf("%s ahead: %v, %v", ahead, user, err)
			}
		})
	}
}
