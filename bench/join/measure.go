package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"quorate/bench/measure"
	"quorate/bench/servers"
	"quorate/bench/solo"
)

const (
	// pollInterval is the time between two looks at the members.
	pollInterval = 100 * time.Millisecond
	// warmUp is how long the writers write before the first phase.
	warmUp = 5 * time.Second
)

const (
	phaseBefore = "before"
	phaseDuring = "during"
)

// experiment is the state of a measurement.
type experiment struct {
	*options
	nodes   *servers.Quorate
	writers *measure.Writers
	proxy   *proxy
	leader  int // number of the leading node
	pid     int // of its process

	size            float64          // of the leader's snapshot when the node began to join
	used            map[string]usage // of the leader, by phase
	nonvoter, ready time.Duration    // when the node was seen as a non-voter, and as a voter
	memory, peak    int64            // of the leader: before, and the most during
	counters        map[string]float64
}

// usage is the processor time that a process used in a time.
type usage struct{ processor, all time.Duration }

// compare lets a node join while clients write, and prints what happened.
func compare(ctx context.Context, nodes *servers.Quorate, o *options) error {
	e := &experiment{options: o, nodes: nodes, used: make(map[string]usage)}
	var err error
	if e.leader, err = nodes.Leader(ctx); err != nil {
		return err
	}
	e.pid = nodes.Processes[e.leader].PID()
	if e.proxy, err = newProxy(proxyHost, joinerHost); err != nil {
		return err
	}
	defer e.proxy.close()
	if e.writers, err = measure.StartWriters(ctx, &nodes.Cluster, o.writes); err != nil {
		return err
	}
	defer e.writers.Stop()
	if err := measure.Sleep(ctx, warmUp); err != nil {
		return err
	}
	if err := e.phase(phaseBefore, func() error { return measure.Sleep(ctx, o.before) }); err != nil {
		return err
	}
	before, err := nodes.Metrics(ctx, e.leader)
	if err != nil {
		return err
	}
	e.size = before["quorate_raftstore_snapshot_last_bytes"]
	if err := e.phase(phaseDuring, func() error { return e.join(ctx) }); err != nil {
		return err
	}
	if e.counters, err = nodes.Metrics(ctx, e.leader); err != nil {
		return err
	}
	for name := range e.counters {
		e.counters[name] -= before[name]
	}
	return e.print()
}

// phase runs a phase of the measurement.
func (e *experiment) phase(name string, run func() error) error {
	before, err := solo.ProcessorTime(e.pid)
	if err != nil {
		return err
	}
	start := time.Now()
	e.writers.Begin(name)
	err = run()
	e.writers.Begin("")
	if err != nil {
		return err
	}
	after, err := solo.ProcessorTime(e.pid)
	e.used[name] = usage{after - before, time.Since(start)}
	return err
}

// join starts the node and waits until it is a voter.
func (e *experiment) join(ctx context.Context) error {
	if err := solo.ResetPeak(e.pid); err != nil {
		return err
	}
	var err error
	if e.memory, _, err = solo.Memory(e.pid); err != nil {
		return err
	}
	if e.breakOnce {
		e.proxy.breakAt.Store(int64(e.size / 2))
	}
	start := time.Now()
	joiner, err := e.nodes.Join(e.proxy.target, proxyHost)
	if err != nil {
		return err
	}
	for e.ready == 0 {
		if err := measure.Sleep(ctx, pollInterval); err != nil {
			return err
		}
		took := time.Since(start)
		if took > e.timeout {
			return fmt.Errorf("%s is no voter after %s:\n%s", joiner.Name, e.timeout, joiner.LastLines(10))
		}
		if err := e.look(ctx, joiner.Name, took); err != nil {
			return err
		}
	}
	_, e.peak, err = solo.Memory(e.pid)
	return err
}

// look records the role of the node that joins.
func (e *experiment) look(ctx context.Context, name string, took time.Duration) error {
	all, err := e.nodes.Roles(ctx, e.leader)
	if err != nil {
		return err
	}
	switch all[name] {
	case "nonvoter":
		if e.nonvoter == 0 {
			e.nonvoter = took
		}
	case "voter":
		e.ready = took
	case "leader":
		return errors.New("the node that joins leads")
	}
	return nil
}

func (e *experiment) print() error {
	mib := func(bytes float64) string { return fmt.Sprintf("%.1f MiB", bytes/(1<<20)) }
	fmt.Printf("\n%d objects, %d writes/s, %d nodes, and one that joins\n\n", e.objects, e.writes, e.count)
	fmt.Printf("non-voter after       %.1f s\n", e.nonvoter.Seconds())
	fmt.Printf("voter after           %.1f s\n", e.ready.Seconds())
	fmt.Printf("snapshot              %s\n", mib(e.size))
	fmt.Printf("sent of snapshots     %s, %s not sent again, %.0f transfers broke\n",
		mib(e.counters["quorate_raftstore_snapshot_sent_bytes_total"]),
		mib(e.counters["quorate_raftstore_snapshot_resumed_bytes_total"]),
		e.counters["quorate_raftstore_snapshot_sends_broken_total"])
	fmt.Printf("waited for the rate   %.1f s\n", e.counters["quorate_raftstore_snapshot_send_wait_seconds_total"])
	fmt.Printf("on the wire           %s\n", mib(float64(e.proxy.passed.Load())))
	fmt.Printf("leader's memory       %s before, %s at most during\n", mib(float64(e.memory)), mib(float64(e.peak)))
	fmt.Printf("leader's processor    %.1f s in %.1f s before, %.1f s in %.1f s during\n\n",
		e.used[phaseBefore].processor.Seconds(), e.used[phaseBefore].all.Seconds(),
		e.used[phaseDuring].processor.Seconds(), e.used[phaseDuring].all.Seconds())
	fmt.Printf("%-10s %8s %10s %10s %10s  %s\n", "writers", "writes", "p50", "p99", "max", "codes")
	for _, phase := range []string{phaseBefore, phaseDuring} {
		s := e.writers.Phase(phase)
		if s.Len() == 0 {
			return fmt.Errorf("no write ended in the phase %q", phase)
		}
		fmt.Printf("%-10s %8d %10s %10s %10s  %s\n", phase, s.Len(), s.Percentile(50), s.Percentile(99), s.Percentile(100), s.Codes())
	}
	before, during := e.writers.Phase(phaseBefore).Percentile(99), e.writers.Phase(phaseDuring).Percentile(99)
	fmt.Printf("\np99 during / before: %.2f\n", float64(during)/float64(before))
	if e.breakOnce && !e.proxy.broken.Load() {
		return errors.New("the snapshot had arrived before the connection could be broken: raise -objects, or lower -snapshot-rate")
	}
	return nil
}
