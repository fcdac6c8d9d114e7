package validation

import "quorate/apiserver/objects/schema"

// set is a set for finding duplicate values. It allocates only when it has more than 16 values.
type set[T comparable] struct {
	few  [16]T
	n    int
	many map[T]struct{}
}

// add adds a value and reports whether it was not in the set.
func (s *set[T]) add(value T) bool {
	if s.has(value) {
		return false
	}
	switch {
	case s.many != nil:
		s.many[value] = struct{}{}
	case s.n < len(s.few):
		s.few[s.n] = value
		s.n++
	default:
		s.many = make(map[T]struct{}, 4*len(s.few))
		for _, old := range s.few {
			s.many[old] = struct{}{}
		}
		s.many[value] = struct{}{}
	}
	return true
}

func (s *set[T]) has(value T) bool {
	if s.many != nil {
		_, ok := s.many[value]
		return ok
	}
	for _, old := range s.few[:s.n] {
		if old == value {
			return true
		}
	}
	return false
}

// reportRepeated reports the items of a list whose field name has the same value as in an earlier
// item. It ignores empty values.
func reportRepeated(c *schema.Context, list *schema.Value, name string) {
	var names set[string]
	for i, item := range list.Items() {
		if s := item.Field(name).Str(); s != "" && !names.add(s) {
			c.Duplicate(s, i, name)
		}
	}
}
