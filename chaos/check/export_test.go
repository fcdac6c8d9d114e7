package check

import (
	"context"
	"time"

	"github.com/anishathalye/porcupine"

	"quorate/chaos/history"
)

// Agreement judges the quorum operations of a record twice: by the sweep, and by porcupine alone,
// which does not use the moments that the sweep finds. confirmed reports whether porcupine accepts
// these moments. The timeline of the record must be certain.
func Agreement(ctx context.Context, r *history.Record, timeout time.Duration) (swept, confirmed bool, searched porcupine.CheckResult) {
	ops, found := byInvocation(r.Ops), findings{}
	w := newWrites(ops)
	t := newTimeline(r, w)
	t.effects(w, found)
	s := &search{timeline: t, ops: byKey(ops)}
	traces, misplaced := t.order(ops, found)
	confirmed, searched = true, porcupine.Ok
	for key := range s.ops {
		confirmed = confirmed && confirm(ctx, traces[key])
		if result := porcupine.CheckOperationsTimeout(model(ctx, object{}), s.operations(key), timeout); result != porcupine.Ok {
			searched = result
		}
	}
	return len(misplaced) == 0, confirmed, searched
}
