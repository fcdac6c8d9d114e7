package browser

import (
	"fmt"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"quorate/chaos/client"
)

// manyObjects is how many objects the list of the test has.
const manyObjects = 10_000

// firstRowsBudget bounds the time until the first rows of the list are painted, in milliseconds:
// several times the second that is the aim, since the machine may be busy with other tests.
const firstRowsBudget = 8_000

// fill creates many ConfigMaps in a namespace.
func fill(t *testing.T, c *client.Client, namespace string) {
	t.Helper()
	if _, err := c.EnsureNamespace(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	const writers = 64
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := w; i < manyObjects; i += writers {
				if _, _, err := c.Lane(w).Create(t.Context(), namespace, fmt.Sprintf("settings-%05d", i), map[string]string{"index": fmt.Sprint(i)}); err != nil {
					t.Errorf("create object %d: %v", i, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestObjectsPage: the list of 10,000 objects is painted before all of it has arrived, keeps few of
// its rows in the document, is filtered, and follows changes.
func TestObjectsPage(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	leader, others := c.leader(t)
	fill(t, c.clients[leader], "many")
	p := newPage(t)
	p.signIn(others[0], c.credentials.Token)
	p.open("#/objects/core/v1/configmaps?namespace=many")
	p.await("the first rows", "performance.getEntriesByName('objects:first-rows').length === 1")
	took := eval[float64](p, "performance.getEntriesByName('objects:first-rows')[0].duration")
	t.Logf("first rows of %d objects after %.0f ms", manyObjects, took)
	if took > firstRowsBudget {
		t.Errorf("the first rows took %.0f ms, want at most %d", took, firstRowsBudget)
	}
	p.await("all rows", has("10,000")+" && document.querySelector('#state').textContent === 'live'")
	p.await("the kinds", "document.querySelectorAll('.kinds a').length > 20")
	p.check("objects")
	p.shoot("objects")
	if rows := eval[int](p, "document.querySelectorAll('table.grid tbody:not(.space) tr').length"); rows == 0 || rows > 200 {
		t.Errorf("%d rows are in the document", rows)
	}

	p.run(chromedp.Focus("table.grid a[tabindex='0']"), chromedp.KeyEvent(kb.End))
	p.await("the last row", "document.activeElement.textContent === 'settings-09999'")

	if _, _, err := c.clients["n1"].Create(t.Context(), "many", "zz-new", map[string]string{"k": "v"}); err != nil {
		t.Fatal(err)
	}
	p.await("the new object", has("10,001"))
	p.set("#name", "zz-")
	p.await("the filtered row", has("1 of 10,001")+" && "+has("zz-new"))
	p.set("#name", "")
	p.set("#labels", "none=such")
	p.await("no rows", "document.querySelector('#count').textContent === '0'")
	p.expectRefusals(true)
	p.set("#labels", "!!")
	p.await("the refusal of the selector", "document.querySelector('[role=alert]')?.innerText.includes('400')")
}

// TestObjectPage: an object is shown, follows changes, is edited after a look at the differences,
// meets a conflict, shows its history, and is deleted.
func TestObjectPage(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	_, others := c.leader(t)
	n1 := c.clients["n1"]
	stored, _, err := n1.Create(t.Context(), "default", "settings", map[string]string{"colour": "green"})
	if err != nil {
		t.Fatal(err)
	}
	replace := func(colour string) {
		t.Helper()
		stored, _, err = n1.Get(t.Context(), "default", "settings")
		if err != nil {
			t.Fatal(err)
		}
		stored.Data = map[string]string{"colour": colour}
		if stored, _, err = n1.Replace(t.Context(), "default", stored); err != nil {
			t.Fatal(err)
		}
	}
	p := newPage(t)
	p.signIn(others[1], c.credentials.Token)
	p.open("#/object/core/v1/configmaps/default/settings")
	p.await("the object", has("colour: green"))
	replace("blue")
	p.await("the change of another", has("colour: blue"))
	p.check("object")

	edit := func(from, to string) {
		t.Helper()
		p.run(chromedp.Click("#edit"), chromedp.Evaluate(fmt.Sprintf("editor.value = editor.value.replace(%q, %q); true", from, to), nil))
	}
	edit("blue", "red")
	p.run(chromedp.Click("#review"))
	p.await("the differences", has("-   colour: blue")+" && "+has("+   colour: red"))
	p.check("differences")
	p.run(chromedp.Click("#save"))
	p.await("the saved object", has("Saved.")+" && "+has("colour: red"))

	edit("red", "white")
	replace("black")
	p.await("the warning", has("has changed since you began to edit it"))
	p.expectRefusals(true)
	p.run(chromedp.Click("#review"), chromedp.Click("#save"))
	p.await("the conflict", has("409 Conflict")+" && "+has("-   colour: red")+" && "+has("+   colour: black"))
	p.shoot("conflict")
	p.run(chromedp.Click("#keep"))
	p.await("the differences from theirs", has("-   colour: black")+" && "+has("+   colour: white"))
	p.run(chromedp.Click("#save"))
	p.await("the saved object", has("Saved.")+" && "+has("colour: white"))

	p.set("#format", "JSON")
	p.await("the object as JSON", has(`"colour": "white"`))
	p.run(chromedp.Click("#history"))
	p.await("the history", has("5 versions in the log")+" && "+has("created, resource version"))
	p.check("history")
	p.run(chromedp.Click(".content button"))
	p.await("the object", has(`"colour": "white"`)+" && !document.querySelector('#delete').disabled")

	p.run(chromedp.Click("#delete"))
	p.await("the question", "document.querySelector('dialog[open]')")
	p.check("deletion")
	p.run(chromedp.Click("#confirm"))
	p.await("the list without it", "location.hash.startsWith('#/objects/core/v1/configmaps') && document.querySelector('#state')?.textContent === 'live' && !"+has("settings"))
	if _, outcome, err := n1.Get(t.Context(), "default", "settings"); err == nil || outcome == client.OK {
		t.Errorf("after the deletion the object is there: %v %v", outcome, err)
	}
}
