package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestClusterPage: a wrong token is refused in the words of the API, and not kept. An administrator
// signs in, sees the members, the leader's death, the election and its return, and signs out.
func TestClusterPage(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	leader, others := c.leader(t)
	p := newPage(t)
	p.run(chromedp.Navigate(others[0]))
	p.await("the form", "document.querySelector('#token')")
	p.check("sign-in")
	p.expectRefusals(true)
	p.run(chromedp.SendKeys("#token", "wrong\r"))
	p.await("the refusal", "document.querySelector('[role=alert]')?.innerText.includes('401 Unauthorized')")
	p.checkSignedOut()
	p.expectRefusals(false)
	p.signIn(others[0], c.credentials.Token)
	p.await("three voters", has("3 of 3 voters, tolerates 1 failure"))
	p.await("the table", "document.querySelectorAll('table.members tbody tr').length === 3")
	p.await("the links of the picture", "document.querySelectorAll('.topology .link').length === 2")
	writeMany(t, c.clientOf(t, others[0]))
	p.await("the writes of the last hour, and their latency", "document.querySelectorAll('.plot path.writes[d^=M]').length === 2")
	p.check("cluster")
	p.checkAlarm()

	if err := c.Kill(t.Context(), leader); err != nil {
		t.Fatal(err)
	}
	p.await("the new leader", has("2 of 3 voters, tolerates 0 failures")+" && "+has(" is the leader, in term "))
	p.await("what to do", has(leader+" does not respond. Start what is down"))
	p.await("the change of the term in the last hour", "document.querySelectorAll('.plot .term').length >= 2")
	p.shoot("failover")
	if err := c.Start(t.Context(), leader); err != nil {
		t.Fatal(err)
	}
	p.await("its return", has("3 of 3 voters, tolerates 1 failure")+" && "+has(leader+" responds again"))

	p.run(chromedp.Click("#sign-out"))
	p.await("the form", "document.querySelector('#token')")
	p.checkSignedOut()
	if text := eval[string](p, "document.body.innerText"); strings.Contains(text, "voters") { // nor in what screen readers say
		t.Errorf("after the sign-out the page shows %s", text)
	}

	// A token that has expired, which the tab kept.
	p.expectRefusals(true)
	p.run(chromedp.Evaluate(`sessionStorage.setItem('quorate-session', '{"token":"expired"}'); location.reload(); true`, nil))
	p.await("the reason to sign in again", "document.querySelector('#token') && "+has("401 Unauthorized"))
	p.checkSignedOut()
}

// checkAlarm adds an alarm to the next responses that the page gets, checks that the page says what to
// do about it, and that the alarm clears.
func (p *page) checkAlarm() {
	p.t.Helper()
	p.run(chromedp.Evaluate(`(() => {
		const real = window.fetch;
		window.fetch = async (url, options) => {
			const response = await real(url, options);
			if (!String(url).includes('/cluster/v1/members')) return response;
			const body = await response.json();
			body.members[0].alarms = [{name: 'no-space', message: '12 MiB are left', advice: 'free some space'}];
			return new Response(JSON.stringify(body), {status: response.status, headers: response.headers});
		};
		window.withoutAlarm = () => { window.fetch = real; };
		return true;
	})()`, nil))
	p.await("the alarm and its advice", has("no-space 12 MiB are left. Free some space."))
	p.check("alarm")
	p.run(chromedp.Evaluate("window.withoutAlarm(); true", nil))
	p.await("the end of the alarm", "!"+has("12 MiB are left"))
}

// TestClusterPageWithoutQuorum: the node of the page loses the other two, and still shows objects. Then
// it ends itself. The page goes on when it is back.
func TestClusterPageWithoutQuorum(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	p := newPage(t)
	p.expectRefusals(true)
	p.signIn(c.Nodes()[0].API+"/console/", c.credentials.Token)
	p.await("three voters", has("3 of 3 voters"))
	for _, name := range []string{"n2", "n3"} {
		if err := c.Kill(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	p.await("the verdict", has("1 of 3 voters, no quorum")+" && "+has("cached reads and watches go on"))
	p.open("#/objects/core/v1/namespaces")
	p.await("the namespaces", has("platform-system")+" && document.querySelector('#state').textContent === 'live'")
	p.open("#/object/core/v1/namespaces/-/default")
	p.await("a namespace", has("phase: Active"))
	p.open("#/cluster")
	p.await("the verdict", has("1 of 3 voters, no quorum"))
	if err := c.Kill(t.Context(), "n1"); err != nil {
		t.Fatal(err)
	}
	p.await("the node's silence", has("This node does not respond.")+" && "+has("Other nodes: n2 n3"))
	for _, name := range []string{"n1", "n2", "n3"} {
		if err := c.Start(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	p.await("the recovery", has("3 of 3 voters")+" && !"+has("This node does not respond. What"))
}
