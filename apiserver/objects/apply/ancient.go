package apply

import (
	"cmp"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

const (
	// maxUpdaters is the number of entries with the operation Update beyond which the oldest
	// entries of the same version are merged. The entries with the operation Apply are bounded only
	// by the size of the object, because each records what one manager has applied.
	maxUpdaters = 10
	// ancientManager is the manager of merged entries.
	ancientManager = "ancient-changes"
)

// merge merges the oldest entries of updates by version until at most maxUpdaters are left.
func (m *managed) merge() {
	var updaters []string
	for id, set := range m.fields {
		if !set.Applied() {
			updaters = append(updaters, id)
		}
	}
	surplus := len(updaters) - maxUpdaters
	if surplus <= 0 {
		return
	}
	slices.SortFunc(updaters, func(a, b string) int {
		return cmp.Or(cmp.Compare(m.seconds(a), m.seconds(b)), strings.Compare(a, b))
	})
	first := map[fieldpath.APIVersion]string{}
	for _, id := range updaters {
		if surplus == 0 {
			return
		}
		set := m.fields[id]
		version := set.APIVersion()
		oldest, seen := first[version]
		if !seen { // it is merged once a second one of its version is
			first[version] = id
			continue
		}
		ancient := owner{Manager: ancientManager, Operation: operationUpdate, APIVersion: string(version)}.id()
		into := m.fields[ancient]
		if into == nil || id == ancient {
			into = m.fields[oldest]
			delete(m.fields, oldest)
		}
		delete(m.fields, id)
		m.fields[ancient] = fieldpath.NewVersionedSet(set.Set().Union(into.Set()), version, false)
		m.times[ancient] = m.times[id] // the more recent one
		surplus--
	}
}

func (m *managed) seconds(id string) int64 {
	t, ok := m.times[id]
	if !ok {
		return 0
	}
	return t.Unix()
}
