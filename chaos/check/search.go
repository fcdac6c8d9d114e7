package check

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"quorate/chaos/history"
)

const (
	// maxSearched is the maximum number of operations of one key in one search of porcupine, whose
	// memory grows with the square of that number.
	maxSearched = 20_000
	// maxDrawn is the maximum number of operations on a page, and maxVisualizations the maximum
	// number of pages.
	maxDrawn, maxVisualizations = 2 * chunkOperations, 10
	// drawTimeout bounds the search for what the page of a misplaced operation shows.
	drawTimeout = 2 * time.Second
)

// search looks for orders, with porcupine.
type search struct {
	*timeline
	seen      func() *observations     // made when it is needed first
	ops       map[string][]*history.Op // by key
	misplaced map[string]misplaced
	dir       string // of visualizations; "" for none
	verdict   *Verdict
	found     findings
}

// sure reports whether the timeline determines the changes of a key.
func (s *search) sure(key string) bool { return s.complete && !s.doubtful[key] }

// find makes porcupine search for an order of the operations on a key.
func (s *search) find(ctx context.Context, key string, budget time.Duration) {
	operations := s.operations(key)
	if !s.sure(key) {
		operations = s.doubtfulOperations(key)
	}
	if ctx.Err() != nil || budget <= 0 || len(operations) > maxSearched {
		s.undecided(key)
		return
	}
	m := model(ctx, object{})
	result, info := porcupine.CheckOperationsVerbose(m, operations, budget)
	switch {
	case ctx.Err() != nil:
		s.undecided(key)
		return
	case result == porcupine.Unknown:
		s.undecided(key)
	case result == porcupine.Illegal:
		s.found.add(Linearizable, "%s: no order of %d operations explains what was answered", key, len(operations))
	}
	if result != porcupine.Ok && len(operations) <= maxDrawn {
		s.visualize(key, m, info)
	}
}

// draw writes a page about a key with a misplaced operation, for which a finding exists already.
func (s *search) draw(ctx context.Context, key string, wrong misplaced, budget time.Duration) {
	from, operations := s.around(wrong)
	if s.dir == "" || ctx.Err() != nil || budget <= 0 || len(operations) > maxDrawn {
		return
	}
	m := model(ctx, from)
	if result, info := porcupine.CheckOperationsVerbose(m, operations, min(budget, drawTimeout)); result != porcupine.Ok && ctx.Err() == nil {
		s.visualize(key, m, info)
	}
}

// undecided records that a key, and thus the whole history, is undecided.
func (s *search) undecided(key string) {
	s.verdict.UndecidedKeys = append(s.verdict.UndecidedKeys, key)
	s.verdict.Linearizable = Undecided
}

// visualize writes a page about a key.
func (s *search) visualize(key string, m porcupine.Model, info porcupine.LinearizationInfo) {
	if s.dir == "" || len(s.verdict.Visualizations) >= maxVisualizations {
		return
	}
	path := filepath.Join(s.dir, url.PathEscape(key)+".html")
	if err := porcupine.VisualizePath(m, info, path); err != nil {
		s.verdict.Problems = append(s.verdict.Problems, fmt.Sprintf("visualize %s: %v", key, err))
		return
	}
	s.verdict.Visualizations = append(s.verdict.Visualizations, path)
}

// around returns the operations around a misplaced one, and the state before them.
func (s *search) around(wrong misplaced) (from object, list []porcupine.Operation) {
	operations := []operation{wrong.operation}
	if c := wrong.around; c != nil {
		from = c.from
		operations = append(operations, slices.DeleteFunc(slices.Clone(c.operations), func(o operation) bool { return o.op == wrong.op })...)
	}
	for _, o := range operations {
		returns := o.op.Answered
		if c := s.made[o.op]; c != nil {
			returns = c.known()
		}
		list = append(list, called(o, returns))
	}
	return from, list
}

// operations returns the operations on a key for porcupine, if the timeline determines the effect
// of each write of unknown outcome.
func (s *search) operations(key string) (list []porcupine.Operation) {
	for _, op := range s.ops[key] {
		if c := s.made[op]; c != nil {
			list = append(list, called(operation{op, c.event.Item, done}, c.known()))
		} else if speaks(op) {
			list = append(list, called(operation{op, op.Got, done}, op.Answered))
		}
	}
	return list
}

// doubtfulOperations returns the operations on a key whose versions the timeline does not
// determine. A create or replace of unknown outcome was applied if any client saw its value. If
// none did and the record has final states, it is left out; without final states it may be applied
// at any time, and so may a deletion. The final states count as reads.
func (s *search) doubtfulOperations(key string) (list []porcupine.Operation) {
	everything := s.seen()
	openEnd := everything.last + 2
	deleting := map[target]bool{}
	for _, op := range s.ops[key] {
		of := target{op.Expect.UID, op.Expect.Version}
		saw, seen := everything.items[sent{key, op.Value}]
		switch {
		case speaks(op):
			o := operation{op, op.Got, done}
			if c := s.made[op]; c != nil && op.Kind == history.Delete { // its client wasn't told the version
				o.got.Version = c.version()
			}
			list = append(list, called(o, op.Answered))
		case op.Kind == history.Delete && !deleting[of]: // that which was asked for first will do for all
			deleting[of] = true
			list = append(list, called(operation{op, op.Got, open}, openEnd))
		case op.Kind == history.Delete || !op.Kind.IsWrite():
		case seen:
			list = append(list, called(operation{op, saw.item, done}, max(saw.at, op.Invoked)))
		case len(everything.finals) == 0:
			list = append(list, called(operation{op, history.Item{Key: key, Value: op.Value}, open}, openEnd))
		}
	}
	for _, read := range everything.finals[key] {
		list = append(list, called(operation{op: read}, read.Answered))
	}
	over := &history.Op{Client: everything.clients, Invoked: everything.last + 1}
	return append(list, called(operation{op: over, fate: end}, over.Invoked))
}

func called(o operation, returns time.Duration) porcupine.Operation {
	return porcupine.Operation{ClientId: o.op.Client, Input: o, Call: int64(o.op.Invoked), Return: int64(returns)}
}
