package watch

import "strconv"

// The constant pieces of a frame: {"type":"ADDED","object":{…}} and a line feed (D2–D4).
const (
	added    = `{"type":"ADDED","object":`
	modified = `{"type":"MODIFIED","object":`
	deleted  = `{"type":"DELETED","object":`
	failure  = `{"type":"ERROR","object":`
	marker   = `{"type":"BOOKMARK","object":`
	tail     = "}\n"
)

// initialEventsEnd is what the bookmark after the initial events says more (D26).
const initialEventsEnd = `,"annotations":{"k8s.io/initial-events-end":"true"}`

// bookmark sends an object of the kind with nothing but a position (D25).
func (st *Stream) bookmark(position uint64, more string) {
	b := make([]byte, 0, 192)
	b = append(b, `{"kind":"`...)
	b = append(b, st.opts.Kind...)
	b = append(b, `","apiVersion":"`...)
	b = append(b, st.opts.APIVersion...)
	b = append(b, `","metadata":{"resourceVersion":"`...)
	b = strconv.AppendUint(b, position, 10)
	b = append(b, '"')
	b = append(b, more...)
	st.send(marker, append(b, "}}"...))
}
