package informers_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"quorate/chaos/check"
	"quorate/chaos/clients/internal/cluster"
	"quorate/chaos/nemesis"
	"quorate/chaos/nodes"
	"quorate/chaos/workload"
)

const (
	namespace = "crowd"
	objects   = 10_000
	writers   = 5
	kills     = 10
	// pace is a writer's pause between two writes, each of which every informer decodes.
	pace = 60 * time.Millisecond
	// calm is how many writes are acknowledged between two kills.
	calm = 60
	// patience bounds each wait on a slow machine.
	patience = 4 * time.Minute
)

// TestInformers: a crowd of informers over three nodes, with writes that never cease, while ten leaders are killed and then
// every node is restarted in turn.
func TestInformers(t *testing.T) {
	c := cluster.Start(t, 3)
	began := time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := c.Targets()[0].Client.EnsureNamespace(ctx, namespace); err != nil {
		t.Fatal(err)
	}
	load := newLoad(c)

	// Half of the objects come while informers begin. There are no deletions yet, so each state is there once.
	filled := load.fill(ctx)
	soon, done := context.WithTimeout(ctx, patience)
	defer done()
	if err := nodes.Await(soon, func() bool { return load.acknowledged() >= objects/2 }); err != nil {
		t.Fatal(err)
	}
	all, leave := gather(t, c)
	all.awaitSync(soon, t)
	if err := filled(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d objects and %d informers in sync after %v", objects, len(all), time.Since(began).Round(time.Second))
	stop := load.run(ctx)

	began = time.Now()
	n := c.Nemesis(t, calm, load.acknowledged)
	for range kills {
		if err := n.Inflict(ctx, nemesis.KillLeader); err != nil {
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
	if err := n.AwaitWrites(ctx); err != nil {
		t.Fatal(err)
	}
	stop()

	end := load.last(ctx, t)
	late, done := context.WithTimeout(ctx, patience)
	defer done()
	all.await(late, t, end)
	leave()
	t.Logf("%d lists anew while leaders were killed, %d while nodes were restarted in turn", afterKills, all.relists()-afterKills)
	judge(late, t, c, all, load, end)
}

// load are the chaos runner's writers; each is alone on its keys.
type load struct {
	targets []workload.Target
	history workload.History
	writers []*workload.Writer
}

func newLoad(c *cluster.Cluster) *load {
	l := &load{targets: c.Targets()}
	for id := range writers {
		l.writers = append(l.writers, l.writer(id, objects/writers))
	}
	return l
}

func (l *load) writer(id, keys int) *workload.Writer {
	return &workload.Writer{
		ID: id, Namespace: namespace, Targets: l.targets, History: &l.history, Keys: keys, Rest: pace,
		Rand: rand.New(rand.NewPCG(1, uint64(id))),
	}
}

// fill begins to create all objects; the function it returns waits until they are there.
func (l *load) fill(ctx context.Context) (wait func() error) {
	group, ctx := errgroup.WithContext(ctx)
	for _, w := range l.writers {
		group.Go(func() error { return w.Fill(ctx) })
	}
	return group.Wait
}

// run writes until the function it returns is called, which waits for the outcome of every write.
func (l *load) run(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	for _, w := range l.writers {
		running.Go(func() { w.Run(ctx) })
	}
	return func() {
		cancel()
		running.Wait()
	}
}

func (l *load) acknowledged() (count int) {
	for _, op := range l.history.Ops() {
		if op.Kind <= workload.Delete && !op.Unknown {
			count++
		}
	}
	return count
}

// last writes one more object and returns its version.
func (l *load) last(ctx context.Context, t *testing.T) uint64 {
	t.Helper()
	version, err := l.writer(len(l.writers), 1).Once(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return version
}

// judge compares every informer with all that happened, that with what was acknowledged, and every cache with the state.
func judge(ctx context.Context, t *testing.T, c *cluster.Cluster, all crowd, load *load, end uint64) {
	t.Helper()
	reference := fullWatch(ctx, t, c.Config(t, 0), end)
	ops := load.history.Ops()
	for name, broken := range violations(check.Watch(ops, reference, 0, end)) {
		if broken.Count > 0 {
			t.Errorf("the watch from the beginning %s: %d, such as %v", name, broken.Count, broken.Samples)
		}
	}
	if refused := load.history.Refused(); len(refused) > 0 {
		t.Errorf("writes were refused: %v", refused)
	}
	state := finalState(ctx, t, c)
	w := tabwriter.NewWriter(t.Output(), 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%d objects, %d writes acknowledged, %d events, %d informers\n", len(state), load.acknowledged(), len(reference), len(all))
	fmt.Fprintln(w, "informers\tof\tchanges\tresyncs\twatches anew\tlists anew\tmissed\trepeated\tdisordered\tinvented\tcaches that differ")
	for _, f := range flavours() {
		fmt.Fprintln(w, judgeFlavour(t, f.name, all, reference, state))
	}
	if err := w.Flush(); err != nil {
		t.Error(err)
	}
}

func violations(w check.Watched) map[string]check.Violations {
	return map[string]check.Violations{
		"missed": w.Missed, "repeated": w.Repeated, "disordered": w.Disordered, "invented": w.Invented,
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
