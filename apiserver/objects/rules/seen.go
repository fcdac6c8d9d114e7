package rules

import "quorate/apiserver/objects/schema"

// seen finds repeated values. It allocates only for many values, and its cost per value is bounded.
type seen[T comparable] struct {
	few  [16]T
	n    int
	many map[T]struct{}
}

// add records a value and returns whether it is new.
func (s *seen[T]) add(value T) bool {
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

func (s *seen[T]) has(value T) bool {
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

// reportRepeated reports items of a list whose field of that name repeats the value of an earlier
// item. Empty values don't count.
func reportRepeated(c *schema.Context, list *schema.Value, name string) {
	var names seen[string]
	for i, item := range list.Items() {
		if s := item.Field(name).Str(); s != "" && !names.add(s) {
			c.Duplicate(s, i, name)
		}
	}
}
