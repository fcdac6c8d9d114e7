package watch

import (
	"time"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/selector"
	"quorate/apiserver/wire/negotiate"
	"quorate/raftstore/history"
)

// Projection decides which events a stream sends and how it encodes them. Streams with equal
// projections send the same bytes for the same events at the same time, except for the first Table
// of each, and share these bytes. Every option that changes them must therefore be a field of
// Projection, whose methods read nothing else of a stream.
type Projection struct {
	// Kind is the kind of the objects sent.
	Kind *schema.Kind
	// Form is JSON or protobuf.
	Form negotiate.Form
	// Encoder encodes the objects; if it is nil, the stream sends the JSON that the kind serves.
	Encoder Encoder
	// Table is set if the stream sends Tables, in JSON.
	Table Table
	// Selector selects the objects sent. Selectors are compared by address: equal ones share an
	// address if they come from one selector.Interner.
	Selector *selector.Selector
}

// tables reports whether the stream sends Tables.
func (p *Projection) tables() bool { return p.Table != Table{} }

// project returns the head and the object of the event that a stream with the selector sends for e
// (D19), or an empty head if it sends none. For an object that begins to match it is ADDED. For one
// that ceases to match it is DELETED, with the previous content of the object and the version of e.
func (p *Projection) project(e *history.Event) (head string, object []byte) {
	sel := p.Selector
	is := sel.Matches(e.Object)
	was := is
	if e.Previous != nil {
		was = sel.Matches(e.Previous)
	}
	switch {
	case e.PreviousUnknown: // clients can ignore a deletion of an unknown object, but not guess one
		is = sel.MatchesKey(e.Object.Key)
		was = is
	case e.Type == history.Added:
		was = false
	}
	switch gone := e.Type == history.Deleted; {
	case was && is && gone:
		return deleted, e.Object.Value
	case was && is:
		return modified, e.Object.Value
	case was:
		return deleted, e.Left()
	case is && !gone:
		return added, e.Object.Value
	}
	return "", nil
}

// frame returns the frame of the stored bytes of a change. It encodes them through the cache, at
// the given time, and writes the head of the frame to buf.
func (p *Projection) frame(buf []byte, head string, object []byte, first bool, at time.Time, cache *encodingCache) (frame, error) {
	if p.Encoder == nil {
		return p.frameStored(buf, head, object)
	}
	encoded, err := cache.encode(object, p.Encoder, at)
	return p.frameEncoded(buf, head, encoded, first), err
}

// frameStored returns the frame of stored bytes in the JSON that the kind serves.
func (p *Projection) frameStored(buf []byte, head string, object []byte) (frame, error) {
	prefix, rest, err := p.Kind.Parts(object)
	return jsonFrame(buf, head, prefix, rest), err
}

// frameEncoded returns the frame of an object that the Encoder has encoded. In protobuf the frame
// is a WatchEvent that contains the object, after the WatchEvent's length (D5).
func (p *Projection) frameEncoded(buf []byte, head string, encoded []byte, first bool) frame {
	if !p.Form.Binary() {
		return jsonFrame(buf, head, p.tablePrefix(first), encoded)
	}
	return frame{head: appendFrameHead(buf[:0], eventType(head), len(encoded)), object: encoded}
}

// tablePrefix returns the JSON that precedes an encoded object, which is empty unless the stream
// sends Tables.
func (p *Projection) tablePrefix(first bool) string {
	if first {
		return p.Table.First
	}
	return p.Table.Later
}
