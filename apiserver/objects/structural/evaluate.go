package structural

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celcommon "k8s.io/apiserver/pkg/cel/common"

	"quorate/apiserver/limit"
	"quorate/apiserver/objects/expression"
)

// evaluator evaluates the rules of one object.
type evaluator struct {
	findings
	ctx      context.Context
	programs *expression.Programs
	budget   int64 // what remains; negative once no more rules are evaluated
}

// report records an error. Once no more are kept, no more rules are evaluated.
func (e *evaluator) report(path *field.Path, have any, why string) {
	if e.invalid(path, have, why); !e.room() {
		e.budget = -1
	}
}

// subject is a value that rules apply to. old is its counterpart that transition rules see, nil if
// there is none. Errors in a value that equals its counterpart in changed are ignored.
type subject struct {
	v, old  *value
	plain   any // of v, nil until it is needed
	changed correlation
	root    bool
}

// correlation is a value with its counterpart in the old object, or the innermost value around it
// that has one.
type correlation struct {
	n      *node // nil if there is no old object
	v, old *value
	exact  bool // the counterpart is that of the value itself
	top    bool
}

// unchanged reports whether the value, or the one around it, is the old one.
func (c correlation) unchanged() bool {
	return c.n != nil && unchanged(c.n, c.v, c.old)
}

// part returns the correlation of a part of a value.
func (c correlation) part(n *node, v, old *value) correlation {
	if c.n == nil || !c.exact {
		return c
	}
	if n == nil || old == nil {
		c.exact = false
		return c
	}
	return correlation{n: n, v: v, old: old, exact: true}
}

func (c correlation) member(name string, v *value) correlation {
	if c.n == nil || !c.exact {
		return c
	}
	if c.top && (name == "apiVersion" || name == "kind") {
		return correlation{}
	}
	return c.part(c.n.member(name), v, c.old.member(name))
}

func (c correlation) item(list *keyed, v *value) correlation {
	if c.n == nil || !c.exact {
		return c
	}
	return c.part(c.n.items, v, list.find(v))
}

// run evaluates the rules of a value and of its parts.
func (e *evaluator) run(n *node, s subject, path *field.Path) {
	if n == nil || !n.ruled || s.v.kind == null || e.budget < 0 {
		return
	}
	if n.rules != nil {
		e.rules(n, &s, path)
	}
	switch s.v.kind {
	case object:
		e.members(n, s, path)
	case array:
		e.items(n, s, path)
	}
}

func (e *evaluator) members(n *node, s subject, path *field.Path) {
	for i := range s.v.kids {
		kid := &s.v.kids[i]
		schema, at := n.property(kid.name), path
		if schema != nil {
			at = path.Child(kid.name)
		} else if schema = n.values; schema != nil {
			at = path.Key(kid.name)
		}
		if schema == nil || !schema.ruled {
			continue
		}
		part := subject{v: &kid.value, old: s.old.member(kid.name), changed: s.changed.member(kid.name, &kid.value)}
		if plain, ok := s.plain.(map[string]any); ok {
			part.plain = plain[kid.name]
		}
		e.run(schema, part, at)
	}
}

func (e *evaluator) items(n *node, s subject, path *field.Path) {
	if n.items == nil || !n.items.ruled {
		return
	}
	var olds, changed *keyed
	if s.old != nil && s.old.kind == array {
		olds = newKeyed(n, s.old)
	}
	if c := s.changed; c.exact && c.old.kind == array {
		changed = newKeyed(c.n, c.old)
	}
	plain, _ := s.plain.([]any)
	for i := range s.v.kids {
		item := &s.v.kids[i].value
		part := subject{v: item, old: olds.find(item), changed: s.changed.item(changed, item)}
		if plain != nil {
			part.plain = plain[i]
		}
		e.run(n.items, part, path.Index(i))
	}
}

// activation gives the values of self and oldSelf to a program.
type activation struct {
	self, oldSelf ref.Val // oldSelf is nil if there is none
}

func (a *activation) ResolveName(name string) (any, bool) {
	switch name {
	case "self":
		return a.self, true
	case "oldSelf":
		return a.oldSelf, a.oldSelf != nil
	}
	return nil, false
}

func (a *activation) Parent() cel.Activation { return nil }

