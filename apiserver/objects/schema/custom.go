package schema

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Structure is the schema of a version of a custom kind. It must be safe for concurrent use.
type Structure interface {
	// Normalize converts an object to the canonical form of the schema: it drops fields that the
	// schema does not have and nulls that it does not allow, and fills in defaults. dropped lists
	// the paths of the unknown fields, such as "spec.foo", and more counts those that it does not
	// list. Normalize returns an error if the object is not valid JSON or is nested too deeply, or
	// if an embedded object is malformed.
	Normalize(object []byte) (normal []byte, dropped []string, more int, err error)
	// Conforms reports whether Normalize would return an object in canonical form as it is. It may
	// return false for one that Normalize would not change.
	Conforms(object []byte) bool
	// Validate returns what is wrong with an object in canonical form. old is the object that it
	// replaces; nil for a create.
	Validate(object, old []byte) field.ErrorList
}

// CustomDefinition describes a kind as a CustomResourceDefinition defines it.
type CustomDefinition struct {
	Kind, ListKind         string
	Group                  string
	Plural, Singular       string
	ShortNames, Categories []string
	Namespaced             bool
	Versions               []CustomVersion
	// Resource is the first part of the keys that the kind's objects are stored under.
	Resource string
	// Adapts means that the schemas differ, or have changed, so that stored objects that do not
	// conform to the schema of a version have to be adapted when they are read.
	Adapts bool
	// Terminating means that the definition is being deleted, so that no objects can be created.
	Terminating bool
	// Converter converts objects between the versions; if it is nil, only the apiVersion differs.
	Converter VersionConverter
}

// CustomVersion describes a version of a custom kind.
type CustomVersion struct {
	Name string
	// Served versions can be used by clients. Objects are stored in the one version with Storage.
	Served, Storage bool
	Structure       Structure
	// Schema returns the JSON text of the schema, for documents.
	Schema func() ([]byte, error)
	// Status means that the status is a subresource.
	Status bool
	Scale  *CustomScale // nil if there is no subresource scale
	// Columns are the columns of tables after the name.
	Columns []CustomColumn
	// SelectableFields are the paths of fields that field selectors may name, such as "spec.color".
	SelectableFields []string
}

// CustomScale holds the paths of the fields that the subresource scale shows. Selector may be nil.
type CustomScale struct{ Replicas, Observed, Selector []string }

// CustomColumn is a column of a custom kind's tables.
type CustomColumn struct {
	Name, Type, Format, Description, JSONPath string
	Priority                                  int
}

// custom is what a custom kind has beyond other kinds.
type custom struct {
	structure Structure
	converter VersionConverter // nil if only the apiVersion differs between versions
	schema    func() ([]byte, error)
	columns   []CustomColumn
	indexed   []selector
	// terminating means that the definition is being deleted.
	terminating bool
}

// Custom compiles one kind for each version of a definition. Use With to add the kinds to a
// catalog.
func (c *Catalog) Custom(d CustomDefinition) ([]*Kind, error) {
	var indexed []selector
	kinds := make([]*Kind, len(d.Versions))
	var storage *Kind
	for i := range d.Versions {
		v := &d.Versions[i]
		k, err := c.openKind(d.spec(v), d.Resource)
		if err != nil {
			return nil, err
		}
		k.unserved = !v.Served
		k.Strategy.HasStatus = v.Status
		k.custom = &custom{structure: v.Structure, schema: v.Schema, columns: v.Columns, terminating: d.Terminating}
		for _, path := range v.SelectableFields {
			k.selectors = append(k.selectors, selector{label: path, open: strings.Split(path, ".")})
			k.Spec.FieldSelectors.Supported = append(k.Spec.FieldSelectors.Supported, path)
		}
		indexed = append(indexed, k.selectors...)
		if v.Scale != nil {
			if err := c.addCustomScale(k, v.Scale); err != nil {
				return nil, err
			}
		}
		kinds[i] = k
		if v.Storage {
			storage = k
		}
	}
	if storage == nil {
		return nil, fmt.Errorf("kind %s in group %s: no version is stored", d.Kind, d.Group)
	}
	slices.SortFunc(indexed, func(a, b selector) int { return strings.Compare(a.label, b.label) })
	indexed = slices.CompactFunc(indexed, func(a, b selector) bool { return a.label == b.label })
	storage.versions = kinds
	for _, k := range kinds {
		k.link(storage, indexed, &d)
	}
	return kinds, nil
}

