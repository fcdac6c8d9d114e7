package schema

import (
	"fmt"
	"slices"
	"strings"
)

// kind compiles a kind file.
func (c *compiler) kind(spec *KindSpec) (*Kind, error) {
	k := &Kind{Spec: spec, prefix: kindPrefix(spec)}
	if err := k.identify(spec); err != nil {
		return nil, err
	}
	contexts := slices.Clone(spec.Contexts)
	slices.Sort(contexts)
	of := setting{contexts: strings.Join(contexts, " ")}
	if stored := c.src.stored[spec.Storage]; stored != nil && !spec.Hooks.converts() {
		of.groups = renaming{stored.Group, spec.Group}
	}
	t, err := c.message(spec.Message, of)
	if err != nil {
		return nil, err
	}
	k.Message = t.message
	if k.slots, err = findSlots(k.Message); err != nil {
		return nil, err
	}
	k.strategy(spec)
	if k.Operations, err = offered(spec, k.Strategy.HasStatus); err != nil {
		return nil, err
	}
	if k.name, err = compileNameRule(spec.NameRule, c.formats); err != nil {
		return nil, err
	}
	if err := c.kindHooks(k, spec.Hooks); err != nil {
		return nil, err
	}
	k.selectors, err = compileSelectors(k, spec.FieldSelectors)
	return k, err
}

func (k *Kind) identify(spec *KindSpec) error {
	for name, value := range map[string]string{
		"kind": spec.Kind, "version": spec.Version, "prefix": spec.Prefix, "plural": spec.Plural, "message": spec.Message,
	} {
		if value == "" {
			return fmt.Errorf("%s is missing", name)
		}
	}
	want := spec.Version
	if spec.Group != "" {
		want = spec.Group + "/" + spec.Version
	}
	if spec.APIVersion != want {
		return fmt.Errorf("apiVersion: %q is not %q", spec.APIVersion, want)
	}
	if spec.Scope != scopeNamespaced && spec.Scope != scopeCluster {
		return fmt.Errorf("scope: %q is neither %s nor %s", spec.Scope, scopeNamespaced, scopeCluster)
	}
	k.Identity = Identity{
		Kind: spec.Kind, Group: spec.Group, Version: spec.Version, APIVersion: spec.APIVersion, Prefix: spec.Prefix,
		Plural: spec.Plural, Singular: orElse(spec.Singular, strings.ToLower(spec.Kind)),
		ListKind: orElse(spec.ListKind, spec.Kind+"List"), ShortNames: spec.ShortNames, Categories: spec.Categories,
		Namespaced: spec.Scope == scopeNamespaced,
	}
	k.Resource = spec.resource()
	return nil
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func (k *Kind) strategy(spec *KindSpec) {
	s := spec.Strategy
	k.Strategy = Strategy{
		Generation:               s.Generation,
		AllowUnconditionalUpdate: s.AllowUnconditionalUpdate == nil || *s.AllowUnconditionalUpdate,
		AllowCreateOnUpdate:      s.AllowCreateOnUpdate,
		HasStatus:                k.slots.status >= 0,
		DefaultGracePeriod:       s.DefaultGracePeriod.Default,
		DefaultPropagation:       orElse(s.DefaultPropagation, "Background"),
		CleanupFinalizer:         s.CleanupFinalizer,
		TTLSeconds:               s.TTLSeconds,
	}
}

func findSlots(m *Message) (metaSlots, error) {
	s := metaSlots{spec: -1, status: -1}
	slot := func(m *Message, name string) (int, error) {
		f := m.byName[name]
		if f == nil {
			return 0, fmt.Errorf("message %s has no field %s", m.Name, name)
		}
		return f.index, nil
	}
	var err error
	for _, want := range []struct {
		name string
		at   *int
	}{{"kind", &s.kind}, {"apiVersion", &s.version}, {"metadata", &s.metadata}} {
		if *want.at, err = slot(m, want.name); err != nil {
			return s, err
		}
	}
	if s.kind != 0 || s.version != 1 || s.metadata != 2 {
		return s, fmt.Errorf("message %s does not begin with apiVersion, kind, metadata", m.Name)
	}
	s.metaType = m.fields[s.metadata].Type
	if s.metaType.message == nil || s.metaType.message.Name != metaMessage {
		return s, fmt.Errorf("message %s: metadata is no %s", m.Name, metaMessage)
	}
	for _, name := range [...]string{"spec", "template"} { // a PodTemplate has only a template
		if f := m.byName[name]; f != nil && s.spec < 0 {
			s.spec = f.index
		}
	}
	if f := m.byName["status"]; f != nil {
		s.status = f.index
	}
	for name, at := range map[string]*int{
		"name": &s.name, "generateName": &s.generateName, "namespace": &s.namespace, "selfLink": &s.selfLink, "uid": &s.uid,
		"resourceVersion": &s.resourceVersion, "generation": &s.generation, "creationTimestamp": &s.creationTimestamp,
		"deletionTimestamp": &s.deletionTimestamp, "deletionGracePeriodSeconds": &s.deletionGracePeriodSeconds,
		"labels": &s.labels, "annotations": &s.annotations, "ownerReferences": &s.ownerReferences,
		"initializers": &s.initializers, "finalizers": &s.finalizers, "clusterName": &s.clusterName,
		"managedFields": &s.managedFields,
	} {
		if *at, err = slot(s.metaType.message, name); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (c *compiler) kindHooks(k *Kind, spec KindHooksSpec) error {
	h, err := &k.hooks, error(nil)
	for _, list := range []struct {
		to    *[]Step
		key   string
		names []string
	}{
		{&h.afterDecode, "afterDecode", spec.AfterDecode},
		{&h.prepare[Create], "prepareForCreate", spec.PrepareForCreate},
		{&h.prepare[Update], "prepareForUpdate", spec.PrepareForUpdate},
		{&h.prepare[UpdateStatus], "prepareForStatusUpdate", spec.PrepareForStatusUpdate},
		{&h.prepare[Finalize], "prepareForFinalize", spec.PrepareForFinalize},
		{&h.canonicalize, "canonicalize", spec.Canonicalize},
	} {
		if *list.to, err = resolve(c, c.hooks.Steps, "hooks."+list.key, list.names...); err != nil {
			return err
		}
	}
	if h.validators, err = resolve(c, c.hooks.Validators, "hooks.validate", spec.Validate...); err != nil {
		return err
	}
	if h.validateUpdate, err = resolve(c, c.hooks.Comparisons, "hooks.validateUpdate", spec.ValidateUpdate...); err != nil {
		return err
	}
	if h.toStorage, err = resolveOne(c, c.hooks.Converters, "hooks.toStorage", spec.ToStorage); err != nil {
		return err
	}
	if h.fromStorage, err = resolveOne(c, c.hooks.Converters, "hooks.fromStorage", spec.FromStorage); err != nil {
		return err
	}
	if converts := spec.converts(); converts && (k.Spec.Storage == "" || spec.ToStorage == "" || spec.FromStorage == "") {
		return fmt.Errorf("storage, hooks.toStorage and hooks.fromStorage require each other")
	}
	return nil
}
