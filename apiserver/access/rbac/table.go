package rbac

import (
	"hash/maphash"
	"maps"
)

// shards is how many parts a table has: a change copies one of them.
const shards = 256

// table is a map that never changes. Tables that follow each other share the parts that are the
// same.
type table[K comparable, V any] struct {
	seed  maphash.Seed
	parts [shards]map[K]V
}

// get returns the zero value for what is not there.
func (t *table[K, V]) get(key K) V { return t.parts[t.part(key)][key] }

func (t *table[K, V]) part(key K) int { return int(maphash.Comparable(t.seed, key) % shards) }

// draft is a table at work. It belongs to one goroutine.
type draft[K comparable, V any] struct {
	table table[K, V]
	own   [shards]bool // parts that no published table has
}

func newDraft[K comparable, V any]() *draft[K, V] {
	return &draft[K, V]{table: table[K, V]{seed: maphash.MakeSeed()}}
}

func (d *draft[K, V]) get(key K) V { return d.table.get(key) }

func (d *draft[K, V]) set(key K, v V) { d.open(key)[key] = v }

func (d *draft[K, V]) delete(key K) { delete(d.open(key), key) }

// open returns the part that a key is in, to be changed.
func (d *draft[K, V]) open(key K) map[K]V {
	i := d.table.part(key)
	if !d.own[i] {
		d.own[i] = true
		d.table.parts[i] = maps.Clone(d.table.parts[i])
	}
	if d.table.parts[i] == nil {
		d.table.parts[i] = map[K]V{}
	}
	return d.table.parts[i]
}

// publish returns the table as it is now.
func (d *draft[K, V]) publish() *table[K, V] {
	published := d.table
	d.own = [shards]bool{}
	return &published
}
