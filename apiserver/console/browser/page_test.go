package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"quorate/chaos/nodes"
	"quorate/chaos/osthread"
)

// page is a tab of the browser. It collects what the page reports as errors.
type page struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	problems []string // guarded by mu
	refused  bool     // requests may fail; guarded by mu

	output output
}

// output keeps the end of what the browser and its driver print.
type output struct {
	mu   sync.Mutex
	text []byte // guarded by mu
}

// maxOutput is the number of bytes that an output keeps.
const maxOutput = 8 << 10

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, b...)
	o.text = o.text[max(0, len(o.text)-maxOutput):]
	return len(b), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.text)
}

// newPage starts a browser with one tab. The test fails if the page reports an error.
func newPage(t *testing.T) *page {
	t.Helper()
	p := &page{t: t}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(binaries.chromium), chromedp.NoSandbox, chromedp.IgnoreCertErrors, chromedp.WSURLReadTimeout(waitTimeout),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1440, 900),
		chromedp.CombinedOutput(&p.output))
	// The driver has the browser end with the thread that starts it. Any other thread of this process
	// may be one that a cluster of another test has taken, and ends with it.
	thread := osthread.New()
	t.Cleanup(thread.Close)
	// The context of a test ends before its cleanup, which closes the browser.
	ctx, cancel := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	t.Cleanup(cancel)
	// The driver also complains about events of this browser that it does not know.
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithErrorf(func(format string, values ...any) { fmt.Fprintf(&p.output, format+"\n", values...) }))
	t.Cleanup(cancel)
	p.ctx = ctx
	chromedp.ListenTarget(ctx, p.listen)
	// Without a deadline, which would end the browser.
	if err := thread.Do(func() error { return chromedp.Run(ctx) }); err != nil {
		t.Fatalf("start the browser: %v", err)
	}
	p.run(log.Enable(), runtime.Enable(), emulation.SetDeviceMetricsOverride(1440, 900, 1, false))
	t.Cleanup(p.close)
	return p
}

// close ends the browser and fails the test if the page reported errors.
func (p *page) close() {
	if err := chromedp.Cancel(p.ctx); err != nil {
		p.t.Errorf("close the browser: %v; it and its driver printed last:\n%s", err, &p.output)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, problem := range p.problems {
		p.t.Errorf("the page reported: %s", problem)
	}
}

// listen collects exceptions, error messages, violations of the policy and requests that failed.
func (p *page) listen(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.problems = append(p.problems, e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning || e.Type == runtime.APITypeAssert {
			p.problems = append(p.problems, fmt.Sprintf("console.%s", e.Type))
		}
	case *log.EventEntryAdded:
		if strings.Contains(e.Entry.Text, "ERR_NETWORK_CHANGED") {
			return // another test on this machine has added an interface; the page repeats its requests
		}
		if p.refused && e.Entry.Source == log.SourceNetwork {
			return
		}
		if e.Entry.Level == log.LevelError || e.Entry.Level == log.LevelWarning {
			p.problems = append(p.problems, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	}
}

// expectRefusals sets whether requests may fail from now on. Other errors still fail the test.
func (p *page) expectRefusals(expected bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused = expected
}

func (p *page) run(actions ...chromedp.Action) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, waitTimeout)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		p.t.Fatalf("%v\n%s", err, p.describe())
	}
}

// await waits until an expression is true in the page.
func (p *page) await(what, expression string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, waitTimeout)
	defer cancel()
	err := nodes.Await(ctx, func() (ok bool) {
		// An expression fails while the page is replaced by another; the wait ends at the deadline.
		return chromedp.Run(ctx, chromedp.Evaluate("Boolean("+expression+")", &ok)) == nil && ok
	})
	if err != nil {
		p.t.Fatalf("wait for %s (%s): %v\n%s", what, expression, err, p.describe())
	}
}

// eval returns the value of an expression in the page.
func eval[T any](p *page, expression string) (value T) {
	p.t.Helper()
	p.run(chromedp.Evaluate(expression, &value))
	return value
}

