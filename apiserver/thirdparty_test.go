package apiserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"quorate/apiserver/internal/testserver"
)

const (
	thirdParties = "/apis/extensions/v1beta1/thirdpartyresources"
	cronTabs     = "/apis/stable.example.com/v1/namespaces/default/crontabs"
	cronTabName  = "cron-tab.stable.example.com"
)

// define makes a ThirdPartyResource of version v1.
func define(t *testing.T, s *testserver.Server, name string) {
	t.Helper()
	check(t, s.Do("POST", thirdParties, `{"metadata":{"name":"`+name+`"},"versions":[{"name":"v1"}]}`), want{code: 200})
}

func undefine(t *testing.T, s *testserver.Server, name string) {
	t.Helper()
	check(t, s.Do("DELETE", thirdParties+"/"+name, ""), want{code: 200})
}

func cronTab(name string) string {
	return `{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"` + name + `"},"spec":{"n":1}}`
}

func noRoute() want { return want{code: http.StatusNotFound, reason: "NotFound"} }

// TestThirdPartyReplicas: what one node has acknowledged, all nodes serve, with the next request.
func TestThirdPartyReplicas(t *testing.T) {
	nodes := testserver.StartReplicas(t, 3, nil)
	at := func(i int) *testserver.Server { return nodes[i%len(nodes)] }

	t.Run("a kind is served everywhere at once K5 K6", func(t *testing.T) {
		for i := range 6 {
			name := fmt.Sprintf("thing-%c.stable.example.com", 'a'+i)
			define(t, at(i), name)
			path := fmt.Sprintf("/apis/stable.example.com/v1/thing%cs", 'a'+i)
			for _, s := range []*testserver.Server{at(i + 1), at(i), at(i + 2)} {
				check(t, s.Do("GET", path, ""), want{code: 200})
				check(t, s.Do("GET", "/apis", ""), want{code: 200, body: []string{`"stable.example.com/v1"`}})
				check(t, s.Do("GET", "/apis/stable.example.com/v1", ""), want{code: 200, body: []string{fmt.Sprintf("thing%cs", 'a'+i)}})
			}
			undefine(t, at(i+1), name)
			for _, s := range []*testserver.Server{at(i + 2), at(i + 1), at(i)} {
				check(t, s.Do("GET", path, ""), noRoute())
			}
		}
	})
	t.Run("made again at once, it begins with nothing and keeps what it gets K13", func(t *testing.T) {
		for i := range 10 {
			define(t, at(i), cronTabName)
			check(t, at(i+1).Do("POST", cronTabs, cronTab(fmt.Sprintf("old%d", i))), want{code: 200})
			undefine(t, at(i+2), cronTabName)
			define(t, at(i), cronTabName)
			check(t, at(i+1).Do("POST", cronTabs, cronTab(fmt.Sprintf("new%d", i))), want{code: 200})
			got := at(i+2).Do("GET", cronTabs, "")
			check(t, got, want{code: 200})
			if names := itemNames(t, got.Body); !slices.Equal(names, []string{fmt.Sprintf("new%d", i)}) {
				t.Errorf("round %d: %v", i, names)
			}
			undefine(t, at(i+1), cronTabName)
		}
	})
	t.Run("nothing that was acknowledged is lost while kinds come and go K13", func(t *testing.T) {
		churn(t, nodes)
	})
	t.Run("what is left of deleted ones is removed K13", func(t *testing.T) {
		nodes[0].Eventually("no instances are left", func() bool {
			return !strings.Contains(stateOf(t, nodes[0]), "stable.example.com/")
		})
	})
}

// churn makes and deletes a kind again and again, while clients create objects of it on all nodes.
// What is acknowledged after a kind was made and before it is deleted is there.
func churn(t *testing.T, nodes []*testserver.Server) {
	t.Helper()
	var round atomic.Int64
	var clients sync.WaitGroup
	stop := make(chan struct{})
	defer func() {
		close(stop)
		clients.Wait()
	}()
	for i, s := range nodes {
		clients.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				got, err := s.Try(s.Client, "POST", cronTabs, cronTab(fmt.Sprintf("r%d-c%d-%d", round.Load(), i, n)))
				if err != nil || got.Code != 200 && got.Code != 404 {
					t.Errorf("create: %v %d %s", err, got.Code, got.Body)
					return
				}
			}
		})
	}
	for i := range 15 {
		define(t, nodes[i%3], cronTabName)
		name := fmt.Sprintf("kept%d", i)
		check(t, nodes[(i+1)%3].Do("POST", cronTabs, cronTab(name)), want{code: 200})
		check(t, nodes[(i+2)%3].Do("GET", cronTabs+"/"+name, ""), want{code: 200})
		undefine(t, nodes[(i+2)%3], cronTabName)
		check(t, nodes[(i+1)%3].Do("GET", cronTabs+"/"+name, ""), noRoute())
		round.Add(1)
	}
}

