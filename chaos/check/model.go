package check

import (
	"context"
	"fmt"

	"github.com/anishathalye/porcupine"

	"quorate/chaos/client"
	"quorate/chaos/history"
)

// object is the state of one key: its item, or the zero Item if the object does not exist.
type object struct {
	item  history.Item
	high  uint64 // the highest version that the key has had
	ended bool   // nothing has effect any more
}

func objectAfter(c *change) object {
	if c == nil {
		return object{}
	}
	return object{item: c.item(), high: c.version()}
}

// fate says whether an operation was applied, as far as this is known.
type fate uint8

const (
	done fate = iota // also of reads and refusals: it was answered
	open             // it may be done at any time after its call, or never
	end              // no operation: from here on what is open is never done
)

// operation is a step of the model: an operation and its result, which may be known although its
// client did not receive it.
type operation struct {
	op   *history.Op
	got  history.Item
	fate fate
}

// model is the specification of one key, for porcupine. When ctx is done, every step fails, so that
// a search ends.
func model(ctx context.Context, from object) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return from },
		Step: func(state, input, _ any) (bool, any) {
			if ctx.Err() != nil {
				return false, state
			}
			return input.(operation).step(state.(object))
		},
		Hash: func(state any) uint64 { return state.(object).high },
		DescribeOperation: func(input, _ any) string {
			o := input.(operation)
			if o.fate == end {
				return "the end"
			}
			return fmt.Sprintf("%s %q if %d: %s, %s", o.op.Kind, o.op.Value, o.op.Expect.Version, o.op.Outcome, describeItem(o.got))
		},
		DescribeState: func(state any) string { return describeItem(state.(object).item) },
	}
}

// step applies the operation to the state, and reports whether its result was possible.
func (o operation) step(had object) (bool, object) {
	switch {
	case o.fate == end:
		return true, object{high: had.high, ended: true}
	case o.fate == open && had.ended:
		return true, had
	case had.ended:
		return false, had
	case !o.op.Kind.IsWrite() || o.op.Outcome == client.NotFound || o.op.Outcome == client.Conflict:
		return allows(o.op, had.item), had
	case !admits(o.op, had.item) || o.got.Version != 0 && o.got.Version <= had.high: // version 0 isn't known
		return false, had
	case o.op.Kind == history.Delete:
		return true, object{high: max(had.high, o.got.Version)}
	default:
		return true, object{item: o.got, high: max(had.high, o.got.Version)}
	}
}

// admits reports whether a write takes effect in the state.
func admits(op *history.Op, had history.Item) bool {
	if op.Kind == history.Create {
		return had == history.Item{}
	}
	return had != history.Item{} && had.UID == op.Expect.UID && had.Version == op.Expect.Version
}

// allows reports whether the state explains the result of a read, or the refusal of a write.
func allows(op *history.Op, had history.Item) bool {
	absent := had == history.Item{}
	switch {
	case op.Outcome == client.NotFound:
		return absent && op.Kind != history.Create
	case op.Kind.IsWrite():
		return !absent && !admits(op, had)
	default:
		return had == op.Got
	}
}
