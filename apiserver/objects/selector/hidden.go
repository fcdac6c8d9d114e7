package selector

import (
	"strings"

	"quorate/raftstore/state"
)

// hiddenMark is the first field attribute of an object that is not initialized. It sorts before all
// field names, so that isHidden only has to check for a prefix. The end of initialization changes
// the attributes, so that a watch can detect it by comparing those before and after a write.
const hiddenMark = "!uninitialized\x00\x00"

// Hide returns the field attributes of an object that is not initialized: only selectors made by
// WithHidden match it (semantics A30).
func Hide(fields state.Attributes) state.Attributes { return hiddenMark + fields }

func isHidden(o *state.Object) bool { return strings.HasPrefix(string(o.Fields), hiddenMark) }

// WithHidden returns a selector that matches what s matches, and objects that are not initialized
// too (semantics C44).
func WithHidden(s *Selector) *Selector {
	out := Selector{hidden: true}
	if s != nil {
		out = *s
		out.hidden = true
	}
	return &out
}
