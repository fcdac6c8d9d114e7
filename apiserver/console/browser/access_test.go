package browser

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
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
	p.await("the refusal of roles and bindings", "document.querySelectorAll('[role=alert]').length === 4 && "+has("cannot list resource \"clusterrolebindings\""))
	if text := eval[string](p, "document.body.innerText"); strings.Contains(text, "secrets") || strings.Contains(text, "system:masters") {
		t.Errorf("a user without roles sees: %s", text)
	}
	p.run(chromedp.Click("#sign-out"))
	p.await("the form", "document.querySelector('#token')")
	p.expectRefusals(false)

	p.signIn(others[0], c.credentials.Token)
	p.checkEverybody()
	p.checkBackup(c)
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

// checkEverybody gives a user and a service account rights, and checks the matrix of all subjects: it
// shows exactly those, by keyboard too.
func (p *page) checkEverybody() {
	p.t.Helper()
	const rbac = "/apis/rbac.authorization.k8s.io/v1/"
	p.post(rbac+"namespaces/default/roles", `{"metadata":{"name":"reader"},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get","list"]}]}`)
	p.post(rbac+"namespaces/default/rolebindings", `{"metadata":{"name":"reader"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"reader"},
		"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"jane"},{"kind":"ServiceAccount","namespace":"default","name":"robot"}]}`)
	p.open("#/access")
	p.await("what an administrator may do", "document.querySelectorAll('.mark.yes').length >= 8")
	p.await("everybody", "document.querySelector('#subject')")
	p.await("the administrators", has("Group system:masters"))
	p.shoot("access")
	p.run(chromedp.Focus("#subject"), chromedp.KeyEvent("jane"))
	p.await("the rows of one user", "document.querySelectorAll('[aria-labelledby=everybody] tbody tr').length === 1")
	row := eval[string](p, `[...document.querySelectorAll('[aria-labelledby=everybody] tbody tr > *')].map((cell) => cell.textContent).join('|')`)
	const no, yes = "|not allowed", "|✓allowed"
	if want := "User jane|default|core|pods|all" + yes + yes + no + no + no + no + no + no + "|"; row != want {
		p.t.Errorf("of jane it is said %q, want %q", row, want)
	}
	p.set("#subject", "robot")
	p.await("the service account", has("ServiceAccount default/robot"))
	p.check("access")
	p.set("#namespace", "platform-system")
	p.run(chromedp.Focus("#namespace"), chromedp.KeyEvent("\r"))
	p.await("another namespace", has("Everybody, in platform-system"))
	if text := eval[string](p, "document.body.innerText"); strings.Contains(text, "User jane") {
		p.t.Error("the rights of jane in another namespace are shown")
	}
}

// checkBackup downloads a backup and restores it.
func (p *page) checkBackup(c *cluster) {
	p.t.Helper()
	dir := p.t.TempDir()
	p.run(browser.SetDownloadBehavior(browser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(dir))
	p.open("#/operations")
	p.await("the operation", "document.querySelector('#backup')")
	p.run(chromedp.Focus("#backup"), chromedp.KeyEvent("\r"))
	p.await("the question", "document.querySelector('dialog[open]') && "+has("Secrets in clear text"))
	p.check("question of the backup")
	p.run(chromedp.Click("#confirm"))
	p.await("the end of the download", has("It holds no key: keep the cluster's key as well."))
	var files []string
	await(p.t, "the file", func() bool {
		files, _ = filepath.Glob(filepath.Join(dir, "quorate-*.backup"))
		return len(files) == 1
	})
	out, err := c.Command(p.t.Context(), "restore", files[0], "--name", "n1", "--data-dir", filepath.Join(dir, "data"))
	if err != nil || !strings.Contains(out, "restored ") {
		p.t.Errorf("restore the backup: %v\n%s", err, out)
	}
}
