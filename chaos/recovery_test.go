package chaos_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/nodes"
)

const (
	recoveryNamespace = "recovery"
	recoveryObjects   = 400
	recoveryWriters   = 4
	// recoveryLimit bounds each of these tests on a machine that is ten times slower than it should
	// be.
	recoveryLimit = 4 * time.Minute
)

// cluster is three processes and a client for each.
type cluster struct {
	t       *testing.T
	ctx     context.Context
	fleet   *nodes.Processes
	clients map[string]*client.Client
}

func startCluster(t *testing.T, binary string, start bool) *cluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), recoveryLimit)
	t.Cleanup(cancel)
	fleet := newProcesses(t, binary, "--request-log", "none")
	c := &cluster{t: t, ctx: ctx, fleet: fleet, clients: map[string]*client.Client{}}
	if start {
		if _, err := fleet.StartAll(ctx); err != nil {
			t.Fatal(err)
		}
		c.connect("n1", "n2", "n3")
	}
	return c
}

// connect waits until nodes are ready, with the credentials that each has written.
func (c *cluster) connect(names ...string) {
	c.t.Helper()
	for _, node := range c.fleet.Nodes() {
		if !slices.Contains(names, node.Name) {
			continue
		}
		ready := func() bool {
			credentials, err := client.ReadKubeconfig(filepath.Join(c.fleet.DataDir(node.Name), "admin.kubeconfig"))
			if err != nil {
				return false
			}
			one, err := client.New(node.API, credentials)
			if err != nil {
				return false
			}
			c.clients[node.Name] = one
			return one.Ready(c.ctx)
		}
		if err := nodes.Await(c.ctx, ready); err != nil {
			c.t.Fatalf("node %s is not ready: %v", node.Name, err)
		}
		c.t.Cleanup(c.clients[node.Name].Close)
	}
}

func (c *cluster) command(args ...string) string {
	c.t.Helper()
	out, err := c.fleet.Command(c.ctx, args...)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Logf("$ quorate %s\n%s", strings.Join(args, " "), out)
	return out
}

func (c *cluster) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// fill creates the objects, several at a time.
func (c *cluster) fill() {
	c.t.Helper()
	if outcome, err := c.clients["n1"].EnsureNamespace(c.ctx, recoveryNamespace); outcome != client.OK {
		c.t.Fatal(outcome, err)
	}
	var all sync.WaitGroup
	for w := range recoveryWriters {
		all.Go(func() {
			for i := w; i < recoveryObjects; i += recoveryWriters {
				data := map[string]string{"turn": "0", "fill": strings.Repeat("x", 512)}
				if _, outcome, err := c.clients["n1"].Create(c.ctx, recoveryNamespace, fmt.Sprintf("o-%03d", i), data); outcome != client.OK {
					c.t.Errorf("create: %v %v", outcome, err)
				}
			}
		})
	}
	all.Wait()
}

// write replaces objects through all nodes until stop is called, which returns the highest version
// that was acknowledged.
func (c *cluster) write() (stop func() uint64) {
	done := make(chan struct{})
	highest := make([]uint64, recoveryWriters)
	var all sync.WaitGroup
	names := slices.Sorted(maps.Keys(c.clients))
	for w := range recoveryWriters {
		to := c.clients[names[w%len(names)]]
		all.Go(func() {
			for turn := 1; ; turn++ {
				for i := w; i < recoveryObjects; i += recoveryWriters {
					select {
					case <-done:
						return
					default:
					}
					o, outcome, err := to.Get(c.ctx, recoveryNamespace, fmt.Sprintf("o-%03d", i))
					if outcome == client.OK {
						o.Data["turn"] = fmt.Sprint(turn)
						o, outcome, err = to.Replace(c.ctx, recoveryNamespace, o)
					}
					if outcome != client.OK {
						c.t.Errorf("write: %v %v", outcome, err)
						return
					}
					highest[w] = max(highest[w], o.Version)
				}
			}
		})
	}
	return func() uint64 {
		close(done)
		all.Wait()
		return slices.Max(highest)
	}
}