// describe returns the text of the page, its problems, and what the browser and its driver printed
// last, for failures.
func (p *page) describe() string {
	var text string
	if err := chromedp.Run(p.ctx, chromedp.Evaluate("location.href + '\\n' + document.body.innerText", &text)); err != nil {
		text = err.Error()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return text + "\n" + strings.Join(p.problems, "\n") + "\nthe browser and its driver printed last:\n" + p.output.String()
}

// has is an expression that is true when the page shows a text.
func has(text string) string { return fmt.Sprintf("document.body.innerText.includes(%q)", text) }

// signIn opens the console of a node and signs in with a token.
func (p *page) signIn(console, token string) {
	p.t.Helper()
	p.run(chromedp.Navigate(console))
	p.await("the form", "document.querySelector('#token')")
	p.run(chromedp.SendKeys("#token", token+"\r"))
	p.await("the page behind the form", "!document.querySelector('#pages').hidden")
}

// checkSignedOut checks that the tab keeps no token.
func (p *page) checkSignedOut() {
	p.t.Helper()
	if kept := eval[string](p, "JSON.stringify(sessionStorage)"); kept != "{}" {
		p.t.Errorf("the tab keeps %s", kept)
	}
}

// set sets the value of a control, as a user who changes it and goes on.
func (p *page) set(control, value string) {
	p.t.Helper()
	p.run(chromedp.Evaluate(fmt.Sprintf(`{
		const control = document.querySelector(%q);
		control.value = %q;
		control.dispatchEvent(new Event('input'));
		control.dispatchEvent(new Event('change'));
	}; true`, control, value), nil))
}

// open shows a page by the fragment of its URL.
func (p *page) open(fragment string) {
	p.t.Helper()
	p.run(chromedp.Evaluate(fmt.Sprintf("location.hash = %q; true", fragment), nil))
}

// emulate makes the system of the browser prefer light or dark.
func (p *page) emulate(scheme string) {
	p.t.Helper()
	p.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
}

// post sends a request as the user of the page, who signed in with a token, and returns the
// response.
func (p *page) post(path, body string) (response string) {
	p.t.Helper()
	script := fmt.Sprintf(`fetch(%q, {
		method: 'POST', body: %q, headers: {
			'Content-Type': 'application/json', Accept: 'application/json', Authorization: 'Bearer ' + JSON.parse(sessionStorage.getItem('quorate-session')).token,
		}}).then((response) => response.text())`, path, body)
	p.run(chromedp.Evaluate(script, &response, func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
	return response
}

// check checks that every control of the page has a name that a screen reader can say, and every text
// enough contrast.
func (p *page) check(where string) {
	p.t.Helper()
	p.checkNames(where)
	p.checkContrast(where)
}

func (p *page) checkNames(where string) {
	p.t.Helper()
	var tree []*accessibility.Node
	p.run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		tree, err = accessibility.GetFullAXTree().Do(ctx)
		return err
	}))
	controls := 0
	for _, node := range tree {
		if node.Ignored || node.Role == nil {
			continue
		}
		role := strings.Trim(string(node.Role.Value), `"`)
		if !slices.Contains([]string{
			"button", "link", "textbox", "searchbox", "combobox", "checkbox", "radio", "image", "dialog", "alertdialog", "region", "table", "listbox", "tab",
			"spinbutton", "navigation",
		}, role) {
			continue
		}
		controls++
		if node.Name == nil || strings.Trim(string(node.Name.Value), `" `) == "" {
			p.t.Errorf("%s: a %s has no name (%v)", where, role, node.Properties)
		}
	}
	if controls < 2 {
		p.t.Errorf("%s: %d controls checked", where, controls)
	}
}

// shoot writes pictures of the page in both themes, if the environment asks for them.
func (p *page) shoot(name string) {
	p.t.Helper()
	dir := os.Getenv("QUORATE_SCREENSHOTS")
	if dir == "" {
		return
	}
	for _, theme := range []string{"light", "dark"} {
		var picture []byte
		p.setTheme(theme)
		p.run(chromedp.CaptureScreenshot(&picture))
		if err := os.WriteFile(filepath.Join(dir, "console-"+name+"-"+theme+".png"), picture, 0o644); err != nil {
			p.t.Fatal(err)
		}
	}
	p.setTheme("auto")
}
