package watch

import "quorate/raftstore/history"

// interestOf returns the interest of a stream: a condition that holds for each change that the
// stream sends, and for as few others as possible.
func interestOf(st *Stream, changes *history.Cursor) history.Interest {
	sel := st.opts.Selector
	if name, ok := sel.Name(); ok {
		return history.Named(name)
	}
	if name, value, ok := sel.Field(); ok {
		return history.WithField(name, value)
	}
	if name, value, ok := sel.Label(); ok {
		return history.WithLabel(name, value)
	}
	namespace := changes.Namespace()
	if namespace == "" {
		namespace, _ = sel.Namespace()
	}
	if namespace == "" {
		return history.Everything()
	}
	return history.InNamespace(namespace)
}
