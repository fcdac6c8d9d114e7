package auth

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// TestTokenExpiresAfterUse checks that a cached token is not accepted after it has expired.
func TestTokenExpiresAfterUse(t *testing.T) {
	t.Parallel()
	key := []byte("key")
	token, err := NewIssuer(key).Issue(Identity{Name: "jane"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	a, err := NewAuthenticator(key, "")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for range 2 {
		if user, err := a.Token(token, now); err != nil || user.Name != "jane" {
			t.Fatalf("a fresh token: %v, %v", user, err)
		}
	}
	for range 2 {
		if user, err := a.Token(token, now.Add(time.Hour)); !errors.Is(err, ErrUnauthenticated) {
			t.Errorf("an expired token: %v, %v", user, err)
		}
	}
}

// TestCachedTokensAreBounded checks that a full cache is cleared, and that new tokens are cached
// afterwards.
func TestCachedTokensAreBounded(t *testing.T) {
	t.Parallel()
	a, err := NewAuthenticator([]byte("key"), "")
	if err != nil {
		t.Fatal(err)
	}
	full := map[string]verifiedToken{}
	for i := range maxCachedTokens - 1 {
		full[fmt.Sprint(i)] = verifiedToken{}
	}
	a.verified.Store(&full)
	for i, want := range []int{maxCachedTokens, 1, 2} {
		token := fmt.Sprintf("token %d", i)
		a.remember(token, verifiedToken{user: &User{Name: token}})
		if known := *a.verified.Load(); len(known) != want || known[token].user.Name != token {
			t.Errorf("%d tokens are kept after %s, want %d", len(known), token, want)
		}
	}
}
