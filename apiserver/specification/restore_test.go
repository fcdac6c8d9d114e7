package specification

import (
	"bytes"
	"testing"
	"time"

	"quorate/apiserver/internal/testserver"
	"quorate/raftstore"
	"quorate/raftstore/backup"
	"quorate/raftstore/offline"
)

// restoreRows prove what clients see of a cluster that was restored from a backup.
var restoreRows = []row{
	{"N14", func(t *testing.T, _ *testserver.Server) {
		old, stopOld := testserver.OpenStore(t, t.TempDir(), true)
		s := testserver.StartOn(t, old, quiet)
		ns := namespace(t, s)
		kept := create(t, s, "ConfigMap", ns, "kept")
		create(t, s, "ConfigMap", ns, "kept-too")
		file := backupOf(t, old)
		// What comes after the backup is lost, but clients have seen it.
		lost := ok(t, s.Do("PUT", item("ConfigMap", ns, "kept"), minimal("ConfigMap", ns, "kept", `{"data":{"a":"lost"}}`)))
		page := ok(t, s.Do("GET", collection("ConfigMap", ns)+"?limit=1", ""))
		s.Stop()
		stopOld()

		fresh, stopFresh := testserver.OpenStore(t, restored(t, file), false)
		t.Cleanup(stopFresh)
		s = testserver.StartOn(t, fresh, quiet)
		now := ok(t, s.Do("GET", item("ConfigMap", ns, "kept"), ""))
		if get(t, now, "metadata.uid") != get(t, kept, "metadata.uid") || version(t, now) <= version(t, lost) {
			t.Errorf("restored %s, which was %s, and seen as %s", now, kept, lost)
		}
		if list := ok(t, s.Do("GET", collection("ConfigMap", ns), "")); version(t, list) <= version(t, lost) || len(names(t, list)) != 2 {
			t.Errorf("restored list %s", list)
		}
		for _, o := range []string{kept, lost} { // versions of before: known to the backup, and beyond it
			w := watch(t, s, collection("ConfigMap", ns)+"?watch=true&resourceVersion="+get(t, o, "metadata.resourceVersion"))
			want(t, w.want("ERROR"), "kind", "Status", "reason", "Expired", "code", "410")
			w.close()
		}
		next := collection("ConfigMap", ns) + "?limit=1&continue=" + get(t, page, "metadata.continue")
		expect(t, s.Do("GET", next, ""), 410, "Expired")
		stale := minimal("ConfigMap", ns, "kept", `{"metadata":{"resourceVersion":"`+get(t, lost, "metadata.resourceVersion")+`"}}`)
		expect(t, s.Do("PUT", item("ConfigMap", ns, "kept"), stale), 409, "Conflict")
		// It goes on from there.
		list := ok(t, s.Do("GET", collection("ConfigMap", ns), ""))
		w := watch(t, s, collection("ConfigMap", ns)+"?watch=true&resourceVersion="+get(t, list, "metadata.resourceVersion"))
		made := create(t, s, "ConfigMap", ns, "new")
		if got := w.want("ADDED new"); got != made || version(t, made) <= version(t, now) {
			t.Errorf("event %s of %s, after %s", got, made, now)
		}
	}},
}

func backupOf(t *testing.T, store *raftstore.Store) []byte {
	t.Helper()
	root, err := store.View(t.Context(), raftstore.Quorum())
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := backup.Write(&file, root, backup.Header{Time: time.Now()}); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// restored makes a data directory of a backup.
func restored(t *testing.T, file []byte) string {
	t.Helper()
	_, root, err := backup.Read(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	made, err := offline.Create(dir, offline.Cluster{Name: testserver.NodeName, PeerAddr: "127.0.0.1:1", Root: root, Gap: offline.DefaultGap(root.Index(), time.Now())})
	if err != nil || made.ClusterID == root.ClusterID() {
		t.Fatalf("restored as cluster %s of %s: %v", made.ClusterID, root.ClusterID(), err)
	}
	return dir
}