// stateOf lists the resources that are stored.
func stateOf(t *testing.T, s *testserver.Server) string {
	t.Helper()
	return strings.Join(testserver.Resources(t, s.Store), " ")
}

// TestThirdPartyRestart: the kinds are there when the server is ready, and what an ended leader
// left is removed by the next.
func TestThirdPartyRestart(t *testing.T) {
	dir := t.TempDir()
	store, stopStore := testserver.OpenStore(t, dir, true)
	s := testserver.StartOn(t, store, nil)
	define(t, s, cronTabName)
	check(t, s.Do("POST", cronTabs, cronTab("a")), want{code: 200})
	s.Stop()
	stopStore()

	store, stopStore = testserver.OpenStore(t, dir, false)
	defer stopStore()
	s = testserver.StartOn(t, store, nil)
	defer s.Stop()
	check(t, s.Do("GET", cronTabs+"/a", ""), want{code: 200, body: []string{`"spec":{"n":1}`}})
	undefine(t, s, cronTabName)
	s.Eventually("the instance is gone", func() bool { return !strings.Contains(stateOf(t, s), "stable.example.com") })
}

// TestThirdPartyMadeAgain: who knows of a former ThirdPartyResource of the same name begins anew:
// the new one's history does not tell what became of the former's objects (K13, D9, C35).
func TestThirdPartyMadeAgain(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	define(t, s, cronTabName)
	for _, name := range []string{"a", "b", "c"} {
		check(t, s.Do("POST", cronTabs, cronTab(name)), want{code: 200})
	}
	page := s.Do("GET", cronTabs+"?limit=1", "")
	check(t, page, want{code: 200})
	var list struct {
		Metadata struct{ ResourceVersion, Continue string }
	}
	if err := json.Unmarshal([]byte(page.Body), &list); err != nil {
		t.Fatal(err)
	}
	undefine(t, s, cronTabName)
	define(t, s, cronTabName)
	check(t, s.Do("POST", cronTabs, cronTab("new")), want{code: 200})

	expired := want{code: http.StatusGone, reason: "Expired"}
	check(t, s.Do("GET", cronTabs+"?limit=1&continue="+list.Metadata.Continue, ""), expired)
	check(t, s.Do("GET", cronTabs+"?resourceVersionMatch=Exact&resourceVersion="+list.Metadata.ResourceVersion, ""), expired)
	former := open(t, s, cronTabs+"?watch=true&resourceVersion="+list.Metadata.ResourceVersion)
	if failed := former.want("ERROR"); field(t, failed, "reason") != "Expired" {
		t.Errorf("a watch from before: %s", failed)
	}
	former.want("EOF")
	open(t, s, cronTabs+"?watch=true").want("ADDED new") // the beginning is that of the new one
}

// TestThirdPartyVersionsOwned: objects that were stored under another version than the first have
// owners like all others (K10, G45).
func TestThirdPartyVersionsOwned(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	const cms = "/api/v1/namespaces/default/configmaps"
	uid := field(t, s.Do("POST", cms, configMap("o")).Body, "metadata.uid")
	define(t, s, cronTabName)
	check(t, s.Do("POST", cronTabs, `{"apiVersion":"stable.example.com/v1","kind":"CronTab",`+strings.TrimPrefix(owned("i", "o", uid), "{")), want{code: 200})
	check(t, s.Do("PUT", thirdParties+"/"+cronTabName, `{"metadata":{"name":"`+cronTabName+`"},"versions":[{"name":"v2alpha1"},{"name":"v1"}]}`), want{code: 200})
	check(t, s.Do("GET", strings.Replace(cronTabs, "v1", "v2alpha1", 1)+"/i", ""), want{code: 200})
	check(t, s.Do("POST", cms, owned("mine", "o", uid)), want{code: 200})
	check(t, s.Do("DELETE", cms+"/o", ""), want{code: 200})
	for _, path := range []string{cronTabs + "/i", cms + "/mine"} {
		s.Eventually(path+" goes", func() bool { return s.Do("GET", path, "").Code == 404 })
	}
}
