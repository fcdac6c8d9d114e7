package schedule

import (
	"io"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"quorate/raftstore/state"
	"quorate/raftstore/testcluster"
)

// soon is a schedule of one past time and one shortly after the first call that looks beyond it.
type soon struct {
	past  time.Time
	once  sync.Once
	later time.Time
}

// Next implements cron.Schedule.
func (s *soon) Next(after time.Time) time.Time {
	if after.Before(s.past) {
		return s.past
	}
	s.once.Do(func() { s.later = time.Now().Truncate(time.Second).Add(2 * time.Second) })
	if after.Before(s.later) {
		return s.later
	}
	return time.Time{}
}

// replicas returns a cluster of three nodes, and a scheduler for each by its name, which are not
// started.
func replicas(t *testing.T, dir func(n *testcluster.Node) string, past time.Time, write map[string]writer) (*testcluster.Cluster, map[string]*scheduler) {
	t.Helper()
	c := testcluster.New(t, 3, nil)
	leader := c.Leader()
	c.Ready()
	all := map[string]*scheduler{}
	for _, n := range c.Nodes {
		w := good
		if n == leader && write["leader"] != nil {
			w = write["leader"]
		}
		all[n.Name] = newScheduler(t, n, dir(n), &soon{past: past}, w)
	}
	prepare(t, all[leader.Name], past.Add(-time.Minute))
	return c, all
}

// A leader that is killed while it writes leaves nothing that counts as a backup, and the next one
// writes the backup of that time, once.
func TestLeaderKilledWhileItWrites(t *testing.T) {
	t.Parallel()
	shared := t.TempDir()
	past := second(time.Minute)
	release := make(chan struct{})
	hang := func(w io.Writer, root *state.Root) error {
		<-release
		return good(w, root)
	}
	c, all := replicas(t, func(*testcluster.Node) string { return shared }, past, map[string]writer{"leader": hang})
	leader := c.Leader()
	for _, s := range all {
		s.start()
	}
	<-all[leader.Name].begun
	if names := files(t, shared); len(names) != 1 || names[0][0] != '.' {
		t.Errorf("while the backup is written, the directory has %v", names)
	}
	c.Isolate(leader, true)
	next := all[c.Leader(leader).Name]
	testcluster.Eventually(t, "the next leader has recorded the backup", func() bool { return !next.recordedAt().Before(past) })
	close(release)
	all[leader.Name].stop()
	testcluster.Eventually(t, "the next leader has written the following backup", func() bool { return next.recordedAt().After(past) })
	want := names{cluster: leader.Store.ClusterID()}
	got := files(t, shared)
	if len(got) != 2 || got[0] != want.fileName(past) {
		t.Errorf("got %v, want two backups, the first of %s", got, past)
	}
	if n := len(next.begun); n != 2 {
		t.Errorf("the next leader has written %d backups", n)
	}
}

// A change of leader after a backup does not write it again, not even where each node has a
// directory of its own.
func TestNextLeaderDoesNotRepeatABackup(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	past := second(time.Minute)
	c, all := replicas(t, func(n *testcluster.Node) string { return mkdir(t, top, n.Name) }, past, nil)
	leader := c.Leader()
	first := all[leader.Name]
	first.start()
	testcluster.Eventually(t, "the leader has recorded the backup", func() bool { return !first.recordedAt().Before(past) })
	first.stop()
	for _, s := range all {
		if s != first {
			s.start()
		}
	}
	if err := leader.Store.TransferLeadership(""); err != nil {
		t.Fatal(err)
	}
	next := all[c.Leader(leader).Name]
	testcluster.Eventually(t, "the next leader has written the following backup", func() bool { return next.recordedAt().After(past) })
	d := names{cluster: leader.Store.ClusterID()}
	for _, n := range c.Nodes {
		for _, name := range files(t, all[n.Name].dir) {
			if at, ok := d.scheduled(name); !ok || at.Equal(past) != (n == leader) {
				t.Errorf("%s has %s", n.Name, name)
			}
		}
	}
	if n := len(next.begun); n != 1 {
		t.Errorf("the next leader has written %d backups", n)
	}
}

// A leader that was cut off while it wrote does not give the file its name once it is back, when
// another node has written that backup.
func TestFormerLeaderDoesNotFinishABackup(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	past := second(time.Minute)
	release := make(chan struct{})
	hang := func(w io.Writer, root *state.Root) error {
		<-release
		return good(w, root)
	}
	c, all := replicas(t, func(n *testcluster.Node) string { return mkdir(t, top, n.Name) }, past, map[string]writer{"leader": hang})
	leader := c.Leader()
	for _, s := range all {
		s.start()
	}
	former := all[leader.Name]
	<-former.begun
	c.Isolate(leader, true)
	next := all[c.Leader(leader).Name]
	testcluster.Eventually(t, "the next leader has recorded the backup", func() bool { return !next.recordedAt().Before(past) })
	c.Isolate(leader, false)
	close(release)
	testcluster.Eventually(t, "the former leader has given up its file", func() bool { return len(files(t, former.dir)) == 0 })
	testcluster.Eventually(t, "the former leader knows the record", func() bool { return !former.recordedAt().Before(past) })
}

func mkdir(t *testing.T, parts ...string) string {
	t.Helper()
	path := filepath.Join(parts...)
	makeDir(t, path)
	return path
}
