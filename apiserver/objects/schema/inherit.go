package schema

import (
	"fmt"
	"reflect"
)

// inherit completes the files of kinds that are other versions of a stored one, in the same form:
// all but their names is that kind's.
func (s *sources) inherit() error {
	stored := map[string]*KindSpec{}
	for _, file := range s.kinds {
		if file.spec.Storage == "" && !file.spec.Unstored {
			stored[file.spec.resource()] = file.spec
		}
	}
	for i := range s.kinds {
		file := &s.kinds[i]
		own := file.spec
		if own.Storage == "" || own.Hooks.converts() {
			continue
		}
		from := stored[own.Storage]
		if from == nil {
			return fmt.Errorf("%s: storage: no kind is stored as %s", file.name, own.Storage)
		}
		if rest := own.named(KindSpec{}); !reflect.DeepEqual(&rest, own) {
			return fmt.Errorf("%s: another version of %s has names of its own, or hooks.toStorage and hooks.fromStorage, which come together",
				file.name, own.Storage)
		}
		merged := own.named(*from)
		merged.Messages = nil
		file.spec = &merged
	}
	return nil
}

// named returns another kind's file with what is this one's own in one that inherits.
func (s *KindSpec) named(of KindSpec) KindSpec {
	of.Kind, of.Group, of.Version, of.APIVersion, of.Prefix = s.Kind, s.Group, s.Version, s.APIVersion, s.Prefix
	of.Storage, of.Extra, of.Notes = s.Storage, s.Extra, s.Notes
	return of
}

// converts reports whether the kind is a view of a kind in another form.
func (h *KindHooksSpec) converts() bool { return h.ToStorage != "" || h.FromStorage != "" }

// resource is the collection that objects of the kind are stored in.
func (s *KindSpec) resource() string {
	switch {
	case s.Storage != "":
		return s.Storage
	case s.Group != "":
		return s.Group + "/" + s.Plural
	}
	return s.Plural
}
