package route

import (
	"net/http/httptest"
	"testing"
)

// TestForgottenCallsStayCharged: a call that has begun to follow changes returns what it has taken
// when it ends, and not before.
func TestForgottenCallsStayCharged(t *testing.T) {
	t.Parallel()
	c := &Call{R: httptest.NewRequest("GET", "/?watch=1", nil), Services: &Services{Encoded: NewBudget(100, func() {})}}
	if !c.Query().Has("watch") || !c.KeepEncoded(70) {
		t.Fatal("nothing was taken")
	}
	c.Forget()
	if n := c.Encoded.Used(); n != 70 {
		t.Errorf("%d bytes are charged after Forget, want 70", n)
	}
	for range 2 {
		c.Release()
		if n := c.Encoded.Used(); n != 0 {
			t.Errorf("%d bytes are charged at the end", n)
		}
	}
}
