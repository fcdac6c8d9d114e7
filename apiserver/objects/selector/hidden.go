package selector

import (
	"strings"

	"quorate/raftstore/state"
)

// hiddenMark stands first among the fields of an object that is not initialized: no field's name
// sorts before it. That makes the test one of a prefix, and the end of the initialization a change
// of fields, which watches see both sides of.
const hiddenMark = "!uninitialized\x00\x00"

// Hide returns the fields of an object that is not initialized: only selectors that ask for such
// match it (semantics A30).
func Hide(fields state.Attributes) state.Attributes { return hiddenMark + fields }

func isHidden(o *state.Object) bool { return strings.HasPrefix(string(o.Fields), hiddenMark) }

// WithHidden returns a selector that matches what s does, and objects that are not initialized too
// (semantics C44).
func WithHidden(s *Selector) *Selector {
	out := Selector{hidden: true}
	if s != nil {
		out = *s
		out.hidden = true
	}
	return &out
}
