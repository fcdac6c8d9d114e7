package structural

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// level says where a schema occurs.
type level string

const (
	rootLevel  level = "at the root"
	itemLevel  level = "for specified array items"
	fieldLevel level = "for specified object fields"
)

// checkStructural reports what keeps a schema from being structural: a schema whose types and
// fields can be read without evaluating allOf, anyOf, oneOf and not. The errors are sorted.
func checkStructural(k *keywords, path *field.Path) field.ErrorList {
	c := structureChecker{}
	c.check(k, rootLevel, path)
	c.complete(k, k, path, path)
	slices.SortFunc(c.errs, byText)
	return c.list()
}

type structureChecker struct {
	findings
	patterns patternChecker
}

// check checks a schema outside of allOf, anyOf, oneOf and not.
func (c *structureChecker) check(k *keywords, at level, path *field.Path) {
	if k == nil {
		return
	}
	if k.typ == "array" && k.items == nil {
		c.require(path.Child("items"), "must be specified")
	}
	c.check(k.items, itemLevel, path.Child("items"))
	for _, p := range k.properties {
		c.check(p.schema, fieldLevel, path.Child("properties").Key(p.name))
	}
	if k.additional != nil {
		if at == rootLevel {
			c.forbid(path.Child("additionalProperties"), "must not be used at the root")
		}
		c.check(k.additional.schema, fieldLevel, path.Child("additionalProperties"))
	}
	if k.intOrString && k.preserved() {
		c.invalid(path.Child("x-kubernetes-preserve-unknown-fields"), true, "must be false if x-kubernetes-int-or-string is true")
	}
	if k.intOrString && k.embedded {
		c.invalid(path.Child("x-kubernetes-embedded-resource"), true, "must be false if x-kubernetes-int-or-string is true")
	}
	c.validations(k, isIntOrString(k.anyOf), len(k.allOf) > 0 && isIntOrString(k.allOf[0].anyOf), path)
	c.types(k, at, path)
	c.meta(k, at, path)
}

func (k *keywords) preserved() bool { return k.preserve != nil && *k.preserve }

// isIntOrString reports whether anyOf lists the types integer and string, which a schema with
// x-kubernetes-int-or-string may do.
func isIntOrString(anyOf []*keywords) bool {
	return len(anyOf) == 2 && reflect.DeepEqual(anyOf[0], &keywords{typ: "integer"}) && reflect.DeepEqual(anyOf[1], &keywords{typ: "string"})
}

func (c *structureChecker) types(k *keywords, at level, path *field.Path) {
	const embedded = "must be object if x-kubernetes-embedded-resource is true"
	typ := path.Child("type")
	switch {
	case k.embedded && k.typ == "":
		c.require(typ, embedded)
	case k.embedded && k.typ != "object":
		c.invalid(typ, k.typ, embedded)
	case k.typ == "" && !k.intOrString && !k.preserved():
		c.require(typ, "must not be empty "+string(at))
	}
	if k.embedded && k.additional != nil {
		c.forbid(path.Child("additionalProperties"), "must not be used if x-kubernetes-embedded-resource is set")
	}
	if at == rootLevel && k.typ != "" && k.typ != "object" {
		c.invalid(typ, k.typ, "must be object at the root")
	}
	if k.embedded && !k.preserved() && len(k.properties) == 0 {
		c.require(path.Child("properties"), "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields")
	}
}

// meta checks the schemas of kind, apiVersion and metadata.
func (c *structureChecker) meta(k *keywords, at level, path *field.Path) {
	resource := at == rootLevel || k.embedded
	for _, name := range [...]string{"kind", "apiVersion"} {
		if p := k.property(name); p != nil && resource && p.typ != "string" {
			c.invalid(path.Child("properties").Key(name).Child("type"), p.typ, "must be string")
		}
	}
	m := k.property("metadata")
	if m == nil {
		return
	}
	path = path.Child("properties").Key("metadata")
	if resource && m.typ != "object" {
		c.invalid(path.Child("type"), m.typ, "must be object")
	}
	if at != rootLevel {
		return
	}
	rest := *m
	if !slices.ContainsFunc(m.properties, func(p named) bool { return p.name != "name" && p.name != "generateName" }) {
		rest.properties = nil
	}
	rest.typ, rest.dflt = "", nil // The default is reported elsewhere.
	if !reflect.DeepEqual(rest, keywords{}) {
		c.forbid(path, "must not specify anything other than name and generateName, but metadata is implicitly specified")
	}
}

