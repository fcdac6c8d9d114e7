package structural

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	schemaTypes = []string{"array", "boolean", "integer", "number", "object", "string"}
	ruleReasons = []string{"FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"}
	newline     = regexp.MustCompile(`[\n\r]+`)
)

func byText(a, b *field.Error) int { return cmp.Compare(a.Error(), b.Error()) }

// place is what the schemas around a schema imply for it.
type place struct {
	root           bool
	meta           bool        // inside kind, apiVersion or metadata of a resource
	noDefaults     string      // why defaults are forbidden, "" if they are allowed
	uncorrelatable *field.Path // the outermost schema whose parts have no counterpart in the old object
}

func (p place) without(path *field.Path) place {
	if p.uncorrelatable == nil {
		p.uncorrelatable = path
	}
	return p
}

// keywordChecker checks the keywords of a schema.
type keywordChecker struct {
	findings
	cel   findings // of rules
	rules *ruleChecker
}

// check checks a schema and the schemas in it. scope is nil where rules are not compiled.
func (c *keywordChecker) check(k *keywords, at place, scope *ruleScope, path *field.Path) {
	if k == nil {
		return
	}
	before := len(c.errs)
	c.own(k, at, path)
	c.below(k, at, scope, path)
	c.extensions(k, path)
	c.listMap(k, path)
	c.ruleTexts(k, path)
	if len(c.errs) == before && scope != nil && len(k.rules) > 0 && c.cel.room() {
		c.cel.add(c.rules.check(k, at, scope, path)...)
	}
}

// own checks the keywords that say something about one schema alone.
func (c *keywordChecker) own(k *keywords, at place, path *field.Path) {
	typ := path.Child("type")
	if k.typ != "" && !slices.Contains(schemaTypes, k.typ) {
		c.unsupported(typ, k.typ, schemaTypes)
	}
	if k.dflt != nil && at.noDefaults != "" {
		c.forbid(path.Child("default"), "must not be set "+at.noDefaults)
	}
	for _, keyword := range k.forbidden {
		if keyword != "$schema" {
			c.forbid(path.Child(keyword), keyword+" is not supported")
		}
	}
	if k.dependencies {
		c.forbid(path.Child("dependencies"), "dependencies is not supported")
	}
	if k.ref != nil {
		c.forbid(path.Child("$ref"), "$ref is not supported")
	}
	if k.typ == "null" {
		c.forbid(typ, "type cannot be set to null, use nullable as an alternative")
	}
	if len(k.itemList) > 0 {
		c.forbid(path.Child("items"), "items must be a schema object and not an array")
	}
	if at.meta && k.embedded {
		c.forbid(path.Child("x-kubernetes-embedded-resource"), "must not be used inside of resource meta")
	}
	if k.uniqueItems {
		c.forbid(path.Child("uniqueItems"), "uniqueItems cannot be set to true since the runtime complexity becomes quadratic")
	}
	if k.additional != nil && len(k.properties) > 0 && (!k.additional.allowed || k.additional.schema != nil) {
		c.forbid(path.Child("additionalProperties"), "additionalProperties and properties are mutual exclusive")
	}
}

// below checks the schemas in a schema.
func (c *keywordChecker) below(k *keywords, at place, scope *ruleScope, path *field.Path) {
	sub := at
	sub.root = false
	if k.additional != nil {
		in := sub
		if at.meta {
			in.noDefaults = "inside additionalProperties applying to object metadata"
		}
		c.check(k.additional.schema, in, scope.additional(), path.Child("additionalProperties"))
	}
	for _, p := range k.properties {
		in := sub
		if k.mapType != nil && *k.mapType != "granular" && *k.mapType != "atomic" {
			in = in.without(path)
		}
		if (at.root || k.embedded) && isMeta(p.name) {
			in.meta = true
			if at.root {
				in.noDefaults = "in top-level " + p.name
			}
		}
		c.check(p.schema, in, scope.property(p.name), path.Child("properties").Key(p.name))
	}
	c.check(k.not, sub, nil, path.Child("not"))
	for _, junctor := range k.junctors() {
		for i, schema := range junctor.schemas {
			c.check(schema, sub, nil, path.Child(junctor.keyword).Index(i))
		}
	}
	if k.listType == nil || *k.listType != "map" {
		sub = sub.without(path)
	}
	c.check(k.items, sub, scope.items(), path.Child("items"))
	for i, schema := range k.itemList {
		c.check(schema, sub, nil, path.Child("items").Index(i))
	}
}

func isMeta(name string) bool { return name == "metadata" || name == "kind" || name == "apiVersion" }

// extensions checks the keywords of Kubernetes.
func (c *keywordChecker) extensions(k *keywords, path *field.Path) {
	if k.preserve != nil && !*k.preserve {
		c.invalid(path.Child("x-kubernetes-preserve-unknown-fields"), false, "must be true or undefined")
	}
	if k.mapType != nil {
		c.typeFor(k, "object", "x-kubernetes-map-type is specified", path)
		if *k.mapType != "atomic" && *k.mapType != "granular" {
			c.unsupported(path.Child("x-kubernetes-map-type"), *k.mapType, []string{"atomic", "granular"})
		}
	}
	if k.listType == nil {
		if len(k.listMapKeys) > 0 {
			c.require(path.Child("x-kubernetes-list-type"), "must be map if x-kubernetes-list-map-keys is non-empty")
		}
		return
	}
	c.typeFor(k, "array", "x-kubernetes-list-type is specified", path)
	if k.typ == "array" && *k.listType == "set" && k.items != nil {
		c.setItems(k.items, path.Child("items"))
	}
	if t := *k.listType; t != "atomic" && t != "set" && t != "map" {
		c.unsupported(path.Child("x-kubernetes-list-type"), t, []string{"atomic", "set", "map"})
	}
	if len(k.listMapKeys) > 0 && *k.listType != "map" {
		c.invalid(path.Child("x-kubernetes-list-type"), *k.listType, "must be map if x-kubernetes-list-map-keys is non-empty")
	}
}

