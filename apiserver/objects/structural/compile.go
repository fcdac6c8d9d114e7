package structural

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/objects/expression"
)

// Options are what Compile has to know beside the schema.
type Options struct {
	// Path is the field of the schema, such as spec.validation.openAPIV3Schema. The causes of
	// errors are fields below it.
	Path *field.Path
	// Status says that the kind has a status subresource, which restricts the keywords at the root.
	Status bool
	// Programs keeps the programs of the schema's rules; if it is nil, the schema has its own.
	Programs *expression.Programs
}

// Report is what Compile has to say about a schema.
type Report struct {
	// Errors tells why a schema is refused, in the words of Kubernetes.
	Errors field.ErrorList
	// Unknown lists the paths of keywords that do not exist. A schema that has any is compiled
	// without them, so the caller must treat them as it treats unknown fields.
	Unknown []string
}

// Compile compiles a schema, the JSON text of openAPIV3Schema. If the schema is invalid, it returns
// nil and a report with Errors. It returns an error, a *SyntaxError or a *TypeError, if the text
// cannot be decoded.
func Compile(ctx context.Context, raw []byte, o Options) (*Schema, *Report, error) {
	v, err := parse(string(raw))
	if err != nil {
		return nil, nil, err
	}
	r := &reader{}
	k := r.schema(&v, o.Path)
	if r.err != nil {
		return nil, nil, r.err
	}
	if k == nil {
		return nil, nil, &TypeError{o.Path.String(), "object", "null"}
	}
	report := &Report{Unknown: r.unknown}
	report.Errors = checkRoot(k, o)
	unsupported := k.unsupported()
	var root *node
	b := newBuilder()
	if unsupported == nil {
		errs := checkStructural(k, o.Path)
		if len(errs) == 0 {
			root = b.build(k)
			errs = checkDefaults(ctx, root, o.Path)
		}
		report.Errors = append(report.Errors, errs...)
		if len(errs) > 0 {
			root = nil
		}
	}
	report.Errors = append(report.Errors, checkKeywords(k, root, o.Path)...)
	if len(report.Errors) == 0 && unsupported != nil {
		report.Errors = field.ErrorList{field.Invalid(o.Path, "", unsupported.Error())}
	}
	if len(report.Errors) > 0 {
		return nil, report, nil
	}
	for n := range b.ids {
		if n.rules != nil {
			n.rules.forget() // Checking defaults needed some, but maybe no object will.
		}
	}
	for _, p := range b.patterns {
		p.compiled.Store(nil)
	}
	if o.Programs == nil {
		o.Programs = expression.NewPrograms(DefaultProgramBytes)
	}
	return &Schema{root: root, programs: o.Programs}, report, nil
}

// rootKeywords are the keywords that the root of a schema may have if there is a status
// subresource, in the words of Kubernetes.
const rootKeywords = "[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations]"

// checkRoot checks what is required at the root only.
func checkRoot(k *keywords, o Options) field.ErrorList {
	var errs field.ErrorList
	if o.Status {
		if k.typ != "" && k.typ != "object" {
			errs = append(errs, field.Invalid(o.Path.Child("type"), k.typ, `only "object" is allowed as the type at the root of the schema if the status subresource is enabled`))
		} else if k.enum != nil || k.allOf != nil || k.anyOf != nil || k.oneOf != nil || k.not != nil || k.additional != nil || k.nullable ||
			k.dflt != nil || k.maxProperties != nil || k.minProperties != nil || k.embedded || k.intOrString ||
			k.listType != nil || k.mapType != nil || k.listMapKeys != nil || k.ref != nil || k.forbidden != nil || k.dependencies {
			errs = append(errs, field.Invalid(o.Path, field.OmitValueType{},
				"only "+rootKeywords+" fields are allowed at the root of the schema if the status subresource is enabled"))
		}
	}
	if k.nullable {
		errs = append(errs, field.Forbidden(o.Path.Child("nullable"), "nullable cannot be true at the root"))
	}
	return errs
}

// unsupported returns an error if a schema has keywords that none may have.
func (k *keywords) unsupported() error {
	if k == nil {
		return nil
	}
	switch {
	case len(k.forbidden) > 0:
		return fmt.Errorf("OpenAPIV3Schema '%s' is not supported", k.forbidden[0])
	case k.ref != nil && *k.ref != "":
		return errors.New("OpenAPIV3Schema '$ref' is not supported")
	case k.dependencies:
		return errors.New("OpenAPIV3Schema 'dependencies' is not supported")
	case len(k.itemList) > 0:
		return errors.New("OpenAPIV3Schema 'items' must be a schema, but is an array")
	case k.preserve != nil && !*k.preserve:
		return errors.New("internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined")
	}
	parts := slices.Concat(k.allOf, k.anyOf, k.oneOf, []*keywords{k.not, k.items})
	for _, p := range k.properties {
		parts = append(parts, p.schema)
	}
	if k.additional != nil {
		parts = append(parts, k.additional.schema)
	}
	for _, p := range parts {
		if err := p.unsupported(); err != nil {
			return err
		}
	}
	return nil
}

