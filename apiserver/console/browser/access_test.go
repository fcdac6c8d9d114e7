package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestAccessAndOperations: a user without roles is refused in the words of the API and sees what he
// may do; an administrator compares the states of the nodes, writes a snapshot and transfers
// leadership.
func TestAccessAndOperations(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	leader, others := c.leader(t)
	token, err := c.Command(t.Context(), "token", "create", "--cluster-key-file", c.KeyFile(), "--user", "visitor")
	if err != nil {
		t.Fatal(err)
	}
	p := newPage(t)
	p.expectRefusals(true)
	p.signIn(others[0], strings.TrimSpace(token))
	p.await("the refusal of the members", "document.querySelector('[role=alert]')?.innerText.includes('403 Forbidden')")
	p.open("#/objects/core/v1/secrets")
	p.await("the refusal of the list", "document.querySelector('[role=alert]')?.innerText.includes('403 Forbidden')")
	p.await("the kinds", "document.querySelectorAll('.kinds a').length > 20")
	p.open("#/access")
	p.await("what the user may do", has("selfsubjectaccessreviews"))
	if text := eval[string](p, "document.body.innerText"); strings.Contains(text, "secrets") {
		t.Errorf("a user without roles may do: %s", text)
	}
	p.run(chromedp.Click("#sign-out"))
	p.await("the form", "document.querySelector('#token')")
	p.expectRefusals(false)

	p.signIn(others[0], c.credentials.Token)
	p.open("#/access")
	p.await("what an administrator may do", "document.querySelectorAll('.mark.yes').length >= 8")
	p.check("access")
	p.open("#/operations")
	p.await("the voters", "document.querySelectorAll('#transfer-name option').length === 3")
	p.check("operations")
	p.run(chromedp.Click("#checksum"))
	p.await("the checksums", has("No node has diverged."))
	p.run(chromedp.Click("#snapshot"))
	p.await("the snapshot", has("holds the state up to entry"))
	p.shoot("operations")
	p.run(chromedp.Click("#transfer"))
	p.await("the question", "document.querySelector('dialog[open]')")
	p.check("question")
	p.run(chromedp.Click("#confirm"))
	p.await("the transfer", has("Leadership was transferred."))
	if now, _ := c.leader(t); now == leader {
		t.Errorf("%s is the leader as before", now)
	}
}
