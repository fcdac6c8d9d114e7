package chaos

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"quorate/chaos/check"
	"quorate/chaos/client"
	"quorate/chaos/nemesis"
	"quorate/chaos/nodes"
	"quorate/chaos/workload"
)

// Config says what a run does.
type Config struct {
	Fleet       nodes.Fleet
	Credentials client.Credentials
	Seed        uint64
	// Rounds is how often each fault strikes; Faults which ones, in random order.
	Rounds int
	Faults []nemesis.Fault
	// Calm is how many writes are acknowledged between two faults.
	Calm                       int
	Writers, Readers, Watchers int
	// Keys is how many names each writer cycles through.
	Keys int
	Log  *slog.Logger
}

// settleTimeout bounds the wait for the last events after the writers have stopped.
const settleTimeout = time.Minute

// run is one run under way.
type run struct {
	Config
	namespace string
	targets   []workload.Target
	clients   map[string]*client.Client
	history   workload.History
	watchers  []*workload.Watcher
	start     uint64 // version from which the watchers watch
	kills     map[nemesis.Fault]int
}

// Run hurts the cluster, which must be ready, and returns the verdict. An error means that the run could not be made; what
// the cluster did wrong is in the report.
func Run(ctx context.Context, c Config) (*Report, error) {
	r := &run{Config: c, clients: map[string]*client.Client{}, kills: map[nemesis.Fault]int{}}
	r.namespace = fmt.Sprintf("chaos-%d", time.Now().UnixNano())
	for _, node := range c.Fleet.Nodes() {
		one, err := client.New(node.API, c.Credentials)
		if err != nil {
			return nil, err
		}
		defer one.Close()
		r.clients[node.Name] = one
		r.targets = append(r.targets, workload.Target{Name: node.Name, Client: one})
	}
	began := time.Now()
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	end, err := r.underLoad(ctx)
	if err != nil {
		return nil, err
	}
	finals, err := r.finals(ctx, end)
	if err != nil {
		return nil, err
	}
	return r.report(finals, end, time.Since(began)), nil
}

// prepare makes the run's namespace and notes where its history begins.
func (r *run) prepare(ctx context.Context) error {
	first := r.targets[0]
	if _, err := first.Client.EnsureNamespace(ctx, r.namespace); err != nil {
		return fmt.Errorf("create namespace %s: %w", r.namespace, err)
	}
	_, version, outcome, err := first.Client.List(ctx, r.namespace, "")
	if outcome != client.OK {
		return fmt.Errorf("list namespace %s: %w", r.namespace, err)
	}
	r.start = version
	return nil
}

// underLoad runs clients and faults, and returns the version of the last write of the run once every watcher has seen it.
func (r *run) underLoad(ctx context.Context) (end uint64, err error) {
	watching, stopWatching := context.WithCancel(ctx)
	writing, stopWriting := context.WithCancel(ctx)
	var watchers, writers sync.WaitGroup
	defer func() {
		stopWriting()
		writers.Wait()
		stopWatching()
		watchers.Wait()
	}()
	r.watch(watching, &watchers)
	r.write(writing, &writers)
	if err := r.hurt(ctx); err != nil {
		return 0, err
	}
	stopWriting()
	writers.Wait()
	return r.settle(ctx)
}

func (r *run) rand(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(r.Seed, stream)) }

func (r *run) watch(ctx context.Context, group *sync.WaitGroup) {
	for i := range r.Watchers {
		w := &workload.Watcher{Namespace: r.namespace, Targets: r.targets, After: r.start, Rand: r.rand(uint64(1000 + i))}
		r.watchers = append(r.watchers, w)
		group.Go(func() { w.Run(ctx) })
	}
}

func (r *run) write(ctx context.Context, group *sync.WaitGroup) {
	for i := range r.Writers {
		w := &workload.Writer{
			ID: i, Namespace: r.namespace, Targets: r.targets, History: &r.history, Keys: r.Keys, Rand: r.rand(uint64(2000 + i)),
		}
		group.Go(func() { w.Run(ctx) })
	}
	for i := range r.Readers {
		reader := &workload.Reader{
			Namespace: r.namespace, Targets: r.targets, History: &r.history,
			Writers: r.Writers, Keys: r.Keys, Rand: r.rand(uint64(3000 + i)),
		}
		group.Go(func() { reader.Run(ctx) })
	}
}

// hurt inflicts the faults in an order that the seed decides.
func (r *run) hurt(ctx context.Context) error {
	n := &nemesis.Nemesis{
		Fleet: r.Fleet, Clients: r.clients, Rand: r.rand(1), Log: r.Log, Writing: r.acknowledged, Calm: r.Calm,
	}
	if err := n.AwaitWrites(ctx); err != nil {
		return fmt.Errorf("no writes before the first fault: %w", err)
	}
	var order []nemesis.Fault
	for range r.Rounds {
		order = append(order, r.Faults...)
	}
	n.Rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	for _, fault := range order {
		if err := n.Inflict(ctx, fault); err != nil {
			return err
		}
		r.kills[fault]++
	}
	return nil
}

func (r *run) acknowledged() int { return acknowledged(r.history.Ops()) }

func acknowledged(ops []workload.Op) (count int) {
	for _, op := range ops {
		if op.Kind <= workload.Delete && !op.Unknown {
			count++
		}
	}
	return count
}

// settle writes a last object and waits until every watcher has got as far.
func (r *run) settle(ctx context.Context) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	last := &workload.Writer{
		ID: r.Writers, Namespace: r.namespace, Targets: r.targets[:1], History: &r.history, Keys: 1, Rand: r.rand(4000),
	}
	end, err := last.Once(ctx)
	if err != nil {
		return 0, err
	}
	for i, w := range r.watchers {
		if err := w.Await(ctx, end); err != nil {
			r.Log.Warn("watcher did not arrive", "watcher", i, "position", w.Position(), "end", end)
		}
	}
	return end, nil
}

// finals reads the state of every node, each fresh at least to the last write.
func (r *run) finals(ctx context.Context, end uint64) (finals []check.Final, err error) {
	for _, target := range r.targets {
		objects, _, outcome, err := target.Client.List(ctx, r.namespace, fmt.Sprintf("resourceVersion=%d", end))
		if outcome != client.OK {
			return nil, fmt.Errorf("read the final state of %s: %w", target.Name, err)
		}
		final := check.Final{Node: target.Name, Objects: map[string]check.Stored{}}
		for _, o := range objects {
			final.Objects[o.Name] = check.Stored{Version: o.Version, Value: o.Data["value"]}
		}
		finals = append(finals, final)
	}
	return finals, nil
}
