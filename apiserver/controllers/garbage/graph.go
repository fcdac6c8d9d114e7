package garbage

import (
	"slices"

	"quorate/raftstore/state"
)

// graph holds the references between stored objects. It contains only objects that refer to owners,
// and owners that wait for dependents. Only one goroutine uses it.
type graph struct {
	edges   map[state.Key][]edge // references of each dependent
	owned   map[string]*owned    // dependents by the owner's uid, whether or not the owner exists
	waiting map[state.Key]waiter // owners that are being deleted and wait for dependents
	keys    map[string]state.Key // keys of waiting, by uid
}

// edge is one owner reference of a dependent.
type edge struct {
	to     *owned
	blocks bool
}

// owned holds the objects that refer to one uid.
type owned struct {
	uid        string
	dependents map[state.Key]bool
}

// waiter is an owner that waits until its dependents are deleted or drop their references.
type waiter struct {
	uid                 string
	orphans, foreground bool
}

func newGraph() *graph {
	return &graph{
		edges: map[state.Key][]edge{}, owned: map[string]*owned{},
		waiting: map[state.Key]waiter{}, keys: map[string]state.Key{},
	}
}

// knows reports whether the graph contains the key.
func (g *graph) knows(key state.Key) bool {
	_, waits := g.waiting[key]
	return waits || len(g.edges[key]) > 0
}

// set records the current version of an object, and calls look for each object that has to be
// checked because of it.
func (g *graph) set(key state.Key, uid string, l *links, look func(state.Key)) {
	if !slices.Equal(g.edges[key], g.edgesOf(uid, l)) {
		g.unlink(key, look)
		g.link(key, uid, l)
		look(key)
	}
	now := waiter{uid: uid}
	if l.going() {
		now.orphans, now.foreground = l.orphans(), l.foreground()
	}
	before, waited := g.waiting[key]
	waits := now.orphans || now.foreground
	if waited && (!waits || before != now) {
		g.unwait(key)
	}
	if waits && before != now {
		g.waiting[key], g.keys[uid] = now, key
		look(key)
		g.eachDependent(uid, look)
	}
}

// remove removes a deleted object.
func (g *graph) remove(key state.Key, uid string, look func(state.Key)) {
	g.unlink(key, look)
	g.unwait(key)
	g.eachDependent(uid, look)
}

// edgesOf returns the edges for an object's references, except those to itself.
func (g *graph) edgesOf(uid string, l *links) []edge {
	edges := make([]edge, 0, len(l.Owners))
	for _, r := range l.Owners {
		if r.UID != uid {
			edges = append(edges, edge{to: g.owned[r.UID], blocks: r.Blocks})
		}
	}
	return edges
}

func (g *graph) link(key state.Key, uid string, l *links) {
	for _, r := range l.Owners {
		if r.UID != uid && g.owned[r.UID] == nil {
			g.owned[r.UID] = &owned{uid: r.UID, dependents: map[state.Key]bool{}}
		}
	}
	edges := g.edgesOf(uid, l)
	if len(edges) == 0 {
		return
	}
	g.edges[key] = edges
	for _, e := range edges {
		e.to.dependents[key] = e.to.dependents[key] || e.blocks
	}
}

// unlink removes the edges of a dependent and calls look for the owners that waited for it.
func (g *graph) unlink(key state.Key, look func(state.Key)) {
	for _, e := range g.edges[key] {
		delete(e.to.dependents, key)
		if len(e.to.dependents) == 0 {
			delete(g.owned, e.to.uid)
		}
		if owner, waits := g.keys[e.to.uid]; waits {
			look(owner)
		}
	}
	delete(g.edges, key)
}

func (g *graph) unwait(key state.Key) {
	if w, ok := g.waiting[key]; ok {
		delete(g.keys, w.uid)
		delete(g.waiting, key)
	}
}

func (g *graph) eachDependent(uid string, fn func(state.Key)) {
	if o := g.owned[uid]; o != nil {
		for key := range o.dependents {
			fn(key)
		}
	}
}

// dependents reports whether objects refer to an owner, and whether some of them block its
// deletion. It ignores the references that canOwn forbids, those from outside the namespace of a
// namespaced owner (G45).
func (g *graph) dependents(owner state.Key, uid string) (some, blocking bool) {
	o := g.owned[uid]
	if o == nil {
		return false, false
	}
	for key, blocks := range o.dependents {
		if !canOwn(owner, key) {
			continue
		}
		some = true
		if blocks {
			return true, true
		}
	}
	return some, false
}

// canOwn reports whether an owner may own a dependent: it must be cluster-scoped or in the
// dependent's namespace (G45, G46).
func canOwn(owner, dependent state.Key) bool {
	_, namespace, _ := owner.Split()
	_, own, _ := dependent.Split()
	return namespace == "" || namespace == own
}

// maxCycle limits the search for a cycle of waiting owners. The owners of a longer cycle wait until
// a client resolves it.
const maxCycle = 10_000

// cycle reports whether an owner waits for itself through other owners that wait for their
// dependents.
func (g *graph) cycle(owner state.Key, uid string) bool {
	type step struct {
		key state.Key
		uid string
	}
	seen := map[state.Key]bool{}
	next := []step{{owner, uid}}
	for len(next) > 0 && len(seen) < maxCycle {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		o := g.owned[at.uid]
		if o == nil {
			continue
		}
		for key, blocks := range o.dependents {
			if !blocks || !canOwn(at.key, key) {
				continue
			}
			if key == owner {
				return true
			}
			if w, waits := g.waiting[key]; waits && w.foreground && !seen[key] {
				seen[key] = true
				next = append(next, step{key, w.uid})
			}
		}
	}
	return false
}
