package apiserver_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"quorate/apiserver"
	"quorate/apiserver/admin"
	"quorate/apiserver/internal/testserver"
	"quorate/raftstore/testcluster"
)

const (
	cronTabsName    = "crontabs.stable.example.com"
	cronTabsOfBeta  = "/apis/stable.example.com/v1beta1/namespaces/default/crontabs"
	instancesOfName = "apiextensions.platform.io/instances-of"
)

// cronTabDefinition returns a CustomResourceDefinition that can take over from cronTabName.
func cronTabDefinition() string {
	const schema = `{"type":"object","properties":{"spec":{"type":"object","properties":{
		"n":{"type":"integer","minimum":1},"color":{"type":"string","default":"red"}}}}}`
	version := func(name, flags string) string {
		return `{"name":"` + name + `",` + flags + `,"schema":{"openAPIV3Schema":` + schema + `}}`
	}
	return strings.ReplaceAll(definitionOf("crontabs", "CronTab", "Namespaced",
		version("v1", `"served":true,"storage":true`), version("v2", `"served":true,"storage":false`)), "shop.example.com", "stable.example.com")
}

// thirdPartyWithInstances creates a ThirdPartyResource of two versions with the instances a and
// odd, of which odd violates the schema of cronTabDefinition. It returns a as JSON.
func thirdPartyWithInstances(t *testing.T, s *testserver.Server) (a string) {
	t.Helper()
	check(t, s.Do("POST", thirdParties, `{"metadata":{"name":"`+cronTabName+`"},"versions":[{"name":"v1beta1"},{"name":"v1"}]}`), want{code: 200})
	check(t, s.Do("POST", cronTabs, strings.Replace(cronTab("a"), `"name":"a"`, `"name":"a","labels":{"l":"v"}`, 1)), want{code: 200})
	check(t, s.Do("POST", cronTabsOfBeta, strings.NewReplacer("example.com/v1", "example.com/v1beta1", `"spec":{"n":1}`, `"spec":{"n":"many","x":1},"y":2`).
		Replace(cronTab("odd"))), want{code: 200})
	return s.Do("GET", cronTabs+"/a", "").Body
}

// awaitRemovals waits until the leader has removed all orphans that there are now. A round of
// removals has ended when the orphans of a later one are gone.
func awaitRemovals(t *testing.T, s *testserver.Server) {
	t.Helper()
	for range 2 {
		define(t, s, "orphan.other.example.com")
		object := strings.NewReplacer("stable.example.com", "other.example.com", "CronTab", "Orphan").Replace(cronTab("x"))
		check(t, s.Do("POST", "/apis/other.example.com/v1/namespaces/default/orphans", object), want{code: 200})
		undefine(t, s, "orphan.other.example.com")
		s.Eventually("the orphan is removed", func() bool { return !strings.Contains(stateOf(t, s), "other.example.com") })
	}
}