// link sets what a custom kind shares with the other versions.
func (k *Kind) link(storage *Kind, indexed []selector, d *CustomDefinition) {
	k.storage, k.custom.indexed, k.custom.converter = storage, indexed, d.Converter
	if d.Adapts || d.Converter != nil {
		k.adapter = k
	}
	if k.Scale != nil {
		k.Scale.storage, k.Scale.adapter = storage, k.adapter
	}
}

// spec returns what a kind file for a version of the definition would contain.
func (d *CustomDefinition) spec(v *CustomVersion) *KindSpec {
	apiVersion := d.Group + "/" + v.Name
	unconditional := false
	spec := &KindSpec{
		Kind: d.Kind, Group: d.Group, Version: v.Name, APIVersion: apiVersion, Prefix: "/apis/" + apiVersion,
		Plural: d.Plural, Singular: d.Singular, ListKind: d.ListKind, ShortNames: d.ShortNames, Categories: d.Categories,
		Extra: "a CustomResourceDefinition defines it", Scope: scopeCluster, Message: openMessage, Operations: OperationsSpec{Chunking: true},
		FieldSelectors: FieldSelectorsSpec{Supported: []string{"metadata.name"}},
		Strategy:       StrategySpec{Generation: true, AllowUnconditionalUpdate: &unconditional},
	}
	if d.Namespaced {
		spec.Scope = scopeNamespaced
		spec.FieldSelectors.Supported = append(spec.FieldSelectors.Supported, "metadata.namespace")
	}
	if v.Status {
		spec.Subresources.UpstreamExtra = []string{"status"}
	}
	return spec
}

// Custom reports whether a CustomResourceDefinition defines the kind.
func (k *Kind) Custom() bool { return k.custom != nil }

// HasCustomStatus reports whether the kind is custom and its status is a subresource.
func (k *Kind) HasCustomStatus() bool { return k.custom != nil && k.Strategy.HasStatus }

// Terminating reports whether the definition of a custom kind is being deleted, so that no objects
// can be created.
func (k *Kind) Terminating() bool { return k.custom != nil && k.custom.terminating }

// Served reports whether clients can use the kind. It is false for a version of a custom kind in
// which objects are stored but which is not served.
func (k *Kind) Served() bool { return !k.unserved }

// CustomSchema returns the JSON text of a custom kind's schema.
func (k *Kind) CustomSchema() ([]byte, error) { return k.custom.schema() }

// CustomColumns returns the columns that follow the name in tables of a custom kind.
func (k *Kind) CustomColumns() []CustomColumn {
	if k.custom == nil {
		return nil
	}
	return k.custom.columns
}

// addCustomScale sets k.Scale to a view of k's objects in the form of a Scale.
func (c *Catalog) addCustomScale(k *Kind, paths *CustomScale) error {
	base := c.Unstored(scaleVersion, scaleKind)
	if base == nil {
		return fmt.Errorf("there is no kind %s in %s", scaleKind, scaleVersion)
	}
	k.scaling = scaling{replicas: paths.Replicas, observed: paths.Observed, selector: paths.Selector}
	k.newScale(base, k.scaling.fillCustomScale)
	return nil
}

// fillCustomScale is fillScale for a custom kind. Fields that are missing or not integers are 0,
// and the selector is text already.
func (s *scaling) fillCustomScale(from, to *Object) {
	s.identify(from, to)
	to.root.Make("spec").Make("replicas").SetInt(intOf(from.root.MemberAt(s.replicas)))
	status := to.root.Make("status")
	status.Make("replicas").SetInt(intOf(from.root.MemberAt(s.observed)))
	if s.selector != nil {
		status.Make("selector").SetStr(scalarText(from.root.MemberAt(s.selector)))
	}
}
