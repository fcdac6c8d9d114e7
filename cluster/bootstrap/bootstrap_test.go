package bootstrap_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/raft"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"quorate/cluster/bootstrap"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func empty(id string, expect int) bootstrap.Node {
	return bootstrap.Node{
		Server: bootstrap.Server{Name: "n" + id, NodeID: id, PeerAddr: "host" + id + ":1"}, Expect: expect, Voter: true,
	}
}

func TestChoose(t *testing.T) {
	member := empty("9", 3)
	member.Member, member.Cluster = true, "A"
	replica, joiner := empty("1", 3), empty("1", 1)
	replica.Voter = false
	same := empty("4", 3)
	same.PeerAddr = "host2:1"
	for _, c := range []struct {
		name   string
		self   bootstrap.Node
		others []bootstrap.Node
		want   string // ids, or what is missing
	}{
		{"too few", empty("2", 3), []bootstrap.Node{empty("3", 3)}, "2 of 3 nodes are here"},
		{"the oldest of three", empty("2", 3), []bootstrap.Node{empty("4", 3), empty("3", 3)}, "2 3 4"},
		{"not the oldest", empty("3", 3), []bootstrap.Node{empty("2", 3), empty("4", 3)}, `node "n2" forms the cluster`},
		{"more than needed: the oldest three", empty("2", 3), []bootstrap.Node{empty("5", 3), empty("4", 3), empty("3", 3)}, "2 3 4"},
		{"a cluster is there", empty("2", 3), []bootstrap.Node{empty("3", 3), empty("4", 3), member}, `node "n9" belongs to a cluster`},
		{"they disagree", empty("2", 3), []bootstrap.Node{empty("3", 2), empty("4", 3)}, "nodes disagree"},
		{"replicas do not count", empty("2", 3), []bootstrap.Node{empty("3", 3), replica}, "2 of 3 nodes are here"},
		{"nodes that only join do not count", empty("2", 3), []bootstrap.Node{empty("3", 3), joiner}, "2 of 3 nodes are here"},
		{"a node that only joins", joiner, []bootstrap.Node{empty("3", 3), empty("4", 3)}, "a cluster to join"},
		{"two at one address", empty("2", 3), []bootstrap.Node{empty("3", 3), same}, "give each its own"},
	} {
		t.Run(c.name, func(t *testing.T) {
			servers, got := bootstrap.Choose(c.self, c.others)
			var ids []string
			for _, s := range servers {
				ids = append(ids, s.NodeID)
			}
			if servers != nil {
				got = strings.Join(ids, " ")
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("chose %q, want %q", got, c.want)
			}
		})
	}
}

func TestBook(t *testing.T) {
	open := func(t *testing.T, dir string, member bool) *bootstrap.Record {
		t.Helper()
		b, err := bootstrap.Open(dir, "2", func() (bool, error) { return member, nil })
		must(t, err)
		return b
	}
	servers := []bootstrap.Server{empty("1", 3).Server, empty("2", 3).Server}
	first := bootstrap.Attempt{ID: "a", Proposer: "1", Servers: servers}
	second := bootstrap.Attempt{ID: "b", Proposer: "3", Servers: servers}
	promise := func(t *testing.T, b *bootstrap.Record, p bootstrap.Attempt) bootstrap.Response {
		t.Helper()
		a, err := b.Promise(p)
		must(t, err)
		return a
	}
	t.Run("a promise binds, over a restart, and says to whom", func(t *testing.T) {
		dir := t.TempDir()
		if a := promise(t, open(t, dir, false), first); !a.Promised {
			t.Fatalf("refused: %s", a.Reason)
		}
		b := open(t, dir, false)
		if a := promise(t, b, second); a.Promised || a.Holder != "1" {
			t.Errorf("a second one: %+v", a)
		}
		if a := promise(t, b, first); !a.Promised {
			t.Errorf("the same again: %+v", a)
		}
		if _, err := b.Propose(servers); !errors.Is(err, bootstrap.ErrBound) {
			t.Errorf("its own: %v", err)
		}
		if err := b.Join("A"); !errors.Is(err, bootstrap.ErrBound) {
			t.Errorf("joining: %v", err)
		}
		must(t, b.Release("b"))
		if b.Attempt() == nil {
			t.Error("another's release freed it")
		}
		must(t, b.Release("a"))
		if a := promise(t, b, second); !a.Promised {
			t.Errorf("after the release: %+v", a)
		}
	})
	t.Run("a member, a node that joins and one that is not meant promise nothing", func(t *testing.T) {
		if a := promise(t, open(t, t.TempDir(), true), first); a.Promised {
			t.Error("a member promised")
		}
		b := open(t, t.TempDir(), false)
		must(t, b.Join("A"))
		if a := promise(t, b, first); a.Promised {
			t.Error("a node that joins promised")
		}
		if err := b.Join("B"); !errors.Is(err, bootstrap.ErrBound) {
			t.Errorf("it joins a second cluster: %v", err)
		}
		alien := bootstrap.Attempt{ID: "c", Proposer: "1", Servers: servers[:1]}
		if a := promise(t, open(t, t.TempDir(), false), alien); a.Promised {
			t.Error("a node that is not among the servers promised")
		}
	})
	t.Run("a member without what Raft kept is refused", func(t *testing.T) {
		dir := t.TempDir()
		must(t, open(t, dir, true).Belong("A"))
		open(t, dir, true)
		var forgotten *bootstrap.Forgotten
		_, err := bootstrap.Open(dir, "2", func() (bool, error) { return false, nil })
		if !errors.As(err, &forgotten) || forgotten.Cluster != "A" {
			t.Errorf("opened with %v", err)
		}
	})
	t.Run("a damaged record is told in one line, with what to do", func(t *testing.T) {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "bootstrap.json"), []byte("{"), 0o600))
		_, err := bootstrap.Open(dir, "2", func() (bool, error) { return true, nil })
		if err == nil || !strings.Contains(err.Error(), "bootstrap.json is damaged") || !strings.Contains(err.Error(), "empty data directory") {
			t.Errorf("opened with %v", err)
		}
	})
	t.Run("the proposer confirms its attempt until it is released", func(t *testing.T) {
		b := open(t, t.TempDir(), false)
		p, err := b.Propose(servers)
		must(t, err)
		if a := promise(t, b, *p); !a.Promised {
			t.Errorf("refused: %s", a.Reason)
		}
		must(t, b.Release(p.ID))
		if a := promise(t, b, *p); a.Promised || b.Attempt() != nil {
			t.Errorf("an abandoned attempt is taken up again: %+v", a)
		}
	})
}

