package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"golang.org/x/term"

	"quorate/apiserver/admin"
	"quorate/cmd/quorate/operator"
)

const (
	// refreshInterval is how often the members are asked for, if the last question is answered.
	refreshInterval = 500 * time.Millisecond
	// memberTimeout bounds the wait for one node's list of members; nodes answer within two seconds,
	// also if others are down.
	memberTimeout = 4 * time.Second
)

// Config says how to run a demo.
type Config struct {
	Binary  string   // what the nodes run
	Environ []string // environment of the nodes; settings of Quorate in it are left out
	Keep    bool     // keep the directory at the end
	// In and Out are the terminal. If either is none, the demo takes no keys and prints lines.
	In  *os.File
	Out io.Writer
}

// demo is the state of the loop.
type demo struct {
	Config
	nodes   *nodes
	screen  *screen // nil without a terminal
	members []admin.Member
	verdict string
	leader  string // the last one known
	term    uint64
	events  []string // the latest, oldest first
}

// Run runs a demo until a key or the end of ctx ends it, and returns after every child process has
// ended and the directory is removed.
func Run(ctx context.Context, cfg Config) (err error) {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP) // the terminal is closed
	defer stop()
	dir, err := os.MkdirTemp("", "quorate-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave(dir, cfg)) }()
	d := &demo{Config: cfg}
	if d.nodes, err = newNodes(dir, cfg.Binary, cfg.Environ); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.nodes.close()) }()
	fmt.Fprintf(cfg.Out, "Three nodes in %s; for kubectl in another terminal:\n\n    export KUBECONFIG=%s\n\n", dir, d.nodes.kubeconfig())

	if out, ok := cfg.Out.(*os.File); ok && term.IsTerminal(int(out.Fd())) && term.IsTerminal(int(cfg.In.Fd())) {
		if d.screen, err = openScreen(cfg.In, out); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.screen.close()) }()
	}
	for _, one := range d.nodes.all {
		if err := d.start(one, "started"); err != nil {
			return err
		}
	}
	return d.loop(ctx)
}

// leave removes the directory of a demo that has ended, or says where it is.
func leave(dir string, cfg Config) error {
	if cfg.Keep {
		fmt.Fprintf(cfg.Out, "All nodes have ended; their data and logs are in %s.\n", dir)
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	fmt.Fprintf(cfg.Out, "All nodes have ended, and %s is removed.\n", dir)
	return nil
}

// loop handles keys, exits and answers until ctx ends, and returns after its goroutines.
func (d *demo) loop(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var pressed chan byte // nil without a terminal
	if d.screen != nil {
		pressed = make(chan byte)
		go d.screen.readKeys(ctx, pressed)
	}
	answers := make(chan []admin.Member)
	asking := false
	refresh := time.NewTicker(refreshInterval)
	defer func() {
		refresh.Stop()
		cancel()
		if asking {
			<-answers
		}
		if pressed != nil {
			for range pressed { // until its reader has closed it
			}
		}
	}()
	for {
		d.draw()
		select {
		case <-ctx.Done():
			return nil
		case key, open := <-pressed:
			if quit, err := d.press(key); quit || err != nil || !open {
				return err
			}
		case e := <-d.nodes.exits:
			if err := d.ended(e); err != nil {
				return err
			}
		case members := <-answers:
			asking = false
			d.observe(members)
		case <-refresh.C:
			if !asking {
				asking = true
				clients, err := d.clients()
				if err != nil {
					return err
				}
				go func() { answers <- ask(ctx, clients) }()
			}
		}
	}
}

// clients returns a client of each node that runs.
func (d *demo) clients() (clients []*operator.Client, err error) {
	for _, one := range d.nodes.all {
		if one.process == nil {
			continue
		}
		client, err := operator.New(d.nodes.configOf(one))
		if err != nil {
			return nil, err
		}
		clients = append(clients, client)
	}
	return clients, nil
}

// ask returns the members as the first node knows them that answers, nil if none does.
func ask(ctx context.Context, clients []*operator.Client) (members []admin.Member) {
	for _, client := range clients {
		if members == nil {
			one, cancel := context.WithTimeout(ctx, memberTimeout)
			if answer, err := client.Members(one); err == nil {
				members = answer
			}
			cancel()
		}
		client.Close()
	}
	return members
}

// observe takes over the members that a node reported, and announces a new leader and a new verdict.
func (d *demo) observe(members []admin.Member) {
	quorum := admin.QuorumOf(members)
	if quorum.Voters == 0 { // No node answers, or none has formed the cluster yet.
		d.members = nil
		return
	}
	d.members = members
	i := slices.IndexFunc(members, func(m admin.Member) bool { return m.Name == quorum.Leader })
	if i >= 0 && members[i].Term != nil && (quorum.Leader != d.leader || *members[i].Term != d.term) {
		d.leader, d.term = quorum.Leader, *members[i].Term
		d.event("%s is the leader of term %d", d.leader, d.term)
	}
	if verdict := quorum.String(); verdict != d.verdict {
		d.verdict = verdict
		d.event("%s", verdict)
	}
}

// ended announces that a node has ended, and why unless a key killed it.
func (d *demo) ended(e exit) error {
	if !e.node.killed {
		d.event("%s ended by itself (%v): %s", e.node.name, e.err, d.nodes.lastLine(e.node))
	}
	return d.nodes.ended(e)
}
