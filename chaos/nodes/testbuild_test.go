package nodes_test

import (
	"crypto/tls"
	"net/http"
	"testing"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/failpoint"
	"quorate/chaos/network"
	"quorate/chaos/nodes"
)

// TestClocksAndFailpointsOfATestBuild changes a node's clock and makes a node end at a failpoint.
func TestClocksAndFailpointsOfATestBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles all of the server anew")
	}
	binary, err := failpoint.Build(t.Context(), t.TempDir(), failpoint.Options{Clock: true})
	if err != nil {
		t.Fatal(err)
	}
	f := prepare(t, nodes.ProcessesConfig{Binary: binary, Count: 1, TestBuild: true, Network: network.Available() == nil})
	f.must(f.SetClock(f.ctx, "n1", -3*time.Hour)) // before its first start
	f.startAll()
	f.clockIsOff(-3 * time.Hour)
	f.must(f.SetClock(f.ctx, "n1", 5*time.Hour))
	f.clockIsOff(5 * time.Hour)
	f.must(f.Kill(f.ctx, "n1"))
	f.must(f.Start(f.ctx, "n1"))
	f.must(f.SetClock(f.ctx, "n1", 0)) // at once, when the process may not handle signals yet
	f.awaitReady("n1")
	f.clockIsOff(0)

	cut := network.Available() == nil // arming must work on a node that clients cannot reach
	if cut {
		f.must(f.Shape(f.ctx, map[nodes.Link]nodes.Rule{{From: nodes.Clients, To: "n1"}: {Drop: true}, {From: "n1", To: nodes.Clients}: {Drop: true}}))
	}
	f.must(f.Arm(f.ctx, "n1", "answerBefore", failpoint.Kill))
	if cut {
		f.must(f.Shape(f.ctx, nil))
	}
	if _, outcome, err := f.client("n1").Create(f.ctx, "default", "unanswered", nil); outcome != client.Unknown {
		t.Errorf("%v %v, and the node was to end before its answer", outcome, err)
	}
	<-f.Exited("n1")
	if endings := f.Endings(); len(endings) != 1 || endings[0].How != "signal: killed" {
		t.Errorf("it ended: %v", endings)
	}
	f.must(f.Arm(f.ctx, "n1", "answerBefore", ""))
	f.must(f.Arm(f.ctx, "n1", "startBeforeReady", failpoint.Kill))
	f.must(f.Start(f.ctx, "n1"))
	<-f.Exited("n1") // it was armed before the start
	f.must(f.Arm(f.ctx, "n1", "startBeforeReady", ""))
	f.must(f.Start(f.ctx, "n1"))
	f.awaitReady("n1")
	for _, wrong := range []struct{ point, terms string }{{"nowhere", failpoint.Kill}, {"answerBefore", "a;b"}} {
		if err := f.Arm(f.ctx, "n1", wrong.point, wrong.terms); err == nil {
			t.Errorf("%s was armed with %q", wrong.point, wrong.terms)
		}
	}
}

// clockIsOff waits until the dates in a node's responses differ from this machine's clock by
// offset, within a minute.
func (f *fleet) clockIsOff(offset time.Duration) {
	f.t.Helper()
	insecure := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true, // certificates aren't what is tested
	}}
	var off time.Duration
	f.await("n1 has the date", func() bool {
		request, err := http.NewRequestWithContext(f.ctx, http.MethodGet, f.Nodes()[0].API+"/livez", nil)
		f.must(err)
		answer, err := insecure.Do(request)
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		date, err := http.ParseTime(answer.Header.Get("Date"))
		f.must(err)
		off = time.Until(date)
		return (off - offset).Abs() < time.Minute
	})
}
