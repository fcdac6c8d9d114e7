package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"quorate/bench/measure"
	"quorate/bench/servers"
	"quorate/bench/solo"
)

const (
	followed = "/api/v1/namespaces/default/configmaps"
	// writeEvery is the time between two writes of the object that is followed.
	writeEvery = 250 * time.Millisecond
	// failoverTimeout bounds the time until all watchers are live again.
	failoverTimeout = time.Minute
	// writesBefore is the number of writes before the leader dies.
	writesBefore = 8
)

// failover is the state of the experiment.
type failover struct {
	nodes   *servers.Quorate
	clients [][]*solo.Client // of each node
	dead    int              // the node that dies

	mu       sync.Mutex
	killed   time.Time // zero before
	after    int       // the number of the first write that began afterwards
	live     []time.Duration
	moved    int // watchers that resumed on another node
	relisted int // those that could not resume at their version
	perNode  []int
	failure  error
}

// failOver measures watchers of three nodes whose leader dies.
func (o *options) failOver(ctx context.Context, dir string) (err error) {
	q, err := o.start(ctx, dir, "cluster", 3)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Stop()) }()
	f := &failover{nodes: q, perNode: make([]int, 3)}
	if f.dead, err = q.Leader(ctx); err != nil {
		return err
	}
	defer f.close()
	if err := f.dial(o.failoverWatches); err != nil {
		return err
	}
	if err := f.run(ctx, o.failoverWatches); err != nil {
		return err
	}
	return f.print(o.failoverWatches)
}

// dial makes clients for all watchers on any node.
func (f *failover) dial(watchers int) error {
	f.clients = make([][]*solo.Client, len(f.nodes.Processes))
	for node := range f.clients {
		for range (watchers/2 + streamsPerConnection) / streamsPerConnection {
			c, err := f.nodes.Client(node)
			if err != nil {
				return err
			}
			f.clients[node] = append(f.clients[node], c)
		}
	}
	return nil
}

func (f *failover) close() {
	for _, of := range f.clients {
		for _, c := range of {
			c.Close()
		}
	}
}

// run follows the object with all watchers, kills the leader, and returns when all are live again.
func (f *failover) run(ctx context.Context, watchers int) error {
	ctx, cancel := context.WithTimeout(ctx, failoverTimeout+5*time.Minute)
	defer cancel()
	survivor := f.clients[(f.dead+1)%len(f.clients)][0]
	if err := create(ctx, survivor, followed, `{"metadata":{"name":"followed"},"data":{"number":"0"}}`); err != nil {
		return err
	}
	resp, err := survivor.Open(ctx, followed+"?resourceVersion=0")
	if err != nil {
		return err
	}
	head := make([]byte, readBytes)
	n, _ := resp.Body.Read(head) // less than a list: versionOf says whether it is enough
	resp.Body.Close()
	version, ok := versionOf(head[:n])
	if !ok {
		return fmt.Errorf("a list begins with %s", head[:n])
	}
	var opened, all sync.WaitGroup
	opened.Add(watchers)
	for i := range watchers {
		w := &watcher{failover: f, number: i, node: i % len(f.clients), version: version, ready: opened.Done}
		all.Go(func() { w.follow(ctx) })
		if i%openers == openers-1 {
			time.Sleep(time.Millisecond) // do not open all connections at once
		}
	}
	opened.Wait()
	err = f.writes(ctx, survivor, watchers)
	cancel()
	all.Wait()
	return errors.Join(err, f.failure)
}

// writes writes the object, kills the leader after some writes, and goes on until all watchers are
// live.
func (f *failover) writes(ctx context.Context, client *solo.Client, watchers int) error {
	for number := 1; ; number++ {
		if number == writesBefore {
			if err := f.kill(number); err != nil {
				return err
			}
		}
		for { // a write that fails, or whose outcome is unknown, is repeated with the same number
			code, err := client.Do(ctx, http.MethodPatch, followed+"/followed", fmt.Sprintf(`{"data":{"number":"%d"}}`, number),
				"Content-Type", "application/merge-patch+json")
			if err == nil && code == http.StatusOK {
				break
			}
			if err := measure.Sleep(ctx, writeEvery/10); err != nil {
				return err
			}
		}
		if err := measure.Sleep(ctx, writeEvery); err != nil {
			return err
		}
		f.mu.Lock()
		live, failure, killed := len(f.live), f.failure, f.killed
		f.mu.Unlock()
		switch {
		case failure != nil || live == watchers:
			return nil // run returns the failure
		case !killed.IsZero() && time.Since(killed) > failoverTimeout:
			return fmt.Errorf("%d of %d watchers are live after %s", live, watchers, failoverTimeout)
		}
	}
}

func (f *failover) kill(number int) error {
	f.mu.Lock()
	f.killed, f.after = time.Now(), number
	f.mu.Unlock()
	return f.nodes.Processes[f.dead].Kill()
}

// print prints what happened.
func (f *failover) print(watchers int) error {
	slices.Sort(f.live)
	t := measure.NewTable(fmt.Sprintf("%d watchers on three nodes, of which the leader dies", watchers),
		fmt.Sprintf("go run ./bench/watchers -failover -failover-watches %d", watchers), "what", "value")
	t.Add("half are live again after, s", measure.Percentile(f.live, 50).Seconds())
	t.Add("99 % are live again after, s", measure.Percentile(f.live, 99).Seconds())
	t.Add("all are live again after, s", f.live[len(f.live)-1].Seconds())
	t.Add("resumed on another node", f.moved)
	t.Add("listed anew", f.relisted)
	for i, n := range f.perNode {
		t.Add("on "+f.nodes.Processes[i].Name+" afterwards", n)
	}
	return t.Print(os.Stdout)
}
