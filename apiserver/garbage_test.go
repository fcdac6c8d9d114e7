package apiserver_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"quorate/apiserver/internal/testserver"
	"quorate/raftstore"
	"quorate/raftstore/state"
	"quorate/raftstore/testcluster"
)

// owned is a configmap that an owner has.
func owned(name, owner, uid string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":%q,"uid":%q,`+
		`"blockOwnerDeletion":true}]},"data":{"k":"v"}}`, name, owner, uid)
}

// createAll makes objects, many at a time.
func createAll(t testing.TB, s *testserver.Server, path string, n int, body func(i int) string) {
	t.Helper()
	var group errgroup.Group
	group.SetLimit(64)
	for i := range n {
		group.Go(func() error {
			answer, err := s.Try(s.Client, "POST", path, body(i))
			if err == nil && answer.Code != 200 {
				err = fmt.Errorf("code %d: %s", answer.Code, answer.Body)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}

// TestGarbageOutlivesLeaders: leaders die at random moments of a collection, and who leads then
// ends it (G49, N16).
func TestGarbageOutlivesLeaders(t *testing.T) {
	t.Parallel()
	c := testcluster.New(t, 3, unhurried)
	c.Ready()
	servers := map[*testcluster.Node]*testserver.Server{}
	for i, server := range testserver.StartOnNodes(t, c.Nodes, nil) {
		servers[c.Nodes[i]] = server
	}
	const dependents = 300
	for _, policy := range []string{"Foreground", "Orphan"} {
		dying := c.Leader()
		s := servers[c.Follower(dying)]
		cms := namespace(t, s, strings.ToLower(policy))
		uid := field(t, s.Do("POST", cms, configMap("owner")).Body, "metadata.uid")
		createAll(t, s, cms, dependents, func(i int) string { return owned(fmt.Sprint("d", i), "owner", uid) })
		check(t, s.Do("DELETE", cms+"/owner?propagationPolicy="+policy, ""), want{code: 200})
		left := rand.IntN(dependents)
		t.Logf("%s: the leader dies with %d dependents left, or fewer", policy, left)
		s.Eventually("some are done", func() bool {
			return strings.Count(s.Do("GET", cms+"?resourceVersion=0", "").Body, `"ownerReferences"`) <= left
		})
		servers[dying].Stop()
		dying.Kill()
		s = servers[c.Leader()]
		s.Eventually("the owner is gone", func() bool {
			answer, err := s.Try(s.Client, "GET", cms+"/owner", "")
			return err == nil && answer.Code == 404
		})
		list := s.Do("GET", cms, "").Body
		if n := len(itemNames(t, list)); policy == "Foreground" && n != 0 || policy == "Orphan" && n != dependents {
			t.Errorf("%s: %d dependents are left", policy, n)
		}
		if strings.Contains(list, `"ownerReferences"`) {
			t.Errorf("%s: owners are not forgotten", policy)
		}
		dying.Start()
		c.Ready()
		servers[dying] = testserver.StartOn(t, dying.Store, nil)
	}
}

// TestLargeCollectionsStarveNobody: while many objects go, in each way that objects go by
// themselves, clients get on with their writes. BenchmarkBackground has figures.
func TestLargeCollectionsStarveNobody(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	for way := range background(s) {
		t.Logf("%s: %s", way, goBesideClients(t, s, way, 2000))
	}
}

// BenchmarkBackground: 20,000 objects go by themselves while a client creates others.
func BenchmarkBackground(b *testing.B) {
	for way := range background(nil) {
		b.Run(way, func(b *testing.B) {
			s := testserver.Start(b, nil)
			for b.Loop() {
				b.Log(goBesideClients(b, s, way, 20_000))
			}
		})
	}
}

// background are the ways in which the content of a namespace goes by itself, and what a client
// does for it.
func background(s *testserver.Server) map[string]func(namespace string) testserver.Answer {
	return map[string]func(namespace string) testserver.Answer{
		"emptied": func(namespace string) testserver.Answer { return s.Do("DELETE", "/api/v1/namespaces/"+namespace, "") },
		"collected": func(namespace string) testserver.Answer {
			return s.Do("DELETE", "/api/v1/namespaces/"+namespace+"/configmaps/owner", "")
		},
	}
}

// goBesideClients makes objects go, and lets a client create others as fast as it can until they
// are gone.
func goBesideClients(t testing.TB, s *testserver.Server, way string, objects int) (figures string) {
	t.Helper()
	names := [2]string{way, way + "-busy"}
	for _, name := range names {
		if answer := s.Do("POST", "/api/v1/namespaces", `{"metadata":{"name":"`+name+`"}}`); answer.Code != 200 {
			t.Fatal(answer.Body)
		}
	}
	full, busy := "/api/v1/namespaces/"+names[0]+"/configmaps", "/api/v1/namespaces/"+names[1]+"/configmaps"
	made := s.Do("POST", full, configMap("owner")).Body
	_, uid, _ := strings.Cut(made, `"uid":"`)
	createAll(t, s, full, objects, func(i int) string { return owned(fmt.Sprint("o", i), "owner", uid[:36]) })
	count := func() int {
		root, err := s.Store.View(t.Context(), raftstore.Cached())
		if err != nil {
			t.Fatal(err)
		}
		return root.Count(state.NamespacePrefix("configmaps", names[0]))
	}
	if n := count(); n != objects+1 {
		t.Fatalf("%d objects are there", n)
	}

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	type client struct {
		creates int
		slowest time.Duration
		err     error
	}
	done := make(chan client, 1)
	begin := time.Now()
	if answer := background(s)[way](names[0]); answer.Code != 200 {
		t.Fatal(answer.Body)
	}
	go func() {
		var c client
		for ctx.Err() == nil && c.err == nil {
			sent := time.Now()
			answer, err := s.Try(s.Client, "POST", busy, configMap(fmt.Sprint("c", c.creates)))
			if c.err = err; err == nil && answer.Code != 200 {
				c.err = errors.New(answer.Body)
			}
			c.creates++
			c.slowest = max(c.slowest, time.Since(sent))
		}
		done <- c
	}()
	for left := count(); left > 0; {
		s.Eventually("more are gone", func() bool { return count() < left })
		left = count()
	}
	took := time.Since(begin)
	stop()
	c := <-done
	if c.err != nil || c.creates == 0 {
		t.Fatalf("the client created %d objects: %v", c.creates, c.err)
	}
	return fmt.Sprintf("%d objects in %v, %.0f/s; meanwhile one client created %d, %v each, the slowest in %v", objects,
		took.Round(time.Millisecond), float64(objects)/took.Seconds(), c.creates,
		(took / time.Duration(c.creates)).Round(time.Microsecond), c.slowest.Round(time.Microsecond))
}