// validations checks the keywords that only validate. skipAnyOf and skipAllOf say that anyOf, or
// anyOf of the first allOf, has the form that x-kubernetes-int-or-string allows.
func (c *structureChecker) validations(k *keywords, skipAnyOf, skipAllOf bool, path *field.Path) {
	if !skipAnyOf {
		for i, sub := range k.anyOf {
			c.nested(sub, false, path.Child("anyOf").Index(i))
		}
	}
	for i, sub := range k.allOf {
		c.nested(sub, skipAllOf && i == 0, path.Child("allOf").Index(i))
	}
	for i, sub := range k.oneOf {
		c.nested(sub, false, path.Child("oneOf").Index(i))
	}
	c.nested(k.not, false, path.Child("not"))
	if k.pattern != "" {
		if err := c.patterns.check(path.Child("pattern"), k.pattern); err != nil {
			c.add(err)
		}
	}
}

// nested checks a schema inside allOf, anyOf, oneOf or not, which may only validate.
func (c *structureChecker) nested(k *keywords, skipAnyOf bool, path *field.Path) {
	if k == nil {
		return
	}
	c.validations(k, skipAnyOf, false, path)
	c.nested(k.items, false, path.Child("items"))
	for _, p := range k.properties {
		c.nested(p.schema, false, path.Child("properties").Key(p.name))
	}
	for _, f := range [...]struct {
		set            bool
		keyword, state string
	}{
		{k.typ != "", "type", "empty"},
		{k.additional != nil && (k.additional.allowed || k.additional.schema != nil), "additionalProperties", "undefined"},
		{k.dflt != nil, "default", "undefined"},
		{k.title != "", "title", "empty"},
		{k.description != "", "description", "empty"},
		{k.nullable, "nullable", "false"},
		{k.preserved(), "x-kubernetes-preserve-unknown-fields", "false"},
		{k.embedded, "x-kubernetes-embedded-resource", "false"},
		{k.intOrString, "x-kubernetes-int-or-string", "false"},
		{len(k.listMapKeys) > 0, "x-kubernetes-list-map-keys", "empty"},
		{k.listType != nil, "x-kubernetes-list-type", "undefined"},
		{k.mapType != nil, "x-kubernetes-map-type", "undefined"},
		{len(k.rules) > 0, "x-kubernetes-validations", "empty"},
	} {
		if f.set {
			c.forbid(path.Child(f.keyword), "must be "+f.state+" to be structural")
		}
	}
	if k.property("metadata") != nil {
		c.forbid(path.Child("properties").Key("metadata"), "must not be specified in a nested context")
	}
}

// complete reports the fields and items of nested schemas that s, the schema around them, does not
// specify. k is s or a schema nested in it.
func (c *structureChecker) complete(k, s *keywords, sPath, kPath *field.Path) {
	if k == nil {
		return
	}
	if s == nil {
		c.missing(sPath, kPath)
		return
	}
	c.completeNested(k.not, s, sPath, kPath.Child("not"))
	for _, junctor := range k.junctors() {
		for i, sub := range junctor.schemas {
			c.completeNested(sub, s, sPath, kPath.Child(junctor.keyword).Index(i))
		}
	}
}

// missing reports a part of a nested schema that the schema around it does not specify.
func (c *structureChecker) missing(path, nested *field.Path) {
	if c.room() {
		c.require(path, "because it is defined in "+nested.String())
	}
}

func (c *structureChecker) completeNested(k, s *keywords, sPath, kPath *field.Path) {
	if k == nil {
		return
	}
	c.complete(k, s, sPath, kPath)
	if s == nil {
		return
	}
	c.completeNested(k.items, s.items, sPath.Child("items"), kPath.Child("items"))
	for _, p := range k.properties {
		at, in := sPath.Child("properties").Key(p.name), kPath.Child("properties").Key(p.name)
		if sub := s.property(p.name); sub != nil {
			c.completeNested(p.schema, sub, at, in)
		} else {
			c.missing(at, in)
		}
	}
}

// junctor is one of allOf, anyOf and oneOf.
type junctor struct {
	keyword string
	schemas []*keywords
}

func (k *keywords) junctors() [3]junctor {
	return [3]junctor{{"allOf", k.allOf}, {"oneOf", k.oneOf}, {"anyOf", k.anyOf}}
}