func TestTakeover(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	former := thirdPartyWithInstances(t, s)
	list := s.Do("GET", cronTabs+"?limit=1", "").Body
	version, next := field(t, list, "metadata.resourceVersion"), field(t, list, "metadata.continue")
	watch := open(t, s, cronTabs+"?watch=true&resourceVersion="+version)

	got := s.Do("POST", definitions, cronTabDefinition())
	check(t, got, want{code: 201, body: []string{instancesOfName}})
	awaitCondition(t, s, cronTabsName, "Established", "True")

	t.Run("the instances are those of before", func(t *testing.T) {
		now := s.Do("GET", cronTabs+"/a", "")
		check(t, now, want{code: 200, body: []string{`"labels":{"l":"v"}`, `"apiVersion":"stable.example.com/v1"`, `"spec":{"color":"red","n":1}`}})
		for _, name := range []string{"metadata.uid", "metadata.creationTimestamp", "metadata.resourceVersion", "metadata.name"} {
			if field(t, now.Body, name) != field(t, former, name) {
				t.Errorf("%s was %s: %s", name, field(t, former, name), now.Body)
			}
		}
		check(t, s.Do("GET", strings.Replace(cronTabs, "v1", "v2", 1)+"/a", ""), want{code: 200, body: []string{`"apiVersion":"stable.example.com/v2"`}})
		check(t, s.Do("GET", cronTabsOfBeta+"/a", ""), noRoute())
		odd := s.Do("GET", cronTabs+"/odd", "")
		check(t, odd, want{code: 200, body: []string{`"spec":{"color":"red","n":"many"}`}})
		if strings.Contains(odd.Body, `"y"`) {
			t.Errorf("not pruned: %s", odd.Body)
		}
		check(t, s.Do("GET", cronTabs+"?labelSelector=l%3Dv&fieldSelector=metadata.name%3Da", ""), want{code: 200, body: []string{`"name":"a"`}})
	})
	t.Run("who knows the former kind lists anew", func(t *testing.T) {
		if event, object := watch.next(); event != "EOF" {
			t.Errorf("the watch goes on: %s %s", event, object)
		}
		check(t, s.Do("GET", cronTabs+"?limit=1&continue="+next, ""), want{code: http.StatusGone})
		open(t, s, cronTabs+"?watch=true&resourceVersion="+version).want("ERROR")
		open(t, s, cronTabs+"?watch=true").want("ADDED a", "ADDED odd")
		open(t, s, cronTabs+"?watch=true&resourceVersion=0").want("ADDED a", "ADDED odd")
	})
	t.Run("writes follow the schema", func(t *testing.T) {
		check(t, patchAs(s, "merge", cronTabs+"/a", `{"spec":{"n":0}}`), want{code: 422})
		check(t, patchAs(s, "merge", cronTabs+"/a", `{"spec":{"n":2}}`), want{code: 200, body: []string{`"n":2`}})
		check(t, patchAs(s, "merge", cronTabs+"/odd", `{"spec":{"n":3}}`), want{code: 200})
		check(t, s.Do("POST", cronTabs, cronTab("new")), want{code: 201})
	})
	t.Run("clients cannot change the record", func(t *testing.T) {
		uid := field(t, s.Do("GET", thirdParties+"/"+cronTabName, "").Body, "metadata.uid")
		for _, path := range []string{"", "/status"} {
			for _, value := range []string{"null", `"other"`} {
				check(t, patchAs(s, "merge", definitions+"/"+cronTabsName+path, `{"metadata":{"annotations":{"`+instancesOfName+`":`+value+`}}}`),
					want{code: 200, body: []string{`"` + instancesOfName + `":"` + uid + `"`}})
			}
		}
		got := s.Do("POST", definitions, strings.Replace(widgetDefinition(), `"metadata":{`, `"metadata":{"annotations":{"`+instancesOfName+`":"`+uid+`"},`, 1))
		check(t, got, want{code: 201})
		if strings.Contains(got.Body, instancesOfName) {
			t.Errorf("a client has set the record: %s", got.Body)
		}
	})
	t.Run("the ThirdPartyResource can be deleted", func(t *testing.T) {
		undefine(t, s, cronTabName)
		awaitRemovals(t, s)
		got := s.Do("GET", cronTabs, "")
		check(t, got, want{code: 200})
		if names := itemNames(t, got.Body); !slices.Equal(names, []string{"a", "new", "odd"}) {
			t.Errorf("instances %v", names)
		}
		check(t, s.Do("POST", thirdParties, `{"metadata":{"name":"`+cronTabName+`"},"versions":[{"name":"v1"}]}`), want{code: 422})
	})
	t.Run("the definition is deleted with the instances", func(t *testing.T) {
		check(t, s.Do("DELETE", definitions+"/"+cronTabsName, ""), want{code: 200})
		s.Eventually("the definition is gone", func() bool { return s.Do("GET", definitions+"/"+cronTabsName, "").Code == 404 })
		if got := stateOf(t, s); strings.Contains(got, "stable.example.com") {
			t.Errorf("instances are left: %s", got)
		}
	})
}

