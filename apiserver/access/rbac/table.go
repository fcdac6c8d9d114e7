package rbac

import (
	"hash/maphash"
	"maps"
)

// shards is the number of parts of a table. A change of the table copies one part.
const shards = 256

// table is an immutable map. Successive tables share their unchanged parts.
type table[K comparable, V any] struct {
	seed  maphash.Seed
	parts [shards]map[K]V
}

// get returns the value for a key, or the zero value if the table does not contain the key.
func (t *table[K, V]) get(key K) V { return t.parts[t.part(key)][key] }

func (t *table[K, V]) part(key K) int { return int(maphash.Comparable(t.seed, key) % shards) }

// draft is a table under construction. Only one goroutine uses it.
type draft[K comparable, V any] struct {
	table table[K, V]
	own   [shards]bool // parts that are not shared with a published table
}

func newDraft[K comparable, V any]() *draft[K, V] {
	return &draft[K, V]{table: table[K, V]{seed: maphash.MakeSeed()}}
}

func (d *draft[K, V]) get(key K) V { return d.table.get(key) }

func (d *draft[K, V]) set(key K, v V) { d.open(key)[key] = v }

func (d *draft[K, V]) delete(key K) { delete(d.open(key), key) }

// open returns the part of a key for writing. It copies the part if a published table shares it.
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

// publish returns the current content as a table.
func (d *draft[K, V]) publish() *table[K, V] {
	published := d.table
	d.own = [shards]bool{}
	return &published
}
