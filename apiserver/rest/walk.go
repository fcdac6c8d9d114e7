package rest

import (
	"context"
	"iter"
	"runtime"

	"quorate/apiserver/objects/selector"
	"quorate/apiserver/objects/stored"
	"quorate/raftstore/state"
)

// lookEvery is the number of objects between two checks of whether the context has ended.
const lookEvery = 1024

const (
	// stepBytes is how much of a collection a walk visits before it yields the processor: some
	// tenths of a millisecond if each object is encoded and compressed. Without the yield, the
	// goroutines that read from connections would wait until the runtime preempts the walk after 10
	// ms.
	stepBytes = 128 << 10
	// objectBytes is what an object counts in a step beside its bytes.
	objectBytes = 256
)

// step counts what a walk has gone through since it last yielded the processor.
type step int

// pass counts an object, and yields if the step is complete.
func (s *step) pass(o *state.Object) {
	*s += step(objectBytes + len(o.Value))
	if *s >= stepBytes {
		*s = 0
		runtime.Gosched()
	}
}

// walk calls fn with the selected objects of a collection, in the order of their keys, until fn
// returns false. If ctx ends first, it returns the error of ctx.
func (r *resource) walk(
	ctx context.Context, root *state.Root, namespace string, sel *selector.Selector, fn func(o *state.Object) bool,
) error {
	return r.visit(ctx, root, namespace, sel, "", func(o *state.Object) bool { return !sel.Matches(o) || fn(o) })
}

// visit calls fn with the objects of a collection after a key, whether the selector selects them or
// not, until fn returns false. If the selector determines the namespace or the name, visit skips
// all other objects. If ctx ends first, it returns the error of ctx, so that a walk ends when its
// client disconnects even if the selector selects nothing.
func (r *resource) visit(
	ctx context.Context, root *state.Root, namespace string, sel *selector.Selector, after state.Key,
	fn func(o *state.Object) bool,
) error {
	namespace = r.narrowed(namespace, sel)
	if name, fixed := sel.Name(); fixed && (namespace != "" || !r.kind.Namespaced) {
		if o := root.Get(stored.Key(r.kind, namespace, name)); o != nil && o.Key > after {
			fn(o)
		}
		return nil
	}
	var err error
	visited := 0
	var s step
	root.Ascend(stored.Prefix(r.kind, namespace), after, func(o *state.Object) bool {
		s.pass(o)
		if visited++; visited%lookEvery == 0 {
			if err = ctx.Err(); err != nil {
				return false
			}
		}
		return fn(o)
	})
	return err
}

// narrowed returns the namespace that a selector determines, if the list is not limited to one
// already.
func (r *resource) narrowed(namespace string, sel *selector.Selector) string {
	if namespace == "" && r.kind.Namespaced {
		namespace, _ = sel.Namespace()
	}
	return namespace
}

// source holds the objects of a collection in one state after some key, whether selected or not.
type source struct {
	index   uint64
	left    int  // number of objects
	remote  bool // from another node: can be iterated only once, and may be incomplete
	objects iter.Seq2[*state.Object, error]
}

// local returns the objects of a state on this node. The iteration ends with the error of ctx if
// that ends first.
func (r *resource) local(ctx context.Context, root *state.Root, namespace string, sel *selector.Selector, after state.Key) source {
	return source{
		index: root.Index(),
		left:  root.CountAfter(stored.Prefix(r.kind, r.narrowed(namespace, sel)), after),
		objects: func(yield func(*state.Object, error) bool) {
			err := r.visit(ctx, root, namespace, sel, after, func(o *state.Object) bool { return yield(o, nil) })
			if err != nil {
				yield(nil, err)
			}
		},
	}
}

// slice holds the first selected objects of a source.
type slice struct {
	objects []*state.Object
	last    state.Key // key of the last object visited
	passed  int       // number of objects up to last, whether selected or not
	more    bool      // there may be more objects
}

// takePage returns at most limit selected objects of a source (C31).
func takePage(src source, sel *selector.Selector, limit int) (slice, error) {
	var s slice
	for o, err := range src.objects {
		if err != nil {
			return s, err
		}
		if sel.Matches(o) {
			if len(s.objects) == limit {
				s.more = true
				return s, nil
			}
			s.objects = append(s.objects, o)
		}
		s.last = o.Key
		s.passed++
	}
	s.more = src.remote && s.passed < src.left
	return s, nil
}
