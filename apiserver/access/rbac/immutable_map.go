package rbac

import (
	"hash/maphash"
	"maps"
)

// shards is the number of parts of an immutableMap. A change copies one part.
const shards = 256

// immutableMap is a map that never changes. Successive maps share their unchanged parts.
type immutableMap[K comparable, V any] struct {
	seed  maphash.Seed
	parts [shards]map[K]V
}

// get returns the value for a key, or the zero value if the map does not contain the key.
func (m *immutableMap[K, V]) get(key K) V { return m.parts[m.part(key)][key] }

func (m *immutableMap[K, V]) part(key K) int { return int(maphash.Comparable(m.seed, key) % shards) }

// draft is an immutableMap under construction. Only one goroutine uses it.
type draft[K comparable, V any] struct {
	content immutableMap[K, V]
	own     [shards]bool // parts that are not shared with a published map
}

func newDraft[K comparable, V any]() *draft[K, V] {
	return &draft[K, V]{content: immutableMap[K, V]{seed: maphash.MakeSeed()}}
}

func (d *draft[K, V]) get(key K) V { return d.content.get(key) }

func (d *draft[K, V]) set(key K, v V) { d.open(key)[key] = v }

func (d *draft[K, V]) delete(key K) { delete(d.open(key), key) }

// open returns the part of a key for writing. It copies the part if a published map shares it.
func (d *draft[K, V]) open(key K) map[K]V {
	i := d.content.part(key)
	if !d.own[i] {
		d.own[i] = true
		d.content.parts[i] = maps.Clone(d.content.parts[i])
	}
	if d.content.parts[i] == nil {
		d.content.parts[i] = map[K]V{}
	}
	return d.content.parts[i]
}

// publish returns the current content as an immutable map.
func (d *draft[K, V]) publish() *immutableMap[K, V] {
	published := d.content
	d.own = [shards]bool{}
	return &published
}
