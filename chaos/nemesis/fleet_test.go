package nemesis_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"quorate/chaos/nodes"
)

// fleet is a simulated cluster without processes. It elects leaders, counts writes and adds members
// immediately, as far as the rules of Raft allow, and records all calls. It has all capabilities
// except disks.
type fleet struct {
	t *testing.T

	mu     sync.Mutex
	nodes  []nodes.Node
	states map[string]*state
	rules  map[nodes.Link]nodes.Rule
	leader string
	writes int
	made   int
	calls  []string
	ended  []nodes.Ending          // nodes that ended by themselves
	fail   func(call string) error // error of a call; nil function: no call fails
}

type state struct {
	running, paused, member, voter, empty bool
	former                                bool // the member is a former process of the node, which was wiped
	refused                               bool // the leader will add it, and another node will refuse it
	late                                  bool // a leader will add it, even after its end, unless it is barred
	barred                                bool // the member that its directory belongs to was removed
	clock                                 time.Duration
	armed                                 string
}

func newFleet(t *testing.T, count int) *fleet {
	f := &fleet{t: t, states: map[string]*state{}}
	for range count {
		f.add(true)
	}
	return f
}

func (f *fleet) add(voter bool) nodes.Node {
	f.made++
	name := "n" + strconv.Itoa(f.made)
	node := nodes.Node{Name: name, API: "https://" + name}
	f.nodes = append(f.nodes, node)
	f.states[name] = &state{running: true, member: true, voter: voter}
	return node
}

// call records a call and returns the state of its node.
func (f *fleet) call(name, what string, args ...any) (*state, error) {
	call := strings.TrimSpace(fmt.Sprintln(append([]any{what, name}, args...)...))
	f.calls = append(f.calls, call)
	if f.fail != nil {
		if err := f.fail(call); err != nil {
			return nil, err
		}
	}
	if s := f.states[name]; s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("%s: there is no node %s", what, name)
}

func (f *fleet) Nodes() []nodes.Node {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.nodes)
}

// change changes a node's state, which must meet a condition.
func (f *fleet) change(name, what string, fits func(*state) bool, do func(*state)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := f.call(name, what)
	if err != nil {
		return err
	}
	if !fits(s) {
		f.t.Errorf("%s of node %s, which is %+v", what, name, *s)
		return errors.New("it isn't in the state for it")
	}
	do(s)
	return nil
}

func runs(s *state) bool  { return s.running }
func ended(s *state) bool { return !s.running }

// exit makes a node end by itself, whatever else the goroutines of injections do meanwhile.
func (f *fleet) exit(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.states[name].running = false
}

func (f *fleet) Kill(_ context.Context, name string) error {
	return f.change(name, "kill", runs, func(s *state) { s.running = false })
}

func (f *fleet) Stop(_ context.Context, name string) error {
	return f.change(name, "stop", runs, func(s *state) { s.running = false })
}

func (f *fleet) Start(_ context.Context, name string) error {
	return f.change(name, "start", ended, func(s *state) {
		s.running = !strings.HasPrefix(s.armed, "start")
		if s.former || s.barred { // its name is not free, or its id was removed
			s.running = false
			return
		}
		if s.refused {
			s.refused, s.running, s.empty, s.member = false, false, false, true
			return
		}
		if s.empty { // it joins as a new member
			s.empty, s.member, s.voter = false, true, true
		}
	})
}

func (f *fleet) Pause(_ context.Context, name string) error {
	return f.change(name, "pause", runs, func(s *state) { s.paused = true })
}

func (f *fleet) Resume(_ context.Context, name string) error {
	return f.change(name, "resume", runs, func(s *state) { s.paused = false })
}

func (f *fleet) Running(_ context.Context, name string) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.states[name] != nil && f.states[name].running, nil
}

func (f *fleet) Endings() (taken []nodes.Ending) {
	f.mu.Lock()
	defer f.mu.Unlock()
	taken, f.ended = f.ended, nil
	return taken
}

func (f *fleet) SetClock(_ context.Context, name string, offset time.Duration) error {
	return f.change(name, "clock", func(*state) bool { return true }, func(s *state) { s.clock = offset })
}

