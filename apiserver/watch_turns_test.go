package apiserver_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"quorate/apiserver"
	"quorate/apiserver/internal/testserver"
	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
	"quorate/raftstore/testcluster"
)

// followed is a store that records for whom collections are watched.
type followed struct {
	apiserver.Store
	mu    sync.Mutex
	users map[string][]string // by namespace; guarded by mu
}

// usersOf returns for whom collections of a namespace are watched, sorted.
func (f *followed) usersOf(namespace string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(slices.Values(f.users[namespace]))
}

func (f *followed) WatchFor(user string, p state.Prefix, after uint64) (*history.Cursor, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.users[p.Namespace()] = append(f.users[p.Namespace()], user)
	return f.Store.WatchFor(user, p, after)
}

// TestWatchesAreTheirSenders: each watch, however it begins, takes the turns of whoever sent it at
// reads of the log, also if that user impersonates another, and whatever its kind.
func TestWatchesAreTheirSenders(t *testing.T) {
	c := testcluster.New(t, 1, func(cfg *raftstore.Config) { cfg.RaftMultiplier = 1 })
	store := &followed{Store: c.Nodes[0].Store, users: map[string][]string{}}
	s := testserver.StartOnNodes(t, c.Nodes, func(cfg *apiserver.Config) { cfg.Store = store })[0]
	ann := "Authorization: Bearer " + s.IssueToken("ann", "system:masters")
	check(t, s.Do("POST", definitions, widgetDefinition()), want{code: 200})
	awaitCondition(t, s, widgetsName, "Established", "True")
	for _, kind := range []struct{ plural, path, object string }{
		{"configmaps", "/api/v1/namespaces/%s/configmaps", `{"metadata":{"name":"x"}}`},
		{"widgets", "/apis/shop.example.com/v1/namespaces/%s/widgets",
			`{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"x"},"spec":{"size":1}}`},
	} {
		for i, begin := range []string{
			"", "&resourceVersion=0", "&resourceVersion=%s", "&sendInitialEvents=false&resourceVersionMatch=NotOlderThan",
			"&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
		} {
			name := fmt.Sprintf("ns%d-%d", i, len(kind.plural))
			check(t, s.Do("POST", "/api/v1/namespaces", `{"metadata":{"name":"`+name+`"}}`), want{code: 200})
			path := fmt.Sprintf(kind.path, name)
			at := version(t, s.Do("GET", path, "").Body)
			if begin == "&resourceVersion=%s" {
				begin = fmt.Sprintf(begin, at)
			}
			senders := [][]string{nil, {ann}, {ann, "Impersonate-User: joe", "Impersonate-Group: system:masters"}}
			var streams []*stream
			for _, headers := range senders {
				streams = append(streams, open(t, s, path+"?watch=1"+begin, headers...))
			}
			// A response has begun before its watch has: one that begins without objects, after the
			// latest change, might begin after the next one.
			s.Eventually("all watches have begun", func() bool { return len(store.usersOf(name)) >= len(senders) })
			check(t, s.Do("POST", path, kind.object), want{code: 200})
			for _, w := range streams {
				for event := ""; event != "ADDED x"; {
					event, _ = w.next()
				}
				w.cancel()
			}
			got := store.usersOf(name)
			if want := []string{"admin", "ann", "ann"}; !slices.Equal(got, want) {
				t.Errorf("%s%s: watched for %q, want %q", kind.plural, begin, got, want)
			}
		}
	}
}
