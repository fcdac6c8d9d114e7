package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"time"

	"quorate/bench/solo"
)

// The users of a node. ann behaves; mallory may edit everything; eve may do nothing.
const (
	ann     = "ann"
	mallory = "mallory"
	eve     = "eve"

	configMaps = "/api/v1/namespaces/default/configmaps"
)

// calm is how long a node runs before its memory is measured, and how long the user who behaves is
// measured without an attack.
const calm = 2 * time.Second

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "bin/quorate", "the node's binary")
	flag.StringVar(&o.only, "only", "", "names of the attacks to run, separated by commas")
	flag.BoolVar(&o.list, "list", false, "print the names of the attacks")
	flag.StringVar(&o.role, "role", "", "used by the command itself: an attack to run")
	flag.StringVar(&o.target.server, "server", "", "used by the command itself")
	flag.StringVar(&o.target.peer, "peer", "", "used by the command itself")
	flag.StringVar(&o.target.gossip, "gossip", "", "used by the command itself")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, &o); err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	binary, only string
	list         bool
	role         string // of a child process
	target       target // the same
}

// target holds the addresses of a node.
type target struct{ server, peer, gossip string }

// attack is one of the attacks. run returns what the attacker got.
type attack struct {
	name, what string
	run        func(ctx context.Context, t target) (string, error)
}

func run(ctx context.Context, o *options) error {
	if !o.list && o.role == "" {
		fmt.Println("| attack | memory before | peak | the attacker got | codes of others | p50 | p99 | max |")
		fmt.Println("|---|---|---|---|---|---|---|---|")
	}
	chosen := strings.Split(o.only, ",")
	for _, a := range attacks() {
		switch {
		case o.list:
			fmt.Printf("%-10s %s\n", a.name, a.what)
		case o.role == a.name:
			got, err := a.run(ctx, o.target)
			fmt.Println(got)
			return err
		case o.role == "" && (o.only == "" || slices.Contains(chosen, a.name)):
			if err := a.against(ctx, o.binary); err != nil {
				return fmt.Errorf("%s: %w", a.name, err)
			}
		}
	}
	return nil
}

// launch runs the attack in a process of its own, so that the user who behaves does not wait for
// the attacker's goroutines.
func (a *attack) launch(ctx context.Context, n *solo.Node) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, self, "-role", a.name, "-server", n.Server, "-peer", n.PeerAddr, "-gossip", n.GossipAddr)
	cmd.Stderr = os.Stderr
	got, err := cmd.Output()
	return strings.TrimSpace(string(got)), err
}

// against runs the attack against a node of its own and prints a row of the table.
func (a *attack) against(ctx context.Context, binary string) error {
	n, err := solo.Start(ctx, solo.Config{Binary: binary, Users: []string{ann, mallory, eve}, Label: "attack"})
	if err != nil {
		return err
	}
	return errors.Join(a.measure(ctx, n), n.Stop())
}

func (a *attack) measure(ctx context.Context, n *solo.Node) error {
	if err := n.Bind(ctx, ann, mallory); err != nil {
		return err
	}
	for i := range 200 {
		if err := n.Create(ctx, configMaps, configMap(fmt.Sprint("object-", i))); err != nil {
			return err
		}
	}
	b := startBystander(ctx, n.Client(ann))
	time.Sleep(calm)
	b.pause()
	before, _, err := solo.Memory(n.PID())
	if err == nil {
		err = solo.ResetPeak(n.PID())
	}
	if err != nil {
		return err
	}
	b = startBystander(ctx, n.Client(ann))
	got, err := a.launch(ctx, n)
	others := b.pause()
	if err != nil {
		return err
	}
	_, peak, err := solo.Memory(n.PID())
	if err != nil {
		return err
	}
	fmt.Printf("| %s | %d MiB | %d MiB | %s | %s | %v | %v | %v |\n", a.what, before>>20, peak>>20, got,
		others.Codes(), others.Percentile(50), others.Percentile(99), others.Percentile(100))
	return nil
}

// configMap returns an object of about 1 KiB.
func configMap(name string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"data":{"value":%q}}`, name, strings.Repeat("x", 1024))
}

// bystander is a user who behaves.
type bystander struct {
	cancel context.CancelFunc
	done   chan solo.Summary
}

// startBystander creates and gets small objects until pause is called.
func startBystander(ctx context.Context, c *solo.Client) *bystander {
	ctx, cancel := context.WithCancel(ctx)
	b := &bystander{cancel: cancel, done: make(chan solo.Summary, 1)}
	go func() {
		var s solo.Summary
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ctx.Err() == nil; i++ {
			method, path, body := http.MethodGet, configMaps+"/object-1", ""
			if i%2 == 0 {
				method, path, body = http.MethodPost, configMaps, `{"metadata":{"generateName":"a-"}}`
			}
			begun := time.Now()
			code, err := c.Do(context.WithoutCancel(ctx), method, path, body)
			s.Add(time.Since(begun), code, err)
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
		c.Close()
		b.done <- s
	}()
	return b
}

// pause ends the requests and returns what became of them.
func (b *bystander) pause() solo.Summary {
	b.cancel()
	return <-b.done
}