// Wipe checks that the node was removed from the cluster. Otherwise its empty log could make it
// vote twice in a term.
func (f *fleet) Wipe(_ context.Context, name string) error {
	return f.change(name, "wipe", func(s *state) bool { return !s.running && !s.member }, func(s *state) { s.empty, s.barred = true, false })
}

// Arm implements nodes.Failpoints. A node reaches a point at once, a point of its start when it
// starts, and a few points never.
func (f *fleet) Arm(_ context.Context, name, point, terms string) error {
	return f.change(name, "arm "+point, func(*state) bool { return true }, func(s *state) {
		s.armed = ""
		if terms == "" {
			return
		}
		s.armed = point
		if !strings.HasPrefix(point, "start") && !strings.HasPrefix(point, "restore") {
			s.running = false
		}
	})
}

// logOf returns a file of a log with entries of 1000 bytes, as far as damage to it needs them.
func logOf(entries int) []byte {
	const block, header = 512, 48
	b := make([]byte, block)
	for i := range entries {
		start := len(b)
		b = append(b, make([]byte, header+1000+8)...)
		binary.LittleEndian.PutUint32(b[start+4:], 1000)
		binary.LittleEndian.PutUint64(b[start+8:], uint64(i+1))
		binary.LittleEndian.PutUint32(b[start+32:], uint32(i+1))
		b[start+header-1] = 0xa5
	}
	return b
}

// DataDir returns a directory with a log of a few entries and a snapshot.
func (f *fleet) DataDir(name string) string {
	dir := filepath.Join(f.t.TempDir(), name)
	snapshot := filepath.Join(dir, "raft", "snapshots", "1")
	err := os.MkdirAll(snapshot, 0o700)
	for _, file := range []string{"state.bin", "meta.json"} {
		err = errors.Join(err, os.WriteFile(filepath.Join(snapshot, file), []byte("whatever"), 0o600))
	}
	err = errors.Join(err, os.Mkdir(filepath.Join(dir, "raft", "log"), 0o700), os.WriteFile(filepath.Join(dir, "raft", "log", "1.segment"), logOf(100), 0o600))
	if err != nil {
		f.t.Fatal(err)
	}
	return dir
}

func (f *fleet) Precise() bool { return true }

func (f *fleet) Shape(_ context.Context, rules map[nodes.Link]nodes.Rule) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, fmt.Sprintf("shape %d links", len(rules)))
	for link := range rules {
		for _, place := range []string{link.From, link.To} {
			if place != nodes.Clients && f.states[place] == nil {
				f.t.Errorf("a rule for a link of %s, which is not there", place)
			}
		}
	}
	f.rules = maps.Clone(rules)
	return nil
}

func (f *fleet) Add(_ context.Context, voter bool) (nodes.Node, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	node := f.add(voter)
	_, err := f.call(node.Name, "add", voter)
	return node, err
}

func (f *fleet) Forget(_ context.Context, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := f.call(name, "forget")
	if err != nil {
		return err
	}
	if s.member || s.late && !s.barred {
		f.t.Errorf("node %s is forgotten, and a member still or later", name)
	}
	delete(f.states, name)
	f.nodes = slices.DeleteFunc(f.nodes, func(n nodes.Node) bool { return n.Name == name })
	return nil
}

func (f *fleet) Operate(_ context.Context, name string, args ...string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	asked, err := f.call(name, "operate", args)
	if err != nil {
		return "", err
	}
	leader := f.elect()
	if !asked.running || asked.paused || leader == "" && args[0] != "snapshot" {
		return "", errors.New("no answer")
	}
	switch args[0] {
	case "leave":
		asked.member, asked.running = false, false
	case "remove":
		removed := f.states[args[1]]
		if removed == nil {
			return "", errors.New("no such member")
		}
		removed.barred = removed.barred || removed.late || removed.member && !removed.former
		removed.member, removed.former = false, false
	case "transfer-leader":
		if len(args) > 1 && f.states[args[1]] == nil {
			return "", errors.New("no such member")
		}
		if len(args) > 1 && f.states[args[1]].voter {
			f.leader = args[1]
		}
	case "snapshot", "members", "backup", "checksum", "token":
	default:
		f.t.Errorf("operate %v", args)
	}
	return "", nil
}