// rules evaluates the rules of one value.
func (e *evaluator) rules(n *node, s *subject, path *field.Path) {
	typ := n.kind.String()
	programs, err := n.rules.build(e.programs, n, s.root || n.embedded)
	if err != nil {
		e.report(path, typ, fmt.Sprintf("rule compiler initialization error: %v", err))
		return
	}
	if e.budget <= 0 {
		e.exhausted(path, typ, "validation failed due to running out of cost budget, no further validation rules will be run")
		return
	}
	if s.plain == nil {
		s.plain = s.v.plain()
	}
	schema := declare(n)
	if s.root || n.embedded {
		schema = schema.WithTypeAndObjectMeta()
	}
	required := &activation{self: celcommon.UnstructuredToVal(s.plain, schema)}
	optional := &activation{self: required.self, oldSelf: types.OptionalNone}
	if s.old != nil && s.old.kind != null {
		required.oldSelf = celcommon.UnstructuredToVal(s.old.plain(), schema)
		optional.oldSelf = types.OptionalOf(required.oldSelf)
	}
	for i := range programs {
		p, a := &programs[i], required
		if p.err != nil {
			e.report(path, typ, fmt.Sprintf("rule compile error: %v", p.err))
			continue
		}
		if p.rule.OptionalOldSelf != nil && *p.rule.OptionalOldSelf {
			a = optional
		}
		if p.usesOldSelf && a.oldSelf == nil {
			continue // a transition rule of a value that did not exist
		}
		if e.rule(p, n, s, a, path); e.budget < 0 {
			return
		}
	}
}

// exhausted records that no more rules are evaluated.
func (e *evaluator) exhausted(path *field.Path, typ, why string) {
	if e.room() {
		e.add(field.Invalid(path, typ, why).WithOrigin(limit.RuleCost.Origin()))
	}
	e.budget = -1
}

// rule evaluates one rule.
func (e *evaluator) rule(p *compiled, n *node, s *subject, a *activation, path *field.Path) {
	typ := n.kind.String()
	result, cost, err := e.evaluate(p.program, a)
	if cost > e.budget {
		e.exhausted(path, typ, "validation failed due to running out of cost budget, no further validation rules will be run")
		return
	}
	e.budget -= cost
	switch {
	case err == nil:
	case strings.HasPrefix(err.Error(), "no such overload"):
		e.report(path, typ, fmt.Sprintf("'%v': call arguments did not match a supported operator, function or macro signature for rule: %v", err, p.rule.name()))
		return
	case overCost(err):
		e.exhausted(path, typ, fmt.Sprintf("'%v': no further validation rules will be run due to call cost exceeds limit for rule: %v", err, p.rule.name()))
		return
	default:
		e.report(path, typ, fmt.Sprintf("%v evaluating rule: %v", err, p.rule.name()))
		return
	}
	if result == types.True {
		return
	}
	at := path
	if p.path != "" {
		at = path.Child(p.path)
	}
	failed := e.failure(p, n, s, a, at)
	if p.usesOldSelf || !s.changed.unchanged() {
		if e.add(failed); !e.room() {
			e.budget = -1
		}
	}
}

// evaluate runs a program and returns its result and cost.
func (e *evaluator) evaluate(p cel.Program, a *activation) (result ref.Val, cost int64, err error) {
	result, details, err := p.ContextEval(e.ctx, a)
	if details == nil || details.ActualCost() == nil {
		return nil, math.MaxInt64, err // Without its cost, the rule may not go on.
	}
	return result, int64(min(*details.ActualCost(), math.MaxInt64)), err
}

func overCost(err error) bool {
	return strings.HasPrefix(err.Error(), "operation cancelled: actual cost limit exceeded")
}

// failure returns the error for a rule that a value does not follow.
func (e *evaluator) failure(p *compiled, n *node, s *subject, a *activation, path *field.Path) *field.Error {
	detail := ""
	if p.message != nil {
		message, stop := e.message(p, a)
		if stop {
			e.budget = -1
			return field.Invalid(path, n.kind.String(), message).WithOrigin(limit.RuleCost.Origin())
		}
		detail = message
	}
	if detail == "" {
		detail = "failed rule: " + p.rule.name()
		if p.rule.Message != "" {
			detail = strings.TrimSpace(p.rule.Message)
		}
	}
	var have any = field.OmitValueType{}
	if n.kind != object && n.kind != array {
		have = s.v.plain()
	}
	switch p.rule.reason() {
	case "FieldValueForbidden":
		return field.Forbidden(path, detail)
	case "FieldValueRequired":
		return field.Required(path, detail)
	case "FieldValueDuplicate":
		return field.Duplicate(path, have)
	}
	return field.Invalid(path, have, detail)
}

// message evaluates messageExpression. It returns "" if the result cannot be used as a message, and
// stop, with the reason, if no more rules may be evaluated.
func (e *evaluator) message(p *compiled, a *activation) (message string, stop bool) {
	result, cost, err := e.evaluate(p.message, a)
	if cost > e.budget {
		return "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run", true
	}
	if err != nil && overCost(err) {
		return fmt.Sprintf("no further validation rules will be run due to call cost exceeds limit for messageExpression: %q", p.rule.MessageExpression), true
	}
	e.budget -= cost
	if err != nil {
		return "", false
	}
	s, ok := result.Value().(string)
	if s = strings.TrimSpace(s); !ok || len(s) > maxMessageBytes || strings.Contains(s, "\n") {
		return "", false
	}
	return s, false
}

// name returns the text that stands for a rule in errors.
func (r *Rule) name() string {
	if r.Message != "" {
		return strings.TrimSpace(r.Message)
	}
	return strings.TrimSpace(r.Rule)
}
