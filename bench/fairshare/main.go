package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
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
	n, err := startNode(ctx, o)
	if err != nil {
		return err
	}
	defer n.stop()
	if err := n.prepare(ctx, o.objects); err != nil {
		return err
	}
	alice := newClient(n.server, "alice-token")
	fmt.Printf("%-18s %8s %9s %9s %9s  %s\n", "alice", "gets", "p50", "p99", "max", "codes")
	if err := alice.measure(ctx, "alone", o.duration); err != nil {
		return err
	}
	bobPID, stopBob, err := startBob(ctx, o, n.server)
	if err != nil {
		return err
	}
	select {
	case <-time.After(o.duration / 3): // for bob to connect
	case <-ctx.Done():
	}
	cpu := startAccount(n.cmd.Process.Pid, bobPID)
	err = alice.measure(ctx, "with bob", o.duration)
	return errors.Join(err, cpu.print(), stopBob())
}

// client sends requests of one user.
type client struct {
	http   *http.Client
	server string
	token  string
}

// measure gets an object again and again, and prints a line.
func (c *client) measure(ctx context.Context, phase string, d time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	var took []time.Duration
	codes := map[string]int{}
	for ctx.Err() == nil {
		begun := time.Now()
		code, err := c.do(ctx, http.MethodGet, objectPath(0), "")
		if ctx.Err() != nil {
			break
		}
		took = append(took, time.Since(begun))
		if err != nil {
			code = -1
		}
		codes[fmt.Sprint(code)]++
	}
	if len(took) == 0 {
		return fmt.Errorf("no get was answered in %v", d)
	}
	slices.Sort(took)
	at := func(percent int) time.Duration { return took[len(took)*percent/100].Round(10 * time.Microsecond) }
	fmt.Printf("%-18s %8d %9v %9v %9v  %s\n", phase, len(took), at(50), at(99), took[len(took)-1].Round(10*time.Microsecond), listed(codes))
	return nil
}

// listed returns counts as text, in the order of their names.
func listed(counts map[string]int) string {
	var parts []string
	for name, n := range counts {
		parts = append(parts, fmt.Sprintf("%s: %d", name, n))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
