package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"quorate/bench/solo"
)

// options are the flags.
type options struct {
	binary   string
	serve    string // further flags of the node
	conns    int
	objects  int
	duration time.Duration
	// nice is what bob's process yields to the others.
	nice int
	// reconnect makes bob use a new connection for each request.
	reconnect bool
	role      string // of a child process
	server    string
	token     string
}

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "bin/quorate", "the node's binary")
	flag.StringVar(&o.serve, "serve", "", "further flags of serve, separated by spaces")
	flag.IntVar(&o.conns, "conns", 2000, "connections of bob")
	flag.IntVar(&o.objects, "objects", 2000, "objects of 1 KiB in the collection")
	flag.DurationVar(&o.duration, "duration", 15*time.Second, "length of each phase")
	flag.IntVar(&o.nice, "nice", 0, "nice value of bob's process: with 19, alice's latency is what the node makes it, not bob's own work")
	flag.BoolVar(&o.reconnect, "reconnect", false, "bob uses a new connection for each request")
	flag.StringVar(&o.role, "role", "", "used by the command itself")
	flag.StringVar(&o.server, "server", "", "used by the command itself")
	flag.Parse()
	o.token = os.Getenv(tokenVariable)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	run := experiment
	if o.role == bobRole {
		run = bob
	}
	if err := run(ctx, &o); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "fairshare:", err)
		os.Exit(1)
	}
}

// experiment runs the node and the two phases.
func experiment(ctx context.Context, o *options) error {
	n, err := solo.Start(ctx, solo.Config{
		Binary: o.binary, Flags: append(strings.Fields(o.serve), "--request-log", "none"),
		Users: []string{"alice", "bob"}, Label: "fairshare",
	})
	if err != nil {
		return err
	}
	return errors.Join(phases(ctx, o, n), n.Stop())
}

func phases(ctx context.Context, o *options, n *solo.Node) error {
	if err := prepare(ctx, n, o.objects); err != nil {
		return err
	}
	alice := n.Client("alice")
	fmt.Printf("%-18s %8s %9s %9s %9s  %s\n", "alice", "gets", "p50", "p99", "max", "codes")
	if err := measure(ctx, alice, "alone", o.duration); err != nil {
		return err
	}
	bobPID, stopBob, err := startBob(ctx, o, n.Server)
	if err != nil {
		return err
	}
	select {
	case <-time.After(o.duration / 3): // for bob to connect
	case <-ctx.Done():
	}
	cpu := startAccount(n.PID(), bobPID)
	err = measure(ctx, alice, "with bob", o.duration)
	return errors.Join(err, cpu.print(), stopBob())
}

// measure gets an object again and again, and prints a line.
func measure(ctx context.Context, c *solo.Client, phase string, d time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	var got solo.Summary
	for ctx.Err() == nil {
		begun := time.Now()
		code, err := c.Do(ctx, http.MethodGet, objectPath(0), "")
		if ctx.Err() != nil {
			break
		}
		got.Add(time.Since(begun), code, err)
	}
	if got.Len() == 0 {
		return fmt.Errorf("no get was answered in %v", d)
	}
	fmt.Printf("%-18s %8d %9v %9v %9v  %s\n",
		phase, got.Len(), got.Percentile(50), got.Percentile(99), got.Percentile(100), got.Codes())
	return nil
}

// prepare lets alice and bob do everything with objects, and creates some.
func prepare(ctx context.Context, n *solo.Node, objects int) error {
	if err := n.Bind(ctx, "alice", "bob"); err != nil {
		return err
	}
	for i := range objects {
		if err := n.Create(ctx, collection, configMap(fmt.Sprintf("object-%d", i))); err != nil {
			return err
		}
	}
	return nil
}

// configMap returns an object of about 1 KiB.
func configMap(name string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"data":{"value":%q}}`, name, strings.Repeat("x", 1024))
}