// builds are the builds of the members of a cluster, by name; nil of one that does not respond.
type builds struct {
	admin.Cluster
	of map[string]*string
}

// Members implements admin.Cluster.
func (b builds) Members(context.Context) (all []admin.Member, err error) {
	for name, version := range b.of {
		all = append(all, admin.Member{Name: name, Version: version})
	}
	return all, nil
}

// TestTakeoverWaitsForOlderBuilds checks that no definition takes over instances while a member may
// run a build that does not know of it and would remove them.
func TestTakeoverWaitsForOlderBuilds(t *testing.T) {
	t.Parallel()
	members := builds{of: map[string]*string{}}
	s := testserver.Start(t, func(cfg *apiserver.Config) {
		cfg.Cluster, cfg.Build.Version = members, "v2.0.0"
	})
	thirdPartyWithInstances(t, s)
	members.of["n1"] = new("v2.0.0")
	for why, version := range map[string]*string{
		"that of n2 is v1.0.0, of this node v2.0.0": new("v1.0.0"),
		"that of n2 is unknown":                     nil,
	} {
		members.of["n2"] = version
		check(t, s.Do("POST", definitions, cronTabDefinition()), want{code: 422, body: []string{why}})
	}
	check(t, s.Do("GET", cronTabsOfBeta+"/a", ""), want{code: 200})
	check(t, s.Do("POST", definitions, widgetDefinition()), want{code: 201}) // takes nothing over

	members.of["n2"] = new("v2.0.0")
	check(t, s.Do("POST", definitions, cronTabDefinition()), want{code: 201, body: []string{instancesOfName}})
}

// TestTakeoverUndone checks that the instances of a ThirdPartyResource that still exists are its own
// again when the definition that took them over is deleted.
func TestTakeoverUndone(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	thirdPartyWithInstances(t, s)
	establish(t, s, cronTabsName, cronTabDefinition())
	check(t, s.Do("POST", strings.Replace(cronTabs, "v1", "v2", 1), strings.Replace(cronTab("new"), "com/v1", "com/v2", 1)), want{code: 201})
	check(t, s.Do("DELETE", definitions+"/"+cronTabsName, ""), want{code: 200})
	s.Eventually("the definition is gone", func() bool { return s.Do("GET", definitions+"/"+cronTabsName, "").Code == 404 })
	awaitRemovals(t, s)
	got := s.Do("GET", cronTabsOfBeta, "")
	check(t, got, want{code: 200, body: []string{`"apiVersion":"stable.example.com/v1beta1"`, `"spec":{"n":"many","x":1},"y":2`}})
	if names := itemNames(t, got.Body); !slices.Equal(names, []string{"a", "new", "odd"}) {
		t.Errorf("instances %v", names)
	}
	open(t, s, cronTabs+"?watch=true").want("ADDED a", "ADDED odd", "ADDED new")
	undefine(t, s, cronTabName)
	s.Eventually("the instances are removed", func() bool { return !strings.Contains(stateOf(t, s), "stable.example.com") })
}

