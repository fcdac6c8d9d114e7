package audit

import (
	"bytes"
	"encoding/json"
)

// MaxObjectBytes is the size of the longest body that an event has, as compact JSON. Of a longer
// one the event has the size alone, and the annotation audit.k8s.io/truncated.
const MaxObjectBytes = 64 << 10

// Recording keeps the bodies of one request until its last event. It is for one goroutine.
type Recording struct {
	request, response body
	responses         bool
	omitManaged       bool
}

// body is a body that was recorded.
type body struct {
	json []byte // compact; nil if it was too long, or is no JSON
	size int    // in bytes; 0 if there was no body
}

// KeepRequest records what the client sent: JSON, of which it keeps a copy.
func (r *Recording) KeepRequest(document []byte) { r.request = r.keep(document) }

// WantsResponse reports whether KeepResponse records anything.
func (r *Recording) WantsResponse() bool { return r.responses }

// KeepResponse records what the server returned, as KeepRequest does.
func (r *Recording) KeepResponse(document []byte) {
	if r.responses {
		r.response = r.keep(document)
	}
}

const managedFields = "managedFields"

// withoutManagedFields returns an object, or a list of objects, without their managed fields. It
// returns anything else as it is.
func withoutManagedFields(document []byte) []byte {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var o map[string]any
	if decoder.Decode(&o) != nil {
		return document
	}
	objects := []any{o}
	if items, ok := o["items"].([]any); ok {
		objects = append(objects, items...)
	}
	for _, each := range objects {
		item, _ := each.(map[string]any)
		metadata, _ := item["metadata"].(map[string]any)
		delete(metadata, managedFields)
	}
	out, err := json.Marshal(o)
	if err != nil {
		return document
	}
	return out
}

// keep returns a copy without white space, in which a line of a file has no other line.
func (r *Recording) keep(document []byte) body {
	b := body{size: len(document)}
	if len(document) > MaxObjectBytes {
		return b
	}
	if r.omitManaged && bytes.Contains(document, []byte(managedFields)) {
		document = withoutManagedFields(document)
	}
	var compact bytes.Buffer
	if json.Compact(&compact, document) == nil {
		b.json = compact.Bytes()
	}
	return b
}
