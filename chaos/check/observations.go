package check

import (
	"time"

	"quorate/chaos/client"
	"quorate/chaos/history"
)

// observation is an item that contains a value, as a client saw it, and the time at which it was
// first known.
type observation struct {
	item history.Item
	at   time.Duration
}

// observations are all items with written values that clients saw. They show the outcome of writes
// where the timeline does not.
type observations struct {
	items   map[sent]observation
	finals  map[string][]*history.Op // reads of each key on all nodes at the end
	last    time.Duration            // the end: after all else
	clients int                      // the number of clients
}

func observe(r *history.Record, ops []*history.Op, t *timeline) *observations {
	o := &observations{items: map[sent]observation{}, finals: map[string][]*history.Op{}}
	for _, op := range ops {
		o.last, o.clients = max(o.last, op.Answered), max(o.clients, op.Client+1)
		if op.Outcome == client.OK && op.Kind != history.Delete {
			for _, item := range append(op.Items[:len(op.Items):len(op.Items)], op.Got) {
				o.saw(item, op.Answered)
			}
		}
	}
	for _, c := range t.changes {
		o.last = max(o.last, c.event.Arrived)
		o.saw(c.item(), c.event.Arrived)
	}
	o.last++
	for i := range r.Finals {
		items := byName(r.Finals[i].Items)
		for _, item := range items {
			o.saw(item, o.last)
		}
		o.read(&r.Finals[i], items, ops)
	}
	o.clients += len(r.Finals)
	return o
}

func (o *observations) saw(item history.Item, at time.Duration) {
	if item == (history.Item{}) {
		return
	}
	name := sent{item.Key, item.Value}
	if first, ok := o.items[name]; !ok || at < first.at {
		o.items[name] = observation{item, at}
	}
}

// read takes a final state as reads of all keys that were written.
func (o *observations) read(final *history.Final, items map[string]history.Item, ops []*history.Op) {
	asked := map[string]bool{}
	for _, op := range ops {
		if !op.Kind.IsWrite() || asked[op.Key] {
			continue
		}
		asked[op.Key] = true
		read := &history.Op{
			Kind: history.Get, Client: o.clients + len(o.finals[op.Key]), Node: final.Node, Key: op.Key,
			Got: items[op.Key], Invoked: o.last, Answered: o.last,
		}
		if read.Got == (history.Item{}) {
			read.Outcome = client.NotFound
		}
		o.finals[op.Key] = append(o.finals[op.Key], read)
	}
}
