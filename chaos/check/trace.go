package check

import (
	"cmp"
	"maps"
	"slices"

	"github.com/anishathalye/porcupine"

	"quorate/chaos/history"
)

// chunkOperations is the maximum number of operations of one key that porcupine checks at once: its
// memory grows with the square of that number.
const chunkOperations = 2000

// trace is the narrowed history of one key: each operation is called only at the moment that the
// sweep found for it. A valid order of the narrowed history is one of the original history, too.
type trace struct {
	chunks []*chunk
	open   map[*history.Op]int // ids of operations of the last chunk that haven't returned
}

// chunk is a part of a trace. All its operations return before those of the next chunk are called,
// if necessary earlier than they did.
type chunk struct {
	from       object
	events     []porcupine.Event
	operations []operation
}

func newTrace() *trace { return &trace{open: map[*history.Op]int{}} }

// call adds an operation at its moment, when the newest change of its key is now.
func (tr *trace) call(o operation, now *change) {
	if len(tr.chunks) == 0 || len(tr.last().operations) >= chunkOperations {
		for _, op := range slices.SortedFunc(maps.Keys(tr.open), func(a, b *history.Op) int { return cmp.Compare(tr.open[a], tr.open[b]) }) {
			tr.ret(op)
		}
		tr.chunks = append(tr.chunks, &chunk{from: objectAfter(now)})
	}
	c := tr.last()
	id := len(c.operations)
	c.operations = append(c.operations, o)
	c.events = append(c.events, porcupine.Event{ClientId: o.op.Client, Kind: porcupine.CallEvent, Value: o, Id: id})
	tr.open[o.op] = id
}

// ret adds the return of an operation that was called in this chunk.
func (tr *trace) ret(op *history.Op) {
	id, isOpen := tr.open[op]
	if !isOpen {
		return
	}
	c := tr.last()
	c.events = append(c.events, porcupine.Event{ClientId: op.Client, Kind: porcupine.ReturnEvent, Id: id})
	delete(tr.open, op)
}

func (tr *trace) last() *chunk { return tr.chunks[len(tr.chunks)-1] }
