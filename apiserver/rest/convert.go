package rest

import (
	"context"
	"iter"

	"quorate/raftstore/state"
)

// Bounds of the objects that are converted by one call of a webhook.
const (
	maxConverted      = 500
	maxConvertedBytes = 2 << 20
)

// converted yields objects in the form of the resource's version, if a webhook converts them: many
// objects with each call. Otherwise it returns objects.
func (r *resource) converted(ctx context.Context, objects iter.Seq2[*state.Object, error]) iter.Seq2[*state.Object, error] {
	if !r.kind.ConvertsRemotely() {
		return objects
	}
	return func(yield func(*state.Object, error) bool) {
		var batch []*state.Object
		size := 0
		for o, err := range objects {
			if err != nil {
				yield(nil, err)
				return
			}
			batch, size = append(batch, o), size+len(o.Value)
			if len(batch) < maxConverted && size < maxConvertedBytes {
				continue
			}
			if !r.convertBatch(ctx, batch, yield) {
				return
			}
			batch, size = batch[:0], 0
		}
		r.convertBatch(ctx, batch, yield)
	}
}

// convertBatch yields objects in the form of the resource's version. It returns false once yield
// has, or if the objects cannot be converted.
func (r *resource) convertBatch(ctx context.Context, objects []*state.Object, yield func(*state.Object, error) bool) bool {
	values := make([][]byte, len(objects))
	for i, o := range objects {
		values[i] = o.Value
	}
	values, err := r.kind.ConvertStored(ctx, values)
	if err != nil {
		yield(nil, err)
		return false
	}
	for i, o := range objects {
		as := *o
		as.Value = values[i]
		if !yield(&as, nil) {
			return false
		}
	}
	return true
}