// list reads all objects by name.
func (c *cluster) list(node, query string) (map[string]client.Object, uint64) {
	c.t.Helper()
	objects, version, outcome, err := c.clients[node].List(c.ctx, recoveryNamespace, query)
	if outcome != client.OK {
		c.t.Fatalf("list on %s: %v %v", node, outcome, err)
	}
	byName := map[string]client.Object{}
	for _, o := range objects {
		byName[o.Name] = o
	}
	return byName, version
}

// history is every version of every object, as a watch from the beginning tells it.
func (c *cluster) history(node string, from, upTo uint64) map[string][]client.Object {
	c.t.Helper()
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	seen := map[string][]client.Object{}
	err := c.clients[node].Watch(ctx, recoveryNamespace, from, func() {}, func(e client.Event) {
		if e.Type != "BOOKMARK" {
			seen[e.Object.Name] = append(seen[e.Object.Name], e.Object)
		}
		if e.Version >= upTo {
			cancel()
		}
	})
	if ctx.Err() == nil || c.ctx.Err() != nil {
		c.t.Fatalf("watch from %d to %d: %v", from, upTo, err)
	}
	return seen
}

// TestBackupIsRestoredElsewhere restores a backup, taken under writes, as another cluster. The
// restored objects must be those at the backup's version, each with a version above all that the
// first cluster acknowledged. A watch from a version of the first cluster must expire, and the new
// cluster must accept writes (N14).
func TestBackupIsRestoredElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("starts six servers")
	}
	binary := buildServer(t)
	old := startCluster(t, binary, true)
	old.fill()
	before, from := old.list("n1", "")
	stop := old.write()
	files := map[string]string{}
	for _, name := range []string{"n1", "n2", "n3"} {
		files[name] = filepath.Join(t.TempDir(), "backup.quorate")
		old.command("backup", files[name], "--data-dir", old.fleet.DataDir(name))
	}
	highest := stop()
	history := old.history("n2", from, highest)

	fresh := startCluster(t, binary, false)
	key, err := os.ReadFile(old.fleet.KeyFile())
	fresh.must(err)
	fresh.must(os.WriteFile(fresh.fleet.KeyFile(), key, 0o600))
	told := fresh.command("restore", files["n3"], "--name", "n1", "--data-dir", fresh.fleet.DataDir("n1"))
	var index uint64
	if _, err := fmt.Sscanf(told[strings.Index(told, "version "):], "version %d", &index); err != nil || index <= from {
		t.Fatalf("%v: %s", err, told)
	}
	fresh.must(fresh.fleet.Start(fresh.ctx, "n1"))
	fresh.connect("n1")
	restored, version := fresh.list("n1", "")
	if version <= highest {
		t.Errorf("the restored list has version %d, and %d was acknowledged", version, highest)
	}
	checkState(t, restored, stateAt(before, history, index), highest)
	if err := fresh.clients["n1"].Watch(fresh.ctx, recoveryNamespace, highest, func() {}, func(client.Event) {}); err == nil || !strings.Contains(err.Error(), client.ErrExpired.Error()) {
		t.Errorf("a watch from version %d of the old cluster ends with %v", highest, err)
	}
	// Two empty nodes join, and it is a cluster like any other.
	for _, name := range []string{"n2", "n3"} {
		fresh.must(fresh.fleet.Start(fresh.ctx, name))
	}
	fresh.connect("n2", "n3")
	stopFresh := fresh.write()
	fresh.command("checksum", "--data-dir", fresh.fleet.DataDir("n3"))
	stopFresh()
	if _, at := fresh.list("n2", ""); at <= version {
		t.Errorf("version %d after %d", at, version)
	}
	fresh.command("checksum", "--data-dir", fresh.fleet.DataDir("n2"))
}

