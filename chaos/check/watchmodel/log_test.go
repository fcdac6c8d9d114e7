package watchmodel_test

import (
	"slices"
	"testing"
	"unique"

	"quorate/chaos/check/watchmodel"
)

// logFlaws are flaws of the references, which form the log, and of the responses to writers.
func logFlaws() []flaw {
	// everywhere changes an event of all references.
	everywhere := func(r *watchmodel.Record, n int, change func(*watchmodel.Event) (drop bool)) {
		references := r.Resources[resource].References
		for i := range references {
			if change(&references[i].Events[n]) {
				references[i].Events = slices.Delete(references[i].Events, n, n+1)
			}
		}
	}
	drop := func(*watchmodel.Event) bool { return true }
	acknowledged := func(r *watchmodel.Record, w *world, fits func(*watchmodel.Write) bool) int {
		for i := range r.Resources[resource].Writes {
			if write := &r.Resources[resource].Writes[i]; write.Outcome == watchmodel.Acknowledged && fits(write) && i < len(w.changes)-1 {
				return i
			}
		}
		return -1
	}
	return []flaw{
		{"one node does not tell of a change", watchmodel.Agreement, func(w *world, r *watchmodel.Record) bool {
			one := &r.Resources[resource].References[1]
			n := w.IntN(len(one.Events))
			one.Events = slices.Delete(one.Events, n, n+1)
			return true
		}},
		{"one node reports another object", watchmodel.Agreement, func(w *world, r *watchmodel.Record) bool {
			e := &r.Resources[resource].References[1].Events[w.IntN(10)]
			o := e.Object.Value()
			o.Labels += "z"
			e.Object = unique.Make(o)
			return true
		}},
		{"one node reports a change twice", watchmodel.Agreement, func(w *world, r *watchmodel.Record) bool {
			one := &r.Resources[resource].References[1]
			one.Events = append(one.Events, one.Events[w.IntN(len(one.Events))])
			return true
		}},
		{"no node reports an acknowledged change", watchmodel.Agreement, func(w *world, r *watchmodel.Record) bool {
			n := acknowledged(r, w, func(write *watchmodel.Write) bool { return write.Kind == "replace" })
			if n >= 0 {
				everywhere(r, n, drop)
			}
			return n >= 0
		}},
		{"no node reports an acknowledged deletion", watchmodel.Agreement, func(w *world, r *watchmodel.Record) bool {
			n := acknowledged(r, w, func(write *watchmodel.Write) bool { return write.Removes && write.Kind == "delete" })
			if n >= 0 {
				everywhere(r, n, drop)
			}
			return n >= 0
		}},
		{"no node tells that an object is being deleted", watchmodel.Agreement, func(w *world, r *watchmodel.Record) bool {
			n := acknowledged(r, w, func(write *watchmodel.Write) bool { return write.Deletes != "" && !write.Removes })
			if n >= 0 {
				everywhere(r, n, drop)
				kept := r.Resources[resource].Writes[n].Deletes
				for i, c := range slices.Backward(w.changes) {
					if i > n && c.object.UID == kept {
						everywhere(r, i-1, drop)
					}
				}
			}
			return n >= 0
		}},
		{"all nodes tell of a change under another version", watchmodel.Agreement, func(w *world, r *watchmodel.Record) bool {
			n := acknowledged(r, w, func(write *watchmodel.Write) bool { return write.Kind == "create" })
			if n < 0 {
				return false
			}
			everywhere(r, n, func(e *watchmodel.Event) bool {
				o := e.Object.Value()
				o.Version += 1000
				e.Object = unique.Make(o)
				return false
			})
			return true
		}},
		{"all nodes tell of a creation as a change", watchmodel.Agreement, func(w *world, r *watchmodel.Record) bool {
			everywhere(r, 0, func(e *watchmodel.Event) bool { e.Type = watchmodel.Modified; return false })
			return true
		}},
		{"all nodes tell of what nobody did", watchmodel.Agreement, func(w *world, r *watchmodel.Record) bool {
			r.Resources[resource].Writes = slices.Clone(r.Resources[resource].Writes[1:])
			return w.changes[0].kind == watchmodel.Added
		}},
		{"no reference gets to the last write", watchmodel.Agreement, func(w *world, r *watchmodel.Record) bool {
			references := r.Resources[resource].References
			for i := range references {
				references[i].Reached = w.changes[5].object.Version
			}
			return true
		}},
		{"one reference does not get to the last write", watchmodel.Arrival, func(w *world, r *watchmodel.Record) bool {
			r.Resources[resource].References[0].Reached = w.changes[5].object.Version
			return true
		}},
	}
}

// TestGapInTheLog checks that events which no reference covers are counted and not judged.
func TestGapInTheLog(t *testing.T) {
	w := simulate(3, 60)
	r := w.record()
	gone := w.changes[10].object.Version
	references := r.Resources[resource].References
	for i := range references {
		references[i].Events, references[i].Reached = references[i].Events[:10], gone-1
		references[i].Ended = true
		references[i].Refusals = []watchmodel.Refusal{{Node: "n1", Position: gone - 1}}
	}
	v := watchmodel.Judge(r)
	if v.Unjudged == 0 || len(v.Expired) != len(references) {
		t.Errorf("%d events are not judged, and %d positions expired, although the log has a gap", v.Unjudged, len(v.Expired))
	}
	for _, f := range v.Findings {
		if f.Count > 0 && f.Rule == watchmodel.Foreign {
			t.Errorf("%s: %q", f.Rule, f.Samples)
		}
	}
}

// TestRefusedWatches checks that a watch which its user may not have, and which was refused, counts
// as refused and violates nothing.
func TestRefusedWatches(t *testing.T) {
	r := simulate(4, 20).record()
	r.Chains = []watchmodel.Chain{{Resource: resource, Forbidden: true, Complete: true}}
	if v := watchmodel.Judge(r); v.Refused != 1 || v.Violations() != 0 {
		t.Errorf("%+v", v)
	}
}
