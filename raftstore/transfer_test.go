package raftstore_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"quorate/progress"
	"quorate/proto/peerpb"
	"quorate/raftstore"
	"quorate/raftstore/offline"
	"quorate/raftstore/smalldisk"
	"quorate/raftstore/testcluster"
)

// The snapshot of a transferCluster has about 3 MiB, and takes two seconds at its rate.
const (
	transferObjects = 750
	transferRate    = 1536 << 10
)

// transferCluster has a leader whose log begins after a snapshot, so that nodes that join need it.
type transferCluster struct {
	*testcluster.Cluster
	t      *testing.T
	leader *testcluster.Node
	load   *load
	size   float64 // of the snapshot

	mu         sync.Mutex
	registries map[string]*prometheus.Registry // of the nodes as they run now
}

func newTransferCluster(t *testing.T, configure func(*raftstore.Config)) *transferCluster {
	t.Helper()
	c := &transferCluster{t: t, registries: make(map[string]*prometheus.Registry)}
	c.Cluster = testcluster.New(t, 1, func(cfg *raftstore.Config) {
		registry := prometheus.NewRegistry()
		cfg.LogBytes, cfg.SnapshotRate, cfg.Registerer = 1<<20, transferRate, registry
		if configure != nil {
			configure(cfg)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.registries[cfg.Name] = registry
	})
	c.leader = c.Leader()
	c.load = newLoad(t, c.leader.Store, transferObjects)
	if _, _, err := c.leader.Store.Snapshot(); err != nil {
		t.Fatal(err)
	}
	c.size = c.metric(c.leader, "quorate_raftstore_snapshot_last_bytes")
	if c.size < 2<<20 {
		t.Fatalf("the snapshot has only %v bytes", c.size)
	}
	return c
}

func (c *transferCluster) metric(n *testcluster.Node, name string) float64 {
	c.t.Helper()
	c.mu.Lock()
	registry := c.registries[n.Name]
	c.mu.Unlock()
	return metric(c.t, registry, name, "")
}

// broken returns how many transfers broke.
func (c *transferCluster) broken() (sum float64) {
	c.mu.Lock()
	registry := c.registries[c.leader.Name]
	c.mu.Unlock()
	for _, reason := range []string{"connection", "stalled"} {
		sum += metric(c.t, registry, "quorate_raftstore_snapshot_sends_broken_total", reason)
	}
	return sum
}

// join makes a node a member, which gets a snapshot from then on.
func (c *transferCluster) join(name string) *testcluster.Node {
	c.t.Helper()
	joiner := c.Add(name)
	if err := c.leader.Store.Raft().AddNonvoter(raft.ServerID(name), raft.ServerAddress(joiner.Addr()), 0, 0).Error(); err != nil {
		c.t.Fatal(err)
	}
	return joiner
}

// receivedPart waits until so much of the snapshot has arrived at a node.
func (c *transferCluster) receivedPart(n *testcluster.Node, part float64) {
	c.t.Helper()
	testcluster.Eventually(c.t, "a part of the snapshot has arrived", func() bool {
		return c.metric(n, "quorate_raftstore_snapshot_received_bytes_total") >= part*c.size
	})
}

// caughtUp waits until a node has the state of the leader.
func (c *transferCluster) caughtUp(n *testcluster.Node) {
	c.t.Helper()
	root := view(c.t, c.leader.Store, raftstore.Quorum())
	testcluster.Eventually(c.t, n.Name+" has caught up", func() bool { return n.Store.Applied() >= root.Index() })
	if has := view(c.t, n.Store, raftstore.Cached()); has.Len() != root.Len() {
		c.t.Errorf("%s has %d objects, the leader %d", n.Name, has.Len(), root.Len())
	}
	testcluster.Eventually(c.t, "the part of the snapshot that had arrived is gone", func() bool {
		_, err := os.Stat(filepath.Join(n.Dir, "raft", "snapshots-partial"))
		return errors.Is(err, fs.ErrNotExist)
	})
}

// wantSentOnce checks that little more than the snapshot was sent in total: a break loses the
// chunks in flight, mostly none at this rate, and some on a busy machine. A transfer that began again
// after half of it would send half as much more.
func (c *transferCluster) wantSentOnce(n *testcluster.Node) {
	c.t.Helper()
	sent := c.metric(c.leader, "quorate_raftstore_snapshot_sent_bytes_total")
	passed := float64(c.Passed(c.leader, n))
	if sent < c.size || sent > 1.3*c.size || passed < c.size || passed > 1.3*c.size {
		c.t.Errorf("a snapshot of %.0f bytes took %.0f, and %.0f on the wire", c.size, sent, passed)
	}
}

// A transfer that breaks at several points goes on where it stopped.
func TestBrokenTransferIsResumed(t *testing.T) {
	c := newTransferCluster(t, nil)
	joiner := c.join("n1")
	for _, part := range []float64{0.2, 0.5, 0.9} {
		c.receivedPart(joiner, part)
		c.Cut(c.leader, joiner, true)
		c.Cut(c.leader, joiner, false)
	}
	c.caughtUp(joiner)
	c.wantSentOnce(joiner)
	if broken := c.broken(); broken < 3 {
		t.Errorf("%v transfers broke, so the test proves nothing", broken)
	}
	if resumed := c.metric(c.leader, "quorate_raftstore_snapshot_resumed_bytes_total"); resumed < 1.5*c.size {
		t.Errorf("%v bytes were not sent again", resumed)
	}
	if lost := c.metric(c.leader, "quorate_raftstore_snapshot_sends_given_up_total"); lost != 0 {
		t.Errorf("%v transfers were given up", lost)
	}
}

// A follower that ends in the middle keeps what has arrived, which is no damage to inspect, and
// receives the rest after it has started again.
func TestTransferIsResumedAfterARestartOfTheFollower(t *testing.T) {
	c := newTransferCluster(t, nil)
	joiner := c.join("n1")
	c.receivedPart(joiner, 0.5)
	joiner.Kill()
	report, err := offline.Inspect(joiner.Dir, 0, progress.New(io.Discard, "", 0, progress.Bytes()))
	if err != nil || len(report.Problems) > 0 || len(report.Snapshots) > 0 {
		t.Errorf("inspect finds %+v, %v", report, err)
	}
	joiner.Start()
	c.caughtUp(joiner)
	c.wantSentOnce(joiner)
	if again := c.metric(joiner, "quorate_raftstore_snapshot_received_bytes_total"); again > 0.55*c.size {
		t.Errorf("%v bytes of %v arrived after the restart", again, c.size)
	}
}

// A leader that restarts and leads again has the same snapshot, so its transfer goes on.
func TestTransferIsResumedAfterARestartOfTheLeader(t *testing.T) {
	c := newTransferCluster(t, nil)
	joiner := c.join("n1")
	c.receivedPart(joiner, 0.5)
	c.leader.Kill()
	c.leader.Start()
	c.leader = c.Leader()
	c.caughtUp(joiner)
	if again := c.metric(c.leader, "quorate_raftstore_snapshot_sent_bytes_total"); again > 0.55*c.size {
		t.Errorf("%v bytes of %v were sent after the restart", again, c.size)
	}
}

// What was damaged while the follower was down is not installed.
func TestDamagedPartOfASnapshotIsReceivedAnew(t *testing.T) {
	t.Parallel()
	c := newTransferCluster(t, nil)
	joiner := c.join("n1")
	c.receivedPart(joiner, 0.5)
	joiner.Kill()
	path := filepath.Join(joiner.Dir, "raft", "snapshots-partial", "state.bin")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 1
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	joiner.Start()
	c.caughtUp(joiner)
	if again := c.metric(joiner, "quorate_raftstore_snapshot_received_bytes_total"); again != c.size {
		t.Errorf("%v bytes of %v arrived after the restart", again, c.size)
	}
}

// withoutTransfers registers the service of a build that does not know transfers of snapshots.
type withoutTransfers struct{ grpc.ServiceRegistrar }

func (w withoutTransfers) RegisterService(service *grpc.ServiceDesc, impl any) {
	former := *service
	former.Streams = nil
	for _, stream := range service.Streams {
		if stream.StreamName != "SendSnapshot" {
			former.Streams = append(former.Streams, stream)
		}
	}
	w.ServiceRegistrar.RegisterService(&former, impl)
}

// A follower of an earlier build gets the snapshot with the library's request, at the same rate.
func TestFollowerOfAnEarlierBuildGetsTheSnapshot(t *testing.T) {
	c := newTransferCluster(t, func(cfg *raftstore.Config) {
		if cfg.Name == "n1" {
			cfg.Registrar = withoutTransfers{cfg.Registrar}
		}
	})
	start := time.Now()
	joiner := c.join("n1")
	c.caughtUp(joiner)
	c.wantSentOnce(joiner)
	if got := c.metric(joiner, "quorate_raftstore_snapshot_received_bytes_total"); got != 0 {
		t.Errorf("%v bytes came as a transfer", got)
	}
	if least := time.Duration(0.8 * c.size / transferRate * float64(time.Second)); time.Since(start) < least {
		t.Errorf("it took %s, less than %s", time.Since(start), least)
	}
}

// What has arrived of a snapshot is removed once the node has the state by other means.
func TestUnneededPartOfASnapshotIsRemoved(t *testing.T) {
	t.Parallel()
	var earlier atomic.Bool
	c := newTransferCluster(t, func(cfg *raftstore.Config) {
		if cfg.Name == "n1" && earlier.Load() {
			cfg.Registrar = withoutTransfers{cfg.Registrar}
		}
	})
	joiner := c.join("n1")
	c.receivedPart(joiner, 0.5)
	joiner.Kill()
	earlier.Store(true)
	joiner.Start()
	c.caughtUp(joiner)
	c.mu.Lock()
	defer c.mu.Unlock()
	if removed := metric(t, c.registries["n1"], "quorate_raftstore_snapshot_partial_discarded_total", "outdated"); removed != 1 {
		t.Errorf("%v parts removed", removed)
	}
}

// Two followers share the rate evenly, and hear from the leader meanwhile, while writes go on.
func TestTransfersShareTheRate(t *testing.T) {
	c := newTransferCluster(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer c.load.Wait()
	defer cancel()
	c.load.startWrites(ctx, t)

	joiners := []*testcluster.Node{c.join("n1"), c.join("n2")}
	for _, joiner := range joiners {
		c.receivedPart(joiner, 0.05)
	}
	start, before := time.Now(), c.metric(c.leader, "quorate_raftstore_snapshot_sent_bytes_total")
	c.receivedPart(joiners[0], 0.8)
	took, sent := time.Since(start), c.metric(c.leader, "quorate_raftstore_snapshot_sent_bytes_total")-before
	if rate := sent / took.Seconds(); rate > 1.2*transferRate { // a busy machine may be slower
		t.Errorf("%.0f bytes in a second, want at most %d", rate, transferRate)
	}
	other := c.metric(joiners[1], "quorate_raftstore_snapshot_received_bytes_total")
	if other < 0.6*c.size {
		t.Errorf("the other follower has only %.0f bytes of %.0f", other, c.size)
	}
	for _, joiner := range joiners { // the library's request with all bytes would block the main loop
		if since, ok := joiner.Store.SinceContact(); !ok || since > took/2 {
			t.Errorf("%s has not heard from the leader for %s", joiner.Name, since)
		}
	}
	if waited := c.metric(c.leader, "quorate_raftstore_snapshot_send_wait_seconds_total"); waited < took.Seconds() {
		t.Errorf("two transfers waited for %v s together", waited)
	}
	cancel()
	c.load.Wait()
	for _, joiner := range joiners {
		c.caughtUp(joiner)
	}
}

// A follower whose disk has no space for the snapshot refuses it, keeps nothing of it, and receives it
// when there is space.
func TestSnapshotWaitsForSpace(t *testing.T) {
	disk := smalldisk.New(t, 16<<20)
	c := newTransferCluster(t, func(cfg *raftstore.Config) {
		if cfg.Name == "n1" {
			cfg.DataDir = disk.Dir
		}
	})
	disk.Fill(3 << 20) // the snapshot takes more than that
	joiner := c.join("n1")
	refused := func() float64 {
		c.mu.Lock()
		defer c.mu.Unlock()
		return metric(t, c.registries["n1"], "quorate_raftstore_snapshot_receives_refused_total", "space")
	}
	testcluster.Eventually(t, "the snapshot is refused", func() bool { return refused() > 0 })
	if part := c.metric(joiner, "quorate_raftstore_snapshot_partial_bytes"); part > 0 {
		t.Errorf("%v bytes of it are kept", part)
	}
	disk.Clear()
	c.caughtUp(joiner)
}

// A member that does not lead can't send a snapshot, whatever it claims.
func TestOnlyTheLeaderSendsSnapshots(t *testing.T) {
	c := testcluster.New(t, 3, nil)
	c.Ready()
	leader := c.Leader()
	follower := c.Follower(leader)
	for _, n := range c.Nodes {
		if n == leader || n == follower {
			continue
		}
		conn, err := n.Peers().Connect(follower.Name, follower.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		stream, err := peerpb.NewStoreClient(conn).SendSnapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = stream.Send(&peerpb.SnapshotPart{Description: &peerpb.SnapshotDescription{
			ClusterId: leader.Store.ClusterID(), LeaderTerm: leader.Store.Term(), Index: 1 << 40, Term: leader.Store.Term(), Size: 1 << 20,
		}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Recv(); status.Code(err) != codes.FailedPrecondition || !strings.Contains(err.Error(), "follows "+leader.Name) {
			t.Errorf("got %v", err)
		}
	}
}
