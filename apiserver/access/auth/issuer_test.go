package auth_test

import (
	"testing"
	"testing/synctest"
	"time"

	"quorate/apiserver/access/auth"
)

// TestTokenOfAClockThatIsAhead is good where clocks are right: a node that issued credentials while
// its own was wrong does not lock its operator out for as long.
func TestTokenOfAClockThatIsAhead(t *testing.T) {
	t.Parallel()
	key := []byte("key")
	for ahead, want := range map[time.Duration]bool{0: true, 16 * time.Hour: true, 25 * time.Hour: false} {
		var token string
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(ahead) // each bubble's clock begins at the same time
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
