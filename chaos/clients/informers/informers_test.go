package informers_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"quorate/chaos/check"
	"quorate/chaos/clients/internal/cluster"
	"quorate/chaos/history"
	"quorate/chaos/nemesis"
	"quorate/chaos/nodes"
	"quorate/chaos/workload"
)

const (
	namespace = "crowd"
	objects   = 10_000
	writers   = 200
	kills     = 10
	// watcher is the number of a client that the load doesn't have.
	watcher = -1
	// rate is of all requests together. About one in three writes, and every informer decodes that.
	rate = 250
	// calm is how many writes are acknowledged between two kills.
	calm = 60
	// patience bounds each wait on a slow machine.
	patience = 4 * time.Minute
)

// TestInformers runs many informers on three nodes under constant writes, while ten leaders are
// killed and then every node is restarted in turn.
func TestInformers(t *testing.T) {
	c := cluster.Start(t, 3)
	began := time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	load := newLoad(ctx, t, c)

	// Half of the objects come while informers begin. There are no deletions yet, so each state is
	// there once.
	filled := load.fill(ctx)
	soon, done := context.WithTimeout(ctx, patience)
	defer done()
	if err := nodes.Await(soon, func() bool { return load.recorder.Acknowledged() >= objects/2 }); err != nil {
		t.Fatal(err)
	}
	all, leave := gather(t, c)
	all.awaitSync(soon, t)
	if err := filled(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d objects and %d informers in sync after %v", objects, len(all), time.Since(began).Round(time.Second))
	load.Begin(ctx)

	began = time.Now()
	n := c.Nemesis(t, calm, load.recorder.Acknowledged)
	for range kills {
		if err := n.InjectAndRecover(ctx, nemesis.KillLeader()); err != nil {
			t.Fatal(err)
		}
	}
	afterKills := all.relists()
	t.Logf("%d leaders killed in %v", kills, time.Since(began).Round(time.Second))
	began = time.Now()
	if err := c.RollingRestart(ctx); err != nil {
		t.Fatal(err)
	}
	t.Logf("every node restarted in turn in %v", time.Since(began).Round(time.Second))
	if err := n.AwaitWrites(ctx, "after the restarts"); err != nil {
		t.Fatal(err)
	}

	late, done := context.WithTimeout(ctx, patience)
	defer done()
	record := load.end(late, t)
	all.await(late, t, record.End)
	leave()
	t.Logf("%d lists anew while leaders were killed, %d while nodes were restarted in turn", afterKills, all.relists()-afterKills)
	judge(late, t, c, all, record, load.recorder.Now())
}

// load contains the chaos runner's clients, whose writes the informers receive.
type load struct {
	*workload.Load
	recorder *history.Recorder
}

func newLoad(ctx context.Context, t *testing.T, c *cluster.Cluster) *load {
	t.Helper()
	recorder := history.NewRecorder()
	prepared, err := workload.Prepare(ctx, workload.Config{
		Namespace: namespace, Targets: workload.NewTargets(c.Targets()...), Recorder: recorder, Seed: 1, Clients: writers, Keys: objects,
		Rate: rate, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(prepared.Close)
	return &load{prepared, recorder}
}

// fill begins to create all objects; the function it returns waits until they are there.
func (l *load) fill(ctx context.Context) (wait func() error) {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return l.Fill(ctx) })
	return group.Wait
}

// end stops all clients and writes one more object, whose version is the End of what it returns.
func (l *load) end(ctx context.Context, t *testing.T) history.Record {
	t.Helper()
	l.Stop()
	if err := l.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	if err := l.Finals(ctx); err != nil {
		t.Fatal(err)
	}
	return l.Record()
}

// judge compares every informer with the reference, the reference with the responses to clients,
// and every cache with the state.
func judge(ctx context.Context, t *testing.T, c *cluster.Cluster, all crowd, r history.Record, now time.Duration) {
	t.Helper()
	reference := fullWatch(ctx, t, c.Config(t, 0), r.End)
	told := slices.Clone(reference)
	for i := range told {
		told[i].Arrived = now // all of them after all requests
	}
	r.Watches = []history.Watch{{Client: watcher, After: r.Start, Events: told, Streams: 1, Reached: r.End}}
	verdict := check.All(ctx, &r, check.Options{})
	for _, f := range verdict.Findings {
		if f.Count > 0 {
			t.Errorf("%s, by the watch from the beginning: %d, such as %v", f.Promise, f.Count, f.Samples)
		}
	}
	if !verdict.OK() {
		t.Errorf("linearizable: %s; not judged: %d", verdict.Linearizable, verdict.Unjudged)
	}
	state := finalState(ctx, t, c)
	w := tabwriter.NewWriter(t.Output(), 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%d objects, %d events, %d informers\n", len(state), len(reference), len(all))
	fmt.Fprintln(w, "informers\tof\tchanges\tresyncs\twatches anew\tlists anew\tmissed\trepeated\tdisordered\tinvented\tcaches that differ")
	for _, f := range flavours() {
		fmt.Fprintln(w, judgeFlavour(t, f.name, all, reference, state))
	}
	if err := w.Flush(); err != nil {
		t.Error(err)
	}
}

// finalState is what a quorum says is there, by name.
func finalState(ctx context.Context, t *testing.T, c *cluster.Cluster) map[string]*corev1.ConfigMap {
	t.Helper()
	client, err := kubernetes.NewForConfig(c.Config(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	list, err := client.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	state := map[string]*corev1.ConfigMap{}
	for i := range list.Items {
		state[list.Items[i].Name] = &list.Items[i]
	}
	return state
}
