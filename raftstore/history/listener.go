package history

import (
	"context"
	"sync"
	"sync/atomic"

	"quorate/raftstore/state"
)

// Listener waits for the events of one resource that meet any of its interests. Other events of the
// resource neither wake it nor cost it anything, however many there are.
//
// Its position is the index up to which its events have been taken. Add and Remove are safe for
// concurrent use; Take, Quiet and Await must not overlap with each other.
type Listener struct {
	hub      *Hub
	resource string
	// earliest is the index of the first event since Take that met an interest, or 0. The writer
	// sets it before it advances the hub's position.
	earliest atomic.Uint64
	woken    chan struct{} // holds a value if Await must return
}

// listeners are the listeners of one resource.
type listeners struct {
	mu    sync.Mutex
	index Index[*Listener]
}

// Listen returns a listener without interests, and a cursor at the hub's position over all events
// of the resource.
func (h *Hub) Listen(resource string) (*Listener, *Cursor) {
	l := &Listener{hub: h, resource: resource, woken: make(chan struct{}, 1)}
	return l, h.cursor(state.ResourcePrefix(resource), h.applied.Load())
}

// Add adds an interest. It is in force for each event that the caller does not find in the history
// after Add has returned. An interest that is added twice must be removed twice.
func (l *Listener) Add(i Interest) {
	h := l.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.listening[l.resource]
	if all == nil {
		all = new(listeners)
		h.listening[l.resource] = all
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	all.index.Add(i, l)
}

// Remove removes an interest that was added. A listener without interests keeps nothing in the hub.
func (l *Listener) Remove(i Interest) {
	h := l.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.listening[l.resource]
	all.mu.Lock()
	defer all.mu.Unlock()
	all.index.Remove(i, l)
	if all.index.Empty() {
		delete(h.listening, l.resource)
	}
}

// Take returns an index up to which no event since the last Take meets an interest. If there are
// later ones that do, the history has them now, and Await does not return for them.
func (l *Listener) Take() (quiet uint64) {
	applied := l.hub.applied.Load() // first: the writer marks the listener before it advances this
	if e := l.earliest.Swap(0); e != 0 {
		return e - 1
	}
	return applied
}

// Quiet is Take without taking.
func (l *Listener) Quiet() uint64 {
	applied := l.hub.applied.Load()
	if e := l.earliest.Load(); e != 0 {
		return e - 1
	}
	return applied
}

// Applied returns the hub's position.
func (l *Listener) Applied() uint64 { return l.hub.applied.Load() }

// Await returns when an event that meets an interest has come since the last Take, when memory
// begins anew, when the hub closes, or when ctx ends.
func (l *Listener) Await(ctx context.Context) { l.hub.sleep(ctx, l.woken) }

// Wake makes the present or next Await return.
func (l *Listener) Wake() {
	select {
	case l.woken <- struct{}{}:
	default:
	}
}

// mark records that an event met an interest of the listener.
func (l *Listener) mark(index uint64) { l.earliest.CompareAndSwap(0, index) }

// markListeners marks the listeners that the events concern, and returns them to be woken once the
// hub's position covers the events.
func (h *Hub) markListeners(events []*Event) []*Listener {
	woken := h.woken[:0]
	h.mu.RLock()
	defer h.mu.RUnlock()
	if len(h.listening) == 0 {
		return woken
	}
	for i, e := range events {
		if all := h.listening[e.Object.Key.Resource()]; all != nil {
			all.mu.Lock()
			all.index.Concerned(events[i:i+1], func(e *Event, l *Listener) {
				l.mark(e.Index)
				woken = append(woken, l)
			})
			all.mu.Unlock()
		}
	}
	return woken
}

// wakeListeners wakes listeners, of which h.woken keeps the slice for the next call.
func (h *Hub) wakeListeners(woken []*Listener) {
	for i, l := range woken {
		l.Wake()
		woken[i] = nil
	}
	h.woken = woken[:0]
}

// allListeners marks all listeners as if memory had an event that concerns them and that no cursor
// has read, and returns them.
func (h *Hub) allListeners() []*Listener {
	var all []*Listener
	for _, of := range h.listening {
		of.mu.Lock()
		of.index.All(func(l *Listener) {
			l.earliest.Store(1)
			all = append(all, l)
		})
		of.mu.Unlock()
	}
	return all
}
