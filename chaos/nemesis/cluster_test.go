package nemesis_test

import (
	"context"
	"errors"
	"slices"

	"quorate/chaos/client"
	"quorate/chaos/nodes"
)

// connected reports whether two nodes can communicate. The caller must hold mu.
func (f *fleet) connected(a, b string) bool {
	return a == b || !f.rules[nodes.Link{From: a, To: b}].Drop && !f.rules[nodes.Link{From: b, To: a}].Drop
}

func (f *fleet) lives(name string) bool {
	s := f.states[name]
	return s != nil && s.running && !s.paused && s.member
}

// leads reports whether a node can communicate with a majority of the voters.
func (f *fleet) leads(name string) bool {
	if !f.lives(name) || !f.states[name].voter {
		return false
	}
	voters, reached := 0, 0
	for other, s := range f.states {
		if s.member && s.voter {
			voters++
			if f.lives(other) && f.connected(name, other) {
				reached++
			}
		}
	}
	return reached > voters/2
}

// elect returns the leader. If the last one cannot lead any more, it elects another. The caller
// must hold mu.
func (f *fleet) elect() string {
	if f.leads(f.leader) {
		return f.leader
	}
	f.leader = ""
	for _, node := range f.nodes {
		if f.leads(node.Name) {
			f.leader = node.Name
			break
		}
	}
	return f.leader
}

// Members implements nemesis.Cluster.
func (f *fleet) Members(_ context.Context, node nodes.Node) (members []client.Member, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	leader := f.elect()
	if !f.lives(node.Name) || leader == "" || !f.connected(node.Name, leader) {
		return nil, errors.New("no answer")
	}
	for name, s := range f.states {
		if !s.member {
			continue
		}
		m := client.Member{Name: name, Role: "nonvoter", Alive: new(f.lives(name))}
		if s.voter {
			m.Role = "voter"
		}
		if name == leader {
			m.Role = "leader"
		}
		members = append(members, m)
	}
	return members, nil
}

// Ready implements nemesis.Cluster.
func (f *fleet) Ready(_ context.Context, node nodes.Node) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	leader := f.elect()
	return f.lives(node.Name) && leader != "" && f.connected(node.Name, leader)
}

// writing returns the number of writes, which it increases on each call while there is a leader.
func (f *fleet) writing() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.elect() != "" {
		f.writes += 10
	}
	return f.writes
}

// whole fails the test unless all effects of faults are reverted.
func (f *fleet) whole(count int) {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.nodes) != count {
		f.t.Errorf("there are %d nodes, want %d as before", len(f.nodes), count)
	}
	for name, s := range f.states {
		if *s != (state{running: true, member: true, voter: true}) {
			f.t.Errorf("node %s is left as %+v", name, *s)
		}
	}
	if len(f.rules) > 0 {
		f.t.Errorf("links are left shaped: %v", f.rules)
	}
}

// called returns the calls that the fleet has received, in order.
func (f *fleet) called() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}
