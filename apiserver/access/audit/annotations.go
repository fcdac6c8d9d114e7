package audit

// The bounds of the annotations that others than this package add to an event.
const (
	maxAnnotations     = 128
	maxAnnotationBytes = 64 << 10
)

// Annotations are annotations of an event, in the order in which they were added.
type Annotations struct {
	list  []annotation
	bytes int
	cut   bool
}

type annotation struct{ key, value string }

// Add adds an annotation, or replaces the one with its key. Those beyond the bounds are left out,
// and the event says so.
func (a *Annotations) Add(key, value string) {
	for i := range a.list {
		if had := &a.list[i]; had.key == key {
			a.bytes += len(value) - len(had.value)
			if a.bytes > maxAnnotationBytes {
				value, a.cut = "", true
			}
			had.value = value
			return
		}
	}
	if len(a.list) == maxAnnotations || a.bytes+len(key)+len(value) > maxAnnotationBytes {
		a.cut = true
		return
	}
	a.bytes += len(key) + len(value)
	a.list = append(a.list, annotation{key, value})
}