// stateAt is what the objects were after an index.
func stateAt(state map[string]client.Object, history map[string][]client.Object, index uint64) map[string]client.Object {
	at := maps.Clone(state)
	for name, versions := range history {
		for _, o := range versions {
			if o.Version <= index {
				at[name] = o
			}
		}
	}
	return at
}

// checkState wants every object to be as it was, under a version above all that were seen, in the
// old order.
func checkState(t *testing.T, got, want map[string]client.Object, above uint64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d objects, want %d", len(got), len(want))
	}
	gaps := map[uint64]bool{}
	for name, w := range want {
		g := got[name]
		if g.UID != w.UID || !maps.Equal(g.Data, w.Data) || g.Version <= above {
			t.Errorf("%s is %s at %d, was %s at %d; seen up to %d", name, g.Data["turn"], g.Version, w.Data["turn"], w.Version, above)
		}
		gaps[g.Version-w.Version] = true
	}
	if len(gaps) != 1 {
		t.Errorf("versions were raised by %v", slices.Collect(maps.Keys(gaps)))
	}
}

// TestMajorityIsLostForGood loses two of three nodes and their disks. The third is recovered with
// all of its objects, and two empty nodes join under the names of the lost ones.
func TestMajorityIsLostForGood(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and kills three servers")
	}
	c := startCluster(t, buildServer(t), true)
	c.fill()
	before, version := c.list("n1", "") // n1 has all of it: a quorum read waits for that
	for _, name := range []string{"n2", "n3", "n1"} {
		c.must(c.fleet.Kill(c.ctx, name))
	}
	for _, name := range []string{"n2", "n3"} {
		c.must(os.RemoveAll(c.fleet.DataDir(name)))
	}
	if _, err := c.fleet.Command(c.ctx, "recover", "--data-dir", c.fleet.DataDir("n1")); err == nil || !strings.Contains(err.Error(), "--accept-data-loss") {
		t.Fatalf("recovered without being told that data may be lost: %v", err)
	}
	c.command("recover", "--data-dir", c.fleet.DataDir("n1"), "--accept-data-loss")
	c.command("inspect", c.fleet.DataDir("n1"))
	c.must(c.fleet.Start(c.ctx, "n1"))
	c.connect("n1")
	after, _ := c.list("n1", "")
	checkState(t, after, before, version)
	for _, name := range []string{"n2", "n3"} {
		c.must(c.fleet.Start(c.ctx, name))
	}
	c.connect("n2", "n3")
	stop := c.write()
	c.command("checksum", "--data-dir", c.fleet.DataDir("n2"))
	stop()
	c.command("members", "--data-dir", c.fleet.DataDir("n3"))
}

// TestDiskIsLost loses the data of a node. The node is removed, and joins again with an empty
// directory and its old name.
func TestDiskIsLost(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and kills three servers")
	}
	c := startCluster(t, buildServer(t), true)
	c.fill()
	c.must(c.fleet.Kill(c.ctx, "n3"))
	c.must(os.RemoveAll(c.fleet.DataDir("n3")))
	for _, name := range []string{"n1", "n2"} { // an empty node is refused the name of one that seems alive
		c.must(nodes.Await(c.ctx, func() bool {
			members, err := c.clients[name].Members(c.ctx)
			return err == nil && slices.ContainsFunc(members, func(m client.Member) bool { return m.Name == "n3" && m.IsDead() })
		}))
	}
	c.command("remove", "n3", "--data-dir", c.fleet.DataDir("n1"))
	c.must(c.fleet.Start(c.ctx, "n3"))
	c.connect("n3")
	want, _ := c.list("n1", "")
	got, _ := c.list("n3", "resourceVersion=0")
	if !maps.EqualFunc(got, want, func(a, b client.Object) bool { return a.Version == b.Version && maps.Equal(a.Data, b.Data) }) {
		t.Errorf("n3 has %d objects, n1 %d", len(got), len(want))
	}
	c.command("checksum", "--data-dir", c.fleet.DataDir("n3"))
}
