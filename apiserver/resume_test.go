package apiserver_test

import (
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
	"quorate/raftstore/testcluster"
)

// TestWatchResumes: whoever has seen a version goes on after it on any node, also on one that lags
// or was just started, with no 410 and nothing listed anew (D14, D23, D39).
func TestWatchResumes(t *testing.T) {
	t.Parallel()
	c := testcluster.New(t, 3, unhurried)
	behind := c.Follower(c.Leader())
	var at *testserver.Server // of a node that stays
	var late *testserver.Server
	for i, s := range testserver.StartOnNodes(t, c.Nodes, nil) {
		if c.Nodes[i] == behind {
			late = s
			continue
		}
		at = s
	}
	cms := namespace(t, at, "a")
	define(t, at, cronTabName)
	check(t, late.Do("GET", cronTabs, ""), want{code: 200})
	create := func(name string) (after string) { return version(t, at.Do("POST", cms, labelled(name, "x")).Body) }
	watching := func(after string) string {
		return cms + "?watch=true&allowWatchBookmarks=true&resourceVersion=" + after
	}
	first := create("first")
	second := create("second")

	check(t, late.Do("GET", cms+"/second", ""), want{code: 200}) // it has applied that
	w := open(t, late, watching(first))
	w.want("ADDED second")
	late.Stop()
	if mark := w.want("BOOKMARK"); version(t, mark) < second && len(version(t, mark)) <= len(second) {
		t.Errorf("D25: the last bookmark is %s, after %s", version(t, mark), second)
	}
	w.want("EOF")
	behind.Stop()
	open(t, at, watching(second)) // another node goes on
	third := create("third")

	// It is back, knows no leader, and has not applied anything that came after its last snapshot.
	c.Isolate(behind, true)
	behind.Start()
	late = testserver.StartEarly(t, behind.Store)
	streams := map[string]*stream{"fourth": open(t, late, watching(third)), "third fourth": open(t, late, watching(second)),
		"second third fourth": open(t, late, watching(first))}
	for _, path := range []string{watching(third), "/api/v1/watch/configmaps", cronTabs + "?watch=1&resourceVersion=" + third} {
		who := []string{"Authorization: Bearer " + late.IssueToken("jane")}
		if strings.HasPrefix(path, cronTabs) {
			who = nil // the routes of such kinds are not known here yet
		}
		a := late.Do("GET", path, "", who...)
		if check(t, a, want{code: 429, reason: "TooManyRequests", message: "please try again later"}); a.Header.Get("Retry-After") != "1" {
			t.Errorf("%s: %v", path, a.Header)
		}
	}
	check(t, late.Do("GET", cms, "", "Authorization: Bearer "+late.IssueToken("jane")), want{code: 503, reason: "ServiceUnavailable"})

	for _, w := range streams {
		w.want("BOOKMARK") // of the version that the client has
	}
	create("fourth")
	c.Isolate(behind, false)
	for names, w := range streams {
		for name := range strings.FieldsSeq(names) {
			w.want("ADDED " + name)
		}
	}
	late.Eventually("watches of other kinds begin too", func() bool {
		return late.Do("GET", cronTabs+"?watch=1&timeoutSeconds=1&resourceVersion="+third, "").Code == 200
	})
}
