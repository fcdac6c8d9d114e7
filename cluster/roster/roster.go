package roster

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"quorate/cluster/internal/durable"
)

// NameTaken reports a node that uses the name of another node.
type NameTaken struct {
	Name   string
	Owner  string // node id
	Claims string // node id
}

func (e *NameTaken) Error() string {
	return fmt.Sprintf("name %q belongs to node %s, so node %s cannot use it: choose another name, or remove the old member first",
		e.Name, e.Owner, e.Claims)
}

// Binding assigns a member's name to one node, or to none. The record of a freed name is kept:
// otherwise members that do not know of the removal would restore the former owner.
type Binding struct {
	NodeID   string `json:"nodeID,omitempty"`
	PeerAddr string `json:"peerAddr,omitempty"` // the last one known
	Index    uint64 `json:"index"`              // the Raft index at which it was made; a later one replaces it
}

// Record is the part of a roster that the nodes of a cluster exchange.
type Record struct {
	Bindings map[string]Binding `json:"bindings,omitempty"`
	Removed  []string           `json:"removed,omitempty"` // node ids, oldest first
}

// fileName is the name of the file in the data directory.
const fileName = "members.json"

// document is DATA/members.json.
type document struct {
	Start   uint64   `json:"start"` // how often this node was started
	Barring *barring `json:"barring,omitempty"`
	Record
}

// barring are node ids to be barred once this node belongs to a cluster.
type barring struct {
	Cluster string   `json:"cluster"`
	NodeIDs []string `json:"nodeIDs"`
}

// Roster is this node's record of itself and the members.
type Roster struct {
	path string
	self Identity

	forgotten atomic.Int64

	mu  sync.Mutex
	doc document // guarded by mu; its maps and slices are replaced, never changed
}

// Open loads the roster in a data directory for the node with this name and id, and counts a start.
func Open(dir, name, nodeID string) (*Roster, error) {
	if name == "" || nodeID == "" {
		return nil, errors.New("a node needs a name and a node id")
	}
	r := &Roster{path: filepath.Join(dir, fileName)}
	if _, err := durable.Read(r.path, &r.doc); err != nil {
		return nil, fmt.Errorf("read the member list: %w", err)
	}
	r.doc.Start++
	r.self = Identity{Name: name, NodeID: nodeID, Start: r.doc.Start, Nonce: newNonce()}
	return r, durable.Write(r.path, r.doc)
}

// Self returns the identity of this node.
func (r *Roster) Self() Identity { return r.self }

// Owner returns the id of the node that owns a name; false if none does.
func (r *Roster) Owner(name string) (nodeID string, ok bool) {
	b := r.record().Bindings[name]
	return b.NodeID, b.NodeID != ""
}

// PeerAddr returns the last known peer address of a member.
func (r *Roster) PeerAddr(name string) (addr string, ok bool) {
	b := r.record().Bindings[name]
	return b.PeerAddr, b.PeerAddr != ""
}

// PeerAddrs returns the last known peer address of each member, by name.
func (r *Roster) PeerAddrs() map[string]string {
	addrs := map[string]string{}
	for name, b := range r.record().Bindings {
		if b.NodeID != "" {
			addrs[name] = b.PeerAddr
		}
	}
	return addrs
}

// Admit refuses a node that uses another's name (NameTaken) or was removed (ErrRemoved).
func (r *Roster) Admit(name, nodeID string) error {
	record := r.record()
	if slices.Contains(record.Removed, nodeID) {
		return fmt.Errorf("node %q: %w", name, ErrRemoved)
	}
	if b := record.Bindings[name]; b.NodeID != "" && b.NodeID != nodeID {
		return &NameTaken{Name: name, Owner: b.NodeID, Claims: nodeID}
	}
	return nil
}

// Bind assigns a name to a node as of a Raft index. A later binding of the name is kept.
func (r *Roster) Bind(name string, b Binding) error {
	return r.Merge(Record{Bindings: map[string]Binding{name: b}})
}

// Moved records the current peer address of a member.
func (r *Roster) Moved(name, peerAddr string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.doc.Bindings[name]
	if b.NodeID == "" || b.PeerAddr == peerAddr {
		return nil
	}
	b.PeerAddr = peerAddr
	next := r.doc.Record
	next.Bindings = maps.Clone(next.Bindings)
	next.Bindings[name] = b
	return r.save(next)
}

