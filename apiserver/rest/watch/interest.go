package watch

import (
	"quorate/apiserver/objects/selector"
	"quorate/raftstore/history"
)

// interestOf returns the interest of a stream that follows changes: a condition that holds for each
// change that the stream sends, and for as few others as possible.
func interestOf(st *Stream) history.Interest {
	namespace := st.following.changes.Namespace()
	if namespace == "" {
		namespace, _ = st.opts.Selector.Namespace()
	}
	return required(st.opts.Selector).In(namespace)
}

// required returns what a selector requires beside a namespace.
func required(sel *selector.Selector) history.Interest {
	if name, ok := sel.Name(); ok {
		return history.Named(name)
	}
	if name, value, ok := sel.Field(); ok {
		return history.WithField(name, value)
	}
	if name, value, ok := sel.Label(); ok {
		return history.WithLabel(name, value)
	}
	return history.Everything()
}