// checkKeywords checks the keywords of a schema and, if root is not nil, its rules.
func checkKeywords(k *keywords, root *node, path *field.Path) field.ErrorList {
	c := keywordChecker{rules: &ruleChecker{}}
	var scope *ruleScope
	if root != nil {
		scope = &ruleScope{n: root, root: true, count: 1}
	}
	c.check(k, place{root: true}, scope, path)
	return slices.Concat(c.list(), c.cel.list(), c.rules.tooExpensive(path))
}

// checkDefaults checks that defaults are valid and have no unknown fields.
func checkDefaults(ctx context.Context, root *node, path *field.Path) field.ErrorList {
	c := defaultChecker{evaluator: evaluator{ctx: ctx, budget: maxObjectCost, programs: expression.NewPrograms(DefaultProgramBytes)}, root: root}
	c.check(root, nil, false, path)
	return c.list()
}

// defaultChecker checks the defaults of a schema. All of them together may cost what one object
// may.
type defaultChecker struct {
	evaluator
	root *node
}

// around says where a value is in a resource, from the inside to the outside: the member with a
// name, or the item of a list if the name is empty.
type around struct {
	name  string
	outer *around
}

// check checks the default of a schema and of those below it. meta says that the schema is that of
// kind, apiVersion, metadata or a part of it.
func (c *defaultChecker) check(n *node, a *around, meta bool, path *field.Path) {
	if n == nil || c.budget < 0 || !c.room() {
		return
	}
	if n.embedded {
		outer := c.root
		c.root, a, meta = n, nil, false
		defer func() { c.root = outer }()
	}
	if n.dflt != nil {
		c.one(n, a, meta, path.Child("default"))
	}
	c.check(n.items, &around{"", a}, meta, path.Child("items"))
	for _, p := range n.properties {
		inMeta := meta || isMeta(p.name) && (n.embedded || a == nil && n == c.root)
		c.check(p.schema, &around{p.name, a}, inMeta, path.Child("properties").Key(p.name))
	}
}

func (c *defaultChecker) one(n *node, a *around, meta bool, path *field.Path) {
	if errs := c.metadata(n, a, meta, path); len(errs) > 0 {
		c.add(errs...)
		return
	}
	v := validator{base: path, asWritten: true, programs: c.programs}
	v.node(n.dflt, n, counterpart{})
	if errs := v.list(); len(errs) > 0 {
		c.add(errs...)
		return
	}
	// The default is validated as a new value, and as one that did not change.
	before, budget := len(c.errs), c.budget
	s := subject{v: n.dflt, old: n.dflt, root: n == c.root}
	c.run(n, s, path)
	if len(c.errs) > before {
		return
	}
	left := c.budget
	c.budget, s.old = budget, nil
	c.run(n, s, path)
	c.budget = min(c.budget, left)
}

// metadata returns the errors of the embedded resources in a default, or of the metadata that it is
// a part of. It records unknown fields.
func (c *defaultChecker) metadata(n *node, a *around, meta bool, path *field.Path) field.ErrorList {
	if meta {
		resource := a.wrap(n.dflt.clone())
		for name, with := range map[string]string{"kind": "Validation", "apiVersion": "validation/v1"} {
			if resource.member(name) == nil {
				resource.kids = sortMembers(append(resource.kids, member{name, value{kind: text, text: with}}))
			}
		}
		z := normalizer{}
		for i := range resource.kids {
			if err := z.coerceMeta(&resource.kids[i], field.NewPath(resource.kids[i].name)); err != nil {
				return field.ErrorList{field.Invalid(path, n.dflt.plain(), fmt.Sprintf("must result in valid metadata: %v", err))}
			}
		}
		if found := checkResource(c.ctx, &resource, nil); len(found) > 0 {
			return field.ErrorList{field.Invalid(path, n.dflt.plain(), fmt.Sprintf("must result in valid metadata: %v", found.ToAggregate()))}
		}
		return nil
	}
	z := normalizer{only: true}
	coerced := n.dflt.clone()
	var failed *MetadataError
	errors.As(z.coerce(&coerced, n, path), &failed)
	pruned := n.dflt.clone()
	z.normalize(&pruned, n, pruneUnknown)
	if !equal(&pruned, n.dflt) {
		c.invalid(path, coerced.plain(), "must not have unknown fields")
	}
	if failed != nil {
		return field.ErrorList{failed.Err}
	}
	var found findings
	checkResources(c.ctx, &found, n.dflt, n, path)
	return found.list()
}

// wrap returns the resource in which a value is.
func (a *around) wrap(v value) value {
	for ; a != nil; a = a.outer {
		v = value{kind: array, kids: []member{{a.name, v}}}
		if a.name != "" {
			v.kind = object
		}
	}
	return v
}