// TestTakeoverFailover kills the leader while a definition takes over instances that are written
// through the other nodes, and deletes the ThirdPartyResource. Every acknowledged instance remains,
// with its uid, on each node.
func TestTakeoverFailover(t *testing.T) {
	t.Parallel()
	const before, count = 40, 120
	c := testcluster.New(t, 3, nil)
	servers := testserver.StartOnNodes(t, c.Nodes, nil)
	dying := c.Leader()
	var left []*testserver.Server
	for i, s := range servers {
		if c.Nodes[i] != dying {
			left = append(left, s)
		}
	}
	define(t, left[0], cronTabName)
	for i := range before {
		check(t, left[0].Do("POST", cronTabs, cronTab(fmt.Sprintf("x%d", i))), want{code: 200})
	}
	acknowledged := map[string]string{} // uids by name
	var mu sync.Mutex
	var clients sync.WaitGroup
	some, killed := make(chan struct{}), make(chan struct{})
	for i, s := range left {
		clients.Go(func() {
			for n := range count {
				name := fmt.Sprintf("w%d-%d", i, n)
				got, err := s.Try(s.Client, "POST", cronTabs, cronTab(name))
				if err == nil && (got.Code == http.StatusOK || got.Code == http.StatusCreated) {
					mu.Lock()
					acknowledged[name] = field(t, got.Body, "metadata.uid")
					mu.Unlock()
				}
				if i == 0 && n == count/4 {
					close(some)
				}
			}
		})
	}
	clients.Go(func() {
		<-some
		left[1].Eventually("the definition is created", func() bool {
			got, err := left[1].Try(left[1].Client, "POST", definitions, cronTabDefinition())
			return err == nil && (got.Code == http.StatusCreated || got.Code == http.StatusConflict)
		})
		<-killed
		left[0].Eventually("the ThirdPartyResource is deleted", func() bool {
			got, err := left[0].Try(left[0].Client, "DELETE", thirdParties+"/"+cronTabName, "")
			return err == nil && (got.Code == http.StatusOK || got.Code == http.StatusNotFound)
		})
	})
	<-some
	dying.Kill()
	close(killed)
	clients.Wait()
	awaitCondition(t, left[0], cronTabsName, "Established", "True")
	awaitRemovals(t, left[0])
	if len(acknowledged) < count/2 {
		t.Errorf("only %d of %d creates were acknowledged", len(acknowledged), 2*count)
	}
	for _, s := range left {
		for i := range before {
			check(t, s.Do("GET", fmt.Sprintf("%s/x%d", cronTabs, i), ""), want{code: 200, body: []string{`"color":"red"`}})
		}
		for name, uid := range acknowledged {
			check(t, s.Do("GET", cronTabs+"/"+name, ""), want{code: 200, body: []string{`"uid":"` + uid + `"`, `"color":"red"`}})
		}
	}
}

// TestTakeoverRace creates a definition while the ThirdPartyResource of its plural is deleted, on
// three nodes. Either the definition takes over all instances, or it begins without any.
func TestTakeoverRace(t *testing.T) {
	t.Parallel()
	nodes := testserver.StartReplicas(t, 3, nil)
	const instances = 5
	taken := 0
	for round := range 12 {
		at := func(i int) *testserver.Server { return nodes[(round+i)%len(nodes)] }
		define(t, at(0), cronTabName)
		for i := range instances {
			check(t, at(0).Do("POST", cronTabs, cronTab(fmt.Sprintf("r%d-%d", round, i))), want{code: 200})
		}
		var clients sync.WaitGroup
		var created testserver.Answer
		clients.Go(func() { created = at(1).Do("POST", definitions, cronTabDefinition()) })
		clients.Go(func() {
			for range round { // the more of them, the later
				check(t, at(2).Do("GET", thirdParties, ""), want{code: 200})
			}
			undefine(t, at(2), cronTabName)
		})
		clients.Wait()
		check(t, created, want{code: 201})
		awaitRemovals(t, at(0))
		expected := 0
		if strings.Contains(created.Body, instancesOfName) {
			expected, taken = instances, taken+1
		}
		for i := range nodes {
			got := at(i).Do("GET", cronTabs, "")
			check(t, got, want{code: 200})
			if names := itemNames(t, got.Body); len(names) != expected {
				t.Errorf("round %d: %d instances, want %d: %v", round, len(names), expected, names)
			}
		}
		check(t, at(0).Do("DELETE", definitions+"/"+cronTabsName, ""), want{code: 200})
		at(1).Eventually("the definition is gone", func() bool { return at(1).Do("GET", definitions+"/"+cronTabsName, "").Code == 404 })
	}
	t.Logf("the instances were taken over in %d of 12 rounds", taken)
}
