package browser

import (
	"testing"

	"github.com/chromedp/chromedp"

	"quorate/chaos/osthread"
)

// TestBrowserOutlivesOtherThreads: threads of this process end while a page is open, as those of the
// clusters of other tests do. There are enough to take every thread that there was before.
func TestBrowserOutlivesOtherThreads(t *testing.T) {
	t.Parallel()
	p := newPage(t)
	for range 60 {
		const threads = 64
		var all [threads]*osthread.Thread
		for i := range all {
			all[i] = osthread.New()
			if err := all[i].Do(func() error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		for _, thread := range all {
			thread.Close()
		}
		p.run(chromedp.Navigate("about:blank"))
	}
	if got := eval[int](p, "6*7"); got != 42 {
		t.Errorf("the page says %d", got)
	}
}
