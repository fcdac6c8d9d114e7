package apply

import (
	"encoding/json"
	"errors"
	"maps"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/merge"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

const (
	// kubectl is the manager that takes over what it applied on the client's side.
	kubectl = "kubectl"
	// lastAppliedAnnotation is where kubectl keeps what it applied on the client's side.
	lastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration"
	// maxAnnotationBytes limits the annotations of an object. An annotation beyond it is left out.
	maxAnnotationBytes = 256 << 10
)

// applyOrAdopt applies a configuration. If kubectl would be refused only because of fields that its
// own client-side apply has set, it takes them over.
func (m *Manager) applyOrAdopt(content map[string]any, c *Config, entries *managed, options Options) (map[string]any, *managed, error) {
	merged, after, err := m.apply(content, c, entries, options)
	conflicts, ok := errors.AsType[merge.Conflicts](err)
	if !ok || options.Manager != kubectl {
		return merged, after, err
	}
	own := m.lastApplied(content)
	if own == nil {
		return nil, nil, err
	}
	var left merge.Conflicts
	for _, conflict := range conflicts {
		if !own.Has(conflict.Path) {
			left = append(left, conflict)
		}
	}
	if len(left) > 0 {
		return nil, nil, left
	}
	options.Force = true
	return m.apply(content, c, entries, options)
}

// lastApplied returns the fields that kubectl applied on the client's side and that have not
// changed since. It returns nil if there is no annotation, or if the annotation, which any client
// can write, is not an object of this version that fits the kind.
func (m *Manager) lastApplied(content map[string]any) *fieldpath.Set {
	text, _ := annotations(content)[lastAppliedAnnotation].(string)
	var applied map[string]any
	if text == "" || unmarshal([]byte(text), &applied) != nil || applied["apiVersion"] != m.kind.APIVersion {
		return nil
	}
	last, err := m.types.parse(m.kind, applied)
	if err != nil {
		return nil
	}
	live, err := m.types.parse(m.kind, content, typed.AllowDuplicates)
	if err != nil {
		return nil
	}
	set, err := last.ToFieldSet()
	if err != nil {
		return nil
	}
	comparison, err := last.Compare(live)
	if err != nil {
		return nil
	}
	return set.Difference(comparison.Modified).Difference(comparison.Added).Difference(comparison.Removed)
}

// setLastApplied brings the annotation of an object that has one up to date with a configuration.
func setLastApplied(content map[string]any, c *Config) error {
	all := annotations(content)
	if text, _ := all[lastAppliedAnnotation].(string); text == "" {
		return nil
	}
	applied := maps.Clone(c.content)
	if own := annotations(applied); own[lastAppliedAnnotation] != nil {
		metadata, own := maps.Clone(applied["metadata"].(map[string]any)), maps.Clone(own)
		delete(own, lastAppliedAnnotation)
		metadata["annotations"] = own
		applied["metadata"] = metadata
	}
	text, err := json.Marshal(applied)
	if err != nil {
		return err
	}
	all[lastAppliedAnnotation] = string(text) + "\n"
	size := 0
	for key, value := range all {
		text, _ := value.(string)
		size += len(key) + len(text)
	}
	if size > maxAnnotationBytes {
		delete(all, lastAppliedAnnotation)
	}
	return nil
}

// annotations returns the annotations of an object; nil if it has none.
func annotations(content map[string]any) map[string]any {
	metadata, _ := content["metadata"].(map[string]any)
	all, _ := metadata["annotations"].(map[string]any)
	return all
}
