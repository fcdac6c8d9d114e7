package browser

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"quorate/chaos/client"
)

// TestLogPage: the page shows where the logs stand and the newest entries as they arrive, also when
// the leader dies; an entry, chosen by keyboard, shows its change. A user who may read the members
// only sees the positions.
func TestLogPage(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	leader, others := c.leader(t)
	n1 := c.clients["n1"]
	writeMany(t, n1)
	p := newPage(t)
	p.signIn(others[0], c.credentials.Token)
	p.post("/cluster/v1/snapshot", "")
	stored, _, err := n1.Create(t.Context(), "default", "settings", map[string]string{"colour": "green"})
	if err != nil {
		t.Fatal(err)
	}
	stored.Data = map[string]string{"colour": "blue"}
	if stored, _, err = n1.Replace(t.Context(), "default", stored); err != nil {
		t.Fatal(err)
	}
	p.open("#/log")
	p.await("three logs", "document.querySelectorAll('.position-bar .applied').length === 3")
	p.await("the snapshot", "document.querySelectorAll('.position-bar .snapshot').length === 1")
	p.await("the entries", has("configmaps default/settings")+" && document.querySelectorAll('.strip .update').length > 0")
	version := strconv.FormatUint(stored.Version, 10)
	button := "[...document.querySelectorAll('.entries button')].find((b) => b.textContent === '" + version + "')"
	p.await("the entry of the update", button)
	p.run(chromedp.Evaluate(button+".focus(); true", nil), chromedp.KeyEvent(kb.Enter))
	p.await("its change", has(`-     "colour": "green"`)+" && "+has(`+     "colour": "blue"`))
	p.await("the index in the URL", "location.hash === '#/log/"+version+"'")
	p.check("log")
	p.shoot("log")

	if err := c.Kill(t.Context(), leader); err != nil {
		t.Fatal(err)
	}
	survivor := "n1"
	if leader == survivor {
		survivor = "n2"
	}
	await(t, "a write without the old leader", func() bool {
		_, _, err := c.clients[survivor].Create(t.Context(), "default", "after-the-kill", map[string]string{"k": "v"})
		return err == nil
	})
	p.await("the new entry", has("configmaps default/after-the-kill"))
	p.run(chromedp.Click("#older"))
	p.await("older entries", "!follow.checked && !"+has("configmaps default/after-the-kill"))
	p.run(chromedp.Click("#follow"))
	p.await("the newest entries", has("configmaps default/after-the-kill"))
	if err := c.Start(t.Context(), leader); err != nil {
		t.Fatal(err)
	}

	p.run(chromedp.Click("#sign-out"))
	p.await("the form", "document.querySelector('#token')")
	token, err := c.Command(t.Context(), "token", "create", "--cluster-key-file", c.KeyFile(), "--user", "visitor")
	if err != nil {
		t.Fatal(err)
	}
	p.expectRefusals(true)
	p.signIn(others[0], strings.TrimSpace(token))
	p.open("#/log")
	p.await("the refusal", has("403 Forbidden")+" && "+has("cannot log resource"))
	if n := eval[int](p, "document.querySelectorAll('.entries tbody tr').length"); n != 0 {
		t.Errorf("a visitor sees %d entries", n)
	}
}

// writeMany makes more entries than the page shows: creates, updates and deletions.
func writeMany(t *testing.T, c *client.Client) {
	t.Helper()
	for i := range 40 {
		o, _, err := c.Create(t.Context(), "default", fmt.Sprintf("job-%d", i), map[string]string{"log": strings.Repeat("x", 1<<(i%14))})
		if err == nil && i%2 == 0 {
			o.Data = map[string]string{"state": "done"}
			o, _, err = c.Replace(t.Context(), "default", o)
		}
		if err == nil && i%5 == 0 {
			_, _, err = c.Delete(t.Context(), "default", o)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
