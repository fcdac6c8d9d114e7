package structural

import (
	"fmt"
	"math"
	"slices"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celcommon "k8s.io/apiserver/pkg/cel/common"

	"quorate/apiserver/limit"
	"quorate/apiserver/objects/expression"
)

// ruleChecker type-checks the rules of a schema and adds up their estimated costs.
type ruleChecker struct {
	total     uint64
	rules     int
	expensive []ruleCost // the most expensive rules, at most maxExpensive
}

type ruleCost struct {
	path *field.Path
	cost uint64
}

// maxRules bounds the rules of a schema. Each takes up to a millisecond to check, on every node.
const maxRules = 1000

// maxExpensive is how many rules an error about the cost of the whole schema names.
const maxExpensive = 4

// ruleScope is a schema whose rules are compiled. A nil scope has no parts.
type ruleScope struct {
	n     *node
	root  bool
	count uint64 // how often a value of the schema occurs at most in an object; unbounded if there is no limit
}

// unbounded is a count without a limit.
const unbounded = math.MaxUint64

func (s *ruleScope) property(name string) *ruleScope {
	if s == nil {
		return nil
	}
	return s.part(s.n.property(name))
}

func (s *ruleScope) additional() *ruleScope {
	if s == nil {
		return nil
	}
	return s.part(s.n.values)
}

func (s *ruleScope) items() *ruleScope {
	if s == nil {
		return nil
	}
	return s.part(s.n.items)
}

func (s *ruleScope) part(n *node) *ruleScope {
	if n == nil {
		return nil
	}
	count := s.count
	if most := s.n.mostParts(); most == unbounded {
		count = unbounded
	} else if count != unbounded {
		count = times(count, most)
	}
	return &ruleScope{n: n, count: count}
}

// mostParts returns how many values of one part of a schema a value has at most.
func (n *node) mostParts() uint64 {
	var most *int64
	switch {
	case n.kind == array:
		if n.checks != nil {
			_, most = n.checks.sizes.items()
		}
	case n.kind == object && n.additional != unspecified:
		if n.checks != nil {
			_, most = n.checks.sizes.properties()
		}
	default:
		return 1
	}
	if most == nil {
		return unbounded
	}
	return uint64(max(0, *most))
}

// times multiplies, and returns the greatest number on overflow.
func times(a, b uint64) uint64 {
	if a != 0 && math.MaxUint64/a < b {
		return math.MaxUint64
	}
	return a * b
}

// check type-checks the rules of a schema.
func (c *ruleChecker) check(k *keywords, at place, s *ruleScope, path *field.Path) field.ErrorList {
	path = path.Child("x-kubernetes-validations")
	if c.rules > maxRules {
		return nil // reported before
	}
	if c.rules += len(k.rules); c.rules > maxRules {
		err := field.Forbidden(path, fmt.Sprintf("a schema can have at most %d rules", maxRules))
		return field.ErrorList{err.WithOrigin(limit.SchemaRules.Origin())}
	}
	typ := celcommon.SchemaDeclType(declare(s.n), s.root || s.n.embedded)
	if typ == nil {
		return field.ErrorList{field.InternalError(path, fmt.Errorf("internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations"))}
	}
	env, err := newRuleEnv(typ)
	if err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	count := s.count
	if count == unbounded {
		count = uint64(maxObjectBytes / (typ.MinSerializedSize + 1)) // the separating comma
	}
	var errs field.ErrorList
	for i, rule := range k.rules {
		errs = append(errs, c.rule(rule, env, at, count, path.Index(i))...)
	}
	return errs
}

func (c *ruleChecker) rule(rule *Rule, env *ruleEnv, at place, count uint64, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	e, err := env.compile(rule)
	if err == nil {
		_, err = expression.NewProgram(e.ast)
	}
	if err != nil {
		errs = append(errs, field.Invalid(path.Child("rule"), rule, err.Error()))
	} else {
		cost, err := env.cost(rule, e.ast)
		if err != nil {
			return field.ErrorList{field.Invalid(path.Child("rule"), rule, err.Error())}
		}
		cost = times(cost, count)
		if cost > maxRuleCost {
			errs = append(errs, tooCostly(path.Child("rule"), "estimated rule cost", cost, maxRuleCost))
		}
		c.observe(path.Child("rule"), cost)
		if rule.MessageExpression != "" {
			errs = append(errs, c.message(rule, env, path.Child("messageExpression"))...)
		}
	}
	switch {
	case err == nil && e.usesOldSelf:
		if at.uncorrelatable != nil {
			errs = append(errs, field.Invalid(path.Child("rule"), rule.Rule,
				fmt.Sprintf("oldSelf cannot be used on the uncorrelatable portion of the schema within %v", at.uncorrelatable)))
		}
	case rule.OptionalOldSelf != nil:
		errs = append(errs, field.Invalid(path.Child("optionalOldSelf"), *rule.OptionalOldSelf, "may not be set if oldSelf is not used in rule"))
	}
	return errs
}

func (c *ruleChecker) message(rule *Rule, env *ruleEnv, path *field.Path) field.ErrorList {
	ast, err := env.compileMessage(rule)
	if err == nil {
		_, err = expression.NewProgram(ast)
	}
	if err != nil {
		return field.ErrorList{field.Invalid(path, rule, err.Error())}
	}
	cost, err := env.cost(rule, ast)
	if err != nil {
		return field.ErrorList{field.Invalid(path, rule, err.Error())}
	}
	c.observe(path, cost)
	if cost > maxRuleCost {
		return field.ErrorList{tooCostly(path, "estimated messageExpression cost", cost, maxRuleCost)}
	}
	return nil
}

// cost estimates the cost of an expression.
func (e *ruleEnv) cost(rule *Rule, ast *cel.Ast) (uint64, error) {
	estimate, err := e.env(rule).EstimateCost(ast, e.estimator)
	if err != nil {
		return 0, fmt.Errorf("cost estimation failed: %w", err)
	}
	return estimate.Max, nil
}

func (c *ruleChecker) observe(path *field.Path, cost uint64) {
	if c.total += cost; c.total < cost {
		c.total = math.MaxUint64
	}
	if cost < maxSchemaCost/100 {
		return
	}
	c.expensive = append(c.expensive, ruleCost{path, cost})
	slices.SortFunc(c.expensive, func(a, b ruleCost) int {
		switch {
		case a.cost > b.cost:
			return -1
		case a.cost < b.cost:
			return 1
		}
		return 0
	})
	c.expensive = c.expensive[:min(len(c.expensive), maxExpensive)]
}

// tooExpensive reports rules whose costs exceed together what one schema may cost.
func (c *ruleChecker) tooExpensive(path *field.Path) field.ErrorList {
	if c.total <= maxSchemaCost {
		return nil
	}
	var errs field.ErrorList
	for _, r := range c.expensive {
		errs = append(errs, field.Forbidden(r.path, "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"))
	}
	return append(errs, tooCostly(path, "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema", c.total, maxSchemaCost))
}

// tooCostly reports a cost that exceeds its bound.
func tooCostly(path *field.Path, what string, cost, most uint64) *field.Error {
	factor := float64(cost) / float64(most)
	var shown string
	switch {
	case factor > 100:
		shown = "more than 100x"
	case factor < 1.5:
		shown = fmt.Sprintf("%fx", factor)
	default:
		shown = fmt.Sprintf("%.1fx", factor)
	}
	err := field.Forbidden(path, fmt.Sprintf("%s exceeds budget by factor of %s (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)", what, shown))
	return err.WithOrigin(limit.SchemaCost.Origin())
}
