package apiserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"quorate/apiserver/internal/testserver"
	"quorate/raftstore/testcluster"
)

// TestCustomResourceFailover kills the leader while CustomResourceDefinitions and their instances
// are written through the other nodes. It checks that the other nodes serve every acknowledged
// definition and instance, the latter pruned and defaulted, and that the next leader sets the
// conditions and finishes a deletion that began before the failure.
func TestCustomResourceFailover(t *testing.T) {
	const count = 60
	c := testcluster.New(t, 3, nil)
	servers := map[*testcluster.Node]*testserver.Server{}
	for i, s := range testserver.StartOnNodes(t, c.Nodes, nil) {
		servers[c.Nodes[i]] = s
	}
	dying := c.Leader()
	var left []*testserver.Server
	for n, s := range servers {
		if n != dying {
			left = append(left, s)
		}
	}
	establish(t, left[0], widgetsName, widgetDefinition())
	for i := range 20 {
		check(t, left[0].Do("POST", widgets, widget(fmt.Sprintf("w%d", i), `{"size":1}`)), want{code: 201})
	}
	var writers sync.WaitGroup
	var mu sync.Mutex
	acknowledged := map[string]bool{} // paths of instances
	half := make(chan struct{})
	var once sync.Once
	for i, s := range left {
		writers.Go(func() {
			for n := i; n < count; n += len(left) {
				if n >= count/2 {
					once.Do(func() { close(half) })
				}
				plural := fmt.Sprintf("things%d", n)
				definition := definitionOf(plural, fmt.Sprintf("Thing%d", n), "Cluster", widgetVersion("v1", `"served":true,"storage":true`, widgetSchema))
				got, err := s.Try(s.Client, "POST", definitions, definition)
				if err != nil || got.Code != http.StatusCreated {
					t.Logf("define: %v %d %.300s", err, got.Code, got.Body)
					continue // no leader, or unknown
				}
				object := strings.Replace(widget("x", `{"size":1,"odd":1}`), "Widget", fmt.Sprintf("Thing%d", n), 1)
				path := "/apis/shop.example.com/v1/" + plural
				other := left[(i+1)%len(left)]
				got, err = other.Try(other.Client, "POST", path, object)
				switch {
				case err == nil && got.Code == http.StatusCreated:
					mu.Lock()
					acknowledged[path] = true
					mu.Unlock()
				case err == nil && got.Code == http.StatusNotFound:
					t.Errorf("a definition was acknowledged, and the other node does not serve it: %s", got.Body)
				default:
					t.Logf("create: %v %d %.300s", err, got.Code, got.Body)
				}
			}
		})
	}
	<-half
	check(t, left[0].Do("DELETE", definitions+"/"+widgetsName, ""), want{code: 200})
	dying.Kill()
	writers.Wait()
	if len(acknowledged) < count/4 {
		t.Errorf("only %d of %d objects were acknowledged", len(acknowledged), count)
	}
	for path := range acknowledged {
		for _, s := range left {
			s.Eventually("a leader answers", func() bool { return s.Do("GET", path+"/x", "").Code == http.StatusOK })
			check(t, s.Do("GET", path+"/x", ""), want{code: 200, body: []string{`"spec":{"color":"red","size":1}`}})
		}
		awaitCondition(t, left[0], path[strings.LastIndexByte(path, '/')+1:]+".shop.example.com", "Established", "True")
	}
	left[1].Eventually("the deleted definition is gone", func() bool { return left[1].Do("GET", definitions+"/"+widgetsName, "").Code == 404 })
	check(t, left[1].Do("GET", widgets, ""), noRoute())
}
