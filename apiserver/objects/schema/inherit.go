package schema

import (
	"fmt"
	"reflect"
)

// inherit completes the files of kinds that serve the objects of a stored kind in the same form, in
// another version or another API group. Such a file contains names only and takes everything else
// from the stored kind's file.
func (s *sources) inherit() error {
	s.stored = map[string]*KindSpec{}
	for _, file := range s.kinds {
		if file.spec.Storage == "" && !file.spec.Unstored {
			s.stored[file.spec.resource()] = file.spec
		}
	}
	for i := range s.kinds {
		file := &s.kinds[i]
		own := file.spec
		if own.Storage == "" || own.Message != "" {
			continue
		}
		from := s.stored[own.Storage]
		if from == nil {
			return fmt.Errorf("%s: storage: no kind is stored as %s", file.name, own.Storage)
		}
		if rest := own.completedFrom(KindSpec{}); !reflect.DeepEqual(&rest, own) {
			return fmt.Errorf("%s: another version or group of %s must have only names, or a message of its own", file.name, own.Storage)
		}
		merged := own.completedFrom(*from)
		merged.Messages = nil
		file.spec = &merged
	}
	return nil
}

// completedFrom returns the file of another kind with the names and notes of s.
func (s *KindSpec) completedFrom(of KindSpec) KindSpec {
	of.Kind, of.Group, of.Version, of.APIVersion, of.Prefix = s.Kind, s.Group, s.Version, s.APIVersion, s.Prefix
	of.Storage, of.Extra, of.Notes = s.Storage, s.Extra, s.Notes
	return of
}

// converts reports whether the kind is a view of a kind in another form.
func (h *KindHooksSpec) converts() bool { return h.ToStorage != "" || h.FromStorage != "" }

// resource returns the resource under which objects of the kind are stored.
func (s *KindSpec) resource() string {
	switch {
	case s.Storage != "":
		return s.Storage
	case s.Group != "":
		return s.Group + "/" + s.Plural
	}
	return s.Plural
}