// typeFor reports a type other than the one that a keyword requires.
func (c *keywordChecker) typeFor(k *keywords, want, condition string, path *field.Path) {
	why := "must be " + want + " if " + condition
	switch k.typ {
	case want:
	case "":
		c.require(path.Child("type"), why)
	default:
		c.invalid(path.Child("type"), k.typ, why)
	}
}

func (c *keywordChecker) setItems(items *keywords, path *field.Path) {
	const why = "must be atomic as item of a list with x-kubernetes-list-type=set"
	var have any = items.listType
	if items.listType == nil {
		have = nil
	}
	if items.typ == "array" && items.listType != nil && *items.listType != "atomic" {
		c.invalid(path.Child("x-kubernetes-list-type"), have, why)
	}
	if items.typ == "object" && (items.mapType == nil || *items.mapType != "atomic") {
		c.invalid(path.Child("x-kubernetes-map-type"), have, why)
	}
}

// listMap checks a list whose items are identified by keys, and that no item of it or of a set can
// be null.
func (c *keywordChecker) listMap(k *keywords, path *field.Path) {
	if k.listType == nil || *k.listType != "map" && *k.listType != "set" {
		return
	}
	items := path.Child("items")
	if *k.listType == "map" {
		if len(k.listMapKeys) == 0 {
			c.require(path.Child("x-kubernetes-list-map-keys"), "must not be empty if x-kubernetes-list-type is map")
		}
		switch {
		case k.items != nil && k.items.typ != "object":
			c.invalid(items.Child("type"), k.items.typ, "must be object if parent array's x-kubernetes-list-type is map")
		case k.items != nil:
			c.mapKeys(k, path)
		case k.itemList != nil:
			c.invalid(items, field.OmitValueType{}, "must only have a single schema if x-kubernetes-list-type is map")
		default:
			c.require(items, "must have a schema if x-kubernetes-list-type is map")
		}
	}
	if k.items == nil {
		return
	}
	if k.items.nullable {
		c.forbid(items.Child("nullable"), "cannot be nullable when x-kubernetes-list-type is "+*k.listType)
	}
	if *k.listType == "set" {
		return
	}
	for _, key := range k.listMapKeys {
		p := k.items.property(key)
		if p == nil {
			continue
		}
		at := items.Child("properties").Key(key)
		if p.dflt == nil && !slices.Contains(k.items.required, key) {
			c.require(at.Child("default"), "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property")
		}
		if p.nullable {
			c.forbid(at.Child("nullable"), "this property is in x-kubernetes-list-map-keys, so it cannot be nullable")
		}
	}
}

func (c *keywordChecker) mapKeys(k *keywords, path *field.Path) {
	at := path.Child("x-kubernetes-list-map-keys")
	for i, key := range k.listMapKeys {
		p := k.items.property(key)
		if p == nil {
			c.invalid(at, k.listMapKeys, "entries must all be names of item properties")
		} else if p.typ == "array" || p.typ == "object" {
			c.invalid(path.Child("items").Child("properties").Key(key).Child("type"), k.items.typ,
				"must be a scalar type if parent array's x-kubernetes-list-type is map")
		}
		if slices.Contains(k.listMapKeys[:i], key) {
			c.invalid(at, k.listMapKeys, "must not contain duplicate entries")
		}
	}
}

// ruleTexts checks the texts of rules, without compiling them.
func (c *keywordChecker) ruleTexts(k *keywords, path *field.Path) {
	for i, r := range k.rules {
		at := path.Child("x-kubernetes-validations").Index(i)
		rule, message := strings.TrimSpace(r.Rule), strings.TrimSpace(r.Message)
		switch {
		case rule == "":
			c.require(at.Child("rule"), "rule is not specified")
		case r.Message != "" && message == "":
			c.invalid(at.Child("message"), r.Message, "must be non-empty if specified")
		case newline.MatchString(message):
			c.invalid(at.Child("message"), r.Message, "must not contain line breaks")
		case newline.MatchString(rule) && message == "":
			c.require(at.Child("message"), "message must be specified if rule contains line breaks")
		}
		if r.MessageExpression != "" && strings.TrimSpace(r.MessageExpression) == "" {
			c.require(at.Child("messageExpression"), "messageExpression must be non-empty if specified")
		}
		if r.Reason != nil && !slices.Contains(ruleReasons, *r.Reason) {
			c.unsupported(at.Child("reason"), *r.Reason, ruleReasons)
		}
		if r.FieldPath == "" {
			continue
		}
		if strings.TrimSpace(r.FieldPath) == "" {
			c.invalid(at.Child("fieldPath"), r.FieldPath, "must be non-empty if specified")
		}
		if newline.MatchString(r.FieldPath) {
			c.invalid(at.Child("fieldPath"), r.FieldPath, "must not contain line breaks")
		}
		if _, err := fieldPath(r.FieldPath, k); err != nil {
			c.invalid(at.Child("fieldPath"), r.FieldPath, "must be a valid path")
		}
	}
}
