package apply

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/merge"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/wire/status"
)

const (
	// beforeApplyManager owns the fields that an object had before its first apply.
	beforeApplyManager = "before-first-apply"
	// currentOperation is the manager of an update while the library finds out what it changes. No
	// entry has this name, because it is no JSON.
	currentOperation = "current-operation"
)

// Manager keeps the managed fields of the objects of one kind, as one of its endpoints writes them.
type Manager struct {
	kind        *schema.Kind
	subresource string
	version     fieldpath.APIVersion
	types       types
	nobodys     *fieldpath.Set
	updater     *merge.Updater
}

// New returns the manager of an endpoint, which is a subresource or, with "", the object itself.
// operation is how the endpoint writes objects: nobody owns the fields that it leaves as they are.
func New(k *schema.Kind, subresource string, operation schema.Operation) *Manager {
	return newManager(k, newTypes(k), subresource, operation)
}

// Endpoint returns the manager of another endpoint of m's kind. It shares the types with m.
func (m *Manager) Endpoint(subresource string, operation schema.Operation) *Manager {
	return newManager(m.kind, m.types, subresource, operation)
}

func newManager(k *schema.Kind, types types, subresource string, operation schema.Operation) *Manager {
	ignored := map[fieldpath.APIVersion]fieldpath.Filter{}
	if kept := keptFields(k, operation); !kept.Empty() {
		filter := fieldpath.NewExcludeSetFilter(kept)
		for _, version := range k.Versions() {
			ignored[fieldpath.APIVersion(version.APIVersion)] = filter
		}
	}
	builder := merge.UpdaterBuilder{Converter: converter{k, types}, IgnoreFilter: ignored}
	return &Manager{
		kind: k, subresource: subresource, version: fieldpath.APIVersion(k.APIVersion), types: types, nobodys: nobodysFields(),
		updater: builder.BuildUpdater(),
	}
}

// nobodysFields returns the fields that identify an object or that only the server sets.
func nobodysFields() *fieldpath.Set {
	set := fieldpath.NewSet(fieldpath.MakePathOrDie("apiVersion"), fieldpath.MakePathOrDie("kind"), fieldpath.MakePathOrDie("metadata"))
	for _, name := range []string{
		"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation", "managedFields", "resourceVersion",
	} {
		set.Insert(fieldpath.MakePathOrDie("metadata", name))
	}
	return set
}

// keptFields returns the fields that a write by operation keeps as they are stored.
func keptFields(k *schema.Kind, operation schema.Operation) *fieldpath.Set {
	steps := k.Spec.Hooks.PrepareForUpdate
	switch operation {
	case schema.UpdateStatus:
		steps = k.Spec.Hooks.PrepareForStatusUpdate
	case schema.Finalize:
		steps = k.Spec.Hooks.PrepareForFinalize
	}
	set := fieldpath.NewSet()
	if k.HasCustomStatus() && operation == schema.UpdateStatus {
		return fieldpath.NewSet(fieldpath.MakePathOrDie("metadata"), fieldpath.MakePathOrDie("spec"))
	}
	if k.HasCustomStatus() || slices.Contains(steps, "keepStatus") {
		set.Insert(fieldpath.MakePathOrDie("status"))
	}
	if slices.Contains(steps, "keepSpec") {
		set.Insert(fieldpath.MakePathOrDie("spec"))
	}
	if slices.Contains(steps, "keepOwnerReferences") {
		set.Insert(fieldpath.MakePathOrDie("metadata", "ownerReferences"))
	}
	return set
}

// Update makes manager the owner of the fields in which next differs from live, which is nil for a
// create, and replaces the managed fields of next. It starts from those of live. If the main
// resource is written, managed fields that the client sent take precedence: a valid list replaces
// the stored one, and an empty list, or one with a single empty entry, removes all managed fields.
// Other lists are ignored.
//
// Update does nothing if neither live nor next has managed fields: an object gets them with its
// first apply.
func (m *Manager) Update(live, next *schema.Object, manager string, now time.Time) error {
	sent := next.ManagedFields()
	if sent == nil && (live == nil || live.ManagedFields() == nil) {
		return nil
	}
	entries := m.trusted(live, sent)
	next.ClearManagedFields()
	if len(entries.fields) == 0 {
		return nil
	}
	if live == nil {
		live = m.kind.New()
	}
	before, err := live.Content()
	if err != nil {
		return fmt.Errorf("read the stored object: %w", err)
	}
	after, err := next.Content()
	if err != nil {
		return fmt.Errorf("read the new object: %w", err)
	}
	if err := m.attribute(before, after, entries, manager, now); err != nil && !errors.Is(err, errForm) {
		return err
	}
	return entries.encode(next)
}

// trusted returns the entries from which an update starts.
func (m *Manager) trusted(live *schema.Object, sent *schema.Value) *managed {
	if m.subresource == "" && sent != nil {
		if sent.Len() == 0 || sent.Len() == 1 && sent.At(0).IsEmpty() {
			return newManaged()
		}
		if entries, err := decode(sent); err == nil {
			return entries
		}
	}
	if live == nil {
		return newManaged()
	}
	entries, err := decode(live.ManagedFields())
	if err != nil { // an entry that this version does not understand: begin anew
		return newManaged()
	}
	return entries
}

