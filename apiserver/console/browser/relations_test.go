package browser

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// createOwned creates a ConfigMap as the user of the page, and returns its uid.
func (p *page) createOwned(name, owner, uid string) string {
	p.t.Helper()
	body := fmt.Sprintf(`{"metadata":{"name":%q,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":%q,"uid":%q}]}}`, name, owner, uid)
	stored := p.post("/api/v1/namespaces/default/configmaps", body)
	var object struct {
		Metadata struct{ UID string }
	}
	if err := json.Unmarshal([]byte(stored), &object); err != nil || object.Metadata.UID == "" {
		p.t.Fatalf("create %s: %s (%v)", name, stored, err)
	}
	return object.Metadata.UID
}

// TestOwners: an object's owners and dependants are shown as links, which the keyboard follows, and
// as a list, also while the leader is down.
func TestOwners(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	leader, others := c.leader(t)
	parent, _, err := c.clients["n1"].Create(t.Context(), "default", "parent", map[string]string{"k": "v"})
	if err != nil {
		t.Fatal(err)
	}
	p := newPage(t)
	p.signIn(others[0], c.credentials.Token)
	child := p.createOwned("child", "parent", parent.UID)
	for _, name := range []string{"left", "right"} {
		p.createOwned("grandchild-"+name, "child", child)
	}
	p.open("#/object/core/v1/configmaps/default/child")
	p.await("the object", has("ownerReferences")+" && !document.querySelector('#relations').disabled")
	p.run(chromedp.Click("#relations"))
	p.await("the graph", has("1 owner, 2 dependants")+" && document.querySelectorAll('.graph a').length === 3 && document.querySelectorAll('.graph .edge').length === 3")
	p.check("relations")
	p.run(chromedp.Click("summary"))
	p.await("the list", has("ConfigMap default/grandchild-left, dependant"))
	p.shoot("relations")

	if err := c.Kill(t.Context(), leader); err != nil {
		t.Fatal(err)
	}
	p.run(chromedp.Evaluate("[...document.querySelectorAll('.graph a')].find((a) => a.textContent.includes('parent')).focus(); true", nil), chromedp.KeyEvent(kb.Enter))
	p.await("the page of the owner", "location.hash.endsWith('/configmaps/default/parent') && !document.querySelector('#relations').disabled")
	p.run(chromedp.Click("#relations"))
	p.await("its dependants", has("0 owners, 3 dependants"))
	if err := c.Start(t.Context(), leader); err != nil {
		t.Fatal(err)
	}
}
