package specification

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"quorate/apiserver/internal/testserver"
	"quorate/raftstore"
	"quorate/raftstore/log"
	"quorate/raftstore/state"
	"quorate/raftstore/testcluster"
)

// historyRows prove how far back one may go.
var historyRows = []row{
	{"N12", func(t *testing.T, _ *testserver.Server) {
		const changes, writers = 10_000, 64
		c := testcluster.New(t, 1, nil)
		n := c.Leader()
		s := testserver.StartOn(t, n.Store, quiet)
		ns := namespace(t, s)
		from := get(t, ok(t, s.Do("GET", collection("ConfigMap", ns), "")), "metadata.resourceVersion")
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				for i := w; i < changes; i += writers {
					if err := storeConfigMap(t, n.Store, ns, fmt.Sprintf("n12-%05d", i)); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		for range 2 { // the log is trimmed behind the snapshot before the last
			if _, _, err := n.Store.Snapshot(); err != nil {
				t.Fatal(err)
			}
		}
		s.Stop()
		n.Stop()
		n.Start() // what the memory had is gone
		c.Ready()
		s = testserver.StartOn(t, n.Store, quiet)
		w := watch(t, s, collection("ConfigMap", ns)+"?watch=true&resourceVersion="+from)
		seen := map[string]bool{}
		for range changes { // by their names alone: parsing ten thousand events takes longer than making them
			line, err := w.lines.ReadString('\n')
			if err != nil {
				t.Fatalf("after %d events: %v", len(seen), err)
			}
			_, rest, added := strings.Cut(line, `{"type":"ADDED",`)
			_, name, named := strings.Cut(rest, `"name":"n12-`)
			if !added || !named || seen[name[:5]] {
				t.Fatalf("after %d events: %s", len(seen), line)
			}
			seen[name[:5]] = true
		}
		// By time: of the log and of the states that continue values name. What is older is row
		// D13, and C37.
		if least := 5 * time.Minute; log.DefaultMaxAge < least || state.DefaultRetainedAge < least {
			t.Errorf("history is kept for %s, pages for %s", log.DefaultMaxAge, state.DefaultRetainedAge)
		}
	}},
}

// storeConfigMap creates a ConfigMap past the API, as fast as the store takes it.
func storeConfigMap(t *testing.T, store *raftstore.Store, ns, name string) error {
	head := fmt.Sprintf(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":%q,"namespace":%q,"resourceVersion":"`, name, ns)
	_, err := store.Create(t.Context(), raftstore.Create{
		Key:    state.NewKey("configmaps", ns, name),
		Object: &state.Object{Value: []byte(head + `"}}`), VersionOffset: uint32(len(head)), UID: name},
	})
	return err
}