// Release frees the names that are not in use, as seen by a node that has applied the log up to
// index. A name is in use if it is in Raft's configuration, or if its node is about to be added.
// Release does not change bindings made after index.
func (r *Roster) Release(inUse map[string]bool, index uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var next map[string]Binding
	for name, b := range r.doc.Bindings {
		if b.NodeID == "" || inUse[name] || b.Index > index {
			continue
		}
		if next == nil {
			next = maps.Clone(r.doc.Bindings)
		}
		next[name] = Binding{Index: index}
	}
	if next == nil {
		return nil
	}
	r.forgotten.Add(int64(prune(next)))
	return r.save(Record{Bindings: next, Removed: r.doc.Removed})
}

// prune forgets the names that were freed longest ago, and returns how many.
func prune(bindings map[string]Binding) int {
	var free []string
	for name, b := range bindings {
		if b.NodeID == "" {
			free = append(free, name)
		}
	}
	slices.SortFunc(free, func(a, b string) int { return cmp.Compare(bindings[b].Index, bindings[a].Index) })
	oldest := free[min(len(free), maxRemoved):]
	for _, name := range oldest {
		delete(bindings, name)
	}
	return len(oldest)
}

// Remove bars a node permanently.
func (r *Roster) Remove(nodeID string) error {
	return r.Merge(Record{Removed: []string{nodeID}})
}

// BarAllOnce records the ids of all other nodes that own a name. Settle bars them once this node
// belongs to cluster, which is about to be made of this node alone. BarAllOnce must not bar them
// itself: this node would tell them by gossip, as a member of their own cluster. The caller could
// not bar them in a later step either: after a crash before that step, they could merge the old
// member list into the new cluster.
func (r *Roster) BarAllOnce(cluster string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	doc := r.doc
	doc.Barring = &barring{Cluster: cluster}
	for _, name := range slices.Sorted(maps.Keys(doc.Bindings)) {
		if b := doc.Bindings[name]; b.NodeID != "" && b.NodeID != r.self.NodeID {
			doc.Barring.NodeIDs = append(doc.Barring.NodeIDs, b.NodeID)
		}
	}
	return r.write(doc)
}

// Settle bars the nodes that BarAllOnce recorded if this node belongs to the cluster that
// BarAllOnce named, and forgets that this node was removed from the old one. Otherwise the
// operation that was to make that cluster was interrupted before it took effect, and Settle drops
// the record. Call it before this node receives gossip.
func (r *Roster) Settle(cluster string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	doc := r.doc
	if doc.Barring == nil {
		return nil
	}
	if doc.Barring.Cluster == cluster {
		doc.Record, _ = r.merge(doc.Record, Record{Removed: doc.Barring.NodeIDs})
		doc.Removed = slices.DeleteFunc(slices.Clone(doc.Removed), func(id string) bool { return id == r.self.NodeID })
	}
	doc.Barring = nil
	return r.write(doc)
}

// Merge adopts the later bindings and the removed nodes in the record of another member of the
// cluster.
func (r *Roster) Merge(other Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	next, changed := r.merge(r.doc.Record, other)
	if !changed {
		return nil
	}
	return r.save(next)
}

// Forgotten returns how many removed node ids and freed names this process has forgotten because
// there were too many.
func (r *Roster) Forgotten() int { return int(r.forgotten.Load()) }

// Record returns the current roster. It is shared, and the caller must not change it.
func (r *Roster) Record() Record { return r.record() }

func (r *Roster) record() Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.doc.Record
}

// save is called with mu held: the order of the writes must be that of the changes.
func (r *Roster) save(next Record) error {
	doc := r.doc
	doc.Record = next
	return r.write(doc)
}

// write is called with mu held.
func (r *Roster) write(doc document) error {
	if err := durable.Write(r.path, doc); err != nil {
		return fmt.Errorf("write the member list: %w", err)
	}
	r.doc = doc
	return nil
}

// merge returns mine with the later bindings and the removed nodes of other.
func (r *Roster) merge(mine, other Record) (next Record, changed bool) {
	next = Record{Bindings: maps.Clone(mine.Bindings), Removed: mine.Removed}
	if next.Bindings == nil {
		next.Bindings = map[string]Binding{}
	}
	for name, theirs := range other.Bindings {
		have, ok := next.Bindings[name]
		if ok && !later(theirs, have) {
			continue
		}
		if ok && have.NodeID == theirs.NodeID && have.PeerAddr != "" {
			theirs.PeerAddr = have.PeerAddr // an address that this node saw itself is fresher than a received one
		}
		next.Bindings[name] = theirs
		changed = true
	}
	removed, more := r.addRemoved(next.Removed, other.Removed)
	next.Removed = removed
	return next, changed || more
}

// later orders the bindings of one name. At one index the older node keeps the name, so that all
// members agree.
func later(a, b Binding) bool {
	return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(b.NodeID, a.NodeID)) > 0
}
