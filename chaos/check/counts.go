package check

import (
	"slices"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/history"
)

// isQuorumRead reports whether operations of the kind must show the newest state.
func isQuorumRead(k history.Kind) bool {
	return k == history.Get || k == history.List || k == history.PagedList
}

// answered reports whether the operation was done, as opposed to rejected or left in doubt.
func answered(op *history.Op) bool {
	return op.Outcome == client.OK || op.Outcome == client.NotFound && !op.Kind.IsWrite()
}

// workloads counts the outcomes of the operations of each kind.
func workloads(r *history.Record) map[history.Kind]Counts {
	all := map[history.Kind]Counts{}
	for i := range r.Ops {
		op := &r.Ops[i]
		c := all[op.Kind]
		c.Operations++
		switch {
		case answered(op):
			c.Acknowledged++
		case op.Outcome == client.Unknown:
			c.Unknown++
		default:
			c.Rejected++
		}
		all[op.Kind] = c
	}
	for kind, n := range r.Unavailable {
		c := all[kind]
		c.Operations += n
		c.Unavailable += n
		all[kind] = c
	}
	for kind, n := range r.Unanswered {
		c := all[kind]
		c.Operations += n
		c.Unknown += n
		all[kind] = c
	}
	return all
}

// longestGap returns the longest time between two responses to operations of some kinds, from the
// invocation of the first operation to that of the last, after which no client was trying.
func longestGap(ops []history.Op, of func(history.Kind) bool) time.Duration {
	var moments []time.Duration
	var first, last time.Duration
	tried := false
	for i := range ops {
		op := &ops[i]
		if !of(op.Kind) {
			continue
		}
		if !tried {
			first, last, tried = op.Invoked, op.Invoked, true
		}
		first, last = min(first, op.Invoked), max(last, op.Invoked)
		if answered(op) {
			moments = append(moments, op.Answered)
		}
	}
	moments = append(moments, first)
	slices.Sort(moments)
	if last > moments[len(moments)-1] {
		moments = append(moments, last)
	}
	var longest time.Duration
	for i := 1; i < len(moments); i++ {
		longest = max(longest, moments[i]-moments[i-1])
	}
	return longest
}
