package watch

import (
	"time"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/selector"
	"quorate/apiserver/wire/negotiate"
	"quorate/raftstore/history"
)

// Projection decides which events a stream sends, and the bytes that they become. Its methods read
// nothing else of a stream, and it is compared: streams with equal projections send the same bytes
// for the same events, but for the first Table of each. What is to change those bytes must
// therefore be a field here.
type Projection struct {
	// Kind is that of what is sent.
	Kind *schema.Kind
	// Form is JSON or protobuf.
	Form negotiate.Form
	// Encoder, when set, makes what is sent; by default objects are sent as the kind serves them.
	Encoder Encoder
	// Table is set when what is sent are Tables, in JSON.
	Table Table
	// Selector selects the objects sent. Selectors are compared by identity.
	Selector *selector.Selector
}

// tables reports whether Tables are sent.
func (p *Projection) tables() bool { return p.Table != Table{} }

// sees returns one event as the selector sees it (D19), nothing when it does not: an object that
// comes to match is added, one that ceases to is deleted, with its last content that matched.
func (p *Projection) sees(e *history.Event) (head string, object []byte) {
	sel := p.Selector
	is := sel.Matches(e.Object)
	was := is
	if e.Previous != nil {
		was = sel.Matches(e.Previous)
	}
	switch {
	case e.PreviousUnknown: // a client can ignore a deletion, and can't guess one
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

// frame returns the frame of an event's object, of which other streams send the same: what an
// Encoder makes of it at a time is taken from the cache. It writes to buf what comes before the
// object, and returns that as the frame's head.
func (p *Projection) frame(buf []byte, head string, object []byte, first bool, at time.Time, cache *shared) (frame, error) {
	if p.Encoder == nil {
		return p.frameStored(buf, head, object)
	}
	made, err := cache.encode(object, p.Encoder, at)
	return p.frameMade(buf, head, made, first), err
}

// frameStored is the frame of stored bytes as the kind serves them in JSON.
func (p *Projection) frameStored(buf []byte, head string, object []byte) (frame, error) {
	prefix, rest, err := p.Kind.Parts(object)
	return frameText(buf, head, prefix, rest), err
}

// frameMade is the frame of what the Encoder made of an object: in protobuf its length, and a
// WatchEvent around it (D5).
func (p *Projection) frameMade(buf []byte, head string, made []byte, first bool) frame {
	if !p.Form.Binary() {
		return frameText(buf, head, p.lead(first), made)
	}
	return frame{head: appendFrameHead(buf[:0], word(head), len(made)), object: made}
}

// lead returns what an object begins with, before what is made of it.
func (p *Projection) lead(first bool) string {
	if first {
		return p.Table.First
	}
	return p.Table.Later
}
