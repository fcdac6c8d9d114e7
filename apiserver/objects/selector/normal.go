package selector

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
)

// normalize sorts the terms and drops those that occur twice. Terms with a trace come first,
// because they reject most objects at the lowest cost.
func (s *Selector) normalize() {
	s.labels = slices.CompactFunc(sorted(s.labels, (*labelTerm).compareTo), func(a, b labelTerm) bool {
		return a.compareTo(&b) == 0
	})
	s.fields = slices.CompactFunc(sorted(s.fields, (*fieldTerm).compareTo), func(a, b fieldTerm) bool {
		return a.compareTo(&b) == 0
	})
	s.name = slices.Compact(sorted(s.name, (*keyTerm).compareTo))
	s.namespace = slices.Compact(sorted(s.namespace, (*keyTerm).compareTo))
}

func sorted[T any](terms []T, compare func(a, b *T) int) []T {
	slices.SortFunc(terms, func(a, b T) int { return compare(&a, &b) })
	return terms
}

// compareTo orders label terms; equal terms match the same objects.
func (t *labelTerm) compareTo(o *labelTerm) int {
	return cmp.Or(
		-cmp.Compare(t.trace, o.trace),
		cmp.Compare(t.key, o.key),
		cmp.Compare(t.compare, o.compare),
		cmp.Compare(t.number, o.number),
		slices.Compare(t.values, o.values),
	)
}

// compareTo orders field terms; equal terms match the same objects.
func (t *fieldTerm) compareTo(o *fieldTerm) int {
	return cmp.Or(-cmp.Compare(t.trace, o.trace), cmp.Compare(t.name, o.name), t.keyTerm.compareTo(&o.keyTerm))
}

// compareTo orders terms on one field of the key; those for equality come first.
func (t *keyTerm) compareTo(o *keyTerm) int {
	switch {
	case t.negate == o.negate:
		return cmp.Compare(t.value, o.value)
	case t.negate:
		return 1
	}
	return -1
}

// digest is equal for selectors that have the same terms, whatever the requests were that they came
// from.
type digest [sha256.Size]byte

// digest returns the digest of a normalized selector.
func (s *Selector) digest() digest {
	var b []byte
	text := func(v string) {
		b = binary.AppendUvarint(b, uint64(len(v)))
		b = append(b, v...)
	}
	key := func(t *keyTerm) {
		b = append(b, flag(t.negate))
		text(t.value)
	}
	b = append(b, flag(s.hidden))
	b = binary.AppendUvarint(b, uint64(len(s.labels)))
	for i := range s.labels {
		t := &s.labels[i]
		text(t.key)
		b = append(b, byte(t.compare))
		b = binary.AppendVarint(b, t.number)
		b = binary.AppendUvarint(b, uint64(len(t.values)))
		for _, v := range t.values {
			text(v)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(s.fields)))
	for i := range s.fields {
		text(s.fields[i].name)
		key(&s.fields[i].keyTerm)
	}
	for _, terms := range [][]keyTerm{s.name, s.namespace} {
		b = binary.AppendUvarint(b, uint64(len(terms)))
		for i := range terms {
			key(&terms[i])
		}
	}
	return sha256.Sum256(b)
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// The memory of a selector besides its texts, and of each term and each value.
const (
	selectorBytes = 256
	termBytes     = 96
	valueBytes    = 16
)

// size returns about how many bytes of memory a selector takes.
func (s *Selector) size() int64 {
	n := selectorBytes + termBytes*(len(s.labels)+len(s.fields)+len(s.name)+len(s.namespace))
	for i := range s.labels {
		t := &s.labels[i]
		n += len(t.key) + len(t.trace)
		for _, v := range t.values {
			n += valueBytes + len(v)
		}
	}
	for i := range s.fields {
		t := &s.fields[i]
		n += len(t.name) + len(t.trace) + len(t.value)
	}
	for _, terms := range [][]keyTerm{s.name, s.namespace} {
		for i := range terms {
			n += len(terms[i].value)
		}
	}
	return int64(n)
}

// clone returns a copy that shares no text with the request that the selector came from.
func (s *Selector) clone() *Selector {
	out := &Selector{
		labels: slices.Clone(s.labels), fields: slices.Clone(s.fields),
		name: slices.Clone(s.name), namespace: slices.Clone(s.namespace), hidden: s.hidden,
	}
	for i := range out.labels {
		t := &out.labels[i]
		t.key, t.values = strings.Clone(t.key), slices.Clone(t.values)
		for j, v := range t.values {
			t.values[j] = strings.Clone(v)
		}
	}
	for i := range out.fields {
		t := &out.fields[i]
		t.name, t.value = strings.Clone(t.name), strings.Clone(t.value)
	}
	for _, terms := range [][]keyTerm{out.name, out.namespace} {
		for i := range terms {
			terms[i].value = strings.Clone(terms[i].value)
		}
	}
	return out
}