// world is nodes that see each other imperfectly, lose messages and crash, in one goroutine.
type world struct {
	t     *rapid.T
	dir   string
	nodes []*member
	bad   bool // messages get lost
	draws int
}

type member struct {
	bootstrap.Node
	w            *world
	record       *bootstrap.Record
	bootstrapper *bootstrap.Bootstrapper
	configs      [][]raft.Server // what Bootstrap was called with
	crash        bool            // in the moment of Bootstrap
}

func (m *member) HasState() (bool, error) { return m.Member, nil }

var errCrash = errors.New("crash")

func (m *member) Bootstrap(servers []raft.Server) error {
	if m.crash {
		m.crash = false
		return errCrash
	}
	m.configs = append(m.configs, servers)
	m.Member, m.Cluster = true, "cluster of "+m.NodeID
	return nil
}

// restart forgets all but the disk.
func (m *member) restart() {
	dir := fmt.Sprintf("%s/%s", m.w.dir, m.NodeID)
	record, err := bootstrap.Open(dir, m.NodeID, m.HasState)
	if err != nil {
		m.w.t.Fatal(err)
	}
	m.record = record
	m.bootstrapper = bootstrap.New(bootstrap.Config{Record: record, Store: m, Ask: m.w.ask, Logger: slog.New(slog.DiscardHandler)})
}

// ask delivers an attempt, or loses the request or the response.
func (w *world) ask(_ context.Context, to bootstrap.Server, p bootstrap.Attempt) (bootstrap.Response, error) {
	i := slices.IndexFunc(w.nodes, func(m *member) bool { return m.NodeID == to.NodeID })
	// A hash in place of a draw: the servers of an attempt are asked by goroutines of their own, in
	// any order.
	fate := 2
	if w.bad {
		fate = int(fnv(p.ID+to.NodeID)+uint32(w.draws)) % 4
	}
	if fate == 0 {
		return bootstrap.Response{}, errors.New("request lost")
	}
	a, err := w.nodes[i].record.Promise(p)
	if fate == 1 {
		return bootstrap.Response{}, errors.New("response lost")
	}
	return a, err
}

func fnv(s string) uint32 {
	h := uint32(2166136261)
	for _, b := range []byte(s) {
		h = (h ^ uint32(b)) * 16777619
	}
	return h
}

// step lets a node act on a view of the others. A crash in the step is followed by a restart.
func (w *world) step(m *member, seen func(int) bool) {
	var others []bootstrap.Node
	for i, o := range w.nodes {
		if o != m && seen(i) {
			n := o.Node
			if n.Cluster == "" {
				n.Cluster = o.record.Joining()
			}
			others = append(others, n)
		}
	}
	if _, err := m.bootstrapper.Step(w.t.Context(), m.Node, others); err != nil {
		if !errors.Is(err, errCrash) {
			w.t.Fatalf("step of %s: %v", m.NodeID, err)
		}
		m.restart()
	}
}

func (w *world) clusters() (n int) {
	for _, m := range w.nodes {
		n += len(m.configs)
	}
	return n
}

func TestBootstrapProtocol(t *testing.T) {
	t.Run("at most one cluster in any schedule, exactly one once nodes see each other", func(t *testing.T) {
		base := t.TempDir()
		runs := 0
		rapid.Check(t, func(rt *rapid.T) {
			runs++
			expect := rapid.IntRange(2, 4).Draw(rt, "expect")
			count := rapid.IntRange(expect, 2*expect-1).Draw(rt, "nodes")
			w := &world{t: rt, dir: fmt.Sprintf("%s/%d", base, runs), bad: true}
			for i := range count {
				m := &member{Node: empty(fmt.Sprint(i), expect), w: w}
				must(t, os.MkdirAll(fmt.Sprintf("%s/%d", w.dir, i), 0o700))
				m.restart()
				w.nodes = append(w.nodes, m)
			}
			for range rapid.IntRange(0, 40).Draw(rt, "steps") {
				w.draws++
				m := w.nodes[rapid.IntRange(0, count-1).Draw(rt, "who")]
				switch rapid.IntRange(0, 9).Draw(rt, "what") {
				case 0:
					m.restart()
				case 1:
					m.crash = true
				default:
					view := rapid.Uint32().Draw(rt, "view")
					w.step(m, func(i int) bool { return view>>i&1 == 1 })
				}
				if n := w.clusters(); n > 1 {
					rt.Fatalf("%d clusters", n)
				}
			}
			w.bad = false
			for round := 0; round < 20; round++ {
				for _, m := range w.nodes {
					w.step(m, func(int) bool { return true })
				}
			}
			if n := w.clusters(); n != 1 {
				rt.Fatalf("%d clusters at the end", n)
			}
		})
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