// attribute makes manager the owner of the fields in which after differs from before.
func (m *Manager) attribute(before, after map[string]any, entries *managed, manager string, now time.Time) error {
	live, err := m.types.parse(m.kind, before, typed.AllowDuplicates)
	if err != nil {
		return m.ofOtherForm("stored", err)
	}
	next, err := m.types.parse(m.kind, after, typed.AllowDuplicates)
	if err != nil {
		return m.ofOtherForm("new", err)
	}
	_, fields, err := m.updater.Update(live, next, m.version, entries.fields, currentOperation)
	if err != nil {
		return fmt.Errorf("find the fields that changed: %w", err)
	}
	entries.fields = fields
	m.strip(entries, currentOperation)
	if changed, ok := entries.fields[currentOperation]; ok {
		delete(entries.fields, currentOperation)
		id := m.owner(manager, operationUpdate)
		if previous, ok := entries.fields[id]; ok {
			changed = fieldpath.NewVersionedSet(changed.Set().Union(previous.Set()), changed.APIVersion(), changed.Applied())
		}
		entries.fields[id], entries.times[id] = changed, now
	}
	entries.merge()
	return nil
}

// errForm reports an object of a custom kind that does not have the form of its version, because it
// was written in a version whose schema contradicts that of this one. A write that is no apply goes
// on, and leaves the managed fields as they are.
var errForm = errors.New("the object does not have the form that its schema says")

// ofOtherForm returns the error for an object that its types do not allow.
func (m *Manager) ofOtherForm(which string, err error) error {
	if m.kind.Custom() {
		return fmt.Errorf("type the %s object: %w: %w", which, errForm, err)
	}
	return fmt.Errorf("type the %s object: %w", which, err)
}

// owner returns the identity of a manager's entry.
func (m *Manager) owner(manager, operation string) string {
	if manager == "" {
		manager = "unknown"
	}
	return owner{manager, operation, string(m.version), m.subresource}.id()
}

// strip removes the fields that nobody owns from the set of a manager.
func (m *Manager) strip(entries *managed, id string) {
	set, ok := entries.fields[id]
	if !ok {
		return
	}
	rest := set.Set().Difference(m.nobodys)
	if rest.Empty() {
		delete(entries.fields, id)
		return
	}
	entries.fields[id] = fieldpath.NewVersionedSet(rest, set.APIVersion(), set.Applied())
}

// Options of an apply.
type Options struct {
	Manager string
	// Force takes fields over that other managers own. Without it, a conflict is an error (409).
	Force bool
	Now   time.Time
}

// Apply returns the object that results from applying a configuration to live, which is nil if
// there is no object, with the managed fields of all managers. The result shares no memory with
// live. The problems are the fields of the configuration that the result lacks because the kind does
// not have them, although its types allow them. An error that the configuration causes, such as a
// conflict (409), is a *status.Error.
func (m *Manager) Apply(live *schema.Object, c *Config, options Options) (*schema.Object, schema.Problems, error) {
	none := schema.Problems{}
	if err := c.check(m.kind); err != nil {
		return nil, none, err
	}
	if live == nil {
		live = m.kind.New()
	}
	before, err := live.Content()
	if err != nil {
		return nil, none, fmt.Errorf("read the stored object: %w", err)
	}
	entries, err := decode(live.ManagedFields())
	if err != nil {
		return nil, none, fmt.Errorf("read the managed fields of the stored object: %w", err)
	}
	merged, entries, err := m.applyOrAdopt(before, c, entries, options)
	if errors.Is(err, errForm) {
		return nil, none, status.NewBadRequest(err.Error())
	}
	if conflicts, ok := errors.AsType[merge.Conflicts](err); ok {
		return nil, none, conflictError(conflicts)
	}
	if err != nil {
		return nil, none, err
	}
	if options.Manager == kubectl {
		if err := setLastApplied(merged, c); err != nil {
			return nil, none, err
		}
	}
	o, problems, err := m.object(merged)
	if err != nil {
		return nil, none, err
	}
	return o, problems, entries.encode(o)
}

// apply merges a configuration into the content of an object. It does not modify content and
// entries.
func (m *Manager) apply(content map[string]any, c *Config, entries *managed, options Options) (map[string]any, *managed, error) {
	entries = entries.copy()
	if len(entries.fields) == 0 {
		empty, err := m.kind.New().Content()
		if err != nil {
			return nil, nil, err
		}
		if err := m.attribute(empty, content, entries, beforeApplyManager, options.Now); err != nil {
			return nil, nil, err
		}
	}
	applied, err := m.types.parseExact(m.kind, c.content)
	if err != nil {
		return nil, nil, c.unfit(err)
	}
	live, err := m.types.parse(m.kind, content, typed.AllowDuplicates)
	if err != nil {
		return nil, nil, m.ofOtherForm("stored", err)
	}
	id := m.owner(options.Manager, operationApply)
	result, fields, err := m.updater.Apply(live, applied, m.version, entries.fields, id, options.Force)
	if err != nil {
		return nil, nil, err
	}
	entries.fields = fields
	m.strip(entries, id)
	if result == nil { // the object stays as it is
		return content, entries, nil
	}
	entries.times[id] = options.Now
	merged, ok := result.AsValue().Unstructured().(map[string]any)
	if !ok {
		return nil, nil, status.NewBadRequest("the applied configuration is not an object")
	}
	return merged, entries, nil
}

// object decodes the content of an object.
func (m *Manager) object(content map[string]any) (*schema.Object, schema.Problems, error) {
	text, err := json.Marshal(content)
	if err != nil {
		return nil, schema.Problems{}, fmt.Errorf("write the merged object: %w", err)
	}
	return m.kind.Decode(text)
}
