package structural

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

const unevaluated = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"

// ValidateCreate validates a new object, a JSON text that Normalize returned, and returns all
// errors. ctx bounds the evaluation of rules.
func (s *Schema) ValidateCreate(ctx context.Context, src []byte) (field.ErrorList, error) {
	return s.validate(ctx, src, nil)
}

// ValidateUpdate validates an object that is to replace old and returns all errors. Transition
// rules see both. Errors in parts that did not change are ignored.
func (s *Schema) ValidateUpdate(ctx context.Context, src, old []byte) (field.ErrorList, error) {
	before, err := parse(string(old))
	if err != nil {
		return nil, err
	}
	return s.validate(ctx, src, &before)
}

func (s *Schema) validate(ctx context.Context, src []byte, old *value) (field.ErrorList, error) {
	v, err := parse(string(src))
	if err != nil {
		return nil, err
	}
	c := counterpart{root: true}
	if old != nil {
		c.node, c.old = s.root, old
	}
	values := validator{programs: s.programs}
	values.node(&v, s.root, c)
	errs := values.list()
	var resources findings
	checkResources(ctx, &resources, &v, s.root, nil)
	errs = append(errs, resources.list()...)
	if s.root.listTypes && (old == nil || len(duplicatesOf(old, s.root)) == 0) {
		errs = append(errs, duplicatesOf(&v, s.root)...)
	}
	if !s.root.ruled {
		return errs, nil
	}
	if blocked(errs) || values.more || values.steps > maxSteps {
		return append(errs, field.Invalid(nil, nil, unevaluated)), nil
	}
	e := evaluator{ctx: ctx, budget: maxObjectCost, programs: s.programs}
	subject := subject{v: &v, old: old, root: true}
	if old != nil {
		subject.changed = correlation{n: s.root, v: &v, old: old, exact: true, top: true}
	}
	e.run(s.root, subject, nil)
	return append(errs, e.list()...), nil
}

// blocked reports whether an object has errors after which rules are not evaluated, because they
// rely on types and sizes.
func blocked(errs field.ErrorList) bool {
	for _, e := range errs {
		switch e.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return true
		}
	}
	return false
}
